//! `origin::objects::outbox` on a real SQLite. Tests send postbacks, answer callbacks as a publisher's endpoint, and check the
//! sender's answer, the operator's view and the sums for other objects.

mod alarms;
mod attention;
mod bulk_replay_filters;
mod bulk_replays;
mod caps;
mod changes;
mod check;
mod conversions;
mod days;
mod deliveries;
mod erased;
mod erasure;
mod faults;
mod feed;
mod journal;
mod log;
mod lost_terms;
mod merge;
mod naive_receiver;
mod notices;
mod promises;
mod replay;
mod restated;
mod retention;
mod rewarded;
mod settlement;
mod statements;
mod states;
mod story;
mod suspended;
mod terms;
mod world;

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::Value as Json;

use super::{
    Database, Sqlite, dump, migrated, now,
    test_catalog::{FIRST, TestCatalog},
};
use contract::{
    catalog::{CallbackSettings, GetAppTerms, GetOfferTerms, KnownApp, KnownOffer, LOST_TERMS},
    counters::{Take, Taken},
    operation::{Bytes, Mark, OperatorReply},
    outbox::{Answer, Conversion, Current, List, ListPage, OutboxShard, ReadClick, Settle, Txn},
    rewards::{RewardDelivery, RewardFilter},
};
use domain::{
    callbacks::{
        delivery::{Answer as Answered, Judgement, Outcome, judge},
        health::MAX_IN_FLIGHT,
        schedule::Schedule,
        settings::Events,
    },
    conversions::{
        ids::{RowKey, transaction_id},
        parameters::INVALID_CLICK_ID,
        state::{Movement, Status},
        table::Event,
        terms::{AppTerms, CurrentApp, CurrentOffer, GoalTerms, OfferTerms},
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
    delivery::batches::{self, Batch},
    http::site::merge::MAX_TEXT,
    objects::{
        counters,
        outbox::{
            self,
            callbacks::{
                bulk_replay,
                deliveries::{self as attempts, ClaimedCallback},
                replay as operator,
            },
            conversions::{commit, txns},
            endpoint, log as written,
            peers::{Peers, StateCache},
            sums::{day, revenue_batches::OutboxLog},
        },
    },
};
use platform::{
    database::{MAX_INTEGER, Row},
    failure::Failure,
    http_call::{HttpAnswer, HttpCall},
    keyed_flights::KeyedFlights,
    params,
    traits::Clock,
};

use world::{World, send_postback};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;
/// The time in milliseconds by which an attempt in flight postpones its callback.
const CLAIM_MS: i64 = 15_000;
const APP: &str = "00000042";
const OFFER: &str = "o-1";

fn outbox() -> Sqlite {
    migrated(outbox::MIGRATIONS)
}

/// The payments in the log, of which batches are made: day, offer, country, placement, amount, whether it is a reversal.
fn payments(db: &Sqlite) -> Vec<Row> {
    let rows = db.query(outbox::sums::sql::MOVEMENTS, params![0_i64, MAX_INTEGER]).unwrap();
    rows.into_iter().filter(|row| !row.is_null(5)).map(|row| Row(row.0[1..].to_vec())).collect()
}

/// The number of attempts in the log.
fn tries(db: &Sqlite) -> usize {
    let sql = "SELECT (SELECT COUNT(*) FROM attempts) + (SELECT COUNT(first_at_ms) FROM entries)";
    usize::try_from(db.query_integer(sql, &[]).unwrap().unwrap()).unwrap()
}

/// Sends all batches, which are applied.
fn send_batches(db: &Sqlite, now_ms: i64) {
    let state = endpoint::read(db).unwrap();
    let log = OutboxLog::of(db, state.as_ref());
    let apply = async |batch: &Batch| Ok(Mark { mark: batch.number });
    while now(batches::send(db, &At(now_ms), "s", &log, true, apply)).unwrap() {}
}

struct At(i64);

impl Clock for At {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

fn app() -> AppId {
    AppId::parse(APP).unwrap()
}

fn advertiser(id: &str) -> AdvertiserId {
    AdvertiserId::parse(id).unwrap()
}

fn shard() -> OutboxShard {
    OutboxShard { app: app(), number: 5 }
}

fn goal(id: &str, code: &str, payout_micro_usd: i64) -> GoalTerms {
    GoalTerms { id: id.into(), gl_val: Some(code.to_owned()).filter(|code| !code.is_empty()), payout_micro_usd }
}

fn settings(revision: i64, has_callback: bool) -> CallbackSettings {
    CallbackSettings {
        revision,
        sealed: has_callback.then(|| Bytes(vec![7; 40])),
        is_suspended: false,
        is_closed: false,
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
        advertiser: Some(advertiser("brand")),
        goal: None,
        txn: None,
        event: Event::Postback(Status::Approved),
        reason: None,
        despite: Vec::new(),
        received_ms: None,
        is_to_be_held: false,
        current: Current { offer: None, app: None, is_recent: true },
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
        self.event = Event::Postback(status);
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
    let row = RowKey { app: app(), shard: shard().number, nonce: [n; 12], goal };
    transaction_id(&row, movement)
}

fn reward_id(n: u8) -> String {
    id_of(n, "g-1", Movement::Reward)
}

fn reversal_id(n: u8) -> String {
    id_of(n, "g-1", Movement::Reversal)
}

fn json(reply: OperatorReply) -> Json {
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
    let entries = page.entries.iter().map(|listed| serde_json::from_str(listed.entry.get()).unwrap());
    (entries.collect(), page.end)
}

fn list(status: Option<&str>, state: Option<&str>, limit: u32, before: Option<i64>) -> List {
    List {
        status: status.map(str::to_owned),
        state: state.map(str::to_owned),
        reason: None,
        limit,
        user_id: None,
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

/// Replays all callbacks of this delivery in as many steps as needed.
fn replay_many(db: &Sqlite, now_ms: i64, delivery: RewardDelivery) -> i64 {
    replay_in(db, now_ms, delivery, bulk_replay::STEP)
}

/// The same in steps of so many entries.
fn replay_in(db: &Sqlite, now_ms: i64, delivery: RewardDelivery, entries: i64) -> i64 {
    let filter = RewardFilter { delivery: Some(delivery), ..RewardFilter::default() };
    bulk_replay_filters::steps(db, now_ms, &filter, 1_000, entries)
}

/// Copies the last entry until there are `entries`.
fn fill(db: &Sqlite, entries: i64) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT COUNT(*) + 1 FROM entries UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, offer_terms,
          app_terms, user_id, fields)
        SELECT entry + n, 'copy-' || n, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, offer_terms, app_terms, user_id,
          fields
        FROM n, entries WHERE entry = (SELECT MAX(entry) FROM entries)";
    db.execute(sql, params![entries]).unwrap();
}

/// An entry's delivery state, the time of its next attempt, and the number of attempts.
fn delivery_state(db: &Sqlite, transaction_id: &str) -> (Option<i64>, Option<i64>, i64) {
    let sql = "SELECT delivery, due_ms, attempts_made FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![transaction_id]).unwrap().unwrap();
    (row.optional_integer(0).unwrap(), row.optional_integer(1).unwrap(), row.integer(2).unwrap())
}

/// Applies callback settings that the catalog pushes. Returns whether they are newer than the stored ones.
fn apply_settings(db: &Sqlite, now_ms: i64, settings: &CallbackSettings) -> bool {
    let world = World::new();
    world.now_ms.set(now_ms);
    endpoint::store_settings(db, &world, shard(), settings).unwrap();
    world.commits.get() == 1
}

/// Approved and reversed.
const DEFAULT_EVENTS: Events = Events { approved: true, reversed: true, ..Events::NONE };

fn claim(db: &Sqlite, now_ms: i64) -> Vec<ClaimedCallback> {
    claim_of(db, now_ms, DEFAULT_EVENTS)
}

/// Reads what became of click `n`, of a user and a time.
fn read_click(n: u8, of: Option<(&str, i64)>) -> ReadClick {
    ReadClick { nonce: Bytes(vec![n; 12]), of: of.map(|(user, at_ms)| (user.to_owned(), at_ms)) }
}

/// Claims for a publisher that is told of these events.
fn claim_of(db: &Sqlite, now_ms: i64, events: Events) -> Vec<ClaimedCallback> {
    let claimed = attempts::claim(db, now_ms, MAX_IN_FLIGHT, CLAIM_MS, events).unwrap();
    claimed.callbacks
}

/// The transaction ids of these attempts.
fn ids(callbacks: &[ClaimedCallback]) -> Vec<&str> {
    callbacks.iter().map(|callback| callback.fields.transaction_id.as_str()).collect()
}

fn judge_answer(callback: &ClaimedCallback, now_ms: i64, status: u16, webhook_delivery: Option<&str>) -> Judgement {
    let answer = Answered { status, retry_after: None, webhook_delivery };
    let outcome = Outcome::Answered(answer);
    judge(&Schedule::default(), callback.attempts_made + 1, &outcome, now_ms, u32::MAX / 2)
}

fn attempt(at_ms: i64, status: u16) -> HttpCall {
    let answer = HttpAnswer { status, body: format!("answer {status}"), ..HttpAnswer::default() };
    HttpCall { at_ms, took_ms: 120, outcome: Ok(answer) }
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
    let (db, world) = (outbox(), World::paying_each_click());
    for (n, user) in [(1, "ann"), (2, "ann"), (3, "bob")] {
        convert(&db, &world, &conversion(n).user(user)).unwrap();
    }
    send_all(&db, NOW, 200);
    (db, world)
}
