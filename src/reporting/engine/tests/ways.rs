//! Every way that facts can take through the engine: dense and hashed, wide keys, parts, sweeps; and what ends in an error.

use super::*;

/// Facts with many values: more than a batch in a segment, keys that are found again in each layer and day.
fn many(days: i64, facts: u32) -> Vec<Fact> {
    let mut state = 7_u32;
    let mut below = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    (0..facts)
        .map(|n| {
            let key = [
                format!("{}", 10_000_000 + below(5)),
                ["DE", "FR", "US", "ZZ"][below(4) as usize].to_owned(),
                format!("placement-{}", below(40)),
                format!("tag-{}", below(700)),
                format!("source-{}", below(6)),
                format!("7.{}", below(3)),
            ];
            let count = i64::from(below(90_000));
            (
                day(i64::from(n) % days),
                key,
                [
                    count,
                    count / 2,
                    i64::from(below(200)),
                    i64::from(below(2)),
                    5_000 - count,
                ],
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
        count: 100,
    }
}

#[test]
fn every_way_through_the_engine_gives_the_same_rows() {
    use Dimension::{AdTag, App, Country, Date, PlacementId, SdkV};
    let facts = many(3, 8_000);
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
        for (metric, ascending, page) in [
            (revenue, false, 1),
            (Metric::ClickRate, true, 2),
            (revenue, true, 12),
        ] {
            let query = Query {
                page,
                ..ordered(dimensions, metric, ascending)
            };
            let expected = all_rows(&facts, &query);
            for (bytes, kept, dense) in [
                (48 << 20, 16 << 20, 1 << 20),
                (48 << 20, 16 << 20, 0),
                (48 << 20, 4_096, 1 << 20),
                (150_000, 8_192, 1 << 20),
                (110_000, 64, 0),
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
    assert!(seen.dense > 0 && seen.parts > seen.dense, "{seen:?}");
    assert!(seen.splits > 50 && seen.compactions > 50, "{seen:?}");
    assert!(seen.prunes > 50 && seen.sweeps > 50, "{seen:?}");
}

#[test]
fn keys_of_more_than_a_word_are_grouped_too() {
    // Six dimensions with 2,300 values each take 72 bits.
    let facts: Vec<Fact> = (0..4_600_u32)
        .map(|n| {
            (
                day(0),
                [3, 7, 11, 13, 17, 19].map(|step| format!("v{}", n % 2_300 * step % 2_300)),
                [1, 0, 0, 0, i64::from(n)],
            )
        })
        .collect();
    let source = Memory::of(&facts, 2);
    let query = ordered(&Dimension::ALL, Metric::Sum(Measure::Revenue), false);
    let (page, effort) = run_measured(&source, &query, &Budget::default()).unwrap();
    // The second segment's values do not fit the bits that the first one's took.
    assert!(effort.wide == 1 && effort.moves == 1, "{effort:?}");
    let expected = all_rows(&facts, &query);
    assert_eq!((rows(&page), page.total), (page_of(&expected, &query), 2_300));
}

#[test]
fn memory_for_nothing_is_too_large_and_not_without_end() {
    let facts = many(1, 50);
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
    let mut source = Memory::of(&many(1, 10), 1);
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
