//! The objects, the caches and the clock that an outbox's rules use in addition to its database.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use contract::{
    catalog::{GetAppTerms, GetOfferTerms, KnownApp, KnownOffer},
    counters::Take,
    outbox::{ClaimApp, ClaimedApp, OutboxShard, Txn},
};
use domain::{
    callbacks::fields::Status,
    conversions::terms::TermsInForce,
    model::{ApiError, MINUTE_MS},
};
use platform::{DbResult, Result, keyed_flights::KeyedFlights};

use super::terms_cache::TermsCache;

/// The clock, the caches and the other objects that a conversion needs.
#[expect(async_fn_in_trait, reason = "an object runs on one thread")]
pub trait Peers {
    fn now_ms(&self) -> i64;

    /// The duration of a claim on a callback, in milliseconds.
    fn claim_ms(&self) -> i64;

    /// Returns the due time to store for the callback of the next committed reward. Usually this is now. If the
    /// callback can be attempted right after the commit, it is the end of a claim: the commit then also claims the
    /// callback, which saves a write.
    fn reward_due_ms(&self, now_ms: i64) -> i64 {
        now_ms
    }

    /// Notes that the commit of an entry also claims the entry's callback (see [`Self::reward_due_ms`]).
    fn claimed_ahead(&self, _entry: i64) {}

    /// The process's cache of the outbox's state and terms.
    fn state_cache(&self) -> &StateCache;

    /// The questions to the catalog that wait for an answer.
    fn questions(&self) -> &KeyedFlights<Result>;

    async fn ask_offer(&self, question: GetOfferTerms) -> Result<KnownOffer>;

    /// Asks the catalog for a revision of the app's terms.
    async fn ask_app(&self, question: GetAppTerms) -> Result<KnownApp>;

    /// Claims the app's number of outboxes at the app's first outbox.
    async fn claim_app(&self, first: OutboxShard, claim: ClaimApp) -> Result<ClaimedApp>;

    /// Takes one conversion from an offer's cap. Idempotent by the key in `take`. Returns false if the cap is spent.
    async fn take(&self, take: &Take) -> Result<bool>;

    /// Claims a `txn` in the outbox that keeps it. Returns false if another click has claimed the `txn`.
    async fn claim_txn(&self, txn: &Txn) -> Result<bool>;

    /// Ends a click's claim on a `txn`, in the outbox that keeps the `txn`.
    async fn free_txn(&self, txn: &Txn) -> Result;

    /// Requests [`super::conversions::commit::resume_overdue`] in a separate task, once the command is answered.
    fn resume_soon(&self);

    /// True if the publisher wants a notice of a conversion with this status, pending or rejected.
    fn wants(&self, status: Status) -> DbResult<bool>;

    /// Sets the alarm for committed work. Must be called after each commit and before the next `await`, so that the
    /// runtime stores the alarm together with the commit.
    fn committed(&self) -> Result;
}

/// The app's current values that conversions need.
#[derive(Clone, Copy, Debug)]
pub struct AppNow {
    pub revision: i64,
    pub terms: TermsInForce,
    pub max_rewards_per_user_day: Option<u32>,
    /// True if the app's publisher is suspended.
    pub is_suspended: bool,
    /// True if the callback settings, and with them `is_suspended`, are known.
    pub has_settings: bool,
    pub gap: Option<Gap>,
}

/// Payments that a restore has lost for good. Clicks up to `clicks_to_ms` may have been paid, so their conversions are
/// held until `until_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub clicks_to_ms: i64,
    pub until_ms: i64,
}

impl AppNow {
    /// True if a conversion of a click of this time may have been paid before the outbox was restored.
    pub fn may_have_lost(&self, now_ms: i64, clicked_at_ms: i64) -> bool {
        self.gap.is_some_and(|gap| now_ms < gap.until_ms && clicked_at_ms <= gap.clicks_to_ms)
    }
}

/// A process's cache of the outbox's row and of terms, so that they are not read for each conversion.
#[derive(Debug, Default)]
pub struct StateCache {
    /// The app's newest values, if they are known to be stored. Must be set to `None` before a write, because a write
    /// that reports an error may have happened.
    pub current: Cell<Option<AppNow>>,
    /// When the catalog may be asked for the app's values again, in milliseconds.
    pub ask_ms: Cell<i64>,
    /// True if no callback can be sent, because the app has no callback or its endpoint is disabled. May be set to true
    /// only right after the state was read. Must be set to false before every write that may enable callbacks, because a
    /// write that reports an error may have happened.
    pub lacks_endpoint: Cell<bool>,
    salt: RefCell<Option<Rc<[u8]>>>,
    pub terms: TermsCache,
    /// The minute of the last test postback, and the number of test postbacks in that minute.
    tests: Cell<(i64, u32)>,
}

/// Maximum postbacks of a test app per minute. Each postback may cause a call to somebody's server, and anybody may
/// send postbacks of a test app.
const TESTS_A_MINUTE: u32 = 300;
const TOO_MANY_TESTS: ApiError =
    ApiError::new(429, "rate_limit_exceeded", "a test app accepts at most 300 postbacks per minute").retry_after(60);

impl StateCache {
    /// Counts a postback of a test app.
    ///
    /// # Errors
    /// `TOO_MANY_TESTS`
    pub fn take_test(&self, now_ms: i64) -> Result<(), ApiError> {
        let minute = now_ms.div_euclid(MINUTE_MS);
        let (last, tests) = self.tests.get();
        let tests = if last == minute { tests } else { 0 };
        if tests >= TESTS_A_MINUTE {
            return Err(TOO_MANY_TESTS);
        }
        self.tests.set((minute, tests.saturating_add(1)));
        Ok(())
    }

    /// Returns the salt for the keys in `rewarded`, if it is cached.
    pub fn salt(&self) -> Option<Rc<[u8]>> {
        self.salt.borrow().clone()
    }

    pub fn set_salt(&self, salt: &[u8]) -> Rc<[u8]> {
        let salt = Rc::from(salt);
        self.salt.replace(Some(Rc::clone(&salt)));
        salt
    }

    /// Forgets the cached values of the outbox's row, and the newest values of offers.
    pub fn clear(&self) {
        self.current.set(None);
        self.lacks_endpoint.set(false);
        self.salt.take();
        self.terms.current.borrow_mut().clear();
    }
}
