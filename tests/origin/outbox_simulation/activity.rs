//! The publisher's activity object, with its production code: it agrees with the outbox, as far as that has reported.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{
    ops::{Change, Op, Postback},
    postbacks,
    receivers::Behaviour,
    settlements, simulations,
    world::{World, app},
};
use crate::sqlite::Faults;
use contract::{activity, operation::ObjectAddress};
use domain::{
    conversions::state::Status,
    model::time::{DAY_MS, MINUTE_MS, SECOND_MS, UtcDay},
};
use origin::{
    delivery::feed::{FEED_MS, SPACING_MS},
    objects::{
        activity::{handle, publisher::feed_batches::DAYS},
        outbox::NET_MS,
    },
};
use platform::database::{Database, Row};

/// Day and state, with the rewards and their payout.
type Counts = BTreeMap<(i64, i64), (i64, i64)>;

const REFUSED: i64 = 5;

impl World {
    pub fn ask_activity(&mut self, to: &ObjectAddress, json: &str) -> String {
        assert_eq!(to.name, activity::object_name(&self.catalog.app.publisher_id), "another publisher's activity");
        let command: activity::Command = serde_json::from_str(json).unwrap();
        let activity::Command::Feed(report) = &command else {
            panic!("{command:?} to the activity");
        };
        assert_eq!(report.app, app());
        let reply = handle(&self.activity, self.now_ms(), command).unwrap();
        serde_json::to_string(&reply).unwrap()
    }

    /// Whether a change is not reported, or a report is promised.
    pub fn has_to_report(&self) -> bool {
        let sql = "SELECT 1 FROM outbox, feed WHERE publisher IS NOT NULL AND (promised OR standing <> told_standing
            OR EXISTS (SELECT 1 FROM changed_entries) OR (SELECT MAX(entry) FROM entries) > told
            OR EXISTS (SELECT 1 FROM reward_counts WHERE changes <> reward_counts.told))";
        self.env.db.query_first(sql, &[]).unwrap().is_some()
    }

    /// While the outbox has nothing to report, the activity equals the log.
    pub fn check_activity(&self) {
        if self.has_to_report() {
            return;
        }
        let first_day = UtcDay::of_ms(self.now_ms() - (DAYS - 1) * DAY_MS).number();
        let (mut counts, in_log) = (self.counts_of_activity(first_day), self.counts_of_log(first_day));
        // A conversion that was refused long after its postback leaves the log earlier than its day leaves the activity.
        let left = self.refused_and_left();
        for (key, count) in &mut counts {
            let in_log = in_log.get(key).copied().unwrap_or_default();
            if key.1 == REFUSED && (1..=left).contains(&(count.0 - in_log.0)) {
                *count = in_log;
            }
        }
        counts.retain(|_, count| *count != (0, 0));
        assert_eq!(counts, in_log);
        let told: BTreeMap<i64, Vec<String>> = self.entries_of_activity();
        for (entry, shown) in self.entries_of_log() {
            let mut told = told.get(&entry).cloned().unwrap_or_default();
            if shown.get(3).is_some_and(|status| status == "Null") {
                // Attempts leave after 90 days, and the activity keeps the last one's status.
                told[3] = "Null".into();
            }
            assert_eq!(told, shown, "entry {entry}");
        }
        let named = "SELECT COUNT(*) FROM entries WHERE user_id IS NOT NULL";
        let in_log = self.env.db.query_integer(&format!("{named} AND NOT erase"), &[]).unwrap();
        // Entries that have left the log leave the activity by their age.
        if self.seen.len() == told.len() && self.entries_of_log().len() == told.len() {
            assert_eq!(self.activity.query_integer(named, &[]).unwrap(), in_log);
        }
    }

    /// Conversions that were not paid and are not in the log any more.
    fn refused_and_left(&self) -> i64 {
        let kept: BTreeSet<_> = self.entries_of_log().into_keys().collect();
        let seen = self.seen.values();
        let left =
            seen.filter(|entry| !kept.contains(&entry.entry) && entry.after.is_none() && entry.delivery.is_none());
        i64::try_from(left.count()).unwrap()
    }

    fn counts_of_activity(&self, first_day: i64) -> Counts {
        let sql = format!("SELECT day, state, rewards, payout_micro_usd FROM counts WHERE day >= {first_day}");
        let rows = self.activity.query(&sql, &[]).unwrap();
        let counts = rows.iter().map(|row| {
            let number = |column| row.integer(column).unwrap();
            ((number(0), number(1)), (number(2), number(3)))
        });
        counts.filter(|(_, count)| *count != (0, 0)).collect()
    }

    /// The same, from the entries alone.
    fn counts_of_log(&self, first_day: i64) -> Counts {
        let sql = "SELECT e.after, e.delivery, e.payout_micro_usd, e.fields ->> '$.conversion_ts', c.state
            FROM entries e JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal WHERE e.notice IS NULL";
        let mut counts = Counts::new();
        for row in self.env.db.query(sql, &[]).unwrap() {
            let number = |column| row.integer(column).unwrap();
            let state = match (row.is_null(0), row.is_null(1), number(4)) {
                (false, ..) => 3,
                (true, false, _) => 1,
                (true, true, 0) => 0,
                (true, true, 2 | 4) => 2,
                (true, true, 10..20) => REFUSED,
                (true, true, 20..) => 4,
                other => panic!("an unpaid entry is {other:?}"),
            };
            let day = number(3).div_euclid(DAY_MS / 1_000);
            if day >= first_day {
                let count = counts.entry((day, state)).or_default();
                *count = (count.0 + 1, count.1 + number(2));
            }
        }
        counts
    }

    /// Transaction, state, delivery, last status, user and offer of each entry.
    fn entries_of_activity(&self) -> BTreeMap<i64, Vec<String>> {
        let sql = "SELECT entry, transaction_id, state, delivery, http_status, user_id, details ->> '$.offer_id', conversion_ts
            FROM entries";
        let rows = self.activity.query(sql, &[]).unwrap();
        rows.iter().map(shown).collect()
    }

    fn entries_of_log(&self) -> BTreeMap<i64, Vec<String>> {
        let sql = "SELECT e.entry, e.transaction_id, CASE
              WHEN e.notice = 0 THEN 0 WHEN e.notice = 2 THEN 2 WHEN e.after IS NOT NULL THEN 3
              WHEN c.state >= 20 THEN 4 WHEN c.state >= 10 THEN 5 WHEN c.state = 4 THEN 2 ELSE c.state END,
            e.delivery,
            CASE WHEN EXISTS (SELECT 1 FROM attempts WHERE entry = e.entry)
              THEN (SELECT http_status FROM attempts WHERE entry = e.entry ORDER BY attempt DESC LIMIT 1) END,
            IIF(e.erase, NULL, e.user_id), e.fields ->> '$.offer_id', e.fields ->> '$.conversion_ts'
            FROM entries e JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal";
        let rows = self.env.db.query(sql, &[]).unwrap();
        rows.iter().map(shown).collect()
    }
}

fn shown(row: &Row) -> (i64, Vec<String>) {
    let columns = row.0.iter().skip(1).map(|value| format!("{value:?}"));
    (row.integer(0).unwrap(), columns.collect())
}

fn well(world: &mut World, op: Op) {
    world.carry_out(op, None, Faults::none());
    // The wait for a commit may take some polls.
    for _ in 0..8 {
        world.carry_out(Op::Pass(0), None, Faults::none());
    }
}

#[test]
fn a_conversion_after_a_command_that_changes_nothing_is_reported_within_a_second() {
    let postback = |click| {
        Op::Convert(Postback {
            click,
            age_ms: MINUTE_MS,
            goal: None,
            txn: None,
            status: Status::Approved,
            is_own: true,
        })
    };
    let mut world = World::new(true, 0);
    world.env.syncs_fail.set(false);
    well(&mut world, Op::Receivers(Behaviour::RetryAfter(13)));
    well(&mut world, Op::Change(Change::Callback(true, true)));
    well(&mut world, postback(1));
    well(&mut world, Op::ResolveAll);
    let waits_ms = |world: &World| world.env.alarm_ms.get().unwrap() - world.now_ms();
    while waits_ms(&world) <= SPACING_MS {
        well(&mut world, Op::Alarm(0));
        well(&mut world, Op::ResolveAll);
    }
    // The alarm is set for other work.
    assert!(!world.has_to_report());
    assert!((SPACING_MS + FEED_MS..NET_MS).contains(&waits_ms(&world)), "{}", waits_ms(&world));
    well(&mut world, Op::Erase(99));
    well(&mut world, Op::Pass(FEED_MS / 2));
    well(&mut world, postback(3));
    assert!(world.has_to_report());
    assert!((0..=FEED_MS).contains(&waits_ms(&world)), "{}", waits_ms(&world));
}

/// The time from a commit until it is in the activity, when nothing fails (docs/DECISIONS.md, "Accounts and the dashboard").
const SHOWN_MS: i64 = 4 * SECOND_MS;
/// The report's alarm is due at most `SPACING_MS` plus `FEED_MS` after the commit. A report waits `FEED_MS` for further
/// changes, and `SPACING_MS` after the previous report. An alarm for other work restarts the first of these waits. The
/// rest is for the runtime, which may be late with an alarm.
const LATE_MS: i64 = SHOWN_MS - SPACING_MS - FEED_MS;

/// The changes that are not reported, each with the time since which it waits.
#[derive(Default)]
struct Waiting(BTreeMap<String, i64>);

impl Waiting {
    /// Compares the waits with the promise, and notes the changes that have begun or stopped waiting.
    fn check(&mut self, world: &World) {
        let now_ms = world.now_ms();
        // An entry that changes again while it waits is another change: it is only reported as it is last.
        let sql = "SELECT 'entry ' || entry || ', attempts ' || attempts_made FROM entries
              WHERE entry > (SELECT told FROM feed) OR entry IN (SELECT entry FROM changed_entries)
            UNION ALL SELECT 'day ' || day || ', state ' || state || ', change ' || changes
              FROM reward_counts WHERE changes <> told";
        let rows = world.env.db.query(sql, &[]).unwrap();
        let changed = rows.iter().map(|row| row.text(0).unwrap().to_owned());
        let since_ms = |change: String| {
            let since_ms = self.0.get(&change).copied().unwrap_or(now_ms);
            (change, since_ms)
        };
        self.0 = changed.map(since_ms).collect();
        for (change, since_ms) in &self.0 {
            assert!(now_ms - since_ms <= SHOWN_MS, "{change} waits for {} ms", now_ms - since_ms);
        }
    }

    /// Passes time, in which alarms are late, and carries out what they start.
    fn pass(&mut self, world: &mut World, until_ms: i64, late_ms: i64) {
        let starts_ms = |world: &World| {
            let starts_ms = world.env.alarm_ms.get().map(|alarm_ms| (alarm_ms + late_ms).max(world.now_ms()));
            starts_ms.filter(|starts_ms| *starts_ms <= until_ms)
        };
        while let Some(starts_ms) = starts_ms(world) {
            self.carry_out(world, Op::Pass(starts_ms - world.now_ms()));
            self.carry_out(world, Op::Alarm(0));
        }
        self.carry_out(world, Op::Pass(until_ms - world.now_ms()));
    }

    fn carry_out(&mut self, world: &mut World, op: Op) {
        world.carry_out(op, None, Faults::none());
        self.check(world);
        world.finish();
        self.check(world);
    }
}

fn changing() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => postbacks().prop_map(Op::Convert),
        2 => settlements(),
        1 => (0..12_usize).prop_map(Op::Replay),
        1 => (0..12_u8).prop_map(Op::Erase),
        1 => Just(Op::Enable),
        1 => Just(Op::Receivers(Behaviour::RetryAfter(13))),
        1 => Just(Op::Receivers(Behaviour::Working)),
    ]
}

proptest! {
    #![proptest_config(simulations(48))]

    #[test]
    fn each_change_is_reported_within_4_s_while_nothing_fails(
        steps in vec((changing(), 0..2 * FEED_MS, 0..=LATE_MS), 1..20)
    ) {
        let mut world = World::new(true, 0);
        world.env.syncs_fail.set(false);
        well(&mut world, Op::Change(Change::Callback(true, true)));
        let mut waiting = Waiting::default();
        for (op, passes_ms, late_ms) in steps {
            waiting.carry_out(&mut world, op);
            let until_ms = world.now_ms() + passes_ms;
            waiting.pass(&mut world, until_ms, late_ms);
        }
        let until_ms = world.now_ms() + SHOWN_MS;
        waiting.pass(&mut world, until_ms, LATE_MS);
    }
}
