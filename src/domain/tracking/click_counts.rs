//! Counts clicks in an isolate and numbers the batches for the counters (docs/DECISIONS.md, "Clicks"). A click is
//! counted after it was answered. The counters apply each batch number once, so an unanswered batch is sent again.
//!
//! This module keeps the sums and the batches in flight; `edge` sends them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::model::{
    AppId, Country, OfferId, PublisherId,
    seeded_hash::SeededMap,
    time::{SECOND_MS, UtcDay},
};

/// Clicks after which a batch is sent at once. An isolate that ends loses at most these and a second's worth. Sending a
/// batch costs as much as several hundred redirects, so the number is not smaller.
const FULL_BATCH_CLICKS: u64 = 2_000;
/// How long a batch waits for more clicks, and the most this grows to while the counters are busy.
const INTERVAL_MS: i64 = SECOND_MS;
const MAX_INTERVAL_MS: i64 = 10 * SECOND_MS;
/// The runtime may cancel the request that opened a batch together with its timer. This long after the batch was due,
/// the next click sends it.
const TAKEOVER_AFTER_MS: i64 = 2 * SECOND_MS;
/// A batch without an answer is sent again after this, also if the request that sent it was cancelled.
const LEASE_MS: i64 = 30 * SECOND_MS;
/// The most sums in an isolate. Bounds its memory while the counters are unreachable. Beyond half of it new clicks lose
/// their placement and country, and beyond all of it their count. Redirects go on.
const MAX_SUMS: usize = 20_000;

/// The key that clicks are summed by. A click counts on its own UTC day, whenever its batch arrives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClickKind {
    pub publisher: PublisherId,
    pub day: UtcDay,
    pub offer: OfferId,
    pub app: AppId,
    pub country: Option<Country>,
    pub placement: Option<String>,
}

impl ClickKind {
    fn sum(self, clicks: u32) -> ClickSum {
        ClickSum {
            publisher: self.publisher,
            day: self.day,
            offer: self.offer,
            app: self.app,
            country: self.country,
            placement: self.placement,
            clicks,
        }
    }
}

/// The number of clicks of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickSum {
    pub publisher: PublisherId,
    pub day: UtcDay,
    pub offer: OfferId,
    pub app: AppId,
    pub country: Option<Country>,
    pub placement: Option<String>,
    pub clicks: u32,
}

/// The part of a click's request in sending the open batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Nothing: another request will send it.
    None,
    /// Send after this many milliseconds.
    SendAfter(i64),
    /// Send at once: the batch is full, or the request that opened it did not send it.
    SendNow,
}

/// A numbered batch for one counters object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of the counters object.
    pub object: u64,
    /// The batch's number in the isolate's sequence for this object, from 1.
    pub sequence: u64,
    pub sums: Vec<ClickSum>,
}

/// The clicks of one isolate that no counters object has confirmed.
#[derive(Debug)]
pub struct ClickCounts {
    objects: HashMap<u64, ObjectCounts>,
    /// Clicks since the last call of [`Self::take`], and the time of the first of them.
    open: Option<(u64, i64)>,
    interval_ms: i64,
    /// Sums in memory, with those in flight.
    stored: usize,
    dropped: u64,
}

#[derive(Debug, Default)]
struct ObjectCounts {
    /// Seeded, because users choose the placement.
    sums: SeededMap<ClickKind, u32>,
    in_flight: Option<InFlight>,
    last_sequence: u64,
}

#[derive(Debug)]
struct InFlight {
    batch: Batch,
    /// Not sent again before this time.
    lease_until_ms: i64,
}

impl Default for ClickCounts {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            open: None,
            interval_ms: INTERVAL_MS,
            stored: 0,
            dropped: 0,
        }
    }
}

impl ClickCounts {
    /// Whether [`Self::add`] would return [`Duty::None`] at this time: another request sends the open batch.
    pub fn joins_open_batch(&self, now_ms: i64) -> bool {
        self.open
            .is_some_and(|(clicks, opened_at_ms)| self.duty(clicks + 1, opened_at_ms, now_ms) == Duty::None)
    }

    /// Counts a click. `object` is the number of its offer's counters object.
    pub fn add(&mut self, object: u64, kind: ClickKind, now_ms: i64) -> Duty {
        self.store(object, kind);
        let Some((clicks, opened_at_ms)) = self.open else {
            self.open = Some((1, now_ms));
            return Duty::SendAfter(self.interval_ms);
        };
        self.open = Some((clicks + 1, opened_at_ms));
        self.duty(clicks + 1, opened_at_ms, now_ms)
    }

    /// The duty of the click that brings the open batch to `clicks`.
    fn duty(&self, clicks: u64, opened_at_ms: i64, now_ms: i64) -> Duty {
        let age_ms = now_ms.saturating_sub(opened_at_ms);
        let full = clicks >= FULL_BATCH_CLICKS && self.interval_ms == INTERVAL_MS;
        if full || age_ms >= self.interval_ms + TAKEOVER_AFTER_MS {
            Duty::SendNow
        } else {
            Duty::None
        }
    }

    fn store(&mut self, object: u64, mut kind: ClickKind) {
        if self.stored >= MAX_SUMS / 2 {
            (kind.placement, kind.country) = (None, None);
        }
        let counts = self.objects.entry(object).or_default();
        match counts.sums.get_mut(&kind) {
            Some(clicks) => *clicks = clicks.saturating_add(1),
            None if self.stored >= MAX_SUMS => self.dropped += 1,
            None => {
                counts.sums.insert(kind, 1);
                self.stored += 1;
            }
        }
    }

    /// The batches to send now. An object has at most one batch in flight, so that its numbers arrive in order; clicks
    /// that come meanwhile wait for the next one.
    pub fn take(&mut self, now_ms: i64) -> Vec<Batch> {
        self.open = None;
        let mut batches = Vec::new();
        for (&object, counts) in &mut self.objects {
            match &counts.in_flight {
                Some(sent) if sent.lease_until_ms > now_ms => continue,
                None if counts.sums.is_empty() => continue,
                _ => {}
            }
            let sent = counts.in_flight.get_or_insert_with(|| {
                counts.last_sequence += 1;
                let sums = counts.sums.drain();
                InFlight {
                    batch: Batch {
                        object,
                        sequence: counts.last_sequence,
                        sums: sums.map(|(kind, clicks)| kind.sum(clicks)).collect(),
                    },
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
        self.interval_ms = INTERVAL_MS;
        let Some(counts) = self.objects.get_mut(&object) else {
            return;
        };
        if let Some(sent) = counts.in_flight.take_if(|sent| sent.batch.sequence == sequence) {
            self.stored = self.stored.saturating_sub(sent.batch.sums.len());
        }
    }

    /// Records that a batch failed: the next [`Self::take`] sends it again. A busy answer doubles the interval.
    pub fn record_failure(&mut self, object: u64, sequence: u64, busy: bool, now_ms: i64) {
        if busy {
            self.interval_ms = (self.interval_ms * 2).min(MAX_INTERVAL_MS);
        }
        let in_flight = self
            .objects
            .get_mut(&object)
            .and_then(|counts| counts.in_flight.as_mut());
        if let Some(sent) = in_flight.filter(|sent| sent.batch.sequence == sequence) {
            sent.lease_until_ms = now_ms;
        }
    }

    /// Whether clicks wait that no request is due to send. Their object's batch was in flight when their own request
    /// called [`Self::take`].
    pub fn has_unscheduled(&self) -> bool {
        let has_unscheduled = |counts: &ObjectCounts| counts.in_flight.is_none() && !counts.sums.is_empty();
        self.open.is_none() && self.objects.values().any(has_unscheduled)
    }

    /// Whether the counters have confirmed every click.
    pub fn is_empty(&self) -> bool {
        self.stored == 0
    }

    /// The current wait before a batch is sent, in milliseconds.
    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    /// Clicks that were redirected but not counted, because memory was full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(offer: &str, placement: Option<String>) -> ClickKind {
        ClickKind {
            publisher: PublisherId::parse("p").unwrap(),
            day: UtcDay::from_number(20_000).unwrap(),
            offer: OfferId::parse(offer).unwrap(),
            app: AppId::from_number(10_000_001).unwrap(),
            country: None,
            placement,
        }
    }

    /// Counts a click on one offer.
    fn click(counts: &mut ClickCounts, now_ms: i64) -> Duty {
        counts.add(1, kind("a", None), now_ms)
    }

    fn clicks_in(batch: &Batch) -> u64 {
        batch.sums.iter().map(|sum| u64::from(sum.clicks)).sum()
    }

    #[test]
    fn a_batch_is_sent_after_a_second_or_at_once_when_full() {
        let mut counts = ClickCounts::default();
        assert_eq!(click(&mut counts, 0), Duty::SendAfter(1_000));
        for _ in 2..FULL_BATCH_CLICKS {
            assert_eq!(click(&mut counts, 10), Duty::None);
        }
        assert_eq!(click(&mut counts, 20), Duty::SendNow);
        let clicks: u64 = counts.take(20).iter().map(clicks_in).sum();
        assert_eq!(clicks, FULL_BATCH_CLICKS);
        let opener = click(&mut counts, 30);
        assert_eq!(opener, Duty::SendAfter(1_000), "a new batch is open");
    }

    #[test]
    fn the_next_click_sends_an_overdue_batch() {
        let mut counts = ClickCounts::default();
        click(&mut counts, 0);
        assert_eq!(click(&mut counts, 2_999), Duty::None);
        assert_eq!(click(&mut counts, 3_000), Duty::SendNow);
    }

    #[test]
    fn an_unanswered_batch_is_sent_again_unchanged_with_its_number() {
        let mut counts = ClickCounts::default();
        click(&mut counts, 0);
        let first = counts.take(0);
        click(&mut counts, 10);
        assert_eq!(counts.take(10), vec![], "one is in flight");
        counts.record_failure(1, 1, true, 20);
        assert_eq!(counts.take(20), first);
        assert_eq!(counts.interval_ms(), 2_000, "busy counters get fewer batches");
        counts.confirm(1, 1);
        assert_eq!(counts.interval_ms(), 1_000);
        assert_eq!(counts.take(30).first().map(|batch| batch.sequence), Some(2));
    }

    #[test]
    fn clicks_added_while_a_batch_is_in_flight_are_left_for_its_sender() {
        let mut counts = ClickCounts::default();
        click(&mut counts, 0);
        assert!(!counts.has_unscheduled(), "the opener sends it");
        counts.take(1_000);
        assert_eq!(click(&mut counts, 1_100), Duty::SendAfter(1_000));
        assert_eq!(counts.take(2_100), vec![], "one is in flight");
        assert!(!counts.has_unscheduled(), "its request checks again later");
        counts.confirm(1, 1);
        assert!(counts.has_unscheduled());
        // Another click opens a batch, which includes them.
        counts.add(2, kind("b", None), 2_200);
        assert!(!counts.has_unscheduled());
        assert_eq!(counts.take(3_200).len(), 2);
        assert!(!counts.has_unscheduled());
    }

    #[test]
    fn memory_is_bounded_while_the_counters_are_unreachable() {
        let mut counts = ClickCounts::default();
        for click in 0..60_000 {
            let offer = format!("offer-{}", click % 30_000);
            counts.add(1, kind(&offer, Some(click.to_string())), 0);
        }
        assert_eq!(counts.stored, MAX_SUMS);
        let stored: u64 = counts.take(0).iter().map(clicks_in).sum();
        assert_eq!(stored + counts.dropped(), 60_000);
    }

    proptest! {
        /// A counter that keeps the highest number it has seen ends with every click once, also if requests or answers
        /// are lost.
        #[test]
        fn every_click_arrives_once(steps in proptest::collection::vec((0..4_u8, any::<bool>(), 0..3_u64), 1..200)) {
            let mut counts = ClickCounts::default();
            let mut arrived: HashMap<u64, (u64, u64)> = HashMap::new();
            let (mut clicked, mut now_ms) = (0_u64, 0);
            let mut deliver = |counts: &mut ClickCounts, now_ms, arrives: bool, answered: bool| {
                for batch in counts.take(now_ms) {
                    let (mark, clicks) = arrived.entry(batch.object).or_default();
                    if arrives && batch.sequence > *mark {
                        *mark = batch.sequence;
                        *clicks += clicks_in(&batch);
                    }
                    if arrives && answered {
                        counts.confirm(batch.object, batch.sequence);
                    } else {
                        counts.record_failure(batch.object, batch.sequence, false, now_ms);
                    }
                }
            };
            for (step, flag, offer) in steps {
                now_ms += 500;
                match step {
                    0 | 1 => {
                        clicked += 1;
                        let joins = counts.joins_open_batch(now_ms);
                        let duty = counts.add(offer, kind(&offer.to_string(), None), now_ms);
                        prop_assert_eq!(joins, duty == Duty::None);
                    }
                    2 => deliver(&mut counts, now_ms, flag, true),
                    _ => deliver(&mut counts, now_ms, true, flag),
                }
            }
            deliver(&mut counts, now_ms, true, true);
            deliver(&mut counts, now_ms, true, true);
            prop_assert!(counts.is_empty());
            prop_assert_eq!(arrived.values().map(|(_, clicks)| clicks).sum::<u64>(), clicked);
        }
    }
}
