//! Offers: `POST /v1/offer/api` (docs/DECISIONS.md, "Offers"). [`request`] parses a request, [`selection`] finds the
//! matching offers in the listing, and [`page`] renders them for the app. [`counted_clicks`] decides which clicks count
//! in an offer's metrics. [`test_offers`] has the offers of test apps.

pub mod counted_clicks;
pub mod page;
pub mod preview;
pub mod request;
pub mod selection;
pub mod test_offers;

#[cfg(test)]
mod tests;
