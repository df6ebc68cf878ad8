//! The entries of an account's [register](crate::delivery::register). Each records access that has ended.

use serde::{Deserialize, Serialize};

use contract::{accounts::Suspend, operation::Bytes};
use domain::accounts::{ids::MemberId, role::Role};

/// An entry of the register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// A session or an invite ended. A restore ends all sessions and invites, so the entry need not say which one.
    SignIn,
    /// All passkeys, sessions and invites of a member ended.
    LockedOut(MemberId),
    /// A member was removed.
    Member(MemberId),
    /// A member's role was changed to this one.
    Role(MemberId, Role),
    Passkey(Bytes),
    /// A suspension, or its end.
    Suspension(Suspend),
}
