//! Offers: `POST /v1/offer/api` (docs/DECISIONS.md, "Offers"). A request is read (`request`), the offers it is for are found
//! in the listing (`selection`), and their bodies are put together for the app that asks (`page`).

pub mod page;
pub mod request;
pub mod selection;

#[cfg(test)]
mod tests;
