//! Sessions: the text `s_<kind>_<owner>_<random>_<mac>` in a cookie, and the times that bound a session. The account's
//! object stores the text's [hash](crate::model::credentials::hash).

use serde::{Deserialize, Serialize};

use super::{
    account::{Account, AccountKind},
    signed_text::{self, RANDOM},
};
use crate::model::{ApiError, DAY_MS, HOUR_MS, MINUTE_MS, MacKeys};

/// Refuses a request whose session is missing, invalid or expired.
pub const NOT_SIGNED_IN: ApiError = ApiError::new(401, "not_signed_in", "the request has no valid session");
/// Refuses a sign-in to an account to which the browser is already signed in.
pub const SESSION_OPEN: ApiError =
    ApiError::new(409, "session_open", "this browser is already signed in to the account: sign out first");
/// Refuses a request from a page that does not show the browser's current account.
pub const ACCOUNT_SWITCHED: ApiError =
    ApiError::new(409, "account_switched", "this browser has switched to another account: reload the page");

/// A session ends this long after its last use.
pub const IDLE_MS: i64 = 12 * HOUR_MS;
/// A session ends this long after it began, even if it is in use.
pub const LIFE_MS: i64 = 7 * DAY_MS;
/// After a confirmation with a passkey, the session counts as verified for this long.
pub const VERIFIED_MS: i64 = 5 * MINUTE_MS;
/// Minimum time between two writes of a session's last use, so that most page loads write nothing. A session may
/// therefore end up to 10 minutes before it has been idle for 12 hours.
pub const SEEN_MS: i64 = 10 * MINUTE_MS;

/// Maximum characters of a browser's name that are stored with a session or a passkey.
pub const MAX_USER_AGENT: usize = 200;

const PREFIX: &str = "s";

/// The text of a new session; `random` must come from a secure source.
pub fn issue(keys: &MacKeys, account: &Account, random: [u8; RANDOM]) -> String {
    signed_text::issue(keys, PREFIX, account, random)
}

/// The account of a session's text; `None` for a text that was never issued for this kind of account. Only the
/// account's object knows whether the session is still open.
pub fn verify(keys: &MacKeys, kind: AccountKind, presented: &str) -> Option<Account> {
    signed_text::verify(keys, PREFIX, presented).filter(|account| account.kind() == kind)
}

/// The reason for a request within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// A person's action, which extends the session.
    Action,
    /// A page's background poll. It does not extend the session, so that the session of an unattended page ends.
    Poll,
}

/// The times of a session, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTimes {
    /// Time of the sign-in.
    pub created_at_ms: i64,
    /// Time of the last stored use. The actual last use may be up to [`SEEN_MS`] later.
    pub last_seen_at_ms: i64,
    /// Time of the last confirmation with a passkey in this session; `None` if there was none.
    pub verified_at_ms: Option<i64>,
}

impl SessionTimes {
    /// The time at which the session ends if it is not used before then.
    pub fn ends_at_ms(&self) -> i64 {
        let idle = self.last_seen_at_ms.saturating_add(IDLE_MS);
        idle.min(self.created_at_ms.saturating_add(LIFE_MS))
    }

    /// The time until which the session counts as verified.
    pub fn verified_until_ms(&self) -> Option<i64> {
        self.verified_at_ms.map(|at| at.saturating_add(VERIFIED_MS))
    }

    /// True if a passkey verified the session less than [`VERIFIED_MS`] ago.
    pub fn is_verified(&self, now_ms: i64) -> bool {
        self.verified_until_ms().is_some_and(|until| now_ms < until)
    }

    /// True if `now_ms` should be stored as the time of the last use.
    pub fn should_store_seen(&self, now_ms: i64, session_use: SessionUse) -> bool {
        session_use == SessionUse::Action && now_ms >= self.last_seen_at_ms.saturating_add(SEEN_MS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        accounts::invite,
        model::{
            PublisherId,
            mac::tests::{A, B, changed, keys},
        },
    };

    const START: i64 = 1_795_000_000_000;

    /// A session that has just begun without a passkey.
    const NEW: SessionTimes = SessionTimes { created_at_ms: START, last_seen_at_ms: START, verified_at_ms: None };

    fn publisher() -> Account {
        Account::Publisher(PublisherId::parse("operator").unwrap())
    }

    #[test]
    fn a_session_verifies_for_its_kind_only() {
        let keys = keys(A);
        for account in [publisher(), Account::Operator] {
            let text = issue(&keys, &account, [7; 16]);
            for kind in AccountKind::ALL {
                let expected = (kind == account.kind()).then(|| account.clone());
                assert_eq!(verify(&keys, kind, &text), expected);
            }
        }
    }

    #[test]
    fn a_session_of_one_kind_cannot_be_turned_into_the_other() {
        let keys = keys(A);
        let text = issue(&keys, &publisher(), [7; 16]);
        let turned = text.replacen("s_p_", "s_o_", 1);
        assert_eq!(verify(&keys, AccountKind::Operator, &turned), None);
    }

    #[test]
    fn a_changed_session_or_an_invite_does_not_verify_as_a_session() {
        let text = issue(&keys(A), &publisher(), [7; 16]);
        assert_eq!(verify(&keys(B), AccountKind::Publisher, &text), None);
        for changed in changed(&text) {
            assert_eq!(verify(&keys(A), AccountKind::Publisher, &changed), None, "{changed}");
        }
        let invite = invite::issue(&keys(A), &publisher(), [7; 16]);
        assert_eq!(verify(&keys(A), AccountKind::Publisher, &invite), None);
        assert_eq!(invite::verify(&keys(A), &text), None);
    }

    #[test]
    fn a_session_ends_after_12_idle_hours_and_after_7_days() {
        let mut times = NEW;
        assert_eq!(times.ends_at_ms(), START + 12 * HOUR_MS);
        times.last_seen_at_ms = START + 7 * DAY_MS - 1;
        assert_eq!(times.ends_at_ms(), START + 7 * DAY_MS);
    }

    #[test]
    fn a_passkey_verifies_a_session_for_5_minutes() {
        let mut times = NEW;
        assert!(!times.is_verified(START));
        times.verified_at_ms = Some(START);
        assert!(times.is_verified(START + 5 * MINUTE_MS - 1));
        assert!(!times.is_verified(START + 5 * MINUTE_MS));
    }

    #[test]
    fn the_last_use_is_stored_every_10_minutes_and_never_for_a_poll() {
        for (after, session_use, stored) in [
            (10 * MINUTE_MS - 1, SessionUse::Action, false),
            (10 * MINUTE_MS, SessionUse::Action, true),
            (11 * HOUR_MS, SessionUse::Poll, false),
        ] {
            assert_eq!(NEW.should_store_seen(START + after, session_use), stored, "{after}");
        }
    }

    proptest! {
        #[test]
        fn no_time_overflows(created: i64, seen: i64, verified: Option<i64>, now: i64) {
            let times = SessionTimes {
                created_at_ms: created,
                last_seen_at_ms: seen,
                verified_at_ms: verified,
            };
            times.ends_at_ms();
            times.is_verified(now);
            times.should_store_seen(now, SessionUse::Action);
        }
    }
}
