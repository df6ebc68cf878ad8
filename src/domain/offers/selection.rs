//! Selects the offers of a request: the rows of the listing that the app may show and that pass every filter. Each
//! offer type, platform and country has a bitmap over the rows, built at its first use and cached with the listing. A
//! request then only combines bitmaps, 64 rows per word.

use std::cell::OnceCell;

use super::{
    page::AppListing,
    request::{Filter, OffersRequest},
};
use crate::{
    model::{Country, OfferType, Platform, country::COUNTRIES},
    snapshot::listing::Listing,
};

/// The rows of one page, in order, and the number of rows on all pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Rows of the listing, ascending.
    pub rows: Vec<u32>,
    /// The `total` of the response.
    pub total: u32,
}

/// A listing with its cached bitmaps: at most one for each country, platform and offer type. Together they take less
/// than 700 KB for 20,000 offers.
#[derive(Debug)]
pub struct Selector {
    listing: Listing,
    countries: Vec<OnceCell<Bitmap>>,
    platforms: Vec<OnceCell<Bitmap>>,
    off_types: Vec<OnceCell<Bitmap>>,
}

impl Selector {
    /// A selector without bitmaps.
    pub fn new(listing: Listing) -> Self {
        let cells = |count: usize| std::iter::repeat_with(OnceCell::new).take(count).collect();
        Self {
            listing,
            countries: cells(COUNTRIES),
            platforms: cells(Platform::ALL.len()),
            off_types: cells(OfferType::ALL.len()),
        }
    }

    /// The listing that the rows refer to.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Selects the page that an app requests. A page past the last one has no rows, but the same total.
    pub fn select(&self, app: &AppListing, request: &OffersRequest) -> Selection {
        let mut selected = self.visible(app);
        for filter in &request.filters {
            selected.keep_only(&self.passing(filter));
        }
        let skip = u64::from(request.page.saturating_sub(1)) * u64::from(request.size);
        Selection { rows: selected.rows(skip, request.size), total: selected.count() }
    }

    /// The offers for the app's platform or the web, except those that the app blocks.
    fn visible(&self, app: &AppListing) -> Bitmap {
        let mut visible = self.platform(app.platform).cloned().unwrap_or_default();
        visible.add(self.platform(Platform::Web));
        for row in app.blocked.iter().filter_map(|id| self.listing.find(id)) {
            visible.remove(row);
        }
        visible
    }

    fn passing(&self, filter: &Filter) -> Bitmap {
        let mut passing = Bitmap::empty(self.listing.len());
        match filter {
            Filter::OfferType(values) => values.iter().for_each(|&value| passing.add(self.off_type(value))),
            Filter::Platform(values) => values.iter().for_each(|&value| passing.add(self.platform(value))),
            Filter::Country(values) => values.iter().for_each(|&value| passing.add(self.country(value))),
            Filter::OfferId(ids) => {
                ids.iter().filter_map(|id| self.listing.find(id)).for_each(|row| passing.insert(row));
            }
        }
        passing
    }

    fn platform(&self, platform: Platform) -> Option<&Bitmap> {
        self.rows_with_code(&self.platforms, Listing::platforms, platform.code())
    }

    fn off_type(&self, off_type: OfferType) -> Option<&Bitmap> {
        self.rows_with_code(&self.off_types, Listing::off_types, off_type.code())
    }

    /// The rows with a code in a column.
    fn rows_with_code<'s>(
        &'s self,
        cells: &'s [OnceCell<Bitmap>],
        column: fn(&Listing) -> &[u8],
        code: u8,
    ) -> Option<&'s Bitmap> {
        cached(cells, code, || Bitmap::collect(column(&self.listing).iter().map(|&row| row == code)))
    }

    fn country(&self, country: Country) -> Option<&Bitmap> {
        cached(&self.countries, country.index(), || Bitmap::collect(self.listing.for_country(country)))
    }
}

fn cached(cells: &[OnceCell<Bitmap>], index: u8, build: impl FnOnce() -> Bitmap) -> Option<&Bitmap> {
    cells.get(usize::from(index)).map(|cell| cell.get_or_init(build))
}

/// A set of rows, 64 in each word.
#[derive(Clone, Debug, Default)]
struct Bitmap(Vec<u64>);

impl Bitmap {
    fn empty(rows: u32) -> Self {
        Self(vec![0; usize::try_from(rows.div_ceil(64)).unwrap_or(0)])
    }

    fn collect(rows: impl Iterator<Item = bool>) -> Self {
        let mut words = Vec::with_capacity(rows.size_hint().0.div_ceil(64));
        let mut word = 0;
        let mut bit = 0;
        for row in rows {
            word |= u64::from(row) << bit;
            bit += 1;
            if bit == 64 {
                words.push(word);
                (word, bit) = (0, 0);
            }
        }
        if bit > 0 {
            words.push(word);
        }
        Self(words)
    }

    fn word(&mut self, row: u32) -> Option<(&mut u64, u64)> {
        let word = self.0.get_mut(usize::try_from(row / 64).ok()?)?;
        Some((word, 1 << (row % 64)))
    }

    fn insert(&mut self, row: u32) {
        if let Some((word, bit)) = self.word(row) {
            *word |= bit;
        }
    }

    fn remove(&mut self, row: u32) {
        if let Some((word, bit)) = self.word(row) {
            *word &= !bit;
        }
    }

    fn add(&mut self, other: Option<&Self>) {
        for (word, other) in self.0.iter_mut().zip(other.into_iter().flat_map(|other| &other.0)) {
            *word |= other;
        }
    }

    fn keep_only(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// At most `limit` rows after the first `skip`. Skips whole words where it can.
    fn rows(&self, mut skip: u64, limit: u32) -> Vec<u32> {
        let mut rows = Vec::new();
        let mut wanted = limit;
        for (base, &word) in (0_u32..).step_by(64).zip(&self.0) {
            let mut word = word;
            let found = u64::from(word.count_ones());
            if skip >= found {
                skip -= found;
                continue;
            }
            while word != 0 && wanted > 0 {
                if skip > 0 {
                    skip -= 1;
                } else {
                    rows.push(base + word.trailing_zeros());
                    wanted -= 1;
                }
                word &= word - 1;
            }
            if wanted == 0 {
                break;
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests;
