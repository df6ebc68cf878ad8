//! The endpoint that an app's callbacks are sent to, as each of its outboxes knows it.

use serde::{Deserialize, Serialize};

/// `GET …/callback`: the endpoint's standing with this outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// `POST …/callback/enable`, answered by the endpoint's standing afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enable {
    /// When somebody switched it on, in milliseconds: the same for all outboxes of the app.
    #[serde(default)]
    pub at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// The revision of the callback settings whose endpoint it was.
    pub revision: i64,
    /// When that endpoint was switched on again last, in milliseconds.
    #[serde(default)]
    pub enabled_ms: i64,
}

/// The standing of an app's endpoint with an outbox, or with all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub state: EndpointState,
    pub consecutive_failures: u32,
    /// UNIX seconds.
    pub next_try_ts: Option<i64>,
    /// Callbacks that wait, and dead letters.
    pub waiting: i64,
    pub dead: i64,
    /// Conversions whose cap has not been taken yet.
    pub reserving: i64,
}

/// Of the outboxes' states the last in this order is the app's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointState {
    /// There is no callback.
    #[default]
    None,
    Healthy,
    Failing,
    Disabled,
}
