//! The ledgers: one object for each publisher. Facts and reports are streams with their own paths.

mod days;

pub use days::{ChangeCause, DayChange, DayChanges, DayState, DaySums, ListDayChanges, Restate, Vouch, Vouched};

use serde::{Deserialize, Serialize};

use crate::{
    operation::{self, Bytes, Done, Mark, ObjectAddress, Operation, Repeat},
    operations,
};
use domain::{
    accounts::ids::MemberId,
    model::{AppId, Country, OfferId, PublisherId, UtcDay},
    reporting::{export::ExportFormat, facts::Format, keys::Scope},
};

/// The namespace's binding.
pub const BINDING: &str = "LEDGERS";

/// The name of a publisher's object. With another name, the publisher's facts would be lost.
pub fn object_name(publisher: &PublisherId) -> String {
    format!("ledger-{publisher}")
}

/// The publisher of the ledger with this object name.
pub fn publisher_of(name: &str) -> Option<PublisherId> {
    PublisherId::parse(name.strip_prefix("ledger-")?)
}

/// The path of batches from other objects.
pub const BATCH: &str = "batch";
/// The path of the operator's and members' commands.
pub const OPERATOR: &str = "operator";
/// The path of a report query that a report key authorizes.
pub const REPORT: &str = "report";
/// The path of a batch of report queries that a dashboard session authorizes.
pub const DASHBOARD: &str = "dashboard";
/// The path of a piece of an export.
pub const EXPORT: &str = "export";
/// The path of an upload of facts.
pub const FACTS: &str = "facts";
/// The path of a benchmark's report, in bench builds only.
#[cfg(feature = "bench")]
pub const BENCH: &str = "bench";
/// The header that says how many times a benchmark makes its report.
#[cfg(feature = "bench")]
pub const BENCH_TIMES: &str = "x-times";

/// The address of a publisher's ledger. The path contains the publisher, since an object does not know its own name
/// when its alarm starts it.
pub fn address(publisher: &PublisherId, purpose: &str) -> ObjectAddress {
    ObjectAddress { binding: BINDING, name: object_name(publisher), path: format!("/{publisher}/{purpose}") }
}

/// The publisher and the purpose in an address's path.
pub fn parse_path(path: &str) -> Option<(PublisherId, &str)> {
    let (publisher, purpose) = path.strip_prefix('/')?.split_once('/')?;
    Some((PublisherId::parse(publisher)?, purpose))
}

/// The parameters of an upload, checked by the operator's interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// A day to replace, or a batch to add.
    pub target: Target,
    /// The format of the facts, once unzipped.
    pub format: Format,
    /// True for gzip. It is a field, since the runtime might decode a body with the header `Content-Encoding`.
    pub gzip: bool,
    /// The name of the operator's member who loads the facts; `None` if the operator's token authorized the upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// True to report the changes without making them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dry_run: bool,
}

impl Upload {
    /// The header that contains this type as JSON.
    pub const HEADER: &str = "x-upload";
}

/// The target of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The facts replace those loaded for a day.
    Day(UtcDay),
    /// The facts are added, once for this idempotency key.
    Batch(String),
}

operations! {
    pub enum Command {
        AddOffers(AddOffers) -> Mark, Idempotent;
        ReadMark(ReadMark) -> Mark, Idempotent;
        Vouch(Vouch) -> Vouched, Idempotent;
        Restate(Restate) -> operation::OperatorReply, Idempotent;
        CreateKey(CreateKey) -> operation::OperatorReply, Once;
        ListKeys(ListKeys) -> operation::OperatorReply, Idempotent;
        RevokeKey(RevokeKey) -> operation::OperatorReply, Once;
        FindKey(FindKey) -> operation::OperatorReply, Idempotent;
        UseKey(UseKey) -> UsedKey, Once;
        ListDays(ListDays) -> operation::OperatorReply, Idempotent;
        ListDayChanges(ListDayChanges) -> DayChanges, Idempotent;
        ReadOffers(ReadOffers) -> CountedDay, Idempotent;
        Suggest(Suggest) -> operation::OperatorReply, Idempotent;
        ReadFreshness(ReadFreshness) -> Freshness, Idempotent;
        CreateExport(CreateExport) -> operation::OperatorReply, Once;
        OpenExport(OpenExport) -> Export, Once;
        SuspendKeys(SuspendKeys) -> Done, Idempotent;
    }
    pub enum Reply {
        Mark(Mark),
        Vouched(Vouched),
        Offers(CountedDay),
        Freshness(Freshness),
        DayChanges(DayChanges),
        Export(Export),
        UsedKey(UsedKey),
        Done {},
        Operator(operation::OperatorReply),
    }
}

/// Adds a batch of another object's sums to the `offers` layer. The batch has the sums of the log entries of that
/// object after `after`, up to and including `number`.
///
/// Idempotent: a batch is applied only if it begins where the last applied batch of its source ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddOffers {
    /// The sending object's name.
    pub source: String,
    /// The number of the last batch that, as far as the source knows, was applied; 0 for none.
    pub after: i64,
    /// The last number in the batch, which becomes the ledger's mark of the source.
    pub number: i64,
    /// Sums of this publisher's apps.
    pub sums: Vec<OfferSum>,
}

/// `POST …/report_keys`. `body` is the operator's JSON. Each call issues a new key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateKey {
    /// The new key's label, as JSON.
    pub body: String,
    /// The member who creates the key; `None` for the operator.
    #[serde(default)]
    pub by: Option<KeyCreator>,
}

/// The creator of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCreator {
    /// The member who creates the key.
    pub member: MemberId,
    /// The member's name at that time. It stays with the key.
    pub name: String,
}

/// `GET …/report_keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListKeys {}

/// `DELETE …/report_keys/{key_id}`. A retry returns 404, since the key no longer exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeKey {
    /// The public id of a key, from its creation or the list.
    pub key_id: String,
}

/// Refuses the publisher's report keys while it is suspended. Idempotent by revision, like
/// [`Suspend`](crate::accounts::Suspend).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspendKeys {
    /// True to refuse the keys; false to accept them again.
    pub is_suspended: bool,
    /// The catalog's revision of the change.
    pub revision: i64,
}

/// Finds the key with this hash. The reply's body has the key's `key_id` and `label`, or is null if the key was
/// revoked. The caller computes the hash, so that no object receives the key itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindKey {
    /// The key's hash, computed by the caller.
    pub hash: Bytes,
}

/// Uses a key for a request, which counts towards the key's rate. Returns 401 if the hash is unknown, 403 if the key
/// has another scope, and 429 if the request comes too soon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseKey {
    /// The key's hash, computed by the caller.
    pub hash: Bytes,
    /// The scope that the request needs.
    pub scope: Scope,
}

/// The answer to [`UseKey`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedKey {
    /// The public id of the key.
    pub key_id: String,
    /// The label from its creation.
    pub label: String,
}

/// `GET …/facts`: the days and their sizes, newest first. `before` is the cursor of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDays {
    /// Maximum days on the page. Values outside 1 to 1,000 are clamped.
    pub limit: u32,
    /// A date, such as `2026-01-31`. `None` for the newest days.
    pub before: Option<String>,
}

/// Reads the number of the last applied batch of a source's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMark {
    /// The source's name.
    pub source: String,
    /// The last mark that the source knows; 0 if it knows none.
    #[serde(default)]
    pub known: i64,
}

/// A part of `GET …/reconcile`: reads the revenue that Signpost counted for an app on a day, and what was applied from
/// each of the app's outboxes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOffers {
    /// An app of the publisher.
    pub app: AppId,
    /// A UTC day.
    pub day: UtcDay,
    /// The names of the app's outboxes.
    pub sources: Vec<String>,
}

/// The answer to [`ReadOffers`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedDay {
    /// The offers with clicks or revenue on that day.
    pub offers: Vec<OfferRevenue>,
    /// The sources, in the order of the request.
    pub sources: Vec<SourceDay>,
}

/// A source's sums in a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceDay {
    /// The number of the last applied batch; 0 for none.
    pub mark: i64,
    /// The day's revenue in the applied batches, in micro-USD.
    pub revenue_micro_usd: i64,
}

/// Reads the time up to which facts were loaded, and the times of the first click and the first report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFreshness {}

/// The answer to [`ReadFreshness`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The time up to which facts were loaded, in milliseconds; `None` before the first load.
    pub loaded_through_ms: Option<i64>,
    /// The time of the first counted click, in milliseconds; `None` before the first click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_click_ms: Option<i64>,
    /// The time of the first report by a report key, in milliseconds; `None` before the first report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_report_ms: Option<i64>,
}

/// Suggests values of a dimension in the facts of a range of days. The values with the most impressions come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggest {
    /// The name of a dimension, as in a report query.
    pub dimension: String,
    /// Part of a value or of an app's name. Letter case is ignored.
    pub text: String,
    /// The `date_range` of a report query, as JSON.
    pub date_range: String,
}

/// `POST …/exports`. `body` is the page's JSON, and `session` the hash of the session that may read the export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateExport {
    /// The page's JSON: a report query without pagination, and a format.
    pub body: String,
    /// The hash of the session that may read the export.
    pub session: Bytes,
}

/// `GET …/exports/{export_id}`. It spends the export, so a retry returns 404.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenExport {
    /// The id in the answer to [`CreateExport`]. It expires 5 minutes later.
    pub export_id: String,
    /// The hash of the session that made the export.
    pub session: Bytes,
}

/// An export. `query` is the JSON of a report query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// The report query, without pagination.
    pub query: String,
    /// The format chosen by the page.
    pub format: ExportFormat,
    /// The number of rows of the result at its creation.
    pub rows: u64,
}

/// Requests the next piece of an opened export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportPiece {
    /// The opened export, which occupies a slot while it is read.
    pub export_id: String,
    /// The query of the [`Export`].
    pub query: String,
    /// The format of the [`Export`].
    pub format: ExportFormat,
    /// The number of rows in earlier pieces.
    pub rows_before: u64,
    /// The version of the facts in earlier pieces; `None` for the first piece.
    pub version: Option<FactsVersion>,
}

/// The state of an export after a piece. The object sends it in a header, and the piece as the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportProgress {
    /// The version of the facts in this piece.
    pub version: FactsVersion,
    /// The number of rows of the whole result.
    pub rows: u64,
    /// The number of rows up to the end of this piece.
    pub rows_read: u64,
    /// The total bytes of all pieces; present only with the first piece.
    pub length: Option<u64>,
}

impl ExportProgress {
    /// The header that contains this type as JSON.
    pub const HEADER: &str = "x-export";

    /// True if no row is left.
    pub fn is_complete(&self) -> bool {
        self.rows_read >= self.rows
    }
}

/// The version of the facts that an export reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactsVersion {
    /// The number of changes of the publisher's facts so far.
    pub changes: i64,
    /// A hash of the segments of the export's days.
    pub segments: u64,
}

impl FactsVersion {
    /// True if both versions give identical reports for the export's days. Changes of other days do not count. Merges
    /// do not count either, since they replace segments without changing facts.
    pub fn has_facts_of(self, other: Self) -> bool {
        self.changes == other.changes || self.segments == other.segments
    }
}

/// The revenue of one offer on the requested day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferRevenue {
    /// An offer with clicks or revenue on that day.
    pub offer: OfferId,
    /// The revenue minus reversals, in micro-USD.
    pub revenue_micro_usd: i64,
}

/// Clicks and revenue of one offer in one app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferSum {
    /// The UTC day of the click, the reward or the reversal.
    pub day: UtcDay,
    /// The app of the click.
    pub app: AppId,
    /// The offer of the click.
    pub offer: OfferId,
    /// The country of the click; `None` if unknown.
    pub country: Option<Country>,
    /// The click's placement. A ledger distinguishes at most 200 placements for each app and day.
    pub placement: Option<String>,
    /// The number of clicks; 0 in an outbox's batch.
    #[serde(default)]
    pub clicks: u64,
    /// The revenue in micro-USD; negative for a reversal.
    #[serde(default)]
    pub revenue_micro_usd: i64,
}
