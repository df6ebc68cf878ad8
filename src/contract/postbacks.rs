//! The newest postbacks of advertisers. Each advertiser has one object, to which the edge reports the postbacks, so
//! that the operator sees a sender's mistakes. Another object has the refused postbacks of all advertisers. The
//! objects own nothing, and nothing depends on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    operation::{Done, ObjectAddress, Operation, Repeat},
    operations,
};
use domain::{
    conversions::{received::ShownParameter, state::Reason},
    model::{AdvertiserId, AppId},
};

/// The namespace's binding.
pub const BINDING: &str = "POSTBACKS";

/// Maximum postbacks in one batch.
pub const MAX_IN_BATCH: usize = 32;
/// Maximum postbacks without an issued token in one batch. Anybody who clicks can send such postbacks.
pub const MAX_UNSIGNED_IN_BATCH: usize = 4;
/// Maximum postbacks in one batch for the list of all advertisers. A busy sender must not fill the list.
const MAX_REFUSED_IN_BATCH: usize = 4;

/// The name of an advertiser's object. With another name, its postbacks would be lost.
pub fn object_name(advertiser: &AdvertiserId) -> String {
    format!("postbacks-{advertiser}")
}

/// The address of the object that has the refused postbacks of all advertisers. An advertiser's id has no dot.
pub fn refused_address() -> ObjectAddress {
    ObjectAddress::of(BINDING, "postbacks-.refused")
}

/// The address of an advertiser's object.
pub fn address(advertiser: &AdvertiserId) -> ObjectAddress {
    ObjectAddress::of(BINDING, object_name(advertiser))
}

operations! {
    pub enum Command {
        /// Not retried: a retry would duplicate the postbacks, and a few missing ones do no harm.
        Add(PostbackBatch) -> Done, Once;
        List(ListPostbacks) -> PostbackPage, Idempotent;
    }
    pub enum Reply {
        Page(PostbackPage),
        Done {},
    }
}

/// The postbacks that an isolate received within one or two seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostbackBatch {
    /// The postbacks in order, at most [`MAX_IN_BATCH`].
    pub postbacks: Vec<ReceivedPostback>,
    /// The number of further postbacks, without details.
    pub not_shown: u64,
    /// The serial of each token of these postbacks, with the time of the token's last use, in milliseconds. Includes
    /// revoked tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<(i64, i64)>,
}

impl PostbackBatch {
    /// The number of all postbacks, with and without details.
    pub fn came(&self) -> u64 {
        let shown = u64::try_from(self.postbacks.len()).unwrap_or(u64::MAX);
        self.not_shown.saturating_add(shown)
    }

    /// The first refused postbacks of an advertiser's batch, for the list of all advertisers; `None` if there are none.
    /// A spent cap is nobody's mistake, and after a 5xx the sender repeats the postback.
    pub fn refused(&self, advertiser: &AdvertiserId) -> Option<Self> {
        let capped = Reason::Capped.code();
        let mut refused = self
            .postbacks
            .iter()
            .filter(|postback| (400..500).contains(&postback.http_status) && postback.code != capped);
        let first = refused.by_ref().take(MAX_REFUSED_IN_BATCH);
        let postbacks: Vec<_> = first
            .map(|postback| ReceivedPostback { advertiser: Some(advertiser.clone()), ..postback.clone() })
            .collect();
        (!postbacks.is_empty()).then(|| Self {
            postbacks,
            not_shown: u64::try_from(refused.count()).unwrap_or(u64::MAX),
            tokens: Vec::new(),
        })
    }
}

/// A postback with an authentic click id or an issued token, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedPostback {
    /// The time of receipt, in milliseconds.
    pub at_ms: i64,
    /// `GET` or `POST`.
    pub method: String,
    /// The parameters, in a form that may be shown.
    pub parameters: Vec<ShownParameter>,
    /// The status of the answer.
    pub http_status: u16,
    /// The code of the refusal; for a 200, the [code of its outcome](domain::conversions::verdict::taken_code).
    pub code: String,
    /// The transaction id in a 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The advertiser to which the postback belongs, in the list of all advertisers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertiser: Option<AdvertiserId>,
    /// The app of the click, if the click id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppId>,
    /// The offer of the click, if the click id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
    /// The goal of the click, if the click id is authentic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// True if the postback had no issued token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unsigned: bool,
}

/// Reads a page of the newest postbacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPostbacks {
    /// Maximum postbacks, up to 200.
    pub limit: u32,
    /// Only postbacks with numbers below this one; `None` for the first page.
    pub before: Option<i64>,
    /// Only postbacks that were answered with this code.
    pub code: Option<String>,
}

/// The answer to [`ListPostbacks`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostbackPage {
    /// The postbacks, newest first.
    pub postbacks: Vec<ReceivedPostback>,
    /// The number of postbacks since `since_ms` without details.
    pub not_shown: u64,
    /// The time of the first batch, in milliseconds; `None` before the first batch.
    pub since_ms: Option<i64>,
    /// The number of the last postback on the page, if there are more.
    pub next: Option<i64>,
    /// The time of each token's last use, in milliseconds, by serial.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<i64, i64>,
}
