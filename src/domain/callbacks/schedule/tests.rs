//! Tests the default schedule from end to end, and configured schedules.

use proptest::prelude::*;

use super::{testing::*, *};

/// Random values, including the two extremes.
fn random() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(u32::MAX), any::<u32>()]
}

/// The due time of each attempt, in milliseconds after the commit, if attempts take no time.
fn walk(schedule: &Schedule, mut random: impl FnMut() -> u32) -> Vec<i64> {
    let (mut now_ms, mut due) = (0, Vec::new());
    while let Some(delay_ms) = schedule.delay_ms(u32::try_from(due.len()).unwrap(), random()) {
        now_ms += delay_ms;
        due.push(now_ms);
    }
    due
}

#[test]
fn the_default_is_twelve_attempts_over_96_hours() {
    let schedule = Schedule::default();
    assert_eq!(schedule.attempts(), 12);
    let later = [2, 7, 17, 31, 51, 73, 96].map(|hours| 2_135 + hours * 3_600);
    let expected = [[0, 5, 35, 335, 2_135].as_slice(), &later].concat();
    // The middle of an odd range is half a step short, so each delay is up to a millisecond short.
    let due = walk(&schedule, || u32::MAX / 2);
    let due_s: Vec<_> = due.iter().map(|due_ms| (due_ms + 12) / SECOND_MS).collect();
    assert_eq!(due_s, expected);
}

#[test]
fn the_jitter_is_20_percent_less_or_more_at_its_extremes() {
    let week = Schedule::parse("604800").unwrap();
    for (random, tenths) in [(0, 8), (u32::MAX, 12)] {
        let (due_ms, week_ms) = (walk(&Schedule::default(), || random), week.delay_ms(0, random));
        assert_eq!(due_ms.last(), Some(&(WHOLE_MS / 10 * tenths)), "{random}");
        assert_eq!(week_ms, Some(MAX_DELAY_MS / 10 * tenths), "{random}");
    }
}

#[test]
fn the_first_attempt_is_due_at_once_with_any_jitter() {
    for random in [0, 1, u32::MAX / 2, u32::MAX] {
        assert_eq!(Schedule::default().delay_ms(0, random), Some(0), "{random}");
    }
}

#[test]
fn no_attempt_follows_the_last_one() {
    let schedule = Schedule::default();
    assert!(schedule.delay_ms(11, 0).is_some());
    for attempts in [12, 13, u32::MAX] {
        assert_eq!(schedule.delay_ms(attempts, 0), None, "{attempts}");
    }
}

#[test]
fn a_configured_schedule_is_parsed() {
    let default = "0,5,30,300,1800,7200,18000,36000,50400,72000,79200,82800";
    assert_eq!(Schedule::parse(default), Ok(Schedule::default()));
    let two = Schedule(vec![SECOND_MS, 2 * SECOND_MS]);
    assert_eq!(Schedule::parse(" 1 , 2 "), Ok(two));
    assert_eq!(Schedule::parse("7").unwrap().attempts(), 1);
    assert_eq!(configured(&[604_800; 50]).attempts(), 50);
}

#[test]
fn a_schedule_out_of_bounds_is_refused_with_its_settings_name() {
    let (too_many, no_u32) = (["0"; 51].join(","), "4294967296");
    for bad in ["", " ", ",", "0,", ",0", "0,,5", "-1", "1.5", "5s", "0;5", "604801", no_u32, "0x10", &too_many] {
        let error = Schedule::parse(bad).expect_err(bad);
        assert!(error.starts_with("CALLBACK_SCHEDULE: must be"), "{bad}: {error}");
    }
}

#[test]
fn a_timeout_is_100_to_60000_milliseconds() {
    assert_eq!(timeout_ms(None), Ok(10_000));
    for (text, expected) in [("100", 100), ("2500", 2_500), ("60000", 60_000)] {
        assert_eq!(timeout_ms(Some(text)), Ok(expected));
    }
    for bad in ["", "99", "60001", "0", "-1", "1e3", "10 s"] {
        let error = timeout_ms(Some(bad)).unwrap_err();
        assert!(error.starts_with("CALLBACK_TIMEOUT_MS: "), "{bad}: {error}");
    }
}

proptest! {
    #[test]
    fn every_delay_is_within_20_percent(
        delays_s in delays_s(),
        draws in prop::collection::vec(random(), 50),
    ) {
        let schedule = configured(&delays_s);
        prop_assert_eq!(schedule.attempts(), u32::try_from(delays_s.len()).unwrap());
        for (attempts, (delay_s, random)) in (0..).zip(delays_s.iter().zip(&draws)) {
            let (exact, drawn) = (i64::from(*delay_s) * SECOND_MS, schedule.delay_ms(attempts, *random).unwrap());
            prop_assert!(drawn * 10 >= exact * 8 && drawn * 10 <= exact * 12, "{} of {}", drawn, exact);
        }
    }

    #[test]
    fn a_higher_random_value_never_shortens_the_delay(one: u32, other: u32) {
        let schedule = Schedule::default();
        for attempts in 0..12 {
            let (less, more) = (one.min(other), one.max(other));
            prop_assert!(schedule.delay_ms(attempts, less) <= schedule.delay_ms(attempts, more));
        }
    }

    #[test]
    fn the_whole_schedule_takes_96_hours_within_20_percent(draws in prop::collection::vec(random(), 13)) {
        let mut draws = draws.into_iter();
        let due = walk(&Schedule::default(), || draws.next().unwrap());
        prop_assert_eq!(due.len(), 12);
        prop_assert!(due.is_sorted());
        prop_assert!((WHOLE_MS * 8 / 10..=WHOLE_MS * 12 / 10).contains(due.last().unwrap()));
    }
}
