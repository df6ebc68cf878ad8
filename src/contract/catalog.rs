//! The catalog: one object, the source of truth for publishers, apps, advertisers and offers. Snapshots, chunks and
//! imports are large, so they are sent as bytes on their own paths.

mod lookups;
mod own_apps;
mod paths;

pub use lookups::{
    CheckOffer, CountWaiting, EnterTerms, FIGURES_PAGE, KnownPublishers, ListEarning, ListNearCaps, ListOfferOutboxes,
    ListPublisherOutboxes, ListTerms, OUTBOXES_PAGE, OfferNames, ReadOfferFigures, Search,
};
pub use own_apps::{
    AppOffering, ChangeOwnApp, CreateOwnApp, GetAppOffering, GetOwnApp, ListOwnApps, ListTestOffers, OWN_APPS_PAGE,
    OwnAppChange, PutTestApp, SecretChange,
};
pub use paths::{
    BINDING, CHUNK_PATH, COMMAND_PATH, IMPORT_CHECK_PATH, IMPORT_PATH, OBJECT_NAME, REFRESH_PATH, SHARD_PATH, address,
    chunk_path, shard_path, snapshot_path,
};

use serde::{Deserialize, Serialize};

use crate::{
    operation::{Bytes, Operation, OperatorReply, Repeat},
    operations,
};
use domain::{
    conversions::terms::{AppTerms, CurrentApp, CurrentOffer, OfferTerms},
    model::{ApiError, AppId, CurrencyRate, OfferId, OfferState, OfferType, PublisherId},
};

/// The answer for a resource that does not exist.
pub const UNKNOWN_RESOURCE: ApiError = ApiError::new(404, "not_found", "no resource has this id");

/// The answer to an outbox that asks for a revision of terms that a restored catalog has lost. The outbox never pays
/// under another revision.
pub const LOST_TERMS: ApiError = ApiError::new(503, "terms_lost", "the catalog has lost this revision of the terms");

/// Maximum resources on a page of a list.
pub const MAX_PAGE: u32 = 1_000;

/// The versions that a refresh published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// The version of the tracking snapshot.
    pub tracking: u64,
    /// The version of the listing.
    pub listing: u64,
    /// True if one invocation could not publish everything. The refresh must then be repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

operations! {
    /// Every command is idempotent, except those that issue a credential and those that make a change for a publisher.
    pub enum Command {
        Put(Put) -> OperatorReply, Idempotent;
        Get(Get) -> OperatorReply, Idempotent;
        List(List) -> OperatorReply, Idempotent;
        IssuePubKey(IssuePubKey) -> OperatorReply, Once;
        GetPubKey(GetPubKey) -> OperatorReply, Idempotent;
        RequestPubKey(RequestPubKey) -> OperatorReply, Once;
        GetPubKeyRequest(GetPubKeyRequest) -> OperatorReply, Idempotent;
        ListPubKeyRequests(ListPubKeyRequests) -> OperatorReply, Idempotent;
        IssueToken(IssueToken) -> OperatorReply, Once;
        RevokeToken(RevokeToken) -> OperatorReply, Idempotent;
        ListOwnApps(ListOwnApps) -> OperatorReply, Idempotent;
        GetOwnApp(GetOwnApp) -> OperatorReply, Idempotent;
        CreateOwnApp(CreateOwnApp) -> OperatorReply, Once;
        PutTestApp(PutTestApp) -> OperatorReply, Once;
        TestOffers(ListTestOffers) -> OperatorReply, Idempotent;
        ChangeOwnApp(ChangeOwnApp) -> OperatorReply, Once;
        AppNames(AppNames) -> OperatorReply, Idempotent;
        OfferTerms(GetOfferTerms) -> OperatorReply, IdempotentInHeader;
        AppTerms(GetAppTerms) -> OperatorReply, IdempotentInHeader;
        AppSettings(GetAppSettings) -> OperatorReply, Idempotent;
        AppOffering(GetAppOffering) -> OperatorReply, Idempotent;
        Status(GetStatus) -> OperatorReply, Idempotent;
        Health(ReadHealth) -> OperatorReply, Idempotent;
        Search(Search) -> OperatorReply, Idempotent;
        KnownPublishers(KnownPublishers) -> OperatorReply, Idempotent;
        Terms(ListTerms) -> OperatorReply, Idempotent;
        OfferOutboxes(ListOfferOutboxes) -> OperatorReply, Idempotent;
        PublisherOutboxes(ListPublisherOutboxes) -> OperatorReply, Idempotent;
        EnterTerms(EnterTerms) -> OperatorReply, Idempotent;
        OfferFigures(ReadOfferFigures) -> OperatorReply, Idempotent;
        NearCaps(ListNearCaps) -> OperatorReply, Idempotent;
        CountWaiting(CountWaiting) -> OperatorReply, Idempotent;
        OfferNames(OfferNames) -> OperatorReply, Idempotent;
        Earning(ListEarning) -> OperatorReply, Idempotent;
        CheckOffer(CheckOffer) -> OperatorReply, Idempotent;
    }
}

/// Creates a resource or replaces it completely. `body` is the operator's JSON. Returns 412 `precondition_failed` if
/// the condition does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// The kind of resource.
    pub resource: Resource,
    /// The id, which the catalog checks; see [`Resource::is_id`].
    pub id: String,
    /// The operator's JSON, without the id.
    pub body: String,
    /// If `None`, any stored version is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<PutCondition>,
}

/// The version that a PUT may replace, so that two people do not undo each other's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutCondition {
    /// No version: the resource must not exist.
    New,
    /// The version that the caller has read with a `Get`, identified by its [tag](domain::model::document::tag).
    Read(String),
}

/// Reads a resource as the operator sees it. Returns 404 `not_found` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    /// The kind of resource.
    pub resource: Resource,
    /// The id. An invalid id is treated as unknown.
    pub id: String,
}

/// Reads a page of resources, in the order of their ids or names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The kind of resource.
    pub resource: Resource,
    /// Maximum resources, up to [`MAX_PAGE`].
    pub limit: u32,
    /// The id of the last resource before the page; `None` for the first page.
    pub cursor: Option<String>,
    /// For apps, the publisher that owns them; for offers, the advertiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// True to sort by name, and by id where names are equal. False sorts by id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_name: bool,
    /// Narrows the list further.
    #[serde(default, skip_serializing_if = "ListFilter::is_empty")]
    pub filter: ListFilter,
}

impl List {
    /// The list of all resources of a kind, in the order of their ids.
    pub fn of(resource: Resource, limit: u32, cursor: Option<String>) -> Self {
        Self { resource, limit, cursor, owner: None, by_name: false, filter: ListFilter::default() }
    }
}

/// The conditions of a list. With any condition, a page may be short or even empty although further pages follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFilter {
    /// A part of the id or the name; for an offer also of `s_id` or of a goal's id. Letter case is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For publishers, whether they are approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// For offers, their `off_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_type: Option<OfferType>,
    /// For offers, their current state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer_state: Option<OfferState>,
}

impl ListFilter {
    /// True if the filter has no condition.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Issues a new Pub-Key. Each call invalidates the previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuePubKey {
    /// The key's publisher; 404 `not_found` if it is unknown.
    pub publisher_id: String,
}

/// Reads a publisher's Pub-Key in plain text, and the publisher's open request for a new one. Returns 404 `not_found`
/// before the first key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPubKey {
    /// The key's publisher.
    pub publisher_id: String,
}

/// Requests a new Pub-Key from the operator. A publisher has at most one open request. Issuing the next key closes the
/// request. Another request changes nothing and returns 200 with the open one, instead of 201.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPubKey {
    /// The publisher that asks.
    pub publisher_id: String,
    /// The name of the member who asks.
    pub by: String,
    /// The reason. The dashboard's interface has checked it.
    pub reason: String,
}

/// Reads a publisher's open request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPubKeyRequest {
    /// The publisher that asked.
    pub publisher_id: String,
}

/// Reads the open requests of all publishers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPubKeyRequests {}

/// Issues a new token. Each call invalidates the token before last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueToken {
    /// The token's advertiser.
    pub advertiser_id: String,
}

/// Revokes a token. The token stops working once the edge has the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeToken {
    /// The token's advertiser.
    pub advertiser_id: String,
    /// The token's serial number, as text.
    pub token_id: String,
}

/// Reads the names of the next [`APP_NAMES_PAGE`] apps of a publisher, by app id. A ledger also uses this call to check
/// that the publisher exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppNames {
    /// The apps' publisher.
    pub publisher_id: String,
    /// The last app of the previous page; `None` for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Maximum names in one answer to [`AppNames`]. A name has at most 200 characters, and the answer is one SQLite value
/// of at most 2 MB.
pub const APP_NAMES_PAGE: usize = 2_000;

/// Reads a revision of an offer's terms. The reply's body is [`KnownOffer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOfferTerms {
    /// The offer of the click.
    pub offer_id: OfferId,
    /// The revision that the click names.
    pub revision: i64,
    /// The app and the number of the outbox that asks. The catalog then sends that outbox each change of the offer's
    /// cap. `None` for any other caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox: Option<(AppId, u8)>,
}

/// Reads a revision of an app's terms. The reply's body is [`KnownApp`]. The catalog then sends the outbox `shard` each
/// change of the app's callback settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAppTerms {
    /// The app of the click.
    pub app_id: AppId,
    /// The number of the outbox that asks.
    pub shard: u8,
    /// The revision that the click names.
    pub revision: i64,
}

/// Reads the settings that the operator's calls to an app's outboxes need. The reply's body is [`AppSettings`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAppSettings {
    /// The outboxes' app.
    pub app_id: AppId,
}

/// Reads the catalog's own figures, for the operator's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// Asks whether the catalog answers, and how many secrets are sealed with an old key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadHealth {}

/// The kinds of resources of the operator's API, in the order in which an import applies them: a resource comes after
/// those that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// Owns apps, and reads reports.
    Publisher,
    /// Shows offers to its users.
    App,
    /// Owns offers, and sends postbacks.
    Advertiser,
    /// Is shown in apps, and pays for its goals.
    Offer,
}

impl Resource {
    /// All kinds, in the order of an import.
    pub const ALL: [Self; 4] = [Self::Publisher, Self::App, Self::Advertiser, Self::Offer];

    /// The name in paths, and the name of the list in answers.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Publisher => "publishers",
            Self::App => "apps",
            Self::Advertiser => "advertisers",
            Self::Offer => "offers",
        }
    }

    /// The name of one resource.
    pub fn singular(self) -> &'static str {
        self.plural().trim_end_matches('s')
    }

    /// True if the text is a valid id of this kind of resource.
    pub fn is_id(self, id: &str) -> bool {
        match self {
            Self::App => AppId::parse(id).is_some(),
            _ => OfferId::parse(id).is_some(),
        }
    }
}

/// The answer to [`GetOfferTerms`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownOffer {
    /// The terms of the requested revision.
    pub terms: OfferTerms,
    /// The offer's current values, with the newest revision.
    pub current: CurrentOffer,
}

/// The answer to [`GetAppTerms`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownApp {
    /// The terms of the requested revision.
    pub terms: AppTerms,
    /// The app's current values, with the newest revision.
    pub current: CurrentApp,
    /// The current callback settings.
    pub callback: CallbackSettings,
}

/// The answer to [`GetAppSettings`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppSettings {
    /// The number of the app's outboxes.
    pub outbox_shards: u8,
    /// The app's publisher.
    pub publisher_id: PublisherId,
    /// The currency's name and its current rate.
    pub currency: CurrencyRate,
    /// The current callback settings.
    pub callback: CallbackSettings,
}

/// An app's callback as its outbox stores it. The default is for an app that never had a callback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackSettings {
    /// The catalog's revision of the settings. A higher revision replaces a lower one.
    pub revision: i64,
    /// The callback's JSON, encrypted with `STORE_KEYS` for [`callback_purpose`]; `None` while the app has no callback.
    pub sealed: Option<Bytes>,
    /// True if the publisher is not approved. Its rewards are then held, and its callbacks wait.
    #[serde(default)]
    pub is_suspended: bool,
    /// True if the publisher is closed. It is then also suspended, but its waiting callbacks are sent, and all its
    /// users are erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
}

impl CallbackSettings {
    /// The publisher's state as stored in tables: 0 approved, 1 suspended, 2 closed.
    pub fn suspension(&self) -> i64 {
        i64::from(self.is_suspended) + i64::from(self.is_closed)
    }
}

/// The purpose for which an app's callback is encrypted.
pub fn callback_purpose(app_id: &str) -> String {
    format!("callback/{app_id}")
}
