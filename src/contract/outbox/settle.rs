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
    /// The reward's.
    pub transaction_id: String,
    /// Approves, rejects or reverses it.
    pub action: Action,
    /// The operator's words, which are not empty.
    pub reason: String,
    /// The reasons that are overridden by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Reason>,
}

/// A step of `POST …/conversions/approve`, `reject` and `reverse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleMany {
    /// Selects the conversions.
    pub filter: SettleFilter,
    /// Approves, rejects or reverses each.
    pub action: Action,
    /// The operator's words, which are not empty.
    pub reason: String,
    /// The reasons that are overridden by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Reason>,
    /// Counts them and settles none.
    pub dry_run: bool,
    /// `next` of the previous step; 0 at first.
    pub after: i64,
}

/// The conversions that an action settles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettleFilter {
    /// A name, such as `held`, as in a [`List`](super::List).
    pub status: String,
    /// As in a [`List`](super::List); any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user's id in the publisher's app; any if `None`.
    #[serde(
        default,
        deserialize_with = "trimmed_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    pub user_id: Option<String>,
    /// The offer of the click; any if `None`.
    #[serde(
        default,
        deserialize_with = "trimmed_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    pub offer_id: Option<String>,
    /// The conversion's time in UNIX seconds, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The same, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// The result of a step of [`SettleMany`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// How many conversions matched.
    pub count: u32,
    /// How many of them were changed; none by a dry run. The others were so already, or are in `refused`.
    pub settled: u32,
    /// The payouts of those that matched.
    #[serde(default)]
    pub payout_micro_usd: i64,
    /// The payouts of those that were changed.
    #[serde(default)]
    pub settled_micro_usd: i64,
    /// How many were refused, by code.
    pub refused: BTreeMap<String, u32>,
    /// The last entry that this step looked at, if there are more.
    pub next: Option<i64>,
}
