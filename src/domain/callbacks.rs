//! Completion callbacks (docs/DECISIONS.md, "Completion callbacks"): what a publisher is told when one of its users earns a reward, and how
//! it can tell that we said so.
//!
//! What is sent:
//! - [`fields`]: what a callback says, frozen when the conversion is committed;
//! - [`request`]: the request of one try;
//! - [`signature`]: how its receiver can tell that it is ours;
//! - [`guard`]: where it may go.
//!
//! When it is sent:
//! - [`schedule`]: the tries of one callback, and the time between them;
//! - [`delivery`]: what an answer, or none, means for it;
//! - [`health`]: how many tries may be under way to one endpoint.

pub mod delivery;
pub mod fields;
pub mod guard;
pub mod health;
pub mod request;
pub mod schedule;
pub mod signature;
