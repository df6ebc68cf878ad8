//! Offers: `POST /v1/offer/api` (docs/DECISIONS.md, "Offers"). [`request`] parses a request, [`selection`] finds the
//! matching offers in the listing, and [`page`] renders them for the app. [`counted_clicks`] says which
//! clicks count in their metrics. [`test_offers`] are those of test apps.

pub mod counted_clicks;
pub mod page;
pub mod preview;
pub mod request;
pub mod selection;
pub mod test_offers;

#[cfg(test)]
mod tests;
