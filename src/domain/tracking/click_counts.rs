//! Counts clicks in an isolate and numbers the batches for the counters (docs/DECISIONS.md, "Clicks"). A click is
//! counted after its request was answered. The counters apply each batch number once, so an unanswered batch can be
//! resent.
//!
//! This module keeps the sums and the batches in flight; `edge` sends them.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hash},
    rc::Rc,
};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use crate::model::{AppId, Country, OfferId, PublisherId, SECOND_MS, UtcDay, seeded_hash::SeededHasher};

/// The number of different sums at which a batch is sent at once, unless the counters are busy. Also the maximum number
/// of sums in the batch for one object. Batches should be few: a call costs the counters as much as several hundred
/// redirects.
const FULL_BATCH_SUMS: usize = 8_192;
/// How long a batch waits for more clicks: usually `INTERVAL_MS`, and up to `MAX_INTERVAL_MS` if the counters are busy.
const INTERVAL_MS: i64 = SECOND_MS;
const MAX_INTERVAL_MS: i64 = 10 * SECOND_MS;
/// If a batch is not sent this long after it was due, the next click sends it. The runtime may cancel the request that
/// opened the batch, and with it the request's timer.
const TAKEOVER_AFTER_MS: i64 = 2 * SECOND_MS;
/// The delay after which an unanswered batch is resent, even if the request that sent it was cancelled.
const LEASE_MS: i64 = 30 * SECOND_MS;
/// Maximum sums in an isolate, including those in flight. The limits bound memory while the counters are unreachable: a
/// sum takes about 200 bytes. At `COARSE_SUMS` or more, clicks are counted without placement and country. At
/// `MAX_SUMS`, clicks that need a new sum are not counted. Redirects continue.
const COARSE_SUMS: usize = 49_152;
const MAX_SUMS: usize = 65_536;

/// The number of clicks of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickSum {
    /// The owner of the app, whose ledger gets the sum.
    pub publisher: PublisherId,
    /// The UTC day of the clicks.
    pub day: UtcDay,
    /// The clicked offer.
    pub offer: OfferId,
    /// The app that was clicked in.
    pub app: AppId,
    /// The visitors' country. `None` if unknown, or if memory was nearly full.
    pub country: Option<Country>,
    /// The spot in the app. `None` if the links name none, or if memory was nearly full.
    pub placement: Option<String>,
    /// The number of clicks, at least 1.
    pub clicks: u32,
}

impl ClickSum {
    fn kind(&self) -> ClickKind<'_> {
        ClickKind {
            publisher: self.publisher.as_str(),
            day: self.day,
            offer: self.offer.as_str(),
            app: self.app,
            country: self.country,
            placement: self.placement.as_deref(),
        }
    }
}

/// The key of a [`ClickSum`]. It borrows from the click, since most clicks add to an existing sum. A click counts on
/// its own UTC day, no matter when its batch arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClickKind<'c> {
    /// The id of the app's owner, unparsed.
    pub publisher: &'c str,
    /// The UTC day of the click.
    pub day: UtcDay,
    /// The id of the clicked offer, unparsed.
    pub offer: &'c str,
    /// The app that was clicked in.
    pub app: AppId,
    /// The visitor's country; `None` if the network does not report it.
    pub country: Option<Country>,
    /// The spot in the app; `None` if the link names none.
    pub placement: Option<&'c str>,
}

impl ClickKind<'_> {
    /// The sum that a first click of its kind starts; `None` if an id is malformed.
    fn first(self) -> Option<ClickSum> {
        Some(ClickSum {
            publisher: PublisherId::parse(self.publisher)?,
            day: self.day,
            offer: OfferId::parse(self.offer)?,
            app: self.app,
            country: self.country,
            placement: self.placement.map(str::to_owned),
            clicks: 1,
        })
    }
}

/// Tells the request of a click whether it must send the open batch, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// No duty: another request will send the batch.
    None,
    /// Send the batch after the wait, unless another request has sent it by then. The wait is 0 if the batch is full,
    /// or if the request that opened the batch did not send it in time.
    Send {
        /// Milliseconds from now.
        wait_ms: i64,
        /// The number for [`ClickCounts::is_open`].
        batch: u64,
    },
}

/// A numbered batch for one counters object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of the counters object.
    pub object: u64,
    /// The batch's number in the isolate's sequence for this object, from 1.
    pub sequence: u64,
    /// Shared with the batch in flight, which may be resent.
    pub sums: Rc<Vec<ClickSum>>,
}

/// The clicks of one isolate that no counters object has confirmed.
#[derive(Debug)]
pub struct ClickCounts {
    /// Ordered, so that an object has about the same position in each round of batches.
    objects: BTreeMap<u64, ObjectCounts>,
    open: Option<OpenBatch>,
    /// Batches opened so far.
    opened: u64,
    interval_ms: i64,
    /// True if an object answered busy in this round of batches.
    is_busy: bool,
    /// The number of sums in memory, including those in flight.
    stored: usize,
    coarse: u64,
    dropped: u64,
}

/// The clicks since the last call of [`ClickCounts::take`].
#[derive(Clone, Copy, Debug)]
struct OpenBatch {
    opened_at_ms: i64,
    /// The number of different sums of all objects.
    sums: usize,
}

#[derive(Debug, Default)]
struct ObjectCounts {
    sums: HashTable<ClickSum>,
    /// Seeded, because users choose the placement.
    hasher: SeededHasher,
    in_flight: Option<InFlight>,
    last_sequence: u64,
}

#[derive(Debug)]
struct InFlight {
    batch: Batch,
    /// The batch is not resent before this time.
    lease_until_ms: i64,
}

impl Default for ClickCounts {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            open: None,
            opened: 0,
            interval_ms: INTERVAL_MS,
            is_busy: false,
            stored: 0,
            coarse: 0,
            dropped: 0,
        }
    }
}

impl ClickCounts {
    /// Counts a click. `object` is the number of its offer's counters object.
    pub fn add(&mut self, object: u64, kind: ClickKind<'_>, now_ms: i64) -> Duty {
        let is_new = self.store(object, kind);
        match &mut self.open {
            Some(open) => {
                let before = *open;
                open.sums += usize::from(is_new);
                if self.is_due(before, now_ms) { Duty::Send { wait_ms: 0, batch: self.opened } } else { Duty::None }
            }
            None => {
                self.opened += 1;
                self.open = Some(OpenBatch { opened_at_ms: now_ms, sums: usize::from(is_new) });
                Duty::Send { wait_ms: self.interval_ms, batch: self.opened }
            }
        }
    }

    /// True if the next click has to send the open batch.
    fn is_due(&self, open: OpenBatch, now_ms: i64) -> bool {
        let age_ms = now_ms.saturating_sub(open.opened_at_ms);
        let full = open.sums >= FULL_BATCH_SUMS && self.interval_ms == INTERVAL_MS;
        full || age_ms >= self.interval_ms + TAKEOVER_AFTER_MS
    }

    /// True if the batch with this number is still open. Then the request that has the duty must send it.
    pub fn is_open(&self, batch: u64) -> bool {
        self.open.is_some() && self.opened == batch
    }

    /// Adds a click to its sum. Returns whether the sum is new.
    fn store(&mut self, object: u64, mut kind: ClickKind<'_>) -> bool {
        if self.stored >= COARSE_SUMS {
            (kind.placement, kind.country) = (None, None);
            self.coarse += 1;
        }
        let ObjectCounts { sums, hasher, .. } = self.objects.entry(object).or_default();
        let hash = hasher.hash_one(kind);
        let is_same = |sum: &ClickSum| sum.kind() == kind;
        if let Some(sum) = sums.find_mut(hash, is_same) {
            sum.clicks = sum.clicks.saturating_add(1);
            return false;
        }
        let Some(sum) = kind.first().filter(|_| self.stored < MAX_SUMS) else {
            self.dropped += 1;
            return false;
        };
        sums.insert_unique(hash, sum, |sum| hasher.hash_one(sum.kind()));
        self.stored += 1;
        true
    }

    /// The batches to send now, in the order of their objects. An object has at most one batch in flight, so that its
    /// batch numbers arrive in order. Until the batch is confirmed, further clicks wait for the next batch.
    pub fn take(&mut self, now_ms: i64) -> Vec<Batch> {
        self.open = None;
        if !std::mem::take(&mut self.is_busy) {
            self.interval_ms = INTERVAL_MS;
        }
        let mut batches = Vec::new();
        for (&object, counts) in &mut self.objects {
            match &counts.in_flight {
                Some(sent) if sent.lease_until_ms > now_ms => continue,
                None if counts.sums.is_empty() => continue,
                _ => {}
            }
            let sent = counts.in_flight.get_or_insert_with(|| {
                counts.last_sequence += 1;
                let sums = counts.sums.extract_if(|_| true).take(FULL_BATCH_SUMS);
                InFlight {
                    batch: Batch { object, sequence: counts.last_sequence, sums: Rc::new(sums.collect()) },
                    lease_until_ms: now_ms,
                }
            });
            sent.lease_until_ms = now_ms + LEASE_MS;
            batches.push(sent.batch.clone());
        }
        batches
    }

    /// Records that the counters applied a batch.
    pub fn confirm(&mut self, object: u64, sequence: u64) {
        let Some(counts) = self.objects.get_mut(&object) else {
            return;
        };
        if let Some(sent) = counts.in_flight.take_if(|sent| sent.batch.sequence == sequence) {
            self.stored = self.stored.saturating_sub(sent.batch.sums.len());
        }
    }

    /// Records that a batch failed: the next [`Self::take`] resends it. The first busy answer of a round doubles the
    /// interval, and a round without a busy answer resets it.
    pub fn record_failure(&mut self, object: u64, sequence: u64, busy: bool, now_ms: i64) {
        if busy && !std::mem::replace(&mut self.is_busy, true) {
            self.interval_ms = (self.interval_ms * 2).min(MAX_INTERVAL_MS);
        }
        let in_flight = self.objects.get_mut(&object).and_then(|counts| counts.in_flight.as_mut());
        if let Some(sent) = in_flight.filter(|sent| sent.batch.sequence == sequence) {
            sent.lease_until_ms = now_ms;
        }
    }

    /// True if clicks are waiting and no request is scheduled to send them. This happens if an earlier batch for the
    /// same object was still in flight when [`Self::take`] was called.
    pub fn has_unscheduled(&self) -> bool {
        let has_unscheduled = |counts: &ObjectCounts| counts.in_flight.is_none() && !counts.sums.is_empty();
        self.open.is_none() && self.objects.values().any(has_unscheduled)
    }

    /// True if the counters have confirmed every click.
    pub fn is_empty(&self) -> bool {
        self.stored == 0
    }

    /// The current wait before a batch is sent, in milliseconds.
    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    /// The number of clicks that lost their placement and country, because memory was nearly full.
    pub fn coarse(&self) -> u64 {
        self.coarse
    }

    /// The number of clicks that were redirected but not counted, because memory was full or an id was malformed.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests;
