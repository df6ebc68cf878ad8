use proptest::prelude::*;

use super::*;

fn kind<'c>(offer: &'c str, placement: Option<&'c str>) -> ClickKind<'c> {
    ClickKind {
        publisher: "p",
        day: UtcDay::from_number(20_000).unwrap(),
        offer,
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

fn is_opener(duty: Duty) -> bool {
    matches!(duty, Duty::Send { wait_ms: 1_000, .. })
}

/// Counts clicks of as many kinds as make a batch full.
fn fill(counts: &mut ClickCounts, now_ms: i64) -> Vec<Duty> {
    let fill = 0..FULL_BATCH_SUMS;
    fill.map(|n| counts.add(1, kind("a", Some(&n.to_string())), now_ms)).collect()
}

#[test]
fn a_batch_is_sent_after_a_second_or_at_once_when_full() {
    let mut counts = ClickCounts::default();
    let (opener, others) = fill(&mut counts, 0).split_first().map(|(first, rest)| (*first, rest.to_vec())).unwrap();
    assert_eq!(opener, Duty::Send { wait_ms: 1_000, batch: 1 });
    assert!(others.iter().all(|duty| *duty == Duty::None));
    let at_once = |batch| Duty::Send { wait_ms: 0, batch };
    assert_eq!(counts.add(1, kind("a", Some("0")), 20), at_once(1));
    let clicks: u64 = counts.take(20).iter().map(clicks_in).sum();
    assert_eq!(clicks, FULL_BATCH_SUMS as u64 + 1);
    assert!(!counts.is_open(1), "its opener sends nothing any more");
    assert_eq!(click(&mut counts, 30), Duty::Send { wait_ms: 1_000, batch: 2 });
    assert!(counts.is_open(2) && !counts.is_open(1));
}

#[test]
fn many_clicks_of_few_kinds_are_one_batch_a_second() {
    let mut counts = ClickCounts::default();
    assert!(is_opener(click(&mut counts, 0)));
    for n in 0..100_000 {
        assert_eq!(click(&mut counts, n / 100), Duty::None);
    }
    assert_eq!(counts.stored, 1);
}

#[test]
fn the_next_click_sends_an_overdue_batch() {
    let mut counts = ClickCounts::default();
    click(&mut counts, 0);
    assert_eq!(click(&mut counts, 2_999), Duty::None);
    assert_eq!(click(&mut counts, 3_000), Duty::Send { wait_ms: 0, batch: 1 });
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
    assert_eq!(counts.take(30).first().map(|batch| batch.sequence), Some(2));
    assert_eq!(counts.interval_ms(), 1_000, "after a round without a busy answer");
}

#[test]
fn a_busy_object_slows_the_rounds_down_until_a_round_without_one() {
    let mut counts = ClickCounts::default();
    for (round, (first_is_busy, interval_ms)) in
        (1..).zip([(true, 2_000), (true, 4_000), (false, 4_000), (false, 1_000)])
    {
        for object in [1, 2] {
            counts.add(object, kind("a", None), 0);
        }
        assert_eq!(counts.take(0).len(), 2);
        if first_is_busy {
            counts.record_failure(1, 1, true, 0);
        } else {
            counts.confirm(1, round - 2);
        }
        counts.confirm(2, round);
        assert_eq!(counts.interval_ms(), interval_ms, "round {round}");
    }
}

#[test]
fn clicks_added_while_a_batch_is_in_flight_are_left_for_its_sender() {
    let mut counts = ClickCounts::default();
    click(&mut counts, 0);
    assert!(!counts.has_unscheduled(), "the opener sends it");
    counts.take(1_000);
    assert!(is_opener(click(&mut counts, 1_100)));
    assert_eq!(counts.take(2_100), vec![], "one is in flight");
    assert!(!counts.has_unscheduled(), "its request checks again later");
    counts.confirm(1, 1);
    assert!(counts.has_unscheduled());
    // Another click opens a batch, which includes the waiting clicks.
    counts.add(2, kind("b", None), 2_200);
    assert!(!counts.has_unscheduled());
    assert_eq!(counts.take(3_200).len(), 2);
    assert!(!counts.has_unscheduled());
}

#[test]
fn memory_is_bounded_while_the_counters_are_unreachable() {
    let mut counts = ClickCounts::default();
    for click in 0..200_000 {
        let offer = format!("offer-{}", click % 100_000);
        counts.add(1, kind(&offer, Some(&click.to_string())), 0);
    }
    assert_eq!(counts.stored, MAX_SUMS);
    let mut arrived = 0;
    while let Some(batch) = counts.take(0).first() {
        assert!(batch.sums.len() <= FULL_BATCH_SUMS);
        arrived += clicks_in(batch);
        counts.confirm(1, batch.sequence);
    }
    assert_eq!(arrived + counts.dropped(), 200_000);
    assert!(counts.is_empty());
}

/// 10,000 clicks per second, no two alike, while each object confirms a batch nearly a second after it was closed.
#[test]
fn a_minute_of_distinct_clicks_loses_nothing() {
    let mut counts = ClickCounts::default();
    let (mut in_flight, mut arrived) = (Vec::<(i64, Batch)>::new(), 0);
    let mut opened = None;
    let take = |counts: &mut ClickCounts, in_flight: &mut Vec<(i64, Batch)>, now_ms| {
        let batches = counts.take(now_ms);
        in_flight.extend(batches.into_iter().map(|batch| (now_ms + 900, batch)));
    };
    for click in 0..600_000_i64 {
        let now_ms = click / 10;
        in_flight.retain(|(at_ms, batch)| {
            if *at_ms <= now_ms {
                assert!(batch.sums.iter().all(|sum| sum.clicks == 1 && sum.placement.is_some()));
                arrived += clicks_in(batch);
                counts.confirm(batch.object, batch.sequence);
            }
            *at_ms > now_ms
        });
        if let Some((due_ms, _)) = opened.take_if(|(due_ms, batch)| *due_ms <= now_ms && counts.is_open(*batch)) {
            take(&mut counts, &mut in_flight, due_ms);
        }
        match counts.add(click as u64 % 8, kind("a", Some(&click.to_string())), now_ms) {
            Duty::None => {}
            Duty::Send { wait_ms: 0, .. } => take(&mut counts, &mut in_flight, now_ms),
            Duty::Send { wait_ms, batch } => opened = Some((now_ms + wait_ms, batch)),
        }
        assert!(counts.stored < COARSE_SUMS, "{} sums", counts.stored);
    }
    while counts.has_unscheduled() || !in_flight.is_empty() {
        for (_, batch) in in_flight.drain(..) {
            arrived += clicks_in(&batch);
            counts.confirm(batch.object, batch.sequence);
        }
        take(&mut counts, &mut in_flight, 70_000);
    }
    assert_eq!((arrived, counts.coarse(), counts.dropped()), (600_000, 0, 0));
}

proptest! {
    /// A counter that remembers the highest number it has seen counts every click once, even if messages are lost.
    #[test]
    fn every_click_arrives_once(steps in proptest::collection::vec((0..4_u8, any::<bool>(), 0..3_u64), 1..200)) {
        let mut counts = ClickCounts::default();
        let mut arrived: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
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
                    counts.add(offer, kind(&offer.to_string(), None), now_ms);
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
