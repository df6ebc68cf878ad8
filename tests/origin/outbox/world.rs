//! The environment of an outbox: the clock, the catalog, the keeper of its txns, and the counters.

use super::*;
use contract::outbox::{ClaimApp, ClaimedApp};
use domain::{callbacks::fields::Status as CallbackStatus, catalog::offer::OncePer};
use platform::database::DatabaseError;

/// An app with a callback, and an offer with two goals.
fn catalog() -> TestCatalog {
    let offer = OfferTerms {
        advertiser_id: advertiser("brand"),
        conversion_window_days: 30,
        once_per: Default::default(),
        goals: vec![goal("g-1", "install", 750_000), goal("g-2", "purchase", 2_000_000)],
    };
    let currency =
        CurrencyRate { name: "Coins".into(), per_usd: PerUsd(100_000_000), decimals: 2, rounding: Default::default() };
    TestCatalog::new(AppTerms { currency }, settings(1, true), &[(OFFER, offer, None)])
}

/// The environment of an outbox: the clock, the catalog, and the counters with their production code.
pub struct World {
    pub now_ms: Cell<i64>,
    /// The milliseconds that pass whenever somebody reads the clock.
    pub tick_ms: Cell<i64>,
    pub catalog: RefCell<TestCatalog>,
    pub catalog_answers: Cell<bool>,
    /// While set, answers of the catalog do not arrive.
    pub hold_catalog: Cell<bool>,
    /// Whether conversions come from an edge whose snapshot is the newest. Else they bring what they have.
    pub has_snapshot: Cell<bool>,
    pub state_cache: StateCache,
    pub questions: KeyedFlights<Result<(), Failure>>,
    /// The outbox that keeps the txns of the app.
    pub keeper: Sqlite,
    pub keeper_answers: Cell<bool>,
    pub counters: Sqlite,
    pub counters_answer: Cell<bool>,
    /// While set, answers of the counters do not arrive.
    pub hold_answers: Cell<bool>,
    /// All takes that the counters received.
    pub takes: RefCell<Vec<Take>>,
    pub commits: Cell<usize>,
    /// The events of which the publisher is told.
    pub events: Cell<Events>,
    /// Whether the outbox requested a task that resumes waiting conversions.
    pub must_resume: Cell<bool>,
}

impl World {
    pub fn new() -> Self {
        Self {
            now_ms: Cell::new(NOW),
            tick_ms: Cell::new(0),
            catalog: RefCell::new(catalog()),
            catalog_answers: Cell::new(true),
            hold_catalog: Cell::new(false),
            has_snapshot: Cell::new(true),
            state_cache: StateCache::default(),
            questions: KeyedFlights::default(),
            keeper: outbox(),
            keeper_answers: Cell::new(true),
            counters: migrated(counters::MIGRATIONS),
            counters_answer: Cell::new(true),
            hold_answers: Cell::new(false),
            takes: RefCell::default(),
            commits: Cell::new(0),
            events: Cell::new(DEFAULT_EVENTS),
            must_resume: Cell::new(false),
        }
    }

    /// With an offer that pays each click of a user.
    pub fn paying_each_click() -> Self {
        let world = Self::new();
        world.first(|offer| offer.once_per = OncePer::Click);
        world
    }

    pub fn capped(limit: u32) -> Self {
        let world = Self::new();
        world.cap(Some(limit));
        world
    }

    /// Changes the offer's terms like the operator. Each change has a new revision.
    pub fn change(&self, change: impl FnOnce(&mut OfferTerms)) {
        self.catalog.borrow_mut().change_offer(OFFER, change);
    }

    /// The same before any click.
    pub fn first(&self, change: impl FnOnce(&mut OfferTerms)) {
        self.catalog.borrow_mut().first_offer(OFFER, change);
    }

    pub fn cap(&self, limit: Option<u32>) {
        self.catalog.borrow_mut().cap(OFFER, limit);
    }

    /// Changes the limits beyond which conversions are held.
    pub fn hold(&self, change: impl FnOnce(&mut CurrentOffer, &mut CurrentApp)) {
        self.catalog.borrow_mut().hold(OFFER, change);
    }

    pub fn pass(&self, ms: i64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }
}

/// Handles a postback like the edge and the service.
pub async fn send_postback(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
    let mut conversion = conversion.clone();
    if world.has_snapshot.get() {
        conversion.current = world.catalog.borrow().current(&conversion.click.offer);
    }
    let terms = outbox::terms::of(db, world, shard(), &conversion).await?;
    let answer = commit::convert(db, world, &conversion, &terms).await;
    if world.must_resume.replace(false) {
        txns::free_due(db, world).await?;
    }
    answer
}

impl Peers for World {
    fn now_ms(&self) -> i64 {
        self.now_ms.replace(self.now_ms.get() + self.tick_ms.get())
    }

    fn claim_ms(&self) -> i64 {
        CLAIM_MS
    }

    fn state_cache(&self) -> &StateCache {
        &self.state_cache
    }

    fn questions(&self) -> &KeyedFlights<Result<(), Failure>> {
        &self.questions
    }

    async fn ask_offer(&self, question: GetOfferTerms) -> Result<KnownOffer, Failure> {
        if !self.catalog_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        let known = self.catalog.borrow_mut().ask_offer(&question);
        arrives(&self.hold_catalog).await;
        let is_known = self.catalog.borrow().offers.contains_key(&question.offer_id);
        known.ok_or_else(|| if is_known { LOST_TERMS } else { INVALID_CLICK_ID }.into())
    }

    async fn ask_app(&self, question: GetAppTerms) -> Result<KnownApp, Failure> {
        if !self.catalog_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        let known = self.catalog.borrow_mut().ask_app(&question);
        arrives(&self.hold_catalog).await;
        Ok(known)
    }

    async fn claim_app(&self, first: OutboxShard, claim: ClaimApp) -> Result<ClaimedApp, Failure> {
        if !self.keeper_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        outbox::endpoint::claim_app(&self.keeper, first, claim)
    }

    async fn take(&self, take: &Take) -> Result<bool, Failure> {
        self.takes.borrow_mut().push(take.clone());
        if !self.counters_answer.get() {
            return Err(common::UNAVAILABLE.into());
        }
        let command = contract::counters::Command::Take(take.clone());
        let contract::counters::Reply::Taken(Taken { taken, .. }) =
            crate::ask_counters(&self.counters, self.now_ms.get(), command)?
        else {
            panic!("unexpected reply to a take");
        };
        arrives(&self.hold_answers).await;
        Ok(taken)
    }

    async fn claim_txn(&self, txn: &Txn) -> Result<bool, Failure> {
        if !self.keeper_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(txns::claim(&self.keeper, self.now_ms.get(), shard(), txn)?)
    }

    async fn free_txn(&self, txn: &Txn) -> Result<(), Failure> {
        if !self.keeper_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(txns::free(&self.keeper, txn)?)
    }

    fn resume_soon(&self) {
        self.must_resume.set(true);
    }

    fn wants(&self, status: CallbackStatus) -> Result<bool, DatabaseError> {
        Ok(self.events.get().contains(status))
    }

    fn committed(&self) -> Result<(), Failure> {
        self.commits.set(self.commits.get() + 1);
        Ok(())
    }
}

/// Waits while answers are held.
async fn arrives(hold: &Cell<bool>) {
    poll_fn(|_| if hold.get() { Poll::Pending } else { Poll::Ready(()) }).await;
}
