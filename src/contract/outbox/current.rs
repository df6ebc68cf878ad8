//! Messages from the catalog to outboxes when an offer or an app changes.

use serde::{Deserialize, Serialize};

use domain::{conversions::terms::CurrentOffer, model::OfferId};

/// Reports a change of an offer's cap. The outbox stores the cap. It also tells the counters how many of today's
/// conversions it paid without taking them from a cap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOffer {
    /// The offer that has the cap.
    pub offer: OfferId,
    /// Its current values.
    pub current: CurrentOffer,
}

/// Asks an app's first outbox for the number of the app's outboxes. The outbox keeps that number, because a restored
/// catalog may have lost the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimApp {
    /// The number in the app's document.
    pub outbox_shards: u8,
    /// True if the outbox must store this number unless it already has one.
    pub is_final: bool,
}

/// The answer to [`ClaimApp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedApp {
    /// The number of the app's outboxes.
    pub outbox_shards: u8,
}
