//! Sessions. A session's hash is stored until the session ends.

use super::{
    Context, account,
    audit::{self, Entry, Party},
    ended::Ended,
    sql,
};
use crate::delivery::register;
use contract::accounts::{Session, SessionRow, SignedIn};
use domain::{
    accounts::{
        account::Account,
        ids::MemberId,
        role::Role,
        session::{self, MAX_USER_AGENT, NOT_SIGNED_IN, SessionTimes, SessionUse},
    },
    model::{common, credentials},
};
use platform::{Database, DbResult, Result, Row, params};

/// Maximum live sessions of a member. One session more ends the oldest one.
pub const MAX_SESSIONS: usize = 50;

/// Cuts a browser's user agent to the stored length.
pub fn stored_user_agent(user_agent: &str) -> String {
    user_agent.chars().take(MAX_USER_AGENT).collect()
}

/// A new session that is not stored yet.
pub struct NewSession {
    token: String,
    session_id: String,
}

impl NewSession {
    pub fn draw(context: &Context<'_>, account: &Account) -> Result<Self> {
        let draw = context.draw()?;
        Ok(Self { token: session::issue(&(context.mac)()?, account, draw.secret), session_id: hex::encode(draw.id) })
    }

    /// Stores the session, within the caller's transaction. A local session began without a passkey.
    pub fn open(
        self,
        db: &impl Database,
        now_ms: i64,
        member: MemberId,
        is_local: bool,
        user_agent: &str,
    ) -> DbResult<SignedIn> {
        let times = SessionTimes {
            created_at_ms: now_ms,
            last_seen_at_ms: now_ms,
            verified_at_ms: (!is_local).then_some(now_ms),
        };
        let id = member.to_string();
        db.execute(sql::TRIM_SESSIONS, params![id.as_str(), now_ms, MAX_SESSIONS - 1])?;
        db.execute(
            sql::INSERT_SESSION,
            params![
                credentials::hash(&self.token).to_vec(),
                self.session_id,
                id.as_str(),
                now_ms,
                times.verified_at_ms,
                times.ends_at_ms(),
                is_local,
                stored_user_agent(user_agent)
            ],
        )?;
        db.execute(sql::SEE_MEMBER, params![id, now_ms])?;
        Ok(SignedIn { session: self.token, member })
    }
}

/// A live session of a member.
pub struct LiveSession {
    hash: Vec<u8>,
    /// The session without the notices for owners.
    pub session: Session,
}

impl LiveSession {
    pub fn find(db: &impl Database, now_ms: i64, token: &str) -> DbResult<Option<Self>> {
        let hash = credentials::hash(token).to_vec();
        db.read_first(sql::GET_SESSION, params![hash.clone(), now_ms], |row| {
            let session = Session {
                session_id: row.text(0)?.to_owned(),
                member: row.parse(1, MemberId::parse)?,
                name: row.text(2)?.to_owned(),
                role: row.parse(3, Role::parse)?,
                times: times(row, 4)?,
                is_local: row.boolean(7)?,
                recoveries: Vec::new(),
                restored_at_ms: None,
            };
            Ok(Self { hash, session })
        })
    }

    /// Returns the live session of a token.
    ///
    /// # Errors
    /// The token has no live session. If the account is suspended, the error says so.
    pub fn require(db: &impl Database, now_ms: i64, token: &str) -> Result<Self> {
        if let Some(live) = Self::find(db, now_ms, token)? {
            return Ok(live);
        }
        account::check_admitted(db)?;
        Err(NOT_SIGNED_IN.into())
    }

    /// Stores the time of this use, within the caller's transaction.
    fn see(&mut self, db: &impl Database, now_ms: i64) -> DbResult {
        let times = &mut self.session.times;
        times.last_seen_at_ms = now_ms;
        db.execute(sql::SET_TIMES, params![self.hash.clone(), now_ms, times.verified_at_ms, times.ends_at_ms()])?;
        db.execute(sql::SEE_MEMBER, params![self.session.member.to_string(), now_ms])
    }

    /// Ends the member's other sessions, within the caller's transaction.
    pub fn end_others(&self, db: &impl Database) -> DbResult {
        db.execute(sql::DELETE_OTHER_SESSIONS, params![self.session.member.to_string(), self.hash.clone()])
    }

    /// Stores that a passkey verified the session now, within the caller's transaction.
    pub fn verify(mut self, db: &impl Database, now_ms: i64) -> DbResult {
        self.session.times.verified_at_ms = Some(now_ms);
        self.see(db, now_ms)
    }
}

/// Reads a session. A person's action extends the session. The time of the action is stored at most every 10 minutes.
pub fn read(db: &impl Database, now_ms: i64, token: &str, session_use: SessionUse) -> Result<Session> {
    let mut live = LiveSession::require(db, now_ms, token)?;
    if live.session.times.should_store_seen(now_ms, session_use) {
        db.transaction(|| live.see(db, now_ms))?;
    }
    let mut session = live.session;
    if session.role.is_highest() {
        session.recoveries = audit::recoveries(db, now_ms)?;
        let restored_ms = account::restored_ms(db)?;
        let is_shown = restored_ms > now_ms.saturating_sub(audit::SHOWN_MS);
        session.restored_at_ms = is_shown.then_some(restored_ms);
    }
    Ok(session)
}

/// Ends the session of a browser that signs out, unless the session has already ended.
pub fn sign_out(db: &impl Database, now_ms: i64, token: &str) -> Result {
    match LiveSession::find(db, now_ms, token)? {
        Some(live) => {
            let by = Party::member(live.session.member, live.session.name);
            delete(db, now_ms, live.hash, &Entry::of(by, "signed_out"))
        }
        None => Ok(()),
    }
}

/// Ends one of a member's own sessions.
pub fn end(db: &impl Database, now_ms: i64, member: MemberId, session_id: &str) -> Result {
    let row = db
        .query_first(sql::FIND_SESSION, params![member.to_string(), session_id, now_ms])?
        .ok_or_else(|| common::NOT_FOUND.with_message("no session has this id"))?;
    let entry = Entry {
        subject: Some(Party::thing(session_id)),
        ..Entry::of(Party::member(member, row.text(1)?), "session_ended")
    };
    delete(db, now_ms, row.blob(0)?.to_vec(), &entry)
}

fn delete(db: &impl Database, now_ms: i64, hash: Vec<u8>, entry: &Entry<'_>) -> Result {
    db.transaction(|| {
        db.execute(sql::DELETE_SESSION, params![hash])?;
        register::add(db, now_ms, &Ended::SignIn)?;
        Ok(audit::append(db, now_ms, entry)?)
    })
}

/// Returns a member's live sessions, newest first.
pub fn list(db: &impl Database, now_ms: i64, member: MemberId) -> DbResult<Vec<SessionRow>> {
    db.read_all(sql::LIST_SESSIONS, params![member.to_string(), now_ms], |row| {
        Ok(SessionRow {
            session_id: row.text(0)?.to_owned(),
            times: times(row, 1)?,
            user_agent: row.text(4)?.to_owned(),
        })
    })
}

/// Reads the times from three columns from `column` on: creation, last use, verification.
fn times(row: &Row, column: usize) -> DbResult<SessionTimes> {
    Ok(SessionTimes {
        created_at_ms: row.integer(column)?,
        last_seen_at_ms: row.integer(column + 1)?,
        verified_at_ms: row.optional_integer(column + 2)?,
    })
}
