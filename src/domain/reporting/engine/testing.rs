//! For tests: segments in memory, and the engine's answer by the simplest means.

use std::{cell::Cell, cmp::Ordering, collections::BTreeMap};

use super::{SegmentRef, Source};
use crate::{
    model::time::UtcDay,
    reporting::{
        Dimension, Measure, Metric, Sums,
        dimension::KEY,
        query::{self, Query},
        segment::{Column, Segmenter},
    },
};

/// A fact: its day, its other dimensions, and its sums.
pub type Fact = (UtcDay, [String; KEY.len()], Sums);

/// Segments in memory, each with all its columns.
#[derive(Default)]
pub struct Memory {
    pub segments: Vec<(SegmentRef, Vec<Vec<u8>>)>,
    /// How often columns were asked for.
    pub reads: Cell<u64>,
}

impl Memory {
    /// The facts of each day in segments of their own, one for each of `layers` that has any: a fact goes to the layer
    /// that its place gives, so that keys are found in several.
    pub fn of(facts: &[Fact], layers: usize) -> Self {
        let mut memory = Self::default();
        let mut days: BTreeMap<(UtcDay, usize), Segmenter> = BTreeMap::new();
        for (at, (day, key, sums)) in facts.iter().enumerate() {
            let segmenter = days.entry((*day, at % layers)).or_default();
            segmenter.add(&key.each_ref().map(String::as_str), sums);
        }
        for ((day, _), segmenter) in days {
            for segment in segmenter.finish() {
                let id = memory.segments.len() as i64;
                let rows = segment.rows;
                memory
                    .segments
                    .push((SegmentRef { id, day, rows }, segment.columns));
            }
        }
        memory
    }
}

impl Source for Memory {
    type Error = std::convert::Infallible;

    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, Self::Error> {
        let segments = self.segments.iter().map(|(segment, _)| *segment);
        Ok(segments
            .filter(|segment| (first..=last).contains(&segment.day))
            .collect())
    }

    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Vec<u8>>, Self::Error> {
        self.reads.set(self.reads.get() + 1);
        let (_, columns) = &self.segments[segment.id as usize];
        Ok(wanted
            .iter()
            .map(|column| columns[usize::from(column.number())].clone())
            .collect())
    }
}

/// A row as the query asks for it: the texts of its dimensions, and the measures that it needs; 0 for the others.
pub type Row = (Vec<String>, Sums);

/// All rows of a query, by the words of the specification: every fact looked at, all groups sorted.
pub fn all_rows(facts: &[Fact], query: &Query) -> Vec<Row> {
    let mut groups: BTreeMap<Vec<String>, Sums> = BTreeMap::new();
    for (day, key, sums) in facts {
        let text = |dimension: Dimension| match dimension {
            Dimension::Date => day.to_string(),
            Dimension::App => key[0].clone(),
            Dimension::Country => key[1].clone(),
            Dimension::PlacementId => key[2].clone(),
            Dimension::AdTag => key[3].clone(),
            Dimension::DemandSource => key[4].clone(),
            Dimension::SdkV => key[5].clone(),
        };
        let counts = query.start <= *day
            && *day <= query.end
            && query
                .filters
                .iter()
                .all(|filter| filter.values.contains(&text(filter.dimension)));
        if counts {
            let group = groups
                .entry(query.dimensions.iter().map(|of| text(*of)).collect())
                .or_default();
            group.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
        }
    }
    let mut rows: Vec<Row> = groups.into_iter().collect();
    // Stable, after the order of the map: what the query's order leaves equal is ordered by the dimensions.
    rows.sort_by(|left, right| {
        for order in &query.order {
            let ordering = match order.column {
                query::Column::Dimension(dimension) => {
                    let at = query.dimensions.iter().position(|of| *of == dimension).unwrap();
                    left.0[at].cmp(&right.0[at])
                }
                query::Column::Metric(metric) => by_metric(metric, &left.1, &right.1),
            };
            if ordering != Ordering::Equal {
                return if order.ascending {
                    ordering
                } else {
                    ordering.reverse()
                };
            }
        }
        Ordering::Equal
    });
    let needed = query.measures();
    for (_, sums) in &mut rows {
        for measure in Measure::ALL {
            if !needed.contains(&measure) {
                sums[measure.index()] = 0;
            }
        }
    }
    rows
}

fn by_metric(metric: Metric, left: &Sums, right: &Sums) -> Ordering {
    let fraction = |sums: &Sums| -> (i128, i128) {
        let [requests, responses, impressions, clicks, revenue] = sums.map(i128::from);
        let (over, under) = match metric {
            Metric::Sum(measure) => (i128::from(sums[measure.index()]), 1),
            Metric::Ecpm => (revenue * 1000, impressions),
            Metric::FillRate => (responses, requests),
            Metric::ShowRate => (impressions, responses),
            Metric::ClickRate => (clicks, impressions),
        };
        if under == 0 { (0, 1) } else { (over, under) }
    };
    let ((left_over, left_under), (right_over, right_under)) = (fraction(left), fraction(right));
    (left_over * right_under).cmp(&(right_over * left_under))
}

/// The rows of a query's page, of all.
pub fn page_of(rows: &[Row], query: &Query) -> Vec<Row> {
    let first = (query.page - 1).saturating_mul(u64::from(query.count));
    let rows = rows.iter().skip(usize::try_from(first).unwrap_or(usize::MAX));
    rows.take(query.count as usize).cloned().collect()
}
