//! Executes a query: aggregates all facts part by part, and repeats this in sweeps until the page is complete.

use super::{
    Budget, EngineError, RunStats, SegmentRef, Source, Visit,
    dictionary::Dictionary,
    metered_vec::{Meter, OutOfMemory},
    order::{Group, RowOrder},
    plan::{Output, Part, Plan},
    scan::{Scan, Stop},
    table::{GroupHasher, Table},
    texts::Texts,
    to_usize,
    top_rows::TopRows,
};
use crate::reporting::{dimension::KEY, page::Page};

pub struct Execution<'w, S> {
    source: &'w S,
    plan: &'w Plan<'w>,
    budget: &'w Budget,
    segments: &'w [SegmentRef],
    meter: &'w Meter,
    order: RowOrder,
    dictionaries: Vec<Dictionary<'w>>,
    table: Table<'w>,
    scan: Scan<'w>,
    top_rows: TopRows,
    /// Number of groups found so far. Only the first sweep counts them.
    total: u64,
    stats: RunStats,
    /// Is shown each group, once.
    visitor: Option<&'w mut Visit<'w>>,
}

impl<'w, S: Source> Execution<'w, S> {
    pub fn new(
        source: &'w S,
        plan: &'w Plan<'w>,
        budget: &'w Budget,
        segments: &'w [SegmentRef],
        meter: &'w Meter,
        visitor: Option<&'w mut Visit<'w>>,
    ) -> Self {
        Self {
            source,
            plan,
            budget,
            segments,
            meter,
            order: RowOrder::new(plan),
            dictionaries: (0..plan.dictionaries).map(|_| Dictionary::new(meter, budget.seed)).collect(),
            table: Table::new(meter, plan.measures.len(), GroupHasher::new(budget.seed)),
            scan: Scan::new(plan, meter),
            top_rows: TopRows::new(plan.outputs.len(), plan.measures.len(), budget.kept),
            total: 0,
            stats: RunStats::default(),
            visitor,
        }
    }

    pub fn page(mut self) -> Result<(Page, RunStats), EngineError<S::Error>> {
        let query = self.plan.query;
        let mut page = Page::new(query.dimensions.clone(), query.metrics.clone());
        let (first, last) = (query.offset(), query.offset().saturating_add(u64::from(query.count)));
        // A page that begins beyond the group limit is empty.
        let wanted = if first < self.budget.groups { last } else { 0 };
        let mut parts = self.plan.parts(self.segments);
        let (mut before, mut boundary) = (0, None);
        loop {
            self.top_rows.begin(wanted - before, boundary);
            parts = self.sweep(parts)?;
            page.total = self.total;
            let rows = self.top_rows.sort(&self.order, &mut self.dictionaries);
            let skip = first.saturating_sub(before);
            self.render(&mut page, usize::try_from(skip).unwrap_or(usize::MAX)).ok_or(EngineError::PageTooLarge)?;
            before += u64::try_from(rows).unwrap_or(u64::MAX);
            // The page is complete, or has no rows.
            if rows == 0 || self.total <= first || before >= self.total.min(wanted) {
                self.stats.prunes = self.top_rows.prunes;
                return Ok((page, self.stats));
            }
            boundary = self.top_rows.sorted().last().map(|row| to_usize(*row));
        }
    }

    /// Aggregates all facts and offers the groups to `top_rows`. Returns the parts that fit, for the next sweep.
    fn sweep(&mut self, mut parts: Vec<Part>) -> Result<Vec<Part>, EngineError<S::Error>> {
        let first = self.stats.sweeps == 0;
        self.stats.sweeps += 1;
        let mut done = Vec::with_capacity(parts.len());
        parts.reverse();
        while let Some(part) = parts.pop() {
            self.table.clear();
            self.dictionaries.iter_mut().for_each(Dictionary::begin_part);
            match self.add_up(&part, first)? {
                Ok(()) => {
                    if first {
                        self.total += groups(&self.table);
                        self.visit(&part).ok_or(EngineError::PageTooLarge)?;
                    }
                    self.stats.parts += 1;
                    self.stats.dense += u64::from(self.table.is_dense());
                    self.stats.wide += u64::from(self.table.is_wide());
                    self.offer(&part).map_err(|OutOfMemory| EngineError::TooLarge)?;
                    done.push(part);
                    // Dictionaries may take half of the memory, so that a part always has the other half.
                    if self.dictionary_bytes() > self.meter.limit() / 2 {
                        self.compact().map_err(|OutOfMemory| EngineError::TooLarge)?;
                    }
                }
                Err(OutOfMemory) => {
                    self.stats.splits += 1;
                    let largest = (0..self.dictionaries.len())
                        .filter_map(|at| Some((self.dictionaries.get(at)?.distinct(), part.halves(at)?)))
                        .max_by_key(|(distinct, _)| *distinct);
                    let Some((2.., halves)) = largest else {
                        return Err(EngineError::TooLarge);
                    };
                    parts.extend(halves);
                    self.table.release();
                    self.compact().map_err(|OutOfMemory| EngineError::TooLarge)?;
                }
            }
        }
        Ok(done)
    }

    /// Aggregates the facts of a part. The inner result is [`OutOfMemory`] if the part does not fit in memory.
    fn add_up(&mut self, part: &Part, first: bool) -> Result<Result<(), OutOfMemory>, EngineError<S::Error>> {
        let segments = self.segments.get(part.segments.clone()).unwrap_or_default();
        let hint = segments.iter().fold(0_usize, |rows, segment| rows.saturating_add(to_usize(segment.rows)));
        for segment in segments {
            self.stats.segments += 1;
            let columns = self.source.columns(segment, &self.plan.columns).map_err(EngineError::Source)?;
            let result = self.scan.segment(
                self.plan,
                part,
                (&columns, segment.rows, hint),
                &mut self.dictionaries,
                &mut self.table,
                self.budget,
            );
            match result {
                Ok(moved) => self.stats.moves += u64::from(moved),
                Err(Stop::OutOfMemory) => return Ok(Err(OutOfMemory)),
                Err(Stop::Corrupt(cause)) => {
                    return Err(EngineError::Corrupt { segment: segment.id, cause });
                }
            }
            if first && self.total.saturating_add(groups(&self.table)) > self.budget.groups {
                return Err(EngineError::TooLarge);
            }
        }
        Ok(Ok(()))
    }

    /// Offers the groups of a part to `top_rows`.
    fn offer(&mut self, part: &Part) -> Result<(), OutOfMemory> {
        let Some(day) = part_day(self.plan, self.segments, part) else {
            return Ok(());
        };
        let Self { plan, order, dictionaries, table, top_rows, .. } = self;
        let mut result = Ok(());
        table.for_each(|numbers, sums| {
            if top_rows.excludes(sums, order) {
                return;
            }
            let values = values(plan, day, &numbers());
            let row = Group { values: values.get(..plan.outputs.len()).unwrap_or_default(), sums };
            result = result.and_then(|()| top_rows.offer(row, order, dictionaries));
        });
        result
    }

    fn dictionary_bytes(&self) -> usize {
        self.dictionaries.iter().map(Dictionary::bytes).sum()
    }

    /// Drops the values that no kept row has. If the other values take more than 3/8 of the memory, also drops the last
    /// kept rows until the values fit. The dictionaries must then grow by 1/8 of the memory before the next compaction.
    fn compact(&mut self) -> Result<(), OutOfMemory> {
        loop {
            self.stats.compactions += 1;
            self.top_rows.prune(&self.order, &mut self.dictionaries);
            for (index, output) in self.plan.outputs.iter().enumerate() {
                let Output::Value(dictionary) = output else {
                    continue;
                };
                if let Some(dictionary) = self.dictionaries.get_mut(*dictionary) {
                    self.top_rows.values(index).for_each(|number| dictionary.mark(*number));
                    dictionary.retain();
                    for number in self.top_rows.values(index) {
                        *number = dictionary.new_number(*number);
                    }
                    dictionary.finish_retain()?;
                }
            }
            if self.dictionary_bytes() <= self.meter.limit() / 8 * 3 || !self.top_rows.halve() {
                return Ok(());
            }
        }
    }

    /// Writes the sorted rows after the first `skip` to the page until it is complete. `None` if their texts exceed the
    /// page's limit.
    fn render(&self, page: &mut Page, skip: usize) -> Option<()> {
        let texts = Texts::new(self.plan, &self.dictionaries)?;
        let left = to_usize(self.plan.query.count).saturating_sub(page.rows());
        for row in self.top_rows.sorted().iter().skip(skip).take(left) {
            let row = self.top_rows.row(to_usize(*row))?;
            let values = row.values.iter().zip(&self.plan.outputs);
            let values = values.filter_map(|(number, output)| texts.get(*output, *number));
            page.push(values, self.order.sums(row))?;
        }
        Some(())
    }

    /// Shows the groups of a part to the visitor.
    fn visit(&mut self, part: &Part) -> Option<()> {
        let (Some(visit), Some(day)) = (self.visitor.as_deref_mut(), part_day(self.plan, self.segments, part)) else {
            return Some(());
        };
        let texts = Texts::new(self.plan, &self.dictionaries)?;
        let (plan, order) = (self.plan, &self.order);
        self.table.for_each(|numbers, sums| {
            let numbers = values(plan, day, &numbers());
            let numbers = numbers.get(..plan.outputs.len()).unwrap_or_default();
            let mut shown = [""; KEY.len() + 1];
            for ((text, number), output) in shown.iter_mut().zip(numbers).zip(&plan.outputs) {
                *text = texts.get(*output, *number).unwrap_or_default();
            }
            let group = Group { values: numbers, sums };
            visit(shown.get(..numbers.len()).unwrap_or_default(), &order.sums(group));
        });
        Some(())
    }
}

/// The number of days from the query's first day to the part's day; `None` for a part without segments.
fn part_day(plan: &Plan<'_>, segments: &[SegmentRef], part: &Part) -> Option<u32> {
    let segment = segments.get(part.segments.start)?;
    Some(u32::try_from(segment.day.number() - plan.query.start.number()).unwrap_or(0))
}

/// The numbers of a group's values in the order of the request. Numbers after those of the requested dimensions are
/// unused.
fn values(plan: &Plan<'_>, day: u32, numbers: &[u32; KEY.len()]) -> [u32; KEY.len() + 1] {
    let mut values = [0; KEY.len() + 1];
    for (value, output) in values.iter_mut().zip(&plan.outputs) {
        *value = match output {
            Output::Date => day,
            Output::Value(dictionary) => numbers.get(*dictionary).copied().unwrap_or_default(),
        };
    }
    values
}

fn groups(table: &Table<'_>) -> u64 {
    u64::try_from(table.groups()).unwrap_or(u64::MAX)
}
