//! Applies the reports of sources. A report says how things are and not how they changed, so one that comes twice, or comes
//! after a later one, changes nothing.

use contract::attention::{AttentionBatch, AttentionItem, Declined, Kind};
use domain::model::AppId;
use platform::{
    database::{Database, DatabaseError, json},
    params,
};

use super::{isolates, sql};

/// Items of the limited kinds that are listed at most. A list that matches none of them reads all in 20 ms.
pub const MAX_ITEMS: i64 = 10_000;

/// Applies a report, unless this one or a later one of the same source was applied before. At most `most` items of the limited
/// kinds are listed.
pub fn apply(db: &impl Database, report: &AttentionBatch, most: i64) -> Result<Declined, DatabaseError> {
    let source = report.source.as_str();
    let (last, mut is_incomplete) = match db.query_first(sql::GET_SOURCE, params![source])? {
        Some(row) => (row.integer(0)?, row.boolean(1)?),
        None => (0, false),
    };
    let rows = json(&open_rows(report))?;
    if report.sequence > last {
        // This object was lost or restored, or the source was.
        is_incomplete |= last < report.confirmed || last > report.before;
        is_incomplete &= !report.resets;
        db.transaction(|| {
            put_source(db, report, is_incomplete)?;
            isolates::put_rewards(db, report)?;
            put_items(db, report, &rows, most)
        })?;
    }
    // Of a repeat, too: the answer to the first may have been lost.
    let declined = db.query(sql::NOT_LISTED, params![source, rows])?;
    Ok(Declined {
        declined: declined
            .iter()
            .map(|row| row.number(0))
            .collect::<Result<_, _>>()?,
        is_incomplete,
    })
}

/// An item as statements read it: kind, subject, since, reason, payout, and its place in the report.
type OpenRow<'r> = (u8, &'r str, i64, &'r str, Option<&'r str>, usize);

/// The open items of limited kinds.
fn open_rows(report: &AttentionBatch) -> Vec<OpenRow<'_>> {
    let is_row = |item: &AttentionItem| item.is_open && item.kind.is_limited();
    let items = report.items.iter().enumerate();
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

fn put_source(db: &impl Database, report: &AttentionBatch, is_incomplete: bool) -> Result<(), DatabaseError> {
    db.execute(
        sql::PUT_SOURCE,
        params![
            report.source.as_str(),
            report.sequence,
            report.at_ms,
            report.owes_since_ms,
            report.next_by_ms,
            is_incomplete
        ],
    )
}

fn put_items(
    db: &impl Database,
    report: &AttentionBatch,
    open: &str,
    most: i64,
) -> Result<(), DatabaseError> {
    let source = report.source.as_str();
    if report.resets {
        db.execute(sql::VOID_ITEMS, params![source])?;
    }
    let counts: Vec<_> = report
        .counts
        .iter()
        .map(|(kind, items)| (kind.number(), items))
        .collect();
    let counts = json(&counts)?;
    for sql in [sql::END_COUNTS, sql::PUT_COUNTS] {
        db.execute(sql, params![source, counts.as_str()])?;
    }
    let closed: Vec<_> = report
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
                report.app.map(AppId::number),
                report.publisher.as_ref().map(|publisher| publisher.as_str()),
                room
            ],
        )?;
    }
    match report.app {
        Some(app) => put_endpoints(db, report, app),
        None => Ok(()),
    }
}

/// Stores the state of the app's endpoint with this outbox, and makes the app's item anew.
fn put_endpoints(db: &impl Database, report: &AttentionBatch, app: AppId) -> Result<(), DatabaseError> {
    let source = report.source.as_str();
    let is_endpoint = |item: &&AttentionItem| matches!(item.kind, Kind::Disabled | Kind::Failing);
    let endpoints: Vec<_> = report.items.iter().filter(is_endpoint).collect();
    if endpoints.is_empty() && !report.resets {
        return Ok(());
    }
    if report.resets {
        db.execute(sql::VOID_ENDPOINTS, params![app.number(), source])?;
    }
    for item in endpoints {
        let kind = u32::from(item.kind.number());
        if item.is_open {
            let publisher = report.publisher.as_ref().map(|publisher| publisher.as_str());
            db.execute(
                sql::PUT_ENDPOINT,
                params![
                    app.number(),
                    source,
                    kind,
                    publisher,
                    item.since_ms,
                    item.reason.as_str()
                ],
            )?;
        } else {
            db.execute(sql::END_ENDPOINT, params![app.number(), source, kind])?;
        }
    }
    let of_app = format!("app-{app}");
    for sql in [sql::END_APP, sql::PUT_APP] {
        db.execute(sql, params![of_app.as_str(), app.number()])?;
    }
    Ok(())
}
