//! How objects notify each other: what waits, what a retry is, and what was applied.

pub mod attention_feed;
pub mod backoff;
pub mod batches;
pub mod callback_sender;
pub mod callback_settings;
pub mod feed;
pub mod push;
pub mod register;
pub mod size;
