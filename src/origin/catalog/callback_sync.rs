//! Callback settings on their way from the catalog to the outboxes.

pub mod push;
pub mod queue;
