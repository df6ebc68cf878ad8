//! Checks and applies the staged lines of an import in steps. The catalog answers other callers between two steps.
//!
//! An import is all or nothing: every line is checked before one is written. Then the import is decided, and all its
//! lines are applied. If the process ends, an alarm of the next process applies the rest. No checked line can become
//! wrong in between, because a PUT that could cause this is refused until the import is done
//! ([`import_claims`](super::import_claims)).

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{
    Context,
    app_claims::{self, NewApp},
    import::{self, kind_of},
    listing_room,
    resource_tables::{Change, WriteSource},
    resources, revisions, sql,
};
use contract::catalog::Resource;
use domain::{
    catalog::Offer,
    model::{ApiError, Document, GoalId, MicroUsd, lines::LineErrors},
};
use platform::{Database, DbResult, Failure, Result, Row, log, params};

/// Maximum lines of a step. On workerd an offer's line takes about a millisecond.
const LINES: i64 = 20;
/// A step also ends at this many bytes of documents, because a document may have 1 MiB.
const BYTES: usize = 256 << 10;
/// Maximum staged lines or goals that one step deletes.
const DISCARDED: i64 = 500;

/// Returns the number of a new import.
pub fn begin(db: &impl Database) -> DbResult<i64> {
    let import = revisions::get(db, revisions::IMPORT)?.unwrap_or_default().saturating_add(1);
    revisions::set(db, revisions::IMPORT, import)?;
    Ok(import)
}

/// Marks an import as decided: from now on, all of its lines will be applied, even after a restart.
pub fn decide(db: &impl Database, import: i64) -> DbResult {
    revisions::set(db, revisions::DECIDED_IMPORT, import)
}

/// The progress of a check.
#[derive(Debug, Default)]
pub struct Check {
    /// The kind's code and the line number of the last checked line.
    last: (i64, i64),
    /// The number of checked lines.
    pub lines: u64,
    /// The number of lines with a new resource.
    new: u64,
    /// The number of lines that change a stored resource.
    changed: u64,
    /// The first changed payouts, at most `MAX_PAYOUTS`.
    payouts: Vec<PayoutChange>,
    /// The bytes by which the listing grows.
    growth: i64,
    /// The new apps.
    pub new_apps: Vec<NewApp>,
    pub errors: LineErrors,
}

impl Check {
    /// Returns the answer to a dry run.
    pub fn would_import(&self) -> Json {
        json!({
            "would_import": self.lines, "new": self.new, "changed": self.changed, "payouts": self.payouts,
        })
    }
}

/// Maximum changed payouts that a check lists.
const MAX_PAYOUTS: usize = 200;

/// A payout of a goal that an import changes.
#[derive(Debug, Serialize)]
pub struct PayoutChange {
    offer_id: String,
    goal_id: GoalId,
    before_usd: MicroUsd,
    after_usd: MicroUsd,
}

/// Checks the next lines against the stored resources and the import's other lines. Returns whether there were any
/// lines.
///
/// # Errors
/// The database failed. Wrong lines are in `check`.
pub fn check(db: &impl Database, context: &Context<'_>, import: i64, check: &mut Check) -> Result<bool> {
    let rows = next_lines(db, import, check.last)?;
    for row in &rows {
        check.last = (row.integer(0)?, row.integer(1)?);
        check.lines += 1;
        let put = put(db, context, WriteSource::Check { import }, row).and_then(|(change, more)| {
            let used = listing_room::used(db)?.saturating_add(check.growth);
            listing_room::require(used, more).map_err(ApiError::from)?;
            Ok((change, more))
        });
        match put {
            Ok((change, more)) => {
                check.growth += more;
                check.new += u64::from(change == Change::New);
                check.changed += u64::from(change == Change::Changed);
                if change == Change::Changed && check.payouts.len() < MAX_PAYOUTS {
                    check.payouts.extend(payout_changes(db, context, row)?);
                    check.payouts.truncate(MAX_PAYOUTS);
                }
                check.new_apps.extend(new_app(db, context, row)?);
            }
            Err(Failure::Refused(refusal)) => check.errors.add(check.last.1, None, refusal.message),
            Err(failure) => return Err(failure),
        }
    }
    Ok(!rows.is_empty())
}

/// Applies and counts the next lines of the decided import. Returns whether there were any lines; if not, the import is
/// done.
///
/// # Errors
/// The database failed. The step may be retried.
pub fn apply(db: &impl Database, context: &Context<'_>, import: i64, applied: &mut u64) -> Result<bool> {
    let (count, has_lines) = db.transaction(|| {
        let rows = next_lines(db, import, Default::default())?;
        let mut count = 0;
        for row in &rows {
            match put(db, context, WriteSource::Import, row) {
                Ok(_) => count += 1,
                // A checked line is refused here only if the code or a key has changed since the check. Such a line
                // must not hold up the other lines.
                Err(Failure::Refused(refusal)) => log::error(
                    "catalog",
                    format_args!("line {} of an import was not applied: {}", row.integer(1)?, refusal.message),
                ),
                Err(failure) => return Err(failure),
            }
            db.execute(sql::DELETE_LINE, params![import, row.integer(0)?, row.integer(1)?])?;
        }
        if rows.is_empty() {
            revisions::clear(db, revisions::DECIDED_IMPORT)?;
        }
        Ok((count, !rows.is_empty()))
    })?;
    *applied += count;
    Ok(has_lines)
}

/// Returns the lines of the next step, which follow this kind and line. The list is empty only after the last line.
fn next_lines(db: &impl Database, import: i64, (kind, line): (i64, i64)) -> DbResult<Vec<Row>> {
    let mut rows = db.query(sql::LIST_STAGED, params![import, kind, line, LINES])?;
    let mut bytes = 0;
    for (end, row) in (1..).zip(&rows) {
        bytes += row.blob(3)?.len();
        if bytes >= BYTES {
            rows.truncate(end);
            break;
        }
    }
    Ok(rows)
}

/// Returns the app of a line, if it is new.
fn new_app(db: &impl Database, context: &Context<'_>, row: &Row) -> Result<Option<NewApp>> {
    if row.decode(0, kind_of)? != Resource::App {
        return Ok(None);
    }
    let document = import::staged_document(context, Resource::App, row.text(2)?, row.blob(3)?)?;
    app_claims::new_app(db, row.text(2)?, &document, row.integer(1)?)
}

/// Returns the goals' payouts that differ between a stored offer and its line.
fn payout_changes(db: &impl Database, context: &Context<'_>, row: &Row) -> Result<Vec<PayoutChange>> {
    let id = row.text(2)?;
    if row.decode(0, kind_of)? != Resource::Offer {
        return Ok(Vec::new());
    }
    let stored = db.read_first(sql::GET_OFFER_DOCUMENT, params![id], |row| row.json::<Offer>(0))?;
    let document = import::staged_document(context, Resource::Offer, id, row.blob(3)?)?;
    let goals = Offer::from_json(&document)?.goals;
    let changes = stored.into_iter().flat_map(|stored| stored.goals).filter_map(|before| {
        let after = goals.iter().find(|after| after.id == before.id)?;
        (after.payout_usd != before.payout_usd).then(|| PayoutChange {
            offer_id: id.to_owned(),
            goal_id: before.id,
            before_usd: before.payout_usd,
            after_usd: after.payout_usd,
        })
    });
    Ok(changes.collect())
}

fn put(db: &impl Database, context: &Context<'_>, source: WriteSource, row: &Row) -> Result<(Change, i64)> {
    let resource = row.decode(0, kind_of)?;
    let (id, staged) = (row.text(2)?, row.blob(3)?);
    let document = import::staged_document(context, resource, id, staged)?;
    resources::put(db, context, source, resource, id, &document)
}

/// Deletes the next staged lines and goals of imports `first` to `last`. Returns whether there were any.
pub fn discard(db: &impl Database, first: i64, last: i64) -> Result<bool> {
    let mut has_rows = false;
    for statement in [sql::DISCARD_LINES, sql::DISCARD_GOALS] {
        has_rows |= !db.query(statement, params![first, last, DISCARDED])?.is_empty();
    }
    Ok(has_rows)
}
