//! Sends changed callback settings from the catalog to the outboxes.

pub mod push;
pub mod queue;
