//! What has ended in an account, for its [register](crate::delivery::register).

use serde::{Deserialize, Serialize};

use contract::{accounts::Suspend, operation::Bytes};
use domain::accounts::{ids::MemberId, role::Role};

/// An entry of the register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// A session or an invite. All of them end with a restore, so the entry only shows that there was one.
    SignIn,
    /// The passkeys of a member, and what else would let it in.
    LockedOut(MemberId),
    /// A member was removed.
    Member(MemberId),
    /// A member's earlier role.
    Role(MemberId, Role),
    Passkey(Bytes),
    /// A suspension, or its end.
    Suspension(Suspend),
}
