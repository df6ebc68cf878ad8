//! Plans a query: the segments and columns to read, and the use of each column.

use std::ops::Range;

use super::SegmentRef;
use crate::reporting::{
    Dimension, Measure,
    dimension::KEY,
    query::{Filter, Query},
    segment::Column,
};

pub struct Plan<'q> {
    pub query: &'q Query,
    /// The dimensions of a row, in the order of the request.
    pub outputs: Vec<Output>,
    /// The number of dictionaries: one for each requested dimension except the date, in the order of the request.
    pub dictionaries: usize,
    /// The dimensions to read. Filtered dimensions come first: if no value of a segment passes, the other columns are
    /// not opened.
    pub inputs: Vec<Input<'q>>,
    pub measures: Vec<Measure>,
    /// The columns to read: first the columns of `inputs`, then the columns of `measures`.
    pub columns: Vec<Column>,
}

/// A dimension of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Date,
    /// The index of the dictionary.
    Value(usize),
}

/// A dimension to read, for a filter, for the rows or for both.
pub struct Input<'q> {
    pub dimension: Dimension,
    pub filter: Option<&'q Filter>,
    pub dictionary: Option<usize>,
}

impl<'q> Plan<'q> {
    pub fn new(query: &'q Query) -> Self {
        let mut dictionaries = 0;
        let mut outputs = Vec::new();
        for dimension in &query.dimensions {
            outputs.push(match dimension {
                Dimension::Date => Output::Date,
                _ => {
                    dictionaries += 1;
                    Output::Value(dictionaries - 1)
                }
            });
        }
        let mut inputs: Vec<Input<'q>> = KEY
            .into_iter()
            .map(|dimension| {
                let index = query.dimensions.iter().position(|other| *other == dimension);
                Input {
                    dimension,
                    filter: query.filters.iter().find(|filter| filter.dimension == dimension),
                    dictionary: index.and_then(|index| match outputs.get(index)? {
                        Output::Date => None,
                        Output::Value(dictionary) => Some(*dictionary),
                    }),
                }
            })
            .filter(|input| input.filter.is_some() || input.dictionary.is_some())
            .collect();
        inputs.sort_by_key(|input| (input.dictionary.is_some(), input.filter.is_none()));
        let measures = query.measures();
        let columns = inputs
            .iter()
            .filter_map(|input| Column::of_dimension(input.dimension))
            .chain(measures.iter().copied().map(Column::of_measure))
            .collect();
        Self { query, outputs, dictionaries, inputs, measures, columns }
    }

    /// The segments whose facts can match the query, sorted by day.
    pub fn matching_segments(&self, mut segments: Vec<SegmentRef>) -> Vec<SegmentRef> {
        let dates = self.query.filters.iter().find(|filter| filter.dimension == Dimension::Date);
        segments.retain(|segment| {
            let day = segment.day;
            (self.query.start..=self.query.end).contains(&day)
                && segment.rows > 0
                && dates.is_none_or(|dates| dates.values.binary_search(&day.to_string()).is_ok())
        });
        segments.sort_by_key(|segment| segment.day);
        segments
    }

    /// The initial parts: one part per day if the date is requested, since no group then spans days; otherwise one part
    /// for all days.
    pub fn parts(&self, segments: &[SegmentRef]) -> Vec<Part> {
        let mut start = 0;
        segments
            .chunk_by(|one, next| !self.outputs.contains(&Output::Date) || one.day == next.day)
            .map(|segments| {
                let part = start..start + segments.len();
                start = part.end;
                Part { segments: part, splits: [Split::default(); KEY.len()] }
            })
            .collect()
    }
}

/// A part of the groups. Every group belongs to one part.
#[derive(Clone, Debug)]
pub struct Part {
    /// The range among the matching segments.
    pub segments: Range<usize>,
    /// For each dictionary, the values that belong to the part.
    pub splits: [Split; KEY.len()],
}

/// The values whose hash has these low bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    mask: u64,
    bits: u64,
}

impl Split {
    pub fn contains(self, hash: u64) -> bool {
        hash & self.mask == self.bits
    }

    /// Both halves of these values. `None` after 32 splits, because values that are still together may have equal
    /// hashes.
    fn halves(self) -> Option<[Self; 2]> {
        let mask = self.mask << 1 | 1;
        (mask < 1 << 32).then_some([self.bits, self.bits | (self.mask + 1)].map(|bits| Self { mask, bits }))
    }
}

impl Part {
    /// Splits the part in two, each with half of the values of one dictionary.
    pub fn halves(&self, dictionary: usize) -> Option<[Self; 2]> {
        let halves = self.splits.get(dictionary)?.halves()?;
        Some(halves.map(|half| {
            let mut part = self.clone();
            if let Some(split) = part.splits.get_mut(dictionary) {
                *split = half;
            }
            part
        }))
    }
}
