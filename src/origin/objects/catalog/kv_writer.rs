//! Publishes to KV: first the values, then the pointer to them, so that the pointer never names a missing value.

use std::{cell::Cell, time::Duration};

use super::{
    publication::{self, Prepared},
    revisions,
    snapshots::{self, ListingBuild},
    steps::in_steps,
    terms,
    tracking_slots::{self, ChangedSlot},
};
use contract::{
    counters::{self, OfferStats, STATS_PAGE, Stats},
    kv::{self, Pointer},
};
use domain::model::UtcDay;
use platform::{Clock, Database, Failure, Kv, ObjectCall, Result, Sleep, concurrent::each, log};

/// Minimum time between two writes of a key, in milliseconds: KV accepts one write per second.
const POINTER_EVERY_MS: i64 = 1_100;
/// The largest value that KV accepts, in bytes.
const KV_VALUE: usize = 25 << 20;
const COUNTERS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum offers whose figures one step stores.
const STATS_AT_ONCE: usize = 500;
/// Maximum shards that a publication writes before a listing. The next publication writes the rest. KV allows 1,000
/// operations in one invocation: these shards, the shards after the listing, the chunks, 250 for sweeps, one for the
/// listing and one for the pointer.
pub const SHARDS: usize = 300;
/// Maximum shards that a publication writes after a listing.
pub const SHARDS_AFTER_LISTING: usize = 40;
/// Maximum chunks that a publication writes.
const CHUNKS: usize = 400;
/// Maximum slots that are listed at a time.
const SHARDS_AT_ONCE: usize = 50;

/// The result of writing the changed shards, before the pointer is written.
#[derive(Debug)]
pub struct TrackingPublication {
    /// `None` if the pointer's manifest is still current, or if shards that it needs are not built yet.
    pub manifest: Option<Prepared>,
    /// True if changes from before the publication are still unpublished.
    pub is_partial: bool,
}

/// Writes one publication. The caller runs only one at a time.
pub struct KvWriter<'a, D, R> {
    pub db: &'a D,
    pub runtime: &'a R,
}

impl<D: Database, R: Clock + Sleep + ObjectCall + Kv> KvWriter<'_, D, R> {
    /// Checks that KV's pointer names the last listing. If it does not, KV was emptied, moved or damaged, and the next
    /// publication writes everything.
    ///
    /// # Errors
    /// The database failed. If KV does not answer, publication continues.
    pub async fn find_lost(&self) -> Result {
        let Some(version) = publication::settled_listing(self.db, self.runtime.now_ms())? else {
            return Ok(());
        };
        let problem = match self.runtime.get(kv::KEY).await {
            Ok(Some(value)) => match Pointer::parse(&value) {
                Ok(pointer) if pointer.listing.contains(&version) => return Ok(()),
                Ok(_) => "lacks the latest listing".to_owned(),
                Err(error) => error,
            },
            Ok(None) => "is missing".to_owned(),
            Err(error) => {
                log::warn("catalog", format_args!("{} was not read from KV: {error}", kv::KEY));
                return Ok(());
            }
        };
        log::error("catalog", format_args!("the pointer {} in KV {problem}, so all values are written again", kv::KEY));
        let now_ms = self.runtime.now_ms();
        Ok(self.db.transaction(|| publication::publish_all(self.db, now_ms))?)
    }

    /// Builds and writes at most `most` changed shards, and stores their manifest. The manifest is published once the
    /// pointer contains it.
    pub async fn tracking(&self, most: usize) -> Result<TrackingPublication> {
        let (started_at_ms, last_change) = (self.runtime.now_ms(), revisions::last(self.db)?);
        let mut left = most;
        loop {
            let slots = tracking_slots::changed(self.db, left.min(SHARDS_AT_ONCE))?;
            if slots.is_empty() {
                break;
            }
            left = left.saturating_sub(slots.len());
            let written = each(slots, |changed| self.write_shard(changed)).await;
            written.into_iter().collect::<Result>()?;
        }
        let is_partial = tracking_slots::is_changed_by(self.db, last_change)?;
        let now_ms = self.runtime.now_ms();
        if is_partial {
            revisions::mark_changed(self.db, now_ms)?;
        } else {
            publication::confirm(self.db, started_at_ms)?;
        }
        let is_due = revisions::get(self.db, revisions::TRACKING_DIRTY_SINCE)?.is_some();
        let manifest = if is_due || !tracking_slots::is_manifest_current(self.db)? {
            let built_at_ms = (!is_partial).then_some(started_at_ms);
            tracking_slots::prepare_manifest(self.db, built_at_ms, now_ms)?
        } else {
            None
        };
        Ok(TrackingPublication { manifest, is_partial })
    }

    async fn write_shard(&self, changed: ChangedSlot) -> Result {
        let Some(built) = tracking_slots::build(self.db, changed.slot, self.runtime.now_ms())? else {
            return Ok(());
        };
        let key = tracking_slots::key_to_write(self.db, changed.slot, &built, self.runtime.now_ms())?;
        if let Some(key) = key {
            self.write(&key, &built.bytes).await?;
        }
        let recorded = tracking_slots::record_written(self.db, changed, &built, self.runtime.now_ms());
        Ok(recorded?)
    }

    /// Rebuilds the listing and writes the chunks that KV lacks. Returns `None` if KV lacks more chunks than one
    /// invocation may write.
    pub async fn listing(&self) -> Result<Option<Prepared>> {
        let mut room = CHUNKS;
        // Chunks that an earlier invocation did not write are written first, before another build.
        if !self.write_chunks(&mut room).await? {
            return Ok(None);
        }
        in_steps(self.runtime, || snapshots::rerender_bodies(self.db)).await?;
        let mut build = ListingBuild::new(self.runtime.now_ms());
        in_steps(self.runtime, || build.step(self.db)).await?;
        let prepared = build.finish(self.db)?;
        Ok(self.write_chunks(&mut room).await?.then_some(prepared))
    }

    /// Writes the chunks that KV lacks, up to `room`. Returns whether all are written.
    async fn write_chunks(&self, room: &mut usize) -> Result<bool> {
        let mut keys = publication::chunks_to_write(self.db, room.saturating_add(1))?;
        let is_all = keys.len() <= *room;
        keys.truncate(*room);
        *room = room.saturating_sub(keys.len());
        let written = each(keys, |key| self.write_chunk(key)).await;
        written.into_iter().collect::<Result>()?;
        Ok(is_all)
    }

    async fn write_chunk(&self, key: String) -> Result {
        if let Some(bytes) = publication::chunk(self.db, &key)? {
            self.write(&kv::bodies_key(&key), &bytes).await?;
            publication::record_chunk_written(self.db, &key, self.runtime.now_ms())?;
        }
        Ok(())
    }

    /// Writes a listing's value, and returns the listing without its bytes.
    pub async fn write_listing(&self, prepared: Prepared) -> Result<Prepared> {
        self.write(&kv::listing_key(prepared.version), &prepared.bytes).await?;
        publication::record_written(self.db, prepared.version, self.runtime.now_ms())?;
        Ok(Prepared { bytes: Vec::new(), ..prepared })
    }

    /// Writes the pointer, which then names the new values. First waits until KV accepts another write of the key.
    pub async fn point(&self, written: &[&Prepared], written_at_ms: &Cell<i64>) -> Result {
        let wait_ms = written_at_ms.get().saturating_add(POINTER_EVERY_MS).saturating_sub(self.runtime.now_ms());
        if let Ok(wait_ms @ 1..) = u64::try_from(wait_ms) {
            self.runtime.sleep(Duration::from_millis(wait_ms)).await;
        }
        let pointer = publication::pointer(self.db)?.to_value().map_err(Failure::Internal)?;
        written_at_ms.set(self.runtime.now_ms());
        let outcome = self.write(kv::KEY, &pointer).await;
        // KV requires a second after the arrival of a write. This write may have arrived as late as now, so the wait
        // begins now.
        written_at_ms.set(self.runtime.now_ms());
        outcome?;
        written
            .iter()
            .try_for_each(|prepared| Ok(publication::record_in_pointer(self.db, prepared, written_at_ms.get())?))
    }

    /// Reads the figures of all counters. If an object does not answer, its last figures stay in use.
    pub async fn ask_counters(&self) {
        let today = UtcDay::of_ms(self.runtime.now_ms());
        let ask = |object: String| async move {
            if let Err(error) = self.ask_for_stats(&object, today).await {
                log::warn("catalog", format_args!("{object} gave no figures for the listing: {error}"));
            }
        };
        each(counters::object_names(), ask).await;
    }

    /// Reads a counters object page by page, so that neither the counters object nor the catalog is busy for long.
    async fn ask_for_stats(&self, object: &str, today: UtcDay) -> Result {
        let counters = counters::address(object.to_owned());
        let mut after = None;
        loop {
            let page = Stats { today, after: after.take() };
            let answer = self.runtime.call(&counters, page, COUNTERS_TIMEOUT).await;
            let stats = answer.map_err(|error| Failure::Internal(error.to_string()))?;
            self.store_stats(object, today, &stats).await?;
            match stats.last() {
                Some(last) if stats.len() == STATS_PAGE => after = Some(last.offer.clone()),
                _ => return Ok(publication::delete_stale_stats(self.db, object, today)?),
            }
        }
    }

    async fn store_stats(&self, object: &str, today: UtcDay, stats: &[OfferStats]) -> Result {
        let mut parts = stats.chunks(STATS_AT_ONCE);
        in_steps(self.runtime, || match parts.next() {
            Some(part) => {
                publication::store_stats(self.db, object, today, part)?;
                Ok(true)
            }
            None => Ok(false),
        })
        .await
    }

    /// Deletes expired chunks, listings and shards from KV, and terms that no click needs any more.
    pub async fn sweep(&self) -> Result {
        for version in publication::expired_versions(self.db, self.runtime.now_ms())? {
            self.delete(&kv::listing_key(version)).await?;
            publication::forget_version(self.db, version)?;
        }
        for key in tracking_slots::expired(self.db, self.runtime.now_ms())? {
            self.delete(&key).await?;
            tracking_slots::forget(self.db, &key)?;
        }
        for key in publication::expired_chunks(self.db)? {
            publication::record_chunk_absent(self.db, &key)?;
            self.delete(&kv::bodies_key(&key)).await?;
            publication::forget_chunk(self.db, &key)?;
        }
        Ok(terms::sweep(self.db, self.runtime.now_ms())?)
    }

    async fn write(&self, key: &str, bytes: &[u8]) -> Result {
        if bytes.len() > KV_VALUE {
            let size = bytes.len();
            return Err(Failure::Internal(format!("{key} has {size} bytes, more than KV accepts")));
        }
        let written = self.runtime.put(key, bytes).await;
        written.map_err(|error| Failure::Internal(format!("{key} was not written to KV: {error}")))?;
        // A publication writes hundreds of values, and workerd answers other requests only while a task waits for a
        // timer or a socket.
        self.runtime.sleep(Duration::ZERO).await;
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result {
        let deleted = self.runtime.delete(key).await;
        deleted.map_err(|error| Failure::Internal(format!("{key} was not deleted from KV: {error}")))
    }
}
