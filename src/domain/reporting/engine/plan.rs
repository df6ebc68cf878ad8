//! What a query needs: which segments, which of their columns, and what each is for.

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
    /// What stands at each requested dimension's place in a row.
    pub places: Vec<Place>,
    /// The requested dimensions but for the date, each with a dictionary, in the order of the request.
    pub dictionaries: usize,
    /// The dimensions to read. Filters first: when no value of a segment passes one, the rest need not be looked at.
    pub keys: Vec<Key<'q>>,
    pub measures: Vec<Measure>,
    /// The columns to read: of `keys`, then of `measures`.
    pub columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Date,
    /// The place among the dictionaries.
    Value(usize),
}

/// A dimension to read.
pub struct Key<'q> {
    pub dimension: Dimension,
    pub filter: Option<&'q Filter>,
    pub dictionary: Option<usize>,
}

impl<'q> Plan<'q> {
    pub fn of(query: &'q Query) -> Self {
        let mut dictionaries = 0;
        let mut places = Vec::new();
        for dimension in &query.dimensions {
            places.push(match dimension {
                Dimension::Date => Place::Date,
                _ => {
                    dictionaries += 1;
                    Place::Value(dictionaries - 1)
                }
            });
        }
        let mut keys: Vec<Key<'q>> = KEY
            .into_iter()
            .map(|dimension| {
                let place = query.dimensions.iter().position(|of| *of == dimension);
                Key {
                    dimension,
                    filter: query.filters.iter().find(|filter| filter.dimension == dimension),
                    dictionary: place.and_then(|place| match places.get(place)? {
                        Place::Date => None,
                        Place::Value(dictionary) => Some(*dictionary),
                    }),
                }
            })
            .filter(|key| key.filter.is_some() || key.dictionary.is_some())
            .collect();
        keys.sort_by_key(|key| (key.dictionary.is_some(), key.filter.is_none()));
        let measures = query.measures();
        let columns = keys
            .iter()
            .filter_map(|key| Column::of_dimension(key.dimension))
            .chain(measures.iter().copied().map(Column::of_measure))
            .collect();
        Self {
            query,
            places,
            dictionaries,
            keys,
            measures,
            columns,
        }
    }

    /// The segments whose facts can count, by day.
    pub fn counted(&self, mut segments: Vec<SegmentRef>) -> Vec<SegmentRef> {
        let dates = self
            .query
            .filters
            .iter()
            .find(|filter| filter.dimension == Dimension::Date);
        segments.retain(|segment| {
            let day = segment.day;
            (self.query.start..=self.query.end).contains(&day)
                && segment.rows > 0
                && dates.is_none_or(|dates| dates.values.binary_search(&day.to_string()).is_ok())
        });
        segments.sort_by_key(|segment| segment.day);
        segments
    }

    /// What the work begins with: when the date is asked for, each day's groups are its own.
    pub fn parts(&self, segments: &[SegmentRef]) -> Vec<Part> {
        let mut start = 0;
        segments
            .chunk_by(|one, next| !self.places.contains(&Place::Date) || one.day == next.day)
            .map(|segments| {
                let part = start..start + segments.len();
                start = part.end;
                Part {
                    segments: part,
                    splits: [Split::default(); KEY.len()],
                }
            })
            .collect()
    }
}

/// A part of the work, whose groups are in no other.
#[derive(Clone, Debug)]
pub struct Part {
    /// Among the segments that count.
    pub segments: Range<usize>,
    /// For each dictionary, the values that are in the part.
    pub splits: [Split; KEY.len()],
}

/// The values whose hash ends like this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    mask: u64,
    bits: u64,
}

impl Split {
    pub fn has(self, hash: u64) -> bool {
        hash & self.mask == self.bits
    }

    /// Both halves; none from 32 bits on, where values that are still together may be alike in all.
    fn halves(self) -> Option<[Self; 2]> {
        let mask = self.mask << 1 | 1;
        (mask < 1 << 32).then_some([self.bits, self.bits | (self.mask + 1)].map(|bits| Self { mask, bits }))
    }
}

impl Part {
    /// Two parts that are this one together: each with half of the values of one dictionary.
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
