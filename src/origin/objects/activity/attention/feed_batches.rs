//! Applies the batches of sources. A batch has states, not differences, so a batch that arrives twice, or after a later
//! batch, changes nothing.

use contract::{
    attention::{AttentionBatch, AttentionItem, DeclinedItems, Kind},
    outbox::EndpointState,
};
use domain::model::AppId;
use platform::{Database, DbResult, database::json, params};

use super::{isolates, sql};
use crate::objects::activity::alarms::causes::Noted;

/// Maximum listed items of the limited kinds. A query that matches no item reads them all, which takes 20 ms.
pub const MAX_ITEMS: i64 = 10_000;

/// Applies a batch, unless this batch or a later one of the same source was applied before. At most `most` items of the
/// limited kinds are listed.
pub fn apply(db: &impl Database, now_ms: i64, batch: &AttentionBatch, most: i64) -> DbResult<DeclinedItems> {
    let source = batch.source.as_str();
    let (last, mut is_incomplete) = match db.query_first(sql::GET_SOURCE, params![source])? {
        Some(row) => (row.integer(0)?, row.boolean(1)?),
        None => (0, false),
    };
    let rows = json(&open_rows(batch))?;
    if batch.sequence > last {
        // If the batch numbers do not match, this object or the source was lost or restored.
        is_incomplete |= last < batch.confirmed || last > batch.before;
        is_incomplete &= !batch.resets;
        db.transaction(|| {
            let noted = Noted { now_ms, publisher: batch.publisher.as_ref() };
            put_source(db, batch, is_incomplete)?;
            isolates::put_rewards(db, batch)?;
            put_counts(db, noted, batch, last < batch.confirmed)?;
            put_items(db, batch, &rows, most)?;
            match batch.app {
                Some(app) => put_endpoints(db, noted, batch, app),
                None => Ok(()),
            }
        })?;
    }
    // A resent batch gets the same answer, because the first answer may have been lost.
    Ok(DeclinedItems {
        declined: db.read_all(sql::NOT_LISTED, params![source, rows], |row| row.number(0))?,
        is_incomplete,
    })
}

/// An item as statements read it: kind, subject, since, reason, payout, and its place in the batch.
type OpenRow<'r> = (u8, &'r str, i64, &'r str, Option<&'r str>, usize);

/// The open items of limited kinds.
fn open_rows(batch: &AttentionBatch) -> Vec<OpenRow<'_>> {
    let is_row = |item: &AttentionItem| item.is_open && item.kind.is_limited();
    let items = batch.items.iter().enumerate();
    items
        .filter(|(_, item)| is_row(item))
        .map(|(place, item)| {
            (
                item.kind.number(),
                item.subject.as_str(),
                item.since_ms,
                item.reason.as_str(),
                item.payout.as_deref(),
                place,
            )
        })
        .collect()
}

fn put_source(db: &impl Database, batch: &AttentionBatch, is_incomplete: bool) -> DbResult {
    db.execute(
        sql::PUT_SOURCE,
        params![
            batch.source.as_str(),
            batch.sequence,
            batch.at_ms,
            batch.owes_since_ms,
            batch.next_by_ms,
            is_incomplete
        ],
    )
}

/// Stores the counts of the source, and raises an alarm if more of the source's rewards were given up. If this object
/// was lost or restored (`was_lost`), its counts are outdated, so no alarm is raised.
fn put_counts(db: &impl Database, noted: Noted<'_>, batch: &AttentionBatch, was_lost: bool) -> DbResult {
    let source = batch.source.as_str();
    let dead = batch.counts.iter().find(|(kind, _)| *kind == Kind::Dead);
    if let Some((_, dead)) = dead.filter(|_| !was_lost) {
        let before = db.query_integer(sql::COUNT_DEAD, params![source])?;
        noted.given_up(db, before.unwrap_or(0), *dead)?;
    }
    let counts: Vec<_> = batch.counts.iter().map(|(kind, items)| (kind.number(), items)).collect();
    let counts = json(&counts)?;
    for sql in [sql::END_COUNTS, sql::PUT_COUNTS] {
        db.execute(sql, params![source, counts.as_str()])?;
    }
    Ok(())
}

fn put_items(db: &impl Database, batch: &AttentionBatch, open: &str, most: i64) -> DbResult {
    let source = batch.source.as_str();
    if batch.resets {
        db.execute(sql::VOID_ITEMS, params![source])?;
    }
    let closed: Vec<_> = batch
        .items
        .iter()
        .filter(|item| !item.is_open && item.kind.is_limited())
        .map(|item| (item.kind.number(), item.subject.as_str()))
        .collect();
    if !closed.is_empty() {
        db.execute(sql::CLOSE_ITEMS, params![source, json(&closed)?])?;
    }
    if open != "[]" {
        let listed = db.query_integer(sql::COUNT_LIMITED, &[])?.unwrap_or(0);
        let room = most.saturating_sub(listed).max(0);
        db.execute(sql::RENEW_ITEMS, params![source, open])?;
        db.execute(
            sql::ADD_ITEMS,
            params![
                source,
                open,
                batch.app.map(AppId::number),
                batch.publisher.as_ref().map(|publisher| publisher.as_str()),
                room
            ],
        )?;
    }
    Ok(())
}

/// Returns the worst state of an app's endpoint over all outboxes.
fn worst_endpoint(db: &impl Database, app: AppId) -> DbResult<EndpointState> {
    let kind = db.query_integer(sql::WORST_ENDPOINT, params![app.number()])?;
    let is = |of: Kind| kind == Some(of.number().into());
    Ok(match () {
        () if is(Kind::Disabled) => EndpointState::Disabled,
        () if is(Kind::Failing) => EndpointState::Failing,
        () => EndpointState::Healthy,
    })
}

/// Stores the state of the app's endpoint at this outbox, and updates the app's item.
fn put_endpoints(db: &impl Database, noted: Noted<'_>, batch: &AttentionBatch, app: AppId) -> DbResult {
    let source = batch.source.as_str();
    let is_endpoint = |item: &&AttentionItem| matches!(item.kind, Kind::Disabled | Kind::Failing);
    let endpoints: Vec<_> = batch.items.iter().filter(is_endpoint).collect();
    if endpoints.is_empty() && !batch.resets {
        return Ok(());
    }
    let before = worst_endpoint(db, app)?;
    if batch.resets {
        db.execute(sql::VOID_ENDPOINTS, params![app.number(), source])?;
    }
    for item in &endpoints {
        let kind = item.kind.number();
        if item.is_open {
            let publisher = batch.publisher.as_ref().map(|publisher| publisher.as_str());
            db.execute(
                sql::PUT_ENDPOINT,
                params![app.number(), source, kind, publisher, item.since_ms, item.reason.as_str()],
            )?;
        } else {
            db.execute(sql::END_ENDPOINT, params![app.number(), source, kind])?;
        }
    }
    let of_app = format!("app-{app}");
    for sql in [sql::END_APP, sql::PUT_APP] {
        db.execute(sql, params![of_app.as_str(), app.number()])?;
    }
    let since_ms = endpoints.iter().map(|item| item.since_ms).max();
    let states = (before, worst_endpoint(db, app)?);
    noted.endpoint(db, app, states, since_ms.unwrap_or(batch.at_ms))
}
