//! The outbox's object as its shell runs it (`src/origin/outbox/object.rs`), by hand: the same calls in the same order,
//! over what outlives a process. What it waits for is a [`Call`], which the world answers, or never does.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    rc::Rc,
    task::Poll,
};

use signpost::{
    callbacks::{
        delivery::{self, Outcome, judge},
        schedule::Schedule,
    },
    origin::{
        command::{Failure, Reply},
        counters::Take,
        database::DatabaseError,
        forward,
        outbox::{
            Conversion,
            about::{self, About, Learned},
            deliveries::{self, Attempt, Try},
            erasing, flow, next_alarm, operating,
        },
    },
    refusal::common,
    time::{MINUTE_MS, SECOND_MS},
};

use super::{
    outside::{Answered, Asked, Event, Operation, Outside},
    world::{app, random},
};

/// As `CALLBACK_TIMEOUT_MS` and what the object adds.
pub const UNDER_WAY_MS: i64 = 15 * SECOND_MS;
/// What most commits may leave to an alarm that comes as soon (`outbox::NET_MS`).
pub const NET_MS: i64 = 15 * SECOND_MS;
/// When an alarm whose work broke is tried again (`shell::BROKEN_ALARM_RETRY_MS`).
pub const BROKEN_MS: i64 = MINUTE_MS;

/// What a process only remembers.
pub struct Object {
    out: Rc<Outside>,
    /// The alarm as it is known to be set.
    alarm: Cell<Option<i64>>,
    /// The order of the conversions of a click, by its nonce; without it they come as they like.
    turns: Option<RefCell<BTreeMap<Vec<u8>, VecDeque<u64>>>>,
    tickets: Cell<u64>,
    under_way: Cell<usize>,
    taking_up: Cell<bool>,
    forwarding: Cell<bool>,
    learned: Learned,
}

impl Object {
    pub fn new(out: &Rc<Outside>, in_turns: bool) -> Rc<Self> {
        Rc::new(Self {
            out: Rc::clone(out),
            alarm: Cell::new(out.alarm_ms.get()),
            turns: in_turns.then(RefCell::default),
            tickets: Cell::new(0),
            under_way: Cell::new(0),
            taking_up: Cell::new(false),
            forwarding: Cell::new(false),
            learned: Learned::default(),
        })
    }

    fn now_ms(&self) -> i64 {
        self.out.now_ms.get()
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.out.spawned.borrow_mut().push(Box::pin(task));
    }

    fn wakes_by(&self, at_ms: i64) -> bool {
        self.alarm.get().is_some_and(|set_ms| set_ms <= at_ms)
    }

    fn set_alarm(&self, at_ms: Option<i64>) {
        self.out.alarm_ms.set(at_ms);
        self.alarm.set(at_ms);
    }

    fn arm(&self) -> Result<(), Failure> {
        if let Some(at_ms) = next_alarm(&self.out.db, self.now_ms())?
            && !self.wakes_by(at_ms)
        {
            self.set_alarm(Some(at_ms));
        }
        Ok(())
    }

    /// `fetch` with a postback.
    pub async fn convert(self: Rc<Self>, conversion: Conversion) {
        let answer = match self.out.call(Asked::Terms).await {
            Answered::Terms(terms) => {
                let ticket = self.turn(&conversion.nonce.0).await;
                let answer = flow::convert(&self.out.db, &*self, &conversion, &terms).await;
                self.end_turn(&conversion.nonce.0, ticket);
                answer
            }
            _ => Err(common::UNAVAILABLE.into()),
        };
        self.answered(matches!(answer, Err(Failure::Broken(_))));
        self.out.tell(Event::Answered {
            conversion: Box::new(conversion),
            answer,
        });
    }

    /// `fetch` with anything else.
    pub async fn operate(self: Rc<Self>, operation: Operation) {
        let (db, now_ms) = (&self.out.db, self.now_ms());
        self.learned.set_nowhere(false);
        let done: Result<Reply, Failure> = match &operation {
            Operation::Settings(settings) => about::learn(db, now_ms, app(), None, settings, UNDER_WAY_MS)
                .map(|_| Reply::no_content())
                .map_err(Failure::from),
            Operation::Replay(id) => operating::replay(db, now_ms, id, UNDER_WAY_MS),
            Operation::ReplayMany(body) => operating::replay_many(db, now_ms, body, 0, None, UNDER_WAY_MS),
            Operation::Enable => operating::enable(db, now_ms, UNDER_WAY_MS),
            Operation::Erase(user) => erasing::erase(db, user),
        };
        let armed = done.and_then(|_| self.arm());
        let written = armed.is_ok();
        let broke = matches!(armed, Err(Failure::Broken(_)));
        self.out.tell(Event::Operated { operation, written });
        self.answered(broke);
    }

    fn answered(self: &Rc<Self>, failed: bool) {
        self.go_on();
        if failed {
            let _ = self.arm();
        }
    }

    async fn turn(&self, nonce: &[u8]) -> u64 {
        let ticket = self.tickets.get();
        self.tickets.set(ticket + 1);
        let Some(turns) = &self.turns else {
            return ticket;
        };
        turns
            .borrow_mut()
            .entry(nonce.to_vec())
            .or_default()
            .push_back(ticket);
        poll_fn(|_| {
            if turns.borrow()[nonce].front() == Some(&ticket) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        ticket
    }

    fn end_turn(&self, nonce: &[u8], ticket: u64) {
        if let Some(turns) = &self.turns {
            let ended = turns.borrow_mut().get_mut(nonce).unwrap().pop_front();
            assert_eq!(ended, Some(ticket));
        }
    }

    /// `alarm`: all of it is one step.
    pub async fn wake(self: Rc<Self>) {
        self.set_alarm(Some(self.now_ms() + BROKEN_MS));
        match self.work() {
            Ok(next) => self.set_alarm(next),
            Err(_) => self.out.tell(Event::Broke),
        }
    }

    fn work(self: &Rc<Self>) -> Result<Option<i64>, DatabaseError> {
        self.spawn(Rc::clone(self).take_up());
        self.spawn(Rc::clone(self).forward());
        let swept = erasing::sweep(&self.out.db, self.now_ms());
        self.go_on();
        let next = [swept?, next_alarm(&self.out.db, self.now_ms())?];
        Ok(next.into_iter().flatten().min())
    }

    fn claim(&self) -> Result<Vec<(Try, i64)>, Failure> {
        let db = &self.out.db;
        if self.learned.leads_nowhere() {
            return Ok(Vec::new());
        }
        let Some(about) = about::read(db)?.filter(About::has_endpoint) else {
            self.learned.set_nowhere(true);
            return Ok(Vec::new());
        };
        let room = about.health.room(self.under_way.get(), self.now_ms());
        if room == 0 {
            return Ok(Vec::new());
        }
        let tries = deliveries::claim(db, self.now_ms(), room, UNDER_WAY_MS)?;
        self.under_way.set(self.under_way.get() + tries.len());
        if !tries.is_empty() {
            self.arm()?;
        }
        let revision = about.callback.revision;
        Ok(tries.into_iter().map(|tried| (tried, revision)).collect())
    }

    /// How many tries are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.get()
    }

    fn go_on(self: &Rc<Self>) {
        for (tried, revision) in self.claim().unwrap_or_default() {
            self.out.tell(Event::Claimed {
                tried: tried.clone(),
                revision,
            });
            self.spawn(Rc::clone(self).see_through(tried, revision));
        }
    }

    async fn see_through(self: Rc<Self>, tried: Try, revision: i64) {
        let concluded = self.attempt(&tried, revision).await;
        self.under_way.set(self.under_way.get() - 1);
        let _ = concluded.and_then(|()| self.arm());
        self.go_on();
    }

    async fn attempt(&self, tried: &Try, revision: i64) -> Result<(), Failure> {
        let at_ms = self.now_ms();
        let fields = Box::new(tried.fields.clone());
        let answered = self.out.call(Asked::Send { revision, fields }).await;
        let http = match answered {
            Answered::Http(http) => Some(http),
            _ => None,
        };
        let outcome = http.as_ref().map_or(Outcome::Failed, |http| {
            Outcome::Answered(delivery::Answer {
                status: http.status,
                retry_after: http.retry_after.as_deref(),
                webhook_delivery: http.webhook_delivery,
            })
        });
        let draw = u32::try_from(random(&self.out.draws) >> 32).unwrap();
        let judgement = judge(
            &Schedule::default(),
            tried.tries + 1,
            &outcome,
            self.now_ms(),
            draw,
        );
        let attempt = Attempt {
            at_ms,
            took_ms: self.now_ms() - at_ms,
            http_status: http.as_ref().map(|http| http.status),
            body: http.as_ref().map(|http| http.body.clone()).unwrap_or_default(),
            error: http.is_none().then(|| "no answer".to_owned()),
        };
        let concluded = deliveries::conclude(&self.out.db, self.now_ms(), tried, &attempt, &judgement);
        self.out.tell(Event::Concluded {
            tried: tried.clone(),
            revision,
            judgement,
            http_status: attempt.http_status,
            written: concluded.is_ok(),
        });
        Ok(concluded?)
    }

    async fn take_up(self: Rc<Self>) {
        if self.taking_up.replace(true) {
            return;
        }
        while flow::take_up(&self.out.db, &*self).await.is_ok_and(|more| more) {}
        self.taking_up.set(false);
        self.go_on();
    }

    /// As `forwarding::forward` goes through the book, one batch after the other.
    async fn forward(self: Rc<Self>) {
        if self.forwarding.replace(true) {
            return;
        }
        let told = self.tell_all().await;
        self.forwarding.set(false);
        let _ = told.map_err(Failure::from).and_then(|()| self.arm());
    }

    async fn tell_all(&self) -> Result<(), DatabaseError> {
        let db = &self.out.db;
        loop {
            let more = forward::prepare(db, self.now_ms());
            for batch in forward::outstanding(db, self.now_ms())? {
                match self.out.call(Asked::Tell(batch.clone())).await {
                    Answered::Applied => forward::acknowledge(db, &batch)?,
                    _ => forward::failed(db, &batch, self.now_ms())?,
                }
            }
            if !more? {
                return Ok(());
            }
        }
    }
}

impl flow::Peers for Object {
    fn now_ms(&self) -> i64 {
        self.now_ms()
    }

    fn under_way_ms(&self) -> i64 {
        UNDER_WAY_MS
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.learned)
    }

    async fn take(&self, take: &Take) -> Result<bool, Failure> {
        match self.out.call(Asked::Take(take.clone())).await {
            Answered::Taken(taken) => Ok(taken),
            _ => Err(common::UNAVAILABLE.into()),
        }
    }

    fn committed(&self) -> Result<(), Failure> {
        if self.wakes_by(self.now_ms() + NET_MS) {
            return Ok(());
        }
        self.arm()
    }
}
