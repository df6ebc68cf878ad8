//! Segments are read as they were written, and damage is detected.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::reporting::{dimension::Key, metric::Sums};

type Rows = BTreeMap<[String; 6], Sums>;

/// The rows of a segment by key.
fn rows(encoded: &Encoded) -> Rows {
    let mut rows = Rows::new();
    let columns = &encoded.columns;
    for row in 0..encoded.rows as usize {
        let key = std::array::from_fn(|at| {
            let column = KeyColumn::open(&columns[at], KEY[at], encoded.rows).unwrap();
            column
                .values()
                .nth(column.codes.get(row).unwrap())
                .unwrap()
                .to_owned()
        });
        let sums = Measure::ALL.map(|measure| {
            let bytes = &columns[KEY.len() + measure.index()];
            MeasureColumn::open(bytes, measure, encoded.rows)
                .unwrap()
                .get(row)
                .unwrap()
        });
        assert!(rows.insert(key, sums).is_none(), "a key must have one row");
    }
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

fn build(facts: &[([String; 6], Sums)]) -> Vec<Encoded> {
    let mut segmenter = Segmenter::default();
    for (key, sums) in facts {
        segmenter.add(&key.each_ref().map(String::as_str), sums);
    }
    segmenter.finish()
}

fn facts() -> impl Strategy<Value = Vec<([String; 6], Sums)>> {
    let value = prop_oneof!["[a-c]", "[a-z]{1,3}", "ключ-[0-9]", "[ -~]{1,128}"];
    let number = prop_oneof![Just(0), 0..9_i64, 0..300_i64, 0..70_000_i64, 0..(1_i64 << 45)];
    let sums = (prop::array::uniform4(number.clone()), number, any::<bool>())
        .prop_map(|([a, b, c, d], revenue, back)| [a, b, c, d, if back { -revenue } else { revenue }]);
    prop::collection::vec((prop::array::uniform6(value), sums), 1..60)
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

#[test]
fn a_truncated_or_different_column_is_refused() {
    let key: Key<'_> = ["10000001", "DE", "home", "banner", "house", "7.0.0"];
    let mut builder = Builder::default();
    builder.add(&key, &[1, 2, 3, 4, 5]).unwrap();
    builder
        .add(
            &["10000002", "DE", "home", "banner", "house", "7.0.0"],
            &[1, 2, 3, 4, 6],
        )
        .unwrap();
    let encoded = builder.encode();
    let app = &encoded.columns[0];
    for length in 0..app.len() {
        assert!(
            KeyColumn::open(&app[..length], Dimension::App, 2).is_err(),
            "{length}"
        );
    }
    assert_eq!(
        KeyColumn::open(app, Dimension::Country, 2).unwrap_err().reason,
        "it is another column"
    );
    assert_eq!(
        KeyColumn::open(app, Dimension::App, 3).unwrap_err().reason,
        "it has other rows than its segment"
    );
    let mut newer = app.clone();
    newer[0] = VERSION + 1;
    assert_eq!(
        KeyColumn::open(&newer, Dimension::App, 2).unwrap_err().reason,
        "it is of another version"
    );
    // All rows are in Germany, so the column has one value and no codes.
    assert!(matches!(
        KeyColumn::open(&encoded.columns[1], Dimension::Country, 2)
            .unwrap()
            .codes,
        Codes::Constant
    ));
    assert_eq!(encoded.columns[1].len(), HEADER + 4 + 2);
}

#[test]
fn a_full_segment_is_followed_by_another() {
    let mut segmenter = Segmenter::default();
    let rows = MAX_ROWS + 10;
    for n in 0..rows {
        let tag = format!("tag-{n}");
        segmenter.add(
            &["10000001", "DE", "home", &tag, "house", "7.0.0"],
            &[1, 0, 0, 0, 0],
        );
        segmenter.add(
            &["10000001", "DE", "home", &tag, "house", "7.0.0"],
            &[1, 0, 0, 0, 0],
        );
    }
    let segments = segmenter.finish();
    assert_eq!(
        segments
            .iter()
            .map(|segment| segment.rows as usize)
            .collect::<Vec<_>>(),
        [MAX_ROWS, 10]
    );
    assert_eq!(
        segments.iter().map(|segment| segment.sums[0]).sum::<i64>(),
        2 * rows as i64
    );
}

#[test]
fn every_column_stays_below_the_limit_of_sqlite() {
    let mut segmenter = Segmenter::default();
    for n in 0..40_000 {
        let tag = format!("{n:0128}");
        segmenter.add(
            &["10000001", "DE", &tag, &tag, "house", "7.0.0"],
            &[i64::from(n); 5],
        );
    }
    let segments = segmenter.finish();
    assert_eq!(segments.iter().map(|segment| segment.rows).sum::<u32>(), 40_000);
    assert!(
        segments
            .iter()
            .flat_map(|segment| &segment.columns)
            .all(|column| column.len() < 1_500_000)
    );
    let [first, ..] = segments.as_slice() else {
        panic!("no segments")
    };
    assert!(matches!(
        KeyColumn::open(&first.columns[3], Dimension::AdTag, first.rows)
            .unwrap()
            .codes,
        Codes::Two(_)
    ));
}
