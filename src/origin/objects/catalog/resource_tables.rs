//! Resources in the catalog's tables: the statements of each kind, checks that a resource exists, and types that every
//! write needs.

use super::{import_claims, sql};
use contract::catalog::{Resource, UNKNOWN_RESOURCE};
use domain::model::{ApiError, FieldError};
use platform::{Database, Result, params};

/// The id member and the statements of a kind of resource.
pub(super) struct ResourceTable {
    /// The JSON member for the resource's id.
    pub id_member: &'static str,
    /// The statement that reads a resource's id, its document, and the columns that the answer adds.
    pub select_one: &'static str,
    /// Like `select_one`, for the resources after an id, up to a limit.
    pub select_page: &'static str,
    /// Like `select_page`, but ordered by name, after the resource with an id.
    pub select_by_name: &'static str,
    /// The statement that finds ids by a part of a name or an id.
    pub find_named: &'static str,
}

pub(super) fn table_of(resource: Resource) -> ResourceTable {
    let (id_member, select_one, select_page, select_by_name, find_named) = match resource {
        Resource::Publisher => (
            "publisher_id",
            sql::GET_PUBLISHER,
            sql::LIST_PUBLISHERS,
            sql::LIST_PUBLISHERS_BY_NAME,
            sql::FIND_PUBLISHERS,
        ),
        Resource::App => ("app_id", sql::GET_APP, sql::LIST_APPS, sql::LIST_APPS_BY_NAME, sql::FIND_APPS),
        Resource::Advertiser => (
            "advertiser_id",
            sql::GET_ADVERTISER,
            sql::LIST_ADVERTISERS,
            sql::LIST_ADVERTISERS_BY_NAME,
            sql::FIND_ADVERTISERS,
        ),
        Resource::Offer => ("offer_id", sql::GET_OFFER, sql::LIST_OFFERS, sql::LIST_OFFERS_BY_NAME, sql::FIND_OFFERS),
    };
    ResourceTable { id_member, select_one, select_page, select_by_name, find_named }
}

/// The origin of a write. The origin decides whether a write of an unchanged app restarts the app's callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteSource {
    /// A PUT: the app's endpoint is tried again at once, even if nothing changed.
    Put,
    /// The check of an import's line: nothing is written, and the resources in the import's other lines count as
    /// stored.
    Check { import: i64 },
    /// A line of an import: an unchanged app changes nothing, because imports may repeat the whole catalog daily.
    Import,
    /// A member of the publisher, who changes single fields.
    Member,
}

impl WriteSource {
    /// Returns the import whose line is only being checked.
    pub fn checked_import(self) -> Option<i64> {
        match self {
            Self::Check { import } => Some(import),
            Self::Put | Self::Import | Self::Member => None,
        }
    }
}

/// The effect of a document on the stored resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Nothing,
    New,
    Changed,
}

impl Change {
    /// `is_same` is true if the stored document equals the new one.
    pub fn of(is_stored: bool, is_same: bool) -> Self {
        match (is_stored, is_same) {
            (_, true) => Self::Nothing,
            (false, false) => Self::New,
            (true, false) => Self::Changed,
        }
    }
}

/// The 404 error for a resource that does not exist.
pub(super) fn unknown(resource: Resource, id: &str) -> ApiError {
    UNKNOWN_RESOURCE.with_message(format!("no {} has the id {id}", resource.singular()))
}

/// Refuses with 404 if the resource does not exist.
pub fn require(db: &impl Database, resource: Resource, id: &str) -> Result {
    let row = db.query_first(table_of(resource).select_one, params![id])?;
    row.map(drop).ok_or_else(|| unknown(resource, id).into())
}

/// Refuses with 400, naming `field`, if the resource that a document refers to does not exist.
pub(super) fn require_reference(
    db: &impl Database,
    source: WriteSource,
    resource: Resource,
    field: &str,
    id: &str,
) -> Result {
    if db.query_first(table_of(resource).select_one, params![id])?.is_some() {
        return Ok(());
    }
    if let Some(import) = source.checked_import()
        && import_claims::staged_line(db, import, resource, id)?.is_some()
    {
        return Ok(());
    }
    let problem = format!("no {} has the id {id}", resource.singular());
    Err(ApiError::from(FieldError::new(field, problem)).into())
}
