//! What the catalog tells outboxes of offers and apps when it changes.

use serde::{Deserialize, Serialize};

use domain::{conversions::terms::CurrentOffer, model::OfferId};

/// An offer whose cap has changed. The outbox stores the cap, and tells the counters what it paid today without taking it
/// from a cap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetOffer {
    /// The offer that has the cap.
    pub offer: OfferId,
    /// Its values now.
    pub current: CurrentOffer,
}

/// Asks an app's first outbox how many there are, and to keep the number. It outlives a catalog that is restored to before the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimApp {
    /// As in the app's document.
    pub outbox_shards: u8,
    /// Whether the outbox keeps the number if it knows none.
    pub is_final: bool,
}

/// The answer to [`ClaimApp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedApp {
    /// How many outboxes the app has.
    pub outbox_shards: u8,
}
