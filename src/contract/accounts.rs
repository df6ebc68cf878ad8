//! The accounts: one object for each publisher. An object owns members, invites, sessions, passkeys and the audit.

mod audit;

pub use audit::{Announce, Announced, AnnouncedChange, AuditEntry, AuditPage, ReadAudit, Settle};

use serde::{Deserialize, Serialize};

use crate::operation::{Bytes, Done, ObjectAddress, Operation, Repeat};
use crate::operations;
use domain::accounts::{
    account::Account,
    ids::{AccountId, MemberId},
    role::Role,
    session::{SessionTimes, SessionUse},
};

/// The namespace's binding.
pub const BINDING: &str = "ACCOUNTS";

/// The name of an account's object. With another name, the account's members would be lost.
pub fn object_name(account: AccountId) -> String {
    format!("accounts-{account}")
}

/// The address of an account. A passkey names an account by its id alone, so the path does not name the owner: the first
/// invite does, and the object keeps it.
pub fn address(account: AccountId) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name: object_name(account),
        path: "/".into(),
    }
}

operations! {
    pub enum Command {
        Invite(Invite) -> Invited, Once;
        ReadInvite(ReadInvite) -> InviteDetails, Idempotent;
        Accept(Accept) -> SignedIn, Once;
        ReadPasskey(ReadPasskey) -> Passkey, Idempotent;
        CountFailure(CountFailure) -> Done, Once;
        SignIn(SignIn) -> SignedIn, Once;
        Verify(Verify) -> Done, Once;
        ReadPasskeys(ReadPasskeys) -> Vec<PasskeyRow>, Idempotent;
        AddPasskey(AddPasskey) -> Done, Once;
        RemovePasskey(RemovePasskey) -> Done, Once;
        ReadSession(ReadSession) -> Session, Idempotent;
        SignOut(SignOut) -> Done, Idempotent;
        ReadMembers(ReadMembers) -> Members, Idempotent;
        ChangeMember(ChangeMember) -> Done, Once;
        WithdrawInvite(WithdrawInvite) -> Done, Once;
        ReadSessions(ReadSessions) -> Vec<SessionRow>, Idempotent;
        EndSession(EndSession) -> Done, Once;
        Announce(Announce) -> Announced, Once;
        Settle(Settle) -> Done, Once;
        ReadAudit(ReadAudit) -> AuditPage, Idempotent;
        Suspend(Suspend) -> Done, Idempotent;
    }
}

/// The one who acts, for the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The operator's token.
    Operator,
    Member(MemberId),
}

/// An account's owner, as text that keeps its kind: `p` or `o`, and the publisher's id or `operator`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub letter: String,
    pub id: String,
}

impl Owner {
    pub fn of(account: &Account) -> Self {
        Self {
            letter: account.kind().letter().to_owned(),
            id: account.owner().to_owned(),
        }
    }

    pub fn account(&self) -> Option<Account> {
        Account::parse(&self.letter, &self.id)
    }
}

/// Issues an invite: of a new member with a name and a role, or of a member who lost every passkey, whose sessions and
/// passkeys end with this call. Each call issues another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    pub owner: Owner,
    pub by: Actor,
    pub to: Invitee,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invitee {
    New { name: String, role: Role },
    Recovery(MemberId),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    pub invite_id: String,
    /// Shown this once; the object keeps its hash.
    pub invite: String,
    /// In milliseconds.
    pub expires_at_ms: i64,
}

/// Reads an invite that can still be spent; refused with 404 `unknown_invite` otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadInvite {
    pub invite: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteDetails {
    pub name: String,
    pub role: Role,
    pub is_recovery: bool,
    pub expires_at_ms: i64,
    /// The member that the invite makes, for the passkey's user handle. It is drawn when the invite is issued.
    pub member: MemberId,
}

/// Spends an invite: stores the member, the passkey if there is one, and a session. Without a passkey it is a local
/// sign-in, whose session counts as verified for as long as it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    pub invite: String,
    pub passkey: Option<NewPasskey>,
    pub user_agent: String,
}

/// A checked passkey, and the challenge that it spends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPasskey {
    pub credential_id: Bytes,
    /// The COSE number of its algorithm.
    pub algorithm: i64,
    pub spki: Bytes,
    pub sign_count: u32,
    pub transports: Vec<String>,
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
    pub challenge: SpentChallenge,
}

/// A challenge by its id, which is spent until it would have expired; 401 `passkey_refused` if it was spent before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentChallenge {
    pub id: Bytes,
    pub expires_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The value of the session's cookie. The object keeps its hash.
    pub session: String,
    pub member: MemberId,
}

/// Reads a passkey of the account; 401 `passkey_refused` if it has none of this id, and 429 `rate_limit_exceeded` if too
/// many failures were counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPasskey {
    pub credential_id: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    pub member: MemberId,
    pub algorithm: i64,
    pub spki: Bytes,
    pub sign_count: u32,
    pub is_backup_eligible: bool,
}

/// Counts an answer by a passkey that was wrong, such as one with another signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountFailure {
    pub credential_id: Bytes,
}

/// Signs in by a passkey whose signature was verified. The object compares the sign counter again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    pub credential_id: Bytes,
    pub sign_count: u32,
    pub is_backed_up: bool,
    pub challenge: SpentChallenge,
    pub user_agent: String,
}

/// Marks a session as verified now, by a passkey of its own member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    pub session: String,
    pub credential_id: Bytes,
    pub sign_count: u32,
    pub is_backed_up: bool,
    pub challenge: SpentChallenge,
}

/// Reads a member's own passkeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPasskeys {
    pub member: MemberId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyRow {
    /// Short, and derived from the credential's id.
    pub passkey_id: String,
    pub credential_id: Bytes,
    pub transports: Vec<String>,
    /// The browser that made it.
    pub user_agent: String,
    pub created_at_ms: i64,
    /// The last sign-in or verification; none before the first.
    pub last_used_at_ms: Option<i64>,
}

/// Stores a further passkey of a session's member; 401 `not_signed_in`, 401 `passkey_refused`, 409 `too_many_passkeys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddPasskey {
    pub session: String,
    pub passkey: NewPasskey,
    pub user_agent: String,
}

/// Removes a passkey of a session's member, and ends the member's other sessions; 401 `not_signed_in`, 404 `not_found`,
/// 409 `last_passkey`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovePasskey {
    pub session: String,
    pub passkey_id: String,
}

/// Reads a live session and its member; 401 `not_signed_in` otherwise. Use other than polls extends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSession {
    pub session: String,
    pub session_use: SessionUse,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub session_id: String,
    pub member: MemberId,
    pub name: String,
    pub role: Role,
    pub times: SessionTimes,
    /// A session of a local sign-in, which counts as verified.
    pub is_local: bool,
    /// Recoveries of the last 7 days, for the owners' banner; empty for others.
    pub recoveries: Vec<Recovery>,
}

impl Session {
    pub fn is_verified(&self, now_ms: i64) -> bool {
        self.is_local || self.times.is_verified(now_ms)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    pub member_name: String,
    /// The name of who issued it.
    pub by: String,
    pub at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOut {
    pub session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMembers {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    pub members: Vec<MemberRow>,
    pub invites: Vec<InviteRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRow {
    pub member: MemberId,
    pub name: String,
    pub role: Role,
    pub created_at_ms: i64,
    pub last_seen_at_ms: Option<i64>,
    pub passkeys: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteRow {
    pub invite_id: String,
    pub name: String,
    pub role: Role,
    /// An invite of a member who lost every passkey.
    pub is_recovery: bool,
    pub expires_at_ms: i64,
    /// The name of who issued it.
    pub by: String,
}

/// Gives a member another role, or removes it with its sessions and passkeys. 404 `not_found`, 409 `last_owner`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeMember {
    pub by: Actor,
    pub member: MemberId,
    /// None removes the member.
    pub role: Option<Role>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawInvite {
    pub by: Actor,
    pub invite_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSessions {
    pub member: MemberId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    pub session_id: String,
    pub times: SessionTimes,
    pub user_agent: String,
}

/// Ends one of a member's own sessions; 404 `not_found` for any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndSession {
    pub member: MemberId,
    pub session_id: String,
}

/// Suspends an account, which ends its sessions and refuses sign-ins and invites, or admits it again. One that is not
/// newer than the last changes nothing: it was sent before that one, and arrived after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspend {
    pub is_suspended: bool,
    /// The catalog's revision of the change.
    pub revision: i64,
}

/// An answer as the object writes it. The caller reads it as its operation's [`Answer`](Operation::Answer).
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Invited(Invited),
    Invite(InviteDetails),
    SignedIn(SignedIn),
    Passkey(Passkey),
    Passkeys(Vec<PasskeyRow>),
    Session(Session),
    Members(Members),
    Announced(Announced),
    Sessions(Vec<SessionRow>),
    Audit(AuditPage),
    Done(Done),
}
