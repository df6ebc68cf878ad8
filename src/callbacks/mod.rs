//! Completion callbacks (`design.md` section 7): what a publisher is told when one of its users earns a reward, and how
//! it can tell that we said so.

pub mod fields;
pub mod guard;
pub mod request;
pub mod signature;
