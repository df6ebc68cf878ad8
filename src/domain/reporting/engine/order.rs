//! The order of rows: the query's, then the requested dimensions, so that no two rows are equal in it.

use std::cmp::Ordering;

use super::{
    dictionary::Dictionary,
    plan::{Place, Plan},
};
use crate::reporting::{Measure, Metric, Sums, query::Column};

/// A group on its way to the page.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// For each requested dimension the number of its value; of the date, the days since the query's first.
    pub values: &'r [u32],
    /// For each measure of the query.
    pub sums: &'r [i64],
}

pub struct Order {
    keys: Vec<Key>,
    measures: Vec<Measure>,
}

#[derive(Clone, Copy)]
struct Key {
    by: By,
    ascending: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Date { place: usize },
    Value { place: usize, dictionary: usize },
    Sum { at: usize },
    Quotient(Metric),
}

impl Order {
    pub fn of(plan: &Plan<'_>) -> Self {
        let mut order = Self {
            keys: Vec::new(),
            measures: plan.measures.clone(),
        };
        for item in &plan.query.order {
            let by = match item.column {
                Column::Dimension(dimension) => {
                    let place = plan.query.dimensions.iter().position(|of| *of == dimension);
                    place.and_then(|place| By::of_place(plan, place))
                }
                Column::Metric(Metric::Sum(measure)) => plan
                    .measures
                    .iter()
                    .position(|of| *of == measure)
                    .map(|at| By::Sum { at }),
                Column::Metric(metric) => Some(By::Quotient(metric)),
            };
            if let Some(by) = by {
                order.push(by, item.ascending);
            }
        }
        for place in 0..plan.places.len() {
            if let Some(by) = By::of_place(plan, place) {
                order.push(by, true);
            }
        }
        order
    }

    /// A column that stands before decides, so that it need not be compared again.
    fn push(&mut self, by: By, ascending: bool) {
        if self.keys.iter().all(|key| key.by != by) {
            self.keys.push(Key { by, ascending });
        }
    }

    pub fn compare(&self, dictionaries: &[Dictionary<'_>], left: Row<'_>, right: Row<'_>) -> Ordering {
        for key in &self.keys {
            let ordering = match key.by {
                By::Sum { at } => left.sums.get(at).cmp(&right.sums.get(at)),
                By::Date { place } => left.values.get(place).cmp(&right.values.get(place)),
                By::Value { place, dictionary } => {
                    let [left, right] = [left, right].map(|row| row.values.get(place).copied().unwrap_or(0));
                    dictionaries
                        .get(dictionary)
                        .map_or(Ordering::Equal, |dictionary| dictionary.compare(left, right))
                }
                By::Quotient(metric) => metric.compare(&self.sums(left), &self.sums(right)),
            };
            if ordering.is_ne() {
                return if key.ascending {
                    ordering
                } else {
                    ordering.reverse()
                };
            }
        }
        Ordering::Equal
    }

    /// Whether a row with the first sums stands behind one with the second whatever else they have, as the order's first
    /// column says.
    pub fn is_behind(&self, left: &[i64], right: &[i64]) -> bool {
        match self.keys.first() {
            Some(Key {
                by: By::Sum { at },
                ascending,
            }) => {
                let (left, right) = (left.get(*at), right.get(*at));
                if *ascending { left > right } else { left < right }
            }
            _ => false,
        }
    }

    /// A row's sums, 0 for measures that the query does not need.
    pub fn sums(&self, row: Row<'_>) -> Sums {
        let mut sums = Sums::default();
        for (measure, sum) in self.measures.iter().zip(row.sums) {
            if let Some(place) = sums.get_mut(measure.index()) {
                *place = *sum;
            }
        }
        sums
    }
}

impl By {
    fn of_place(plan: &Plan<'_>, place: usize) -> Option<Self> {
        Some(match *plan.places.get(place)? {
            Place::Date => Self::Date { place },
            Place::Value(dictionary) => Self::Value { place, dictionary },
        })
    }
}
