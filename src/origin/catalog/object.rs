//! The catalog's Durable Object: carries commands to the tables, streams imports in, and publishes snapshots to KV by
//! an alarm.

use std::{cell::Cell, panic::RefUnwindSafe, time::Duration};

use futures_util::{StreamExt, lock::Mutex, stream};
use worker::{
    DurableObject, Env, Request, Response, State, console_error, console_warn, durable_object, kv::KvStore,
};

use super::{
    Context,
    client::{CHUNK_PATH, COMMAND_PATH, IMPORT_PATH, REFRESH_PATH, Refreshed, snapshot_path},
    handle,
    import::{self, LineErrors, MAX_LINE},
    limits,
    publication::{self, Kind, Prepared},
    schedule::{listing_due_ms, next_alarm, tracking_due_ms},
    schema::MIGRATIONS,
    snapshots,
};
use crate::{
    catalog::{credentials::Vault, snapshot::pointer},
    origin::{call::call, command::Failure, counters, durable::DurableDatabase, shell::Shell},
    refusal::common,
    runtime,
    time::{SECOND_MS, UtcDay},
};

pub const KV_BINDING: &str = "SNAPSHOTS";

/// The longest import, in bytes.
const MAX_IMPORT: usize = 64 << 20;
/// How soon a publication that failed is tried again.
const RETRY_MS: i64 = 5 * SECOND_MS;
/// An invocation has six connections.
const CONNECTIONS: usize = 6;
const COUNTERS_TIMEOUT: Duration = Duration::from_secs(5);

#[durable_object(alarm)]
pub struct Catalog {
    env: Env,
    shell: Shell,
    /// One publication at a time: two would number and write their versions in between each other. All requests of an
    /// object share one I/O context, so waiting for another's lock is allowed here.
    publishing: Mutex<()>,
    imports: Cell<u64>,
}

/// A cell that is set in single steps, and a lock that a panic lets go of: after one both are what they were.
impl RefUnwindSafe for Catalog {}

impl DurableObject for Catalog {
    fn new(state: State, env: Env) -> Self {
        Self {
            env,
            shell: Shell::new(&state, MIGRATIONS),
            publishing: Mutex::default(),
            imports: Cell::new(0),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        let answered = match path.as_str() {
            COMMAND_PATH => {
                let carry_out = |db: &DurableDatabase, _, command| {
                    self.with_context(|context| handle(db, context, command))
                };
                return self
                    .shell
                    .serve(request, carry_out, |db, now_ms| next_alarm(db, now_ms).map(Some))
                    .await;
            }
            IMPORT_PATH => self.import(request).await,
            REFRESH_PATH => self.refresh().await,
            path => self.value(path).await,
        };
        answered.or_else(|failure| self.shell.fail(failure))
    }

    async fn alarm(&self) -> worker::Result<Response> {
        // Re-armed before anything can fail: an alarm that throws six times is dropped for good.
        let armed = self.shell.set_alarm(Some(runtime::now_ms() + RETRY_MS));
        let worked = match armed {
            Ok(()) => self.work().await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = worked {
            console_error!("catalog: {failure:?}");
        }
        Response::empty()
    }
}

impl Catalog {
    fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let keys = runtime::binding(&self.env, "STORE_KEYS").unwrap_or_default();
        let vault = Vault::parse(&keys).map_err(|error| Failure::Broken(error.into()))?;
        work(&Context {
            now_ms: runtime::now_ms(),
            random: &runtime::random,
            vault: &vault,
        })
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
        let staged = stage(db, &mut request, &import_id).await;
        let reply = match staged {
            Ok(errors) if errors.is_empty() => {
                let reply = self.with_context(|context| import::apply(db, context, &import_id))?;
                self.shell.wake_by(next_alarm(db, runtime::now_ms())?)?;
                reply
            }
            Ok(errors) => {
                import::discard(db, &import_id)?;
                errors.reply()
            }
            Err(failure) => {
                import::discard(db, &import_id)?;
                return Err(failure);
            }
        };
        respond(reply.status, &reply.body)
    }

    async fn refresh(&self) -> Result<Response, Failure> {
        let db = self.shell.ready().await?;
        let _publishing = self.publishing.lock().await;
        let tracking = self.publish_tracking(db).await?;
        let listing = self.publish_listing(db).await?;
        self.shell.set_alarm(Some(next_alarm(db, runtime::now_ms())?))?;
        let body = serde_json::to_string(&Refreshed { tracking, listing })
            .map_err(|error| Failure::Broken(error.to_string()))?;
        respond(200, &body)
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

    /// What the alarm is for: publishing what changed, and the listing on its boundary.
    async fn work(&self) -> Result<(), Failure> {
        let db = self.shell.ready().await?;
        let _publishing = self.publishing.lock().await;
        let now_ms = runtime::now_ms();
        if tracking_due_ms(db)?.is_some_and(|due_ms| due_ms <= now_ms) {
            self.publish_tracking(db).await?;
        }
        if listing_due_ms(db)? <= now_ms {
            self.publish_listing(db).await?;
            self.sweep(db).await?;
        }
        self.shell.set_alarm(Some(next_alarm(db, runtime::now_ms())?))
    }

    async fn publish_tracking(&self, db: &DurableDatabase) -> Result<u64, Failure> {
        self.push_limits(db).await;
        let prepared = snapshots::prepare_tracking(db, runtime::now_ms())?;
        self.publish(db, &prepared).await?;
        Ok(prepared.version)
    }

    async fn publish_listing(&self, db: &DurableDatabase) -> Result<u64, Failure> {
        self.ask_counters(db).await;
        let prepared = snapshots::prepare_listing(db, runtime::now_ms())?;
        let kv = self.kv()?;
        let keys = publication::chunks_to_write(db)?;
        let writes = stream::iter(keys)
            .map(|key| self.write_chunk(db, &kv, key))
            .buffer_unordered(CONNECTIONS);
        let written: Vec<_> = writes.collect().await;
        written.into_iter().collect::<Result<(), Failure>>()?;
        self.publish(db, &prepared).await?;
        Ok(prepared.version)
    }

    async fn write_chunk(&self, db: &DurableDatabase, kv: &KvStore, key: String) -> Result<(), Failure> {
        if let Some(bytes) = publication::chunk(db, &key)? {
            write(kv, &pointer::bodies_key(&key), &bytes).await?;
            publication::chunk_written(db, &key)?;
        }
        Ok(())
    }

    /// Writes a snapshot to KV and then the pointer to it, so that the pointer never lists what was not written.
    async fn publish(&self, db: &DurableDatabase, prepared: &Prepared) -> Result<(), Failure> {
        let kv = self.kv()?;
        let key = match prepared.kind {
            Kind::Tracking => pointer::tracking_key(prepared.version),
            Kind::Listing => pointer::listing_key(prepared.version),
        };
        write(&kv, &key, &prepared.bytes).await?;
        publication::enter(db, prepared, runtime::now_ms())?;
        let pointer = serde_json::to_vec(&publication::pointer(db)?)
            .map_err(|error| Failure::Broken(error.to_string()))?;
        write(&kv, pointer::KEY, &pointer).await?;
        Ok(publication::published(db, prepared)?)
    }

    fn kv(&self) -> Result<KvStore, Failure> {
        self.env
            .kv(KV_BINDING)
            .map_err(|error| Failure::Broken(error.to_string()))
    }

    /// Asks all counters for their sums. One that does not answer leaves the last that it said standing.
    async fn ask_counters(&self, db: &DurableDatabase) {
        let namespace = match self.env.durable_object(counters::BINDING) {
            Ok(namespace) => namespace,
            Err(error) => return console_error!("counters: {error}"),
        };
        let today = UtcDay::of_ms(runtime::now_ms());
        let ask = |object: String| {
            let namespace = &namespace;
            async move {
                let command = counters::Command::Stats { today };
                let answer: Result<Vec<counters::OfferStats>, _> =
                    call(namespace, &object, &command, COUNTERS_TIMEOUT).await;
                match answer {
                    Ok(stats) => publication::keep_stats(db, &object, today, &stats)
                        .unwrap_or_else(|error| console_error!("{object}: {error}")),
                    Err(error) => console_warn!("{object}: {error}"),
                }
            }
        };
        stream::iter(counters::object_names())
            .map(ask)
            .buffer_unordered(CONNECTIONS)
            .collect::<()>()
            .await;
    }

    /// Tells the counters the caps that changed. A take carries the cap as its edge knows it, so an object that cannot
    /// be told now learns it then; this only makes sure that a lower cap holds before any edge has it.
    async fn push_limits(&self, db: &DurableDatabase) {
        let pushed = async {
            let namespace = self
                .env
                .durable_object(counters::BINDING)
                .map_err(|error| error.to_string())?;
            loop {
                let changed = limits::changed(db).map_err(|failure| format!("{failure:?}"))?;
                if changed.by_object.is_empty() {
                    return Ok::<_, String>(());
                }
                for (object, limits) in changed.by_object {
                    let command = counters::Command::SetLimits { limits };
                    let _: serde_json::Value = call(&namespace, &object, &command, COUNTERS_TIMEOUT)
                        .await
                        .map_err(|error| format!("{object}: {error}"))?;
                }
                limits::pushed(db, changed.through).map_err(|error| error.to_string())?;
            }
        };
        if let Err(error) = pushed.await {
            console_warn!("caps: {error}");
        }
    }

    /// Removes from KV what nothing can ask for any more.
    async fn sweep(&self, db: &DurableDatabase) -> Result<(), Failure> {
        let kv = self.kv()?;
        let now_ms = runtime::now_ms();
        for (kind, version) in publication::expired_versions(db, now_ms)? {
            let key = match kind {
                Kind::Tracking => pointer::tracking_key(version),
                Kind::Listing => pointer::listing_key(version),
            };
            kv.delete(&key)
                .await
                .map_err(|error| Failure::Broken(format!("KV: {error}")))?;
            publication::forget_version(db, kind, version)?;
        }
        for key in publication::expired_chunks(db)? {
            kv.delete(&pointer::bodies_key(&key))
                .await
                .map_err(|error| Failure::Broken(format!("KV: {error}")))?;
            publication::forget_chunk(db, &key)?;
        }
        Ok(())
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

async fn write(kv: &KvStore, key: &str, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: worker::kv::KvError| Failure::Broken(format!("KV, {key}: {error}"));
    kv.put_bytes(key, bytes)
        .map_err(failed)?
        .execute()
        .await
        .map_err(failed)
}

/// Stages an import's lines as they arrive.
async fn stage(db: &DurableDatabase, request: &mut Request, import_id: &str) -> Result<LineErrors, Failure> {
    let mut errors = LineErrors::default();
    if request.inner().body().is_none() {
        return Ok(errors);
    }
    let unreadable = || Failure::from(common::INVALID_JSON.because("the body ended early"));
    let mut stream = request.stream().map_err(|_| unreadable())?;
    let (mut pending, mut line, mut read) = (Vec::new(), 0, 0);
    let stage_line = |line, bytes: &[u8], errors: &mut LineErrors| match std::str::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Ok(()),
        Ok(text) => import::stage(db, import_id, line, text.trim(), errors),
        Err(_) => {
            errors.add(line, "is not UTF-8");
            Ok(())
        }
    };
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| unreadable())?;
        read += chunk.len();
        if read > MAX_IMPORT {
            return Err(common::PAYLOAD_TOO_LARGE.into());
        }
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            pending.extend_from_slice(part);
            if pending.len() > MAX_LINE {
                return Err(common::PAYLOAD_TOO_LARGE
                    .because("a line is longer than an offer can be")
                    .into());
            }
            if part.ends_with(b"\n") {
                line += 1;
                stage_line(line, &pending, &mut errors)?;
                pending.clear();
            }
        }
    }
    stage_line(line + 1, &pending, &mut errors)?;
    Ok(errors)
}
