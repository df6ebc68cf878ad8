//! Segments: some facts of one day and layer, immutable, each column on its own. A query reads the columns it needs and
//! no other, in place.
//!
//! A column is a header of 24 bytes and a payload, all little-endian:
//!
//! | bytes | header |
//! |---|---|
//! | 0 | [`VERSION`] |
//! | 1 | the column's number |
//! | 2 | width of a row in bytes: 0, 1, 2, 4 or 8 |
//! | 3 | 0 |
//! | 4–7 | rows |
//! | 8–15 | a dimension: distinct values, and bytes of their text; a measure: the base |
//! | 16–23 | XXH3 of the payload, seeded with XXH3 of the bytes before |
//!
//! A dimension's payload is where each distinct value ends in the text (`u32` each), the text, and for each row the place
//! of its value; values are in bytewise order. A measure's is each row's distance from the base. Width 0 has nothing for
//! each row: all are the first value, or the base. So a column that says nothing costs nothing.

mod build;
mod read;
#[cfg(test)]
mod tests;

pub use build::{Builder, Encoded, Full, Segmenter};
pub use read::{Codes, Corrupt, Image, KeyColumn, MeasureColumn, Values};

use super::{
    dimension::{Dimension, KEY},
    metric::Measure,
};

/// The format's version. A segment of another is refused.
pub const VERSION: u8 = 1;

/// The most rows of a segment, so that a place among its values fits two bytes.
pub const MAX_ROWS: usize = 1 << 16;
/// The most text that a segment's dictionary of one dimension holds, in bytes. With where values end (256 KiB) and places
/// (128 KiB) a column stays below 1.5 MiB, where SQLite in a Durable Object takes 2 MB.
pub const MAX_TEXT: usize = 1 << 20;
/// A segment of no more than this is kept as one value, its [`Image`]; reading the columns that are not needed costs less
/// than a row of SQLite for each.
pub const MAX_IMAGE: usize = 16 << 10;

const HEADER: usize = 24;

/// How many columns a segment has: the dimensions of a [`Key`](super::dimension::Key), then the measures.
pub const COLUMNS: usize = KEY.len() + Measure::ALL.len();

/// A column of a segment, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u8);

impl Column {
    /// The column of a dimension; none for the date, which a segment has one of.
    pub fn of_dimension(dimension: Dimension) -> Option<Self> {
        u8::try_from(dimension.key_index()?).ok().map(Self)
    }

    pub fn of_measure(measure: Measure) -> Self {
        // Eleven columns in all.
        Self(u8::try_from(KEY.len() + measure.index()).unwrap_or(u8::MAX))
    }

    /// 0 to 10; what columns are stored under.
    pub fn number(self) -> u8 {
        self.0
    }

    /// All of them, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).map(Self).take(COLUMNS)
    }
}
