//! The rows that may come to stand on the page: the first ones in the order, of the groups so far.

use super::{
    dictionary::Dictionary,
    metered_vec::OutOfMemory,
    order::{Order, Row},
    size,
};

/// Rows that are kept at first, and above the limit before those behind it are looked for.
const SPARE: usize = 8 << 10;
const FIRST: usize = 16;

pub struct TopRows {
    places: usize,
    measures: usize,
    /// Flat: of each row, what [`Row`] has.
    values: Vec<u32>,
    sums: Vec<i64>,
    /// Rows by their order, once it is known; as long as there is room for rows.
    sorted: Vec<u32>,
    rows: usize,
    room: usize,
    /// Rows that the budget has room for.
    most: usize,
    /// Rows that are wanted.
    limit: usize,
    /// The last of the rows that are wanted, of those before the last prune.
    worst: Option<usize>,
    /// Only rows after this one are wanted.
    after: Option<(Vec<u32>, Vec<i64>)>,
    pub prunes: u64,
}

impl TopRows {
    pub fn new(places: usize, measures: usize, bytes: usize) -> Self {
        let row = places * size_of::<u32>() + measures * size_of::<i64>() + size_of::<u32>();
        Self {
            places,
            measures,
            values: Vec::new(),
            sums: Vec::new(),
            sorted: Vec::new(),
            rows: 0,
            room: 0,
            most: (bytes / row).clamp(FIRST, 1 << 31),
            limit: 0,
            worst: None,
            after: None,
            prunes: 0,
        }
    }

    /// Begins a sweep that wants so many rows, of those after `last` of the ones that are there.
    pub fn begin(&mut self, wanted: u64, last: Option<usize>) {
        if let Some(last) = last.and_then(|last| self.row(last)) {
            self.after = Some((last.values.to_vec(), last.sums.to_vec()));
        }
        self.rows = 0;
        self.values.clear();
        self.sums.clear();
        self.sorted.clear();
        self.worst = None;
        // A quarter is left, so that rows are not looked through for each that comes.
        self.limit = usize::try_from(wanted)
            .unwrap_or(usize::MAX)
            .min(self.most / 4 * 3);
    }

    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        Some(Row {
            values: self.values.get(at * self.places..(at + 1) * self.places)?,
            sums: self.sums.get(at * self.measures..(at + 1) * self.measures)?,
        })
    }

    /// Whether a row with these sums is surely not one of the first. Most are not, and of those all else about the row
    /// need not be known.
    pub fn leaves_out(&self, sums: &[i64], order: &Order) -> bool {
        self.limit == 0
            || self
                .worst()
                .is_some_and(|worst| order.is_behind(sums, worst.sums))
    }

    fn worst(&self) -> Option<Row<'_>> {
        self.row(self.worst?)
    }

    /// Keeps a row, unless it is not one of the first.
    pub fn offer(
        &mut self,
        row: Row<'_>,
        order: &Order,
        dictionaries: &mut [Dictionary<'_>],
    ) -> Result<(), OutOfMemory> {
        if self.limit == 0 {
            return Ok(());
        }
        if let Some((values, sums)) = &self.after
            && order.compare(dictionaries, row, Row { values, sums }).is_le()
        {
            return Ok(());
        }
        if let Some(worst) = self.worst()
            && order.compare(dictionaries, row, worst).is_gt()
        {
            return Ok(());
        }
        if self.rows >= self.room {
            self.widen()?;
        }
        self.values.extend_from_slice(row.values);
        self.sums.extend_from_slice(row.sums);
        self.rows += 1;
        if self.rows >= self.enough() {
            self.prune(order, dictionaries);
        }
        Ok(())
    }

    /// From how many rows on those behind the limit are dropped.
    fn enough(&self) -> usize {
        self.limit.saturating_mul(2).saturating_add(SPARE).min(self.most)
    }

    fn widen(&mut self) -> Result<(), OutOfMemory> {
        let room = (self.room * 8).max(FIRST).min(self.enough());
        let more = room.saturating_sub(self.rows);
        self.values
            .try_reserve_exact(more * self.places)
            .map_err(|_| OutOfMemory)?;
        self.sums
            .try_reserve_exact(more * self.measures)
            .map_err(|_| OutOfMemory)?;
        self.sorted.try_reserve_exact(room).map_err(|_| OutOfMemory)?;
        self.room = room;
        Ok(())
    }

    /// Drops the rows behind the limit.
    pub fn prune(&mut self, order: &Order, dictionaries: &mut [Dictionary<'_>]) {
        let Some(last) = self.limit.checked_sub(1).filter(|last| *last < self.rows) else {
            return;
        };
        self.prunes += 1;
        let mut first = self.numbered(dictionaries);
        let (_, worst, _) = first.select_nth_unstable_by(last, |left, right| {
            self.compare(order, dictionaries, *left, *right)
        });
        let worst = *worst;
        first.truncate(self.limit);
        // In the order in which they lie, rows move to the front without one standing in another's way.
        first.sort_unstable();
        for (to, from) in first.iter().enumerate() {
            let from_row = size(*from);
            self.values.copy_within(
                from_row * self.places..(from_row + 1) * self.places,
                to * self.places,
            );
            self.sums.copy_within(
                from_row * self.measures..(from_row + 1) * self.measures,
                to * self.measures,
            );
            if *from == worst {
                self.worst = Some(to);
            }
        }
        self.rows = self.limit;
        self.values.truncate(self.rows * self.places);
        self.sums.truncate(self.rows * self.measures);
        first.clear();
        self.sorted = first;
    }

    /// Sorts the rows, and says how many there are.
    pub fn sort(&mut self, order: &Order, dictionaries: &mut [Dictionary<'_>]) -> usize {
        self.prune(order, dictionaries);
        let mut sorted = self.numbered(dictionaries);
        sorted.sort_unstable_by(|left, right| self.compare(order, dictionaries, *left, *right));
        self.sorted = sorted;
        self.rows
    }

    /// The places of rows, in their order.
    pub fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    /// All places of rows, in a list that is taken from `sorted`; comparing is about to begin.
    fn numbered(&mut self, dictionaries: &mut [Dictionary<'_>]) -> Vec<u32> {
        dictionaries.iter_mut().for_each(Dictionary::rank);
        let mut rows = std::mem::take(&mut self.sorted);
        rows.clear();
        rows.extend((0_u32..).take(self.rows));
        rows
    }

    fn compare(
        &self,
        order: &Order,
        dictionaries: &[Dictionary<'_>],
        left: u32,
        right: u32,
    ) -> std::cmp::Ordering {
        match (self.row(size(left)), self.row(size(right))) {
            (Some(left), Some(right)) => order.compare(dictionaries, left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        }
    }

    /// Wants only half of the rows that are there; false if that is less than one.
    pub fn halve(&mut self) -> bool {
        let half = self.rows.min(self.limit) / 2;
        if half > 0 {
            self.limit = half;
        }
        half > 0
    }

    /// The numbers of the values at a place, in all rows.
    pub fn values(&mut self, place: usize) -> impl Iterator<Item = &mut u32> {
        let rows = self.values.iter_mut().skip(place).step_by(self.places.max(1));
        rows.chain(
            self.after
                .iter_mut()
                .filter_map(move |(values, _)| values.get_mut(place)),
        )
    }
}
