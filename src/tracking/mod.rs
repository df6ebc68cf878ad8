//! Clicks: `GET /v2/tracking/click` (`design.md` section 5).

pub mod click_id;
pub mod target;
