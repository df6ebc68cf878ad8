//! Finds the goal that a postback pays, the terms that contain the goal, and the advertiser that may report the goal.

use super::{reservations::Reservation, rows::ConversionRow};
use crate::objects::outbox::{
    approval::Approval,
    terms::{self, Revision, Terms},
};
use contract::outbox::Conversion;
use domain::{
    conversions::{
        state::State,
        terms::{GoalTerms, UNKNOWN_GOAL},
        token::INVALID_TOKEN,
    },
    model::{AdvertiserId, common},
};
use platform::{Database, Result};

/// The message for a goal that may be newer than the terms that the outbox and the edge's snapshot have.
pub const NOT_KNOWN_YET: &str = "goal cannot be checked yet; send the postback again";

/// The goal of a postback, and the stored data of its conversion.
pub struct ResolvedGoal {
    pub goal: GoalTerms,
    /// The terms that have the goal: the terms that pay the click or, for a goal that was added later, the current
    /// terms. They decide the window, and how often a user is paid.
    pub terms: Revision,
    pub row: Option<ConversionRow>,
    /// An approval of the goal that waits for the cap.
    pub reserved: Option<Reservation>,
    /// The advertiser that may report the goal: the advertiser of the terms or, for an accepted conversion, the
    /// advertiser whose postback was accepted.
    pub owner: AdvertiserId,
}

impl ResolvedGoal {
    /// Returns the approval that pays the goal. The caller adds the claim on the `txn` and the key in `rewarded`.
    pub fn approval(&self, conversion: &Conversion, terms: &Terms) -> Approval {
        let goal = self.goal.clone();
        Approval {
            conversion: conversion.clone(),
            advertiser: self.owner.clone(),
            offer: terms.offer.clone(),
            goal_value: goal.gl_val,
            payout_micro_usd: goal.payout_micro_usd,
            offer_terms: self.terms.number,
            superseded: terms.superseded,
            uncapped: false,
            currency: terms.currency.clone(),
            txn: None,
            rewarded: None,
            goal: goal.id,
        }
    }
}

/// Resolves the goal of a postback or of an action.
///
/// # Errors
/// `invalid_token` if the goal belongs to another advertiser; `unknown_goal`; `unavailable` while the goal may be too
/// new for the edge's snapshot.
pub fn resolve(
    db: &impl Database,
    rows: Vec<ConversionRow>,
    reserved: Vec<Reservation>,
    conversion: &Conversion,
    terms: &Terms,
) -> Result<ResolvedGoal> {
    let found = find(db, &rows, &reserved, conversion, terms)?;
    let revisions = [Some(&terms.paying), terms.current.as_ref()];
    let is_sender = |advertiser: &AdvertiserId| {
        let sender = conversion.advertiser.as_ref();
        sender.is_none_or(|sender| sender == advertiser)
    };
    let Some((goal, terms)) = found else {
        // Another advertiser must not learn which goals exist.
        let mut advertisers = revisions.iter().flatten().map(|known| &known.terms.advertiser_id);
        return Err(if !advertisers.any(is_sender) {
            INVALID_TOKEN.into()
        } else if terms.is_newest {
            UNKNOWN_GOAL.into()
        } else {
            common::UNAVAILABLE.with_message(NOT_KNOWN_YET).into()
        });
    };
    let row = rows.into_iter().find(|row| row.goal == goal.id);
    let reserved = reserved.into_iter().find(|reservation| reservation.approval.goal == goal.id);
    let accepted_from = match (&row, &reserved) {
        (_, Some(reservation)) => Some(&reservation.approval.advertiser),
        (Some(row), _) if !matches!(row.state, State::Refused(_)) => Some(&row.advertiser),
        _ => None,
    };
    let owner = accepted_from.unwrap_or(&terms.terms.advertiser_id).clone();
    if !is_sender(&owner) {
        return Err(INVALID_TOKEN.into());
    }
    Ok(ResolvedGoal { goal, terms, row, reserved, owner })
}

/// Finds the goal and its terms. A name that an earlier postback of the click used keeps its meaning: it still names
/// the same goal, even if only the terms of the earlier postback have this goal.
fn find(
    db: &impl Database,
    rows: &[ConversionRow],
    reserved: &[Reservation],
    conversion: &Conversion,
    terms: &Terms,
) -> Result<Option<(GoalTerms, Revision)>> {
    let named = conversion.goal.as_deref();
    let name = named.unwrap_or_default();
    let converted = rows.iter().find(|row| row.has_name(name));
    let mut waiting = reserved
        .iter()
        .map(|reservation| &reservation.approval)
        .filter(|approval| approval.name() == name)
        .map(|approval| approval.goal.as_str());
    let known = converted.map(|row| row.goal.as_str()).or(waiting.next());
    let revisions = || [Some(&terms.paying), terms.current.as_ref()].into_iter().flatten();
    let exact = revisions().find_map(|revision| {
        let goal = match known {
            Some(id) => revision.terms.goal_by_id(id),
            None => revision.terms.goal(named),
        };
        Some(promised(terms, goal?, revision))
    });
    if exact.is_some() {
        return Ok(exact);
    }
    if let Some(row) = converted {
        let earlier = terms::of_offer(db, &terms.offer, row.offer_terms)?;
        return Ok(earlier.and_then(|earlier| {
            let goal = earlier.goal_by_id(&row.goal)?.clone();
            let number = row.offer_terms;
            Some((goal, Revision { number, terms: earlier }))
        }));
    }
    // Names match regardless of case if only one goal matches.
    let mut alike = revisions().flat_map(|revision| {
        let goals = revision.terms.goals.iter();
        goals.filter(|goal| goal.is_alike(name)).map(move |goal| (goal, revision))
    });
    let first = alike.next();
    let first = first.filter(|(goal, _)| alike.all(|(other, _)| other.id == goal.id));
    Ok(first.map(|(goal, revision)| promised(terms, goal, revision)))
}

/// Returns a goal as the click's terms promised it, perhaps under another name. A goal that these terms lack is
/// returned as found.
fn promised(terms: &Terms, found: &GoalTerms, revision: &Revision) -> (GoalTerms, Revision) {
    match terms.paying.terms.goal_by_id(&found.id) {
        Some(goal) => (goal.clone(), terms.paying.clone()),
        None => (found.clone(), revision.clone()),
    }
}
