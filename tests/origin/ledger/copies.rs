//! A copy of the reports equals a full pull, although it reads only those days again that are not final or that the
//! feed names, whatever changes and however far back the ledger is put.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{restored::World, *};
use crate::now;
use contract::ledger::{AddOffers, DayChange, DayChanges, ListDayChanges, OfferSum, ReadMark, Reply, Target, Vouch};
use domain::model::{
    AppId, OfferId,
    time::{HOUR_MS, SECOND_MS},
};

/// Days that a copy reads again each day without a feed.
const BLIND: usize = 30;
const SOURCES: [&str; 2] = ["counters-1", "outbox-10000001-0"];

/// The sums that a source has sent or will send.
#[derive(Default)]
struct Source {
    /// Each sum has the number of its place, from 1.
    log: Vec<OfferSum>,
}

/// The sums of an app on a day.
type Totals = BTreeMap<(UtcDay, String), Sums>;

/// A reader's copy.
#[derive(Default)]
struct Copy {
    rows: Rows,
    cursor: i64,
    final_through: Option<UtcDay>,
    /// Each app's sums of a final day when it was first read, plus the changes from the feed.
    told: Totals,
    told_days: BTreeSet<UtcDay>,
    days_read: usize,
}

fn add_sums(to: &mut Totals, day: UtcDay, app: &str, sums: &Sums, sign: i64) {
    let total = to.entry((day, app.to_owned())).or_default();
    total.iter_mut().zip(sums).for_each(|(to, sum)| *to += sign * sum);
}

/// All rows of all days.
fn pulled(db: &Sqlite) -> Rows {
    let mut rows = Rows::new();
    for first in (0..200).step_by(90) {
        rows.extend(reported_between(db, day(first), day(first + 89)));
    }
    rows
}

impl Copy {
    fn read_feed(&mut self, world: &World, limit: u32) -> Vec<DayChange> {
        let mut read = Vec::new();
        loop {
            let list = ListDayChanges { after: self.cursor, limit, before: None };
            let Ok(Reply::DayChanges(page)) = world.send(list) else {
                panic!("no changes");
            };
            let DayChanges { changes, has_more, final_through } = page;
            self.final_through = final_through;
            self.cursor = changes.last().map_or(self.cursor, |last| last.number);
            read.extend(changes);
            if !has_more {
                return read;
            }
        }
    }

    fn first_open(&self) -> UtcDay {
        self.final_through.map_or(day(0), |day| day.minus(-1))
    }

    fn update(&mut self, world: &World, today: UtcDay) {
        let was_open = self.first_open();
        let changes = self.read_feed(world, 3);
        let mut again: BTreeSet<UtcDay> = changes.iter().map(|change| change.day).collect();
        let first_open = self.first_open();
        // Reads the days that were not final at the last reading, or are not now. A new copy begins with everything.
        let from = was_open.min(first_open).number();
        again.extend((from..=today.number()).filter_map(UtcDay::from_number));
        for day in &again {
            self.rows.retain(|(of, _), _| of != day);
            self.rows.extend(reported_between(&world.db, *day, *day));
        }
        self.days_read += again.len();
        for change in &changes {
            if self.told_days.contains(&change.day) {
                add_sums(&mut self.told, change.day, &change.app, &change.before, -1);
                add_sums(&mut self.told, change.day, &change.app, &change.after, 1);
            }
        }
        // A day that is no longer final starts over.
        self.told_days.retain(|day| *day < first_open);
        self.told.retain(|(day, _), _| *day < first_open);
        for ((day, [app, ..]), sums) in &self.rows {
            if *day < first_open && !self.told_days.contains(day) {
                add_sums(&mut self.told, *day, app, sums, 1);
            }
        }
        self.told_days.extend((0..first_open.number() - day(0).number()).map(day));
    }

    fn check(&self, world: &World) {
        let all = pulled(&world.db);
        assert_eq!(self.rows, all);
        let mut totals = Totals::new();
        for ((day, [app, ..]), sums) in &all {
            if self.told_days.contains(day) {
                add_sums(&mut totals, *day, app, sums, 1);
            }
        }
        let is_something = |(_, sums): &(&(UtcDay, String), &Sums)| sums.iter().any(|sum| *sum != 0);
        assert!(self.told.iter().filter(is_something).eq(totals.iter().filter(is_something)));
    }
}

/// The rows of an upload, which differ with `n`.
fn rows(of: UtcDay, n: u64) -> String {
    let row = |app: u64| {
        let country = ["DE", "US"][((n + app) % 2) as usize];
        format!("{of},1000000{},{country},p,banner,house,7.0.0,9,8,7,6,{}.25\n", app % 3, (n + app) % 7)
    };
    (0..1 + n % 3).map(row).collect()
}

impl Source {
    /// Sends what the ledger's mark lacks.
    fn send(&self, world: &World, name: &str) {
        let Ok(Reply::Mark(known)) = world.send(ReadMark { source: name.into(), known: 0 }) else {
            panic!("no mark");
        };
        let number = self.log.len() as i64;
        if known.mark < number {
            let sums = self.log.iter().skip(known.mark as usize).cloned().collect();
            let batch = AddOffers { source: name.into(), after: known.mark, number, sums };
            world.send(batch).unwrap();
        }
    }

    fn vouch(&self, world: &World, name: &str, of: UtcDay) {
        let sums = || self.log.iter().filter(|sum| sum.day == of);
        let vouch = Vouch {
            source: name.into(),
            day: of,
            number: self.log.len() as i64,
            clicks: sums().map(|sum| sum.clicks as i64).sum(),
            revenue_micro_usd: sums().map(|sum| sum.revenue_micro_usd).sum(),
        };
        world.send(vouch).unwrap();
    }
}

/// Splitmix64's last step, which spreads a number over all bits.
fn hash(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// Returns how many days the copy has read, and how often the feed told it something.
fn simulate(days: i64, choices: &[u64], restores: &[(i64, i64)]) -> (usize, usize) {
    let mut world = World::new();
    let mut copy = Copy::default();
    let mut sources = [(); 2].map(|()| Source::default());
    let mut states: Vec<Sqlite> = Vec::new();
    let mut to_load: BTreeSet<UtcDay> = BTreeSet::new();
    let mut loads = 0_u64;
    let mut told = 0;
    let mut chosen = choices.iter().copied().cycle().zip(0_u64..).map(|(choice, n)| hash(choice ^ n));
    let mut choose = |below: u64| chosen.next().unwrap_or(0) % below;
    for n in 1..days {
        let (today, yesterday) = (day(n), day(n - 1));
        world.now_ms.set(world.now_ms.get().max(today.start_ms() + 3 * HOUR_MS));
        let pass = |ms: i64| world.now_ms.set(world.now_ms.get() + ms);
        states.push(world.db.copy());
        // Clicks and rewards of today and yesterday, some of days long ago, and reversals.
        for (at, source) in sources.iter_mut().enumerate() {
            for _ in 0..2 + choose(2) {
                let ago = if choose(120) == 0 { choose(25) as i64 } else { choose(2) as i64 };
                let is_outbox = at == 1;
                source.log.push(OfferSum {
                    day: day((n - ago).max(0)),
                    app: AppId::parse(["10000001", "10000002"][choose(2) as usize]).unwrap(),
                    offer: OfferId::parse("o-1").unwrap(),
                    country: None,
                    placement: None,
                    clicks: if is_outbox { 0 } else { 1 + choose(5) },
                    revenue_micro_usd: if is_outbox { choose(9) as i64 * 1_000 - 3_000 } else { 0 },
                });
            }
        }
        to_load.insert(yesterday);
        if choose(20) > 0 {
            for load in std::mem::take(&mut to_load) {
                loads += 1;
                world.load_rows(Target::Day(load), &rows(load, loads));
            }
        }
        for (source, name) in sources.iter().zip(SOURCES) {
            source.send(&world, name);
            for ago in (1..=3).rev() {
                source.vouch(&world, name, day((n - ago).max(0)));
            }
        }
        // Three days a week change that were final.
        for _ in 0..u64::from([0, 2, 4].contains(&(n % 7))) {
            let old = day(choose(n as u64) as i64);
            loads += 1;
            let target = match choose(2) {
                0 => Target::Day(old),
                _ => Target::Batch(format!("batch-{loads}")),
            };
            if !to_load.contains(&old) && old < yesterday {
                world.load_rows(target, &rows(old, loads));
            }
        }
        pass(20 * SECOND_MS);
        now(world.service().alarm());
        pass(20 * SECOND_MS);
        now(world.service().alarm());
        let before = copy.cursor;
        copy.update(&world, today);
        copy.check(&world);
        told += usize::from(copy.cursor > before);
        if let Some((_, back)) = restores.iter().find(|(at, _)| *at == n) {
            let state = states.len().saturating_sub(1 + *back as usize);
            world.db = states.swap_remove(state);
            states.truncate(state);
            if choose(2) == 0 {
                // A batch may come first.
                sources[0].send(&world, SOURCES[0]);
            }
            copy.update(&world, today);
            copy.check(&world);
            let items = world.registers.items().into_iter();
            let load_again = items.filter(|[_, _, reason]| reason == "load_again");
            to_load.extend(load_again.filter_map(|[_, subject, _]| UtcDay::parse(&subject)));
        }
    }
    (copy.days_read, told)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_that_reads_what_changed_equals_a_full_pull(
        choices in proptest::collection::vec(any::<u64>(), 50..400),
        restores in proptest::collection::vec((5..50_i64, 0..9_i64), 0..3),
    ) {
        simulate(50, &choices, &restores);
    }
}

#[test]
fn a_copy_reads_a_tenth_of_a_blind_window() {
    let choices: Vec<u64> = (0..997_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let (days_read, told) = simulate(200, &choices, &[(60, 4), (140, 2)]);
    let blind = 200 * BLIND;
    println!("{days_read} days were read in 200 days, {told} times by the feed; blindly {blind}");
    assert!(told > 20);
    assert!(days_read * 10 <= blind, "{days_read} of {blind}");
}

/// The ledger is restored to before the reading, and does not know of it.
#[test]
fn an_entry_that_was_read_before_a_restore_no_longer_changes() {
    let mut world = World::new();
    let load = |world: &World, revenue: &str| {
        let row = format!("{},10000001,DE,p,banner,house,7.0.0,1,1,1,1,{revenue}\n", day(0));
        world.load_rows(Target::Day(day(0)), &row);
        for _ in 0..2 {
            world.now_ms.set(world.now_ms.get() + 20 * SECOND_MS);
            now(world.service().alarm());
        }
    };
    load(&world, "0.5");
    load(&world, "0.6");
    let copy = world.db.copy();
    let mut reader = Copy::default();
    assert_eq!(reader.read_feed(&world, 10).len(), 1);
    world.db = copy;
    load(&world, "0.7");
    let told = reader.read_feed(&world, 10);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].after[4], 700_000);
}
