//! Publishes to KV: first the values, then the pointer to them, so that the pointer never lists a missing value.

use std::{cell::Cell, time::Duration};

use futures_util::{StreamExt, stream};

use super::{
    limits,
    publication::{self, Prepared},
    snapshots, terms,
};
use contract::{
    counters::{self, Limit, SetLimits, Stats},
    kv,
};
use domain::model::{OfferId, api_error::common, time::UtcDay};
use platform::{
    CONNECTIONS,
    database::Database,
    failure::Failure,
    log,
    traits::{Clock, Kv, ObjectCall, Sleep},
};

/// The least time between two writes of a key: KV accepts one a second and refuses the next.
const POINTER_EVERY_MS: i64 = 1_100;
/// The largest value that KV accepts, in bytes.
const KV_VALUE: usize = 25 << 20;
const COUNTERS_TIMEOUT: Duration = Duration::from_secs(5);

/// One publication. The caller runs one at a time.
pub struct KvWriter<'a, D, R> {
    pub db: &'a D,
    pub runtime: &'a R,
}

impl<D: Database, R: Clock + Sleep + ObjectCall + Kv> KvWriter<'_, D, R> {
    /// Builds the tracking snapshot and writes its value. It is published once the pointer lists it.
    pub async fn tracking(&self) -> Result<Prepared, Failure> {
        self.push_limits().await;
        self.write_snapshot(snapshots::prepare_tracking(self.db, self.runtime.now_ms())?)
            .await
    }

    /// Rebuilds the listing and writes its value and the chunks that KV does not have yet.
    pub async fn listing(&self) -> Result<Prepared, Failure> {
        let prepared = snapshots::prepare_listing(self.db, self.runtime.now_ms())?;
        let keys = publication::chunks_to_write(self.db)?;
        let writes = stream::iter(keys)
            .map(|key| self.write_chunk(key))
            .buffer_unordered(CONNECTIONS);
        let written: Vec<_> = writes.collect().await;
        written.into_iter().collect::<Result<(), Failure>>()?;
        self.write_snapshot(prepared).await
    }

    async fn write_chunk(&self, key: String) -> Result<(), Failure> {
        if let Some(bytes) = publication::chunk(self.db, &key)? {
            self.write(&kv::bodies_key(&key), &bytes).await?;
            publication::record_chunk_written(self.db, &key)?;
        }
        Ok(())
    }

    /// Writes a snapshot's value, and returns the snapshot without its bytes.
    pub async fn write_snapshot(&self, prepared: Prepared) -> Result<Prepared, Failure> {
        self.write(&prepared.kind.key(prepared.version), &prepared.bytes)
            .await?;
        publication::record_written(self.db, &prepared, self.runtime.now_ms())?;
        Ok(Prepared {
            bytes: Vec::new(),
            ..prepared
        })
    }

    /// Writes the pointer to the new values, as soon as KV accepts it after the last write.
    pub async fn point(&self, written: &[Prepared], written_at_ms: &Cell<i64>) -> Result<(), Failure> {
        let wait_ms = written_at_ms
            .get()
            .saturating_add(POINTER_EVERY_MS)
            .saturating_sub(self.runtime.now_ms());
        if let Ok(wait_ms @ 1..) = u64::try_from(wait_ms) {
            self.runtime.sleep(Duration::from_millis(wait_ms)).await;
        }
        let pointer = serde_json::to_vec(&publication::pointer(self.db)?)
            .map_err(|error| Failure::Internal(error.to_string()))?;
        written_at_ms.set(self.runtime.now_ms());
        let outcome = self.write(kv::KEY, &pointer).await;
        // KV counts from the arrival of the last write, which is between its start and its end.
        written_at_ms.set(self.runtime.now_ms());
        outcome?;
        written
            .iter()
            .try_for_each(|prepared| Ok(publication::record_in_pointer(self.db, prepared)?))
    }

    /// Requests the figures of all counters. If one does not answer, its last figures stay in use.
    pub async fn ask_counters(&self) {
        let today = UtcDay::of_ms(self.runtime.now_ms());
        let ask = |object: String| async move {
            let counters = counters::address(object.clone());
            let answer = self
                .runtime
                .call(&counters, Stats { today }, COUNTERS_TIMEOUT)
                .await;
            match answer {
                Ok(stats) => publication::store_stats(self.db, &object, today, &stats)
                    .unwrap_or_else(|error| log::error("catalog", format_args!("{object}: {error}"))),
                Err(error) => log::warn("catalog", format_args!("{object}: {error}")),
            }
        };
        stream::iter(counters::object_names())
            .map(ask)
            .buffer_unordered(CONNECTIONS)
            .collect::<()>()
            .await;
    }

    /// Pushes changed caps to the counters. A take carries the edge's cap, so an object that does not answer now
    /// receives it then. The push makes a lower cap effective before any edge has it.
    async fn push_limits(&self) {
        let pushed = async {
            loop {
                let changed = limits::changed_caps(self.db).map_err(|failure| failure.to_string())?;
                if changed.by_object.is_empty() {
                    return Ok::<_, String>(());
                }
                for (object, limits) in changed.by_object {
                    self.set_limits(object, limits).await?;
                }
                limits::record_pushed(self.db, changed.through).map_err(|error| error.to_string())?;
            }
        };
        if let Err(error) = pushed.await {
            log::warn("catalog", format_args!("caps: {error}"));
        }
    }

    /// Pushes the caps of an offer that a PUT has changed, for that PUT: the operator may rely on a lower cap at once.
    ///
    /// # Errors
    /// 503 if the counters did not take them.
    pub async fn push_changed_cap(&self, offer: &OfferId) -> Result<(), Failure> {
        let Some(limits) = limits::changed_cap(self.db, offer)? else {
            return Ok(());
        };
        let pushed = self.set_limits(counters::object_name(offer), limits).await;
        pushed.map_err(|error| {
            log::warn("catalog", format_args!("the cap of offer {offer}: {error}"));
            common::UNAVAILABLE
                .with_message(
                    "the offer is kept as it was put, but its cap is not in force yet; it will be as soon as that can be \
                     done, and the PUT may be repeated",
                )
                .into()
        })
    }

    async fn set_limits(&self, object: String, limits: Vec<Limit>) -> Result<(), String> {
        let counters = counters::address(object.clone());
        let set = self
            .runtime
            .call(&counters, SetLimits { limits }, COUNTERS_TIMEOUT)
            .await;
        set.map(drop).map_err(|error| format!("{object}: {error}"))
    }

    /// Deletes expired chunks and snapshot versions from KV, and terms that no click can need any more.
    pub async fn sweep(&self) -> Result<(), Failure> {
        for (kind, version) in publication::expired_versions(self.db, self.runtime.now_ms())? {
            self.delete(&kind.key(version)).await?;
            publication::forget_version(self.db, kind, version)?;
        }
        for key in publication::expired_chunks(self.db)? {
            publication::record_chunk_absent(self.db, &key)?;
            self.delete(&kv::bodies_key(&key)).await?;
            publication::forget_chunk(self.db, &key)?;
        }
        Ok(terms::sweep(self.db, self.runtime.now_ms())?)
    }

    async fn write(&self, key: &str, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() > KV_VALUE {
            let size = bytes.len();
            return Err(Failure::Internal(format!(
                "{key} has {size} bytes, more than KV takes"
            )));
        }
        let written = self.runtime.put(key, bytes).await;
        written.map_err(|error| Failure::Internal(format!("KV, {key}: {error}")))
    }

    async fn delete(&self, key: &str) -> Result<(), Failure> {
        let deleted = self.runtime.delete(key).await;
        deleted.map_err(|error| Failure::Internal(format!("KV, {key}: {error}")))
    }
}
