//! The work of a query: parts, until all facts are added up; sweeps, until the page is complete.

use super::{
    Budget, Effort, EngineError, SegmentRef, Source,
    dictionary::Dictionary,
    metered_vec::{Meter, OutOfMemory},
    order::{Order, Row},
    plan::{Part, Place, Plan},
    scan::{Scan, Stop},
    size,
    table::{Mix, Table},
    top_rows::TopRows,
};
use crate::{
    model::time::UtcDay,
    reporting::{dimension::KEY, page::Page},
};

pub struct Execution<'w, S> {
    source: &'w S,
    plan: &'w Plan<'w>,
    budget: &'w Budget,
    segments: &'w [SegmentRef],
    meter: &'w Meter,
    order: Order,
    dictionaries: Vec<Dictionary<'w>>,
    table: Table<'w>,
    scan: Scan<'w>,
    kept: TopRows,
    /// Groups so far, in the first sweep.
    total: u64,
    effort: Effort,
}

impl<'w, S: Source> Execution<'w, S> {
    pub fn new(
        source: &'w S,
        plan: &'w Plan<'w>,
        budget: &'w Budget,
        segments: &'w [SegmentRef],
        meter: &'w Meter,
    ) -> Self {
        Self {
            source,
            plan,
            budget,
            segments,
            meter,
            order: Order::of(plan),
            dictionaries: (0..plan.dictionaries)
                .map(|_| Dictionary::new(meter, budget.seed))
                .collect(),
            table: Table::new(meter, plan.measures.len(), Mix::of(budget.seed)),
            scan: Scan::new(plan, meter),
            kept: TopRows::new(plan.places.len(), plan.measures.len(), budget.kept),
            total: 0,
            effort: Effort::default(),
        }
    }

    pub fn page(mut self) -> Result<(Page, Effort), EngineError<S::Error>> {
        let query = self.plan.query;
        let mut page = Page::new(query.dimensions.clone(), query.metrics.clone());
        let (first, last) = (
            query.offset(),
            query.offset().saturating_add(u64::from(query.count)),
        );
        // No row stands behind as many groups as there may be.
        let wanted = if first < self.budget.groups { last } else { 0 };
        let mut parts = self.plan.parts(self.segments);
        let (mut before, mut boundary) = (0, None);
        loop {
            self.kept.begin(wanted - before, boundary);
            parts = self.sweep(parts)?;
            page.total = self.total;
            let rows = self.kept.sort(&self.order, &mut self.dictionaries);
            let shown = first.saturating_sub(before);
            self.render(&mut page, usize::try_from(shown).unwrap_or(usize::MAX))
                .ok_or(EngineError::PageTooLarge)?;
            before += u64::try_from(rows).unwrap_or(u64::MAX);
            // Nothing to show, or nothing more.
            if rows == 0 || self.total <= first || before >= self.total.min(wanted) {
                self.effort.prunes = self.kept.prunes;
                return Ok((page, self.effort));
            }
            boundary = self.kept.sorted().last().map(|row| size(*row));
        }
    }

    /// Adds up all facts, and offers the groups. The parts that this took in the end are those of the next sweep.
    fn sweep(&mut self, mut parts: Vec<Part>) -> Result<Vec<Part>, EngineError<S::Error>> {
        let first = self.effort.sweeps == 0;
        self.effort.sweeps += 1;
        let mut done = Vec::with_capacity(parts.len());
        parts.reverse();
        while let Some(part) = parts.pop() {
            self.table.clear();
            self.dictionaries.iter_mut().for_each(Dictionary::begin_part);
            match self.add_up(&part, first)? {
                Ok(()) => {
                    if first {
                        self.total += groups(&self.table);
                    }
                    self.effort.parts += 1;
                    self.effort.dense += u64::from(self.table.is_dense());
                    self.effort.wide += u64::from(self.table.is_wide());
                    self.offer(&part).map_err(|OutOfMemory| EngineError::TooLarge)?;
                    done.push(part);
                    // What values take may grow to half, so that a part always has the other half.
                    if self.dictionary_bytes() > self.meter.limit() / 2 {
                        self.forget().map_err(|OutOfMemory| EngineError::TooLarge)?;
                    }
                }
                Err(OutOfMemory) => {
                    self.effort.splits += 1;
                    let most = (0..self.dictionaries.len())
                        .filter_map(|at| Some((self.dictionaries.get(at)?.distinct(), part.halves(at)?)))
                        .max_by_key(|(distinct, _)| *distinct);
                    let Some((2.., halves)) = most else {
                        return Err(EngineError::TooLarge);
                    };
                    parts.extend(halves);
                    self.table.release();
                    self.forget().map_err(|OutOfMemory| EngineError::TooLarge)?;
                }
            }
        }
        Ok(done)
    }

    /// Adds up a part's facts; within, [`OutOfMemory`] if that takes too much memory.
    fn add_up(&mut self, part: &Part, first: bool) -> Result<Result<(), OutOfMemory>, EngineError<S::Error>> {
        let segments = self.segments.get(part.segments.clone()).unwrap_or_default();
        let hint = segments
            .iter()
            .fold(0_usize, |rows, segment| rows.saturating_add(size(segment.rows)));
        for segment in segments {
            self.effort.segments += 1;
            let columns = self
                .source
                .columns(segment, &self.plan.columns)
                .map_err(EngineError::Source)?;
            let added = self.scan.segment(
                self.plan,
                part,
                (&columns, segment.rows, hint),
                &mut self.dictionaries,
                &mut self.table,
                self.budget,
            );
            match added {
                Ok(moved) => self.effort.moves += u64::from(moved),
                Err(Stop::OutOfMemory) => return Ok(Err(OutOfMemory)),
                Err(Stop::Corrupt(cause)) => {
                    return Err(EngineError::Corrupt {
                        segment: segment.id,
                        cause,
                    });
                }
            }
            if first && self.total.saturating_add(groups(&self.table)) > self.budget.groups {
                return Err(EngineError::TooLarge);
            }
        }
        Ok(Ok(()))
    }

    /// Offers the groups of a part to be kept.
    fn offer(&mut self, part: &Part) -> Result<(), OutOfMemory> {
        let Some(segment) = self.segments.get(part.segments.start) else {
            return Ok(());
        };
        let day = u32::try_from(segment.day.number() - self.plan.query.start.number()).unwrap_or(0);
        let Self {
            plan,
            order,
            dictionaries,
            table,
            kept,
            ..
        } = self;
        let mut offered = Ok(());
        table.for_each(|numbers, sums| {
            if kept.leaves_out(sums, order) {
                return;
            }
            let numbers = numbers();
            let mut values = [0; KEY.len() + 1];
            for (value, place) in values.iter_mut().zip(&plan.places) {
                *value = match place {
                    Place::Date => day,
                    Place::Value(dictionary) => numbers.get(*dictionary).copied().unwrap_or_default(),
                };
            }
            let row = Row {
                values: values.get(..plan.places.len()).unwrap_or_default(),
                sums,
            };
            offered = offered.and_then(|()| kept.offer(row, order, dictionaries));
        });
        offered
    }

    fn dictionary_bytes(&self) -> usize {
        self.dictionaries.iter().map(Dictionary::bytes).sum()
    }

    /// Drops the values that no kept row has, and kept rows, from behind, until their values take no more than three
    /// eighths of the memory: then an eighth has to come before this is done again.
    fn forget(&mut self) -> Result<(), OutOfMemory> {
        loop {
            self.effort.compactions += 1;
            self.kept.prune(&self.order, &mut self.dictionaries);
            for (place, of) in self.plan.places.iter().enumerate() {
                let Place::Value(dictionary) = of else {
                    continue;
                };
                if let Some(dictionary) = self.dictionaries.get_mut(*dictionary) {
                    self.kept
                        .values(place)
                        .for_each(|number| dictionary.mark(*number));
                    dictionary.retain();
                    for number in self.kept.values(place) {
                        *number = dictionary.renumbered(*number);
                    }
                    dictionary.settle()?;
                }
            }
            if self.dictionary_bytes() <= self.meter.limit() / 8 * 3 || !self.kept.halve() {
                return Ok(());
            }
        }
    }

    /// Writes the sorted rows but for the first `skip` to the page, until it is complete. `None` if it has no room for
    /// their texts.
    fn render(&self, page: &mut Page, skip: usize) -> Option<()> {
        let query = self.plan.query;
        let days: Vec<String> = (query.start.number()..=query.end.number())
            .filter_map(UtcDay::from_number)
            .map(|day| day.to_string())
            .collect();
        let mut texts = Vec::with_capacity(self.dictionaries.len());
        for dictionary in &self.dictionaries {
            let (text, ends) = dictionary.texts();
            texts.push((std::str::from_utf8(text).ok()?, ends));
        }
        let left = size(query.count).saturating_sub(page.rows());
        for row in self.kept.sorted().iter().skip(skip).take(left) {
            let row = self.kept.row(size(*row))?;
            let values = row.values.iter().zip(&self.plan.places).map(|(number, place)| {
                let number = size(*number);
                match place {
                    Place::Date => days.get(number).map(String::as_str),
                    Place::Value(dictionary) => {
                        let (text, ends) = texts.get(*dictionary)?;
                        let start = number
                            .checked_sub(1)
                            .map_or(Some(0), |before| ends.get(before).copied())?;
                        text.get(size(start)..size(*ends.get(number)?))
                    }
                }
            });
            page.push(values.flatten(), self.order.sums(row))?;
        }
        Some(())
    }
}

fn groups(table: &Table<'_>) -> u64 {
    u64::try_from(table.groups()).unwrap_or(u64::MAX)
}
