//! The entries of an account's [register](crate::delivery::register): what has ended.

use serde::{Deserialize, Serialize};

use contract::{accounts::Suspend, operation::Bytes};
use domain::accounts::{ids::MemberId, role::Role};

/// An entry of the register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The end of a session or an invite. A restore ends all of them, so the entry only shows that one ended.
    SignIn,
    /// The end of a member's passkeys, sessions and invites.
    LockedOut(MemberId),
    /// A member was removed.
    Member(MemberId),
    /// A member's earlier role.
    Role(MemberId, Role),
    Passkey(Bytes),
    /// A suspension, or its end.
    Suspension(Suspend),
}
