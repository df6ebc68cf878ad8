//! The service as [`Peers`] of the outbox's rules: calls to other objects, the process's caches, and claims of
//! callbacks.

use super::{OutboxService, Runtime};
use crate::{
    delivery::{batches, feed::FEED_MS},
    objects::outbox::{
        NET_MS,
        callbacks::delivery_log::Observer,
        calls,
        conversions::txns,
        endpoint,
        peers::{Peers, StateCache},
    },
};
use contract::{
    catalog::{GetAppTerms, GetOfferTerms, KnownApp, KnownOffer},
    counters::{self, Asker, Take},
    outbox::{ClaimApp, ClaimTxn, ClaimedApp, FreeTxn, OutboxShard, Txn},
};
use domain::callbacks::fields::Status;
use platform::{DbResult, Failure, ObjectStorage, Result, keyed_flights::KeyedFlights};

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> Peers for OutboxService<D, R, O> {
    fn now_ms(&self) -> i64 {
        self.runtime().now_ms()
    }

    fn claim_ms(&self) -> i64 {
        self.sender.claim_ms()
    }

    fn reward_due_ms(&self, now_ms: i64) -> i64 {
        match self.free_ahead.get().checked_sub(1) {
            Some(free) => {
                self.free_ahead.set(free);
                now_ms.saturating_add(self.claim_ms())
            }
            None => now_ms,
        }
    }

    fn claimed_ahead(&self, entry: i64) {
        self.ahead.borrow_mut().insert(entry);
    }

    fn state_cache(&self) -> &StateCache {
        &self.state_cache
    }

    fn questions(&self) -> &KeyedFlights<Result> {
        &self.questions
    }

    async fn ask_offer(&self, question: GetOfferTerms) -> Result<KnownOffer> {
        calls::ask_catalog(self.runtime(), question).await
    }

    async fn ask_app(&self, question: GetAppTerms) -> Result<KnownApp> {
        calls::ask_catalog(self.runtime(), question).await
    }

    async fn claim_app(&self, first: OutboxShard, claim: ClaimApp) -> Result<ClaimedApp> {
        calls::ask(self.runtime(), &first.address(), claim).await
    }

    async fn take(&self, take: &Take) -> Result<bool> {
        let db = self.shell.storage();
        let asker = match endpoint::read(db)? {
            Some(state) => Some(Asker {
                source: state.shard.object_name(),
                known: batches::mark_of(db, &counters::object_name(&take.offer))?,
                refilled_ms: state.refilled_ms,
            }),
            None => None,
        };
        let taken = calls::ask(self.runtime(), &calls::counters_of(&take.offer), Take { asker, ..take.clone() }).await;
        Ok(taken?.taken)
    }

    async fn claim_txn(&self, txn: &Txn) -> Result<bool> {
        match self.other_keeper(txn)? {
            None => {
                let db = self.shell.storage();
                let unknown = || Failure::Internal("the outbox got a claim before it knew its app".into());
                let own = endpoint::read(db)?.ok_or_else(unknown)?.shard;
                Ok(txns::claim(db, self.now_ms(), own, txn)?)
            }
            Some(keeper) => Ok(calls::ask(self.runtime(), &keeper.address(), ClaimTxn(txn.clone())).await?.claimed),
        }
    }

    async fn free_txn(&self, txn: &Txn) -> Result {
        match self.other_keeper(txn)? {
            None => Ok(txns::free(self.shell.storage(), txn)?),
            Some(keeper) => calls::ask(self.runtime(), &keeper.address(), FreeTxn(txn.clone())).await.map(drop),
        }
    }

    fn resume_soon(&self) {
        self.must_resume.set(true);
    }

    fn wants(&self, status: Status) -> DbResult<bool> {
        let Some(state) = endpoint::read(self.shell.storage())? else {
            return Ok(false);
        };
        Ok(match self.sender.endpoint(state.shard.app, &state.callback) {
            Ok(endpoint) => endpoint.is_some_and(|endpoint| endpoint.events.contains(status)),
            // The settings cannot be decrypted. The code that sends callbacks reports that. A notice then waits like a
            // reward. If the publisher does not want the notice, it ends when it is due.
            Err(_) => true,
        })
    }

    fn committed(&self) -> Result {
        // An alarm finds the due work itself, so a commit needs no query if an alarm fires soon enough. A feed's batch
        // is usually due first, after `FEED_MS`. If the alarm was armed for a feed less than `FEED_MS` ago, the batch
        // may have been put off, and an alarm within `NET_MS` is soon enough.
        let now_ms = self.runtime().now_ms();
        let is_armed = self.armed_ms.get() > now_ms.saturating_sub(FEED_MS);
        let soon_ms = if is_armed { NET_MS } else { FEED_MS };
        if self.shell.wakes_by(now_ms.saturating_add(soon_ms)) {
            return Ok(());
        }
        self.arm()
    }
}

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Returns the outbox that keeps the claims of a `txn`; `None` if it is this outbox.
    fn other_keeper(&self, txn: &Txn) -> Result<Option<OutboxShard>> {
        let state = endpoint::read(self.shell.storage())?;
        let Some((own, current)) = state.and_then(|state| Some((state.shard, state.current?))) else {
            return Err(Failure::Internal("the outbox does not know its app".into()));
        };
        let keeper = txns::keeper(own.app, current.outbox_shards, txn);
        Ok((keeper != own).then_some(keeper))
    }
}
