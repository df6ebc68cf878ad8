//! Reading columns in place. Whatever the bytes are, a column is what was written or it is [`Corrupt`].

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{COLUMNS, Column, HEADER, VERSION};
use crate::reporting::{Dimension, Measure};

/// A column that is not what was written, or not of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt {
    pub column: u8,
    pub reason: &'static str,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for Corrupt {}

/// A dimension of a segment.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn<'b> {
    ends: &'b [[u8; 4]],
    text: &'b str,
    pub codes: Codes<'b>,
}

/// For each row the place of its value among the column's values, which is below their number.
#[derive(Clone, Copy, Debug)]
pub enum Codes<'b> {
    /// Every row has the first value.
    Constant,
    /// `u8` each.
    One(&'b [u8]),
    /// `u16` each, little-endian.
    Two(&'b [[u8; 2]]),
}

/// A measure of a segment.
#[derive(Clone, Copy, Debug)]
pub struct MeasureColumn<'b> {
    /// What every row's distance is from.
    pub base: i64,
    pub values: Values<'b>,
}

/// For each row the distance from the base, unsigned, little-endian.
#[derive(Clone, Copy, Debug)]
pub enum Values<'b> {
    /// Every row is the base.
    Constant,
    One(&'b [u8]),
    Two(&'b [[u8; 2]]),
    Four(&'b [[u8; 4]]),
    Eight(&'b [[u8; 8]]),
}

impl<'b> KeyColumn<'b> {
    /// Checks and opens the column of a dimension, in a segment of `rows` rows.
    ///
    /// # Errors
    /// [`Corrupt`], also for the bytes of another column or of a segment with other rows.
    pub fn open(bytes: &'b [u8], dimension: Dimension, rows: u32) -> Result<Self, Corrupt> {
        let number = Column::of_dimension(dimension).map_or(u8::MAX, Column::number);
        let corrupt = |reason| Corrupt {
            column: number,
            reason,
        };
        let (width, about, payload) = verify(bytes, number, rows)?;
        let [v1, v2, v3, v4, t1, t2, t3, t4] = about;
        let distinct = size(u32::from_le_bytes([v1, v2, v3, v4]));
        let text = size(u32::from_le_bytes([t1, t2, t3, t4]));
        let (ends, rest) = distinct
            .checked_mul(4)
            .and_then(|ends| payload.split_at_checked(ends))
            .ok_or(corrupt("its values are cut off"))?;
        let (text, codes) = rest
            .split_at_checked(text)
            .ok_or(corrupt("its text is cut off"))?;
        let codes = match width {
            0 => Codes::Constant,
            1 => Codes::One(codes),
            2 => Codes::Two(codes.as_chunks().0),
            _ => return Err(corrupt("its rows have no such width")),
        };
        let column = Self {
            ends: ends.as_chunks().0,
            text: std::str::from_utf8(text).map_err(|_| corrupt("its text is not UTF-8"))?,
            codes,
        };
        // The checksum holds, so only a fault of the writer can get here; nothing is indexed on its word alone.
        if column.values().count() != distinct {
            return Err(corrupt("its values do not lie in its text"));
        }
        let in_range = match codes {
            Codes::Constant => distinct == 1 || rows == 0,
            // The greatest is found without a branch for each, many at once.
            Codes::One(codes) => {
                let greatest = codes.iter().fold(0, |greatest, code| (*code).max(greatest));
                codes.len() == size(rows) && usize::from(greatest) < distinct
            }
            Codes::Two(codes) => {
                let codes_of_rows = codes.iter().map(|code| u16::from_le_bytes(*code));
                let greatest = codes_of_rows.fold(0, u16::max);
                codes.len() == size(rows) && usize::from(greatest) < distinct
            }
        };
        if in_range {
            Ok(column)
        } else {
            Err(corrupt("a row has no value"))
        }
    }

    /// How many distinct values there are.
    pub fn distinct(&self) -> usize {
        self.ends.len()
    }

    /// The distinct values, in bytewise order; a row's code is a place among them.
    pub fn values(&self) -> impl Iterator<Item = &'b str> + use<'b> {
        let (text, mut start) = (self.text, 0);
        self.ends.iter().map_while(move |end| {
            let end = size(u32::from_le_bytes(*end));
            let value = text.get(start..end);
            start = end;
            value
        })
    }
}

impl Codes<'_> {
    /// Of the rows from `first` to `last`.
    pub fn part(&self, first: usize, last: usize) -> Self {
        match *self {
            Self::Constant => Self::Constant,
            Self::One(codes) => Self::One(codes.get(first..last).unwrap_or_default()),
            Self::Two(codes) => Self::Two(codes.get(first..last).unwrap_or_default()),
        }
    }

    /// A row's place among the values.
    pub fn get(&self, row: usize) -> Option<usize> {
        match self {
            Self::Constant => Some(0),
            Self::One(codes) => codes.get(row).map(|code| usize::from(*code)),
            Self::Two(codes) => codes.get(row).map(|code| usize::from(u16::from_le_bytes(*code))),
        }
    }
}

impl<'b> MeasureColumn<'b> {
    /// Checks and opens the column of a measure, in a segment of `rows` rows.
    ///
    /// # Errors
    /// As [`KeyColumn::open`].
    pub fn open(bytes: &'b [u8], measure: Measure, rows: u32) -> Result<Self, Corrupt> {
        let number = Column::of_measure(measure).number();
        let corrupt = |reason| Corrupt {
            column: number,
            reason,
        };
        let (width, about, payload) = verify(bytes, number, rows)?;
        let values = match width {
            0 => Values::Constant,
            1 => Values::One(payload),
            2 => Values::Two(payload.as_chunks().0),
            4 => Values::Four(payload.as_chunks().0),
            8 => Values::Eight(payload.as_chunks().0),
            _ => return Err(corrupt("its rows have no such width")),
        };
        if payload.len() != usize::from(width) * size(rows) {
            return Err(corrupt("it has other rows than its segment"));
        }
        Ok(Self {
            base: i64::from_le_bytes(about),
            values,
        })
    }

    /// A row's value; for reading row by row, which the engine does not.
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

/// The columns of a small segment, kept as one value.
#[derive(Clone, Copy, Debug)]
pub struct Image<'b>(pub &'b [u8]);

impl<'b> Image<'b> {
    /// One column's bytes; empty if the image is cut off, which no column is.
    pub fn column(&self, column: Column) -> &'b [u8] {
        self.find(column).unwrap_or_default()
    }

    fn find(&self, column: Column) -> Option<&'b [u8]> {
        let (lengths, columns) = self.0.split_at_checked(COLUMNS * 4)?;
        let mut lengths = lengths
            .as_chunks()
            .0
            .iter()
            .map(|length| size(u32::from_le_bytes(*length)));
        let start = lengths.by_ref().take(usize::from(column.number())).sum::<usize>();
        columns.get(start..start.checked_add(lengths.next()?)?)
    }
}

/// A column's width, what its header says about it, and its payload, once they are shown to be what was written.
fn verify(bytes: &[u8], number: u8, rows: u32) -> Result<(u8, [u8; 8], &[u8]), Corrupt> {
    let corrupt = |reason| Corrupt {
        column: number,
        reason,
    };
    let (header, payload) = bytes
        .split_first_chunk::<HEADER>()
        .ok_or(corrupt("it is shorter than a header"))?;
    let &[
        version,
        column,
        width,
        _,
        r1,
        r2,
        r3,
        r4,
        a1,
        a2,
        a3,
        a4,
        a5,
        a6,
        a7,
        a8,
        checksum @ ..,
    ] = header;
    if version != VERSION {
        return Err(corrupt("it is of another version"));
    }
    let (described, _) = header.split_at(HEADER - 8);
    if xxh3_64_with_seed(payload, xxh3_64(described)) != u64::from_le_bytes(checksum) {
        return Err(corrupt("its checksum does not match"));
    }
    if column != number {
        return Err(corrupt("it is another column"));
    }
    if u32::from_le_bytes([r1, r2, r3, r4]) != rows {
        return Err(corrupt("it has other rows than its segment"));
    }
    Ok((width, [a1, a2, a3, a4, a5, a6, a7, a8], payload))
}

fn size(number: u32) -> usize {
    // 32 bits in Wasm, 64 natively.
    usize::try_from(number).unwrap_or(usize::MAX)
}
