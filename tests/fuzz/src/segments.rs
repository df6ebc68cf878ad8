//! Fuzz target for segments of facts as a ledger stores them.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{
    reports::check_written,
    world::{FACTS, Fact, LEDGER, Ledger},
};
use domain::{
    model::time::UtcDay,
    reporting::{
        Dimension, Measure,
        dimension::KEY,
        engine::{Budget, EngineError, SegmentRef, run},
        query::Query,
        segment::{
            COLUMNS, Codes, Column, Corrupt, EncodedSegment, Image, KeyColumn, MAX_ROWS, MeasureColumn, Segmenter,
        },
    },
};

/// The length in bytes of the header before its checksum.
const DESCRIBED: usize = 16;
const HEADER: usize = 24;

/// Input: a segment's number of rows as `u32`, and its image.
///
/// Unchanged, a column opens only with a valid checksum. With repaired checksums, damage is refused or read as rows: no
/// more than the segment has, each with a value, and without a panic on the way to a report.
pub fn image(input: &[u8]) {
    let Some((rows, image)) = input.split_first_chunk() else {
        return;
    };
    // The number of rows comes from the ledger's table, not from the image.
    let rows = u32::from_le_bytes(*rows) % (u32::try_from(MAX_ROWS).unwrap() + 1);
    let mut columns: Vec<Vec<u8>> = Column::all().map(|column| Image(image).column(column).to_vec()).collect();
    let _ = open(&columns, rows);
    for (number, column) in (0_u8..).zip(&mut columns) {
        repair(column, number, rows);
    }
    if open(&columns, rows).is_err() {
        return;
    }
    let day = UtcDay::parse("2026-11-01").unwrap();
    let reference = SegmentRef { id: 0, day, rows };
    let mut ledger = Ledger { segments: vec![(reference, columns)] };
    // A valid segment of the same day makes values of both meet.
    if let Some((valid, columns)) = LEDGER.segments.iter().find(|(segment, _)| segment.day == day) {
        ledger.segments.push((SegmentRef { id: 1, ..*valid }, columns.clone()));
    }
    let known: u64 = ledger.segments.iter().map(|(segment, _)| u64::from(segment.rows)).sum();
    for query in QUERIES {
        let query = Query::parse(query).unwrap();
        match run(&ledger, &query, &Budget::default(), None) {
            Ok((page, _)) => {
                assert!(page.total <= known && page.rows() <= 50);
                // Control characters, which no fact contains, are written, but `records` does not read them back.
                let is_value = |text: &str| !text.chars().any(char::is_control);
                if (0..page.rows()).all(|at| {
                    (0..query.dimensions.len()).all(|index| is_value(page.row(at).unwrap().value(index).unwrap()))
                }) {
                    check_written(page);
                }
            }
            Err(error) => assert!(!matches!(error, EngineError::TooLarge), "{error:?}"),
        }
    }
}

const QUERIES: [&str; 3] = [
    r#"{"date_range":{"start_date":"2026-11-01","end_date":"2026-11-02"},"dimensions":["date","app","country","placement_id","ad_tag","demand_source","sdk_v"],"metrics":["impressions","clicks","revenue","ecpm","click_rate"],"pagination":{"page":1,"count":50}}"#,
    r#"{"date_range":{"start_date":"2026-11-01","end_date":"2026-11-02"},"dimensions":["app"],"metrics":["ad_requests","ad_responses","impressions","clicks","revenue","ecpm","fill_rate","show_rate","click_rate"],"order_by":[{"column":"ecpm","ascending":false}],"pagination":{"page":1,"count":50}}"#,
    r#"{"date_range":{"start_date":"2026-11-01","end_date":"2026-11-02"},"dimensions":["country","sdk_v"],"metrics":["revenue"],"filters":[{"dimension":"country","values":["DE","US","ZZ"]},{"dimension":"app","values":["10000001"]}],"order_by":[{"column":"country","ascending":true}],"pagination":{"page":1,"count":50}}"#,
];

/// Opens every column and reads every row of the valid ones.
fn open(columns: &[Vec<u8>], rows: u32) -> Result<(), Corrupt> {
    let mut result = Ok(());
    let mut bytes = columns.iter();
    for (dimension, bytes) in KEY.into_iter().zip(&mut bytes) {
        match KeyColumn::open(bytes, dimension, rows) {
            Ok(column) => {
                let values: Vec<_> = column.values().collect();
                assert_eq!(values.len(), column.distinct());
                // A constant column does not store its number of rows.
                let written = match column.codes {
                    Codes::Constant => rows.min(1),
                    Codes::One(_) | Codes::Two(_) => rows,
                };
                for row in 0..usize::try_from(written).unwrap() {
                    assert!(column.codes.get(row).unwrap() < values.len());
                }
            }
            Err(corrupt) => result = Err(corrupt),
        }
    }
    for (measure, bytes) in Measure::ALL.into_iter().zip(bytes) {
        match MeasureColumn::open(bytes, measure, rows) {
            Ok(column) => {
                let last = usize::try_from(rows).unwrap().checked_sub(1);
                assert!(last.is_none_or(|last| column.get(last).is_some()));
            }
            Err(corrupt) => result = Err(corrupt),
        }
    }
    result
}

/// Repairs a column's checksum, and its version, number and rows, which the checksum does not protect.
fn repair(column: &mut [u8], number: u8, rows: u32) {
    if column.len() < HEADER {
        return;
    }
    (column[0], column[1]) = (1, number);
    column[4..8].copy_from_slice(&rows.to_le_bytes());
    let (header, payload) = column.split_at_mut(HEADER);
    let checksum = xxh3_64_with_seed(payload, xxh3_64(&header[..DESCRIBED]));
    header[DESCRIBED..].copy_from_slice(&checksum.to_le_bytes());
}

/// Named valid inputs, from which the corpus is made.
pub fn valid_inputs() -> Vec<(String, Vec<u8>)> {
    let facts = |name: &str, facts: &[Fact]| -> (String, Vec<u8>) {
        let mut segmenter = Segmenter::default();
        for (_, key, sums) in facts {
            segmenter.add(&key.each_ref().map(String::as_str), sums);
        }
        let segments = segmenter.finish();
        (name.to_owned(), segments.first().map_or_else(|| vec![0; 4], input))
    };
    let sample: Vec<Fact> = FACTS.iter().take(52).cloned().collect();
    let with = |change: fn(usize, &mut Fact)| -> Vec<Fact> {
        let mut facts = sample.clone();
        facts.iter_mut().enumerate().for_each(|(index, fact)| change(index, fact));
        facts
    };
    let mut images = vec![
        facts("a-day-of-the-demo", &sample),
        facts("one-row", &sample[..1]),
        facts("two-rows", &sample[..2]),
        facts("ten-rows", &sample[..10]),
        facts("nothing", &[]),
        facts("no-traffic", &with(|_, fact| fact.2 = [0; 5])),
        facts("clicks-alone", &with(|_, fact| fact.2 = [0, 0, 0, fact.2[3], 0])),
        facts("corrections", &with(|_, fact| fact.2[4] = -fact.2[4])),
        facts(
            "corrections-and-revenue",
            &with(|index, fact| {
                if index % 2 == 0 {
                    fact.2[4] = -fact.2[4];
                }
            }),
        ),
        facts(
            "as-much-as-a-day-may-have",
            &with(|index, fact| {
                fact.2 = [if index == 0 { 1 << 53 } else { 0 }; 5];
            }),
        ),
        facts(
            "unknown-everywhere",
            &with(|_, fact| {
                fact.1 = KEY.map(|dimension| match dimension {
                    Dimension::App => "10000001".to_owned(),
                    dimension => dimension.unknown().to_owned(),
                });
            }),
        ),
        facts("long-values", &with(|index, fact| fact.1[2] = format!("{index:0128}"))),
        facts(
            "values-of-many-scripts",
            &with(|index, fact| {
                fact.1[3] = ["Bannière", "日本", "ключ", "a,b", "\"", " "][index % 6].to_owned();
            }),
        ),
    ];
    // More than 256 distinct values, so that codes are two bytes wide.
    let many: Vec<Fact> = (0..300_i64)
        .map(|number| {
            let mut fact = sample[0].clone();
            fact.1[5] = format!("7.{number}");
            fact.2 = [number * 70_000, number, number << 33, 1, -number];
            fact
        })
        .collect();
    images.push(facts("three-hundred-versions", &many));
    images
}

fn input(segment: &EncodedSegment) -> Vec<u8> {
    assert_eq!(segment.columns.len(), COLUMNS);
    [segment.rows.to_le_bytes().to_vec(), segment.image()].concat()
}
