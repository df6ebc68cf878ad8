//! The default schedule walked from end to end, and what may be configured instead.

use proptest::prelude::*;

use super::*;

/// Any of the random values, the two that matter most among them.
fn random() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(u32::MAX), any::<u32>()]
}

/// When each try is due, in milliseconds after the commit, if tries take no time.
fn walk(schedule: &Schedule, mut random: impl FnMut() -> u32) -> Vec<i64> {
    let (mut now_ms, mut due) = (0, Vec::new());
    while let Some(delay_ms) = schedule.delay_ms(u32::try_from(due.len()).unwrap(), random()) {
        now_ms += delay_ms;
        due.push(now_ms);
    }
    due
}

fn seconds(schedule: &Schedule, random: u32) -> Vec<i64> {
    walk(schedule, || random)
        .into_iter()
        .map(|due| due / SECOND_MS)
        .collect()
}

#[test]
fn the_default_is_twelve_tries_over_96_hours() {
    let schedule = Schedule::default();
    assert_eq!(schedule.tries(), 12);
    let later = [2, 7, 17, 31, 51, 73, 96].map(|hours| 2_135 + hours * 3_600);
    let expected = [[0, 5, 35, 335, 2_135].as_slice(), &later].concat();
    // The middle of an odd range is half a step short, and so each delay a millisecond.
    let due = walk(&schedule, || u32::MAX / 2);
    let due_s: Vec<_> = due.iter().map(|due_ms| (due_ms + 12) / SECOND_MS).collect();
    assert_eq!(due_s, expected);
}

#[test]
fn the_extremes_of_chance_are_20_percent_less_and_more() {
    let schedule = Schedule::default();
    assert_eq!(seconds(&schedule, 0).last(), Some(&(347_735 * 8 / 10)));
    assert_eq!(seconds(&schedule, u32::MAX).last(), Some(&(347_735 * 12 / 10)));
    let week = Schedule::parse("604800").unwrap();
    assert_eq!(week.delay_ms(0, 0), Some(LONGEST_MS / 10 * 8));
    assert_eq!(week.delay_ms(0, u32::MAX), Some(LONGEST_MS / 10 * 12));
}

#[test]
fn the_first_try_is_due_at_once_whatever_the_chance() {
    for random in [0, 1, u32::MAX / 2, u32::MAX] {
        assert_eq!(Schedule::default().delay_ms(0, random), Some(0));
    }
}

#[test]
fn after_the_last_try_there_is_none() {
    let schedule = Schedule::default();
    assert!(schedule.delay_ms(11, 0).is_some());
    for made in [12, 13, u32::MAX] {
        assert_eq!(schedule.delay_ms(made, 0), None);
    }
}

#[test]
fn a_schedule_is_read_as_it_is_configured() {
    let default = "0,5,30,300,1800,7200,18000,36000,50400,72000,79200,82800";
    assert_eq!(Schedule::parse(default), Ok(Schedule::default()));
    assert_eq!(
        Schedule::parse(" 1 , 2 "),
        Ok(Schedule(vec![SECOND_MS, 2 * SECOND_MS]))
    );
    assert_eq!(Schedule::parse("7").unwrap().tries(), 1);
    assert_eq!(Schedule::parse(&["604800"; 50].join(",")).unwrap().tries(), 50);
}

#[test]
fn a_schedule_that_cannot_be_kept_is_refused_by_its_setting() {
    let many = ["0"; 51].join(",");
    for bad in [
        "",
        " ",
        ",",
        "0,",
        ",0",
        "0,,5",
        "-1",
        "1.5",
        "5s",
        "0;5",
        "604801",
        "4294967296",
        "0x10",
        &many,
    ] {
        let error = Schedule::parse(bad).unwrap_err();
        assert!(error.starts_with("CALLBACK_SCHEDULE: must be"), "{bad}: {error}");
    }
}

proptest! {
    #[test]
    fn every_draw_is_within_20_percent(
        delays in prop::collection::vec(0..=604_800_u32, 1..=50),
        draws in prop::collection::vec(random(), 50),
    ) {
        let text: Vec<_> = delays.iter().map(u32::to_string).collect();
        let schedule = Schedule::parse(&text.join(",")).unwrap();
        prop_assert_eq!(schedule.tries(), u32::try_from(delays.len()).unwrap());
        for (made, (delay, random)) in (0..).zip(delays.iter().zip(&draws)) {
            let (exact, drawn) = (i64::from(*delay) * SECOND_MS, schedule.delay_ms(made, *random).unwrap());
            prop_assert!(drawn * 10 >= exact * 8 && drawn * 10 <= exact * 12, "{} of {}", drawn, exact);
        }
    }

    #[test]
    fn more_chance_is_never_less_delay(one: u32, other: u32) {
        let schedule = Schedule::default();
        for made in 0..12 {
            let (less, more) = (one.min(other), one.max(other));
            prop_assert!(schedule.delay_ms(made, less) <= schedule.delay_ms(made, more));
        }
    }

    #[test]
    fn the_whole_takes_96_hours_give_or_take_a_fifth(draws in prop::collection::vec(random(), 13)) {
        let mut draws = draws.into_iter();
        let due = walk(&Schedule::default(), || draws.next().unwrap());
        let whole_ms = 347_735 * SECOND_MS;
        prop_assert_eq!(due.len(), 12);
        prop_assert!(due.is_sorted());
        prop_assert!((whole_ms * 8 / 10..=whole_ms * 12 / 10).contains(due.last().unwrap()));
    }
}
