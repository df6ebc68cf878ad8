//! The catalog: one object, the source of truth for publishers, apps, advertisers and offers. Snapshots, chunks and imports
//! are large and travel as bytes over paths of their own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::operation::{Bytes, ObjectAddress, Operation, Repeat, Reply};
use crate::{kv::SnapshotKind, operations};
use domain::model::{AdvertiserId, AppId, CurrencyRate, OfferId, PublisherId, api_error::ApiError};

/// The namespace's binding.
pub const BINDING: &str = "CATALOG";
/// The name of the one catalog object. A changed name would lose the catalog.
pub const OBJECT_NAME: &str = "catalog";

pub const COMMAND_PATH: &str = "/command";
pub const IMPORT_PATH: &str = "/import";
pub const REFRESH_PATH: &str = "/refresh";
const SNAPSHOT_PATH: &str = "/snapshot/";
pub const CHUNK_PATH: &str = "/chunk/";

/// The catalog's address for one of its paths.
pub fn address(path: impl Into<String>) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name: OBJECT_NAME.into(),
        path: path.into(),
    }
}

pub fn snapshot_path(kind: SnapshotKind) -> String {
    format!("{SNAPSHOT_PATH}{}", kind.as_str())
}

pub fn chunk_path(key: &str) -> String {
    format!("{CHUNK_PATH}{key}")
}

/// Answered for a resource that does not exist.
pub const UNKNOWN_RESOURCE: ApiError = ApiError::new(404, "not_found", "there is no such resource");

/// Resources on a page of a list, at most.
pub const MAX_PAGE: u32 = 1_000;

/// The versions that a refresh published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    pub tracking: u64,
    pub listing: u64,
}

operations! {
    /// All are idempotent but the two that issue a credential.
    pub enum Command {
        Put(Put) -> Reply, Idempotent;
        Get(Get) -> Reply, Idempotent;
        List(List) -> Reply, Idempotent;
        IssuePubKey(IssuePubKey) -> Reply, Once;
        GetPubKey(GetPubKey) -> Reply, Idempotent;
        IssueToken(IssueToken) -> Reply, Once;
        RevokeToken(RevokeToken) -> Reply, Idempotent;
        AppNames(AppNames) -> Reply, Idempotent;
        Terms(GetTerms) -> Reply, IdempotentInHeader;
        Status(GetStatus) -> Reply, Idempotent;
    }
}

/// Replaces a resource whole, or creates it. `body` is the operator's JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    pub resource: Resource,
    pub id: String,
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    pub resource: Resource,
    pub id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    pub resource: Resource,
    pub limit: u32,
    pub cursor: Option<String>,
}

/// Each call makes the Pub-Key before it invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuePubKey {
    pub publisher_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPubKey {
    pub publisher_id: String,
}

/// Each call makes the token before last invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueToken {
    pub advertiser_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeToken {
    pub advertiser_id: String,
    pub token_id: String,
}

/// Asks for the names of a publisher's apps, by app. A ledger learns from it, too, whether the publisher exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppNames {
    pub publisher_id: String,
}

/// Asks for the terms of an app and of offers. The reply's body is [`Terms`]. From then on the app's outbox is told when
/// its callback settings change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetTerms {
    pub app_id: String,
    pub offers: Vec<String>,
    /// The revision that the asker has all of them as of: a 204 says that it is still the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// Asks for the catalog's own figures, for the operator's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// The kinds of resources of the operator's API, in the order in which an import applies them: references come after what
/// they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    Publisher,
    App,
    Advertiser,
    Offer,
}

impl Resource {
    pub const ALL: [Self; 4] = [Self::Publisher, Self::App, Self::Advertiser, Self::Offer];

    /// As a path and the answer's list are named.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Publisher => "publishers",
            Self::App => "apps",
            Self::Advertiser => "advertisers",
            Self::Offer => "offers",
        }
    }

    pub fn singular(self) -> &'static str {
        self.plural().trim_end_matches('s')
    }

    pub fn is_id(self, id: &str) -> bool {
        match self {
            Self::App => AppId::parse(id).is_some(),
            _ => OfferId::parse(id).is_some(),
        }
    }
}

/// What an outbox has to know of the catalog to judge and pay conversions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The last change of the catalog that they were read after: as long as it is the last, they are what they were.
    #[serde(default)]
    pub change: i64,
    pub publisher_id: PublisherId,
    pub currency: CurrencyRate,
    pub callback: CallbackSettings,
    /// Of the offers asked for, those that there are; also paused and ended ones.
    pub offers: BTreeMap<OfferId, OfferTerms>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferTerms {
    pub advertiser_id: AdvertiserId,
    /// Hashes of the advertiser's valid tokens, the older one first.
    pub tokens: Vec<Bytes>,
    pub conversion_window_days: u16,
    /// Conversions a UTC day.
    pub conversion_cap: Option<u32>,
    /// The change of the catalog that the cap is from.
    pub revision: i64,
    /// By `ord`, then by id; retired ones too, which still pay the clicks made before.
    pub goals: Vec<GoalTerms>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTerms {
    pub id: String,
    pub ord: u32,
    /// The advertiser's event code.
    pub gl_val: Option<String>,
    pub payout_micro_usd: i64,
    pub retired: bool,
}

/// An app's callback as its outbox keeps it. The default is that of an app that never had one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackSettings {
    /// The change of the catalog that they are from; newer ones take the place of older ones.
    pub revision: i64,
    /// The callback's JSON under `STORE_KEYS`, sealed for [`callback_purpose`](contract::catalog::callback_purpose); none
    /// while the app has no callback.
    pub sealed: Option<Bytes>,
}

/// The purpose that an app's callback is sealed for.
pub fn callback_purpose(app_id: &str) -> String {
    format!("callback/{app_id}")
}
