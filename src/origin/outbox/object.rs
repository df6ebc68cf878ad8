//! The outbox's Durable Object: carries postbacks and the operator's commands to the tables, calls publishers, and keeps
//! an alarm under everything that waits. Callbacks, reservations and sums for other objects go on beside the requests
//! that began them; a process that dies in between leaves them to the alarm.

use std::{cell::Cell, panic::RefUnwindSafe, rc::Rc};

use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::{
    Command, MIGRATIONS, Reply, about,
    about::{About, Learned},
    asking::Asking,
    client,
    command::Conversion,
    deliveries::{self, Attempt, Try},
    erasing,
    flow::{self, Peers},
    log, next_alarm, operating,
    sending::{self, Sending},
    telling, tries,
    turns::Turns,
};
use crate::{
    callbacks::{
        delivery::{Next, judge},
        request::Endpoint,
    },
    catalog::{AppId, OfferId},
    conversions::parameters::INVALID_CLICK_ID,
    origin::{
        call::call,
        command::Failure,
        counters::{self, Take, Taken},
        durable::DurableDatabase,
        shell::{Shell, caught, caught_async, command_in},
    },
    refusal::common,
    room::{Bound, Room},
    runtime::{self, now_ms},
    time::MINUTE_MS,
};

#[durable_object(alarm)]
pub struct Outbox {
    running: Rc<Running>,
}

/// Postbacks that wait at a time, for the catalog, for a counter or for each other: 10 KB each are 2.5 MB, of which an
/// isolate may have to hold several outboxes'. An outbox commits some 500 a second, so that the last of them waits for half
/// a second; by then what comes from all isolates together is more than it can do.
const CONVERSIONS: Bound = Bound {
    places: 256,
    share: 256,
    lasts_ms: MINUTE_MS,
};

/// What tasks that outlive their requests share.
struct Running {
    env: Env,
    shell: Shell,
    asking: Asking,
    conversions: Room,
    /// One conversion of a click at a time, by its nonce.
    turns: Turns,
    /// Whether the catalog has such an app.
    known: Cell<bool>,
    learned: Learned,
    under_way: Cell<usize>,
    taking_up: Cell<bool>,
    forwarding: Cell<bool>,
    sending: Sending,
}

/// Cells that are set in single steps that cannot panic: after a panic they are what they were.
impl RefUnwindSafe for Outbox {}

impl DurableObject for Outbox {
    fn new(state: State, env: Env) -> Self {
        Self {
            running: Rc::new(Running {
                shell: Shell::new("outbox", &state, MIGRATIONS),
                sending: Sending::new(&env),
                env,
                asking: Asking::default(),
                conversions: Room::new(CONVERSIONS),
                turns: Turns::default(),
                known: Cell::new(false),
                learned: Learned::default(),
                under_way: Cell::new(0),
                taking_up: Cell::new(false),
                forwarding: Cell::new(false),
            }),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let answered = caught_async(self.running.answer(request)).await;
        // Also after a refusal: an earlier copy may have been finished on the way.
        self.running.go_on();
        // A write that reported an error may have happened, and nothing was armed for it.
        if matches!(answered, Err(Failure::Broken(_)))
            && self.running.shell.is_ready()
            && let Err(failure) = caught(|| self.running.arm())
        {
            crate::log::error("outbox", failure);
        }
        match answered.and_then(|reply| serde_json::to_vec(&reply).map_err(other_json)) {
            // The edge passes it on to the sender of a postback as it is.
            Ok(json) => Ok(Response::builder()
                .with_header("content-type", "application/json")?
                .with_header("cache-control", "no-store")?
                .fixed(json)),
            Err(failure) => self.running.shell.fail(failure),
        }
    }

    async fn alarm(&self) -> worker::Result<Response> {
        let running = &self.running;
        running
            .shell
            .wake_async(async |db| {
                runtime::go_beside("outbox", Rc::clone(running).take_up());
                runtime::go_beside("outbox", Rc::clone(running).forward());
                let swept = erasing::sweep(db, now_ms());
                running.go_on();
                let next = [swept?, next_alarm(db, now_ms())?];
                Ok(next.into_iter().flatten().min())
            })
            .await
    }
}

/// A callback that was claimed, and where it goes.
struct Claimed {
    tried: Try,
    endpoint: Rc<Endpoint>,
}

impl Running {
    async fn answer(&self, request: Request) -> Result<Reply, Failure> {
        let app = client::app_of(&request.path()).ok_or(common::NOT_FOUND)?;
        let command: Command = command_in(request).await?;
        if let Command::Convert(conversion) = &command {
            let _place = self.conversions.enter_any(now_ms())?;
            return self.convert(app, conversion).await;
        }
        if !matches!(command, Command::Settings(_)) {
            self.require(app).await?;
        }
        let db = self.shell.ready().await?;
        if matches!(command, Command::Test {}) {
            let endpoint = self.sending.endpoint(about::read(db)?.as_ref())?;
            let terms = self.asking.terms(&self.env, app, None).await?;
            return sending::test(&self.sending, endpoint, app, &terms.currency)
                .await
                .map(Reply::Operator);
        }
        let reply = self.carry_out(db, app, command)?;
        self.arm()?;
        Ok(reply)
    }

    async fn convert(&self, app: AppId, conversion: &Conversion) -> Result<Reply, Failure> {
        let offer = OfferId::parse(&conversion.click.offer).ok_or(INVALID_CLICK_ID)?;
        // Copies wait for the catalog together, and only then for each other.
        let terms = self.asking.terms(&self.env, app, Some(&offer)).await;
        let terms = terms.map_err(|failure| match failure {
            // As of an offer that there is not: neither is ever deleted.
            Failure::Refused(refusal) if refusal.status == 404 => INVALID_CLICK_ID
                .because("click_id is of an app that there is not")
                .into(),
            failure => failure,
        })?;
        let db = self.shell.ready().await?;
        let turn = self.turns.of(&conversion.nonce.0);
        let _come = turn.come().await;
        flow::convert(db, self, conversion, &terms)
            .await
            .map(Reply::Answer)
    }

    /// What needs nobody else, in one step.
    fn carry_out(&self, db: &DurableDatabase, app: AppId, command: Command) -> Result<Reply, Failure> {
        let (now_ms, under_way_ms) = (now_ms(), self.sending.under_way_ms());
        self.learned.set_nowhere(false);
        let reply = match command {
            Command::Settings(settings) => {
                about::learn(db, now_ms, app, None, &settings, under_way_ms)?;
                return Ok(Reply::Done {});
            }
            Command::List {
                status,
                state,
                limit,
                cursor,
            } => log::list(db, status.as_deref(), state.as_deref(), limit, cursor.as_deref()),
            Command::Get { transaction_id } => log::get(db, &transaction_id),
            Command::Replay { transaction_id } => {
                operating::replay(db, now_ms, &transaction_id, under_way_ms)
            }
            Command::ReplayMany { body, after, until } => {
                operating::replay_many(db, now_ms, &body, after, until, under_way_ms)
            }
            Command::Status {} => operating::status(db),
            Command::Enable {} => operating::enable(db, now_ms, under_way_ms),
            Command::Erase { user_id } => erasing::erase(db, &user_id),
            Command::Convert(_) | Command::Test {} => Err(common::NOT_FOUND.into()),
        };
        reply.map(Reply::Operator)
    }

    /// Makes sure that the catalog has the app, and that this outbox has its callback, before anything is stored.
    async fn require(&self, app: AppId) -> Result<(), Failure> {
        if self.known.get() {
            return Ok(());
        }
        match self.asking.terms(&self.env, app, None).await {
            Ok(terms) => {
                let db = self.shell.ready().await?;
                let publisher = Some(&terms.publisher_id);
                let under_way_ms = self.sending.under_way_ms();
                self.learned.set_nowhere(false);
                about::learn(db, now_ms(), app, publisher, &terms.callback, under_way_ms)?;
            }
            Err(Failure::Refused(refusal)) if refusal.status == 404 => return Err(refusal.into()),
            // What it knew before is enough to see and repair by.
            Err(failure) => {
                if about::read(self.shell.ready().await?)?.is_none() {
                    return Err(failure);
                }
            }
        }
        self.known.set(true);
        Ok(())
    }

    /// Has the object woken by when it needs it.
    fn arm(&self) -> Result<(), Failure> {
        self.shell.wake_for(next_alarm(self.shell.database(), now_ms()))
    }

    /// Claims what is due, as far as there is room.
    fn due(&self) -> Vec<Claimed> {
        let claimed = caught(|| self.claim());
        claimed.unwrap_or_else(|failure| {
            crate::log::error("outbox", failure);
            Vec::new()
        })
    }

    fn claim(&self) -> Result<Vec<Claimed>, Failure> {
        if !self.shell.is_ready() || self.learned.leads_nowhere() {
            return Ok(Vec::new());
        }
        let db = self.shell.database();
        let Some(about) = about::read(db)?.filter(About::has_endpoint) else {
            self.learned.set_nowhere(true);
            return Ok(Vec::new());
        };
        let room = about.health.room(self.under_way.get(), now_ms());
        if room == 0 {
            return Ok(Vec::new());
        }
        let Some(endpoint) = self.sending.endpoint(Some(&about))? else {
            return Ok(Vec::new());
        };
        let tries = deliveries::claim(db, now_ms(), room, self.sending.under_way_ms())?;
        self.committed()?;
        Ok(tries
            .into_iter()
            .map(|tried| Claimed {
                tried,
                endpoint: Rc::clone(&endpoint),
            })
            .collect())
    }

    /// Starts what is due and has room. An object lives for as long as it waits for an answer, so its tasks need no
    /// request to hold them.
    fn go_on(self: &Rc<Self>) {
        for claimed in self.due() {
            self.under_way.set(self.under_way.get().saturating_add(1));
            runtime::go_beside("outbox", Rc::clone(self).see_through(claimed));
        }
    }

    /// Makes a try; as it ends, the next begins.
    async fn see_through(self: Rc<Self>, claimed: Claimed) {
        let concluded = caught_async(self.attempt(&claimed)).await;
        self.under_way.set(self.under_way.get().saturating_sub(1));
        if let Err(failure) = concluded {
            // The claim ends by itself, and the callback is tried again.
            crate::log::error("outbox", failure);
        }
        self.go_on();
    }

    async fn attempt(&self, Claimed { tried, endpoint }: &Claimed) -> Result<(), Failure> {
        let called = self.sending.send(endpoint, &tried.fields).await;
        let random = runtime::random().map_err(Failure::Broken)?;
        let [a, b, c, d, ..] = random;
        let made = tried.tries.saturating_add(1);
        let judgement = judge(
            &self.sending.schedule,
            made,
            &called.outcome(),
            now_ms(),
            u32::from_le_bytes([a, b, c, d]),
        );
        tries::note(tried, &called, made, &judgement);
        let (http_status, body, error) = match called.answered {
            Ok(answered) => (Some(answered.status), answered.body, None),
            Err(no_answer) => (None, String::new(), Some(no_answer.message)),
        };
        let attempt = Attempt {
            at_ms: called.at_ms,
            took_ms: called.took_ms,
            http_status,
            body,
            error,
        };
        deliveries::conclude(self.shell.database(), now_ms(), tried, &attempt, &judgement)?;
        if judgement.next == Next::Delivered {
            self.committed()
        } else {
            // The next try, or the next probe, may be due before the alarm that is set.
            self.arm()
        }
    }

    /// The alarm's part of conversions that wait for their cap.
    async fn take_up(self: Rc<Self>) {
        if self.taking_up.replace(true) {
            return;
        }
        loop {
            let taken = caught_async(flow::take_up(self.shell.database(), &*self)).await;
            self.go_on();
            match taken {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => {
                    crate::log::warn("outbox", format_args!("a cap: {failure}"));
                    break;
                }
            }
        }
        self.taking_up.set(false);
    }

    /// Tells the publisher's ledger and the offers' counters what was paid.
    async fn forward(self: Rc<Self>) {
        if self.forwarding.replace(true) {
            return;
        }
        let db = self.shell.database();
        let told = caught_async(async { Ok(telling::forward(&self.env, db).await?) }).await;
        self.forwarding.set(false);
        if let Err(failure) = told.and_then(|()| self.arm()) {
            crate::log::error("outbox", failure);
        }
    }
}

impl Peers for Running {
    fn now_ms(&self) -> i64 {
        now_ms()
    }

    fn under_way_ms(&self) -> i64 {
        self.sending.under_way_ms()
    }

    fn learned(&self) -> Option<&Learned> {
        Some(&self.learned)
    }

    async fn take(&self, take: &Take) -> Result<bool, Failure> {
        let namespace = self.env.durable_object(counters::BINDING)?;
        let object = counters::object_name(&take.offer);
        let command = counters::Command::Take(take.clone());
        let taken: Result<Taken, _> = call(&namespace, &object, &command, sending::PEER_TIMEOUT).await;
        taken.map(|taken| taken.taken).map_err(|error| {
            crate::log::warn("outbox", format_args!("{object}: {error}"));
            common::UNAVAILABLE.into()
        })
    }

    fn committed(&self) -> Result<(), Failure> {
        // An alarm that comes soon enough asks itself what is due, so most commits need not.
        if self.shell.wakes_by(now_ms().saturating_add(super::NET_MS)) {
            return Ok(());
        }
        self.arm()
    }
}

fn other_json(error: serde_json::Error) -> Failure {
    Failure::Broken(error.to_string())
}
