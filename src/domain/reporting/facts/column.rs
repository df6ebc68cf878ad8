//! The columns of facts: one table for both formats, and rows of texts in the order of the table (docs/OPERATING.md,
//! "Facts").

use std::ops::Range;

use super::problem::Problem;
use crate::reporting::{Dimension, Measure};

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Date,
    /// A dimension, and its index in a key.
    Key(usize, Dimension),
    AppName,
    Sum(Measure),
}

/// A column in CSV, a member in NDJSON.
#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
}

const fn column(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind }
}

pub const COLUMNS: [Column; 13] = [
    column("date", ColumnKind::Date),
    column("app_id", ColumnKind::Key(0, Dimension::App)),
    column("app_name", ColumnKind::AppName),
    column("country", ColumnKind::Key(1, Dimension::Country)),
    column("placement_id", ColumnKind::Key(2, Dimension::PlacementId)),
    column("ad_tag", ColumnKind::Key(3, Dimension::AdTag)),
    column("demand_source", ColumnKind::Key(4, Dimension::DemandSource)),
    column("sdk_v", ColumnKind::Key(5, Dimension::SdkV)),
    column("ad_requests", ColumnKind::Sum(Measure::AdRequests)),
    column("ad_responses", ColumnKind::Sum(Measure::AdResponses)),
    column("impressions", ColumnKind::Sum(Measure::Impressions)),
    column("clicks", ColumnKind::Sum(Measure::Clicks)),
    column("revenue", ColumnKind::Sum(Measure::Revenue)),
];

/// The index of a column in [`COLUMNS`]. The search begins at `near`: programs write NDJSON members in a fixed order,
/// so each member is found at the first comparison.
pub fn index_of(name: &str, near: usize) -> Option<usize> {
    let found = |range: Range<usize>| {
        let at = COLUMNS.get(range.clone())?.iter().position(|column| column.name == name)?;
        Some(range.start + at)
    };
    let near = near.min(COLUMNS.len());
    found(near..COLUMNS.len()).or_else(|| found(0..near))
}

/// Texts in the order of [`COLUMNS`]; `None` for a missing text.
pub type Texts<'v> = [Option<&'v str>; COLUMNS.len()];

/// Appends the unescaped text to a buffer, or returns the problem.
pub type Unescape = fn(&str, &mut String) -> Result<(), String>;

/// The texts of a row as written in the line, in the order of [`COLUMNS`]. Some texts may still be escaped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cells<'l> {
    texts: Texts<'l>,
    /// A bit for each text that is still escaped.
    escaped: u16,
}

impl<'l> Cells<'l> {
    pub fn set(&mut self, index: usize, text: &'l str, escaped: bool) {
        if let Some(slot) = self.texts.get_mut(index) {
            *slot = Some(text);
            self.escaped |= u16::from(escaped) << index;
        }
    }

    /// The unescaped texts. Texts that were escaped are written to `buffer`, which is cleared first.
    pub fn texts<'v>(self, buffer: &'v mut String, unescape: Unescape) -> Result<Texts<'v>, Problem>
    where
        'l: 'v,
    {
        if self.escaped == 0 {
            return Ok(self.texts);
        }
        buffer.clear();
        let mut ends = [0; COLUMNS.len()];
        for (index, ((text, end), column)) in self.texts.iter().zip(&mut ends).zip(&COLUMNS).enumerate() {
            if let Some(text) = text
                && self.is_escaped(index)
            {
                unescape(text, buffer).map_err(|problem| Problem::of_column(column.name, problem))?;
            }
            *end = buffer.len();
        }
        let mut texts: Texts<'v> = self.texts;
        let mut start = 0;
        for (index, (text, end)) in texts.iter_mut().zip(ends).enumerate() {
            if self.is_escaped(index) {
                *text = buffer.get(start..end);
            }
            start = end;
        }
        Ok(texts)
    }

    fn is_escaped(&self, index: usize) -> bool {
        self.escaped >> index & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::dimension::KEY;

    #[test]
    fn the_columns_are_those_of_the_documented_format() {
        let documented = "date, app_id, app_name, country, placement_id, ad_tag, demand_source, sdk_v, ad_requests, \
            ad_responses, impressions, clicks, revenue";
        assert_eq!(COLUMNS.map(|column| column.name).join(", "), documented);
        for column in &COLUMNS {
            match column.kind {
                ColumnKind::Key(at, dimension) => assert_eq!(KEY[at], dimension, "{}", column.name),
                ColumnKind::Sum(measure) => assert_eq!(measure.as_str(), column.name),
                ColumnKind::Date | ColumnKind::AppName => {}
            }
        }
    }

    #[test]
    fn a_column_is_found_wherever_the_search_begins() {
        for near in 0..=COLUMNS.len() + 1 {
            for (at, column) in COLUMNS.iter().enumerate() {
                assert_eq!(index_of(column.name, near), Some(at), "{} {near}", column.name);
            }
            assert_eq!(index_of("Date", near), None);
        }
    }
}
