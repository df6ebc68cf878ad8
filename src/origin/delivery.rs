//! How objects notify each other: the queues of what waits, the retries, and the marks of what was applied.

pub mod attention_feed;
pub mod backoff;
pub mod batches;
pub mod callback_sender;
pub mod callback_settings;
pub mod feed;
pub mod push;
pub mod register;
pub mod size;
