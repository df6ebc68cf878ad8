//! `origin::outbox` on a real SQLite. Tests send postbacks, answer callbacks as a publisher's endpoint, and check the
//! sender's answer, the operator's view and the sums for other objects.

mod alarms;
mod caps;
mod conversions;
mod deliveries;
mod faults;
mod log;
mod replay;
mod retention;
mod statements;
mod states;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::Value as Json;

use super::{Database, Sqlite, dump, migrated};
use contract::{
    catalog::{CallbackSettings, GoalTerms, OfferTerms, Terms},
    counters::{Take, Taken},
    operation::{Bytes, Reply},
    outbox::{Answer, Conversion, ReplayMany},
};
use domain::{
    callbacks::{
        delivery::{Answer as Answered, Judgement, Outcome, judge},
        health::MAX_IN_FLIGHT,
        schedule::Schedule,
    },
    conversions::{
        ids::{RowKey, transaction_id},
        state::{Movement, Status},
    },
    model::{
        AdvertiserId, AppId, CurrencyRate, OfferId, PublisherId,
        api_error::{ApiError, common},
        money::PerUsd,
        time::{DAY_MS, SECOND_MS},
    },
    tracking::click::Click,
};
use origin::{
    counters,
    outbox::{
        self,
        commit::{self, Peers},
        deliveries::{self as attempts, Attempt, ClaimedCallback},
        endpoint, log as written, replay as operator,
    },
};
use platform::{failure::Failure, params};

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

fn goal(id: &str, ord: u32, code: &str, payout_micro_usd: i64) -> GoalTerms {
    GoalTerms {
        id: id.into(),
        ord,
        gl_val: Some(code.to_owned()).filter(|code| !code.is_empty()),
        payout_micro_usd,
        retired: false,
    }
}

fn settings(revision: i64, has_callback: bool) -> CallbackSettings {
    CallbackSettings {
        revision,
        sealed: has_callback.then(|| Bytes(vec![7; 40])),
    }
}

/// An app with a callback, and an offer with three goals, one of them retired.
fn terms() -> Terms {
    let offer = OfferTerms {
        advertiser_id: advertiser("brand"),
        conversion_window_days: 30,
        conversion_cap: None,
        revision: 5,
        goals: vec![
            GoalTerms {
                retired: true,
                ..goal("g-old", 0, "trial", 100_000)
            },
            goal("g-1", 1, "install", 750_000),
            goal("g-2", 2, "purchase", 2_000_000),
        ],
    };
    Terms {
        change: 5,
        publisher_id: PublisherId::parse("acme").unwrap(),
        currency: CurrencyRate {
            name: "Coins".into(),
            per_usd: PerUsd(100_000_000),
            decimals: 2,
            rounding: Default::default(),
        },
        callback: settings(1, true),
        offers: BTreeMap::from([(OfferId::parse(OFFER).unwrap(), offer)]),
    }
}

/// The environment of an outbox: the clock, the catalog's terms, and the counters with their production code.
struct World {
    now_ms: Cell<i64>,
    terms: RefCell<Terms>,
    catalog_answers: Cell<bool>,
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
            terms: RefCell::new(terms()),
            catalog_answers: Cell::new(true),
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

    /// Changes the offer like the operator. Each change has a new revision.
    fn change(&self, change: impl FnOnce(&mut OfferTerms)) {
        let mut terms = self.terms.borrow_mut();
        let offer = terms.offers.values_mut().next().unwrap();
        change(offer);
        offer.revision += 1;
    }

    fn cap(&self, limit: Option<u32>) {
        self.change(|offer| offer.conversion_cap = limit);
    }

    fn pass(&self, ms: i64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }
}

/// Handles a postback with the current terms, like the service.
async fn send_postback(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
    if !world.catalog_answers.get() {
        return Err(common::UNAVAILABLE.into());
    }
    let terms = world.terms.borrow().clone();
    commit::convert(db, world, conversion, &terms).await
}

impl Peers for World {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }

    fn claim_ms(&self) -> i64 {
        CLAIM_MS
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
        poll_fn(|_| {
            if self.hold_answers.get() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        Ok(taken)
    }

    fn committed(&self) -> Result<(), Failure> {
        self.commits.set(self.commits.get() + 1);
        Ok(())
    }
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
    }
}

trait ConversionExt {
    fn goal(self, goal: &str) -> Self;
    fn txn(self, txn: &str) -> Self;
    fn status(self, status: Status) -> Self;
    fn user(self, user: &str) -> Self;
}

impl ConversionExt for Conversion {
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
    let page = json(written::list(db, None, None, 1_000, None).unwrap());
    assert!(page["cursor"].is_null());
    page["conversions"].as_array().unwrap().clone()
}

/// The filtered list, page by page, as the operator follows its cursors.
fn pages(db: &Sqlite, status: Option<&str>, state: Option<&str>, limit: u32) -> Vec<Vec<Json>> {
    let (mut pages, mut cursor) = (vec![], None::<String>);
    loop {
        let page = json(written::list(db, status, state, limit, cursor.as_deref()).unwrap());
        pages.push(page["conversions"].as_array().unwrap().clone());
        assert!(pages.len() < 1_000, "the list does not end");
        match page["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return pages,
        }
    }
}

/// Replays many callbacks in as many steps as needed.
fn replay_many(db: &Sqlite, now_ms: i64, body: &str) -> Result<Reply, Failure> {
    let step = async |ReplayMany { body, after, until }: ReplayMany| {
        operator::replay_many(db, now_ms, &body, after, until, CLAIM_MS)
    };
    now(operator::replay_in_steps(body, step))
}

/// Multiplies the numbers of entries, as if others were between them.
fn scale_entries(db: &Sqlite, times: i64) {
    for sql in [
        "UPDATE conversions SET entry = entry * ?1",
        "UPDATE attempts SET entry = entry * ?1",
        "UPDATE entries SET entry = entry * ?1, after = after * ?1",
    ] {
        db.execute(sql, params![times]).unwrap();
    }
}

/// Copies the last entry until there are `entries`.
fn fill(db: &Sqlite, entries: i64) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT MAX(entry) + 1 FROM entries UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT n, 'copy-' || n, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
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

/// Applies the catalog's callback settings.
fn apply_settings(db: &Sqlite, now_ms: i64, settings: &CallbackSettings) -> bool {
    endpoint::update(db, now_ms, app(), None, settings, CLAIM_MS).unwrap()
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
