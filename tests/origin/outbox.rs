//! `origin::outbox` on a real SQLite. Tests send postbacks, answer callbacks as a publisher's endpoint, and check the
//! sender's answer, the operator's view and the sums for other objects.

mod alarms;
mod caps;
mod conversions;
mod days;
mod deliveries;
mod erasure;
mod faults;
mod log;
mod merge;
mod replay;
mod retention;
mod statements;
mod states;
mod terms;

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::Value as Json;

use super::{
    Database, Sqlite, dump, migrated,
    test_catalog::{FIRST, TestCatalog},
};
use contract::{
    catalog::{CallbackSettings, GetAppTerms, GetOfferTerms, KnownApp, KnownOffer},
    counters::{Take, Taken},
    operation::{Bytes, Reply},
    outbox::{Answer, Conversion, Current, List, ListPage, ReplayMany, Shard, Txn},
};
use domain::{
    callbacks::{
        delivery::{Answer as Answered, Judgement, Outcome, judge},
        health::MAX_IN_FLIGHT,
        schedule::Schedule,
    },
    conversions::{
        ids::{RowKey, transaction_id},
        parameters::INVALID_CLICK_ID,
        state::{Movement, Status},
        terms::{AppTerms, GoalTerms, OfferTerms},
    },
    model::{
        AdvertiserId, AppId, CurrencyRate, OfferId,
        api_error::{ApiError, common},
        money::PerUsd,
        time::{DAY_MS, SECOND_MS},
    },
    tracking::click::Click,
};
use origin::{
    counters,
    outbox::{
        self, commit, day,
        deliveries::{self as attempts, Attempt, ClaimedCallback},
        endpoint, log as written,
        merge::MAX_TEXT,
        peers::{Peers, StateCache},
        replay as operator, txns,
    },
};
use platform::{failure::Failure, keyed_flights::KeyedFlights, params};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;
/// The time in milliseconds by which an attempt in flight postpones its callback.
const CLAIM_MS: i64 = 15_000;
const APP: &str = "00000042";
const OFFER: &str = "o-1";

fn outbox() -> Sqlite {
    migrated(outbox::MIGRATIONS)
}

fn app() -> AppId {
    AppId::parse(APP).unwrap()
}

fn advertiser(id: &str) -> AdvertiserId {
    AdvertiserId::parse(id).unwrap()
}

fn shard() -> Shard {
    Shard {
        app: app(),
        number: 5,
    }
}

fn goal(id: &str, code: &str, payout_micro_usd: i64) -> GoalTerms {
    GoalTerms {
        id: id.into(),
        gl_val: Some(code.to_owned()).filter(|code| !code.is_empty()),
        payout_micro_usd,
    }
}

fn settings(revision: i64, has_callback: bool) -> CallbackSettings {
    CallbackSettings {
        revision,
        sealed: has_callback.then(|| Bytes(vec![7; 40])),
    }
}

/// An app with a callback, and an offer with two goals.
fn catalog() -> TestCatalog {
    let offer = OfferTerms {
        advertiser_id: advertiser("brand"),
        conversion_window_days: 30,
        goals: vec![
            goal("g-1", "install", 750_000),
            goal("g-2", "purchase", 2_000_000),
        ],
    };
    let currency = CurrencyRate {
        name: "Coins".into(),
        per_usd: PerUsd(100_000_000),
        decimals: 2,
        rounding: Default::default(),
    };
    TestCatalog::new(AppTerms { currency }, settings(1, true), &[(OFFER, offer, None)])
}

/// The environment of an outbox: the clock, the catalog, and the counters with their production code.
struct World {
    now_ms: Cell<i64>,
    catalog: RefCell<TestCatalog>,
    catalog_answers: Cell<bool>,
    /// While set, answers of the catalog do not arrive.
    hold_catalog: Cell<bool>,
    /// Whether conversions come from an edge whose snapshot is the newest. Else they bring what they have.
    has_snapshot: Cell<bool>,
    state_cache: StateCache,
    questions: KeyedFlights<Result<(), Failure>>,
    /// The outbox that keeps the txns of the app.
    keeper: Sqlite,
    keeper_answers: Cell<bool>,
    counters: Sqlite,
    counters_answer: Cell<bool>,
    /// While set, answers of the counters do not arrive.
    hold_answers: Cell<bool>,
    /// All takes that the counters received.
    takes: RefCell<Vec<Take>>,
    commits: Cell<usize>,
}

impl World {
    fn new() -> Self {
        Self {
            now_ms: Cell::new(NOW),
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
        }
    }

    fn capped(limit: u32) -> Self {
        let world = Self::new();
        world.cap(Some(limit));
        world
    }

    /// Changes the offer's terms like the operator. Each change has a new revision.
    fn change(&self, change: impl FnOnce(&mut OfferTerms)) {
        self.catalog.borrow_mut().change_offer(OFFER, change);
    }

    /// The same before any click.
    fn first(&self, change: impl FnOnce(&mut OfferTerms)) {
        self.catalog.borrow_mut().first_offer(OFFER, change);
    }

    fn cap(&self, limit: Option<u32>) {
        self.catalog.borrow_mut().cap(OFFER, limit);
    }

    fn pass(&self, ms: i64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }
}

/// Handles a postback like the edge and the service.
async fn send_postback(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
    let mut conversion = conversion.clone();
    if world.has_snapshot.get() {
        conversion.current = world.catalog.borrow().current(&conversion.click.offer);
    }
    let terms = outbox::terms::of(db, world, shard(), &conversion).await?;
    commit::convert(db, world, &conversion, &terms).await
}

impl Peers for World {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
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
        known.ok_or_else(|| INVALID_CLICK_ID.into())
    }

    async fn ask_app(&self, question: GetAppTerms) -> Result<KnownApp, Failure> {
        if !self.catalog_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        let known = self.catalog.borrow_mut().ask_app(&question);
        arrives(&self.hold_catalog).await;
        Ok(known)
    }

    async fn take(&self, take: &Take) -> Result<bool, Failure> {
        self.takes.borrow_mut().push(take.clone());
        if !self.counters_answer.get() {
            return Err(common::UNAVAILABLE.into());
        }
        let command = contract::counters::Command::Take(take.clone());
        let contract::counters::Reply::Taken(Taken { taken, .. }) =
            counters::handle(&self.counters, self.now_ms.get(), command)?
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
        Ok(txns::claim(&self.keeper, self.now_ms.get(), txn)?)
    }

    async fn free_txn(&self, txn: &Txn) -> Result<(), Failure> {
        if !self.keeper_answers.get() {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(txns::free(&self.keeper, txn)?)
    }

    fn committed(&self) -> Result<(), Failure> {
        self.commits.set(self.commits.get() + 1);
        Ok(())
    }
}

/// Waits while answers are held.
async fn arrives(hold: &Cell<bool>) {
    poll_fn(|_| {
        if hold.get() {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// The output of a future that does not wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

/// The first postback of click `n` by `user-n`: approved, without a goal.
fn conversion(n: u8) -> Conversion {
    Conversion {
        nonce: Bytes(vec![n; 12]),
        click: Click {
            offer: OFFER.into(),
            goal: "g-2".into(),
            app: app(),
            shard: 5,
            offer_terms: FIRST,
            app_terms: FIRST,
            user_id: format!("user-{n}").into(),
            gaid: Some("gaid".into()),
            idfa: None,
            custom: [Some("c-one".into()), None, None, None, Some("c-five".into())],
            placement: Some("home".into()),
            country: domain::model::Country::parse("DE"),
            clicked_at_ms: NOW - DAY_MS,
        },
        advertiser: advertiser("brand"),
        goal: None,
        txn: None,
        status: Status::Approved,
        current: Current {
            offer: None,
            app: None,
            is_recent: true,
        },
    }
}

trait ConversionExt {
    /// The conversion of a click that was made under the current terms.
    fn under_current(self, world: &World) -> Self;
    fn goal(self, goal: &str) -> Self;
    fn txn(self, txn: &str) -> Self;
    fn status(self, status: Status) -> Self;
    fn user(self, user: &str) -> Self;
}

impl ConversionExt for Conversion {
    fn under_current(mut self, world: &World) -> Self {
        let mut catalog = world.catalog.borrow_mut();
        self.click.app_terms = catalog.app.terms.revision;
        self.click.offer_terms = catalog.offer(OFFER).current.terms.revision;
        self
    }

    fn goal(mut self, goal: &str) -> Self {
        self.goal = Some(goal.into());
        self
    }

    fn txn(mut self, txn: &str) -> Self {
        self.txn = Some(txn.into());
        self
    }

    fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    fn user(mut self, user: &str) -> Self {
        self.click.user_id = user.to_owned().into();
        self
    }
}

fn convert(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
    now(send_postback(db, world, conversion))
}

/// An outbox with this many rewards, one second apart, the first at [`NOW`].
fn with_rewards(rewards: u8) -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    for n in 1..=rewards {
        convert(&db, &world, &conversion(n)).unwrap();
        world.pass(SECOND_MS);
    }
    (db, world)
}

/// The sender's answer: the status and whether it is a duplicate, or the error code.
fn send(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<(&'static str, bool), &'static str> {
    match convert(db, world, conversion) {
        Ok(answer) => Ok((answer.status.as_str(), answer.duplicate)),
        Err(Failure::Refused(refusal)) => Err(refusal.code),
        Err(Failure::Internal(cause)) => panic!("{cause}"),
    }
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> ApiError {
    match outcome {
        Err(Failure::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// The transaction id of click `n` for a goal.
fn id_of(n: u8, goal: &str, movement: Movement) -> String {
    let row = RowKey {
        app: app(),
        shard: shard().number,
        nonce: [n; 12],
        goal,
    };
    transaction_id(&row, movement)
}

fn reward_id(n: u8) -> String {
    id_of(n, "g-1", Movement::Reward)
}

fn reversal_id(n: u8) -> String {
    id_of(n, "g-1", Movement::Reversal)
}

fn json(reply: Reply) -> Json {
    assert_eq!(reply.status, 200);
    serde_json::from_str(&reply.body).unwrap()
}

/// An entry as the operator reads it.
fn entry(db: &Sqlite, transaction_id: &str) -> Json {
    json(written::get(db, transaction_id).unwrap())
}

/// All entries, the newest first.
fn entries(db: &Sqlite) -> Vec<Json> {
    let (entries, end) = page(db, None, None, 1_000, None);
    assert_eq!(end, None);
    entries
}

/// A page of the log: its entries, and where it stopped.
fn page(
    db: &Sqlite,
    status: Option<&str>,
    state: Option<&str>,
    limit: u32,
    before: Option<i64>,
) -> (Vec<Json>, Option<i64>) {
    let page = written::list(db, &list(status, state, limit, before), written::WALK).unwrap();
    shown(&page)
}

fn shown(page: &ListPage) -> (Vec<Json>, Option<i64>) {
    let entries = page
        .entries
        .iter()
        .map(|listed| serde_json::from_str(listed.entry.get()).unwrap());
    (entries.collect(), page.end)
}

fn list(status: Option<&str>, state: Option<&str>, limit: u32, before: Option<i64>) -> List {
    List {
        status: status.map(str::to_owned),
        state: state.map(str::to_owned),
        limit,
        max_text: MAX_TEXT,
        before,
    }
}

/// The filtered list, page by page, as the merge follows where each stopped.
fn pages(db: &Sqlite, status: Option<&str>, state: Option<&str>, limit: u32, walk: i64) -> Vec<Vec<Json>> {
    let (mut pages, mut before) = (vec![], None);
    loop {
        let page = written::list(db, &list(status, state, limit, before), walk).unwrap();
        let (entries, end) = shown(&page);
        pages.push(entries);
        assert!(pages.len() < 1_000, "the list does not end");
        if end.is_none() {
            return pages;
        }
        before = end;
    }
}

/// Replays many callbacks in as many steps as needed.
fn replay_many(db: &Sqlite, now_ms: i64, body: &str) -> Result<i64, Failure> {
    replay_in(db, now_ms, body, operator::STEP)
}

/// The same in steps of so many entries.
fn replay_in(db: &Sqlite, now_ms: i64, body: &str, entries: i64) -> Result<i64, Failure> {
    let step = async |ReplayMany { body, after, until }: ReplayMany| {
        operator::replay_many(db, now_ms, &body, after, until, CLAIM_MS, entries)
    };
    now(operator::replay_in_steps(body, None, step)).map(|all| all.replayed)
}

/// Copies the last entry until there are `entries`.
fn fill(db: &Sqlite, entries: i64) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT COUNT(*) + 1 FROM entries UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT entry + n, 'copy-' || n, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
        FROM n, entries WHERE entry = (SELECT MAX(entry) FROM entries)";
    db.execute(sql, params![entries]).unwrap();
}

/// An entry's delivery state, the time of its next attempt, and the number of attempts.
fn delivery_state(db: &Sqlite, transaction_id: &str) -> (Option<i64>, Option<i64>, i64) {
    let sql = "SELECT delivery, due_ms, attempts_made FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![transaction_id]).unwrap().unwrap();
    (
        row.optional_integer(0).unwrap(),
        row.optional_integer(1).unwrap(),
        row.integer(2).unwrap(),
    )
}

/// Applies callback settings that the catalog pushes. Returns whether they are newer than the stored ones.
fn apply_settings(db: &Sqlite, now_ms: i64, settings: &CallbackSettings) -> bool {
    let world = World::new();
    world.now_ms.set(now_ms);
    endpoint::store_settings(db, &world, shard(), settings).unwrap();
    world.commits.get() == 1
}

fn claim(db: &Sqlite, now_ms: i64) -> Vec<ClaimedCallback> {
    attempts::claim(db, now_ms, MAX_IN_FLIGHT, CLAIM_MS).unwrap()
}

/// The transaction ids of these attempts.
fn ids(callbacks: &[ClaimedCallback]) -> Vec<&str> {
    callbacks
        .iter()
        .map(|callback| callback.fields.transaction_id.as_str())
        .collect()
}

fn judge_answer(
    callback: &ClaimedCallback,
    now_ms: i64,
    status: u16,
    webhook_delivery: Option<&str>,
) -> Judgement {
    let answer = Answered {
        status,
        retry_after: None,
        webhook_delivery,
    };
    let outcome = Outcome::Answered(answer);
    judge(
        &Schedule::default(),
        callback.attempts_made + 1,
        &outcome,
        now_ms,
        u32::MAX / 2,
    )
}

fn attempt(at_ms: i64, status: u16) -> Attempt {
    Attempt {
        at_ms,
        took_ms: 120,
        http_status: Some(status),
        body: format!("answer {status}"),
        error: None,
    }
}

/// Lets the endpoint answer an attempt with this status.
fn answer(db: &Sqlite, now_ms: i64, callback: &ClaimedCallback, status: u16) {
    let judgement = judge_answer(callback, now_ms, status, None);
    attempts::conclude(db, now_ms, callback, &attempt(now_ms, status), &judgement).unwrap();
}

/// Lets the endpoint abort a callback: the callback is dead, and the endpoint stays healthy.
fn abort(db: &Sqlite, now_ms: i64, callback: &ClaimedCallback) {
    let judgement = judge_answer(callback, now_ms, 400, Some("abort-message"));
    attempts::conclude(db, now_ms, callback, &attempt(now_ms, 400), &judgement).unwrap();
}

/// Sends every due callback and answers it with this status. Returns the transaction ids in the order of sending.
fn send_all(db: &Sqlite, now_ms: i64, status: u16) -> Vec<String> {
    let mut sent = vec![];
    loop {
        let callbacks = claim(db, now_ms);
        if callbacks.is_empty() {
            return sent;
        }
        for callback in &callbacks {
            answer(db, now_ms, callback, status);
            sent.push(callback.fields.transaction_id.clone());
        }
    }
}

/// Rewards of clicks 1 and 2 (one user) and 3 (another user), all delivered.
fn delivered() -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    for (n, user) in [(1, "ann"), (2, "ann"), (3, "bob")] {
        convert(&db, &world, &conversion(n).user(user)).unwrap();
    }
    send_all(&db, NOW, 200);
    (db, world)
}
