//! Random queries over random facts give the rows of the naive model.

use proptest::{prelude::*, sample::subsequence};

use super::{answer, day, page_for, tight};
use crate::reporting::{
    Dimension, Metric,
    engine::{
        testing::{Fact, MemorySource, all_rows, page_of, sums},
        *,
    },
    query::{Column as By, Filter, Order},
};

/// Random facts from few values, so that keys repeat. Characters have 1 to 3 bytes; some texts are prefixes of others.
fn facts(most: usize) -> impl Strategy<Value = Vec<Fact>> {
    let text = |values: &'static str| {
        let values: Vec<_> = values.split(' ').collect();
        prop::sample::select(values).prop_map(str::to_owned)
    };
    let key = [
        text("10000001 10000002 20000000"),
        text("DE US ZZ FR"),
        text("home homé home-2 ключ a b c d e"),
        text("Bannière banner 日本 unknown t1 t2 t3 t4 t5"),
        text("house unknown x"),
        text("7.0.0 7.0.10 7.0.2"),
    ];
    let number = prop_oneof![Just(0), 0..3_i64, 0..300_i64, 0..70_000_i64, (1_i64 << 46)..(1 << 47)];
    prop::collection::vec(((0..8_i64).prop_map(day), key, sums(number)), 0..most)
}

fn filter() -> impl Strategy<Value = Filter> {
    let values: Vec<(Dimension, &[&str])> = vec![
        (Dimension::Date, &["2024-10-04", "2024-10-05", "2024-10-07", "2031-01-01", "today"]),
        (Dimension::App, &["10000001", "10000002", "99999999"]),
        (Dimension::Country, &["DE", "US", "XX", "ZZ"]),
        (Dimension::PlacementId, &["", "a", "home", "homé", "zzz", "ключ"]),
        (Dimension::AdTag, &["Bannière", "banner", "t1", "t2", "日本"]),
        (Dimension::DemandSource, &["house", "unknown", "x"]),
        (Dimension::SdkV, &["7.0.0", "7.0.1", "7.0.2"]),
    ];
    prop::sample::select(values).prop_flat_map(|(dimension, values)| {
        subsequence(values.to_vec(), 0..=values.len())
            .prop_map(move |values| Filter { dimension, values: values.into_iter().map(str::to_owned).collect() })
    })
}

prop_compose! {
    fn query()(
        dimensions in subsequence(Dimension::ALL.to_vec(), 1..=7).prop_shuffle(),
        metrics in subsequence(Metric::ALL.to_vec(), 1..=9).prop_shuffle(),
        mut filters in prop::collection::vec(filter(), 0..3),
        order in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4),
        start in 0..4_i64,
        days in 0..10_i64,
        page in prop_oneof![1..4_u64, Just(u64::MAX)],
        count in prop_oneof![1..9_u32, Just(10_000)],
    ) -> Query {
        // A query has one filter per dimension, so a filter with the same dimension as the previous one is dropped.
        filters.dedup_by_key(|filter| filter.dimension);
        let mut columns: Vec<_> = dimensions.iter().copied().map(By::Dimension).collect();
        columns.extend(Metric::ALL.map(By::Metric));
        let order = order
            .into_iter()
            .map(|(column, ascending)| Order { column: *column.get(&columns), ascending })
            .collect();
        Query { start: day(start), end: day(start + days), dimensions, metrics, filters, order, page, count }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_page_has_the_rows_of_the_naive_model(
        facts in facts(120), layers in 1..4_usize, query in query(), dense in prop_oneof![Just(0), Just(1 << 20)],
    ) {
        let source = MemorySource::new(&facts, layers);
        let (page, stats) = run(&source, &query, &Budget { dense, ..Budget::default() }, None).unwrap();
        prop_assert_eq!(answer(&page), page_of(&facts, &query));
        prop_assert_eq!((&page.dimensions, &page.metrics), (&query.dimensions, &query.metrics));
        // Every segment is read once.
        prop_assert_eq!(source.reads.get(), stats.segments);
        prop_assert!(stats.segments <= source.segments.len() as u64 && stats.splits == 0);
    }

    #[test]
    fn little_memory_changes_no_row(
        facts in facts(120), layers in 1..4_usize, query in query(), bytes in 0..60_000_usize,
    ) {
        let source = MemorySource::new(&facts, layers);
        match page_for(&source, &query, &tight(bytes)) {
            Ok(page) => prop_assert_eq!(answer(&page), page_of(&facts, &query)),
            // Refused only if memory is too small for one segment.
            Err(error) => prop_assert!(error == EngineError::TooLarge && bytes < 25_000, "{:?}", error),
        }
    }

    #[test]
    fn a_query_is_too_large_exactly_when_it_has_more_groups(
        facts in facts(100), query in query(), groups in 0..60_u64, bytes in prop_oneof![Just(40_000_usize), Just(1 << 20)],
    ) {
        let source = MemorySource::new(&facts, 2);
        let budget = Budget { groups, kept: 512, bytes, ..Budget::default() };
        let expected = page_of(&facts, &query);
        match page_for(&source, &query, &budget).map(|page| answer(&page)) {
            Ok(answer) => {
                prop_assert!(expected.1 <= groups);
                prop_assert_eq!(answer, expected);
            }
            Err(error) => {
                prop_assert_eq!(error, EngineError::TooLarge);
                prop_assert!(expected.1 > groups);
            }
        }
    }

    #[test]
    fn all_pages_together_have_every_row_once(facts in facts(100), query in query(), count in 1..40_u32) {
        let source = MemorySource::new(&facts, 2);
        let expected = all_rows(&facts, &query);
        let mut all = Vec::new();
        for page in 1.. {
            let page = page_for(&source, &Query { page, count, ..query.clone() }, &Budget::default()).unwrap();
            let (rows, total) = answer(&page);
            prop_assert_eq!(total, expected.len() as u64);
            all.extend(rows);
            if page.rows() < count as usize {
                break;
            }
        }
        prop_assert_eq!(all, expected);
    }

    #[test]
    fn a_visitor_sees_each_row_of_all_pages_once(
        facts in facts(120), query in query(), bytes in prop_oneof![Just(40_000_usize), Just(48 << 20)],
    ) {
        let source = MemorySource::new(&facts, 2);
        let mut seen = Vec::new();
        let mut visit = |values: &[&str], sums: &Sums| {
            seen.push((values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>(), *sums));
        };
        let budget = Budget { bytes, kept: 512, ..Budget::default() };
        let (page, _) = run(&source, &query, &budget, Some(&mut visit)).unwrap();
        prop_assert_eq!(answer(&page), page_of(&facts, &query));
        let mut expected = all_rows(&facts, &query);
        expected.sort();
        seen.sort();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn a_changed_byte_is_corrupt_or_does_not_affect_the_answer(
        facts in facts(60), query in query(), segment: prop::sample::Index, column in 0..11_usize,
        at: prop::sample::Index, bit in 0..8_u8,
    ) {
        prop_assume!(!facts.is_empty());
        let mut source = MemorySource::new(&facts, 2);
        let before = page_for(&source, &query, &Budget::default()).unwrap();
        let segment = segment.index(source.segments.len());
        let (reference, columns) = &mut source.segments[segment];
        let reference = *reference;
        let at = at.index(columns[column].len());
        columns[column][at] ^= 1_u8 << bit;
        let plan = plan::Plan::new(&query);
        let read = plan.columns.iter().any(|needed| usize::from(needed.number()) == column)
            && !plan.matching_segments(vec![reference]).is_empty();
        match page_for(&source, &query, &Budget::default()) {
            Err(EngineError::Corrupt { segment: named, cause }) => {
                prop_assert!(read);
                prop_assert_eq!((named, usize::from(cause.column)), (segment as i64, column));
            }
            Ok(page) => {
                // The column was not read: it is not needed, or a filter excludes the whole segment.
                prop_assert!(!read || !query.filters.is_empty());
                prop_assert_eq!(page, before);
            }
            Err(error) => prop_assert!(false, "{error:?}"),
        }
    }
}
