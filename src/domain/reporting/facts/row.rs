//! Checks the values of a row, and the totals of its day.

use std::{collections::BTreeMap, ops::RangeInclusive};

use super::{
    column::{COLUMNS, ColumnKind, Texts},
    fact::{Fact, Format},
    number,
    problem::{Problem, bare, quoted},
};
use crate::{
    model::{UtcDay, country::Country, ids::AppId},
    reporting::{
        Dimension, Measure, Sums,
        dimension::{KEY, MAX_VALUE, OWN_DEMAND_SOURCE, is_value},
        metric::MAX_OF_A_DAY,
    },
};

/// The days that facts may have. The bounds catch a mistyped year.
const DAYS: RangeInclusive<&str> = "2000-01-01"..="2099-12-31";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Checks a row. `day` is the day of the whole upload; `None` if each row has a date.
pub fn fact<'v>(texts: &Texts<'v>, format: Format, day: Option<UtcDay>) -> Result<Fact<'v>, Problem> {
    let mut fact = Fact {
        // Without `day`, the row's date replaces this, or the row is refused.
        day: day.unwrap_or(UtcDay::of_ms(0)),
        key: KEY.map(Dimension::unknown),
        sums: Sums::default(),
        app_name: None,
    };
    for (column, text) in COLUMNS.iter().zip(texts) {
        let checked = match (column.kind, *text) {
            (ColumnKind::Date, Some(text)) => date(text, day).map(|day| fact.day = day),
            (ColumnKind::Key(at, dimension), Some(text)) => value(dimension, text).map(|value| {
                if let Some(slot) = fact.key.get_mut(at) {
                    *slot = value;
                }
            }),
            (ColumnKind::AppName, Some("") | None) => Ok(()),
            (ColumnKind::AppName, Some(name)) => check_text(name).map(|()| fact.app_name = Some(name)),
            (ColumnKind::Sum(measure), Some(text)) => amount(measure, text, format).map(|amount| {
                if let Some(slot) = fact.sums.get_mut(measure.index()) {
                    *slot = amount;
                }
            }),
            (ColumnKind::Date, None) if day.is_some() => Ok(()),
            (ColumnKind::Date | ColumnKind::Key(_, Dimension::App) | ColumnKind::Sum(_), None) => {
                Err("is missing".to_owned())
            }
            (ColumnKind::Key(..), None) => Ok(()),
        };
        checked.map_err(|message| Problem::of_column(column.name, message))?;
    }
    Ok(fact)
}

/// Parses a day that facts may have. The error is a message with the accepted format and range.
pub fn day(text: &str) -> Result<UtcDay, String> {
    // Dates in this format sort like their texts.
    let found = UtcDay::parse(text).filter(|_| DAYS.contains(&text));
    found.ok_or_else(|| {
        let (first, last) = (DAYS.start(), DAYS.end());
        let expected = format!("a date from {first} to {last}, written YYYY-MM-DD");
        wrong(&expected, text)
    })
}

fn date(text: &str, upload_day: Option<UtcDay>) -> Result<UtcDay, String> {
    match upload_day {
        Some(upload_day) if UtcDay::parse(text) == Some(upload_day) => Ok(upload_day),
        Some(upload_day) => {
            let expected = format!("{upload_day}, the day that the upload is for");
            Err(wrong(&expected, text))
        }
        None => day(text),
    }
}

fn value(dimension: Dimension, text: &str) -> Result<&str, String> {
    match (dimension, text) {
        (Dimension::App, text) => match AppId::parse(text) {
            Some(_) => Ok(text),
            None => Err(wrong("exactly 8 digits", text)),
        },
        (_, "") => Ok(dimension.unknown()),
        (Dimension::Country, text) => match Country::parse(text) {
            Some(country) => Ok(country.as_str()),
            None if text.eq_ignore_ascii_case(dimension.unknown()) => Ok(dimension.unknown()),
            None => Err(wrong("an assigned ISO 3166 alpha-2 code or empty", text)),
        },
        // Letter case is ignored, since a reader of the report would not distinguish the two spellings.
        (Dimension::DemandSource, text) if text.eq_ignore_ascii_case(OWN_DEMAND_SOURCE) => {
            Err(format!("must not be {OWN_DEMAND_SOURCE:?}: Signpost adds those facts itself"))
        }
        (_, text) => check_text(text).map(|()| text),
    }
}

/// Checks a dimension's value or an app's name. A byte order mark inside a text comes from joining two files, and would
/// be invisible in a report.
fn check_text(text: &str) -> Result<(), String> {
    // Most texts are printable ASCII. Only other texts are decoded into characters.
    let plain = text.len() <= MAX_VALUE && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if plain || (is_value(text) && !text.contains(BYTE_ORDER_MARK)) {
        return Ok(());
    }
    let expected = "at most 128 bytes without control characters or byte order marks";
    Err(wrong(expected, text))
}

/// The message for a text that is not as expected.
fn wrong(expected: &str, text: &str) -> String {
    format!("must be {expected}, not {}", quoted(text))
}

fn amount(measure: Measure, text: &str, format: Format) -> Result<i64, String> {
    let (amount, expected) = match measure {
        Measure::Revenue => (
            number::micro_usd(text, format),
            "USD, a decimal number with at most 6 decimals and at most 9007199254.740992 in magnitude",
        ),
        _ => (number::count(text), "a whole number from 0 to 9007199254740992"),
    };
    amount.ok_or_else(|| {
        let found = match format {
            Format::Csv => quoted(text),
            Format::Ndjson => bare(text),
        };
        format!("must be {expected}, not {found}")
    })
}

/// The totals of each day of an upload so far.
#[derive(Debug, Default)]
pub struct DayTotals(BTreeMap<UtcDay, Sums>);

impl DayTotals {
    /// Adds a row. Fails if its day would exceed [`MAX_OF_A_DAY`] in a measure.
    pub fn add(&mut self, fact: &Fact<'_>) -> Result<(), Problem> {
        let totals = self.0.entry(fact.day).or_default();
        let mut sums = *totals;
        for ((sum, amount), measure) in sums.iter_mut().zip(fact.sums).zip(Measure::ALL) {
            // Neither number exceeds 2^53, so the sum does not overflow. Adding magnitudes ensures that the total of
            // any subset of the rows also stays within the maximum.
            *sum += amount.abs();
            if *sum > MAX_OF_A_DAY {
                return Err(Problem::of_column(
                    measure.as_str(),
                    format!("brings {} above the daily maximum, {MAX_OF_A_DAY}{}", fact.day, unit(measure)),
                ));
            }
        }
        *totals = sums;
        Ok(())
    }
}

fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Revenue => " micro-USD in magnitude",
        _ => "",
    }
}
