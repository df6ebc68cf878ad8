//! Publishing to KV: first the values, then, once, the pointer to them, so that it never lists what was not written.

use std::{cell::Cell, time::Duration};

use futures_util::{StreamExt, stream};
use worker::{Delay, Env, kv::KvStore};

use super::{
    client::KV_BINDING,
    limits,
    publication::{self, Kind, Prepared},
    snapshots,
};
use crate::{
    catalog::snapshot::pointer,
    log,
    origin::{CONNECTIONS, call::call, command::Failure, counters, durable::DurableDatabase},
    runtime,
    time::UtcDay,
};

/// KV takes one write of a key a second, and refuses the next.
const POINTER_EVERY_MS: i64 = 1_100;
/// KV takes no larger value, in bytes.
const KV_VALUE: usize = 25 << 20;
const COUNTERS_TIMEOUT: Duration = Duration::from_secs(5);

/// One publication. The caller sees to it that there is one at a time.
pub struct Publishing<'a> {
    pub env: &'a Env,
    pub db: &'a DurableDatabase,
}

impl Publishing<'_> {
    /// Builds the tracking snapshot and writes it. It is published once the pointer lists it.
    pub async fn tracking(&self) -> Result<Prepared, Failure> {
        self.push_limits().await;
        self.write_snapshot(snapshots::prepare_tracking(self.db, runtime::now_ms())?)
            .await
    }

    /// Rebuilds the listing and writes it, with the chunks that KV does not have yet.
    pub async fn listing(&self) -> Result<Prepared, Failure> {
        let prepared = snapshots::prepare_listing(self.db, runtime::now_ms())?;
        let kv = self.kv()?;
        let keys = publication::chunks_to_write(self.db)?;
        let writes = stream::iter(keys)
            .map(|key| self.write_chunk(&kv, key))
            .buffer_unordered(CONNECTIONS);
        let written: Vec<_> = writes.collect().await;
        written.into_iter().collect::<Result<(), Failure>>()?;
        self.write_snapshot(prepared).await
    }

    async fn write_chunk(&self, kv: &KvStore, key: String) -> Result<(), Failure> {
        if let Some(bytes) = publication::chunk(self.db, &key)? {
            write(kv, &pointer::bodies_key(&key), &bytes).await?;
            publication::chunk_written(self.db, &key)?;
        }
        Ok(())
    }

    /// Writes a snapshot's value; what comes back has let go of its bytes.
    async fn write_snapshot(&self, prepared: Prepared) -> Result<Prepared, Failure> {
        write(
            &self.kv()?,
            &value_key(prepared.kind, prepared.version),
            &prepared.bytes,
        )
        .await?;
        publication::enter(self.db, &prepared, runtime::now_ms())?;
        Ok(Prepared {
            bytes: Vec::new(),
            ..prepared
        })
    }

    /// Writes the pointer to what was written, no sooner after the last one than KV takes it.
    pub async fn point(&self, written: &[Prepared], written_at_ms: &Cell<i64>) -> Result<(), Failure> {
        let wait_ms = written_at_ms
            .get()
            .saturating_add(POINTER_EVERY_MS)
            .saturating_sub(runtime::now_ms());
        if let Ok(wait_ms @ 1..) = u64::try_from(wait_ms) {
            Delay::from(Duration::from_millis(wait_ms)).await;
        }
        let pointer = serde_json::to_vec(&publication::pointer(self.db)?)
            .map_err(|error| Failure::Broken(error.to_string()))?;
        written_at_ms.set(runtime::now_ms());
        let outcome = write(&self.kv()?, pointer::KEY, &pointer).await;
        // KV judges by when a write reaches it, which is between the two.
        written_at_ms.set(runtime::now_ms());
        outcome?;
        written
            .iter()
            .try_for_each(|prepared| Ok(publication::published(self.db, prepared)?))
    }

    fn kv(&self) -> Result<KvStore, Failure> {
        self.env
            .kv(KV_BINDING)
            .map_err(|error| Failure::Broken(error.to_string()))
    }

    /// Asks all counters for their sums. One that does not answer leaves the last that it said standing.
    pub async fn ask_counters(&self) {
        let namespace = match self.env.durable_object(counters::BINDING) {
            Ok(namespace) => namespace,
            Err(error) => return log::error("catalog", format_args!("counters: {error}")),
        };
        let today = UtcDay::of_ms(runtime::now_ms());
        let ask = |object: String| {
            let namespace = &namespace;
            async move {
                let command = counters::Command::Stats { today };
                let answer: Result<Vec<counters::OfferStats>, _> =
                    call(namespace, &object, &command, COUNTERS_TIMEOUT).await;
                match answer {
                    Ok(stats) => publication::keep_stats(self.db, &object, today, &stats)
                        .unwrap_or_else(|error| log::error("catalog", format_args!("{object}: {error}"))),
                    Err(error) => log::warn("catalog", format_args!("{object}: {error}")),
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
    async fn push_limits(&self) {
        let pushed = async {
            let namespace = self
                .env
                .durable_object(counters::BINDING)
                .map_err(|error| error.to_string())?;
            loop {
                let changed = limits::changed(self.db).map_err(|failure| failure.to_string())?;
                if changed.by_object.is_empty() {
                    return Ok::<_, String>(());
                }
                for (object, limits) in changed.by_object {
                    let command = counters::Command::SetLimits { limits };
                    let _: serde_json::Value = call(&namespace, &object, &command, COUNTERS_TIMEOUT)
                        .await
                        .map_err(|error| format!("{object}: {error}"))?;
                }
                limits::pushed(self.db, changed.through).map_err(|error| error.to_string())?;
            }
        };
        if let Err(error) = pushed.await {
            log::warn("catalog", format_args!("caps: {error}"));
        }
    }

    /// Removes from KV what nothing can ask for any more.
    pub async fn sweep(&self) -> Result<(), Failure> {
        let kv = self.kv()?;
        for (kind, version) in publication::expired_versions(self.db, runtime::now_ms())? {
            delete(&kv, &value_key(kind, version)).await?;
            publication::forget_version(self.db, kind, version)?;
        }
        for key in publication::expired_chunks(self.db)? {
            publication::chunk_unwritten(self.db, &key)?;
            delete(&kv, &pointer::bodies_key(&key)).await?;
            publication::forget_chunk(self.db, &key)?;
        }
        Ok(())
    }
}

fn value_key(kind: Kind, version: u64) -> String {
    match kind {
        Kind::Tracking => pointer::tracking_key(version),
        Kind::Listing => pointer::listing_key(version),
    }
}

async fn write(kv: &KvStore, key: &str, bytes: &[u8]) -> Result<(), Failure> {
    if bytes.len() > KV_VALUE {
        return Err(Failure::Broken(format!(
            "{key} has {} bytes, more than KV takes",
            bytes.len()
        )));
    }
    let failed = |error: worker::kv::KvError| Failure::Broken(format!("KV, {key}: {error}"));
    kv.put_bytes(key, bytes)
        .map_err(failed)?
        .execute()
        .await
        .map_err(failed)
}

async fn delete(kv: &KvStore, key: &str) -> Result<(), Failure> {
    kv.delete(key)
        .await
        .map_err(|error| Failure::Broken(format!("KV, {key}: {error}")))
}
