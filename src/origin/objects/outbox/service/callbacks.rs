//! Starts due callbacks, makes their attempts, and asks for the settings of their endpoint.

use std::rc::Rc;

use super::{OutboxService, Runtime};
use crate::objects::outbox::{
    callbacks::{
        deliveries::{self, ClaimedCallback},
        delivery_log::{AttemptResult, Observer},
    },
    calls,
    endpoint::{self, OutboxState},
    peers::Peers,
    sql, terms,
};
use contract::outbox::Disabled;
use domain::callbacks::{delivery::Next, request::Endpoint, shards};
use platform::{ObjectStorage, Result, panic_to_failure, panics_to_failure};

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Claims as many due callbacks as the endpoint's concurrency limit allows. Returns `None` if none may be sent now.
    fn claim(self: &Rc<Self>) -> Result<Option<(Vec<ClaimedCallback>, Rc<Endpoint>)>> {
        self.free_ahead.set(0);
        if !self.is_ready() || self.state_cache.lacks_endpoint.get() {
            return Ok(None);
        }
        let db = self.shell.storage();
        let state = endpoint::read(db)?;
        if let Some(state) = state.as_ref().filter(|state| state.is_behind()) {
            if !self.is_asking.replace(true) {
                self.spawn(Rc::clone(self).ask_for_settings(state.clone()));
            }
            return Ok(None);
        }
        let Some(state) = state.filter(OutboxState::has_endpoint) else {
            self.state_cache.lacks_endpoint.set(true);
            return Ok(None);
        };
        let outboxes = state.current.as_ref().map_or(1, |current| current.outbox_shards);
        let most = shards::attempts_at_once(outboxes);
        let free = state.health.free_slots(most, self.in_flight.get(), self.now_ms());
        if free == 0 {
            return Ok(None);
        }
        let Some(endpoint) = self.sender.endpoint(state.shard.app, &state.callback)? else {
            return Ok(None);
        };
        let now_ms = self.now_ms();
        let mut claimed = deliveries::claim(db, now_ms, free, self.sender.claim_ms(), endpoint.events)?;
        let mut free = free.saturating_sub(claimed.callbacks.len());
        let mut ahead = self.ahead.borrow_mut();
        for callback in &claimed.callbacks {
            ahead.remove(&callback.entry);
        }
        while free > 0 && !ahead.is_empty() {
            let few: Vec<i64> = std::iter::from_fn(|| ahead.pop_first()).take(free).collect();
            let times = (self.sender.attempt_ms(), self.sender.claim_ms());
            let taken = deliveries::take_up(db, now_ms, &few, times, endpoint.events)?;
            free = free.saturating_sub(taken.callbacks.len());
            claimed.append(taken);
        }
        self.free_ahead.set(free);
        self.committed()?;
        for entry in claimed.skipped {
            self.observer.skipped(entry);
        }
        Ok(Some((claimed.callbacks, endpoint)))
    }

    /// Asks for callback settings that this outbox lacks. After a failure the alarm asks again.
    async fn ask_for_settings(self: Rc<Self>, state: OutboxState) {
        let revision = state.current.map_or(0, |current| current.terms.revision);
        let asked = terms::learn_app(self.shell.storage(), &*self, state.shard, revision);
        let asked = panics_to_failure(asked).await;
        self.is_asking.set(false);
        match asked {
            Ok(()) => self.start_due(),
            Err(failure) => {
                platform::log::warn(
                    "outbox",
                    format_args!("the callback settings were not read from the catalog: {failure}"),
                );
                // A write that reported an error may have happened without an alarm for it.
                if let Err(failure) = panic_to_failure(|| self.arm()) {
                    platform::log::error("outbox", failure);
                }
            }
        }
    }

    /// Starts due callbacks within the concurrency limit. An object stays alive while it waits for a response, so these
    /// tasks need no request to keep them alive.
    pub(super) fn start_due(self: &Rc<Self>) {
        if self.shell.is_ready() && !self.has_started.get() {
            let first = self.shell.storage().query_integer(sql::FIRST_DUE, &[]);
            if first.is_ok_and(|first| first.is_some_and(|first| first <= self.now_ms())) {
                self.spawn(Rc::clone(self).start_due_later());
            }
            return;
        }
        let claimed = panic_to_failure(|| self.claim()).unwrap_or_else(|failure| {
            platform::log::error("outbox", failure);
            None
        });
        let Some((callbacks, endpoint)) = claimed else {
            return;
        };
        for callback in callbacks {
            self.observer.claimed(&callback);
            self.in_flight.set(self.in_flight.get().saturating_add(1));
            self.spawn(Rc::clone(self).deliver(callback, Rc::clone(&endpoint)));
        }
    }

    /// Like [`Self::start_due`], but first checks for a restore: callbacks that wait in a restored copy may have been
    /// sent before the restore.
    async fn start_due_later(self: Rc<Self>) {
        let started = panics_to_failure(async {
            let state = endpoint::read(self.shell.storage())?;
            match state {
                Some(state) => self.wait_for_start(state.shard, None).await.map(|()| true),
                None => Ok(false),
            }
        });
        match started.await {
            Ok(true) => self.start_due(),
            Ok(false) => {}
            Err(failure) => {
                platform::log::warn("outbox", format_args!("due callbacks could not be started, and wait: {failure}"))
            }
        }
    }

    /// Makes one attempt and then starts the callbacks that are due.
    async fn deliver(self: Rc<Self>, callback: ClaimedCallback, endpoint: Rc<Endpoint>) {
        let concluded = panics_to_failure(self.attempt(&callback, &endpoint)).await;
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        if let Err(failure) = concluded {
            // The claim expires, and the callback is attempted again.
            platform::log::error("outbox", failure);
        }
        self.start_due();
    }

    async fn attempt(self: &Rc<Self>, callback: &ClaimedCallback, endpoint: &Endpoint) -> Result {
        let call = self.sender.send(self.runtime(), endpoint, &callback.fields).await;
        let attempts_made = callback.attempts_made.saturating_add(1);
        let judgement = self.sender.judge(self.runtime(), attempts_made, &call)?;
        let db = self.shell.storage();
        let stored = deliveries::conclude(db, self.now_ms(), callback, &call, &judgement);
        let concluded = AttemptResult { callback, call: &call, judgement: &judgement, written: stored.is_ok() };
        self.observer.concluded(self.now_ms(), &concluded);
        stored?;
        if judgement.disables {
            self.spawn(
                Rc::clone(self)
                    .tell_disabled(Disabled { revision: callback.revision, enabled_ms: callback.enabled_ms }),
            );
        }
        if judgement.next == Next::Delivered {
            self.committed()
        } else {
            // The next attempt, or the next probe of a failing endpoint, may be due before the alarm.
            self.arm()
        }
    }

    /// Tells the app's other outboxes that the endpoint has disabled itself.
    async fn tell_disabled(self: Rc<Self>, disabled: Disabled) {
        if let Ok(Some(state)) = endpoint::read(self.shell.storage())
            && let Some(current) = &state.current
        {
            calls::tell_disabled(self.runtime(), state.shard, current.outbox_shards, disabled).await;
        }
    }
}
