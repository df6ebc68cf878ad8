//! The catalog: one object, the source of truth for publishers, apps, advertisers and offers. Snapshots, chunks and
//! imports are large, so they are sent as bytes and have paths of their own.

mod lookups;
mod own_apps;
mod paths;

pub use lookups::{
    CheckOffer, CountWaiting, EnterTerms, FIGURES_PAGE, KnownPublishers, ListEarning, ListNearCaps,
    ListOfferOutboxes, ListPublisherOutboxes, ListTerms, OUTBOXES_PAGE, OfferNames, ReadOfferFigures, Search,
};
pub use own_apps::{
    AppOffering, ChangeOwnApp, CreateOwnApp, GetAppOffering, GetOwnApp, ListOwnApps, ListTestOffers,
    OWN_APPS_PAGE, OwnAppChange, PutTestApp, SecretChange,
};
pub use paths::{
    BINDING, CHUNK_PATH, COMMAND_PATH, IMPORT_CHECK_PATH, IMPORT_PATH, OBJECT_NAME, REFRESH_PATH, SHARD_PATH,
    address, chunk_path, shard_path, snapshot_path,
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
pub const UNKNOWN_RESOURCE: ApiError = ApiError::new(404, "not_found", "there is no such resource");

/// The answer to an outbox for a revision of terms that the catalog lost, because it was restored from a backup. Nothing else
/// is paid in their place.
pub const LOST_TERMS: ApiError = ApiError::new(
    503,
    "terms_lost",
    "the catalog has lost this revision of the terms",
);

/// The most resources on a page of a list.
pub const MAX_PAGE: u32 = 1_000;

/// The versions that a refresh published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// The version of the tracking snapshot.
    pub tracking: u64,
    /// The version of the listing.
    pub listing: u64,
    /// Whether more is to be published than one invocation may. Then the refresh is to be repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

operations! {
    /// Every command is idempotent except those that issue a credential and those of a publisher's members.
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

/// Creates a resource or replaces it as a whole. `body` is the operator's JSON. 412 `precondition_failed` if it would change
/// what the condition excludes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// The kind of resource.
    pub resource: Resource,
    /// Checked by the catalog; see [`Resource::is_id`].
    pub id: String,
    /// The operator's JSON, without the id.
    pub body: String,
    /// Replaces whatever is stored if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<PutCondition>,
}

/// What a PUT replaces, so that two people who change one resource do not undo each other's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutCondition {
    /// Nothing.
    New,
    /// The answer to a `Get` with this [tag](domain::model::document::tag).
    Read(String),
}

/// Reads a resource as the operator sees it; 404 `not_found`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    /// The kind of resource.
    pub resource: Resource,
    /// An invalid id is one that does not exist.
    pub id: String,
}

impl Get {
    /// A read of a resource that does not exist, to find out whether the catalog answers.
    pub fn probe() -> Self {
        Self {
            resource: Resource::Publisher,
            id: "-".into(),
        }
    }
}

/// Reads a page of resources, in the order of their ids or names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The kind of resource.
    pub resource: Resource,
    /// Resources at most, up to [`MAX_PAGE`].
    pub limit: u32,
    /// The id of the last resource before the page; `None` for the first page.
    pub cursor: Option<String>,
    /// Of apps, the publisher whose they are; of offers, the advertiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether the order is by name, and by id among equal ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_name: bool,
    /// Narrows the list further.
    #[serde(default, skip_serializing_if = "ListFilter::is_empty")]
    pub filter: ListFilter,
}

impl List {
    /// A page of all resources of a kind.
    pub fn of(resource: Resource, limit: u32, cursor: Option<String>) -> Self {
        Self {
            resource,
            limit,
            cursor,
            owner: None,
            by_name: false,
            filter: ListFilter::default(),
        }
    }
}

/// The conditions of a list. A page that has any may be short, and empty though it is not the last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListFilter {
    /// Stands in the id or the name; of an offer also in `s_id` or in the id of a goal. Small letters and capitals are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of publishers, whether they are approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Of offers, their `off_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_type: Option<OfferType>,
    /// Of offers, their state now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer_state: Option<OfferState>,
}

impl ListFilter {
    /// True if it has no condition.
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

/// Reads a publisher's Pub-Key in plain text, and its open request; 404 `not_found` before the first key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPubKey {
    /// The key's publisher.
    pub publisher_id: String,
}

/// Asks the operator for a new Pub-Key. A publisher has one open request, which the next key closes: a further one
/// changes nothing, and is answered 200 with the open one instead of 201.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPubKey {
    /// The publisher that asks.
    pub publisher_id: String,
    /// The name of the member who asks.
    pub by: String,
    /// Checked by the dashboard's interface.
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

/// Revokes a token; it stops working once the edges have the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeToken {
    /// The token's advertiser.
    pub advertiser_id: String,
    /// The token's serial number, as text.
    pub token_id: String,
}

/// Reads the names of a publisher's next [`APP_NAMES_PAGE`] apps after one, by app id. A ledger also uses it to check that
/// the publisher exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppNames {
    /// The apps' publisher.
    pub publisher_id: String,
    /// The last app of the page before; `None` for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Names in one answer to [`AppNames`], of at most 200 characters each: it is one value of SQLite, which has at most 2 MB.
pub const APP_NAMES_PAGE: usize = 2_000;

/// Reads a revision of an offer's terms. The reply's body is [`KnownOffer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOfferTerms {
    /// The offer that was clicked.
    pub offer_id: OfferId,
    /// The revision that the click names.
    pub revision: i64,
    /// The outbox that asks, by its app and its number. From then on each change of the offer's cap is pushed to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox: Option<(AppId, u8)>,
}

/// Reads a revision of an app's terms. The reply's body is [`KnownApp`]. From then on the catalog sends each change of
/// the app's callback settings to the outbox with this number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAppTerms {
    /// The app that was clicked in.
    pub app_id: AppId,
    /// The number of the outbox that asks.
    pub shard: u8,
    /// The revision that the click names.
    pub revision: i64,
}

/// Reads what the operator's calls to an app's outboxes need. The reply's body is [`AppSettings`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAppSettings {
    /// The outboxes' app.
    pub app_id: AppId,
}

/// Reads the catalog's own figures, for the operator's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// The kinds of resources of the operator's API, in the order in which an import applies them: a resource follows those
/// that it refers to.
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

    /// The name in paths, and of the list in an answer.
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

    /// True if the text may be the id of such a resource.
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
    /// The terms of the revision that was asked for.
    pub terms: OfferTerms,
    /// The offer's values now, with the newest revision.
    pub current: CurrentOffer,
}

/// The answer to [`GetAppTerms`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownApp {
    /// The terms of the revision that was asked for.
    pub terms: AppTerms,
    /// The app's values now, with the newest revision.
    pub current: CurrentApp,
    /// The callback settings now.
    pub callback: CallbackSettings,
}

/// The answer to [`GetAppSettings`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppSettings {
    /// How many outboxes it has.
    pub outbox_shards: u8,
    /// The app's publisher.
    pub publisher_id: PublisherId,
    /// The currency's name and its rate now.
    pub currency: CurrencyRate,
    /// The callback settings now.
    pub callback: CallbackSettings,
}

/// An app's callback as its outbox stores it. The default is that of an app that never had one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackSettings {
    /// The catalog's revision of the settings. A higher revision replaces a lower one.
    pub revision: i64,
    /// The callback's JSON, encrypted with `STORE_KEYS` for [`callback_purpose`]; `None` while the app has no callback.
    pub sealed: Option<Bytes>,
    /// Whether the publisher is not approved: then rewards are held, and callbacks wait.
    #[serde(default)]
    pub is_suspended: bool,
    /// Whether the publisher is closed: then it is suspended, but what waits is sent, and everybody is erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
}

impl CallbackSettings {
    /// The publisher's state as tables have it: 0 approved, 1 suspended, 2 closed.
    pub fn suspension(&self) -> i64 {
        i64::from(self.is_suspended) + i64::from(self.is_closed)
    }
}

/// The purpose for which an app's callback is sealed.
pub fn callback_purpose(app_id: &str) -> String {
    format!("callback/{app_id}")
}
