//! The operator's question what a postback would be answered. Nothing is stored or changed by it.

use serde::{Deserialize, Serialize};

use super::{Answer, Conversion, Txn};
use domain::{
    conversions::{state::Reason, terms::OfferTerms},
    model::CurrencyRate,
};

/// Asks what a postback would be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPostback {
    /// With the offer's values now.
    pub conversion: Conversion,
    /// The offer's terms that pay the click, and the current ones if they are others.
    pub paying: NumberedTerms,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<NumberedTerms>,
    /// The app's.
    pub currency: CurrencyRate,
    pub outbox_shards: u8,
}

/// A revision of an offer's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedTerms {
    pub revision: i64,
    pub terms: OfferTerms,
}

/// The answer that a postback would get, unless it would be refused: then the check is refused alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedPostback {
    pub answer: Answer,
    /// Why it would be held, or is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Asks whether a click could claim a `txn`. The number has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindTxn(pub Txn);
