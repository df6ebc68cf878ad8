//! The calls that the edge and the operator send to the objects, and the answers.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use super::{
    objects::Environment,
    ops::{Clicks, Postback},
};
use crate::{
    mock_platform::{CallAnswer, CallRequest, Runtime, Task},
    outbox_simulation::{
        catalog::{GOALS, OFFERS},
        world::app,
    },
    test_catalog::{FIRST, TestCatalog},
};
use contract::{
    counters::{self, Flush},
    ledger::{self, Restate, Target, Upload},
    operation::{Bytes, OperatorReply},
    outbox::{Answer, Conversion, OutboxShard},
};
use domain::{
    conversions::{state::Status, table::Event},
    model::{
        AdvertiserId, Country, OfferId, PublisherId,
        time::{DAY_MS, MINUTE_MS, UtcDay},
    },
    reporting::facts::Format,
    tracking::{click::Click, click_counts::ClickSum},
};
use platform::traits::ObjectCall;

/// The app's outboxes that have users. The witness of the second is the first.
pub const OUTBOXES: [u8; 2] = [0, 7];
/// The users of the app, each of whom has one outbox.
const USERS: u8 = 4;

/// A click and a goal, as the sender names it.
pub type Converted = (u8, Option<String>);

/// The calls that were sent, and those that were answered with 2xx.
#[derive(Default)]
pub struct Told {
    /// Clicks by counters object, day and offer.
    pub flushed: RefCell<BTreeMap<(String, UtcDay, String), i64>>,
    pub sent: RefCell<BTreeSet<(u8, &'static str)>>,
    pub answers: RefCell<Vec<(Converted, Answer)>>,
    /// Days that were loaded after their end.
    pub loaded: RefCell<BTreeSet<UtcDay>>,
    /// The answers to dry runs of restatements.
    pub restated: RefCell<BTreeMap<UtcDay, Result<String, String>>>,
}

/// An isolate has one batch in flight to an object, and sends it again until it is answered.
struct Isolate {
    name: String,
    counters: String,
    sequence: Cell<u64>,
    batch: RefCell<Option<Flush>>,
    is_sending: Cell<bool>,
}

pub struct Edge {
    pub env: Rc<Environment>,
    pub told: Rc<Told>,
    publisher: PublisherId,
    isolates: BTreeMap<(usize, String), Rc<Isolate>>,
    clicks: BTreeMap<u8, Click<'static>>,
}

impl Edge {
    pub fn new(env: Rc<Environment>, publisher: PublisherId) -> Self {
        Self { env, told: Rc::default(), publisher, isolates: BTreeMap::new(), clicks: BTreeMap::new() }
    }

    pub fn convert(&mut self, postback: &Postback, catalog: &TestCatalog) -> Task {
        let conversion = self.conversion(postback, catalog);
        let (runtime, told) = (Runtime(Rc::clone(&self.env)), Rc::clone(&self.told));
        let converted = (postback.click, conversion.goal.clone());
        told.sent.borrow_mut().insert((postback.click, postback.status.as_str()));
        let shard = OutboxShard { app: app(), number: conversion.click.shard };
        Box::pin(async move {
            let timeout = Duration::from_secs(25);
            if let Ok(answer) = runtime.call(&shard.address(), Box::new(conversion), timeout).await {
                told.answers.borrow_mut().push((converted, answer));
            }
        })
    }

    fn conversion(&mut self, postback: &Postback, catalog: &TestCatalog) -> Conversion {
        let n = postback.click;
        let offer = OFFERS[usize::from(n % 2)];
        let user = n / 2 % USERS;
        let now_ms = self.env.now_ms.get();
        let click = self.clicks.entry(n).or_insert_with(|| Click {
            offer: offer.into(),
            goal: GOALS[0].into(),
            app: app(),
            shard: OUTBOXES[usize::from(user % 2)],
            offer_terms: FIRST,
            app_terms: FIRST,
            user_id: format!("user {user}").into(),
            gaid: None,
            idfa: None,
            custom: [Some(n.to_string().into()), None, None, None, None],
            placement: n.is_multiple_of(3).then(|| "shop".into()),
            country: Country::parse("DE").filter(|_| n.is_multiple_of(5)),
            clicked_at_ms: now_ms - MINUTE_MS,
        });
        Conversion {
            nonce: Bytes(vec![n; 12]),
            click: click.clone(),
            advertiser: AdvertiserId::parse("adv"),
            goal: postback.goal.map(|goal| GOALS[goal].to_owned()),
            txn: postback.txn.map(|txn| format!("txn {txn}")),
            event: Event::Postback(postback.status),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: catalog.current(offer),
        }
    }

    /// An isolate sends its batch again if that was not answered, and otherwise a new one; none while one is in flight.
    pub fn flush(&mut self, isolate: usize, counters: &str, clicks: &[Clicks]) -> Option<Task> {
        let key = (isolate, counters.to_owned());
        let isolate = self.isolates.entry(key).or_insert_with(|| {
            Rc::new(Isolate {
                name: format!("i{isolate}"),
                counters: counters.to_owned(),
                sequence: Cell::new(0),
                batch: RefCell::default(),
                is_sending: Cell::new(false),
            })
        });
        let isolate = Rc::clone(isolate);
        if isolate.batch.borrow().is_none() {
            isolate.sequence.set(isolate.sequence.get() + 1);
            let batch = Flush {
                isolate: isolate.name.clone(),
                sequence: isolate.sequence.get(),
                sums: Rc::new(clicks.iter().map(|sum| self.sum(sum)).collect()),
            };
            isolate.batch.replace(Some(batch));
        }
        self.send(&isolate)
    }

    fn sum(&self, of: &Clicks) -> ClickSum {
        let today = UtcDay::of_ms(self.env.now_ms.get());
        ClickSum {
            publisher: self.publisher.clone(),
            day: today.minus(of.is_yesterday.into()),
            offer: OfferId::parse(OFFERS[of.offer]).unwrap(),
            app: app(),
            country: Country::parse("FR").filter(|_| of.clicks.is_multiple_of(2)),
            placement: of.placement.map(|placement| format!("place {placement}")),
            clicks: of.clicks,
        }
    }

    fn send(&self, isolate: &Rc<Isolate>) -> Option<Task> {
        let batch = isolate.batch.borrow().clone()?;
        if isolate.is_sending.replace(true) {
            return None;
        }
        let (runtime, told) = (Runtime(Rc::clone(&self.env)), Rc::clone(&self.told));
        let isolate = Rc::clone(isolate);
        Some(Box::pin(async move {
            let address = counters::address(isolate.counters.clone());
            let answer = runtime.call(&address, batch.clone(), Duration::from_secs(10)).await;
            isolate.is_sending.set(false);
            if answer.is_err() {
                return;
            }
            isolate.batch.take();
            for sum in batch.sums.iter() {
                let key = (isolate.counters.clone(), sum.day, sum.offer.to_string());
                *told.flushed.borrow_mut().entry(key).or_default() += i64::from(sum.clicks);
            }
        }))
    }

    /// Sends the isolates' batches that were not answered again.
    pub fn flush_again(&self) -> Vec<Task> {
        let isolates = self.isolates.values();
        isolates.filter_map(|isolate| self.send(isolate)).collect()
    }

    pub fn has_unanswered(&self) -> bool {
        let mut isolates = self.isolates.values();
        isolates.any(|isolate| isolate.batch.borrow().is_some())
    }

    /// The operator says that a day has nothing to load.
    pub fn load(&self, day: UtcDay) -> Task {
        let upload =
            Upload { target: Target::Day(day), format: Format::Ndjson, gzip: false, by: None, is_dry_run: false };
        let address = ledger::address(&self.publisher, ledger::FACTS);
        let request = CallRequest::Object(address, serde_json::to_string(&upload).unwrap());
        let (env, told) = (Rc::clone(&self.env), Rc::clone(&self.told));
        let is_over = day.start_ms() + DAY_MS <= env.now_ms.get();
        Box::pin(async move {
            if let CallAnswer::Object(json) = env.call(request, Duration::from_secs(25)).await {
                let reply: OperatorReply = serde_json::from_str(&json).unwrap();
                assert_eq!(reply.status, 200, "{}", reply.body);
                if is_over {
                    told.loaded.borrow_mut().insert(day);
                }
            }
        })
    }

    /// The operator asks what a restatement would change.
    pub fn restate(&self, day: UtcDay) -> Task {
        let (runtime, told) = (Runtime(Rc::clone(&self.env)), Rc::clone(&self.told));
        let address = ledger::address(&self.publisher, ledger::OPERATOR);
        let restate = Restate { day, is_dry_run: true };
        Box::pin(async move {
            let reply = runtime.call(&address, restate, Duration::from_secs(25)).await;
            let reply = reply.map(|reply: OperatorReply| reply.body).map_err(|error| error.to_string());
            told.restated.borrow_mut().insert(day, reply);
        })
    }
}

impl Told {
    /// Whether a click was sent with a status.
    pub fn was_sent(&self, click: u8, status: Status) -> bool {
        self.sent.borrow().contains(&(click, status.as_str()))
    }
}
