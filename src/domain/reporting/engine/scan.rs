//! Scans a segment: numbers the values that pass the filters, then aggregates the columns batch by batch.

use std::rc::Rc;

use super::{
    Budget,
    batch::{BATCH, Batch},
    dictionary::Dictionary,
    layout::SKIP,
    metered_vec::{Meter, MeteredVec, OutOfMemory},
    plan::{Input, Part, Plan},
    table::Table,
    to_usize,
};
use crate::reporting::{
    query::Filter,
    segment::{Codes, Corrupt, KeyColumn, MeasureColumn},
};

/// The reason why a segment was not aggregated.
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

/// The working memory of scans, reused for each segment.
pub struct Scan<'m> {
    batch: Batch,
    /// For each dimension that is read, a table from a row's code to the value's bits in a key, or [`SKIP`]. It has at
    /// least 256 entries, so that codes of one byte need no bounds check.
    tables: Vec<MeteredVec<'m, u64>>,
}

impl<'m> Scan<'m> {
    pub fn new(plan: &Plan<'_>, meter: &'m Meter) -> Self {
        Self { batch: Batch::new(), tables: plan.inputs.iter().map(|_| MeteredVec::new(meter)).collect() }
    }

    /// Aggregates the facts of a segment. `hint` is the number of rows in the part. Returns whether the table had to
    /// move its groups.
    pub fn segment(
        &mut self,
        plan: &Plan<'_>,
        part: &Part,
        (columns, rows, hint): (&[Rc<Vec<u8>>], u32, usize),
        dictionaries: &mut [Dictionary<'m>],
        table: &mut Table<'m>,
        budget: &Budget,
    ) -> Result<bool, Stop> {
        let mut columns = columns.iter().map(|column| column.as_slice());
        let mut opened = Vec::with_capacity(plan.inputs.len());
        for (input, numbers) in plan.inputs.iter().zip(&mut self.tables) {
            let column = KeyColumn::open(columns.next().unwrap_or_default(), input.dimension, rows)?;
            let matches = number_values(input, part, column, dictionaries, numbers)?;
            if matches == Matches::None {
                return Ok(false);
            }
            opened.push((column.codes, matches));
        }
        let mut measures = Vec::with_capacity(plan.measures.len());
        for measure in &plan.measures {
            measures.push(MeasureColumn::open(columns.next().unwrap_or_default(), *measure, rows)?);
        }
        let (layout, moved) = table.fit(dictionaries.iter().map(Dictionary::len), hint, budget)?;
        let mut constant = [0; 2];
        // A constant column filters no row and adds the same bits to every key.
        let mut filters = Vec::with_capacity(opened.len());
        let mut lookups = Vec::with_capacity(opened.len());
        for ((input, numbers), (codes, matches)) in plan.inputs.iter().zip(&mut self.tables).zip(opened) {
            let varies = !matches!(codes, Codes::Constant);
            let field = input.dictionary.map(|dictionary| layout.field(dictionary));
            for number in numbers.iter_mut().filter(|number| **number != SKIP) {
                *number = field.map_or(0, |field| field.pack(*number));
            }
            let numbers: &[u64] = numbers;
            if varies && matches == Matches::Some {
                filters.push((codes, numbers));
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
        let mut batch_filters = Vec::with_capacity(filters.len());
        let mut first = 0;
        while first < to_usize(rows) {
            let last = to_usize(rows).min(first + BATCH);
            batch.begin(last - first);
            if !filters.is_empty() {
                batch_filters.clear();
                batch_filters.extend(filters.iter().map(|(codes, numbers)| (codes.slice(first, last), *numbers)));
                batch.filter(&batch_filters);
            }
            batch.split_runs(lookups.iter().map(|(_, codes, _)| codes.slice(first, last)));
            for (word, constant) in constant.into_iter().enumerate().take(layout.words()) {
                batch.begin_word(word, constant);
            }
            for (word, codes, numbers) in &lookups {
                batch.pack(*word, codes.slice(first, last), numbers);
            }
            table.group(batch)?;
            for (index, measure) in measures.iter().enumerate() {
                batch.add(measure, first, last, table.sums(), index);
            }
            first = last;
        }
        Ok(moved)
    }
}

/// How many values of a segment's column match the filter and the part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matches {
    None,
    /// At least one, but not all.
    Some,
    All,
}

/// Numbers the matching values of a column. Other values get [`SKIP`]. If the dimension is only filtered, matching
/// values get 0.
fn number_values<'m>(
    input: &Input<'_>,
    part: &Part,
    column: KeyColumn<'_>,
    dictionaries: &mut [Dictionary<'m>],
    numbers: &mut MeteredVec<'m, u64>,
) -> Result<Matches, OutOfMemory> {
    numbers.clear();
    numbers.reserve(column.distinct().max(256))?;
    let mut filter = input.filter.map(FilterCursor::new);
    let mut dictionary = input.dictionary.and_then(|at| Some((dictionaries.get_mut(at)?, *part.splits.get(at)?)));
    let (mut some, mut all) = (false, true);
    for value in column.values() {
        let passes = filter.as_mut().is_none_or(|filter| filter.passes(value));
        let number = match &mut dictionary {
            _ if !passes => SKIP,
            None => 0,
            Some((dictionary, split)) => {
                let hash = dictionary.hash(value);
                if split.contains(hash) { u64::from(dictionary.intern(value, hash)?) } else { SKIP }
            }
        };
        some |= number != SKIP;
        all &= number != SKIP;
        numbers.push(number)?;
    }
    numbers.resize(column.distinct().max(256), SKIP)?;
    Ok(match (some, all) {
        (false, _) => Matches::None,
        (true, true) => Matches::All,
        (true, false) => Matches::Some,
    })
}

/// Tests values in ascending bytewise order against a filter, whose values are also sorted.
struct FilterCursor<'f>(&'f [String]);

impl<'f> FilterCursor<'f> {
    fn new(filter: &'f Filter) -> Self {
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
