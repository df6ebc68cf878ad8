//! For tests of reports: segments in memory, a naive model of the engine, random sums, and rows of tables.

use std::{cell::Cell, cmp::Ordering, collections::BTreeMap, rc::Rc};

use proptest::prelude::*;

use super::{SegmentRef, Source};
use crate::{
    model::UtcDay,
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
pub struct MemorySource {
    pub segments: Vec<(SegmentRef, Vec<Vec<u8>>)>,
    /// The number of calls of [`Source::columns`].
    pub reads: Cell<u64>,
}

impl MemorySource {
    /// Builds segments for each day and layer. A fact's index selects its layer, so that keys repeat in segments.
    pub fn new(facts: &[Fact], layers: usize) -> Self {
        let mut source = Self::default();
        let mut days: BTreeMap<(UtcDay, usize), Segmenter> = BTreeMap::new();
        for (at, (day, key, sums)) in facts.iter().enumerate() {
            let segmenter = days.entry((*day, at % layers)).or_default();
            segmenter.add(&key.each_ref().map(String::as_str), sums);
        }
        for ((day, _), segmenter) in days {
            for segment in segmenter.finish() {
                let (id, rows) = (source.segments.len() as i64, segment.rows);
                let reference = SegmentRef { id, day, rows };
                source.segments.push((reference, segment.columns));
            }
        }
        source
    }
}

impl Source for MemorySource {
    type Error = std::convert::Infallible;

    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, Self::Error> {
        let segments = self.segments.iter().map(|(segment, _)| *segment);
        Ok(segments.filter(|segment| (first..=last).contains(&segment.day)).collect())
    }

    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Rc<Vec<u8>>>, Self::Error> {
        self.reads.set(self.reads.get() + 1);
        let (_, columns) = &self.segments[segment.id as usize];
        Ok(wanted.iter().map(|column| Rc::new(columns[usize::from(column.number())].clone())).collect())
    }
}

/// A row: the texts of the requested dimensions, and the sums. Measures that the query does not need are 0.
pub type Row = (Vec<String>, Sums);

/// All rows of a query, computed naively: reads every fact and sorts all groups.
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
            && query.filters.iter().all(|filter| filter.values.contains(&text(filter.dimension)));
        if counts {
            let group = groups.entry(query.dimensions.iter().map(|d| text(*d)).collect()).or_default();
            group.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
        }
    }
    let mut rows: Vec<Row> = groups.into_iter().collect();
    // The sort is stable and the map is ordered by the dimensions, so the dimensions decide between equal rows.
    rows.sort_by(|left, right| {
        for order in &query.order {
            let ordering = match order.column {
                query::Column::Dimension(dimension) => {
                    let at = query.dimensions.iter().position(|d| *d == dimension).unwrap();
                    left.0[at].cmp(&right.0[at])
                }
                query::Column::Metric(metric) => compare_metric(metric, &left.1, &right.1),
            };
            if ordering != Ordering::Equal {
                return if order.ascending { ordering } else { ordering.reverse() };
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

fn compare_metric(metric: Metric, left: &Sums, right: &Sums) -> Ordering {
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

/// The rows of a query's page, and the number of rows on all pages.
pub fn page_of(facts: &[Fact], query: &Query) -> (Vec<Row>, u64) {
    let rows = all_rows(facts, query);
    let total = rows.len() as u64;
    let first = (query.page - 1).saturating_mul(u64::from(query.count));
    let rest = rows.into_iter().skip(usize::try_from(first).unwrap_or(usize::MAX));
    (rest.take(query.count as usize).collect(), total)
}

/// Random sums. Only revenue may be negative.
pub fn sums(number: impl Strategy<Value = i64> + Clone) -> impl Strategy<Value = Sums> {
    (prop::array::uniform4(number.clone()), number, any::<bool>())
        .prop_map(|([a, b, c, d], revenue, back)| [a, b, c, d, if back { -revenue } else { revenue }])
}

/// The slots that are probed to find each number of a hash table once. A slot has a number + 1, or 0 if it is free;
/// `home` is the slot at which the search for a number begins.
pub fn probes(slots: &[u32], home: impl Fn(usize) -> usize) -> usize {
    let mask = slots.len() - 1;
    let taken = slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
    taken.map(|(at, slot)| ((at + mask + 1 - home(*slot as usize - 1)) & mask) + 1).sum()
}
