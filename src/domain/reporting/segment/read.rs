//! Reads columns in place. Opening bytes yields either the column that was written or [`Corrupt`].

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{COLUMNS, Column, HEADER, VERSION};
use crate::{
    model::parts::split,
    reporting::{
        Dimension, Measure,
        dimension::{KEY, Key},
        metric::Sums,
    },
};

/// A column that differs from what was written, or has another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// The number of the requested column.
    pub column: u8,
    /// The problem, in words for the log.
    pub reason: &'static str,
}

/// The [`Corrupt::reason`] of a column whose format version this code does not know, because newer code wrote it.
pub const UNKNOWN_VERSION: &str = "its version is unknown";

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for Corrupt {}

/// A verified dimension column.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn<'b> {
    ends: &'b [[u8; 4]],
    text: &'b str,
    /// The code of each row.
    pub codes: Codes<'b>,
}

/// The code of each row: the index of its value among the column's distinct values.
#[derive(Clone, Copy, Debug)]
pub enum Codes<'b> {
    /// Every row has the first value.
    Constant,
    /// `u8` each.
    One(&'b [u8]),
    /// `u16` each, little-endian.
    Two(&'b [[u8; 2]]),
}

/// A verified measure column.
#[derive(Clone, Copy, Debug)]
pub struct MeasureColumn<'b> {
    /// The value to which the distances of the rows are added.
    pub base: i64,
    /// The distance of each row.
    pub values: Values<'b>,
}

/// The distance of each row from the base, unsigned, little-endian.
#[derive(Clone, Copy, Debug)]
pub enum Values<'b> {
    /// Every row has the base as its value.
    Constant,
    /// `u8` each.
    One(&'b [u8]),
    /// `u16` each.
    Two(&'b [[u8; 2]]),
    /// `u32` each.
    Four(&'b [[u8; 4]]),
    /// `u64` each.
    Eight(&'b [[u8; 8]]),
}

impl<'b> KeyColumn<'b> {
    /// Verifies and opens the column of a dimension in a segment of `rows` rows.
    ///
    /// # Errors
    /// [`Corrupt`], also for the bytes of another column, or if the column has a different number of rows.
    pub fn open(bytes: &'b [u8], dimension: Dimension, rows: u32) -> Result<Self, Corrupt> {
        let column = Column::of_dimension(dimension).map_or(u8::MAX, Column::number);
        let corrupt = |reason| Corrupt { column, reason };
        let (width, details, payload) = verify(bytes, column, rows)?;
        let [v1, v2, v3, v4, t1, t2, t3, t4] = details;
        let distinct = to_usize(u32::from_le_bytes([v1, v2, v3, v4]));
        let text = to_usize(u32::from_le_bytes([t1, t2, t3, t4]));
        let (ends, rest) = distinct
            .checked_mul(4)
            .and_then(|ends| payload.split_at_checked(ends))
            .ok_or(corrupt("its values are cut off"))?;
        let (text, codes) = rest.split_at_checked(text).ok_or(corrupt("its text is cut off"))?;
        let codes = match width {
            0 => Codes::Constant,
            1 => Codes::One(codes),
            2 => Codes::Two(codes.as_chunks().0),
            _ => return Err(corrupt("its row width is unknown")),
        };
        let opened = Self {
            ends: ends.as_chunks().0,
            text: std::str::from_utf8(text).map_err(|_| corrupt("its text is not UTF-8"))?,
            codes,
        };
        // The checksum is correct, so from here on only a bug of the writer can cause an error. Every index is checked
        // anyway.
        if opened.values().count() != distinct {
            return Err(corrupt("a value extends beyond its text"));
        }
        let in_range = match codes {
            Codes::Constant => distinct == 1 || rows == 0,
            // Only the greatest code is compared, so that the loop has no branch and is vectorized.
            Codes::One(codes) => {
                let greatest = codes.iter().fold(0, |greatest, code| (*code).max(greatest));
                codes.len() == to_usize(rows) && usize::from(greatest) < distinct
            }
            Codes::Two(codes) => {
                let codes_of_rows = codes.iter().map(|code| u16::from_le_bytes(*code));
                let greatest = codes_of_rows.fold(0, u16::max);
                codes.len() == to_usize(rows) && usize::from(greatest) < distinct
            }
        };
        in_range.then_some(opened).ok_or(corrupt("a row has no value"))
    }

    /// The number of distinct values.
    pub fn distinct(&self) -> usize {
        self.ends.len()
    }

    /// The distinct values in bytewise order. A code is an index into them.
    pub fn values(&self) -> impl Iterator<Item = &'b str> + use<'b> {
        let (text, mut start) = (self.text, 0);
        self.ends.iter().map_while(move |end| {
            let end = to_usize(u32::from_le_bytes(*end));
            let value = text.get(start..end);
            start = end;
            value
        })
    }
}

impl Codes<'_> {
    /// The codes of the rows from `first` up to, but not including, `last`.
    pub fn slice(&self, first: usize, last: usize) -> Self {
        match *self {
            Self::Constant => Self::Constant,
            Self::One(codes) => Self::One(codes.get(first..last).unwrap_or_default()),
            Self::Two(codes) => Self::Two(codes.get(first..last).unwrap_or_default()),
        }
    }

    /// The code of a row.
    pub fn get(&self, row: usize) -> Option<usize> {
        match self {
            Self::Constant => Some(0),
            Self::One(codes) => codes.get(row).map(|code| usize::from(*code)),
            Self::Two(codes) => codes.get(row).map(|code| usize::from(u16::from_le_bytes(*code))),
        }
    }
}

impl<'b> MeasureColumn<'b> {
    /// Verifies and opens the column of a measure in a segment of `rows` rows, like [`KeyColumn::open`].
    pub fn open(bytes: &'b [u8], measure: Measure, rows: u32) -> Result<Self, Corrupt> {
        let column = Column::of_measure(measure).number();
        let corrupt = |reason| Corrupt { column, reason };
        let (width, details, payload) = verify(bytes, column, rows)?;
        let values = match width {
            0 => Values::Constant,
            1 => Values::One(payload),
            2 => Values::Two(payload.as_chunks().0),
            4 => Values::Four(payload.as_chunks().0),
            8 => Values::Eight(payload.as_chunks().0),
            _ => return Err(corrupt("its row width is unknown")),
        };
        if payload.len() != usize::from(width) * to_usize(rows) {
            return Err(corrupt("its number of rows differs from the segment's"));
        }
        Ok(Self { base: i64::from_le_bytes(details), values })
    }

    /// The value of one row. The engine reads whole slices instead.
    pub fn get(&self, row: usize) -> Option<i64> {
        let distance = match self.values {
            Values::Constant => 0,
            Values::One(values) => u64::from(*values.get(row)?),
            Values::Two(values) => u64::from(u16::from_le_bytes(*values.get(row)?)),
            Values::Four(values) => u64::from(u32::from_le_bytes(*values.get(row)?)),
            Values::Eight(values) => u64::from_le_bytes(*values.get(row)?),
        };
        Some(self.base.wrapping_add(distance.cast_signed()))
    }
}

/// The columns of a small segment, stored as one value.
#[derive(Clone, Copy, Debug)]
pub struct Image<'b>(pub &'b [u8]);

impl<'b> Image<'b> {
    /// The bytes of one column. If the image is cut off, they are empty, which is never a valid column.
    pub fn column(&self, column: Column) -> &'b [u8] {
        let spans = split::<COLUMNS>(self.0, 0);
        let span = spans.and_then(|spans| spans.get(usize::from(column.number())).copied());
        span.map(|span| span.of(self.0)).unwrap_or_default()
    }
}

/// Calls `each` with the key and the sums of every row of a segment, whose columns `column` returns.
///
/// # Errors
/// [`Corrupt`]. In that case `each` was not called for any row.
pub fn each_row<'b>(
    column: impl Fn(Column) -> &'b [u8],
    rows: u32,
    mut each: impl FnMut(&Key<'_>, &Sums),
) -> Result<(), Corrupt> {
    let mut bytes = Column::all().map(column);
    let mut next = || bytes.next().unwrap_or_default();
    let mut keys = Vec::with_capacity(KEY.len());
    for dimension in KEY {
        let column = KeyColumn::open(next(), dimension, rows)?;
        keys.push((column.values().collect::<Vec<_>>(), column.codes));
    }
    let mut measures = Vec::with_capacity(Measure::ALL.len());
    for measure in Measure::ALL {
        measures.push(MeasureColumn::open(next(), measure, rows)?);
    }
    for row in 0..to_usize(rows) {
        let mut key = [""; KEY.len()];
        for (to, (values, codes)) in key.iter_mut().zip(&keys) {
            *to = codes.get(row).and_then(|code| values.get(code)).copied().unwrap_or_default();
        }
        let mut sums = Sums::default();
        for (to, column) in sums.iter_mut().zip(&measures) {
            *to = column.get(row).unwrap_or_default();
        }
        each(&key, &sums);
    }
    Ok(())
}

/// Verifies a column. Returns its width, the details in its header (bytes 8 to 15) and its payload.
fn verify(bytes: &[u8], number: u8, rows: u32) -> Result<(u8, [u8; 8], &[u8]), Corrupt> {
    let corrupt = |reason| Corrupt { column: number, reason };
    let (header, payload) = bytes.split_first_chunk::<HEADER>().ok_or(corrupt("it is shorter than a header"))?;
    let &[version, column, width, _, r1, r2, r3, r4, a1, a2, a3, a4, a5, a6, a7, a8, checksum @ ..] = header;
    if version != VERSION {
        return Err(corrupt(UNKNOWN_VERSION));
    }
    let (described, _) = header.split_at(HEADER - 8);
    if xxh3_64_with_seed(payload, xxh3_64(described)) != u64::from_le_bytes(checksum) {
        return Err(corrupt("its checksum does not match"));
    }
    if column != number {
        return Err(corrupt("its number is that of another column"));
    }
    if u32::from_le_bytes([r1, r2, r3, r4]) != rows {
        return Err(corrupt("its number of rows differs from the segment's"));
    }
    Ok((width, [a1, a2, a3, a4, a5, a6, a7, a8], payload))
}

pub(crate) fn to_usize(number: u32) -> usize {
    // `usize` has 32 bits in Wasm and 64 natively.
    usize::try_from(number).unwrap_or(usize::MAX)
}
