//! Counting clicks (docs/DECISIONS.md, "Clicks"). A click is answered first and counted after: clicks add up in the isolate as
//! sums, and the sums go to the counters in batches. A batch is numbered, and its number counts once however often it
//! arrives, so a batch whose answer was lost is simply sent again.
//!
//! This is the book of what is to be sent and what was; the shell does the sending.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::model::{
    AppId, Country, OfferId, PublisherId,
    seeded_hash::SeededMap,
    time::{SECOND_MS, UtcDay},
};

/// Clicks after which a batch is sent without waiting: what an isolate that ends can lose at most, beside a second's
/// worth. Sending costs as much as several hundred redirects, so it is not smaller.
const FULL: u64 = 2_000;
/// How long a batch waits for more clicks, and how far that grows while the counters are busy.
const INTERVAL_MS: i64 = SECOND_MS;
const LONGEST_INTERVAL_MS: i64 = 10 * SECOND_MS;
/// The request that opened a batch may have been cut off with its timer; then the next click takes the batch over.
const ADOPTED_AFTER_MS: i64 = 2 * SECOND_MS;
/// After this a batch without an answer counts as unanswered, also when nobody is left to say so.
const LEASE_MS: i64 = 30 * SECOND_MS;
/// Different sums an isolate keeps while the counters are out of reach. Beyond half of it clicks lose their placement
/// and country, and beyond all of it their count: memory is bounded, and redirects go on.
const MOST_SUMS: usize = 20_000;

/// What clicks are summed by. A click counts on its own UTC day, whenever its batch arrives.
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
        let Self {
            publisher,
            day,
            offer,
            app,
            country,
            placement,
        } = self;
        ClickSum {
            publisher,
            day,
            offer,
            app,
            country,
            placement,
            clicks,
        }
    }
}

/// How many clicks of one kind there were.
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

/// What the request of a click has to do about the batch it fell into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Nothing: another request will send it.
    None,
    /// Send after this many milliseconds.
    SendAfter(i64),
    /// Send at once: it is full, or its opener is gone.
    SendNow,
}

/// A batch to be sent to one counters object, by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub object: u64,
    pub sequence: u64,
    pub sums: Vec<ClickSum>,
}

/// The counts of one isolate that no counter has confirmed.
#[derive(Debug)]
pub struct ClickCounts {
    objects: HashMap<u64, Waiting>,
    /// Clicks since the last batch was taken, and when the first of them came.
    open: Option<(u64, i64)>,
    interval_ms: i64,
    kept: usize,
    dropped: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Users choose what a click carries.
    sums: SeededMap<ClickKind, u32>,
    sent: Option<Sent>,
    last_sequence: u64,
}

#[derive(Debug)]
struct Sent {
    sequence: u64,
    sums: Vec<ClickSum>,
    /// Until when its answer is awaited.
    lease_until_ms: i64,
}

impl Default for ClickCounts {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            open: None,
            interval_ms: INTERVAL_MS,
            kept: 0,
            dropped: 0,
        }
    }
}

impl ClickCounts {
    /// Whether a click at this time would fall into a batch that another request sends: [`Duty::None`].
    pub fn joins(&self, now_ms: i64) -> bool {
        self.open
            .is_some_and(|(clicks, opened_at_ms)| self.duty(clicks + 1, opened_at_ms, now_ms) == Duty::None)
    }

    /// Counts a click. `object` is the number of its offer's counters object.
    pub fn add(&mut self, object: u64, kind: ClickKind, now_ms: i64) -> Duty {
        self.keep(object, kind);
        match &mut self.open {
            None => {
                self.open = Some((1, now_ms));
                Duty::SendAfter(self.interval_ms)
            }
            Some((clicks, opened_at_ms)) => {
                *clicks += 1;
                let (clicks, opened_at_ms) = (*clicks, *opened_at_ms);
                self.duty(clicks, opened_at_ms, now_ms)
            }
        }
    }

    /// The duty of the click that makes an open batch hold so many.
    fn duty(&self, clicks: u64, opened_at_ms: i64, now_ms: i64) -> Duty {
        let age_ms = now_ms.saturating_sub(opened_at_ms);
        let full = clicks >= FULL && self.interval_ms == INTERVAL_MS;
        if full || age_ms >= self.interval_ms + ADOPTED_AFTER_MS {
            Duty::SendNow
        } else {
            Duty::None
        }
    }

    fn keep(&mut self, object: u64, mut kind: ClickKind) {
        if self.kept >= MOST_SUMS / 2 {
            (kind.placement, kind.country) = (None, None);
        }
        let waiting = self.objects.entry(object).or_default();
        match waiting.sums.get_mut(&kind) {
            Some(clicks) => *clicks = clicks.saturating_add(1),
            None if self.kept >= MOST_SUMS => self.dropped += 1,
            None => {
                waiting.sums.insert(kind, 1);
                self.kept += 1;
            }
        }
    }

    /// The batches that are due. An object has at most one on its way, so that its numbers arrive in order; what comes
    /// in meanwhile waits for the next.
    pub fn take(&mut self, now_ms: i64) -> Vec<Batch> {
        self.open = None;
        let mut batches = Vec::new();
        for (&object, waiting) in &mut self.objects {
            match &mut waiting.sent {
                Some(sent) if sent.lease_until_ms > now_ms => continue,
                Some(sent) => sent.lease_until_ms = now_ms + LEASE_MS,
                None if waiting.sums.is_empty() => continue,
                none => {
                    waiting.last_sequence += 1;
                    let sums = waiting
                        .sums
                        .drain()
                        .map(|(kind, clicks)| kind.sum(clicks))
                        .collect();
                    let lease_until_ms = now_ms + LEASE_MS;
                    *none = Some(Sent {
                        sequence: waiting.last_sequence,
                        sums,
                        lease_until_ms,
                    });
                }
            }
            if let Some(sent) = &waiting.sent {
                batches.push(Batch {
                    object,
                    sequence: sent.sequence,
                    sums: sent.sums.clone(),
                });
            }
        }
        batches
    }

    /// A batch has arrived.
    pub fn confirmed(&mut self, object: u64, sequence: u64) {
        self.interval_ms = INTERVAL_MS;
        let Some(waiting) = self.objects.get_mut(&object) else {
            return;
        };
        if let Some(sent) = waiting.sent.take_if(|sent| sent.sequence == sequence) {
            self.kept = self.kept.saturating_sub(sent.sums.len());
        }
    }

    /// A batch has no answer: it is sent again with the next. While the counters are busy the batches become fewer.
    pub fn unanswered(&mut self, object: u64, sequence: u64, busy: bool, now_ms: i64) {
        if busy {
            self.interval_ms = (self.interval_ms * 2).min(LONGEST_INTERVAL_MS);
        }
        let waiting = self
            .objects
            .get_mut(&object)
            .and_then(|waiting| waiting.sent.as_mut());
        if let Some(sent) = waiting.filter(|sent| sent.sequence == sequence) {
            sent.lease_until_ms = now_ms;
        }
    }

    /// Whether clicks wait that no request has to send: they came while their object's batch was on its way, and who was to
    /// send them found it so.
    pub fn is_left(&self) -> bool {
        let is_left = |waiting: &Waiting| waiting.sent.is_none() && !waiting.sums.is_empty();
        self.open.is_none() && self.objects.values().any(is_left)
    }

    /// Whether anything is still to be confirmed.
    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    /// Clicks that were redirected and could not be kept for counting.
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

    #[test]
    fn the_opener_sends_after_a_second_and_the_click_that_fills_a_batch_at_once() {
        let mut counts = ClickCounts::default();
        assert_eq!(counts.add(1, kind("a", None), 0), Duty::SendAfter(1_000));
        for _ in 2..FULL {
            assert_eq!(counts.add(1, kind("a", None), 10), Duty::None);
        }
        assert_eq!(counts.add(1, kind("a", None), 20), Duty::SendNow);
        let batches = counts.take(20);
        assert_eq!(
            batches
                .iter()
                .flat_map(|batch| &batch.sums)
                .map(|sum| sum.clicks)
                .sum::<u32>(),
            u32::try_from(FULL).unwrap()
        );
        assert_eq!(
            counts.add(1, kind("a", None), 30),
            Duty::SendAfter(1_000),
            "a new batch is open"
        );
    }

    #[test]
    fn a_batch_whose_opener_is_gone_is_adopted() {
        let mut counts = ClickCounts::default();
        counts.add(1, kind("a", None), 0);
        assert_eq!(counts.add(1, kind("a", None), 2_999), Duty::None);
        assert_eq!(counts.add(1, kind("a", None), 3_000), Duty::SendNow);
    }

    #[test]
    fn an_unanswered_batch_is_sent_again_under_its_number_and_unchanged() {
        let mut counts = ClickCounts::default();
        counts.add(1, kind("a", None), 0);
        let first = counts.take(0);
        counts.add(1, kind("a", None), 10);
        assert_eq!(counts.take(10), vec![], "one is on its way");
        counts.unanswered(1, 1, true, 20);
        assert_eq!(counts.take(20), first);
        assert_eq!(counts.interval_ms(), 2_000, "busy counters are asked less often");
        counts.confirmed(1, 1);
        assert_eq!(
            (
                counts.interval_ms(),
                counts.take(30).first().map(|batch| batch.sequence)
            ),
            (1_000, Some(2))
        );
    }

    #[test]
    fn clicks_that_came_while_a_batch_was_on_its_way_are_left_to_who_sent_it() {
        let mut counts = ClickCounts::default();
        counts.add(1, kind("a", None), 0);
        assert!(!counts.is_left(), "the opener sends it");
        counts.take(1_000);
        assert_eq!(counts.add(1, kind("a", None), 1_100), Duty::SendAfter(1_000));
        assert_eq!(counts.take(2_100), vec![], "one is on its way");
        assert!(!counts.is_left(), "who sends it goes on");
        counts.confirmed(1, 1);
        assert!(counts.is_left());
        // Another click has opened a batch, which takes them along.
        counts.add(2, kind("b", None), 2_200);
        assert!(!counts.is_left());
        assert_eq!(counts.take(3_200).len(), 2);
        assert!(!counts.is_left());
    }

    #[test]
    fn memory_is_bounded_while_the_counters_are_out_of_reach() {
        let mut counts = ClickCounts::default();
        for click in 0..60_000 {
            counts.add(
                1,
                kind(&format!("offer-{}", click % 30_000), Some(click.to_string())),
                0,
            );
        }
        assert_eq!(counts.kept, MOST_SUMS);
        let kept: u64 = counts
            .take(0)
            .iter()
            .flat_map(|batch| &batch.sums)
            .map(|sum| u64::from(sum.clicks))
            .sum();
        assert_eq!(kept + counts.dropped(), 60_000);
    }

    proptest! {
        /// Whatever is lost on the way, a counter that keeps the highest number it has seen ends with every click once.
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
                        *clicks += batch.sums.iter().map(|sum| u64::from(sum.clicks)).sum::<u64>();
                    }
                    if arrives && answered {
                        counts.confirmed(batch.object, batch.sequence);
                    } else {
                        counts.unanswered(batch.object, batch.sequence, false, now_ms);
                    }
                }
            };
            for (step, flag, offer) in steps {
                now_ms += 500;
                match step {
                    0 | 1 => {
                        clicked += 1;
                        let joins = counts.joins(now_ms);
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
