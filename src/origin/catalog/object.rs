//! The catalog's Durable Object: carries commands to the tables, streams imports in, hands callback settings over to the
//! outboxes, and publishes snapshots to KV by an alarm.

use std::{cell::Cell, panic::RefUnwindSafe};

use futures_util::{StreamExt, future::join};
use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::{
    Command, Context, Resource,
    client::{CHUNK_PATH, COMMAND_PATH, IMPORT_PATH, REFRESH_PATH, Refreshed, snapshot_path},
    handing_over::HandingOver,
    handle,
    import::{self, MAX_LINE},
    publication::{self, Kind},
    publishing::Publishing,
    schedule::{listing_due_ms, next_alarm, tracking_due_ms},
    schema::MIGRATIONS,
    terms,
};
use crate::{
    callbacks::guard::Guard,
    catalog::{AppId, credentials::Vault},
    faults,
    lines::{LineErrors, Lines, TooLong},
    log,
    origin::{
        command::Failure,
        durable::DurableDatabase,
        sharing::{Share, Sharing},
        shell::{Shell, caught_async},
    },
    refusal::common,
    runtime,
    time::SECOND_MS,
};

/// The longest import, in bytes.
const MAX_IMPORT: usize = 64 << 20;
/// How soon a publication that failed is tried again.
const RETRY_MS: i64 = 5 * SECOND_MS;

#[durable_object(alarm)]
pub struct Catalog {
    env: Env,
    shell: Shell,
    /// One publication at a time: two would number and write their versions in between each other. And KV takes the pointer
    /// once a second, so refreshes that wait share the next.
    publishing: Sharing<Result<Refreshed, Failure>>,
    /// When the pointer was last written.
    pointed_at_ms: Cell<i64>,
    imports: Cell<u64>,
}

/// Cells that are set in single steps, and a lock that a panic lets go of: after one both are what they were.
impl RefUnwindSafe for Catalog {}

impl DurableObject for Catalog {
    fn new(state: State, env: Env) -> Self {
        Self {
            env,
            shell: Shell::new("catalog", &state, MIGRATIONS),
            publishing: Sharing::default(),
            pointed_at_ms: Cell::new(0),
            imports: Cell::new(0),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        let answered = caught_async(async {
            match path.as_str() {
                COMMAND_PATH => Ok(self.command(request).await?),
                IMPORT_PATH => self.import(request).await,
                REFRESH_PATH => self.refresh().await,
                path => self.value(path).await,
            }
        });
        answered.await.or_else(|failure| self.shell.fail(failure))
    }

    async fn alarm(&self) -> worker::Result<Response> {
        // Re-armed before anything can fail: an alarm that throws six times is dropped for good.
        let armed = self.shell.set_alarm(Some(runtime::now_ms() + RETRY_MS));
        let worked = match armed {
            Ok(()) => caught_async(self.work()).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = worked {
            log::error("catalog", format_args!("alarm: {failure}"));
        }
        Response::empty()
    }
}

impl Catalog {
    fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let keys = runtime::binding(&self.env, "STORE_KEYS").unwrap_or_default();
        let vault = Vault::parse(&keys).map_err(|error| Failure::Broken(error.into()))?;
        let guard = Guard::from_config(|name| runtime::binding(&self.env, name));
        work(&Context {
            now_ms: runtime::now_ms(),
            random: &runtime::random,
            vault: &vault,
            guard: &guard,
        })
    }

    /// Carries out a command. A PUT of an app is answered once the app's outbox goes by its settings.
    async fn command(&self, request: Request) -> worker::Result<Response> {
        let (put_app, brings_nothing_due) = (Cell::new(None), Cell::new(false));
        let carry_out = |db: &DurableDatabase, _, command: Command| {
            if let Command::Put {
                resource: Resource::App,
                id,
                ..
            } = &command
            {
                put_app.set(AppId::parse(id));
            }
            // What outboxes ask several hundred times a second takes neither keys nor the clock.
            if let Command::Terms {
                app_id,
                offers,
                since,
            } = &command
            {
                brings_nothing_due.set(true);
                return terms::of(db, app_id, offers, *since);
            }
            if matches!(command, Command::Status) {
                return publication::status(db, db.size()?);
            }
            self.with_context(|context| handle(db, context, command))
        };
        let answer = self
            .shell
            .serve(request, carry_out, |db, now_ms| {
                if brings_nothing_due.get() && self.shell.wakes_by(i64::MAX) {
                    Ok(None)
                } else {
                    next_alarm(db, now_ms).map(Some)
                }
            })
            .await?;
        match put_app.get() {
            Some(app) if answer.status_code() == 200 => {
                let handed_over = match self.handing_over().await {
                    Ok(handing_over) => handing_over.app(app).await,
                    Err(failure) => Err(failure),
                };
                handed_over.map_or_else(|failure| self.shell.fail(failure), |()| Ok(answer))
            }
            _ => Ok(answer),
        }
    }

    async fn handing_over(&self) -> Result<HandingOver<'_>, Failure> {
        let db = self.shell.ready().await?;
        Ok(HandingOver { env: &self.env, db })
    }

    /// `POST /v1/operator/import`: lines are staged as they arrive and applied at the end.
    async fn import(&self, mut request: Request) -> Result<Response, Failure> {
        let db = self.shell.ready().await?;
        self.imports.set(self.imports.get() + 1);
        let import_id = format!("import-{}", self.imports.get());
        if self.imports.get() == 1 {
            // An import does not outlive the object's process; what one left staged is of no use.
            import::discard_all(db)?;
        }
        // Also after a panic nothing stays behind that was staged.
        let outcome = caught_async(async {
            let errors = stage(db, &mut request, &import_id).await?;
            if errors.is_empty() {
                self.with_context(|context| import::apply(db, context, &import_id))
            } else {
                Ok(import::refuse(&errors))
            }
        })
        .await;
        let discarded = import::discard(db, &import_id);
        // Also after what broke: it may have happened.
        self.shell.wake_by(next_alarm(db, runtime::now_ms())?)?;
        let reply = outcome?;
        discarded?;
        if reply.status == 200 {
            // What was imported stays imported, whether it could be handed over by now or not.
            let handed_over = HandingOver { env: &self.env, db }.imported().await;
            handed_over.unwrap_or_else(|failure| log::error("catalog", format_args!("import: {failure}")));
        }
        respond(reply.status, &reply.body)
    }

    async fn refresh(&self) -> Result<Response, Failure> {
        let db = self.shell.ready().await?;
        let publishing = Publishing { env: &self.env, db };
        publishing.ask_counters().await;
        // From here on, so that whatever another one publishes for this one has what the counters just said. A failure is
        // shared, too: each would have met it.
        let refreshed = match self.publishing.come(|_| true).await {
            Share::Of(refreshed) => refreshed,
            Share::Turn(turn) => turn.take(caught_async(self.publish_both(&publishing))).await,
        }?;
        let body = serde_json::to_string(&refreshed).map_err(|error| Failure::Broken(error.to_string()))?;
        respond(200, &body)
    }

    async fn publish_both(&self, publishing: &Publishing<'_>) -> Result<Refreshed, Failure> {
        let tracking = publishing.tracking().await?;
        let listing = publishing.listing().await?;
        let refreshed = Refreshed {
            tracking: tracking.version,
            listing: listing.version,
        };
        publishing
            .point(&[tracking, listing], &self.pointed_at_ms)
            .await?;
        self.shell
            .set_alarm(Some(next_alarm(publishing.db, runtime::now_ms())?))?;
        Ok(refreshed)
    }

    /// A snapshot's or a chunk's bytes.
    async fn value(&self, path: &str) -> Result<Response, Failure> {
        let db = self.shell.ready().await?;
        let bytes = if let Some(key) = path.strip_prefix(CHUNK_PATH) {
            publication::chunk(db, key)?
        } else {
            match [Kind::Tracking, Kind::Listing]
                .into_iter()
                .find(|kind| snapshot_path(*kind) == path)
            {
                Some(kind) => publication::newest(db, kind)?,
                None => None,
            }
        };
        let bytes = bytes.ok_or(common::NOT_FOUND)?;
        Response::from_bytes(bytes).map_err(|error| Failure::Broken(error.to_string()))
    }

    /// What the alarm is for: handing over what is due, and publishing. One that fails does not hold the other up.
    async fn work(&self) -> Result<(), Failure> {
        faults::pass("alarm", "catalog");
        let db = self.shell.ready().await?;
        let handing_over = HandingOver { env: &self.env, db };
        let (handed_over, published) = join(handing_over.due(), self.publish(db)).await;
        handed_over.and(published)?;
        self.shell.set_alarm(Some(next_alarm(db, runtime::now_ms())?))
    }

    /// Publishes what changed, and the listing on its boundary. One that fails does not hold the other up.
    async fn publish(&self, db: &DurableDatabase) -> Result<(), Failure> {
        let publishing = Publishing { env: &self.env, db };
        let listing_due = listing_due_ms(db)? <= runtime::now_ms();
        if listing_due {
            publishing.ask_counters().await;
        }
        let _turn = self.publishing.turn().await;
        let mut outcomes = Vec::new();
        if tracking_due_ms(db)?.is_some_and(|due_ms| due_ms <= runtime::now_ms()) {
            outcomes.push(publishing.tracking().await);
        }
        if listing_due {
            outcomes.push(publishing.listing().await);
        }
        let (written, failed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        let written: Vec<_> = written.into_iter().flatten().collect();
        if !written.is_empty() {
            publishing.point(&written, &self.pointed_at_ms).await?;
        }
        if listing_due {
            publishing.sweep().await?;
        }
        match failed.into_iter().find_map(Result::err) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

fn respond(status: u16, json: &str) -> Result<Response, Failure> {
    let response = Response::builder()
        .with_status(status)
        .with_header("content-type", "application/json");
    response
        .map(|response| response.fixed(json.into()))
        .map_err(|error| Failure::Broken(error.to_string()))
}

/// Stages an import's lines as they arrive.
async fn stage(db: &DurableDatabase, request: &mut Request, import_id: &str) -> Result<LineErrors, Failure> {
    let mut errors = LineErrors::default();
    if request.inner().body().is_none() {
        return Ok(errors);
    }
    let unreadable = || Failure::from(common::INVALID_JSON.because("the body ended early"));
    let mut stream = runtime::in_turns(request.stream().map_err(|_| unreadable())?);
    let mut stage_line = |line, bytes: Result<&[u8], TooLong>| {
        import::stage(db, import_id, line, bytes, &mut errors).map_err(Failure::from)
    };
    let (mut lines, mut read) = (Lines::new(MAX_LINE), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| unreadable())?;
        read += chunk.len();
        if read > MAX_IMPORT {
            return Err(common::PAYLOAD_TOO_LARGE.into());
        }
        lines.push(&chunk, &mut stage_line)?;
    }
    lines.finish(&mut stage_line)?;
    Ok(errors)
}
