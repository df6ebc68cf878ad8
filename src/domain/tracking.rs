//! Clicks: `GET /v2/tracking/click` (docs/DECISIONS.md, "Clicks"), from the query string to the redirect, as pure functions.
//!
//! What a request says:
//! - [`parameters`]: the click parameters of the specification's 2.5, checked;
//! - [`user_agent`]: the device's platform, and whether a person clicked at all;
//! - [`alphabet`]: the characters that identifiers and custom parameters may hold.
//!
//! What is made of it:
//! - [`decision`]: whether the click is redirected, from the snapshot alone;
//! - [`click`]: a click, as it is remembered;
//! - [`click_id`]: the click sealed into the text that a conversion carries back, over its packing ([`click_codec`]) and
//!   under the service's keys ([`keys`]);
//! - [`target`]: where the click is redirected, with the click filled in;
//! - [`redirect`]: these three in one step;
//! - [`click_counts`]: the click counted, after it was answered.

pub mod alphabet;
pub mod click;
pub mod click_codec;
pub mod click_counts;
pub mod click_id;
pub mod decision;
pub mod keys;
pub mod parameters;
pub mod redirect;
pub mod target;
pub mod user_agent;
