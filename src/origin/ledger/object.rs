//! The ledger's Durable Object. Whose it is comes with each request, since an object that its alarm has started is not
//! told its name; an alarm's work does not need it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    panic::RefUnwindSafe,
    time::Duration,
};

use worker::{DurableObject, Env, Headers, Request, Response, State, durable_object};

use super::{
    Context, MIGRATIONS, alarm, client, handle, keys, names, next_alarm,
    receiving::Receiving,
    report::{self, DAMAGED_FACTS, Report, Unmade},
    sending,
};
use crate::{
    catalog::PublisherId,
    log,
    origin::{
        catalog,
        command::{CallError, Failure},
        durable::DurableDatabase,
        shell::{Shell, caught_async, refused},
    },
    refusal::{Refusal, common},
    reporting::{
        Dimension, engine::Budget, format::Format, keys::KeyMac, query::Query, rate, render::Renderer,
    },
    room::{Bound, Room},
    runtime::{self, within},
    time::{MINUTE_MS, SECOND_MS, rfc_3339},
};

/// Pages of no more than this are written whole, in bytes; larger ones as they are read.
const AT_ONCE: usize = 256 << 10;
/// How long a report waits for names, which it can do without.
const NAMES_TIMEOUT: Duration = Duration::from_millis(1_500);
const NAMES_RETRY_MS: i64 = 10 * SECOND_MS;

/// Reports that wait at a time for their text or for names: up to 256 KiB of query each are 8 MiB. They are made one after
/// the other.
const REPORTS: Bound = Bound {
    places: 32,
    share: 32,
    lasts_ms: MINUTE_MS,
};
/// Uploads that come in at a time and share what may be staged: fewer rows are written at once, the more there are.
const UPLOADS: Bound = Bound {
    places: 16,
    share: 16,
    lasts_ms: 16 * MINUTE_MS,
};

#[durable_object(alarm)]
pub struct Ledger {
    state: State,
    env: Env,
    shell: Shell,
    receiving: Receiving,
    /// What its pages take that are being sent.
    sending: sending::Held,
    reports: Room,
    uploads: Room,
    /// When the catalog last said that there is such a publisher, and what its apps are called.
    known_at_ms: Cell<Option<i64>>,
    /// Until when reports do without asking for names, after the catalog did not give them.
    names_wait_until_ms: Cell<i64>,
    /// Names that are still to be kept: an object that nobody asked for writes nothing.
    names: RefCell<Option<BTreeMap<String, String>>>,
}

/// Cells that are set in single steps that cannot panic: after a panic they are what they were.
impl RefUnwindSafe for Ledger {}

impl DurableObject for Ledger {
    fn new(state: State, env: Env) -> Self {
        Self {
            env,
            shell: Shell::new("ledger", &state, MIGRATIONS),
            state,
            receiving: Receiving::default(),
            sending: sending::Held::default(),
            reports: Room::new(REPORTS),
            uploads: Room::new(UPLOADS),
            known_at_ms: Cell::new(None),
            names_wait_until_ms: Cell::new(0),
            names: RefCell::new(None),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        let asked = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let asked = asked.and_then(|(publisher, what)| Some((PublisherId::parse(publisher)?, what)));
        let answered = match asked {
            Some((publisher, client::REPORT)) => caught_async(self.report(&publisher, request)).await,
            Some((publisher, client::FACTS)) => caught_async(self.facts(&publisher, request)).await,
            Some((publisher, what @ (client::BATCH | client::OPERATOR))) => {
                match caught_async(self.may_command(&publisher, what)).await {
                    Ok(()) => return self.command(&publisher, request).await,
                    Err(failure) => Err(failure),
                }
            }
            #[cfg(feature = "bench")]
            Some((_, super::bench::REPORT)) => match self.shell.ready().await {
                Ok(db) => caught_async(super::bench::report(db, request)).await,
                Err(failure) => Err(failure),
            },
            _ => Err(common::NOT_FOUND.into()),
        };
        answered.or_else(|failure| self.shell.fail(failure))
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.shell.wake(alarm).await
    }
}

impl Ledger {
    async fn command(&self, publisher: &PublisherId, request: Request) -> worker::Result<Response> {
        let carry_out = |db: &DurableDatabase, now_ms, command| {
            self.keep_names(db)?;
            let context = Context {
                now_ms,
                random: &runtime::random,
                mac: &|| {
                    let keys = runtime::binding(&self.env, "REPORT_KEY_MAC").unwrap_or_default();
                    KeyMac::parse(&keys).map_err(|error| Failure::Broken(error.into()))
                },
                publisher,
            };
            handle(db, &context, command)
        };
        self.shell.serve(request, carry_out, next_alarm).await
    }

    /// What an operator asks is asked of the catalog first: nothing is created for a publisher that does not exist. Other
    /// objects ask for publishers that do.
    async fn may_command(&self, publisher: &PublisherId, what: &str) -> Result<(), Failure> {
        if what == client::OPERATOR {
            self.require_publisher(publisher).await
        } else {
            Ok(())
        }
    }

    /// Has the catalog confirm the publisher, and takes its apps' names over. One that was confirmed before stays so
    /// while the catalog is out of reach: a publisher is never deleted.
    async fn require_publisher(&self, publisher: &PublisherId) -> Result<(), Failure> {
        let now_ms = runtime::now_ms();
        let known_at_ms = self.known_at_ms.get();
        if known_at_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < names::FRESH_MS) {
            return Ok(());
        }
        let command = catalog::Command::AppNames {
            publisher_id: publisher.to_string(),
        };
        match catalog::client::call(&self.env, &command).await {
            Ok(reply) => {
                let names =
                    serde_json::from_str(&reply.body).map_err(|error| Failure::Broken(error.to_string()))?;
                self.names.replace(Some(names));
                self.known_at_ms.set(Some(now_ms));
                Ok(())
            }
            Err(CallError::Refused { status: 404, .. }) => Err(common::NOT_FOUND
                .because(format!("there is no publisher {publisher}"))
                .into()),
            Err(_) if known_at_ms.is_some() => Ok(()),
            Err(error) => {
                log::error("ledger", format_args!("the catalog: {error}"));
                Err(common::UNAVAILABLE.into())
            }
        }
    }

    /// Brings the names of apps up to date if the catalog gives them soon; a name that is a minute old does, and one that
    /// cannot be had now is as it was.
    async fn refresh_names(&self, db: &DurableDatabase, publisher: &PublisherId) {
        let now_ms = runtime::now_ms();
        if now_ms < self.names_wait_until_ms.get() {
            return;
        }
        let refreshed = match within(NAMES_TIMEOUT, self.require_publisher(publisher)).await {
            Ok(known) => known.and_then(|()| self.keep_names(db)),
            Err(error) => Err(Failure::Broken(error)),
        };
        if let Err(failure) = refreshed {
            log::error("ledger", format_args!("names of apps: {failure}"));
            self.names_wait_until_ms.set(now_ms + NAMES_RETRY_MS);
        }
    }

    fn keep_names(&self, db: &DurableDatabase) -> Result<(), Failure> {
        let names = self.names.borrow().clone();
        if let Some(names) = names {
            names::keep(db, &names)?;
            self.names.replace(None);
        }
        Ok(())
    }

    /// `POST …/report/generate`, from the check of the key on: whatever comes after it is told with the rate's headers.
    async fn report(&self, publisher: &PublisherId, mut request: Request) -> Result<Response, Failure> {
        let _place = self.reports.enter_any(runtime::now_ms())?;
        let header = |name| request.headers().get(name).ok().flatten();
        let (key, accept) = (header("X-Api-Key").unwrap_or_default(), header("Accept"));
        let body = request.text().await?;
        let db = self.shell.ready().await?;
        let verdict = keys::admit(db, runtime::now_ms(), &key)?;
        let answered = match verdict.refusal() {
            None => self.made(db, publisher, &body, accept.as_deref()).await,
            Some(refusal) => Err(refusal),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(refusal) => refused(&refusal)?,
        };
        let headers = Headers::new();
        for (name, value) in answer.headers() {
            headers.set(&name, &value)?;
        }
        headers.set("RateLimit-Policy", rate::POLICY)?;
        headers.set("RateLimit", &verdict.rate_limit())?;
        headers.set("Cache-Control", "no-store")?;
        Ok(answer.with_headers(headers))
    }

    async fn made(
        &self,
        db: &DurableDatabase,
        publisher: &PublisherId,
        body: &str,
        accept: Option<&str>,
    ) -> Result<Response, Refusal> {
        let query = Query::parse(body)?;
        if query.dimensions.contains(&Dimension::App) {
            self.refresh_names(db, publisher).await;
        }
        let report = report::make(db, &query, &Budget::default()).map_err(|unmade| match unmade {
            Unmade::Failure(Failure::Refused(refusal)) => refusal,
            Unmade::Failure(Failure::Broken(cause)) => {
                log::error("ledger", cause);
                common::INTERNAL_ERROR
            }
            Unmade::Damaged(cause) => {
                log::error("ledger", cause);
                DAMAGED_FACTS
            }
        })?;
        let format = Format::from_accept(accept);
        self.respond(report, &query, format).map_err(|failure| {
            if let Failure::Broken(cause) = &failure {
                log::error("ledger", cause);
            }
            failure.into_answer()
        })
    }

    /// Facts, streamed in. The headers say what they are; the edge has checked them.
    async fn facts(&self, publisher: &PublisherId, request: Request) -> Result<Response, Failure> {
        let _place = self.uploads.enter_any(runtime::now_ms())?;
        self.require_publisher(publisher).await?;
        let db = self.shell.ready().await?;
        self.keep_names(db)?;
        let answer = self.receiving.receive(db, request).await;
        // Also after what broke: it may have written before, and what was written needs its alarm.
        let armed = self.shell.wake_for(next_alarm(db, runtime::now_ms()));
        let answer = answer?;
        armed.map(|()| answer)
    }

    fn respond(&self, mut report: Report, query: &Query, format: Format) -> Result<Response, Failure> {
        let headers = Headers::new();
        headers.set("X-Total-Count", &report.page.total.to_string())?;
        headers.set("X-Page", &query.page.to_string())?;
        headers.set("X-Page-Size", &query.count.to_string())?;
        if let Some(through_ms) = report.through_ms {
            headers.set("X-Data-Through", &rfc_3339(through_ms))?;
        }
        if report.page.is_of_nothing() {
            return Ok(Response::empty()?.with_status(204).with_headers(headers));
        }
        headers.set("Content-Type", format.media_type())?;
        report.page.shrink();
        let bytes = report.page.bytes();
        let renderer = Renderer::new(report.page, format, report.names);
        let answer = if bytes <= AT_ONCE {
            Response::from_bytes(renderer.whole())?
        } else {
            let taken = self.sending.take(bytes).ok_or(common::UNAVAILABLE)?;
            let (chunks, done) = sending::stream(renderer, taken);
            self.state.wait_until(done);
            Response::from_stream(chunks)?
        };
        Ok(answer.with_headers(headers))
    }
}
