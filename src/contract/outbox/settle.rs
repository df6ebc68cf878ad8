//! The operator's actions on conversions, one or many.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use domain::{
    conversions::{state::Reason, table::Action},
    model::trimmed_if_any,
};

/// `POST …/conversions/{transaction_id}/approve`, `reject` and `reverse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The id of the reward.
    pub transaction_id: String,
    /// The action: approve, reject or reverse.
    pub action: Action,
    /// The reason given by the operator. Not empty.
    pub reason: String,
    /// The reasons to hold or refuse a conversion that the operator overrides by naming them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Reason>,
}

/// One part of `POST …/conversions/approve`, `reject` and `reverse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleMany {
    /// Selects the conversions.
    pub filter: SettleFilter,
    /// The action on each: approve, reject or reverse.
    pub action: Action,
    /// The reason given by the operator. Not empty.
    pub reason: String,
    /// The reasons to hold or refuse a conversion that the operator overrides by naming them here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Reason>,
    /// True to count them and settle none.
    pub dry_run: bool,
    /// The `next` of the previous part; 0 for the first.
    pub after: i64,
}

/// The conversions that an action settles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleFilter {
    /// A status, such as `held`, as in a [`List`](super::List).
    pub status: String,
    /// The reason, as in a [`List`](super::List); any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user's id in the publisher's app; any if `None`.
    #[serde(default, deserialize_with = "trimmed_if_any", skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The offer of the click; any if `None`.
    #[serde(default, deserialize_with = "trimmed_if_any", skip_serializing_if = "Option::is_none")]
    pub offer_id: Option<String>,
    /// The start of the range of conversion times, in UNIX seconds, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The end of the range of conversion times, in UNIX seconds, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// The result of one part of [`SettleMany`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The number of matching conversions.
    pub count: u32,
    /// The number of conversions that were changed; 0 in a dry run. The others needed no change, or are in `refused`.
    pub settled: u32,
    /// The payouts of the matching conversions, in micro-USD.
    #[serde(default)]
    pub payout_micro_usd: i64,
    /// The payouts of the changed conversions, in micro-USD.
    #[serde(default)]
    pub settled_micro_usd: i64,
    /// The number of refused conversions, by code.
    pub refused: BTreeMap<String, u32>,
    /// The number of the last entry that this part examined, if there are more.
    pub next: Option<i64>,
}
