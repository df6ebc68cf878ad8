//! Offers: `POST /v1/offer/api` (docs/DECISIONS.md, "Offers"). [`request`] parses a request, [`selection`] finds the
//! matching offers in the listing, and [`page`] renders them for the app.

pub mod page;
pub mod preview;
pub mod request;
pub mod selection;

#[cfg(test)]
mod tests;
