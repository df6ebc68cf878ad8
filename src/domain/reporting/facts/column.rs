//! The columns of facts, docs/OPERATING.md, "The operator's API": one table for both formats, and a row of texts in its order.

use std::ops::Range;

use super::problem::Problem;
use crate::reporting::{Dimension, Measure};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Date,
    /// A dimension, and its place in a key.
    Key(usize, Dimension),
    AppName,
    Sum(Measure),
}

/// A column of CSV, a member in NDJSON.
#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

pub const COLUMNS: [Column; 13] = [
    column("date", Kind::Date),
    column("app_id", Kind::Key(0, Dimension::App)),
    column("app_name", Kind::AppName),
    column("country", Kind::Key(1, Dimension::Country)),
    column("placement_id", Kind::Key(2, Dimension::PlacementId)),
    column("ad_tag", Kind::Key(3, Dimension::AdTag)),
    column("demand_source", Kind::Key(4, Dimension::DemandSource)),
    column("sdk_v", Kind::Key(5, Dimension::SdkV)),
    column("ad_requests", Kind::Sum(Measure::AdRequests)),
    column("ad_responses", Kind::Sum(Measure::AdResponses)),
    column("impressions", Kind::Sum(Measure::Impressions)),
    column("clicks", Kind::Sum(Measure::Clicks)),
    column("revenue", Kind::Sum(Measure::Revenue)),
];

/// The place of a column in [`COLUMNS`]. The search begins at `near`: NDJSON written by a program has its members in one
/// order, so that each is found at the first look.
pub fn place(name: &str, near: usize) -> Option<usize> {
    let found = |range: Range<usize>| {
        let at = COLUMNS
            .get(range.clone())?
            .iter()
            .position(|column| column.name == name)?;
        Some(range.start + at)
    };
    let near = near.min(COLUMNS.len());
    found(near..COLUMNS.len()).or_else(|| found(0..near))
}

/// Texts in the order of [`COLUMNS`]; none for what is not there.
pub type Texts<'v> = [Option<&'v str>; COLUMNS.len()];

/// Appends the text that is meant to a buffer, or says why there is none.
pub type Unescape = fn(&str, &mut String) -> Result<(), String>;

/// A row as it is written, in the order of [`COLUMNS`]: texts of the line itself, some of them still escaped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cells<'l> {
    texts: Texts<'l>,
    /// A bit for each that is still escaped.
    escaped: u16,
}

impl<'l> Cells<'l> {
    pub fn set(&mut self, place: usize, text: &'l str, escaped: bool) {
        if let Some(slot) = self.texts.get_mut(place) {
            *slot = Some(text);
            self.escaped |= u16::from(escaped) << place;
        }
    }

    /// The texts that are meant. Those that were escaped are put into `buffer`, in place of what it held.
    pub fn texts<'v>(self, buffer: &'v mut String, unescape: Unescape) -> Result<Texts<'v>, Problem>
    where
        'l: 'v,
    {
        if self.escaped == 0 {
            return Ok(self.texts);
        }
        buffer.clear();
        let mut ends = [0; COLUMNS.len()];
        for (place, ((text, end), column)) in self.texts.iter().zip(&mut ends).zip(&COLUMNS).enumerate() {
            if let Some(text) = text
                && self.is_escaped(place)
            {
                unescape(text, buffer).map_err(|problem| Problem::of_column(column.name, problem))?;
            }
            *end = buffer.len();
        }
        let mut texts: Texts<'v> = self.texts;
        let mut start = 0;
        for (place, (text, end)) in texts.iter_mut().zip(ends).enumerate() {
            if self.is_escaped(place) {
                *text = buffer.get(start..end);
            }
            start = end;
        }
        Ok(texts)
    }

    fn is_escaped(&self, place: usize) -> bool {
        self.escaped >> place & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::dimension::KEY;

    #[test]
    fn the_columns_are_the_designs() {
        let names = COLUMNS.map(|column| column.name);
        assert_eq!(
            names.join(", "),
            "date, app_id, app_name, country, placement_id, ad_tag, demand_source, sdk_v, ad_requests, \
             ad_responses, impressions, clicks, revenue"
        );
        for column in &COLUMNS {
            match column.kind {
                Kind::Key(at, dimension) => assert_eq!(KEY[at], dimension, "{}", column.name),
                Kind::Sum(measure) => assert_eq!(measure.name(), column.name),
                Kind::Date | Kind::AppName => {}
            }
        }
    }

    #[test]
    fn a_column_is_found_wherever_the_search_begins() {
        for near in 0..=COLUMNS.len() + 1 {
            for (at, column) in COLUMNS.iter().enumerate() {
                assert_eq!(place(column.name, near), Some(at), "{} from {near}", column.name);
            }
            assert_eq!(place("Date", near), None);
        }
    }
}
