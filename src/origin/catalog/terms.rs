//! The terms that an app's outbox requests before it decides a conversion: publisher, currency, callback settings, and
//! the offers' payouts. They are read from the tables and never from a snapshot (docs/ARCHITECTURE.md, "Snapshots").

use std::collections::BTreeMap;

use super::{callback_sync::queue, revisions, sql};
use crate::callback_settings;
use contract::{
    catalog::{GoalTerms, OfferTerms, Terms, UNKNOWN_RESOURCE},
    operation::Reply,
};
use domain::{
    catalog::app::App,
    model::{AdvertiserId, OfferId},
};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
};

/// Returns the current terms of an app, or 204 if nothing has changed since the revision `since`: an outbox asks
/// several hundred times a second, and reading and sending the terms would be most of a conversion's cost. The first
/// request of an outbox records that the app has one.
pub fn current(
    db: &impl Database,
    app_id: &str,
    offers: &[String],
    since: Option<i64>,
) -> Result<Reply, Failure> {
    let change = revisions::last(db)?;
    if since == Some(change) {
        return Ok(Reply::no_content());
    }
    let row = db
        .query_first(sql::GET_APP_TERMS, params![app_id])?
        .ok_or_else(|| UNKNOWN_RESOURCE.with_message(format!("there is no app {app_id}")))?;
    let app: App = row.json(0).map_err(|error| error.of("app", app_id))?;
    let mut terms = Terms {
        change,
        publisher_id: app.publisher_id,
        currency: app.currency,
        callback: callback_settings::read(&row, 1)?,
        offers: BTreeMap::new(),
    };
    for offer in offers.iter().filter_map(|id| OfferId::parse(id)) {
        let found = offer_terms(db, offer.as_str());
        if let Some(offer_terms) = found.map_err(|error| error.of("offer", offer.as_str()))? {
            terms.offers.insert(offer, offer_terms);
        }
    }
    if !row.boolean(3)? {
        queue::record_outbox(db, app_id)?;
    }
    let body = serde_json::to_string(&terms).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(Reply { status: 200, body })
}

fn offer_terms(db: &impl Database, id: &str) -> Result<Option<OfferTerms>, DatabaseError> {
    let Some(row) = db.query_first(sql::GET_OFFER_TERMS, params![id])? else {
        return Ok(None);
    };
    let goals = db.query(sql::LIST_GOAL_TERMS, params![id])?;
    Ok(Some(OfferTerms {
        advertiser_id: row.parse(0, AdvertiserId::parse)?,
        conversion_window_days: row.number(1)?,
        conversion_cap: row.optional_number(2)?,
        revision: row.integer(3)?,
        goals: goals.iter().map(goal_terms).collect::<Result<_, _>>()?,
    }))
}

fn goal_terms(row: &Row) -> Result<GoalTerms, DatabaseError> {
    Ok(GoalTerms {
        id: row.text(0)?.to_owned(),
        ord: row.number(1)?,
        gl_val: row.optional_text(2)?.map(str::to_owned),
        payout_micro_usd: row.integer(3)?,
        retired: !row.is_null(4),
    })
}
