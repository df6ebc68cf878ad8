//! Building segments: facts in, columns out. Facts with the same key add up.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Column, HEADER, MAX_ROWS, MAX_TEXT, VERSION};
use crate::{
    model::seeded_hash::SeededMap,
    reporting::{
        Measure,
        dimension::{KEY, Key},
        metric::{Sums, get},
    },
};

/// The place of each value of a row among its dimension's values.
type Places = [u16; KEY.len()];

/// A segment that is being built.
#[derive(Default)]
pub struct Builder {
    dictionaries: [Dictionary; KEY.len()],
    rows: SeededMap<Places, u32>,
    sums: Vec<Sums>,
}

/// A segment has room for no further row with this key: it is to be encoded, and another begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A segment's columns, ready to be stored, and what is known of it without reading them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    pub rows: u32,
    pub sums: Sums,
    /// What the rows' revenue adds up to without its sign.
    pub revenue_magnitude: i64,
    /// In the order of [`Column::all`].
    pub columns: Vec<Vec<u8>>,
}

impl Builder {
    pub fn rows(&self) -> usize {
        self.sums.len()
    }

    /// Adds a fact: to the row with its key if there is one.
    ///
    /// # Errors
    /// [`Full`]; then nothing was added.
    pub fn add(&mut self, key: &Key<'_>, sums: &Sums) -> Result<(), Full> {
        let mut places = Places::default();
        for ((dictionary, value), place) in self.dictionaries.iter_mut().zip(key).zip(&mut places) {
            *place = dictionary.place(value).ok_or(Full)?;
        }
        if let Some(row) = self.rows.get(&places)
            && let Some(row) = usize::try_from(*row).ok().and_then(|row| self.sums.get_mut(row))
        {
            add(row, sums);
            return Ok(());
        }
        if self.sums.len() >= MAX_ROWS {
            return Err(Full);
        }
        self.rows
            .insert(places, u32::try_from(self.sums.len()).map_err(|_| Full)?);
        self.sums.push(*sums);
        Ok(())
    }

    /// The segment, its rows in the order of their keys.
    pub fn encode(self) -> Encoded {
        let mut rows: Vec<(Places, Sums)> = self
            .rows
            .into_iter()
            .filter_map(|(places, row)| Some((places, *self.sums.get(usize::try_from(row).ok()?)?)))
            .collect();
        let dictionaries = self.dictionaries.map(Dictionary::sort);
        for (places, _) in &mut rows {
            for (place, (_, sorted)) in places.iter_mut().zip(&dictionaries) {
                *place = sorted.get(usize::from(*place)).copied().unwrap_or_default();
            }
        }
        rows.sort_unstable_by_key(|(places, _)| *places);
        let (mut total, mut revenue_magnitude) = (Sums::default(), 0_i64);
        for (_, sums) in &rows {
            add(&mut total, sums);
            revenue_magnitude =
                revenue_magnitude.saturating_add(get(sums, Measure::Revenue).saturating_abs());
        }
        let keys = dictionaries.iter().enumerate().map(|(at, (values, _))| {
            let places: Vec<u16> = rows
                .iter()
                .filter_map(|(places, _)| places.get(at).copied())
                .collect();
            key_column(at, values, &places)
        });
        let measures = Measure::ALL.into_iter().map(|measure| {
            let values: Vec<i64> = rows
                .iter()
                .filter_map(|(_, sums)| sums.get(measure.index()).copied())
                .collect();
            measure_column(measure, &values)
        });
        Encoded {
            rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            sums: total,
            revenue_magnitude,
            columns: keys.chain(measures).collect(),
        }
    }
}

impl Encoded {
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// All columns as one value, for a segment that is small: the length of each (`u32`), then the columns.
    pub fn image(&self) -> Vec<u8> {
        let lengths = self
            .columns
            .iter()
            .flat_map(|column| u32::try_from(column.len()).unwrap_or(u32::MAX).to_le_bytes());
        lengths.chain(self.columns.iter().flatten().copied()).collect()
    }
}

/// Builds as many segments as the facts need.
#[derive(Default)]
pub struct Segmenter {
    builder: Builder,
    full: Vec<Encoded>,
}

impl Segmenter {
    pub fn add(&mut self, key: &Key<'_>, sums: &Sums) {
        if self.builder.add(key, sums) == Err(Full) {
            self.full.push(std::mem::take(&mut self.builder).encode());
            // An empty one takes any key: a value is far shorter than `MAX_TEXT`.
            let _ = self.builder.add(key, sums);
        }
    }

    pub fn finish(mut self) -> Vec<Encoded> {
        if self.builder.rows() > 0 {
            self.full.push(self.builder.encode());
        }
        self.full
    }
}

/// Sums of a day stay below 2^53 where they come in, so this never saturates.
fn add(to: &mut Sums, sums: &Sums) {
    for (to, sum) in to.iter_mut().zip(sums) {
        *to = to.saturating_add(*sum);
    }
}

#[derive(Default)]
struct Dictionary {
    places: SeededMap<Box<str>, u16>,
    text: usize,
    /// The value before: facts mostly come in an order in which values repeat.
    last: Option<(Box<str>, u16)>,
}

impl Dictionary {
    fn place(&mut self, value: &str) -> Option<u16> {
        if let Some((last, place)) = &self.last
            && **last == *value
        {
            return Some(*place);
        }
        let place = match self.places.get(value) {
            Some(place) => *place,
            None => {
                let place = u16::try_from(self.places.len()).ok()?;
                if self.text + value.len() > MAX_TEXT {
                    return None;
                }
                self.text += value.len();
                self.places.insert(value.into(), place);
                place
            }
        };
        self.last = Some((value.into(), place));
        Some(place)
    }

    /// The values in order, and for each place where its value went.
    fn sort(self) -> (Vec<Box<str>>, Vec<u16>) {
        let mut values: Vec<_> = self.places.into_iter().collect();
        values.sort_unstable();
        let mut sorted = vec![0; values.len()];
        for (to, (_, from)) in (0_u16..=u16::MAX).zip(&values) {
            if let Some(place) = sorted.get_mut(usize::from(*from)) {
                *place = to;
            }
        }
        (values.into_iter().map(|(value, _)| value).collect(), sorted)
    }
}

fn key_column(number: usize, values: &[Box<str>], places: &[u16]) -> Vec<u8> {
    let width: u8 = match values.len() {
        0..=1 => 0,
        2..=256 => 1,
        _ => 2,
    };
    let text = values.iter().map(|value| value.len()).sum::<usize>();
    let mut payload = Vec::with_capacity(values.len() * 4 + text + places.len() * usize::from(width));
    let mut end = 0_u32;
    for value in values {
        end = end.saturating_add(u32::try_from(value.len()).unwrap_or(u32::MAX));
        payload.extend_from_slice(&end.to_le_bytes());
    }
    values
        .iter()
        .for_each(|value| payload.extend_from_slice(value.as_bytes()));
    for place in places {
        let bytes = place.to_le_bytes();
        payload.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or_default());
    }
    let distinct = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let about = distinct | u64::from(end) << 32;
    let number = u8::try_from(number).unwrap_or(u8::MAX);
    column(number, width, places.len(), about.to_le_bytes(), &payload)
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
    // From 0 unless another base is narrower or has to be: then rows need nothing added as they are read.
    let base = if least < 0 || width_from(least) < width_from(0) {
        least
    } else {
        0
    };
    let width = width_from(base);
    let mut payload = Vec::with_capacity(values.len() * usize::from(width));
    for value in values {
        let bytes = value.wrapping_sub(base).to_le_bytes();
        payload.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or_default());
    }
    let number = Column::of_measure(measure).number();
    column(number, width, values.len(), base.to_le_bytes(), &payload)
}

fn column(number: u8, width: u8, rows: usize, about: [u8; 8], payload: &[u8]) -> Vec<u8> {
    let mut column = Vec::with_capacity(HEADER + payload.len());
    column.extend_from_slice(&[VERSION, number, width, 0]);
    column.extend_from_slice(&u32::try_from(rows).unwrap_or(u32::MAX).to_le_bytes());
    column.extend_from_slice(&about);
    let seed = xxh3_64(&column);
    column.extend_from_slice(&xxh3_64_with_seed(payload, seed).to_le_bytes());
    column.extend_from_slice(payload);
    column
}
