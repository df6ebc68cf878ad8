//! The sessions of one browser. One cookie holds their texts, joined by `.`; the current session comes first. A browser
//! can be signed in to at most 4 accounts, with one session per account.

use super::{
    account::{Account, AccountKind},
    session,
};
use crate::model::MacKeys;

/// Maximum accounts to which one browser is signed in. A session's text has at most 136 bytes, so the cookie takes
/// about 550 of the 4,096 bytes that browsers store.
pub const MAX_ACCOUNTS: usize = 4;

/// Separates the sessions' texts, which never contain it.
const SEPARATOR: char = '.';

/// A session that a browser holds. Only the account's object knows whether it is still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// The session's text.
    pub token: String,
    /// The account for which the text was issued.
    pub account: Account,
}

impl BrowserSession {
    /// Verifies a session's text; `None` if the text was never issued for this kind of account.
    pub fn parse(keys: &MacKeys, kind: AccountKind, token: &str) -> Option<Self> {
        let account = session::verify(keys, kind, token)?;
        Some(Self { token: token.to_owned(), account })
    }
}

/// The sessions of a browser, at most one for each account. The current one is first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserSessions(Vec<BrowserSession>);

impl BrowserSessions {
    /// Parses the cookie's value. If a text in it is invalid, two sessions have the same account, or there are too many
    /// sessions, Signpost did not set the value. The result then has no sessions at all.
    pub fn parse(keys: &MacKeys, kind: AccountKind, value: &str) -> Self {
        let mut sessions = Self::default();
        for token in value.split(SEPARATOR) {
            match BrowserSession::parse(keys, kind, token) {
                Some(session) if sessions.0.len() < MAX_ACCOUNTS && sessions.find(&session.account).is_none() => {
                    sessions.0.push(session);
                }
                _ => return Self::default(),
            }
        }
        sessions
    }

    /// The session that requests use; `None` if the browser is signed out.
    pub fn current(&self) -> Option<&BrowserSession> {
        self.0.first()
    }

    /// All sessions, the current one first.
    pub fn all(&self) -> &[BrowserSession] {
        &self.0
    }

    /// The session of an account; `None` if the browser has none for it.
    pub fn find(&self, account: &Account) -> Option<&BrowserSession> {
        self.0.iter().find(|session| session.account == *account)
    }

    /// Makes a new session the current one. Returns the sessions that it displaces: an earlier session of the same
    /// account and, beyond the limit, the session that was current longest ago.
    pub fn open(&mut self, session: BrowserSession) -> Vec<BrowserSession> {
        let (mut left, mut kept): (Vec<_>, Vec<_>) =
            self.0.drain(..).partition(|known| known.account == session.account);
        kept.insert(0, session);
        left.extend(kept.drain(MAX_ACCOUNTS.min(kept.len())..));
        self.0 = kept;
        left
    }

    /// Makes the session of an account the current one. Returns false if the browser has none for it.
    pub fn switch(&mut self, account: &Account) -> bool {
        let Some(at) = self.0.iter().position(|session| session.account == *account) else {
            return false;
        };
        self.0.get_mut(..=at).unwrap_or_default().rotate_right(1);
        true
    }

    /// Removes the current session. The session that was current before it becomes current again.
    pub fn leave_current(&mut self) {
        if !self.0.is_empty() {
            self.0.remove(0);
        }
    }

    /// The value of the cookie; empty without sessions.
    pub fn value(&self) -> String {
        let tokens: Vec<_> = self.0.iter().map(|session| session.token.as_str()).collect();
        tokens.join(&SEPARATOR.to_string())
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

    fn account(id: &str) -> Account {
        Account::Publisher(PublisherId::parse(id).unwrap())
    }

    fn session(id: &str, random: u8) -> BrowserSession {
        let account = account(id);
        BrowserSession { token: session::issue(&keys(A), &account, [random; 16]), account }
    }

    fn parsed(value: &str) -> BrowserSessions {
        BrowserSessions::parse(&keys(A), AccountKind::Publisher, value)
    }

    fn accounts(sessions: &BrowserSessions) -> Vec<&str> {
        sessions.all().iter().map(|session| session.account.owner()).collect()
    }

    #[test]
    fn a_new_session_is_the_current_one_and_the_former_of_its_account_is_left() {
        let mut sessions = BrowserSessions::default();
        for id in ["one", "two"] {
            assert_eq!(sessions.open(session(id, 1)), []);
        }
        assert_eq!(sessions.open(session("one", 2)), [session("one", 1)]);
        assert_eq!(sessions.current(), Some(&session("one", 2)));
        assert_eq!(accounts(&sessions), ["one", "two"]);
    }

    #[test]
    fn a_fifth_account_takes_the_place_of_the_one_that_was_current_longest_ago() {
        let mut sessions = BrowserSessions::default();
        for id in ["one", "two", "three", "four"] {
            assert_eq!(sessions.open(session(id, 1)), []);
        }
        assert!(sessions.switch(&account("one")));
        assert_eq!(accounts(&sessions), ["one", "four", "three", "two"]);
        assert!(!sessions.switch(&account("five")));
        assert_eq!(sessions.open(session("five", 1)), [session("two", 1)]);
        assert_eq!(accounts(&sessions), ["five", "one", "four", "three"]);
    }

    #[test]
    fn a_cookie_that_was_not_set_here_has_no_sessions() {
        let (one, two) = (session("one", 1).token, session("two", 1).token);
        let is_empty = |value: &str| parsed(value) == BrowserSessions::default();
        assert!(!is_empty(&format!("{one}.{two}")));
        for changed in changed(&two) {
            assert!(is_empty(&format!("{one}.{changed}")), "{changed}");
        }
        let operator = session::issue(&keys(A), &Account::Operator, [1; 16]);
        let foreign = session::issue(&keys(B), &account("two"), [1; 16]);
        let invite = invite::issue(&keys(A), &account("two"), [1; 16]);
        let again = session("one", 2).token;
        for other in [operator, foreign, invite, again, String::new()] {
            assert!(is_empty(&format!("{one}.{other}")), "{other}");
            assert!(is_empty(&format!("{other}.{one}")), "{other}");
        }
        let five: Vec<_> = ["a", "b", "c", "d", "e"].map(|id| session(id, 1).token).into();
        assert!(!is_empty(&five[..4].join(".")));
        assert!(is_empty(&five.join(".")));
    }

    proptest! {
        #[test]
        fn a_cookie_value_is_parsed_as_it_was_set(opened in proptest::collection::vec((0..6_u8, any::<u8>()), 1..12)) {
            let mut sessions = BrowserSessions::default();
            for (id, random) in opened {
                let new = session(&format!("p-{id}"), random);
                let held = sessions.all().len();
                let left = sessions.open(new.clone());
                prop_assert_eq!(sessions.all().len() + left.len(), held + 1);
                prop_assert_eq!(sessions.current(), Some(&new));
                prop_assert_eq!(&parsed(&sessions.value()), &sessions);
            }
        }

        #[test]
        fn junk_has_no_sessions(value in "(s_p_)?[a-f0-9_.-]{0,200}") {
            prop_assert_eq!(parsed(&value), BrowserSessions::default());
        }
    }
}
