//! Reading a segment: which values count and what they are numbered, and the columns batch by batch.

use super::{
    Budget,
    batch::{BATCH, Batch},
    dictionary::Dictionary,
    layout::SKIP,
    metered_vec::{Meter, MeteredVec, OutOfMemory},
    plan::{Key, Part, Plan},
    size,
    table::Table,
};
use crate::reporting::{
    query::Filter,
    segment::{Codes, Corrupt, KeyColumn, MeasureColumn},
};

/// Why a segment was not added up.
pub enum Stop {
    OutOfMemory,
    Corrupt(Corrupt),
}

impl From<OutOfMemory> for Stop {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
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
    tables: Vec<MeteredVec<'m, u64>>,
}

impl<'m> Scan<'m> {
    pub fn new(plan: &Plan<'_>, meter: &'m Meter) -> Self {
        Self {
            batch: Batch::new(),
            tables: plan.keys.iter().map(|_| MeteredVec::new(meter)).collect(),
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
            if counts == Counts::None {
                return Ok(false);
            }
            opened.push((column.codes, counts));
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
        // Of a column whose rows all have one value, no row is left out, and all bring the same to the key.
        let mut sieves = Vec::with_capacity(opened.len());
        let mut lookups = Vec::with_capacity(opened.len());
        for ((key, numbers), (codes, counts)) in plan.keys.iter().zip(&mut self.tables).zip(opened) {
            let varies = !matches!(codes, Codes::Constant);
            let field = key.dictionary.map(|dictionary| layout.field(dictionary));
            for number in numbers.iter_mut().filter(|number| **number != SKIP) {
                *number = field.map_or(0, |field| field.place(*number));
            }
            let numbers: &[u64] = numbers;
            if varies && counts == Counts::Some {
                sieves.push((codes, numbers));
            }
            let Some(field) = field else {
                continue;
            };
            if varies {
                lookups.push((field.word, codes, numbers));
            } else if let (Some(word), Some(number)) = (constant.get_mut(field.word), numbers.first()) {
                *word |= number;
            }
        }
        let batch = &mut self.batch;
        let mut sieving = Vec::with_capacity(sieves.len());
        let mut first = 0;
        while first < size(rows) {
            let last = size(rows).min(first + BATCH);
            batch.begin(last - first);
            if !sieves.is_empty() {
                sieving.clear();
                sieving.extend(
                    sieves
                        .iter()
                        .map(|(codes, numbers)| (codes.part(first, last), *numbers)),
                );
                batch.sieve(&sieving);
            }
            batch.split(lookups.iter().map(|(_, codes, _)| codes.part(first, last)));
            for (word, constant) in constant.into_iter().enumerate().take(layout.words()) {
                batch.begin_word(word, constant);
            }
            for (word, codes, numbers) in &lookups {
                batch.place(*word, codes.part(first, last), numbers);
            }
            table.group(batch)?;
            for (place, measure) in measures.iter().enumerate() {
                batch.add(measure, first, last, table.sums(), place);
            }
            first = last;
        }
        Ok(moved)
    }
}

/// How many of a segment's values count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    None,
    /// At least one, and not all.
    Some,
    All,
}

/// Numbers the values of a column that count; the others are [`SKIP`], and those of a dimension that is not requested 0.
fn number<'m>(
    key: &Key<'_>,
    part: &Part,
    column: KeyColumn<'_>,
    dictionaries: &mut [Dictionary<'m>],
    numbers: &mut MeteredVec<'m, u64>,
) -> Result<Counts, OutOfMemory> {
    numbers.clear();
    numbers.reserve(column.distinct().max(256))?;
    let mut filter = key.filter.map(Passing::of);
    let mut dictionary = key
        .dictionary
        .and_then(|at| Some((dictionaries.get_mut(at)?, *part.splits.get(at)?)));
    let (mut some, mut all) = (false, true);
    for value in column.values() {
        let passes = filter.as_mut().is_none_or(|filter| filter.passes(value));
        let number = match &mut dictionary {
            _ if !passes => SKIP,
            None => 0,
            Some((dictionary, split)) => {
                let hash = dictionary.hash(value);
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
