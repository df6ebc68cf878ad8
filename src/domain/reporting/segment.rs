//! Segments: immutable sets of facts of one day and layer, stored by column. Queries read only the columns they need.
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
//! | 8–15 | for a dimension: number of distinct values, and bytes of their text; for a measure: the base |
//! | 16–23 | XXH3 of the payload, seeded with XXH3 of the bytes before |
//!
//! The payload of a dimension is the end of each distinct value in the text (`u32` each), the text, and for each row
//! its code, which is the index of its value. Values are in bytewise order. The payload of a measure is the distance of
//! each row from the base. Width 0 stores nothing for each row: all rows have the first value, or the base.

mod build;
mod read;
#[cfg(test)]
mod tests;

pub use build::{Builder, EncodedSegment, SegmentFull, Segmenter};
pub(crate) use read::to_usize;
pub use read::{Codes, Corrupt, Image, KeyColumn, MeasureColumn, UNKNOWN_VERSION, Values, each_row};

use super::{
    dimension::{Dimension, KEY},
    metric::Measure,
};

/// The version of the format. Other versions are refused with [`UNKNOWN_VERSION`].
pub const VERSION: u8 = 1;

/// Maximum rows of a segment, so that a code fits two bytes.
pub const MAX_ROWS: usize = 1 << 16;
/// Maximum text of one dimension's dictionary, in bytes. With the ends of values (256 KiB) and the codes (128 KiB) a
/// column stays below 1.5 MiB; SQLite in a Durable Object accepts values up to 2 MB.
pub const MAX_TEXT: usize = 1 << 20;
/// A segment of at most this many bytes is stored as one value, its [`Image`]. Reading unused columns then costs less
/// than one SQLite row per column.
pub const MAX_IMAGE: usize = 16 << 10;

const HEADER: usize = 24;

/// The number of columns of a segment: the dimensions of a [`Key`](super::dimension::Key), then the measures.
pub const COLUMNS: usize = KEY.len() + Measure::ALL.len();

/// A column of a segment, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u8);

impl Column {
    /// The column of a dimension; `None` for the date, since a segment has only one day.
    pub fn of_dimension(dimension: Dimension) -> Option<Self> {
        u8::try_from(dimension.key_index()?).ok().map(Self)
    }

    /// The column of a measure.
    pub fn of_measure(measure: Measure) -> Self {
        // There are eleven columns in all.
        Self(u8::try_from(KEY.len() + measure.index()).unwrap_or(u8::MAX))
    }

    /// The number under which the column is stored, 0 to 10.
    pub fn number(self) -> u8 {
        self.0
    }

    /// All columns, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).map(Self).take(COLUMNS)
    }
}
