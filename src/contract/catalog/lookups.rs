//! What the operator's console asks the catalog beside the resources themselves.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Resource;
use domain::model::{AppId, OfferId, PublisherId};

/// Offers in one question for figures.
pub const FIGURES_PAGE: usize = 100;

/// Finds resources by id, credential, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// An id of any kind, a Pub-Key, a token, or a part of a name or an id.
    pub text: String,
}

/// Asks which of these publishers there are. The reply's body is the list of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPublishers {
    /// Ids to check, known or not.
    pub publisher_ids: Vec<PublisherId>,
}

/// Reads the revisions of an offer's terms that are kept, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTerms {
    /// 404 `not_found` if it is unknown.
    pub offer_id: OfferId,
}

/// Lists the outboxes that have asked for an offer's terms, so that they may pay for it. The reply's body is a list of app and
/// number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListOfferOutboxes {
    /// Known or not.
    pub offer_id: OfferId,
}

/// Lists the apps of a publisher in the order of their ids, each with the number of its outboxes. The reply's body is a list of
/// pairs, which ends once the apps have [`OUTBOXES_PAGE`] outboxes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPublisherOutboxes {
    /// 404 `not_found` if it is unknown.
    pub publisher_id: PublisherId,
    /// The first app that may be on the page; any if `None`.
    pub from: Option<AppId>,
    /// The last one; any if `None`.
    pub to: Option<AppId>,
}

/// Outboxes of a page, beyond which the last app may go.
pub const OUTBOXES_PAGE: u32 = 256;

/// Enters terms that the catalog has lost, as the operator's JSON. Terms that it has are never replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterTerms {
    /// An offer or an app.
    pub resource: Resource,
    /// 404 `not_found` if it is unknown.
    pub id: String,
    /// The number of the lost revision.
    pub revision: String,
    /// The operator's JSON.
    pub body: String,
}

/// Lists the publishers of apps that have an outbox, by their ids. The reply's body is the list of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEarning {
    /// Publishers at most.
    pub limit: u32,
}

/// Reads the names of these offers and the titles of their goals: `{"offers": {…}, "goals": {…}}`, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferNames {
    /// Unknown ones are left out of the answer.
    pub offer_ids: BTreeSet<String>,
}

/// Reads the figures of the last 30 days and today's use of caps, of at most [`FIGURES_PAGE`] offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOfferFigures {
    /// Unknown ones are left out of the answer.
    pub offer_ids: Vec<OfferId>,
}

/// Lists the caps that are nearly used up today, the fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListNearCaps {}

/// Counts what waits for the operator: publishers without approval, requests for a Pub-Key, caps that are nearly used up today.
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
