//! `origin/outbox` on a real SQLite: postbacks come in, a publisher's endpoint answers as it likes, and what is asserted
//! is what the sender is told, what the operator reads and what is owed to whom.

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

use contract::outbox::ReplayMany;
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
    outbox::{Answer, Command, Conversion},
};
use domain::{
    callbacks::{
        delivery::{Answer as Answered, Judgement, Outcome, judge},
        health::CONNECTIONS,
        schedule::Schedule,
    },
    conversions::{
        ids::{RowKey, transaction_id},
        state::{Movement, Status},
    },
    model::{
        AppId, CurrencyRate, OfferId, PublisherId,
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
        deliveries::{self as sent, Attempt, Try},
        endpoint, log as written, replay as operator,
    },
};
use platform::{failure::Failure, params};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;
/// How far a try that is under way puts its callback off.
const UNDER_WAY_MS: i64 = 15_000;
const APP: &str = "00000042";
const OFFER: &str = "o-1";

fn outbox() -> Sqlite {
    migrated(outbox::MIGRATIONS)
}

fn app() -> AppId {
    AppId::parse(APP).unwrap()
}

fn token(n: u8) -> Bytes {
    Bytes(vec![n; 32])
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

/// An app that calls back, and an offer of three goals, one of them retired.
fn terms() -> Terms {
    let offer = OfferTerms {
        advertiser_id: domain::model::AdvertiserId::parse("brand").unwrap(),
        tokens: vec![token(1), token(2)],
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

/// What is around an outbox: the clock, the catalog's terms, and the counters, which are real.
struct World {
    now_ms: Cell<i64>,
    terms: RefCell<Terms>,
    catalog_answers: Cell<bool>,
    counters: Sqlite,
    counters_answer: Cell<bool>,
    /// Whether answers of the counters are on their way for as long as this is set.
    held: Cell<bool>,
    /// All that was asked of the counters.
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
            held: Cell::new(false),
            takes: RefCell::default(),
            commits: Cell::new(0),
        }
    }

    fn capped(limit: u32) -> Self {
        let world = Self::new();
        world.cap(Some(limit));
        world
    }

    /// The operator changes the offer; each change has a revision.
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

/// A postback, with the terms asked for as the object asks for them.
async fn sent(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
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

    fn under_way_ms(&self) -> i64 {
        UNDER_WAY_MS
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
            panic!("a take is answered as one");
        };
        poll_fn(|_| {
            if self.held.get() {
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

/// The outcome of what waits for nothing.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for something"),
    }
}

/// The first postback of click `n`, of `user-n`: approved, no goal named.
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
        token: token(1),
        goal: None,
        txn: None,
        status: Status::Approved,
    }
}

trait Saying {
    fn goal(self, goal: &str) -> Self;
    fn txn(self, txn: &str) -> Self;
    fn says(self, status: Status) -> Self;
    fn of(self, user: &str) -> Self;
}

impl Saying for Conversion {
    fn goal(mut self, goal: &str) -> Self {
        self.goal = Some(goal.into());
        self
    }

    fn txn(mut self, txn: &str) -> Self {
        self.txn = Some(txn.into());
        self
    }

    fn says(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    fn of(mut self, user: &str) -> Self {
        self.click.user_id = user.to_owned().into();
        self
    }
}

fn convert(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<Answer, Failure> {
    now(sent(db, world, conversion))
}

/// An outbox with so many rewards, a second after each other, the first of them at [`NOW`].
fn with_rewards(rewards: u8) -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    for n in 1..=rewards {
        convert(&db, &world, &conversion(n)).unwrap();
        world.pass(SECOND_MS);
    }
    (db, world)
}

/// What a sender is told: the status and whether it is a repeat, or the code of the refusal.
fn told(db: &Sqlite, world: &World, conversion: &Conversion) -> Result<(&'static str, bool), &'static str> {
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

/// The list that these filters leave, page by page, as the operator follows it.
fn pages(db: &Sqlite, status: Option<&str>, state: Option<&str>, limit: u32) -> Vec<Vec<Json>> {
    let (mut pages, mut cursor) = (vec![], None::<String>);
    loop {
        let page = json(written::list(db, status, state, limit, cursor.as_deref()).unwrap());
        pages.push(page["conversions"].as_array().unwrap().clone());
        assert!(pages.len() < 1_000, "it has no end");
        match page["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return pages,
        }
    }
}

/// Replays many, in as many steps as it takes.
fn replay_many(db: &Sqlite, now_ms: i64, body: &str) -> Result<Reply, Failure> {
    let step = async |ReplayMany { body, after, until }: ReplayMany| {
        operator::replay_many(db, now_ms, &body, after, until, UNDER_WAY_MS)
    };
    now(operator::replay_in_steps(body, step))
}

/// Numbers the entries so many times higher, as if others were between them.
fn spread(db: &Sqlite, times: i64) {
    for sql in [
        "UPDATE conversions SET entry = entry * ?1",
        "UPDATE attempts SET entry = entry * ?1",
        "UPDATE entries SET entry = entry * ?1, after = after * ?1",
    ] {
        db.execute(sql, params![times]).unwrap();
    }
}

/// Copies the last entry until there are so many.
fn fill(db: &Sqlite, entries: i64) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT MAX(entry) + 1 FROM entries UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields)
        SELECT n, 'copy-' || n, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, user_id, fields
        FROM n, entries WHERE entry = (SELECT MAX(entry) FROM entries)";
    db.execute(sql, params![entries]).unwrap();
}

/// How an entry stands: delivery, time of the next try, tries.
fn standing(db: &Sqlite, transaction_id: &str) -> (Option<i64>, Option<i64>, i64) {
    let sql = "SELECT delivery, due_ms, tries FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![transaction_id]).unwrap().unwrap();
    (
        row.optional_integer(0).unwrap(),
        row.optional_integer(1).unwrap(),
        row.integer(2).unwrap(),
    )
}

/// Takes over what the catalog says of the app's callback.
fn learn(db: &Sqlite, now_ms: i64, settings: &CallbackSettings) -> bool {
    endpoint::learn(db, now_ms, app(), None, settings, UNDER_WAY_MS).unwrap()
}

fn claim(db: &Sqlite, now_ms: i64) -> Vec<Try> {
    sent::claim(db, now_ms, CONNECTIONS, UNDER_WAY_MS).unwrap()
}

/// The ids that these tries are of.
fn ids(tries: &[Try]) -> Vec<&str> {
    tries
        .iter()
        .map(|tried| tried.fields.transaction_id.as_str())
        .collect()
}

fn judged(tried: &Try, now_ms: i64, status: u16, webhook_delivery: Option<&str>) -> Judgement {
    let answer = Answered {
        status,
        retry_after: None,
        webhook_delivery,
    };
    let outcome = Outcome::Answered(answer);
    judge(
        &Schedule::default(),
        tried.tries + 1,
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

/// The endpoint answers a try with a status.
fn answer(db: &Sqlite, now_ms: i64, tried: &Try, status: u16) {
    let judgement = judged(tried, now_ms, status, None);
    sent::conclude(db, now_ms, tried, &attempt(now_ms, status), &judgement).unwrap();
}

/// The endpoint refuses a try for good: it is dead, and the endpoint does its work.
fn abort(db: &Sqlite, now_ms: i64, tried: &Try) {
    let judgement = judged(tried, now_ms, 400, Some("abort-message"));
    sent::conclude(db, now_ms, tried, &attempt(now_ms, 400), &judgement).unwrap();
}

/// Sends all that is due, to an endpoint that answers with a status. Returns the ids, as they were sent.
fn send_all(db: &Sqlite, now_ms: i64, status: u16) -> Vec<String> {
    let mut sent = vec![];
    loop {
        let tries = claim(db, now_ms);
        if tries.is_empty() {
            return sent;
        }
        for tried in &tries {
            answer(db, now_ms, tried, status);
            sent.push(tried.fields.transaction_id.clone());
        }
    }
}
