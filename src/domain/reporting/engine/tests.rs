//! The ways through the engine, one by one; what holds on all of them is in `properties`.

mod properties;

use super::{
    testing::{Fact, Memory, Row, all_rows, page_of},
    *,
};
use crate::reporting::{
    Dimension, Measure, Metric,
    dimension::KEY,
    query::{Column as By, Order},
};

const START: i64 = 20_000;

fn day(number: i64) -> UtcDay {
    UtcDay::from_number(START + number).unwrap()
}

fn rows(page: &Page) -> Vec<Row> {
    (0..page.rows())
        .map(|at| {
            let row = page.row(at).unwrap();
            let values = (0..page.dimensions.len()).map(|place| row.value(place).unwrap().to_owned());
            (values.collect(), *row.sums)
        })
        .collect()
}

/// Budgets that are far too small: 64 bytes for the rows that are kept, and no array of all keys.
fn tight(bytes: usize) -> Budget {
    Budget {
        bytes,
        kept: 64,
        dense: 0,
        ..Budget::default()
    }
}

/// Facts of three days with values that are found again in each segment, and more placements from day to day.
fn many(facts: u32) -> Vec<Fact> {
    let mut state = 7_u32;
    let mut below = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    (0..facts)
        .map(|n| {
            let number = n % 3;
            let key = [
                format!("{}", 10_000_000 + below(5)),
                ["DE", "FR", "US", "ZZ"][below(4) as usize].to_owned(),
                format!("placement-{}", below(12 * (number + 1))),
                format!("tag-{}", below(300)),
                format!("source-{}", below(6)),
                format!("7.{}", below(3)),
            ];
            let count = i64::from(below(90_000));
            let [impressions, clicks] = [below(200), below(2)].map(i64::from);
            (
                day(i64::from(number)),
                key,
                [count, count / 2, impressions, clicks, 5_000 - count],
            )
        })
        .collect()
}

fn ordered(dimensions: &[Dimension], metric: Metric, ascending: bool) -> Query {
    Query {
        start: day(0),
        end: day(90),
        dimensions: dimensions.to_vec(),
        metrics: vec![metric],
        filters: Vec::new(),
        order: vec![Order {
            column: By::Metric(metric),
            ascending,
        }],
        page: 1,
        count: 20,
    }
}

#[test]
fn every_way_through_the_engine_gives_the_same_rows() {
    use Dimension::{AdTag, App, Country, Date, PlacementId, SdkV};
    let facts = many(3_000);
    let source = Memory::of(&facts, 2);
    let revenue = Metric::Sum(Measure::Revenue);
    let mut seen = Effort::default();
    for dimensions in [
        &[Country][..],
        &[SdkV, Date],
        &[App, Country, PlacementId],
        &[AdTag, Date, PlacementId],
        &Dimension::ALL,
    ] {
        for (metric, ascending, page) in [(revenue, false, 1), (Metric::ClickRate, true, 7)] {
            let query = Query {
                page,
                ..ordered(dimensions, metric, ascending)
            };
            let expected = all_rows(&facts, &query);
            for (bytes, kept, dense) in [
                (48 << 20, 16 << 20, 1 << 20),
                (48 << 20, 16 << 20, 0),
                (48 << 20, 4_096, 1 << 20),
                (90_000, 8_192, 1 << 20),
                (54_000, 64, 0),
            ] {
                let budget = Budget {
                    bytes,
                    kept,
                    dense,
                    ..Budget::default()
                };
                let (page, effort) = run_measured(&source, &query, &budget).unwrap();
                assert_eq!(page.total, expected.len() as u64, "{query:?} {budget:?}");
                assert_eq!(rows(&page), page_of(&expected, &query), "{query:?} {budget:?}");
                if dense == 0 {
                    assert_eq!(effort.dense, 0);
                }
                seen = Effort {
                    segments: seen.segments + effort.segments,
                    parts: seen.parts + effort.parts,
                    dense: seen.dense + effort.dense,
                    wide: seen.wide + effort.wide,
                    splits: seen.splits + effort.splits,
                    moves: seen.moves + effort.moves,
                    prunes: seen.prunes + effort.prunes,
                    compactions: seen.compactions + effort.compactions,
                    sweeps: seen.sweeps.max(effort.sweeps),
                };
            }
        }
    }
    println!("{seen:?}");
    // But for keys of two words, which the next test has.
    assert!(seen.dense > 0 && seen.parts > seen.dense, "{seen:?}");
    assert!(seen.splits > 10 && seen.moves > 10, "{seen:?}");
    assert!(seen.compactions > 10 && seen.prunes > 10, "{seen:?}");
    assert!(seen.sweeps > 10, "{seen:?}");
}

#[test]
fn groups_move_when_their_keys_come_to_take_more_than_a_word() {
    // A thousand values of each of six dimensions take 60 bits; from the second day on there are 2,000, which take 66.
    let facts: Vec<Fact> = (0..4_000_u32)
        .map(|n| {
            (
                day(i64::from(n / 1_000)),
                [3, 7, 11, 13, 17, 19].map(|step| format!("v{}", n % 2_000 * step % 2_000)),
                [1, 0, 0, 0, i64::from(n)],
            )
        })
        .collect();
    let source = Memory::of(&facts, 1);
    let query = ordered(&KEY, Metric::Sum(Measure::Revenue), false);
    let (page, effort) = run_measured(&source, &query, &Budget::default()).unwrap();
    assert_eq!((effort.parts, effort.wide, effort.moves), (1, 1, 1));
    let expected = all_rows(&facts, &query);
    assert_eq!((rows(&page), page.total), (page_of(&expected, &query), 2_000));
}

#[test]
fn memory_for_nothing_is_too_large_and_not_without_end() {
    let facts = many(50);
    let source = Memory::of(&facts, 1);
    let query = ordered(&[Dimension::AdTag, Dimension::Country], Metric::Ecpm, true);
    assert_eq!(run(&source, &query, &tight(1_000)), Err(EngineError::TooLarge));
}

#[test]
fn a_source_that_fails_fails_the_query() {
    struct Broken;
    impl Source for Broken {
        type Error = &'static str;
        fn segments(&self, first: UtcDay, _: UtcDay) -> Result<Vec<SegmentRef>, Self::Error> {
            Ok(vec![SegmentRef {
                id: 4,
                day: first,
                rows: 1,
            }])
        }
        fn columns(&self, _: &SegmentRef, _: &[Column]) -> Result<Vec<Vec<u8>>, Self::Error> {
            Err("gone")
        }
    }
    let query = ordered(&[Dimension::App], Metric::Ecpm, true);
    assert_eq!(
        run(&Broken, &query, &Budget::default()),
        Err(EngineError::Source("gone"))
    );
}

#[test]
fn a_column_that_is_not_there_is_corrupt() {
    let mut source = Memory::of(&many(10), 1);
    source.segments[0].1[10].clear();
    let query = ordered(&[Dimension::App], Metric::Sum(Measure::Revenue), true);
    assert!(matches!(
        run(&source, &query, &Budget::default()),
        Err(EngineError::Corrupt { segment: 0, .. })
    ));
    assert!(
        run(
            &source,
            &ordered(&[Dimension::App], Metric::ClickRate, true),
            &Budget::default()
        )
        .is_ok()
    );
}

#[test]
fn the_seed_that_values_and_groups_are_spread_by_changes_no_answer() {
    let source = Memory::of(&many(3_000), 2);
    let query = ordered(
        &[Dimension::PlacementId, Dimension::AdTag],
        Metric::Sum(Measure::AdRequests),
        false,
    );
    let of = |seed| {
        let budget = Budget {
            seed,
            ..tight(600_000)
        };
        run_measured(&source, &query, &budget).unwrap()
    };
    let (page, _) = of(0);
    for seed in [1, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        let (other, _) = of(seed);
        assert_eq!((rows(&other), other.total), (rows(&page), page.total));
    }
}
