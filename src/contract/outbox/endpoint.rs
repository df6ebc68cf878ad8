//! The endpoint of an app's callbacks, as each of its outboxes knows it.

use serde::{Deserialize, Serialize};

use crate::stored_names::stored_names;

/// `GET …/callback`: the endpoint's state in this outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// `POST …/callback/enable`, answered by the endpoint's state afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enable {
    /// The time when somebody enabled the endpoint, in milliseconds. It is the same for all outboxes of the app.
    #[serde(default)]
    pub at_ms: i64,
}

/// Tells another outbox of the app that the endpoint has disabled itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// The revision of the callback settings with this endpoint.
    pub revision: i64,
    /// The time when that endpoint was last enabled again, in milliseconds.
    #[serde(default)]
    pub enabled_ms: i64,
}

/// The state of an app's endpoint for one outbox, or for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The state; for all outboxes, the worst.
    pub state: EndpointState,
    /// The number of failed attempts since the last success; for all outboxes, the highest.
    pub consecutive_failures: u32,
    /// Time of the next attempt, in UNIX seconds; `None` if no callback waits.
    pub next_try_ts: Option<i64>,
    /// The number of callbacks that wait to be sent.
    pub waiting: i64,
    /// The number of callbacks whose schedule ended without success.
    pub dead: i64,
    /// The number of conversions whose cap has not been taken yet.
    pub reserving: i64,
}

stored_names! {
    /// The state of an endpoint. If an app's outboxes have different states, the app has the state that comes last in
    /// this order. SQL statements use 0 for an app without a callback, and take the highest number as the app's state.
    #[derive(Default)]
    EndpointState {
        /// The app has no callback.
        #[default]
        None = 0 "none",
        /// Fewer than five attempts in a row failed.
        Healthy = 1 "healthy",
        /// At least five attempts in a row failed. Callbacks are sent less often.
        Failing = 2 "failing",
        /// The endpoint disabled itself with its answer. Callbacks wait until somebody enables the endpoint.
        Disabled = 3 "disabled",
    }
}
