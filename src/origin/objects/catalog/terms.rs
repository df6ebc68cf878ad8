//! Terms of offers and apps as immutable revisions, and the answers to outboxes that ask for them. An outbox asks once
//! for each revision and keeps it.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::{Context, answer, callback_sync, cap_sync, resource_tables::unknown, revisions::in_force, sql};
use crate::delivery::callback_settings;
use contract::{
    catalog::{GetAppTerms, GetOfferTerms, KnownApp, KnownOffer, LOST_TERMS, Resource},
    operation::OperatorReply,
};
use domain::{
    conversions::{
        reward::TERMS_KEPT_DAYS,
        terms::{CurrentApp, OfferTerms, TermsInForce},
    },
    model::{DAY_MS, FieldError, MicroUsd, OfferId, PublisherId, SECOND_MS, revision},
    offers::test_offers::{self, TestOffer},
};
use platform::{Database, DbResult, Result, database::json as as_json, log, params};

const SUPERSEDED_MS: i64 = TERMS_KEPT_DAYS * DAY_MS;
/// Maximum superseded revisions that one sweep deletes.
const SWEEP: i64 = 5_000;

/// Stores the terms of an offer or an app during its PUT, and returns the number of the current revision. Terms equal
/// to those of revision `last` make no new revision.
pub fn seal(
    db: &impl Database,
    now_ms: i64,
    resource: Resource,
    id: &str,
    last: i64,
    terms: &impl Serialize,
) -> Result<i64> {
    let (kind, terms) = (resource.singular(), as_json(terms)?);
    let stored = db.query_first(sql::GET_TERMS, params![kind, id, last])?;
    if stored.is_some_and(|row| row.text(1) == Ok(&terms)) {
        return Ok(last);
    }
    let revision = revision::after(last, now_ms.div_euclid(SECOND_MS));
    db.execute(sql::SUPERSEDE_TERMS, params![now_ms, kind, id, last])?;
    db.execute(sql::INSERT_TERMS, params![kind, id, revision, terms])?;
    Ok(revision)
}

/// Returns the `terms_since` to store with a PUT: the document's time, or else the stored time.
///
/// # Errors
/// The document's time is in the future, or it is below the stored time, so that the terms of some clicks would change
/// a second time.
pub fn raised_since(now_ms: i64, put: Option<i64>, stored: i64) -> Result<Option<i64>, FieldError> {
    match put {
        None => Ok((stored > 0).then_some(stored)),
        Some(since) if since < stored => Err(FieldError::new(
            "terms_since",
            format!("must not be less than {stored}, because the time can only be moved later"),
        )),
        Some(since) if since > now_ms.div_euclid(SECOND_MS) => {
            Err(FieldError::new("terms_since", "must be UNIX seconds that are not in the future"))
        }
        Some(since) => Ok(Some(since)),
    }
}

/// Maximum revisions in the answer to [`list`].
const LISTED: u32 = 100;

/// Lists the stored revisions of an offer's terms, newest first.
///
/// # Errors
/// 404 if there is no such offer.
pub fn list(db: &impl Database, offer_id: &OfferId) -> Result<OperatorReply> {
    let id = offer_id.as_str();
    let current = db.query_first(sql::GET_CURRENT_OFFER, params![id])?.ok_or_else(|| unknown(Resource::Offer, id))?;
    let TermsInForce { revision, since } = in_force(&current, 1)?;
    let newest = params![Resource::Offer.singular(), id, LISTED];
    let revisions = db.read_all(sql::LIST_TERMS, newest, |row| {
        let OfferTerms { advertiser_id, conversion_window_days, once_per, goals } = row.json(1)?;
        let goals: Vec<_> = goals
            .into_iter()
            .map(|goal| {
                let payout = MicroUsd(goal.payout_micro_usd);
                json!({ "id": goal.id, "gl_val": goal.gl_val, "payout_usd": payout })
            })
            .collect();
        let superseded_ms = row.optional_integer(2)?;
        Ok(json!({
            "revision": row.integer(0)?,
            "superseded_at": superseded_ms.map(|ms| ms.div_euclid(SECOND_MS)),
            "terms": {
                "advertiser_id": advertiser_id, "conversion_window_days": conversion_window_days,
                "once_per": once_per, "goals": goals,
            },
        }))
    })?;
    Ok(OperatorReply::ok(&json!({
        "current": revision, "terms_since": (since > 0).then_some(since), "revisions": revisions,
    })))
}

/// Answers an outbox that asks for an offer's terms.
///
/// # Errors
/// 404 if there is no such offer.
pub fn of_offer(db: &impl Database, context: &Context<'_>, question: &GetOfferTerms) -> Result<OperatorReply> {
    let id = question.offer_id.as_str();
    if let Some((terms, current)) = test_offers::find(id).and_then(TestOffer::terms) {
        return answer(&KnownOffer { terms, current });
    }
    let row = db.query_first(sql::GET_CURRENT_OFFER, params![id])?.ok_or_else(|| unknown(Resource::Offer, id))?;
    let terms = revision_of(db, Resource::Offer, id, question.revision)?;
    if let Some((app, shard)) = question.outbox {
        // The outbox is recorded before it can pay, so that it receives each change of the cap.
        db.transaction(|| cap_sync::record_outbox(db, context, id, app, shard))?;
    }
    answer(&KnownOffer { terms, current: cap_sync::current(&row)? })
}

/// Answers an outbox that asks for its app's terms. From then on, the catalog pushes the app's callback settings to the
/// outbox.
///
/// # Errors
/// 404 if there is no such app.
pub fn of_app(db: &impl Database, context: &Context<'_>, question: &GetAppTerms) -> Result<OperatorReply> {
    let id = question.app_id.to_string();
    let row = db
        .query_first(sql::GET_CURRENT_APP, params![id.as_str(), question.shard])?
        .ok_or_else(|| unknown(Resource::App, &id))?;
    let callback = callback_settings::read(&row, 4, 9)?;
    let known = KnownApp {
        terms: revision_of(db, Resource::App, &id, question.revision)?,
        current: CurrentApp {
            revision: row.integer(0)?,
            terms: in_force(&row, 1)?,
            publisher_id: row.parse(3, PublisherId::parse)?,
            callback_revision: callback.revision,
            outbox_shards: row.number(7)?,
            max_rewards_per_user_day: row.optional_number(8)?,
        },
        callback,
    };
    if !row.boolean(6)? {
        db.transaction(|| callback_sync::record_outbox(db, context, question.app_id, question.shard))?;
    }
    answer(&known)
}

/// Returns the terms of a revision.
///
/// # Errors
/// [`LOST_TERMS`] if the revision is missing. No other terms were promised for the click, so no other terms may pay.
fn revision_of<T: DeserializeOwned>(db: &impl Database, resource: Resource, id: &str, revision: i64) -> Result<T> {
    let kind = resource.singular();
    match db.query_first(sql::GET_TERMS, params![kind, id, revision])? {
        Some(row) => Ok(row.json(1)?),
        None => {
            log::error("catalog", format_args!("revision {revision} of the terms of {kind} {id} is lost"));
            Err(LOST_TERMS.into())
        }
    }
}

/// Deletes terms that no click needs any more.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::SWEEP_TERMS, params![now_ms.saturating_sub(SUPERSEDED_MS), SWEEP])
}
