//! Accounts: one object for each publisher, and one for the operator. An account's object owns its members, invites,
//! sessions, passkeys and audit. It stores only the hashes of invites and sessions.
//!
//! A command is checked first and then written in one transaction, together with its audit row.

mod acceptance;
mod account;
mod announced;
pub mod audit;
mod challenges;
pub mod ended;
pub mod invites;
pub mod members;
pub mod own_passkeys;
pub mod passkeys;
pub mod rates;
mod restored;
pub mod service;
pub mod sessions;
pub mod sql;
mod sweep;

pub use sql::MIGRATIONS;
pub use sweep::{alarm, next_alarm};

use contract::{
    accounts::{Command, CountFailure, Members, ReadMembers, Reply},
    operation::Done,
};
use domain::model::MacKeys;
use platform::{Database, Failure, Result};

/// The values that a command uses in addition to the database.
pub struct Context<'a> {
    pub now_ms: i64,
    /// The object's own name, if the runtime provides it.
    pub name: Option<&'a str>,
    pub random: &'a dyn Fn() -> Result<[u8; 32], String>,
    /// Parses the keys of `ACCOUNT_MAC`; called only where an invite or a session is issued.
    pub mac: &'a dyn Fn() -> Result<MacKeys>,
}

/// The random parts of a new invite or session.
struct Draw {
    secret: [u8; 16],
    id: [u8; 8],
    member: [u8; 8],
}

impl Context<'_> {
    fn draw(&self) -> Result<Draw> {
        let mut bytes = (self.random)().map_err(Failure::Internal)?.into_iter();
        let mut next = |_| bytes.next().unwrap_or_default();
        Ok(Draw {
            secret: std::array::from_fn(&mut next),
            id: std::array::from_fn(&mut next),
            member: std::array::from_fn(&mut next),
        })
    }
}

/// Carries out one command.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<Reply> {
    let now_ms = context.now_ms;
    let done = |()| Reply::Done(Done {});
    match command {
        Command::Invite(invite) => invites::issue(db, context, invite).map(Reply::Invited),
        Command::ReadInvite(read) => invites::read(db, now_ms, &read.invite).map(Reply::Invite),
        Command::Accept(accept) => acceptance::accept(db, context, &accept).map(Reply::SignedIn),
        Command::ReadPasskey(read) => passkeys::read(db, now_ms, &read.credential_id.0).map(Reply::Passkey),
        Command::CountFailure(CountFailure { credential_id }) => {
            rates::count_failure(db, now_ms, &credential_id).map(done)
        }
        Command::SignIn(sign_in) => passkeys::sign_in(db, context, &sign_in).map(Reply::SignedIn),
        Command::Verify(verify) => passkeys::verify(db, now_ms, &verify).map(done),
        Command::ReadPasskeys(read) => Ok(Reply::Passkeys(own_passkeys::list(db, read.member)?)),
        Command::AddPasskey(add) => own_passkeys::add(db, now_ms, &add).map(done),
        Command::RemovePasskey(remove) => own_passkeys::remove(db, now_ms, &remove).map(done),
        Command::ReadSession(read) => sessions::read(db, now_ms, &read.session, read.session_use).map(Reply::Session),
        Command::SignOut(sign_out) => sessions::sign_out(db, now_ms, &sign_out.session).map(done),
        Command::ReadMembers(ReadMembers {}) => {
            Ok(Reply::Members(Members { members: members::list(db)?, invites: invites::list(db, now_ms)? }))
        }
        Command::ChangeMember(change) => members::change(db, now_ms, &change).map(done),
        Command::WithdrawInvite(withdraw) => invites::withdraw(db, now_ms, &withdraw).map(done),
        Command::ReadSessions(read) => Ok(Reply::Sessions(sessions::list(db, now_ms, read.member)?)),
        Command::EndSession(end) => sessions::end(db, now_ms, end.member, &end.session_id).map(done),
        Command::Announce(announce) => announced::announce(db, now_ms, &announce).map(Reply::PendingAudit),
        Command::Settle(settle) => Ok(done(announced::settle(db, now_ms, &settle)?)),
        Command::ReadAudit(read) => audit::page(db, read.limit, read.before).map(Reply::Audit),
        Command::Suspend(suspend) => account::suspend(db, now_ms, suspend).map(done),
    }
}
