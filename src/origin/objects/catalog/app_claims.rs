//! Claims of an app's number of outboxes. The app's first outbox also stores the number. Otherwise a catalog that was
//! restored to a time before the app existed would accept another number, and most users' earlier rewards would be in
//! outboxes that nobody asks.

use std::time::Duration;

use super::sql;
use contract::outbox::{ClaimApp, OutboxShard};
use domain::{
    callbacks::shards,
    catalog::app::App,
    model::{ApiError, AppId, Document, FieldError, common},
};
use platform::{Database, Failure, ObjectCall, Result, concurrent::try_each, log, params};

/// Maximum new apps that an import claims. Each claim starts an outbox, and a process does not have memory for 800
/// outboxes. An import with more new apps counts as a first load and claims none.
pub const MAX_OF_IMPORT: usize = 100;
/// The timeout of a call to an outbox.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A new app and its number of outboxes.
#[derive(Clone, Copy, Debug)]
pub struct NewApp {
    pub app: AppId,
    pub outbox_shards: u8,
    /// The app's line in the import; 0 for a PUT.
    pub line: i64,
}

/// Returns the new app in a document; `None` if the catalog already has the app or the document is wrong. A wrong
/// document is refused elsewhere.
pub fn new_app(db: &impl Database, id: &str, document: &str, line: i64) -> Result<Option<NewApp>> {
    let is_stored = db.query_first(sql::GET_STORED_APP, params![id])?.is_some();
    let (Some(app), Ok(document), false) = (AppId::parse(id), App::parse(document), is_stored) else {
        return Ok(None);
    };
    Ok(Some(NewApp { app, outbox_shards: document.outbox_shards.unwrap_or(shards::DEFAULT_COUNT), line }))
}

/// If `is_final`, claims each app at its first outbox; otherwise only asks whether each app could be claimed. Returns
/// the apps whose first outbox has stored another number of outboxes, each with its refusal.
///
/// # Errors
/// 503 if an outbox does not answer.
pub async fn claim(
    runtime: &impl ObjectCall,
    apps: impl IntoIterator<Item = NewApp>,
    is_final: bool,
) -> Result<Vec<(NewApp, ApiError)>> {
    let claim_one = async |new: NewApp| {
        let first = OutboxShard::new(new.app, 0);
        let claim = ClaimApp { outbox_shards: new.outbox_shards, is_final };
        let claimed = runtime.call(&first.address(), claim, TIMEOUT).await;
        claimed.map(|claimed| (new, claimed.outbox_shards)).map_err(|error| {
            log::warn("catalog", format_args!("{} was not claimed: {error}", first.object_name()));
            Failure::from(common::UNAVAILABLE)
        })
    };
    let claimed = try_each(apps, claim_one).await?;
    let others = claimed.into_iter().filter(|(new, count)| new.outbox_shards != *count);
    let refused = others.map(|(new, count)| {
        let app = new.app;
        let problem = format!("must be {count}, because app {app} already has that many outboxes");
        (new, FieldError::new("outbox_shards", problem).into())
    });
    Ok(refused.collect())
}
