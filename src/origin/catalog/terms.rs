//! What an app's outbox asks before it judges a conversion: whom the app belongs to, what its currency is worth, where its
//! callbacks go, and what the offers pay. Nothing of it may rest on a snapshot (`design.md` section 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Reply, UNKNOWN_RESOURCE, changes, handover, sql};
use crate::{
    catalog::{AdvertiserId, CurrencyRate, OfferId, PublisherId, app::App},
    origin::{
        command::{Bytes, Failure},
        database::{Database, DatabaseError, Row},
    },
    params,
};

/// What an outbox has to know of the catalog to judge and pay conversions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The last change of the catalog that they were read after: as long as it is the last, they are what they were.
    #[serde(default)]
    pub change: i64,
    pub publisher_id: PublisherId,
    pub currency: CurrencyRate,
    pub callback: CallbackSettings,
    /// Of the offers asked for, those that there are; also paused and ended ones.
    pub offers: BTreeMap<OfferId, OfferTerms>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferTerms {
    pub advertiser_id: AdvertiserId,
    /// Hashes of the advertiser's valid tokens, the older one first.
    pub tokens: Vec<Bytes>,
    pub conversion_window_days: u16,
    /// Conversions a UTC day.
    pub conversion_cap: Option<u32>,
    /// The change of the catalog that the cap is from.
    pub revision: i64,
    /// By `ord`, then by id; retired ones too, which still pay the clicks made before.
    pub goals: Vec<GoalTerms>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTerms {
    pub id: String,
    pub ord: u32,
    /// The advertiser's event code.
    pub gl_val: Option<String>,
    pub payout_micro_usd: i64,
    pub retired: bool,
}

/// An app's callback as its outbox keeps it. The default is that of an app that never had one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackSettings {
    /// The change of the catalog that they are from; newer ones take the place of older ones.
    pub revision: i64,
    /// The callback's JSON under `STORE_KEYS`, sealed for [`callback_purpose`](super::resources::callback_purpose); none
    /// while the app has no callback.
    pub sealed: Option<Bytes>,
}

impl CallbackSettings {
    /// From a revision and, in the column after it, a sealed callback.
    pub fn read(row: &Row, revision: usize) -> Result<Self, DatabaseError> {
        let sealed = revision + 1;
        Ok(Self {
            revision: row.integer(revision)?,
            sealed: if row.is_null(sealed) {
                None
            } else {
                Some(Bytes(row.blob(sealed)?.to_vec()))
            },
        })
    }
}

/// Answers an app's outbox, and notes when it asks for the first time that there is one. One that has the terms as of
/// `since` is told with a 204 that nothing has changed: it asks several hundred times a second, and reading and sending
/// them would be most of what a conversion costs.
pub fn of(db: &impl Database, app_id: &str, offers: &[String], since: Option<i64>) -> Result<Reply, Failure> {
    let change = changes::last(db)?;
    if since == Some(change) {
        return Ok(Reply::no_content());
    }
    let row = db
        .query_first(sql::GET_APP_TERMS, params![app_id])?
        .ok_or_else(|| UNKNOWN_RESOURCE.because(format!("there is no app {app_id}")))?;
    let app: App = serde_json::from_str(row.text(0)?).map_err(|_| damaged("app", app_id))?;
    let mut terms = Terms {
        change,
        publisher_id: app.publisher_id,
        currency: app.currency,
        callback: CallbackSettings::read(&row, 1)?,
        offers: BTreeMap::new(),
    };
    for offer in offers.iter().filter_map(|id| OfferId::parse(id)) {
        if let Some(of_offer) = offer_terms(db, offer.as_str())? {
            terms.offers.insert(offer, of_offer);
        }
    }
    if !row.boolean(3)? {
        handover::note_outbox(db, app_id)?;
    }
    let body = serde_json::to_string(&terms).map_err(|error| Failure::Broken(error.to_string()))?;
    Ok(Reply { status: 200, body })
}

fn offer_terms(db: &impl Database, id: &str) -> Result<Option<OfferTerms>, Failure> {
    let Some(row) = db.query_first(sql::GET_OFFER_TERMS, params![id])? else {
        return Ok(None);
    };
    let advertiser_id = AdvertiserId::parse(row.text(0)?).ok_or_else(|| damaged("offer", id))?;
    let tokens = db.query(sql::LIST_TOKEN_HASHES, params![advertiser_id.as_str()])?;
    let tokens = tokens
        .iter()
        .map(|row| Ok(Bytes(row.blob(0)?.to_vec())))
        .collect::<Result<_, DatabaseError>>()?;
    let number = |column: usize| -> Result<Option<u32>, Failure> {
        let number = row.optional_integer(column)?.map(u32::try_from);
        number.transpose().map_err(|_| damaged("offer", id))
    };
    let window = number(1)?.and_then(|days| u16::try_from(days).ok());
    let goals = db.query(sql::LIST_GOAL_TERMS, params![id])?;
    Ok(Some(OfferTerms {
        advertiser_id,
        tokens,
        conversion_window_days: window.ok_or_else(|| damaged("offer", id))?,
        conversion_cap: number(2)?,
        revision: row.integer(3)?,
        goals: goals.iter().map(goal_terms).collect::<Result<_, Failure>>()?,
    }))
}

fn goal_terms(row: &Row) -> Result<GoalTerms, Failure> {
    let id = row.text(0)?;
    Ok(GoalTerms {
        id: id.to_owned(),
        ord: u32::try_from(row.integer(1)?).map_err(|_| damaged("goal", id))?,
        gl_val: if row.is_null(2) {
            None
        } else {
            Some(row.text(2)?.to_owned())
        },
        payout_micro_usd: row.integer(3)?,
        retired: !row.is_null(4),
    })
}

fn damaged(what: &str, id: &str) -> Failure {
    Failure::Broken(format!("the stored {what} {id} does not read"))
}
