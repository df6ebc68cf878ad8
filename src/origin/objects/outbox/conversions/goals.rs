//! Which goal a postback pays.

use super::{reservations::Reservation, rows::ConversionRow};
use crate::objects::outbox::terms::{self, Terms};
use contract::outbox::Conversion;
use domain::{
    conversions::terms::{GoalTerms, UNKNOWN_GOAL},
    model::api_error::common,
};
use platform::{database::Database, failure::Failure};

/// Resolves a postback's goal, and returns it with the revision of the terms that it comes from: the terms that pay the
/// click, else the current ones, since the goal may be newer than the click. A name that an earlier postback of the click
/// used keeps its meaning, and its goal stays known by the terms of that time.
pub fn resolve(
    db: &impl Database,
    rows: &[ConversionRow],
    reserved: &[Reservation],
    conversion: &Conversion,
    terms: &Terms,
) -> Result<(GoalTerms, i64), Failure> {
    let named = conversion.goal.as_deref();
    let name = named.unwrap_or_default();
    let converted = rows
        .iter()
        .find(|row| row.names.iter().any(|known| known == name));
    let mut pending = reserved
        .iter()
        .map(|reservation| &reservation.approval)
        .filter(|approval| approval.name() == name)
        .map(|approval| approval.goal.as_str());
    let known = converted.map(|row| row.goal.as_str()).or(pending.next());
    let revisions = [Some(&terms.paying), terms.current.as_ref()];
    let found = revisions.into_iter().flatten().find_map(|revision| {
        let goal = match known {
            Some(id) => revision.terms.goal_by_id(id),
            None => revision.terms.goal(named),
        };
        Some((goal?.clone(), revision.number))
    });
    if let Some(found) = found {
        return Ok(found);
    }
    if let Some(row) = converted
        && let Some(earlier) = terms::of_offer(db, &terms.offer, row.offer_terms)?
        && let Some(goal) = earlier.goal_by_id(&row.goal)
    {
        return Ok((goal.clone(), row.offer_terms));
    }
    if conversion.current.is_recent && conversion.current.offer.is_some() {
        Err(UNKNOWN_GOAL.into())
    } else {
        Err(common::UNAVAILABLE
            .with_message("goal is not known here yet")
            .into())
    }
}
