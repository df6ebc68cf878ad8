//! The accounts: one object for each publisher, and one for the operator. An object owns members, invites, sessions,
//! passkeys and the audit.

mod audit;
mod members;

pub use audit::{Announce, AnnouncedChange, AuditEntry, AuditPage, PendingAudit, ReadAudit, Settle};

pub use members::{
    ChangeMember, EndSession, InviteRow, MemberRow, Members, ReadMembers, ReadSessions, SessionRow, Suspend,
    WithdrawInvite,
};

use serde::{Deserialize, Serialize};

use crate::{
    operation::{Bytes, Done, ObjectAddress, Operation, Repeat},
    operations,
};
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

/// The address of an account. A passkey contains only the account's id, so the path does not name the owner. The object
/// learns the owner from the account's first invite.
pub fn address(account: AccountId) -> ObjectAddress {
    ObjectAddress::of(BINDING, object_name(account))
}

operations! {
    pub enum Command {
        Invite(Invite) -> NewInvite, Once;
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
        Announce(Announce) -> PendingAudit, Once;
        Settle(Settle) -> Done, Once;
        ReadAudit(ReadAudit) -> AuditPage, Idempotent;
        Suspend(Suspend) -> Done, Idempotent;
    }
    pub enum Reply {
        Invited(NewInvite),
        Invite(InviteDetails),
        SignedIn(SignedIn),
        Passkey(Passkey),
        Passkeys(Vec<PasskeyRow>),
        Session(Session),
        Members(Members),
        PendingAudit(PendingAudit),
        Sessions(Vec<SessionRow>),
        Audit(AuditPage),
        Done(Done),
    }
}

/// The name of the holder of the operator's token, in audits and lists.
pub const OPERATOR_NAME: &str = "the operator";

/// The author of a change, for the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The operator's token.
    Operator,
    /// A signed-in member of the account.
    Member(MemberId),
    /// A signed-in member of the console, who acts as the operator in a publisher's account.
    Console(MemberId),
    /// A key of the publisher, by its label and id.
    Key(String),
}

/// An account's owner, as two texts: a letter for the kind, and an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// `p` for a publisher, `o` for the operator.
    pub letter: String,
    /// The publisher's id, or `operator`.
    pub id: String,
}

impl Owner {
    /// Returns the owner of an account.
    pub fn of(account: &Account) -> Self {
        Self { letter: account.kind().letter().to_owned(), id: account.owner().to_owned() }
    }

    /// Returns the owner's account; `None` if the letter or the id is invalid.
    pub fn account(&self) -> Option<Account> {
        Account::parse(&self.letter, &self.id)
    }
}

/// Issues an invite for a new member with a name and a role, or for a member who lost every passkey. In the second case
/// the call ends the member's sessions and passkeys. Each call issues another invite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// Stored with the account's first invite. Later invites must name the same owner.
    pub owner: Owner,
    /// The operator, or a member with the permission to manage members.
    pub by: Actor,
    /// The person who may spend the invite.
    pub to: Invitee,
}

/// The person whom an invite lets in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invitee {
    /// A person who becomes a member by spending the invite.
    New {
        /// The member's name in lists and in the audit.
        name: String,
        /// A role of the account's kind.
        role: Role,
    },
    /// A member who lost every passkey. The member keeps the name and the role.
    Recovery(MemberId),
}

/// A new invite, returned to its issuer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewInvite {
    /// The id in lists and in [`WithdrawInvite`]. It is not secret.
    pub invite_id: String,
    /// The secret text, shown only once; the object keeps its hash.
    pub invite: String,
    /// The time when the invite expires, in milliseconds.
    pub expires_at_ms: i64,
}

/// Reads an open invite. Returns 404 `unknown_invite` if there is no such open invite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadInvite {
    /// The secret text of the invite.
    pub invite: String,
}

/// An open invite, for the page that accepts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteDetails {
    /// The member's name: the one in the invite, or the current one for a recovery.
    pub name: String,
    /// The role that the member gets or, for a recovery, has.
    pub role: Role,
    /// True for a member who lost every passkey.
    pub is_recovery: bool,
    /// The time when the invite expires, in milliseconds.
    pub expires_at_ms: i64,
    /// The id of the member, for the passkey's user handle. The object generates it when the invite is issued.
    pub member: MemberId,
}

/// Spends an invite: stores the member, the passkey if any, and a session. Without a passkey, the call is a local
/// sign-in: the session then counts as verified throughout its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    /// The secret text of the invite.
    pub invite: String,
    /// The member's first passkey; `None` for a local sign-in.
    pub passkey: Option<NewPasskey>,
    /// The browser's `User-Agent`. The object stores its first 200 characters.
    pub user_agent: String,
}

/// A checked passkey, and the challenge that it spends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPasskey {
    /// The authenticator's id of the passkey.
    pub credential_id: Bytes,
    /// The COSE number of its algorithm.
    pub algorithm: i64,
    /// The public key, as a DER `SubjectPublicKeyInfo`.
    pub spki: Bytes,
    /// The authenticator's signature counter; 0 if it does not count.
    pub sign_count: u32,
    /// Ways to reach the authenticator, such as `internal`, as hints for the browser.
    pub transports: Vec<String>,
    /// True if the passkey may be synced to other devices. It never changes.
    pub is_backup_eligible: bool,
    /// True if the passkey is synced now.
    pub is_backed_up: bool,
    /// The challenge that the registration answered.
    pub challenge: SpentChallenge,
}

/// Marks the challenge with this id as spent until the challenge would have expired anyway. Returns 401
/// `passkey_refused` if the challenge was already spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentChallenge {
    /// Derived from the challenge's bytes.
    pub id: Bytes,
    /// The time in milliseconds from which the object may forget the challenge.
    pub expires_at_ms: i64,
}

/// A newly opened session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The value of the session's cookie. The object keeps its hash.
    pub session: String,
    /// The session's member.
    pub member: MemberId,
}

/// Reads a passkey of the account. Returns 401 `passkey_refused` if the id is unknown, and 429 `rate_limit_exceeded`
/// after too many failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPasskey {
    /// The id as the browser sent it.
    pub credential_id: Bytes,
}

/// A stored passkey, to check an answer that it signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The passkey's member.
    pub member: MemberId,
    /// The COSE number of its algorithm.
    pub algorithm: i64,
    /// The public key, as a DER `SubjectPublicKeyInfo`.
    pub spki: Bytes,
    /// The signature counter of its last use.
    pub sign_count: u32,
    /// True if the passkey may be synced. Every answer of the passkey must say the same.
    pub is_backup_eligible: bool,
}

/// Counts a wrong answer by a passkey, such as one with an invalid signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountFailure {
    /// The passkey that the answer named.
    pub credential_id: Bytes,
}

/// A passkey's answer to a challenge, with a verified signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyUse {
    /// The passkey that signed.
    pub credential_id: Bytes,
    /// The counter in the signed answer.
    pub sign_count: u32,
    /// True if the passkey is synced now.
    pub is_backed_up: bool,
    /// The challenge that was signed.
    pub challenge: SpentChallenge,
}

/// Signs in with a passkey whose signature was verified. The object compares the sign counter again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// The passkey's answer.
    #[serde(flatten)]
    pub passkey: PasskeyUse,
    /// The browser's `User-Agent`. The object stores its first 200 characters.
    pub user_agent: String,
}

/// Marks a session as verified now, by a passkey of its member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// The value of the session's cookie.
    pub session: String,
    /// The passkey's answer.
    #[serde(flatten)]
    pub passkey: PasskeyUse,
}

/// Reads a member's own passkeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPasskeys {
    /// The member who asks.
    pub member: MemberId,
}

/// A row in a member's list of passkeys, which begins with the oldest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyRow {
    /// A short id, derived from the credential's id.
    pub passkey_id: String,
    /// The authenticator's id of the passkey, so that the browser does not register the same authenticator twice.
    pub credential_id: Bytes,
    /// Ways to reach the authenticator, as the browser gave them.
    pub transports: Vec<String>,
    /// The `User-Agent` of the browser that registered the passkey.
    pub user_agent: String,
    /// The time when the passkey was registered, in milliseconds.
    pub created_at_ms: i64,
    /// The time of the last sign-in or verification, in milliseconds; `None` before the first.
    pub last_used_at_ms: Option<i64>,
}

/// Stores another passkey of a session's member. May return 401 `not_signed_in`, 401 `passkey_refused` or 409
/// `too_many_passkeys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddPasskey {
    /// The value of the session's cookie.
    pub session: String,
    /// The checked passkey.
    pub passkey: NewPasskey,
    /// The browser's `User-Agent`. The object stores its first 200 characters.
    pub user_agent: String,
}

/// Removes a passkey of a session's member, and ends the member's other sessions. May return 401 `not_signed_in`, 404
/// `not_found` or 409 `last_passkey`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovePasskey {
    /// The value of the session's cookie. This session stays.
    pub session: String,
    /// The id of a [`PasskeyRow`].
    pub passkey_id: String,
}

/// Reads a live session and its member. Returns 401 `not_signed_in` if there is no such session. Any use except a poll
/// extends the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSession {
    /// The value of the session's cookie.
    pub session: String,
    /// The kind of use. An action extends the session; a poll does not.
    pub session_use: SessionUse,
}

/// A live session and its member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id in lists and in [`EndSession`]. It is not secret.
    pub session_id: String,
    /// The signed-in member.
    pub member: MemberId,
    /// The member's current name.
    pub name: String,
    /// The member's current role.
    pub role: Role,
    /// The times of the session's start, last use and last verification.
    pub times: SessionTimes,
    /// True for the session of a local sign-in, which counts as verified.
    pub is_local: bool,
    /// The recoveries of the last 7 days, for the owners' banner; empty for other members.
    pub recoveries: Vec<Recovery>,
    /// The time when the account was restored from an earlier copy, in milliseconds, for the owners' banner. Present
    /// for 7 days, and only for owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_at_ms: Option<i64>,
}

impl Session {
    /// True if a passkey verified the session within the last 5 minutes, or if the session is local.
    pub fn is_verified(&self, now_ms: i64) -> bool {
        self.is_local || self.times.is_verified(now_ms)
    }
}

/// A recovery that was issued, from the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The member who lost every passkey.
    pub member_name: String,
    /// The name of the issuer.
    pub by: String,
    /// The time when the recovery was issued, in milliseconds.
    pub at_ms: i64,
}

/// Ends a browser's session. Succeeds even if the session has already ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOut {
    /// The value of the session's cookie.
    pub session: String,
}
