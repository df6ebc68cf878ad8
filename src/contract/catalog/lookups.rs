//! The catalog's look-ups for the operator's console, in addition to the resources themselves.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Resource;
use domain::model::{AppId, OfferId, PublisherId};

/// Maximum offers in one request for figures.
pub const FIGURES_PAGE: usize = 100;

/// Finds resources by id, credential, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// An id of any kind, a Pub-Key, a token, or a part of a name or an id.
    pub text: String,
}

/// Asks which of these publishers exist. The reply's body is the list of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPublishers {
    /// The ids to check, known or unknown.
    pub publisher_ids: Vec<PublisherId>,
}

/// Reads the stored revisions of an offer's terms, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTerms {
    /// The offer; 404 `not_found` if it is unknown.
    pub offer_id: OfferId,
}

/// Lists the outboxes that have read an offer's terms and so may pay for it. The reply's body lists the outboxes by app
/// and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListOfferOutboxes {
    /// The offer, known or unknown.
    pub offer_id: OfferId,
}

/// Lists a publisher's apps with the number of their outboxes, in the order of the apps' ids. The reply's body is a
/// list of pairs. A page ends once its apps have [`OUTBOXES_PAGE`] outboxes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPublisherOutboxes {
    /// The publisher; 404 `not_found` if it is unknown.
    pub publisher_id: PublisherId,
    /// The first app that may be on the page; any if `None`.
    pub from: Option<AppId>,
    /// The last app; any if `None`.
    pub to: Option<AppId>,
}

/// The number of outboxes after which a page ends. The last app on a page may exceed it.
pub const OUTBOXES_PAGE: u32 = 256;

/// Enters terms that the catalog has lost. The operator supplies them as JSON. Existing terms are never replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterTerms {
    /// An offer or an app.
    pub resource: Resource,
    /// The id; 404 `not_found` if it is unknown.
    pub id: String,
    /// The number of the lost revision, as text.
    pub revision: String,
    /// The operator's JSON.
    pub body: String,
}

/// Lists the publishers of apps that have an outbox. The reply's body is the list of their ids, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEarning {
    /// Maximum publishers.
    pub limit: u32,
}

/// Reads the names of these offers and the titles of their goals: `{"offers": {…}, "goals": {…}}`, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferNames {
    /// The offers. Unknown ones are omitted from the answer.
    pub offer_ids: BTreeSet<String>,
}

/// Reads the figures of the last 30 days and today's use of caps for at most [`FIGURES_PAGE`] offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOfferFigures {
    /// The offers. Unknown ones are omitted from the answer.
    pub offer_ids: Vec<OfferId>,
}

/// Lists the caps that are nearly used up today, the most used first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListNearCaps {}

/// Counts the operator's open work: unapproved publishers, open requests for a Pub-Key, and caps that are nearly used
/// up today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountWaiting {}

/// Checks an offer as [`Put`](super::Put) would, and changes nothing. The reply's body is the stored document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOffer {
    /// The offer's id, new or known.
    pub offer_id: OfferId,
    /// The operator's JSON, as in a [`Put`](super::Put).
    pub body: String,
}
