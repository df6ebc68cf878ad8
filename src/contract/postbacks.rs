//! The postbacks of an advertiser: one object for each, to which edges report the newest that came, so that the operator sees
//! what a sender does wrong. It owns nothing, and nothing depends on it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    operation::{Done, ObjectAddress, Operation, Repeat},
    operations,
};
use domain::{
    conversions::received::ShownParameter,
    model::{AdvertiserId, AppId},
};

/// The namespace's binding.
pub const BINDING: &str = "POSTBACKS";

/// Postbacks in one batch at most.
pub const MAX_IN_BATCH: usize = 32;
/// Those of them without an issued token. Anybody who clicks can send such.
pub const MAX_UNSIGNED_IN_BATCH: usize = 4;

/// The name of an advertiser's object. With another name, its postbacks would be lost.
pub fn object_name(advertiser: &AdvertiserId) -> String {
    format!("postbacks-{advertiser}")
}

/// The address of an advertiser's object.
pub fn address(advertiser: &AdvertiserId) -> ObjectAddress {
    ObjectAddress::of(BINDING, object_name(advertiser))
}

operations! {
    pub enum Command {
        /// Not repeated: the postbacks would be there twice, and a few that are missing are no loss.
        Add(PostbackBatch) -> Done, Once;
        List(ListPostbacks) -> PostbackPage, Idempotent;
    }
    pub enum Reply {
        Page(PostbackPage),
        Done {},
    }
}

/// The postbacks of a second or two that came to an isolate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostbackBatch {
    /// In their order, at most [`MAX_IN_BATCH`].
    pub postbacks: Vec<ReceivedPostback>,
    /// Further ones that came and are only counted.
    pub not_shown: u64,
    /// The serials of the tokens that came with any of them, and when each last came, in milliseconds. Revoked tokens are
    /// among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<(i64, i64)>,
}

impl PostbackBatch {
    /// How many came.
    pub fn came(&self) -> u64 {
        let shown = u64::try_from(self.postbacks.len()).unwrap_or(u64::MAX);
        self.not_shown.saturating_add(shown)
    }
}

/// A postback with an authentic click id or a token that was issued, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedPostback {
    /// When it came, in milliseconds.
    pub at_ms: i64,
    /// `GET` or `POST`.
    pub method: String,
    /// As they may be shown.
    pub parameters: Vec<ShownParameter>,
    /// The status of the answer.
    pub http_status: u16,
    /// The code of the refusal, or that of a [200](domain::conversions::verdict::taken_code).
    pub code: String,
    /// The id in a 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The app of the click, if its id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppId>,
    /// The offer of the click, if its id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
    /// The goal of the click, if its id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// No token came that was issued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unsigned: bool,
}

/// A page of the newest postbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPostbacks {
    /// Postbacks at most, up to 200.
    pub limit: u32,
    /// Only those with lower numbers.
    pub before: Option<i64>,
    /// Only those that were answered with this code.
    pub code: Option<String>,
}

/// The answer to [`ListPostbacks`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostbackPage {
    /// The newest first.
    pub postbacks: Vec<ReceivedPostback>,
    /// Postbacks that came since `since_ms` and were only counted.
    pub not_shown: u64,
    /// Time of the first batch, in milliseconds; `None` before it.
    pub since_ms: Option<i64>,
    /// The number of the last one, if there are more.
    pub next: Option<i64>,
    /// When each token last came, in milliseconds, by its serial.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<i64, i64>,
}
