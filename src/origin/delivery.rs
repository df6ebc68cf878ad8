//! The ways in which objects notify each other: queues of waiting changes, retries, and marks of the last applied
//! batch.

pub mod attention_feed;
pub mod backoff;
pub mod batches;
pub mod callback_sender;
pub mod callback_settings;
pub mod feed;
pub mod push;
pub mod register;
pub mod size;
