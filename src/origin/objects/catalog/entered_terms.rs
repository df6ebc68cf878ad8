//! Terms that the operator enters for a revision that the catalog has lost, so that clicks with this revision can be
//! paid.

use serde::Deserialize;
use serde_json::json;

use super::{
    Context,
    lasting::{self, Lasting},
    resource_tables::unknown,
    revisions, sql,
};
use contract::{
    catalog::{EnterTerms, Resource},
    operation::OperatorReply,
};
use domain::{
    catalog::offer::{OncePer, check_event_code, check_goal_count, check_window},
    conversions::terms::{AppTerms, GoalTerms, OfferTerms},
    model::{AdvertiserId, ApiError, CurrencyRate, Document, FieldError, GoalId, MicroUsd, SECOND_MS},
};
use platform::{Database, Result, database::json as as_json, params};

const TERMS_EXIST: ApiError =
    ApiError::new(409, "terms_exist", "the catalog has other terms of this revision, and terms never change");

/// The terms of an offer, as `GET …/terms` lists them.
#[derive(Deserialize)]
struct EnteredOffer {
    advertiser_id: AdvertiserId,
    conversion_window_days: u16,
    once_per: OncePer,
    /// In display order.
    goals: Vec<EnteredGoal>,
}

#[derive(Deserialize)]
struct EnteredGoal {
    id: GoalId,
    gl_val: Option<String>,
    payout_usd: MicroUsd,
}

impl Document for EnteredOffer {
    fn check(&self) -> Result<(), FieldError> {
        check_window(self.conversion_window_days)?;
        check_goal_count(self.goals.len())?;
        for (index, goal) in self.goals.iter().enumerate() {
            check_event_code(index, goal.gl_val.as_deref())?;
            if self.goals.iter().take(index).any(|earlier| earlier.id == goal.id) {
                return Err(FieldError::new(format!("goals[{index}].id"), "is used twice"));
            }
        }
        Ok(())
    }
}

impl From<EnteredOffer> for OfferTerms {
    fn from(entered: EnteredOffer) -> Self {
        let goal = |goal: EnteredGoal| GoalTerms {
            id: goal.id.as_str().to_owned(),
            gl_val: goal.gl_val,
            payout_micro_usd: goal.payout_usd.0,
        };
        Self {
            advertiser_id: entered.advertiser_id,
            conversion_window_days: entered.conversion_window_days,
            once_per: entered.once_per,
            goals: entered.goals.into_iter().map(goal).collect(),
        }
    }
}

#[derive(Deserialize)]
struct EnteredApp {
    currency: CurrencyRate,
}

impl Document for EnteredApp {
    fn check(&self) -> Result<(), FieldError> {
        domain::catalog::app::check_currency(&self.currency)
    }
}

/// Stores the terms of a lost revision. A retry changes nothing.
///
/// # Errors
/// `terms_exist` if the catalog has different terms for the revision; `not_found`; or an error in the document.
pub fn enter(db: &impl Database, context: &Context<'_>, command: &EnterTerms) -> Result<OperatorReply> {
    let revision = db.transaction(|| store(db, context, command))?;
    Ok(OperatorReply::ok(&json!({ "revision": revision })))
}

/// Like [`enter`], within the caller's transaction. Returns the revision.
pub fn store(db: &impl Database, context: &Context<'_>, command: &EnterTerms) -> Result<i64> {
    let now_ms = context.now_ms;
    let EnterTerms { resource, id, revision, body } = command;
    let (current, terms) = match resource {
        Resource::App => {
            let EnteredApp { currency } = Document::from_json(body)?;
            let current = db.query_first(sql::GET_STORED_APP, params![id.as_str()])?;
            let current = current.map(|row| revisions::in_force(&row, 4)).transpose()?;
            (current, as_json(&AppTerms { currency })?)
        }
        _ => {
            let terms: OfferTerms = EnteredOffer::from_json(body)?.into();
            let current = db.query_first(sql::GET_STORED_OFFER, params![id.as_str()])?;
            let current = current.map(|row| revisions::in_force(&row, 0)).transpose()?;
            (current, as_json(&terms)?)
        }
    };
    let current = current.ok_or_else(|| unknown(*resource, id))?.revision;
    // A revision's number is the UNIX time in seconds at which it was made, or the previous number plus one.
    let latest = current.max(now_ms.div_euclid(SECOND_MS));
    let revision = revision.parse().ok().filter(|number| (1..=latest).contains(number));
    let revision: i64 = revision.ok_or_else(|| {
        ApiError::from(FieldError::new(
            "revision",
            format!("must be the number of a revision: a whole number from 1 to {latest}"),
        ))
    })?;
    let kind = resource.singular();
    match db.query_first(sql::GET_TERMS, params![kind, id.as_str(), revision])? {
        Some(row) if row.text(1)? == terms => {}
        Some(_) => return Err(TERMS_EXIST.into()),
        None => {
            let row = params![kind, id.as_str(), revision, terms.as_str()];
            db.execute(sql::INSERT_TERMS, row)?;
            db.execute(sql::SUPERSEDE_TERMS, params![now_ms, kind, id.as_str(), revision])?;
            lasting::add(db, context, &Lasting::EnteredTerms(command.clone()))?;
        }
    }
    Ok(revision)
}
