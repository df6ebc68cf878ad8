//! The entries of the catalog's [register]: a restored catalog replays these changes.

use serde::{Deserialize, Serialize};

use super::{Context, import::staged, resource_tables::WriteSource};
use crate::delivery::register;
use contract::{
    catalog::{EnterTerms, Resource},
    operation::Bytes,
};
use domain::model::AppId;
use platform::{Database, DbResult, Result};

/// An entry of the register.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// A stored resource: its kind, id and staged document, and whether a PUT stored it.
    Put(Resource, String, Bytes, bool),
    PubKey(PubKey),
    OwnAppKey(OwnAppKey),
    Tokens(Tokens),
    EnteredTerms(EnterTerms),
    /// An outbox of an app has the app's settings, and receives their changes.
    Outbox(AppId, u8),
    /// An outbox has an offer's cap, and receives the cap's changes.
    OfferOutbox(String, AppId, u8),
}

/// Adds a change to the register, within the change's transaction. A change that a restore replays is not added again.
pub fn add(db: &impl Database, context: &Context<'_>, entry: &Lasting) -> DbResult {
    match context.is_repeat {
        true => Ok(()),
        false => register::add(db, context.now_ms, entry),
    }
}

/// Registers a PUT or an import of a resource.
pub fn add_put(
    db: &impl Database,
    context: &Context<'_>,
    source: WriteSource,
    resource: Resource,
    id: &str,
    document: String,
) -> Result {
    if context.is_repeat {
        return Ok(());
    }
    let document = Bytes(staged(context, resource, id, document)?);
    let is_put = source == WriteSource::Put;
    let entry = Lasting::Put(resource, id.to_owned(), document, is_put);
    Ok(add(db, context, &entry)?)
}

/// A publisher's stored Pub-Key.
#[derive(Debug, Serialize, Deserialize)]
pub struct PubKey {
    pub publisher_id: String,
    pub hash: Bytes,
    pub sealed: Bytes,
}

/// The idempotency key of a member's request that set up an app.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnAppKey {
    pub publisher_id: String,
    pub key: String,
    pub app_id: String,
    pub request_hash: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Tokens {
    pub advertiser_id: String,
    /// The serial of the newest token ever issued; 0 for none.
    pub newest: i64,
    /// The serials of the valid tokens, each with its time of issue in milliseconds.
    pub valid: Vec<(i64, i64)>,
}
