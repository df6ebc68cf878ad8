//! Property test of batches from counters to ledgers under faults: writes that fail before or after they take effect;
//! ledgers that are down, refuse, or apply a batch and lose the answer; alarms that are late, doubled or cut off with
//! their object; old batches that arrive again; and clicks counted meanwhile.
//!
//! Checked after each step: the clicks flushed by isolates equal those in the ledgers plus those still in the object,
//! and an alarm is set while the object holds any. At the end the ledgers have every sum once, and the object's log is folded.

use proptest::prelude::*;

use crate::{
    counters::{NOON, sum},
    counters_world::{Answer, Flush, Wake, World},
    migrated, simulations,
    sqlite::{Fault, Faults},
    under_every_fault,
};
use domain::{
    model::{
        PublisherId,
        time::{MINUTE_MS, SECOND_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{delivery::backoff::MAX_WAIT_MS, objects::counters::MIGRATIONS};

#[derive(Clone, Debug)]
enum Op {
    /// Isolates flush at the same time.
    Flush(Vec<Flush>),
    /// The process ends.
    Restart,
    /// The alarm, so many milliseconds late.
    Wake(i64, Wake),
    /// An alarm that was not set: the runtime may run one twice.
    WakeAgain(Wake),
    Pass(i64),
    Straggler(usize),
}

fn flushes() -> impl Strategy<Value = Flush> {
    let one = (0..3_usize, 0..2_usize, 0..2_i32, 0..3_usize, 1..1_000_u32).prop_map(
        |(publisher, offer, age, placement, clicks)| {
            let base = sum(["o", "p"][offer], UtcDay::of_ms(NOON).minus(age), clicks);
            ClickSum {
                publisher: PublisherId::parse(["a", "b", "c"][publisher]).unwrap(),
                country: base.country.filter(|_| placement < 2),
                placement: (placement > 0).then(|| format!("place {placement}")),
                ..base
            }
        },
    );
    let sums = proptest::collection::vec(one, 1..5);
    let placements = prop_oneof![40 => Just(1), 1 => Just(190)];
    (0..3_usize, any::<bool>(), sums, placements).prop_map(|(isolate, repeated, sums, placements)| Flush {
        isolate,
        repeated,
        sums,
        placements,
    })
}

fn wakes() -> impl Strategy<Value = Wake> {
    let answer = prop_oneof![
        4 => Just(Answer::Applied),
        3 => Just(Answer::Lost),
        2 => Just(Answer::Down),
        1 => Just(Answer::Refused),
    ];
    (
        proptest::collection::vec(answer, 3),
        prop_oneof![Just(0_i64), Just(30), Just(10 * SECOND_MS)],
        prop_oneof![3 => Just(None), 1 => (1..5_usize).prop_map(Some)],
        any::<bool>(),
        proptest::option::of(flushes()),
    )
        .prop_map(|(answers, took_ms, cut_off_after, reversed, meanwhile)| Wake {
            answers,
            took_ms,
            cut_off_after,
            reversed,
            meanwhile,
        })
}

fn ops() -> impl Strategy<Value = Vec<(Op, Vec<Option<Fault>>)>> {
    let op = prop_oneof![
        6 => proptest::collection::vec(flushes(), 1..3).prop_map(Op::Flush),
        1 => Just(Op::Restart),
        8 => (0..3 * SECOND_MS, wakes()).prop_map(|(late_ms, wake)| Op::Wake(late_ms, wake)),
        1 => wakes().prop_map(Op::WakeAgain),
        2 => (0..2 * MINUTE_MS).prop_map(Op::Pass),
        2 => (0..100_usize).prop_map(Op::Straggler),
    ];
    let fault = prop_oneof![10 => Just(None), 1 => Just(Some(Fault::Before)), 1 => Just(Some(Fault::After))];
    proptest::collection::vec((op, proptest::collection::vec(fault, 0..16)), 1..80)
}

proptest! {
    #![proptest_config(simulations(48))]

    #[test]
    fn each_counted_click_reaches_its_ledger_once(ops in ops()) {
        let db = migrated(MIGRATIONS);
        let mut world = World::new(&db);
        for (op, faults) in ops {
            db.inject(Faults::script(faults));
            match op {
                Op::Flush(flushes) => world.flush(&flushes),
                Op::Restart => world.restart(),
                Op::Wake(late_ms, wake) => {
                    if let Some(at_ms) = world.alarm_ms() {
                        let now_ms = world.now_ms();
                        world.pass((at_ms.min(now_ms + MAX_WAIT_MS) + late_ms - now_ms).max(0));
                        world.wake(&wake);
                    }
                }
                Op::WakeAgain(wake) => world.wake(&wake),
                Op::Pass(ms) => world.pass(ms),
                Op::Straggler(n) => world.deliver_again(n),
            }
            world.check();
        }
        db.inject(Faults::none());
        world.settle_down();
    }
}

#[test]
fn ledgers_get_exact_sums_after_any_failed_write() {
    let day = UtcDay::of_ms(NOON);
    let clicks_for = |publisher: &str, clicks| ClickSum {
        publisher: PublisherId::parse(publisher).unwrap(),
        ..sum("o", day, clicks)
    };
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        let mut world = World::new(db);
        let flush = |isolate, sums| Flush { isolate, repeated: false, sums, placements: 1 };
        world.flush(&[flush(0, vec![clicks_for("a", 1)]), flush(2, vec![clicks_for("b", 10)])]);
        for (answers, clicks) in [
            (vec![Answer::Lost, Answer::Applied], 100),
            (vec![Answer::Down, Answer::Refused], 1_000),
            (vec![Answer::Applied, Answer::Lost], 10_000),
        ] {
            let until_alarm_ms = world.alarm_ms().unwrap() - world.now_ms();
            world.pass(until_alarm_ms.max(0));
            world.wake(&Wake { answers, meanwhile: Some(flush(1, vec![clicks_for("a", clicks)])), ..Wake::default() });
            world.check();
        }
        world.settle_down();
        world.ledgers.totals
    });
    assert!(outcomes.len() > 60, "only {} faults", outcomes.len());
    let clicks: Vec<u64> = outcomes[0].1.values().copied().collect();
    assert_eq!(clicks, [11_101, 10]);
    for (fault, totals) in &outcomes {
        assert_eq!(totals, &outcomes[0].1, "{fault}");
    }
}
