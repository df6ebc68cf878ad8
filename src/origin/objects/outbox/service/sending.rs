//! The tasks that send an outbox's batches, its feeds and its nightly totals.

use std::rc::Rc;

use futures_util::future::join;

use super::{OutboxService, Runtime};
use crate::{
    delivery::feed::send,
    objects::outbox::{
        attention,
        callbacks::delivery_log::Observer,
        endpoint,
        feed::ActivityFeed,
        gap,
        sums::{comparisons, night, revenue_batches},
    },
};
use contract::outbox::OutboxShard;
use platform::{ObjectStorage, Result, panics_to_failure};

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Vouches to the ledger for the day that was added up.
    pub(super) async fn vouch(self: Rc<Self>) {
        if self.is_vouching.replace(true) {
            return;
        }
        let db = self.shell.storage();
        let vouched = panics_to_failure(async {
            if let Some(state) = endpoint::read(db)?
                && self.start_again_if_lost(state.shard).await.is_err()
            {
                return Ok(night::put_off(db, self.now_ms())?);
            }
            Ok(night::vouch(db, self.runtime()).await?)
        })
        .await;
        self.is_vouching.set(false);
        if let Ok(Some(differs)) = vouched {
            comparisons::count_day(differs);
        }
        let armed = vouched.and_then(|compared| match compared {
            // The next day may also be over.
            Some(_) => self.shell.wake_by(self.now_ms()),
            None => self.arm(),
        });
        if let Err(failure) = armed {
            platform::log::error("reconcile", failure);
        }
    }

    /// Sends revenue to the publisher's ledger, conversions to the offers' counters, and the journal to the witness.
    pub(super) async fn send_batches(self: Rc<Self>) {
        if self.is_sending_batches.replace(true) {
            return;
        }
        let db = self.shell.storage();
        let sent = panics_to_failure(async {
            match revenue_batches::send(db, self.runtime(), &self.opened_ms).await? {
                Some(shard) => {
                    self.has_started.set(false);
                    self.wait_for_start(shard, None).await
                }
                // The answer to a batch may be the first to show the ledger's mark, and with it that payments are lost.
                None if revenue_batches::lost(db, self.now_ms())?.is_some() => {
                    self.state_cache.clear();
                    match endpoint::read(db)? {
                        Some(state) => {
                            self.start_again_if_lost(state.shard).await?;
                            Ok(gap::note(db, self.runtime(), state.shard).await?)
                        }
                        None => Ok(()),
                    }
                }
                None => Ok(()),
            }
        })
        .await;
        self.is_sending_batches.set(false);
        if let Err(failure) = sent.and_then(|()| self.arm()) {
            platform::log::error("outbox", failure);
        }
    }

    /// Sends changes to the publisher's activity object and to the operator's attention.
    pub(super) async fn send_feeds(self: Rc<Self>) {
        if self.is_feeding.replace(true) {
            return;
        }
        let (db, runtime) = (self.shell.storage(), self.runtime());
        let to_activity = panics_to_failure(async { Ok(send(&ActivityFeed(db), runtime).await?) });
        let to_attention = panics_to_failure(async { Ok(attention::send(db, runtime).await?) });
        let (told, attended) = join(to_activity, to_attention).await;
        self.is_feeding.set(false);
        // This task need not arm the alarm: the alarm that started the task is armed again while changes are left.
        for (place, sent) in [("activity", told), ("attention", attended)] {
            if let Err(failure) = sent {
                platform::log::error(place, failure);
            }
        }
    }

    /// Like [`Self::wait_for_start`]. If the ledger has payments that the log lacks, the journal is asked for them once
    /// more, because it may not have answered when the process started.
    async fn start_again_if_lost(&self, shard: OutboxShard) -> Result {
        if let Some(mark) = revenue_batches::lost(self.shell.storage(), self.now_ms())?
            && self.lost_mark.replace(mark) != mark
        {
            self.has_started.set(false);
        }
        self.wait_for_start(shard, None).await
    }
}
