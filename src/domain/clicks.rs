//! The answer to a click, `GET /v2/tracking/click`: from its parameters and the snapshot to the redirect. See
//! docs/DECISIONS.md, "Clicks".
//!
//! - [`decision`]: decides from the snapshot alone whether the click is redirected;
//! - [`redirect`]: seals the click and fills in its target in one step.

pub mod decision;
pub mod redirect;
