//! The endpoint that an app's callbacks are sent to, as each of its outboxes knows it.

use serde::{Deserialize, Serialize};

use crate::stored_names::stored_names;

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

/// Tells another outbox of the app that the endpoint has disabled itself.
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
    /// The worst of the outboxes', if there are several.
    pub state: EndpointState,
    /// Attempts that failed since the last success; the most of any outbox, if there are several.
    pub consecutive_failures: u32,
    /// Time of the next attempt, in UNIX seconds; `None` if no callback waits.
    pub next_try_ts: Option<i64>,
    /// Callbacks that wait to be sent.
    pub waiting: i64,
    /// Callbacks whose schedule ended without success.
    pub dead: i64,
    /// Conversions whose cap has not been taken yet.
    pub reserving: i64,
}

stored_names! {
    /// Of the outboxes' states the last in this order is the app's. Statements know 0 as none, and take the highest as the
    /// app's.
    #[derive(Default)]
    EndpointState {
        /// There is no callback.
        #[default]
        None = 0 "none",
        /// Fewer than five attempts in a row failed.
        Healthy = 1 "healthy",
        /// At least five attempts in a row failed. Callbacks are sent less often.
        Failing = 2 "failing",
        /// It disabled itself by its answer. Callbacks wait until somebody enables it.
        Disabled = 3 "disabled",
    }
}
