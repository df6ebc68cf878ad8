//! Tests the backoff of a failing endpoint against a naive model, and together with the schedule of its callbacks.

use proptest::prelude::*;

use super::*;
use crate::{
    callbacks::{
        delivery::{Next, Outcome, judge},
        schedule::{Schedule, testing::WHOLE_MS},
    },
    model::{DAY_MS, HOUR_MS},
};

const NOW_MS: i64 = 1_790_000_000_000;

/// An endpoint after `failures` failures in a row at `now_ms`.
fn after(failures: u32, now_ms: i64) -> Health {
    (0..failures).fold(Health::default(), |health, _| health.failed(now_ms))
}

#[test]
fn a_working_endpoint_gets_six_attempts_at_once() {
    for failures in 0..FAILING_AFTER {
        let health = after(failures, NOW_MS);
        let slots: Vec<_> = (0..=8).map(|in_flight| health.free_slots(MAX_IN_FLIGHT, in_flight, NOW_MS)).collect();
        assert_eq!(slots, [6, 5, 4, 3, 2, 1, 0, 0, 0], "after {failures} failures");
        assert!(!health.is_failing() && health.opens_ms().is_none(), "{health:?}");
    }
}

#[test]
fn an_endpoint_is_failing_after_five_failures_in_a_row() {
    let health = after(5, NOW_MS);
    assert!(health.is_failing());
    assert_eq!(health.opens_ms(), Some(NOW_MS + SECOND_MS));
    for (in_flight, after_ms, slots) in [(0, 0, 0), (0, 999, 0), (0, 1_000, 1), (1, 1_000, 0), (6, DAY_MS, 0)] {
        let found = health.free_slots(MAX_IN_FLIGHT, in_flight, NOW_MS + after_ms);
        assert_eq!(found, slots, "{in_flight} after {after_ms} ms");
    }
}

#[test]
fn each_further_failure_doubles_the_pause_up_to_half_a_minute() {
    let (mut now_ms, mut health, mut pauses_s) = (NOW_MS, after(4, NOW_MS), Vec::new());
    for _ in 0..9 {
        health = health.failed(now_ms);
        let opens_ms = health.opens_ms().unwrap();
        pauses_s.push((opens_ms - now_ms) / SECOND_MS);
        now_ms = opens_ms;
    }
    assert_eq!(pauses_s, [1, 2, 4, 8, 16, 30, 30, 30, 30]);
}

#[test]
fn an_endpoint_that_works_has_all_slots_and_fails_only_after_several_failures() {
    let health = Health::default();
    assert_eq!(health.free_slots(MAX_IN_FLIGHT, 0, NOW_MS), 6);
    assert!(!health.failed(NOW_MS).is_failing());
}

#[test]
fn six_attempts_that_fail_together_each_count_as_one_failure() {
    let working = after(4, NOW_MS - HOUR_MS);
    let health = (0..6).fold(working, |health, _| health.failed(NOW_MS));
    assert_eq!(health.opens_ms(), Some(NOW_MS + 30 * SECOND_MS));
    // A clock that steps back does not move the next attempt forward.
    assert_eq!(health.failed(NOW_MS - HOUR_MS).opens_ms(), health.opens_ms());
}

#[test]
fn no_failure_count_and_no_clock_overflows() {
    let health = |failures, resumes_ms| Health { failures, resumes_ms };
    for failures in [u32::MAX - 1, u32::MAX] {
        for (now_ms, opens_ms) in [(i64::MIN, 0), (0, 30 * SECOND_MS), (i64::MAX, i64::MAX)] {
            let failed = health(failures, 0).failed(now_ms);
            assert_eq!(failed, health(u32::MAX, opens_ms), "{failures} at {now_ms}");
        }
    }
    for failures in 0..200 {
        let health = health(failures, i64::MIN).failed(NOW_MS);
        assert!(health.resumes_ms <= NOW_MS + 30 * SECOND_MS, "{failures}");
    }
}

/// Walks one callback of a dead endpoint through its schedule. `before` changes the health just before an attempt is
/// due. Returns the due time and the start of each attempt.
fn walk(random: u32, mut before: impl FnMut(Health, i64) -> Health) -> Vec<(i64, i64)> {
    let (schedule, mut health, mut attempts) = (Schedule::default(), Health::default(), Vec::new());
    let mut due_ms = NOW_MS + schedule.delay_ms(0, random).unwrap();
    for number in 1.. {
        health = before(health, due_ms);
        let start_ms = health.opens_ms().map_or(due_ms, |opens_ms| opens_ms.max(due_ms));
        assert!(health.free_slots(MAX_IN_FLIGHT, 0, start_ms) > 0, "attempt {number} of {random}");
        attempts.push((due_ms, start_ms));
        let end_ms = start_ms + 10 * SECOND_MS;
        health = health.failed(end_ms);
        match judge(&schedule, number, &Outcome::Failed, end_ms, random).next {
            Next::At(at_ms) => due_ms = at_ms,
            next => {
                assert_eq!((next, number), (Next::Dead, schedule.attempts()));
                break;
            }
        }
    }
    attempts
}

#[test]
fn the_backoff_never_delays_an_endpoints_only_failing_callback() {
    for random in [0, u32::MAX / 2, u32::MAX] {
        let attempts = walk(random, |health, _| health);
        assert_eq!(attempts.len(), 12, "{random}");
        for (due_ms, start_ms) in attempts {
            assert_eq!(due_ms, start_ms, "{random}");
        }
    }
}

#[test]
fn the_backoff_delays_an_attempt_by_half_a_minute_at_most() {
    for random in [0, u32::MAX / 2, u32::MAX] {
        let attempts = walk(random, |health, due_ms| {
            // Ten failed probes for other callbacks.
            (0..10).fold(health, |health, _| health.failed(due_ms))
        });
        let delay_ms = |(due_ms, start_ms): &(i64, i64)| start_ms - due_ms;
        assert_eq!(attempts.iter().map(delay_ms).max(), Some(30 * SECOND_MS), "{random}");
        let took_ms = attempts.last().unwrap().1 - NOW_MS;
        let most_ms = WHOLE_MS / 10 * 12 + 12 * 30 * SECOND_MS + 11 * 10 * SECOND_MS;
        assert!(took_ms <= most_ms, "{random}: {took_ms}");
    }
}

#[test]
fn a_dead_endpoint_is_probed_at_least_every_40_seconds() {
    // The endpoint is dead for a day, another callback is always due, and each probe takes the full 10 s.
    let (mut now_ms, mut health, mut starts_ms) = (NOW_MS, Health::default(), Vec::new());
    while now_ms < NOW_MS + DAY_MS {
        assert!(health.free_slots(MAX_IN_FLIGHT, 0, now_ms) > 0);
        starts_ms.push(now_ms);
        now_ms += 10 * SECOND_MS;
        health = health.failed(now_ms);
        now_ms = health.opens_ms().unwrap_or(now_ms);
    }
    let gaps_ms = starts_ms.windows(2).map(|pair| pair[1] - pair[0]);
    assert_eq!(gaps_ms.max(), Some(40 * SECOND_MS));
    assert!(starts_ms.len() < 2_200, "{} probes", starts_ms.len());
    assert_eq!(health.free_slots(MAX_IN_FLIGHT, 0, now_ms), 1);
    assert_eq!(Health::default().free_slots(MAX_IN_FLIGHT, 0, now_ms + 1), 6);
}

/// The same rules computed from the whole history: the end of each attempt, and whether it succeeded.
#[derive(Default)]
struct Model(Vec<(i64, bool)>);

impl Model {
    /// The times at which the failures since the last success ended.
    fn failures(&self) -> Vec<i64> {
        let since = self.0.iter().rposition(|(_, well)| *well).map_or(0, |last| last + 1);
        self.0[since..].iter().map(|(at_ms, _)| *at_ms).collect()
    }

    fn opens_ms(&self) -> Option<i64> {
        let pauses_s = [1, 2, 4, 8, 16].into_iter().chain(std::iter::repeat(30));
        let beyond = self.failures().into_iter().skip(4).zip(pauses_s);
        beyond.map(|(at_ms, pause_s)| at_ms + pause_s * 1_000).max()
    }

    fn free_slots(&self, in_flight: usize, now_ms: i64) -> usize {
        match self.opens_ms() {
            None => 6_usize.saturating_sub(in_flight),
            Some(opens_ms) if now_ms >= opens_ms && in_flight == 0 => 1,
            Some(_) => 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Action {
    /// Time passes, or the clock steps back.
    Wait(i64),
    /// All attempts that are allowed start.
    Start,
    /// An attempt in flight ends.
    End { well: bool },
}

fn steps() -> impl Strategy<Value = Vec<Action>> {
    let step = prop_oneof![
        2 => prop_oneof![0..3_000_i64, 0..60_000_i64, -40_000..0_i64].prop_map(Action::Wait),
        3 => Just(Action::Start),
        6 => prop::bool::weighted(0.1).prop_map(|well| Action::End { well }),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn the_limit_of_attempts_in_flight_always_matches_the_model(steps in steps()) {
        let (mut health, mut model) = (Health::default(), Model::default());
        let (mut now_ms, mut in_flight) = (NOW_MS, 0_usize);
        for step in steps {
            let before = health;
            match step {
                Action::Wait(ms) => now_ms += ms,
                Action::Start => {
                    let slots = health.free_slots(MAX_IN_FLIGHT, in_flight, now_ms);
                    if slots > 0 && health.is_failing() {
                        prop_assert_eq!((slots, in_flight), (1, 0));
                        prop_assert!(now_ms >= health.resumes_ms);
                    }
                    in_flight += slots;
                }
                Action::End { .. } if in_flight == 0 => {}
                Action::End { well } => {
                    in_flight -= 1;
                    model.0.push((now_ms, well));
                    health = if well { Health::default() } else { health.failed(now_ms) };
                    if well {
                        prop_assert_eq!(health.free_slots(MAX_IN_FLIGHT, in_flight, now_ms), 6 - in_flight);
                    } else {
                        prop_assert!(health.resumes_ms >= before.resumes_ms);
                        prop_assert!(health.failures == before.failures + 1);
                    }
                }
            }
            prop_assert!(in_flight <= 6);
            prop_assert_eq!(health.opens_ms(), model.opens_ms());
            prop_assert_eq!(health.is_failing(), model.failures().len() >= 5);
            for other in 0..8 {
                prop_assert_eq!(health.free_slots(MAX_IN_FLIGHT, other, now_ms), model.free_slots(other, now_ms));
            }
        }
    }
}
