//! The order of rows: the query's sort keys, then the requested dimensions, so that no two rows are equal.

use std::cmp::Ordering;

use super::{
    dictionary::Dictionary,
    plan::{Output, Plan},
};
use crate::reporting::{Measure, Metric, Sums, query::Column};

/// A group, which may become a row of the page.
#[derive(Clone, Copy, Debug)]
pub struct Group<'r> {
    /// For each requested dimension, the number of its value. The date is the number of days since the query's first
    /// day.
    pub values: &'r [u32],
    /// The sum of each measure of the query.
    pub sums: &'r [i64],
}

pub struct RowOrder {
    keys: Vec<SortKey>,
    measures: Vec<Measure>,
}

#[derive(Clone, Copy)]
struct SortKey {
    column: SortColumn,
    ascending: bool,
}

/// A column to compare by. Indices are those of [`Group`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum SortColumn {
    Date { index: usize },
    Value { index: usize, dictionary: usize },
    Sum { index: usize },
    Quotient(Metric),
}

impl RowOrder {
    pub fn new(plan: &Plan<'_>) -> Self {
        let mut order = Self { keys: Vec::new(), measures: plan.measures.clone() };
        for item in &plan.query.order {
            let column = match item.column {
                Column::Dimension(dimension) => {
                    let index = plan.query.dimensions.iter().position(|other| *other == dimension);
                    index.and_then(|index| SortColumn::of_output(plan, index))
                }
                Column::Metric(Metric::Sum(measure)) => {
                    plan.measures.iter().position(|needed| *needed == measure).map(|index| SortColumn::Sum { index })
                }
                Column::Metric(metric) => Some(SortColumn::Quotient(metric)),
            };
            if let Some(column) = column {
                order.push(column, item.ascending);
            }
        }
        for index in 0..plan.outputs.len() {
            if let Some(column) = SortColumn::of_output(plan, index) {
                order.push(column, true);
            }
        }
        order
    }

    /// Adds a sort key, unless an earlier key compares the same column and so decides first.
    fn push(&mut self, column: SortColumn, ascending: bool) {
        if self.keys.iter().all(|key| key.column != column) {
            self.keys.push(SortKey { column, ascending });
        }
    }

    pub fn compare(&self, dictionaries: &[Dictionary<'_>], left: Group<'_>, right: Group<'_>) -> Ordering {
        for key in &self.keys {
            let ordering = match key.column {
                SortColumn::Sum { index } => left.sums.get(index).cmp(&right.sums.get(index)),
                SortColumn::Date { index } => left.values.get(index).cmp(&right.values.get(index)),
                SortColumn::Value { index, dictionary } => {
                    let [left, right] = [left, right].map(|row| row.values.get(index).copied().unwrap_or(0));
                    dictionaries.get(dictionary).map_or(Ordering::Equal, |dictionary| dictionary.compare(left, right))
                }
                SortColumn::Quotient(metric) => metric.compare(&self.sums(left), &self.sums(right)),
            };
            if ordering.is_ne() {
                return if key.ascending { ordering } else { ordering.reverse() };
            }
        }
        Ordering::Equal
    }

    /// True if every row with the sums `left` comes after every row with the sums `right`, by the first sort key.
    pub fn is_after(&self, left: &[i64], right: &[i64]) -> bool {
        match self.keys.first() {
            Some(SortKey { column: SortColumn::Sum { index }, ascending }) => {
                let (left, right) = (left.get(*index), right.get(*index));
                if *ascending { left > right } else { left < right }
            }
            _ => false,
        }
    }

    /// The sums of a row by [`Measure`]; 0 for measures that the query does not need.
    pub fn sums(&self, row: Group<'_>) -> Sums {
        let mut sums = Sums::default();
        for (measure, sum) in self.measures.iter().zip(row.sums) {
            if let Some(slot) = sums.get_mut(measure.index()) {
                *slot = *sum;
            }
        }
        sums
    }
}

impl SortColumn {
    fn of_output(plan: &Plan<'_>, index: usize) -> Option<Self> {
        Some(match *plan.outputs.get(index)? {
            Output::Date => Self::Date { index },
            Output::Value(dictionary) => Self::Value { index, dictionary },
        })
    }
}
