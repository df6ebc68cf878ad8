//! Segments are read as they were written, and damage is detected.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::reporting::{dimension::Key, engine::testing::sums, metric::Sums};

type Rows = BTreeMap<[String; 6], Sums>;

/// The rows of a segment by key.
fn rows(encoded: &EncodedSegment) -> Rows {
    let keys: [_; 6] = std::array::from_fn(|at| {
        let column = KeyColumn::open(&encoded.columns[at], KEY[at], encoded.rows).unwrap();
        let values: Vec<_> = column.values().collect();
        move |row| values[column.codes.get(row).unwrap()].to_owned()
    });
    let sums = Measure::ALL.map(|measure| {
        let bytes = &encoded.columns[KEY.len() + measure.index()];
        MeasureColumn::open(bytes, measure, encoded.rows).unwrap()
    });
    let row = |at| {
        let key = keys.each_ref().map(|key| key(at));
        (key, sums.map(|sum| sum.get(at).unwrap()))
    };
    let rows: Rows = (0..encoded.rows as usize).map(row).collect();
    assert_eq!(rows.len(), encoded.rows as usize, "a key must have one row");
    rows
}

fn expected_rows(facts: &[([String; 6], Sums)]) -> Rows {
    let mut rows = Rows::new();
    for (key, sums) in facts {
        let row = rows.entry(key.clone()).or_default();
        row.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
    }
    rows
}

fn build(facts: &[([String; 6], Sums)]) -> Vec<EncodedSegment> {
    let mut segmenter = Segmenter::default();
    for (key, sums) in facts {
        segmenter.add(&key.each_ref().map(String::as_str), sums);
    }
    segmenter.finish()
}

fn facts() -> impl Strategy<Value = Vec<([String; 6], Sums)>> {
    let value = prop_oneof!["[a-c]", "[a-z]{1,3}", "ключ-[0-9]", "[ -~]{1,128}"];
    let number = prop_oneof![Just(0), 0..9_i64, 0..300_i64, 0..70_000_i64, 0..(1_i64 << 45)];
    prop::collection::vec((prop::array::uniform6(value), sums(number)), 1..60)
}

proptest! {
    #[test]
    fn a_segment_has_the_sums_of_its_facts(facts in facts()) {
        let encoded = build(&facts);
        prop_assert_eq!(encoded.len(), 1);
        prop_assert_eq!(rows(&encoded[0]), expected_rows(&facts));
        let total: Vec<i64> = (0..5).map(|at| facts.iter().map(|(_, sums)| sums[at]).sum()).collect();
        prop_assert_eq!(encoded[0].sums.as_slice(), total.as_slice());
        let image = encoded[0].image();
        for (column, bytes) in Column::all().zip(&encoded[0].columns) {
            prop_assert_eq!(Image(&image).column(column), bytes.as_slice());
        }
    }

    #[test]
    fn a_changed_byte_is_detected(facts in facts(), column in 0..COLUMNS, at: prop::sample::Index, bit in 0..8_u8) {
        let mut encoded = build(&facts).remove(0);
        let at = at.index(encoded.columns[column].len());
        encoded.columns[column][at] ^= 1_u8 << bit;
        let bytes = &encoded.columns[column];
        let refused = match KEY.get(column) {
            Some(dimension) => KeyColumn::open(bytes, *dimension, encoded.rows).is_err(),
            None => MeasureColumn::open(bytes, Measure::ALL[column - KEY.len()], encoded.rows).is_err(),
        };
        prop_assert!(refused, "byte {at} of column {column}");
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), rows in 0..5_u32) {
        let _ = KeyColumn::open(&bytes, Dimension::Country, rows);
        let _ = MeasureColumn::open(&bytes, Measure::Clicks, rows);
        for column in Column::all() {
            let _ = Image(&bytes).column(column);
        }
    }
}

fn key<'v>(app: &'v str, placement: &'v str, tag: &'v str) -> Key<'v> {
    [app, "DE", placement, tag, "house", "7.0.0"]
}

#[test]
fn a_truncated_or_different_column_is_refused() {
    let mut builder = Builder::default();
    for (app, revenue) in [("10000001", 5), ("10000002", 6)] {
        let sums = [1, 2, 3, 4, revenue];
        builder.add(&key(app, "home", "banner"), &sums).unwrap();
    }
    let encoded = builder.encode();
    let app = &encoded.columns[0];
    for length in 0..app.len() {
        let column = KeyColumn::open(&app[..length], Dimension::App, 2);
        assert!(column.is_err(), "{length}");
    }
    let mut newer = app.clone();
    newer[0] = VERSION + 1;
    for (bytes, dimension, rows, reason) in [
        (app, Dimension::Country, 2, "its number is that of another column"),
        (app, Dimension::App, 3, "its number of rows differs from the segment's"),
        (&newer, Dimension::App, 2, "its version is unknown"),
    ] {
        let column = KeyColumn::open(bytes, dimension, rows);
        assert_eq!(column.unwrap_err().reason, reason, "{dimension:?}, {rows} rows");
    }
    // All rows are in Germany, so the column has one value and no codes.
    let country = KeyColumn::open(&encoded.columns[1], Dimension::Country, 2).unwrap();
    assert!(matches!(country.codes, Codes::Constant));
    assert_eq!(encoded.columns[1].len(), HEADER + 4 + 2);
}

#[test]
fn a_full_segment_is_followed_by_another() {
    let mut segmenter = Segmenter::default();
    for n in 0..2 * (MAX_ROWS + 10) {
        let tag = format!("tag-{}", n / 2);
        segmenter.add(&key("10000001", "home", &tag), &[1, 0, 0, 0, 0]);
    }
    let segments = segmenter.finish();
    let rows: Vec<_> = segments.iter().map(|segment| segment.rows as usize).collect();
    assert_eq!(rows, [MAX_ROWS, 10]);
    let requests = segments.iter().map(|segment| segment.sums[0]);
    assert_eq!(requests.sum::<i64>(), 2 * (MAX_ROWS + 10) as i64);
}

#[test]
fn every_column_stays_below_the_limit_of_sqlite() {
    let mut segmenter = Segmenter::default();
    for n in 0..40_000 {
        let tag = format!("{n:0128}");
        segmenter.add(&key("10000001", &tag, &tag), &[i64::from(n); 5]);
    }
    let segments = segmenter.finish();
    assert_eq!(segments.iter().map(|segment| segment.rows).sum::<u32>(), 40_000);
    for column in segments.iter().flat_map(|segment| &segment.columns) {
        assert!(column.len() < 1_500_000, "{}", column.len());
    }
    let tags = KeyColumn::open(&segments[0].columns[3], Dimension::AdTag, segments[0].rows).unwrap();
    assert!(matches!(tags.codes, Codes::Two(_)));
}
