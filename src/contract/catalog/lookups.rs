//! What the operator's console asks the catalog beside the resources themselves.

use serde::{Deserialize, Serialize};

use domain::model::{OfferId, PublisherId};

/// Offers in one question for figures.
pub const FIGURES_PAGE: usize = 100;

/// Finds what an id or a credential names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    pub text: String,
}

/// Asks which of these publishers there are. The reply's body is the list of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPublishers {
    pub publisher_ids: Vec<PublisherId>,
}

/// Reads the revisions of an offer's terms that are kept, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTerms {
    pub offer_id: OfferId,
}

/// Reads the figures of the last 30 days and today's use of caps, of at most [`FIGURES_PAGE`] offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOfferFigures {
    pub offer_ids: Vec<OfferId>,
}

/// Lists the caps that are nearly used up today, the fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListNearCaps {}

/// Checks an offer as [`Put`](super::Put) would, and changes nothing. The reply's body is the stored document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOffer {
    pub offer_id: OfferId,
    pub body: String,
}
