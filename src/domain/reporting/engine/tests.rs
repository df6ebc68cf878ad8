//! The code paths of the engine, one by one. `properties` tests the rules that hold for all of them.

mod properties;

use super::{
    testing::{Fact, MemorySource, Row, page_of},
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

/// The rows of a page, and the number of rows on all pages.
fn answer(page: &Page) -> (Vec<Row>, u64) {
    let row = |at| {
        let row = page.row(at).unwrap();
        let values = (0..page.dimensions.len()).map(|place| row.value(place).unwrap().to_owned());
        (values.collect(), *row.sums)
    };
    ((0..page.rows()).map(row).collect(), page.total)
}

/// The page of a query.
fn page_for<S: Source>(source: &S, query: &Query, budget: &Budget) -> Result<Page, EngineError<S::Error>> {
    run(source, query, budget, None).map(|(page, _)| page)
}

/// A budget that is far too small: 64 bytes for kept rows, and no array of all keys.
fn tight(bytes: usize) -> Budget {
    Budget { bytes, kept: 64, dense: 0, ..Budget::default() }
}

/// Facts of three days. Values repeat in each segment, and each day has more placements than the previous day.
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
            let [count, impressions, clicks] = [below(90_000), below(200), below(2)].map(i64::from);
            let sums = [count, count / 2, impressions, clicks, 5_000 - count];
            (day(i64::from(number)), key, sums)
        })
        .collect()
}

fn ordered(dimensions: &[Dimension], metric: Metric, ascending: bool) -> Query {
    let column = By::Metric(metric);
    Query {
        start: day(0),
        end: day(90),
        dimensions: dimensions.to_vec(),
        metrics: vec![metric],
        filters: Vec::new(),
        order: vec![Order { column, ascending }],
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
    let mut runs = Vec::new();
    for dimensions in
        [&[Country][..], &[SdkV, Date], &[App, Country, PlacementId], &[AdTag, Date, PlacementId], &Dimension::ALL]
    {
        for (metric, ascending, page) in [(revenue, false, 1), (Metric::ClickRate, true, 7)] {
            let mut query = ordered(dimensions, metric, ascending);
            query.page = page;
            let expected = page_of(&facts, &query);
            for (bytes, kept, dense) in [
                (48 << 20, 16 << 20, 1 << 20),
                (48 << 20, 16 << 20, 0),
                (48 << 20, 4_096, 1 << 20),
                (90_000, 8_192, 1 << 20),
                (54_000, 64, 0),
            ] {
                let budget = Budget { bytes, kept, dense, ..Budget::default() };
                let (page, stats) = run(&source, &query, &budget, None).unwrap();
                assert_eq!(answer(&page), expected, "{query:?} {budget:?}");
                assert!(dense > 0 || stats.dense == 0, "{query:?} {budget:?}");
                runs.push(stats);
            }
        }
    }
    // Every path was taken except keys of two words, which the next test covers.
    let total = |of: fn(&RunStats) -> u64| runs.iter().map(of).sum::<u64>();
    let sweeps = runs.iter().map(|run| run.sweeps).max().unwrap();
    for (path, least, times) in [
        ("arrays", 1, total(|run| run.dense)),
        ("hash tables", 1, total(|run| run.parts - run.dense)),
        ("splits", 11, total(|run| run.splits)),
        ("moves", 11, total(|run| run.moves)),
        ("compactions", 11, total(|run| run.compactions)),
        ("prunes", 11, total(|run| run.prunes)),
        ("sweeps of a query", 11, sweeps),
    ] {
        assert!(times >= least, "{times} {path}");
    }
}

#[test]
fn groups_move_when_their_keys_outgrow_one_word() {
    // 1,000 values of each of six dimensions take 60 bits. The second day makes it 2,000 values, which take 66 bits.
    let fact = |n: i64| {
        let key = [3, 7, 11, 13, 17, 19].map(|step| format!("v{}", n % 2_000 * step % 2_000));
        (day(n / 1_000), key, [1, 0, 0, 0, n])
    };
    let facts: Vec<Fact> = (0..4_000).map(fact).collect();
    let source = MemorySource::new(&facts, 1);
    let query = ordered(&KEY, Metric::Sum(Measure::Revenue), false);
    let (page, stats) = run(&source, &query, &Budget::default(), None).unwrap();
    assert_eq!((stats.parts, stats.wide, stats.moves), (1, 1, 1));
    assert_eq!(page.total, 2_000);
    assert_eq!(answer(&page), page_of(&facts, &query));
}

#[test]
fn a_query_without_enough_memory_ends_as_too_large() {
    let facts = many(50);
    let source = MemorySource::new(&facts, 1);
    let query = ordered(&[Dimension::AdTag, Dimension::Country], Metric::Ecpm, true);
    assert_eq!(page_for(&source, &query, &tight(1_000)), Err(EngineError::TooLarge));
}

#[test]
fn a_failing_source_fails_the_query() {
    struct Broken;
    impl Source for Broken {
        type Error = &'static str;
        fn segments(&self, first: UtcDay, _: UtcDay) -> Result<Vec<SegmentRef>, Self::Error> {
            let (id, day, rows) = (4, first, 1);
            Ok(vec![SegmentRef { id, day, rows }])
        }
        fn columns(&self, _: &SegmentRef, _: &[Column]) -> Result<Vec<Rc<Vec<u8>>>, Self::Error> {
            Err("gone")
        }
    }
    let query = ordered(&[Dimension::App], Metric::Ecpm, true);
    let answer = page_for(&Broken, &query, &Budget::default());
    assert_eq!(answer, Err(EngineError::Source("gone")));
}

#[test]
fn a_missing_column_is_corrupt() {
    let mut source = MemorySource::new(&many(10), 1);
    source.segments[0].1[10].clear();
    let answer = |metric| {
        let query = ordered(&[Dimension::App], metric, true);
        page_for(&source, &query, &Budget::default())
    };
    let missing = answer(Metric::Sum(Measure::Revenue));
    assert!(matches!(missing, Err(EngineError::Corrupt { segment: 0, .. })));
    assert!(answer(Metric::ClickRate).is_ok());
}

#[test]
fn the_hash_seed_changes_no_answer() {
    let source = MemorySource::new(&many(3_000), 2);
    let dimensions = [Dimension::PlacementId, Dimension::AdTag];
    let query = ordered(&dimensions, Metric::Sum(Measure::AdRequests), false);
    let answer_with = |seed| {
        let mut budget = tight(600_000);
        budget.seed = seed;
        answer(&page_for(&source, &query, &budget).unwrap())
    };
    let expected = answer_with(0);
    for seed in [1, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        assert_eq!(answer_with(seed), expected, "{seed}");
    }
}
