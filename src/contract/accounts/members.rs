//! Members of an account, their invites and their sessions, as the account's own pages list and change them.

use serde::{Deserialize, Serialize};

use super::Actor;
use domain::{
    accounts::{ids::MemberId, role::Role, session::SessionTimes},
    model::PublisherId,
};

/// Reads the members and the open invites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMembers {}

/// The members and the open invites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// The members, in the order in which they joined.
    pub members: Vec<MemberRow>,
    /// The open invites, in the order of their expiry.
    pub invites: Vec<InviteRow>,
}

/// A member in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRow {
    /// The id in [`ChangeMember`].
    pub member: MemberId,
    /// The name in the member's invite.
    pub name: String,
    /// The current role.
    pub role: Role,
    /// The time when the member joined, in milliseconds.
    pub created_at_ms: i64,
    /// The time of the last use of any of the member's sessions, in milliseconds. It is updated at most every 10
    /// minutes.
    pub last_seen_at_ms: Option<i64>,
    /// The number of passkeys; 0 after a local sign-in, and after a recovery was issued.
    pub passkeys: u32,
    /// The time up to which the member's invites have ended, in milliseconds.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub invites_from_ms: i64,
}

/// An open invite in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteRow {
    /// The id in [`WithdrawInvite`].
    pub invite_id: String,
    /// The invited person's name.
    pub name: String,
    /// The role that the member gets or, for a recovery, has.
    pub role: Role,
    /// True for an invite of a member who lost every passkey.
    pub is_recovery: bool,
    /// The time when the invite expires, in milliseconds.
    pub expires_at_ms: i64,
    /// The name of the issuer.
    pub by: String,
}

/// Changes a member's role, or removes the member together with its sessions and passkeys. Returns 404 `not_found` if
/// the member is unknown, and 409 `last_owner` if no owner would be left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeMember {
    /// The operator, or a member with the permission to manage members.
    pub by: Actor,
    /// The member to change.
    pub member: MemberId,
    /// The new role; `None` removes the member.
    pub role: Option<Role>,
}

/// Withdraws an open invite. Returns 404 `not_found` if the invite was spent or has expired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawInvite {
    /// The operator, or a member with the permission to manage members.
    pub by: Actor,
    /// The id in an [`InviteRow`].
    pub invite_id: String,
}

/// Reads a member's live sessions, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSessions {
    /// The member who asks.
    pub member: MemberId,
}

/// A live session in its member's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The id in [`EndSession`].
    pub session_id: String,
    /// The times of the session's start, last use and last verification.
    pub times: SessionTimes,
    /// The first 200 characters of the `User-Agent` of the browser that opened the session.
    pub user_agent: String,
}

/// Ends one of a member's own sessions. Returns 404 `not_found` for any other session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndSession {
    /// The member who asks.
    pub member: MemberId,
    /// The id in a [`SessionRow`].
    pub session_id: String,
}

/// Suspends an account, or ends its suspension. A suspension ends the account's sessions, and refuses sign-ins and
/// invites. A change whose revision is not above the last one has arrived late and is ignored. The account tells the
/// publisher's ledger, which refuses the publisher's report keys during a suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspend {
    /// True to suspend the account; false to end its suspension.
    pub is_suspended: bool,
    /// The catalog's revision of the change.
    pub revision: i64,
    /// The publisher that owns the account.
    pub publisher: PublisherId,
}
