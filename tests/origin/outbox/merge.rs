//! One log from many outboxes: pages follow each other without gaps and repeats while conversions arrive.

use super::*;
use contract::outbox::{EndpointState, ListedEntry, Standing};
use origin::http::site::merge;
use proptest::{collection::vec, prelude::*};

/// An outbox's log: numbers of entries, ascending, and whether each matches the filter.
type Log = Vec<(i64, bool)>;

/// Answers like an outbox that examines at most `walk` entries for a page.
fn answer(log: &Log, list: &List, walk: usize) -> ListPage {
    let before = list.before.unwrap_or(i64::MAX);
    let rest = log.iter().rev().filter(|(number, _)| *number < before);
    let examined: Vec<_> = rest.clone().take(walk).collect();
    let limit = usize::try_from(list.limit).unwrap();
    let matching: Vec<_> = examined.iter().filter(|(_, matches)| *matches).collect();
    let listed = matching
        .iter()
        .take(limit)
        .map(|(number, _)| ListedEntry { number: *number, entry: serde_json::value::to_raw_value(number).unwrap() });
    let end = if matching.len() > limit {
        Some(matching[limit - 1].0)
    } else {
        rest.clone().nth(walk).map(|(unexamined, _)| unexamined + 1)
    };
    ListPage { entries: listed.collect(), end }
}

fn merged(logs: &[Log], list: &List, walk: usize) -> (Vec<i64>, Option<i64>) {
    let outboxes: Vec<u8> = (0..u8::try_from(logs.len()).unwrap()).collect();
    let ask = async |number: u8, list: List| Ok::<_, ()>(answer(&logs[usize::from(number)], &list, walk));
    let page = now(merge::list(&outboxes, list, ask)).unwrap();
    let numbers = page.conversions.iter().map(|entry| entry.get().parse().unwrap());
    (numbers.collect(), page.before)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn pages_over_all_outboxes_follow_each_other_under_writes(
        count in prop_oneof![Just(1_usize), Just(8), Just(64)],
        old in vec((0..64_usize, prop::bool::weighted(0.7)), 0..600),
        new in vec((0..64_usize, prop::bool::weighted(0.7)), 0..60),
        limit in prop_oneof![1..20_u32, 100..1_000_u32],
        walk in prop_oneof![1..30_usize, Just(20_000)],
    ) {
        let mut logs = vec![Log::new(); count];
        let write = |logs: &mut Vec<Log>, at: i64, (outbox, matches): (usize, bool)| {
            let outbox = outbox % count;
            let number = at * 1_024 + i64::try_from(outbox).unwrap();
            logs[outbox].push((number, matches));
        };
        for (at, entry) in (1..).zip(old) {
            write(&mut logs, at, entry);
        }
        let at_first: Vec<i64> = {
            let mut all: Vec<_> = logs.concat().into_iter().filter(|(_, matches)| *matches).collect();
            all.sort_unstable();
            all.into_iter().rev().map(|(number, _)| number).collect()
        };
        let mut new = (1_000..).zip(new);
        let (mut shown, mut before, mut pages) = (Vec::new(), None, 0);
        loop {
            let (numbers, cursor) = merged(&logs, &list(None, None, limit, before), walk);
            prop_assert!(numbers.len() <= usize::try_from(limit).unwrap());
            shown.extend(numbers);
            before = cursor;
            pages += 1;
            prop_assert!(pages < 5_000);
            if before.is_none() {
                break;
            }
            // Conversions arrive between two pages.
            for (at, entry) in new.by_ref().take(3) {
                write(&mut logs, at, entry);
            }
        }
        prop_assert!(shown.windows(2).all(|pair| pair[0] > pair[1]), "newest first, nothing twice: {shown:?}");
        prop_assert_eq!(shown, at_first);
    }
}

#[test]
fn a_page_is_full_although_users_are_not_spread_exactly() {
    // One of eight outboxes has all of the newest entries.
    let mut logs = vec![Log::new(); 8];
    for at in 1..=4_000_i64 {
        let outbox = if at > 2_000 { 3 } else { at % 8 };
        logs[usize::try_from(outbox).unwrap()].push((at * 1_024 + outbox, true));
    }
    let (numbers, cursor) = merged(&logs, &list(None, None, 1_000, None), 20_000);
    assert_eq!((numbers.len(), cursor), (1_000, numbers.last().copied()));
}

#[test]
fn the_apps_endpoint_is_as_its_worst_outbox_says() {
    let one = |state, consecutive_failures, next_try_ts| Standing {
        state,
        consecutive_failures,
        next_try_ts,
        waiting: 2,
        dead: 1,
        reserving: 3,
    };
    let healthy = one(EndpointState::Healthy, 0, None);
    let failing = one(EndpointState::Failing, 7, Some(50));
    let disabled = one(EndpointState::Disabled, 1, Some(40));
    let all = Standing {
        state: EndpointState::Disabled,
        consecutive_failures: 7,
        next_try_ts: Some(40),
        waiting: 6,
        dead: 3,
        reserving: 9,
    };
    assert_eq!(merge::standing(true, [failing, healthy, disabled]), all);
    assert_eq!(merge::standing(true, []).state, EndpointState::Healthy);
    assert_eq!(merge::standing(false, []), Standing::default());
    assert_eq!(merge::standing(false, [healthy]).state, EndpointState::None);
}
