//! Builds segments from facts. Facts with the same key are added up.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Column, HEADER, MAX_ROWS, MAX_TEXT, VERSION};
use crate::{
    model::{
        parts::{join, to_u32},
        seeded_hash::SeededMap,
    },
    reporting::{
        Measure,
        dimension::{KEY, Key},
        metric::{Sums, get},
    },
};

/// The code of a row in each dimension: the index of its value in the dictionary.
type RowCodes = [u16; KEY.len()];

/// A segment that is being built.
#[derive(Default)]
pub struct Builder {
    dictionaries: [Dictionary; KEY.len()],
    rows: SeededMap<RowCodes, u32>,
    sums: Vec<Sums>,
}

/// The segment cannot take this key. The caller encodes the segment and begins another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFull;

/// The columns of a segment, ready to be stored, with its totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedSegment {
    /// Number of rows, at most [`MAX_ROWS`].
    pub rows: u32,
    /// The sums of all rows.
    pub sums: Sums,
    /// The sum of the magnitudes of the rows' revenue, in micro-USD.
    pub revenue_magnitude: i64,
    /// The columns, in the order of [`Column::all`].
    pub columns: Vec<Vec<u8>>,
}

impl Builder {
    /// Number of rows so far, at most [`MAX_ROWS`].
    pub fn rows(&self) -> usize {
        self.sums.len()
    }

    /// Adds a fact to the row with its key, or as a new row. If the segment is full, nothing is added.
    pub fn add(&mut self, key: &Key<'_>, sums: &Sums) -> Result<(), SegmentFull> {
        let mut codes = RowCodes::default();
        for ((dictionary, value), code) in self.dictionaries.iter_mut().zip(key).zip(&mut codes) {
            *code = dictionary.code(value).ok_or(SegmentFull)?;
        }
        if let Some(row) = self.rows.get(&codes)
            && let Some(row) = usize::try_from(*row).ok().and_then(|row| self.sums.get_mut(row))
        {
            add_sums(row, sums);
            return Ok(());
        }
        if self.sums.len() >= MAX_ROWS {
            return Err(SegmentFull);
        }
        self.rows.insert(codes, u32::try_from(self.sums.len()).map_err(|_| SegmentFull)?);
        self.sums.push(*sums);
        Ok(())
    }

    /// Encodes the segment with its rows in the order of their keys.
    pub fn encode(self) -> EncodedSegment {
        let mut rows: Vec<(RowCodes, Sums)> = self
            .rows
            .into_iter()
            .filter_map(|(codes, row)| Some((codes, *self.sums.get(usize::try_from(row).ok()?)?)))
            .collect();
        let dictionaries = self.dictionaries.map(Dictionary::sort);
        for (codes, _) in &mut rows {
            for (code, (_, sorted)) in codes.iter_mut().zip(&dictionaries) {
                *code = sorted.get(usize::from(*code)).copied().unwrap_or_default();
            }
        }
        rows.sort_unstable_by_key(|(codes, _)| *codes);
        let (mut total, mut revenue_magnitude) = (Sums::default(), 0_i64);
        for (_, sums) in &rows {
            add_sums(&mut total, sums);
            revenue_magnitude = revenue_magnitude.saturating_add(get(sums, Measure::Revenue).saturating_abs());
        }
        let keys = dictionaries.iter().enumerate().map(|(at, (values, _))| {
            let codes: Vec<u16> = rows.iter().filter_map(|(codes, _)| codes.get(at).copied()).collect();
            key_column(at, values, &codes)
        });
        let measures = Measure::ALL.into_iter().map(|measure| {
            let values: Vec<i64> = rows.iter().filter_map(|(_, sums)| sums.get(measure.index()).copied()).collect();
            measure_column(measure, &values)
        });
        EncodedSegment {
            rows: to_u32(rows.len()),
            sums: total,
            revenue_magnitude,
            columns: keys.chain(measures).collect(),
        }
    }
}

impl EncodedSegment {
    /// The size of all columns, in bytes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// All columns of a small segment as one value.
    pub fn image(&self) -> Vec<u8> {
        join(&self.columns)
    }
}

/// Builds as many segments as the facts need.
#[derive(Default)]
pub struct Segmenter {
    builder: Builder,
    full: Vec<EncodedSegment>,
}

impl Segmenter {
    /// Adds a fact. A full segment is encoded first.
    pub fn add(&mut self, key: &Key<'_>, sums: &Sums) {
        if self.builder.add(key, sums) == Err(SegmentFull) {
            self.full.push(std::mem::take(&mut self.builder).encode());
            // An empty segment takes any key, because values are far shorter than `MAX_TEXT`.
            let _ = self.builder.add(key, sums);
        }
    }

    /// The segments. An empty last segment is omitted.
    pub fn finish(mut self) -> Vec<EncodedSegment> {
        if self.builder.rows() > 0 {
            self.full.push(self.builder.encode());
        }
        self.full
    }
}

/// Adds sums. This never saturates, because uploads are checked to keep a day's sums at 2^53 or less.
fn add_sums(to: &mut Sums, sums: &Sums) {
    for (to, sum) in to.iter_mut().zip(sums) {
        *to = to.saturating_add(*sum);
    }
}

#[derive(Default)]
struct Dictionary {
    codes: SeededMap<Box<str>, u16>,
    text: usize,
    /// The previous value and its code, as a cache: most facts arrive in an order in which values repeat.
    last: Option<(Box<str>, u16)>,
}

impl Dictionary {
    /// The code of a value. The value is added if it is new. `None` if the dictionary is full.
    fn code(&mut self, value: &str) -> Option<u16> {
        if let Some((last, code)) = &self.last
            && **last == *value
        {
            return Some(*code);
        }
        let code = match self.codes.get(value) {
            Some(code) => *code,
            None => {
                let code = u16::try_from(self.codes.len()).ok()?;
                if self.text + value.len() > MAX_TEXT {
                    return None;
                }
                self.text += value.len();
                self.codes.insert(value.into(), code);
                code
            }
        };
        self.last = Some((value.into(), code));
        Some(code)
    }

    /// The values in bytewise order, and the new code for each old code.
    fn sort(self) -> (Vec<Box<str>>, Vec<u16>) {
        let mut values: Vec<_> = self.codes.into_iter().collect();
        values.sort_unstable();
        let mut sorted = vec![0; values.len()];
        for (to, (_, from)) in (0_u16..=u16::MAX).zip(&values) {
            if let Some(code) = sorted.get_mut(usize::from(*from)) {
                *code = to;
            }
        }
        (values.into_iter().map(|(value, _)| value).collect(), sorted)
    }
}

fn key_column(number: usize, values: &[Box<str>], codes: &[u16]) -> Vec<u8> {
    let width: u8 = match values.len() {
        0..=1 => 0,
        2..=256 => 1,
        _ => 2,
    };
    let text = values.iter().map(|value| value.len()).sum::<usize>();
    let mut payload = Vec::with_capacity(values.len() * 4 + text + codes.len() * usize::from(width));
    let mut end = 0_u32;
    for value in values {
        end = end.saturating_add(to_u32(value.len()));
        payload.extend_from_slice(&end.to_le_bytes());
    }
    values.iter().for_each(|value| payload.extend_from_slice(value.as_bytes()));
    for code in codes {
        let bytes = code.to_le_bytes();
        payload.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or_default());
    }
    let distinct = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let details = distinct | u64::from(end) << 32;
    let number = u8::try_from(number).unwrap_or(u8::MAX);
    column(number, width, codes.len(), details.to_le_bytes(), &payload)
}

fn measure_column(measure: Measure, values: &[i64]) -> Vec<u8> {
    let least = values.iter().copied().min().unwrap_or(0);
    let most = values.iter().copied().max().unwrap_or(0);
    let width_from = |base: i64| match most.wrapping_sub(base).cast_unsigned() {
        0 if least == base => 0_u8,
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    // The base is the least value if that is negative or makes rows narrower. Otherwise it is 0, which adds nothing
    // when rows are read.
    let base = if least < 0 || width_from(least) < width_from(0) { least } else { 0 };
    let width = width_from(base);
    let mut payload = Vec::with_capacity(values.len() * usize::from(width));
    for value in values {
        let bytes = value.wrapping_sub(base).to_le_bytes();
        payload.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or_default());
    }
    let number = Column::of_measure(measure).number();
    column(number, width, values.len(), base.to_le_bytes(), &payload)
}

fn column(number: u8, width: u8, rows: usize, details: [u8; 8], payload: &[u8]) -> Vec<u8> {
    let mut column = Vec::with_capacity(HEADER + payload.len());
    column.extend_from_slice(&[VERSION, number, width, 0]);
    column.extend_from_slice(&to_u32(rows).to_le_bytes());
    column.extend_from_slice(&details);
    let seed = xxh3_64(&column);
    column.extend_from_slice(&xxh3_64_with_seed(payload, seed).to_le_bytes());
    column.extend_from_slice(payload);
    column
}
