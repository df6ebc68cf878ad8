//! The code paths of the engine, one by one. `properties` tests the rules that hold for all of them.

mod properties;

use super::{
    testing::{Fact, MemorySource, Row, all_rows, page_of},
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

/// A budget that is far too small: 64 bytes for kept rows, and no array of all keys.
fn tight(bytes: usize) -> Budget {
    Budget {
        bytes,
        kept: 64,
        dense: 0,
        ..Budget::default()
    }
}

/// Facts of three days. Values repeat in each segment, and each day has more placements than the one before.
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
fn every_code_path_gives_the_same_rows() {
    use Dimension::{AdTag, App, Country, Date, PlacementId, SdkV};
    let facts = many(3_000);
    let source = MemorySource::new(&facts, 2);
    let revenue = Metric::Sum(Measure::Revenue);
    let mut totals = RunStats::default();
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
                let (page, stats) = run_measured(&source, &query, &budget).unwrap();
                assert_eq!(page.total, expected.len() as u64, "{query:?} {budget:?}");
                assert_eq!(rows(&page), page_of(&expected, &query), "{query:?} {budget:?}");
                if dense == 0 {
                    assert_eq!(stats.dense, 0);
                }
                totals = RunStats {
                    segments: totals.segments + stats.segments,
                    parts: totals.parts + stats.parts,
                    dense: totals.dense + stats.dense,
                    wide: totals.wide + stats.wide,
                    splits: totals.splits + stats.splits,
                    moves: totals.moves + stats.moves,
                    prunes: totals.prunes + stats.prunes,
                    compactions: totals.compactions + stats.compactions,
                    sweeps: totals.sweeps.max(stats.sweeps),
                };
            }
        }
    }
    println!("{totals:?}");
    // Every path was taken except keys of two words, which the next test covers.
    assert!(totals.dense > 0 && totals.parts > totals.dense, "{totals:?}");
    assert!(totals.splits > 10 && totals.moves > 10, "{totals:?}");
    assert!(totals.compactions > 10 && totals.prunes > 10, "{totals:?}");
    assert!(totals.sweeps > 10, "{totals:?}");
}

#[test]
fn groups_move_when_their_keys_outgrow_one_word() {
    // 1,000 values of each of six dimensions take 60 bits. The second day makes it 2,000 values, which take 66 bits.
    let facts: Vec<Fact> = (0..4_000_u32)
        .map(|n| {
            (
                day(i64::from(n / 1_000)),
                [3, 7, 11, 13, 17, 19].map(|step| format!("v{}", n % 2_000 * step % 2_000)),
                [1, 0, 0, 0, i64::from(n)],
            )
        })
        .collect();
    let source = MemorySource::new(&facts, 1);
    let query = ordered(&KEY, Metric::Sum(Measure::Revenue), false);
    let (page, stats) = run_measured(&source, &query, &Budget::default()).unwrap();
    assert_eq!((stats.parts, stats.wide, stats.moves), (1, 1, 1));
    let expected = all_rows(&facts, &query);
    assert_eq!((rows(&page), page.total), (page_of(&expected, &query), 2_000));
}

#[test]
fn a_query_without_enough_memory_ends_as_too_large() {
    let facts = many(50);
    let source = MemorySource::new(&facts, 1);
    let query = ordered(&[Dimension::AdTag, Dimension::Country], Metric::Ecpm, true);
    assert_eq!(run(&source, &query, &tight(1_000)), Err(EngineError::TooLarge));
}

#[test]
fn a_failing_source_fails_the_query() {
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
fn a_missing_column_is_corrupt() {
    let mut source = MemorySource::new(&many(10), 1);
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
fn the_hash_seed_changes_no_answer() {
    let source = MemorySource::new(&many(3_000), 2);
    let query = ordered(
        &[Dimension::PlacementId, Dimension::AdTag],
        Metric::Sum(Measure::AdRequests),
        false,
    );
    let run_with = |seed| {
        let budget = Budget {
            seed,
            ..tight(600_000)
        };
        run_measured(&source, &query, &budget).unwrap()
    };
    let (page, _) = run_with(0);
    for seed in [1, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        let (other, _) = run_with(seed);
        assert_eq!((rows(&other), other.total), (rows(&page), page.total));
    }
}
