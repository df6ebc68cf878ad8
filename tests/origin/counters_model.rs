//! `origin::objects::counters` against a naive model: any interleaving of takes, pushed limits, batches of clicks and
//! conversions, repeats, new days and sweeps, with random failing writes and a client that retries until answered.
//!
//! Checked: every answer to a take and the final counts equal the model's, and no cap exceeds the highest limit of its
//! day. Not checked: that a repeated batch whose answer was lost is answered "applied".

use contract::counters::{AddConversions, Flush, SetCap};
use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    counters::{NOON, fold, offer, stats, sum},
    dump, migrated, retry_until_answered,
    sqlite::{Fault, Faults},
};
use contract::{
    counters::{CapKind, Command, ConversionSum, Reply, Take, Taken},
    operation::{Applied, Mark},
};
use domain::model::time::{DAY_MS, UtcDay};
use origin::objects::counters::{self, MIGRATIONS, TakenCounts, log};

const OFFERS: [&str; 2] = ["o", "p"];

#[derive(Clone, Debug)]
enum Op {
    Take {
        kind: CapKind,
        offer: usize,
        key: u8,
        age: i32,
        limit: u32,
        revision: i64,
    },
    SetLimit {
        offer: usize,
        limit: Option<u32>,
        revision: i64,
    },
    Flush {
        isolate: u8,
        ahead: u64,
        offer: usize,
        age: i32,
        clicks: u32,
    },
    /// `ahead` means the same as in a flush.
    Pay {
        outbox: u8,
        ahead: u64,
        offer: usize,
        age: i32,
        conversions: i64,
    },
    Days(i64),
    /// A process ends, and with it what it had counted.
    Restart,
    Sweep,
}

fn ops() -> impl Strategy<Value = Vec<(Op, Vec<Option<Fault>>)>> {
    let kind = prop_oneof![Just(CapKind::Click), Just(CapKind::Conversion)];
    let op = prop_oneof![
        12 => (kind, 0..2_usize, 0..8_u8, 0..3_i32, 0..5_u32, 0..4_i64).prop_map(
            |(kind, offer, key, age, limit, revision)| Op::Take { kind, offer, key, age, limit, revision }
        ),
        2 => (0..2_usize, proptest::option::of(0..5_u32), 0..6_i64)
            .prop_map(|(offer, limit, revision)| Op::SetLimit { offer, limit, revision }),
        4 => (0..2_u8, 0..3_u64, 0..2_usize, 0..3_i32, 1..100_u32)
            .prop_map(|(isolate, ahead, offer, age, clicks)| Op::Flush { isolate, ahead, offer, age, clicks }),
        4 => (0..2_u8, 0..3_u64, 0..2_usize, 0..3_i32, -3..4_i64)
            .prop_map(|(outbox, ahead, offer, age, conversions)| Op::Pay { outbox, ahead, offer, age, conversions }),
        2 => prop_oneof![Just(1_i64), Just(2), Just(8), Just(29), Just(41)].prop_map(Op::Days),
        1 => Just(Op::Restart),
        1 => Just(Op::Sweep),
    ];
    let fault = prop_oneof![6 => Just(None), 1 => Just(Some(Fault::Before)), 1 => Just(Some(Fault::After))];
    proptest::collection::vec((op, proptest::collection::vec(fault, 0..8)), 1..60)
}

#[derive(Default)]
struct Model {
    takes: BTreeMap<(CapKind, i64, String), u32>,
    limits: BTreeMap<(CapKind, usize), (i64, Option<u32>)>,
    taken: BTreeMap<(CapKind, i64, usize), u32>,
    highest_limit: BTreeMap<(CapKind, i64, usize), u32>,
    /// Each isolate's last sequence, and the day of its last batch.
    marks: BTreeMap<u8, (u64, i64)>,
    swept: Option<i64>,
    clicks: BTreeMap<(i64, usize), u64>,
    /// The highest batch of each outbox. It never expires.
    sources: BTreeMap<u8, i64>,
    conversions: BTreeMap<(i64, usize), i64>,
    /// Clicks of the log by the day on which they came.
    logged: Vec<(i64, u64)>,
}

/// Micro-USD for each conversion.
const PAYOUT: i64 = 250_000;

impl Model {
    fn apply_limit(&mut self, kind: CapKind, offer: usize, limit: Option<u32>, revision: i64) {
        let known = self.limits.entry((kind, offer)).or_insert((revision, limit));
        if revision > known.0 {
            *known = (revision, limit);
        }
    }

    fn take(&mut self, kind: CapKind, offer: usize, key: String, day: i64, today: i64) -> Taken {
        let limit = self.limits[&(kind, offer)].1.unwrap_or(u32::MAX);
        let highest = self.highest_limit.entry((kind, day, offer)).or_default();
        *highest = limit.max(*highest);
        if let Some(&left) = self.takes.get(&(kind, day, key.clone())) {
            return Taken { taken: true, left };
        }
        let retention_days = if kind == CapKind::Click { 2 } else { 30 };
        let taken = self.taken.entry((kind, day, offer)).or_default();
        if today - day >= retention_days || *taken >= limit {
            return Taken { taken: false, left: 0 };
        }
        *taken += 1;
        let left = limit - *taken;
        self.takes.insert((kind, day, key), left);
        Taken { taken: true, left }
    }

    /// Once a UTC day.
    fn sweep(&mut self, now_ms: i64) {
        let today = UtcDay::of_ms(now_ms).number();
        if self.swept.replace(today) == Some(today) {
            return;
        }
        self.takes.retain(|(kind, day, _), _| today - day < if *kind == CapKind::Click { 2 } else { 30 });
        self.taken.retain(|(_, day, _), _| today - day < 40);
        self.clicks.retain(|(day, _), _| today - day < 40);
        self.conversions.retain(|(day, _), _| today - day < 40);
        self.marks.retain(|_, (_, seen_day)| today - *seen_day <= 7);
        self.logged.retain(|(day, _)| today - *day <= 31);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_counters_behave_like_the_model(ops in ops()) {
        let db = migrated(MIGRATIONS);
        let mut model = Model::default();
        let mut now_ms = NOON;
        let mut counts = TakenCounts::default();
        for (op, faults) in ops {
            let today = UtcDay::of_ms(now_ms);
            db.inject(Faults::script(faults));
            let ask = |command: Command| retry_until_answered(|| counters::handle(&db, &counts, now_ms, command.clone()));
            match op {
                Op::Take { kind, offer: n, key, age, limit, revision } => {
                    let (key, day) = (format!("{n}-{key}"), today.minus(age));
                    let command = Take { kind, key: key.clone(), offer: offer(OFFERS[n]), day, limit, revision, by_force: false, asker: None };
                    let Reply::Taken(answer) = ask(Command::Take(command)) else { panic!("unexpected reply") };
                    model.apply_limit(kind, n, Some(limit), revision);
                    prop_assert_eq!(answer, model.take(kind, n, key, day.number(), today.number()));
                }
                Op::SetLimit { offer: n, limit, revision } => {
                    let (offer, source) = (offer(OFFERS[n]), "outbox-1".into());
                    ask(Command::SetCap(SetCap { offer, limit, revision, day: today, source, uncapped: 0 }));
                    model.apply_limit(CapKind::Conversion, n, limit, revision);
                }
                Op::Flush { isolate, ahead, offer: n, age, clicks } => {
                    // `ahead` 0 repeats a batch; a gap is a batch that never arrived.
                    let mark = model.marks.get(&isolate).map_or(0, |mark| mark.0);
                    let sequence = mark + ahead;
                    let day = today.minus(age);
                    let is_new = !model.marks.contains_key(&isolate) || ahead > 0;
                    let sums = vec![sum(OFFERS[n], day, clicks), sum(OFFERS[n], day, 1)];
                    let reply = ask(Command::Flush(Flush { isolate: format!("i{isolate}"), sequence, sums: sums.into() }));
                    let Reply::Applied(Applied { applied }) = reply else { panic!("unexpected reply") };
                    prop_assert!(is_new || !applied, "a repeat was applied");
                    if is_new {
                        model.marks.insert(isolate, (sequence, UtcDay::of_ms(now_ms).number()));
                        *model.clicks.entry((day.number(), n)).or_default() += u64::from(clicks) + 1;
                        model.logged.push((today.number(), u64::from(clicks) + 1));
                        retry_until_answered(|| fold(&db, now_ms));
                    }
                }
                Op::Pay { outbox, ahead, offer: n, age, conversions } => {
                    let number = model.sources.get(&outbox).copied().unwrap_or(0);
                    let after = number + i64::try_from(ahead).unwrap() - 1;
                    let day = today.minus(age);
                    let is_new = after == number;
                    let halves = [conversions, 1].map(|conversions| ConversionSum {
                        day,
                        offer: offer(OFFERS[n]),
                        conversions,
                        payout_micro_usd: conversions * PAYOUT,
                    });
                    let source = format!("outbox-{outbox}");
                    let reply = ask(Command::AddConversions(AddConversions { source, after, number: after + 1, sums: halves.to_vec(), refilled_ms: 0 }));
                    let Reply::Mark(Mark { mark }) = reply else { panic!("unexpected reply") };
                    prop_assert_eq!(mark, number + i64::from(is_new), "only what begins at the mark is applied");
                    if is_new {
                        model.sources.insert(outbox, mark);
                        *model.conversions.entry((day.number(), n)).or_default() += conversions + 1;
                    }
                }
                Op::Days(days) => now_ms += days * DAY_MS,
                Op::Restart => counts = TakenCounts::default(),
                Op::Sweep => {
                    let at_once = |_: &u32| retry_until_answered(|| counters::alarm(&db, now_ms)) == Some(now_ms);
                    prop_assert!((0..100).take_while(at_once).count() < 100, "the sweep does not end");
                    model.sweep(now_ms);
                }
            }
        }
        db.inject(Faults::none());

        for (cap, taken) in &model.taken {
            let highest = model.highest_limit[cap];
            prop_assert!(*taken <= highest, "{:?}: {} of {}", cap, taken, highest);
        }
        let today = UtcDay::of_ms(now_ms).number();
        for stats in stats(&db, now_ms) {
            let n = OFFERS.iter().position(|id| *id == stats.offer.as_str()).unwrap();
            let clicks: u64 = (today - 29..=today).filter_map(|day| model.clicks.get(&(day, n))).sum();
            prop_assert_eq!(stats.clicks, clicks);
            let conversions: i64 = (today - 29..=today).filter_map(|day| model.conversions.get(&(day, n))).sum();
            prop_assert_eq!(stats.conversions, u64::try_from(conversions.max(0)).unwrap());
            prop_assert_eq!(stats.payout_micro_usd, conversions.max(0) * PAYOUT);
            let taken = |kind| model.taken.get(&(kind, today, n)).copied().unwrap_or(0);
            prop_assert_eq!((stats.clicks_taken, stats.conversions_taken), (taken(CapKind::Click), taken(CapKind::Conversion)));
        }
        let rows = |table: &str| dump(&db, table);
        let mut logged = 0;
        log::each(&db, 0, None, &mut |sum| logged += u64::try_from(sum.clicks).unwrap()).unwrap();
        prop_assert_eq!(logged, model.logged.iter().map(|(_, clicks)| clicks).sum::<u64>());
        let clicks: i64 = rows("daily").iter().map(|row| row.integer(2).unwrap()).sum();
        prop_assert_eq!(u64::try_from(clicks).unwrap(), model.clicks.values().sum::<u64>());
        let conversions: i64 = rows("daily").iter().map(|row| row.integer(3).unwrap()).sum();
        prop_assert_eq!(conversions, model.conversions.values().sum::<i64>());
        prop_assert_eq!(rows("sources").len(), model.sources.len());
        prop_assert_eq!(rows("takes").len(), model.takes.len());
        prop_assert_eq!(rows("marks").len(), model.marks.len());
    }
}
