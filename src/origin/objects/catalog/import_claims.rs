//! The claims of an import: the resources and goals in its staged lines. The import's check counts them as stored, and
//! a PUT that conflicts with them is refused while the import is checked and applied.

use super::{Context, revisions, sql};
use contract::catalog::Resource;
use domain::model::{GoalId, OfferId, common};
use platform::{Database, DbResult, Failure, Result, params};

/// Returns the import that is decided but not yet fully applied, if there is one.
pub fn decided(db: &impl Database) -> DbResult<Option<i64>> {
    revisions::get(db, revisions::DECIDED_IMPORT)
}

/// Refuses a PUT of a resource that a line of the current import is about to write.
///
/// # Errors
/// 503: the PUT may be retried once the import is done.
pub fn refuse_claimed(db: &impl Database, context: &Context<'_>, resource: Resource, id: &str) -> Result {
    let Some(import) = in_turn(db, context)? else {
        return Ok(());
    };
    match staged_line(db, import, resource, id)? {
        Some(_) => Err(busy(resource.singular(), id)),
        None => Ok(()),
    }
}

/// Refuses a PUT of an offer with a goal that the current import gives to another offer.
///
/// # Errors
/// 503: the PUT may be retried once the import is done.
pub fn refuse_claimed_goal(db: &impl Database, context: &Context<'_>, goal: &GoalId, offer: &OfferId) -> Result {
    let Some(import) = in_turn(db, context)? else {
        return Ok(());
    };
    match owner_of_goal(db, import, goal)? {
        Some(owner) if owner != offer.as_str() => Err(busy("goal", goal.as_str())),
        _ => Ok(()),
    }
}

/// Returns the import that is being checked or applied. A decided import takes precedence, even after a restart.
/// Changes that are replayed after a restore conflict with no import.
fn in_turn(db: &impl Database, context: &Context<'_>) -> DbResult<Option<i64>> {
    match context.is_repeat {
        true => Ok(None),
        false => Ok(decided(db)?.or(context.import)),
    }
}

fn busy(kind: &str, id: &str) -> Failure {
    let message = format!("an import with the {kind} {id} is being applied; repeat the PUT once it is done");
    common::UNAVAILABLE.with_message(message).into()
}

/// Drops a decided import's line for a resource, because a restore replays later changes of the resource.
pub fn drop_line(db: &impl Database, resource: Resource, id: &str) -> DbResult {
    match decided(db)? {
        Some(import) => db.execute(sql::DROP_LINE, params![import, resource as i64, id]),
        None => Ok(()),
    }
}

/// Returns the line number of the staged line that contains a resource.
pub fn staged_line(db: &impl Database, import: i64, resource: Resource, id: &str) -> DbResult<Option<i64>> {
    db.query_integer(sql::GET_STAGED_LINE, params![import, resource as i64, id])
}

/// Returns the first offer in an import's lines that contains the goal.
pub fn owner_of_goal(db: &impl Database, import: i64, goal: &GoalId) -> DbResult<Option<String>> {
    let parameters = params![import, goal.as_str()];
    db.read_first(sql::GET_STAGED_GOAL, parameters, |row| row.text(0).map(str::to_owned))
}
