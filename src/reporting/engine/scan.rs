//! Reading a segment: which values count and what they are numbered, and the columns batch by batch.

use super::{
    Budget,
    batch::{BATCH, Batch},
    dictionary::{self, Dictionary},
    layout::{Field, SKIP},
    plan::{Key, Part, Plan},
    size,
    store::{Full, Meter, Store},
    table::Table,
};
use crate::reporting::{
    query::Filter,
    segment::{Codes, Corrupt, KeyColumn, MeasureColumn},
};

/// Why a segment was not added up.
pub enum Stop {
    Full,
    Corrupt(Corrupt),
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl From<Corrupt> for Stop {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt)
    }
}

/// The memory that reading takes, used again for each segment.
pub struct Scan<'m> {
    batch: Batch,
    /// For each dimension that is read: by a row's code, the value's bits in a key, or [`SKIP`]. 256 at least, so that
    /// codes of one byte need no check.
    tables: Vec<Store<'m, u64>>,
}

/// A column whose rows differ in what they bring to the key.
struct Lookup<'b> {
    codes: Codes<'b>,
    table: usize,
    field: Field,
}

impl<'m> Scan<'m> {
    pub fn new(plan: &Plan<'_>, meter: &'m Meter) -> Self {
        Self {
            batch: Batch::new(),
            tables: plan.keys.iter().map(|_| Store::new(meter)).collect(),
        }
    }

    /// Adds up a segment's facts. `hint` is the rows of the part's segments; says whether groups had to move.
    pub fn segment(
        &mut self,
        plan: &Plan<'_>,
        part: &Part,
        (columns, rows, hint): (&[Vec<u8>], u32, usize),
        dictionaries: &mut [Dictionary<'m>],
        table: &mut Table<'m>,
        budget: &Budget,
    ) -> Result<bool, Stop> {
        let mut columns = columns.iter().map(Vec::as_slice);
        let mut opened = Vec::with_capacity(plan.keys.len());
        for (key, numbers) in plan.keys.iter().zip(&mut self.tables) {
            let column = KeyColumn::open(columns.next().unwrap_or_default(), key.dimension, rows)?;
            let counts = number(key, part, column, dictionaries, numbers)?;
            match counts {
                Counts::None => return Ok(false),
                Counts::All => opened.push(None),
                Counts::Some => opened.push(Some(column.codes)),
            }
        }
        let mut measures = Vec::with_capacity(plan.measures.len());
        for measure in &plan.measures {
            measures.push(MeasureColumn::open(
                columns.next().unwrap_or_default(),
                *measure,
                rows,
            )?);
        }
        let (layout, moved) = table.fit(dictionaries.iter().map(Dictionary::len), hint, budget)?;
        let mut constant = [0; 2];
        let mut lookups = Vec::with_capacity(opened.len());
        for (at, (key, codes)) in plan.keys.iter().zip(opened).enumerate() {
            let field = key
                .dictionary
                .map(|dictionary| layout.field(dictionary))
                .unwrap_or_default();
            let (Some(codes), Some(numbers)) = (codes, self.tables.get_mut(at)) else {
                continue;
            };
            for number in numbers.iter_mut().filter(|number| **number != SKIP) {
                *number = field.place(*number);
            }
            if let Codes::Constant = codes {
                if let (Some(word), Some(number)) = (constant.get_mut(field.word), numbers.first()) {
                    *word |= number;
                }
            } else {
                lookups.push(Lookup {
                    codes,
                    table: at,
                    field,
                });
            }
        }
        let mut first = 0;
        while first < size(rows) {
            let count = (size(rows) - first).min(BATCH);
            for (word, constant) in constant.into_iter().enumerate().take(layout.words()) {
                self.batch.word(word, count).fill(constant);
            }
            for lookup in &lookups {
                if let Some(numbers) = self.tables.get(lookup.table) {
                    lookup.place(numbers, first, self.batch.word(lookup.field.word, count));
                }
            }
            table.group(&mut self.batch, count)?;
            for (place, measure) in measures.iter().enumerate() {
                self.batch.add(measure, first, count, table.sums(), place);
            }
            first += count;
        }
        Ok(moved)
    }
}

impl Lookup<'_> {
    /// Adds the bits of the rows from `first` on to their keys.
    fn place(&self, numbers: &[u64], first: usize, keys: &mut [u64]) {
        let last = first + keys.len();
        match self.codes {
            Codes::Constant => {}
            Codes::One(codes) => {
                let codes = codes.get(first..last).unwrap_or_default();
                if let Some(numbers) = numbers.first_chunk::<256>() {
                    for (key, code) in keys.iter_mut().zip(codes) {
                        *key |= numbers.get(usize::from(*code)).copied().unwrap_or(SKIP);
                    }
                }
            }
            Codes::Two(codes) => {
                let codes = codes.get(first..last).unwrap_or_default();
                for (key, code) in keys.iter_mut().zip(codes) {
                    let code = usize::from(u16::from_le_bytes(*code));
                    *key |= numbers.get(code).copied().unwrap_or(SKIP);
                }
            }
        }
    }
}

/// How many of a segment's values count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    None,
    /// At least one, each with its number.
    Some,
    /// All, and they have no numbers.
    All,
}

/// Numbers the values of a column that count; the others are [`SKIP`], and those of a dimension that is not requested 0.
fn number<'m>(
    key: &Key<'_>,
    part: &Part,
    column: KeyColumn<'_>,
    dictionaries: &mut [Dictionary<'m>],
    numbers: &mut Store<'m, u64>,
) -> Result<Counts, Full> {
    numbers.clear();
    numbers.reserve(column.distinct().max(256))?;
    let mut filter = key.filter.map(Passing::of);
    let mut dictionary = key
        .dictionary
        .and_then(|at| Some((dictionaries.get_mut(at)?, *part.splits.get(at)?)));
    let (mut some, mut all) = (false, dictionary.is_none());
    for value in column.values() {
        let passes = filter.as_mut().is_none_or(|filter| filter.passes(value));
        let number = match &mut dictionary {
            _ if !passes => SKIP,
            None => 0,
            Some((dictionary, split)) => {
                let hash = dictionary::hash(value);
                if split.has(hash) {
                    u64::from(dictionary.intern(value, hash)?)
                } else {
                    SKIP
                }
            }
        };
        some |= number != SKIP;
        all &= number != SKIP;
        numbers.push(number)?;
    }
    numbers.resize(column.distinct().max(256), SKIP)?;
    Ok(match (some, all) {
        (false, _) => Counts::None,
        (true, true) => Counts::All,
        (true, false) => Counts::Some,
    })
}

/// A filter, asked for values in bytewise order, which is the order of its own.
struct Passing<'f>(&'f [String]);

impl<'f> Passing<'f> {
    fn of(filter: &'f Filter) -> Self {
        Self(&filter.values)
    }

    fn passes(&mut self, value: &str) -> bool {
        while let [first, rest @ ..] = self.0 {
            if first.as_str() >= value {
                return first == value;
            }
            self.0 = rest;
        }
        false
    }
}
