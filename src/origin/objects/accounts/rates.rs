//! Rate limits within an account. Events are counted in windows; a window begins with the first event after the
//! previous window. Each event counts for its member and for the account. The account may do three times as much as a
//! member, so that one or two members cannot use up the others' share.
//!
//! Failed sign-ins are counted for each passkey. Failures with unknown passkeys and unknown invites are counted
//! together. So a stranger, who has no member's passkey, cannot lock a member out. The operator's token has no rate.

use super::{account, sql};
use contract::{accounts::Actor, operation::Bytes};
use domain::{
    accounts::ids::MemberId,
    model::{ApiError, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};
use platform::{Database, DbResult, Failure, Result, params};

pub const TOO_MANY: ApiError = ApiError::new(429, "rate_limit_exceeded", "rate limit exceeded");

/// The longest window. An older row is no longer needed.
pub const MAX_MS: i64 = DAY_MS;

/// The subject of the whole account's count.
const ALL: &[u8] = &[];
/// The account's share: the number of members who can use their full rate at the same time.
const SHARES: i64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    FailedSignIns,
    Invites,
    ReportKeys,
    Settings,
    /// Changes of apps and their secrets. They are counted separately from other settings: a developer must not keep an
    /// owner from changing roles.
    Apps,
    /// Changes of apps' currencies, which make new terms. They are also counted as changes of apps.
    Currencies,
    NewApps,
    /// Test callbacks of all apps, and test alarms: a maximum per hour, and a pause between two of them, because each
    /// is a request to somebody else's server.
    CallbackTests,
    CallbackTestPause,
    Replays,
    SignedUrls,
}

impl Rate {
    /// Returns the stored name, the maximum events of a member in a window, and the window's length.
    const fn rule(self) -> (&'static str, i64, i64) {
        match self {
            Self::FailedSignIns => ("failed_sign_ins", 10, MINUTE_MS),
            Self::Invites => ("invites", 30, HOUR_MS),
            Self::ReportKeys => ("report_keys", 10, HOUR_MS),
            Self::Settings => ("settings", 30, HOUR_MS),
            Self::Apps => ("apps", 30, HOUR_MS),
            Self::Currencies => ("currencies", 20, DAY_MS),
            Self::NewApps => ("new_apps", 10, DAY_MS),
            Self::CallbackTests => ("callback_tests", 60, HOUR_MS),
            Self::CallbackTestPause => ("callback_test_pause", 1, 5 * SECOND_MS),
            Self::Replays => ("replays", 600, HOUR_MS),
            Self::SignedUrls => ("signed_urls", 60, HOUR_MS),
        }
    }
}

struct Window {
    started_ms: i64,
    count: i64,
}

fn window(db: &impl Database, now_ms: i64, rate: Rate, subject: &[u8]) -> DbResult<Window> {
    let (name, _, length_ms) = rate.rule();
    let stored =
        db.read_first(sql::GET_RATE, params![name, subject.to_vec()], |row| Ok((row.integer(0)?, row.integer(1)?)))?;
    Ok(match stored {
        // A clock that steps back must not prolong a window.
        Some((started_ms, count)) if (0..length_ms).contains(&now_ms.saturating_sub(started_ms)) => {
            Window { started_ms, count }
        }
        _ => Window { started_ms: now_ms, count: 0 },
    })
}

fn check_window(now_ms: i64, rate: Rate, window: &Window, shares: i64) -> Result {
    let (_, most, length_ms) = rate.rule();
    if window.count < most.saturating_mul(shares) {
        return Ok(());
    }
    let left_ms = window.started_ms.saturating_add(length_ms).saturating_sub(now_ms);
    let seconds = left_ms.div_euclid(SECOND_MS).saturating_add(1);
    Err(TOO_MANY.retry_after(u32::try_from(seconds).unwrap_or(u32::MAX)).into())
}

fn count(db: &impl Database, now_ms: i64, rate: Rate, subject: &[u8], shares: i64) -> Result {
    let window = window(db, now_ms, rate, subject)?;
    check_window(now_ms, rate, &window, shares)?;
    Ok(set(db, rate, subject, &window, 1)?)
}

fn set(db: &impl Database, rate: Rate, subject: &[u8], window: &Window, more: i64) -> DbResult {
    let (name, ..) = rate.rule();
    let count = window.count.saturating_add(more);
    db.execute(sql::SET_RATE, params![name, subject.to_vec(), window.started_ms, count])
}

/// Counts an action of a member, within the caller's transaction.
///
/// # Errors
/// The rate is exceeded ([`TOO_MANY`], 429).
pub fn take(db: &impl Database, now_ms: i64, by: &Actor, rate: Rate) -> Result {
    match by {
        // A key's requests are not counted here, because the ledger that issued the key has already counted them.
        Actor::Operator | Actor::Console(_) | Actor::Key(_) => Ok(()),
        Actor::Member(member) => {
            count(db, now_ms, rate, &member.0, 1)?;
            // The pause between two tests is shared by all members.
            let shares = if rate == Rate::CallbackTestPause { 1 } else { SHARES };
            count(db, now_ms, rate, ALL, shares)
        }
    }
}

/// Subtracts a refused action from the member's and the account's counts, if the window in which it was counted at
/// `taken_ms` is still open. Runs in the caller's transaction.
pub fn give_back(db: &impl Database, now_ms: i64, (member, taken_ms): (MemberId, i64), rate: Rate) -> DbResult {
    for subject in [member.0.as_slice(), ALL] {
        let window = window(db, now_ms, rate, subject)?;
        if window.count > 0 && window.started_ms <= taken_ms {
            set(db, rate, subject, &window, -1)?;
        }
    }
    Ok(())
}

/// Refuses a passkey that has failed too often.
pub fn check_passkey(db: &impl Database, now_ms: i64, credential_id: &[u8]) -> Result {
    let rate = Rate::FailedSignIns;
    check_window(now_ms, rate, &window(db, now_ms, rate, credential_id)?, 1)
}

/// Counts a failure of a stored passkey. An unknown passkey was counted when it was read.
pub fn count_failure(db: &impl Database, now_ms: i64, credential_id: &Bytes) -> Result {
    let row = db.query_first(sql::GET_PASSKEY, params![credential_id.0.clone()])?;
    match row {
        Some(_) => count(db, now_ms, Rate::FailedSignIns, &credential_id.0, 1),
        None => Ok(()),
    }
}

/// Counts a failure with an unknown passkey or invite, and returns the refusal. An account to which nobody was invited
/// stores nothing.
pub fn refuse_unknown(db: &impl Database, now_ms: i64, refusal: ApiError) -> Failure {
    let counted = match account::is_known(db) {
        Ok(true) => count(db, now_ms, Rate::FailedSignIns, ALL, 1),
        Ok(false) => Ok(()),
        Err(error) => Err(error.into()),
    };
    counted.err().unwrap_or_else(|| refusal.into())
}
