//! Publishes to KV. The operator's refresh publishes everything, and the alarm publishes what is due.

use super::CatalogService;
use crate::objects::catalog::{
    kv_writer::{KvWriter, SHARDS, SHARDS_AFTER_LISTING, TrackingPublication},
    publication::Prepared,
    revisions,
    schedule::{listing_due_ms, tracking_due_ms},
    tracking_slots,
};
use contract::catalog::Refreshed;
use platform::{
    Clock, Failure, Kv, ObjectCall, ObjectStorage, Random, Result, Sleep, panics_to_failure, single_flight::Outcome,
};

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    /// `POST /v1/operator/refresh`: rebuilds and publishes both snapshots, or as much of them as one invocation may
    /// write.
    ///
    /// # Errors
    /// A snapshot could not be built or written.
    pub async fn refresh(&self) -> Result<Refreshed> {
        let db = self.started().await?;
        self.kv_writer(db).ask_counters().await;
        // Joins after the counters have answered, so that a shared publication has their figures. Failures are also
        // shared.
        match self.publishing.join(|_| true).await {
            Outcome::Shared(refreshed) => refreshed,
            Outcome::Lead(leader) => leader.run(panics_to_failure(self.publish_both(db))).await,
        }
    }

    async fn publish_both(&self, db: &D) -> Result<Refreshed> {
        let writer = self.kv_writer(db);
        writer.find_lost().await?;
        revisions::mark_changed(db, self.now_ms())?;
        let written = self.write(&writer, true).await;
        self.point(&writer, &written).await?;
        let version = |snapshot: &Option<Prepared>| snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
        let refreshed = Refreshed {
            tracking: version(&written.manifest),
            listing: version(&written.listing),
            is_partial: written.listing.is_none(),
        };
        written.failed.map_or(Ok(()), Err)?;
        self.shell.wake_by(self.next_alarm(db)?)?;
        Ok(refreshed)
    }

    /// Writes the values that the next pointer names. A listing is built between two rounds of the tracking snapshot.
    /// Both rounds must be complete, so that the goals of all listed offers are published even if PUTs come in between.
    async fn write(&self, writer: &KvWriter<'_, D, R>, with_listing: bool) -> Written {
        let mut written = Written::default();
        written.failed = self.try_write(&mut written, writer, with_listing).await.err();
        written
    }

    async fn try_write(&self, written: &mut Written, writer: &KvWriter<'_, D, R>, with_listing: bool) -> Result {
        written.track(writer.tracking(SHARDS).await?);
        if !with_listing || written.is_partial {
            return Ok(());
        }
        let Some(listing) = writer.listing().await? else {
            return Ok(());
        };
        written.track(writer.tracking(SHARDS_AFTER_LISTING).await?);
        if !written.is_partial {
            written.listing = Some(writer.write_listing(listing).await?);
        }
        Ok(())
    }

    /// Writes the pointer to the new snapshots, if there are any.
    async fn point(&self, writer: &KvWriter<'_, D, R>, written: &Written) -> Result {
        let snapshots: Vec<_> = [&written.manifest, &written.listing].into_iter().flatten().collect();
        if snapshots.is_empty() {
            return Ok(());
        }
        writer.point(&snapshots, &self.pointed_at_ms).await?;
        if written.manifest.is_some() {
            tracking_slots::record_published(writer.db, written.is_partial, self.now_ms())?;
        }
        Ok(())
    }

    /// Publishes the tracking snapshot if it is due, and the listing if the listing is due.
    pub(super) async fn publish_due(&self, db: &D) -> Result {
        let writer = self.kv_writer(db);
        let listing_due = listing_due_ms(db)? <= self.now_ms();
        if listing_due {
            writer.ask_counters().await;
        }
        let _leader = self.publishing.lead().await;
        if listing_due {
            writer.find_lost().await?;
            tracking_slots::mark_next(db)?;
        }
        let tracking_due = tracking_due_ms(db)?.is_some_and(|due_ms| due_ms <= self.now_ms());
        if !listing_due && !tracking_due {
            return Ok(());
        }
        let written = self.write(&writer, listing_due).await;
        self.point(&writer, &written).await?;
        if written.listing.is_some() {
            writer.sweep().await?;
        }
        written.failed.map_or(Ok(()), Err)
    }
}

/// The snapshots that a publication has written and the next pointer names.
#[derive(Default)]
struct Written {
    manifest: Option<Prepared>,
    listing: Option<Prepared>,
    /// True if earlier changes are still unpublished.
    is_partial: bool,
    /// Why the rest was not written.
    failed: Option<Failure>,
}

impl Written {
    /// Adds a round of the tracking snapshot.
    fn track(&mut self, tracked: TrackingPublication) {
        self.is_partial = tracked.is_partial;
        if tracked.manifest.is_some() {
            self.manifest = tracked.manifest;
        }
    }
}
