//! Tests each rule as a table, the whole schedule with failing attempts, and the properties of any answer.

use proptest::{option, prelude::*};

use super::*;
use crate::{
    callbacks::schedule::testing::{WHOLE_MS, configured, delays_s},
    model::{HOUR_MS, MINUTE_MS, time::http_date},
};

/// A whole second, because HTTP dates have no fractions.
const NOW_MS: i64 = 1_790_000_000_000;
/// After the fourth attempt of the default schedule, the next attempt is due in 30 minutes. With the shortest jitter,
/// less 20 %, that is 24 minutes.
const ATTEMPTS_MADE: u32 = 4;
const SCHEDULED_MS: i64 = 24 * MINUTE_MS;
const LAST: u32 = 12;

fn answer<'a>(status: u16, retry_after: Option<&'a str>, webhook_delivery: Option<&'a str>) -> Answer<'a> {
    Answer { status, retry_after, webhook_delivery }
}

fn judgement(next: Next, disables: bool, endpoint_works: bool) -> Judgement {
    Judgement { next, disables, endpoint_works }
}

fn judged(attempts_made: u32, answer: Answer<'_>) -> Judgement {
    let outcome = Outcome::Answered(answer);
    judge(&Schedule::default(), attempts_made, &outcome, NOW_MS, 0)
}

/// The time from [`NOW_MS`] to the next attempt after a 503 with this `Retry-After`, in milliseconds.
fn wait_ms(retry_after: &str) -> i64 {
    match judged(ATTEMPTS_MADE, answer(503, Some(retry_after), None)).next {
        Next::At(at_ms) => at_ms - NOW_MS,
        other => panic!("{retry_after}: {other:?}"),
    }
}

#[test]
fn a_callback_is_delivered_by_any_2xx_even_at_the_last_try() {
    for status in [200, 201, 202, 204, 226, 299] {
        for attempts_made in [1, LAST] {
            let judged = judged(attempts_made, answer(status, None, None));
            assert_eq!(judged, judgement(Next::Delivered, false, true), "{status}");
        }
    }
}

#[test]
fn any_other_answer_is_retried_until_the_last_try() {
    for status in [0, 100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 409, 411, 429, 500, 501, 503, 599, 999] {
        for (attempts_made, next) in [(ATTEMPTS_MADE, Next::At(NOW_MS + SCHEDULED_MS)), (LAST, Next::Dead)] {
            let judged = judged(attempts_made, answer(status, None, None));
            assert_eq!(judged, judgement(next, false, false), "{status}");
        }
    }
}

#[test]
fn a_missing_answer_is_retried_until_the_last_try() {
    for (attempts_made, next) in [
        (ATTEMPTS_MADE, Next::At(NOW_MS + SCHEDULED_MS)),
        (LAST - 1, Next::At(NOW_MS + 23 * HOUR_MS / 10 * 8)),
        (LAST, Next::Dead),
        (u32::MAX, Next::Dead),
    ] {
        let judged = judge(&Schedule::default(), attempts_made, &Outcome::Failed, NOW_MS, 0);
        assert_eq!(judged, judgement(next, false, false), "{attempts_made}");
    }
}

#[test]
fn the_directives_of_the_receiver_are_followed() {
    let (again, disabled) = (Next::At(NOW_MS + SCHEDULED_MS), true);
    let both = "abort-message, disable";
    // Status, `webhook-delivery`; the callback's next step, whether the endpoint is disabled, whether it works.
    for (status, directive, next, disables, works) in [
        (410, None, Next::Kept, disabled, false),
        (410, Some("nonsense"), Next::Kept, disabled, false),
        (500, Some("disable"), Next::Kept, disabled, false),
        (302, Some("disable"), Next::Kept, disabled, false),
        (200, Some("disable"), Next::Delivered, disabled, true),
        (400, Some("abort-message"), Next::Dead, false, true),
        (503, Some("abort-message"), Next::Dead, false, true),
        (301, Some("abort-message"), Next::Dead, false, true),
        (204, Some("abort-message"), Next::Delivered, false, true),
        // Both directives apply.
        (410, Some("abort-message"), Next::Dead, disabled, true),
        (400, Some(both), Next::Dead, disabled, true),
        (200, Some(both), Next::Delivered, disabled, true),
        // In any case, with whitespace around it, or sent twice.
        (500, Some(" DISABLE\t"), Next::Kept, disabled, false),
        (500, Some("disable, disable"), Next::Kept, disabled, false),
        (500, Some("\tAbort-Message "), Next::Dead, false, true),
        // Unknown directives are ignored.
        (500, Some(""), again, false, false),
        (500, Some("disabled"), again, false, false),
        (500, Some("do not disable"), again, false, false),
        (500, Some("abort message"), again, false, false),
        (500, Some("\"disable\""), again, false, false),
        (500, Some("ｄisable"), again, false, false),
    ] {
        let answer = answer(status, None, directive);
        let expected = judgement(next, disables, works);
        assert_eq!(judged(ATTEMPTS_MADE, answer), expected, "{answer:?}");
        if next != again {
            assert_eq!(judged(LAST, answer), expected, "{answer:?} at the last attempt");
        }
    }
}

#[test]
fn retry_after_is_respected_between_the_scheduled_delay_and_a_day() {
    let in_s = |seconds: i64| http_date(NOW_MS + seconds * SECOND_MS);
    for (retry_after, expected_s) in [
        ("3600", 3_600),
        (" 3600\t", 3_600),
        ("03600", 3_600),
        (&in_s(3_600), 3_600),
        (&format!(" {} ", in_s(3_600)), 3_600),
        ("86399", 86_399),
        ("86400", 86_400),
        (&in_s(86_399), 86_399),
    ] {
        assert_eq!(wait_ms(retry_after), expected_s * SECOND_MS, "{retry_after}");
    }
    for longer in [
        "86401",
        "9223372036854775",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999999999999999",
        &in_s(86_401),
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ] {
        assert_eq!(wait_ms(longer), DAY_MS, "{longer}");
    }
    for shorter in ["0", "1", "1439", "1440", &in_s(60), &in_s(0), &in_s(-60), "Thu, 01 Jan 1970 00:00:00 GMT"] {
        assert_eq!(wait_ms(shorter), SCHEDULED_MS, "{shorter}");
    }
}

#[test]
fn a_malformed_retry_after_is_ignored() {
    let list = "3600, 3600";
    let (no_date, iso_date) = ("Mon, 99 Foo 2026 99:99:99 GMT", "2026-12-31T00:00:00Z");
    for garbage in
        ["", " ", "-1", "-9999999", "+3600", "3600.5", "1e9", "1h", list, "soon", "٣٦٠٠", "0x9999", no_date, iso_date]
    {
        assert_eq!(wait_ms(garbage), SCHEDULED_MS, "{garbage}");
    }
}

#[test]
fn retry_after_never_shortens_a_delay_of_more_than_a_day() {
    let schedule = Schedule::parse("0,200000").unwrap();
    for retry_after in ["0", "86400", "160001", "999999"] {
        let outcome = Outcome::Answered(answer(429, Some(retry_after), None));
        let next = judge(&schedule, 1, &outcome, NOW_MS, 0).next;
        assert_eq!(next, Next::At(NOW_MS + 160_000 * SECOND_MS), "{retry_after}");
    }
}

#[test]
fn retry_after_is_ignored_if_nothing_is_retried() {
    for (attempts_made, status, next) in
        [(LAST, 503, Next::Dead), (ATTEMPTS_MADE, 410, Next::Kept), (ATTEMPTS_MADE, 200, Next::Delivered)]
    {
        let judged = judged(attempts_made, answer(status, Some("3600"), None));
        assert_eq!(judged.next, next, "{status}");
    }
}

/// Header values: valid, almost valid and arbitrary.
fn headers() -> impl Strategy<Value = (Option<String>, Option<String>)> {
    let date = (NOW_MS - 3 * DAY_MS..NOW_MS + 3 * DAY_MS).prop_map(http_date);
    let number = prop_oneof![(0..200_000_u32).prop_map(|seconds| seconds.to_string()), "[0-9]{1,30}"];
    let retry_after = prop_oneof![number, date, "[-+ ]?[0-9.,:]{0,12}", ".{0,20}"];
    let delivery = prop_oneof!["disable", "abort-message", "[ ,a-z-]{0,16}", ".{0,20}"];
    (option::of(retry_after), option::of(delivery))
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let configured = delays_s().prop_map(|delays_s| configured(&delays_s));
    prop_oneof![Just(Schedule::default()), configured]
}

proptest! {
    #[test]
    fn the_next_attempt_is_within_its_bounds_after_any_answer(
        schedule in schedules(),
        attempts_made in 1..=52_u32,
        status in prop_oneof![Just(410), 190..600_u16, any::<u16>()],
        (retry_after, webhook_delivery) in headers(),
        random: u32,
        now_ms in prop_oneof![Just(NOW_MS), 0..4 * NOW_MS, any::<i64>()],
    ) {
        let answer = answer(status, retry_after.as_deref(), webhook_delivery.as_deref());
        let judgement = judge(&schedule, attempts_made, &Outcome::Answered(answer), now_ms, random);
        prop_assert_eq!(judgement.next == Next::Delivered, status / 100 == 2);
        if status / 100 == 2 {
            prop_assert!(judgement.endpoint_works);
        }
        match judgement.next {
            Next::At(at_ms) => {
                let earliest_ms = schedule.delay_ms(attempts_made, random).unwrap();
                let latest_ms = schedule.delay_ms(attempts_made, u32::MAX).unwrap().max(DAY_MS);
                prop_assert!(at_ms >= now_ms.saturating_add(earliest_ms));
                prop_assert!(at_ms <= now_ms.saturating_add(latest_ms));
                prop_assert!(attempts_made < schedule.attempts() && !judgement.disables && !judgement.endpoint_works);
            }
            Next::Kept => prop_assert!(judgement.disables),
            Next::Dead => prop_assert!(attempts_made >= schedule.attempts() || judgement.endpoint_works),
            Next::Delivered => {}
        }
    }

    #[test]
    fn a_receiver_that_always_fails_gets_exactly_the_scheduled_attempts(
        draws in prop::collection::vec(any::<u32>(), 12),
        lengths_ms in prop::collection::vec(0..=10_000_i64, 12),
        statuses in prop::collection::vec(option::of(prop_oneof![300..410_u16, 411..600_u16]), 12),
    ) {
        let schedule = Schedule::default();
        let (mut now_ms, mut gaps_ms) = (NOW_MS, Vec::new());
        for (attempts_made, ((random, length_ms), status)) in (1..).zip(draws.into_iter().zip(&lengths_ms).zip(statuses)) {
            now_ms += length_ms;
            let outcome = status.map_or(Outcome::Failed, |status| Outcome::Answered(answer(status, None, None)));
            match judge(&schedule, attempts_made, &outcome, now_ms, random).next {
                Next::At(at_ms) => {
                    gaps_ms.push(at_ms - now_ms);
                    now_ms = at_ms;
                }
                Next::Dead => prop_assert_eq!(attempts_made, 12),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!(gaps_ms.len(), 11);
        prop_assert!((WHOLE_MS * 8 / 10..=WHOLE_MS * 12 / 10).contains(&gaps_ms.iter().sum()));
        prop_assert_eq!(now_ms - NOW_MS, gaps_ms.iter().sum::<i64>() + lengths_ms.iter().sum::<i64>());
    }
}
