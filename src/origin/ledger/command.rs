//! What a ledger is asked in JSON. Facts and reports, which are larger, come over paths of their own.

use serde::{Deserialize, Serialize};

use crate::{
    catalog::{AppId, Country, OfferId},
    origin::command,
    time::UtcDay,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// One batch of what another object counted, into the `offers` layer. Answer: [`Applied`].
    ///
    /// Idempotent by source and sequence: a source has one batch in flight to a ledger and its sequences increase, so
    /// whatever is not above the highest applied one is a repeat.
    AddOffers {
        source: String,
        sequence: u64,
        sums: Vec<OfferSum>,
    },
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        match self {
            Self::AddOffers { .. } => true,
        }
    }
}

/// Clicks and revenue of one offer in one app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferSum {
    pub day: UtcDay,
    pub app: AppId,
    pub offer: OfferId,
    pub country: Option<Country>,
    /// As the click carried it; a ledger keeps 200 of an app's day apart.
    pub placement: Option<String>,
    #[serde(default)]
    pub clicks: u64,
    /// In micro-USD; negative for a reversal.
    #[serde(default)]
    pub revenue_micro_usd: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// False for a repeat, which is counted already.
    pub applied: bool,
}
