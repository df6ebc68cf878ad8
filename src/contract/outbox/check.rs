//! Dry-runs a postback for the operator: computes the answer and writes nothing.

use serde::{Deserialize, Serialize};

use super::{Answer, Conversion, Txn};
use domain::{
    conversions::{state::Reason, terms::OfferTerms},
    model::CurrencyRate,
};

/// Dry-runs a postback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPostback {
    /// The conversion, with the offer's current values.
    pub conversion: Conversion,
    /// The offer's terms under which a conversion of the click is paid.
    pub paying: NumberedTerms,
    /// The offer's current terms; `None` if they are the same as `paying`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<NumberedTerms>,
    /// The app's currency.
    pub currency: CurrencyRate,
    /// The number of the app's outboxes, to find the one that has the `txn`.
    pub outbox_shards: u8,
}

/// A revision of an offer's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberedTerms {
    /// The revision's number.
    pub revision: i64,
    /// Payouts, goals and rules of that revision.
    pub terms: OfferTerms,
}

/// The answer that the postback would get. If the postback would be refused, the check is refused in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedPostback {
    /// The answer to the postback.
    pub answer: Answer,
    /// The reason for which the conversion would be held, or is already held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Asks whether a click could claim a `txn`. The claim's number is ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindTxn(pub Txn);
