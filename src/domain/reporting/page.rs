//! The rows of one page, between the engine and the renderer. Texts and sums are two flat lists, small enough to stay
//! in memory while the answer is sent.

use super::{Dimension, Metric, Sums, query::MAX_COUNT};

/// Maximum text of a page, in bytes: 50,000 rows of about 300 bytes each. The text stays in memory while the answer is
/// sent.
pub const MAX_TEXTS: usize = 16 << 20;

/// Maximum [bytes](Page::bytes) of a page.
pub const MAX_BYTES: usize =
    MAX_TEXTS + MAX_COUNT as usize * (Dimension::ALL.len() * size_of::<u32>() + size_of::<Sums>());

/// A page of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The requested dimensions, in the order of the request.
    pub dimensions: Vec<Dimension>,
    /// The requested metrics, in the order of the request.
    pub metrics: Vec<Metric>,
    /// The number of rows on all pages.
    pub total: u64,
    sums: Vec<Sums>,
    /// The dimension values of all rows, concatenated. A date is `YYYY-MM-DD`.
    texts: String,
    /// The end of each value in `texts`.
    ends: Vec<u32>,
}

impl Page {
    /// A page without rows.
    pub fn new(dimensions: Vec<Dimension>, metrics: Vec<Metric>) -> Self {
        Self { dimensions, metrics, total: 0, sums: Vec::new(), texts: String::new(), ends: Vec::new() }
    }

    /// Adds a row: a value for each dimension in order, and the sums. `None` if the texts exceed [`MAX_TEXTS`].
    pub fn push<'v>(&mut self, values: impl Iterator<Item = &'v str>, sums: Sums) -> Option<()> {
        for value in values {
            if self.texts.len() + value.len() > MAX_TEXTS {
                return None;
            }
            self.texts.push_str(value);
            self.ends.push(u32::try_from(self.texts.len()).ok()?);
        }
        self.sums.push(sums);
        Some(())
    }

    /// Removes all rows and keeps the memory for the next rows.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
        self.sums.clear();
    }

    /// Frees the unused capacity.
    pub fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.sums.shrink_to_fit();
    }

    /// The memory of the page, in bytes.
    pub fn bytes(&self) -> usize {
        self.texts.capacity() + self.ends.capacity() * size_of::<u32>() + self.sums.capacity() * size_of::<Sums>()
    }

    /// Number of rows on this page.
    pub fn rows(&self) -> usize {
        self.sums.len()
    }

    /// True if no fact matched the query. A page past the last one is also empty, but if facts matched, this is false.
    pub fn matched_nothing(&self) -> bool {
        self.total == 0
    }

    /// A row by its index on the page.
    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        Some(Row { page: self, at, sums: self.sums.get(at)? })
    }

    /// The value of a dimension in each row.
    pub fn column(&self, dimension: Dimension) -> impl Iterator<Item = &str> {
        let index = self.dimensions.iter().position(|other| *other == dimension);
        (0..self.rows()).filter_map(move |at| self.row(at)?.value(index?))
    }
}

/// One row of a page.
#[derive(Clone, Copy, Debug)]
pub struct Row<'p> {
    page: &'p Page,
    at: usize,
    /// The sums of all measures; sums that the query does not need may be 0.
    pub sums: &'p Sums,
}

impl<'p> Row<'p> {
    /// The value of the dimension with this index in the request.
    pub fn value(&self, dimension: usize) -> Option<&'p str> {
        if dimension >= self.page.dimensions.len() {
            return None;
        }
        let nth = self.at.checked_mul(self.page.dimensions.len())?.checked_add(dimension)?;
        let end = usize::try_from(*self.page.ends.get(nth)?).ok()?;
        let start = match nth.checked_sub(1) {
            Some(before) => usize::try_from(*self.page.ends.get(before)?).ok()?,
            None => 0,
        };
        self.page.texts.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::Measure;

    #[test]
    fn rows_are_read_as_they_were_added() {
        let dimensions = vec![Dimension::Country, Dimension::App];
        let mut page = Page::new(dimensions, vec![Metric::Sum(Measure::Clicks)]);
        for (values, sums) in [(["DE", "10000001"], [0, 0, 0, 7, 0]), (["", "10000002"], [1; 5])] {
            page.push(values.into_iter(), sums).unwrap();
        }
        assert_eq!(page.rows(), 2);
        assert_eq!(page.row(0).unwrap().value(1), Some("10000001"));
        assert_eq!(page.row(1).unwrap().value(0), Some(""));
        assert_eq!(page.row(0).unwrap().sums[3], 7);
        assert!(page.row(2).is_none() && page.row(0).unwrap().value(9).is_none());
        let apps: Vec<_> = page.column(Dimension::App).collect();
        assert_eq!(apps, ["10000001", "10000002"]);
        assert_eq!(page.column(Dimension::Date).count(), 0);
    }
}
