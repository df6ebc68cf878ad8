//! An approval: all the data that is needed to pay a conversion.

use serde::{Deserialize, Serialize};

use contract::{
    operation::Bytes,
    outbox::{Answer, Conversion, Txn},
};
use domain::{
    conversions::{
        ids::{Kind, RowKey, transaction_id},
        state::{Movement, Status},
    },
    model::{AdvertiserId, CurrencyRate, OfferId},
    tracking::Nonce,
};
use platform::{Failure, Result};

/// The data that is needed to pay a conversion. A reservation stores an approval, so that the alarm pays exactly what
/// the request would have paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub conversion: Conversion,
    pub advertiser: AdvertiserId,
    pub offer: OfferId,
    pub goal: String,
    /// The goal's event code.
    pub goal_value: Option<String>,
    pub payout_micro_usd: i64,
    /// The revision of the offer's terms in which the goal was found.
    pub offer_terms: i64,
    /// True if the terms under which the conversion is paid had been superseded by newer terms of the offer or the app
    /// when the conversion was decided.
    pub superseded: bool,
    /// True if the conversion is paid without a take, because the offer has no cap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncapped: bool,
    pub currency: CurrencyRate,
    /// The claim on the conversion's `txn`; `None` if the postback had no `txn`.
    pub txn: Option<Txn>,
    /// The key of the user and the goal, which prevents a second reward (see [`super::conversions::rewarded`]).
    pub rewarded: Option<Bytes>,
}

impl Approval {
    pub fn nonce(&self) -> Result<Nonce> {
        let nonce = self.conversion.nonce.0.as_slice();
        Nonce::try_from(nonce).map_err(|_| Failure::Internal("a nonce does not have 12 bytes".into()))
    }

    pub fn transaction_id(&self, kind: impl Into<Kind>) -> Result<String> {
        let row = RowKey {
            app: self.conversion.click.app,
            shard: self.conversion.click.shard,
            nonce: self.nonce()?,
            goal: &self.goal,
        };
        Ok(transaction_id(&row, kind))
    }

    /// Returns the name by which the sender called the goal, or an empty text if the postback named no goal. No goal
    /// has an empty name.
    pub(super) fn name(&self) -> &str {
        self.conversion.goal.as_deref().unwrap_or_default()
    }

    pub(super) fn answer(&self, status: Status, duplicate: bool) -> Result<Answer> {
        Ok(Answer { transaction_id: self.transaction_id(Movement::Reward)?, status, duplicate })
    }
}
