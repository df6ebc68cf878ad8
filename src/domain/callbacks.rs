//! Completion callbacks: the signed requests that tell a publisher of a reward or of its reversal, as pure functions
//! (docs/DECISIONS.md, "Completion callbacks").
//!
//! Content and target:
//! - [`settings`]: the endpoint and its secrets, from an app's document;
//! - [`fields`]: the values of a callback, frozen when the conversion is committed;
//! - [`check`]: checks settings that are to be saved;
//! - [`request`]: builds the HTTP request of one attempt;
//! - [`signature`]: signs it, so that the receiver can verify the sender;
//! - [`guard`]: decides which URLs may be called.
//!
//! Delivery:
//! - [`schedule`]: the delays between the attempts of one callback;
//! - [`delivery`]: decides from the result of an attempt what happens next;
//! - [`health`]: limits the attempts in flight to one endpoint; [`shards`]: the number of an app's outboxes, and which
//!   of them keeps a user's conversions.
//!
//! Tests:
//! - [`tester`]: a callback that pays nothing, with a valid or a wrong signature;
//! - [`diagnosis`]: derives findings from the URL and from the answer to a test.

pub mod check;
pub mod delivery;
pub mod diagnosis;
pub mod fields;
pub mod guard;
pub mod health;
mod hidden;
mod mask;
pub mod masked_url;
pub mod request;
pub mod schedule;
pub mod settings;
pub mod shards;
pub mod signature;
pub mod tester;
