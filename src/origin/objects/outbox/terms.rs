//! The terms by which an outbox pays. The outbox asks the catalog once for each revision that a click names, and stores
//! the revision, so that conversions continue while the catalog does not answer. The current values come with the
//! conversions.

use std::rc::Rc;

use contract::{
    catalog::{GetAppTerms, GetOfferTerms, KnownApp, KnownOffer, LOST_TERMS, Resource},
    counters::SetCap,
    outbox::{Conversion, OutboxShard, SetOffer},
};
use domain::{
    conversions::{
        log_number::first_number,
        parameters::INVALID_CLICK_ID,
        reward::check_life,
        table::Event,
        terms::{AppTerms, CurrentApp, CurrentOffer, OfferTerms, TermsInForce},
    },
    model::{CurrencyRate, MINUTE_MS, OfferId, SECOND_MS, UtcDay, common},
};
use platform::{Database, DbResult, Failure, Result, database::json, params, single_flight::Outcome};
use serde::{Serialize, de::DeserializeOwned};

use super::{conversions::rows, endpoint, peers::Peers, sql, terms_cache::cached};

/// The terms of one conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    pub offer: OfferId,
    pub paying: Revision,
    /// The current terms, if the postback names a goal that `paying` lacks: the goal may be newer than the click.
    pub current: Option<Revision>,
    pub currency: CurrencyRate,
    /// True if newer terms of the offer or the app have superseded the terms under which the conversion is paid.
    pub superseded: bool,
    /// True if these terms are the newest. Then a goal that they lack does not exist.
    pub is_newest: bool,
    pub holds: Holds,
}

/// The newest limits of the offer and the app. A conversion that violates a limit is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    pub min_seconds_to_convert: Option<u32>,
    pub max_rewards_per_user_day: Option<u32>,
}

/// A revision of an offer's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub number: i64,
    pub terms: Rc<OfferTerms>,
}

/// Returns the terms of a conversion, from the outbox or else the catalog.
///
/// # Errors
/// `conversion_window_closed` for a postback of a click that is too old; `invalid_click_id` for an app or an offer that
/// the catalog does not have; [`LOST_TERMS`]; `unavailable` if the catalog does not answer.
pub async fn of(db: &impl Database, peers: &impl Peers, shard: OutboxShard, conversion: &Conversion) -> Result<Terms> {
    let click = &conversion.click;
    // Actions of the operator have their own age limit, which `settlement` checks.
    if matches!(conversion.event, Event::Postback(_)) {
        let received_ms = conversion.received_ms.unwrap_or_else(|| peers.now_ms());
        check_life(click.clicked_at_ms, received_ms)?;
    } else {
        ask_for_app(db, peers, shard).await?;
    }
    let offer = OfferId::parse(&click.offer).ok_or(INVALID_CLICK_ID)?;
    if let Some(app) = &conversion.current.app {
        if endpoint::needs_claim(db, peers, shard)? {
            ask_once(peers, "claim", claim(db, peers, shard, app)).await?;
        }
        endpoint::store_current(db, peers, shard, app)?;
    }
    let mut has_asked = false;
    let (currency, app_superseded, max_rewards_per_user_day) = loop {
        let app = endpoint::app_now(db, peers)?;
        let in_force = app.map_or(TermsInForce::default(), |app| app.terms);
        let number = in_force.paying(click.app_terms, click.clicked_at_ms);
        // Without the callback settings, the outbox does not know whether the publisher is suspended.
        let has_settings = has_asked || app.is_none_or(|app| app.has_settings);
        if let Some(AppTerms { currency }) = known_app(db, peers, number)?.filter(|_| has_settings) {
            let most = app.and_then(|app| app.max_rewards_per_user_day);
            break (currency, number < in_force.revision, most);
        }
        learn_app(db, peers, shard, number).await?;
        has_asked = true;
    };
    let mut current = newest(db, peers, &offer, conversion.current.offer.as_ref())?;
    if current.is_none() {
        learn_offer(db, peers, shard, &offer, click.offer_terms).await?;
        current = newest(db, peers, &offer, None)?;
    }
    let (paying, mut in_force, mut min_seconds_to_convert) = loop {
        let in_force = current.as_ref().map_or(TermsInForce::default(), |current| current.terms);
        let number = in_force.paying(click.offer_terms, click.clicked_at_ms);
        if let Some(terms) = known_offer(db, peers, &offer, number)? {
            let least = current.and_then(|current| current.min_seconds_to_convert);
            break (Revision { number, terms }, in_force, least);
        }
        learn_offer(db, peers, shard, &offer, number).await?;
        current = newest(db, peers, &offer, None)?;
    };
    let named = conversion.goal.as_deref();
    let is_named = paying.terms.goal(named).is_some();
    if !is_named {
        // A restored outbox has the conversions of its journal, but not the terms that it learned for them.
        let (rows, _) = rows::of_click(db, &conversion.nonce.0)?;
        for row in rows.iter().filter(|row| row.has_name(named.unwrap_or_default())) {
            learn_offer(db, peers, shard, &offer, row.offer_terms).await?;
        }
    }
    let mut is_newest = conversion.current.is_recent && conversion.current.offer.is_some();
    if !is_named && conversion.current.is_recent && !is_newest {
        // The edge's snapshot is recent but lacks the offer, so only the catalog knows the offer's newest terms.
        let question = offer_question(shard, &offer, paying.number);
        if let Ok(known) = peers.ask_offer(question).await
            && let Some(current) = newest(db, peers, &offer, Some(&known.current))?
        {
            (in_force, min_seconds_to_convert) = (current.terms, current.min_seconds_to_convert);
            is_newest = true;
        }
    }
    let current = if is_named || [0, paying.number].contains(&in_force.revision) {
        None
    } else {
        let number = in_force.revision;
        loop {
            if let Some(terms) = known_offer(db, peers, &offer, number)? {
                break Some(Revision { number, terms });
            }
            learn_offer(db, peers, shard, &offer, number).await?;
        }
    };
    Ok(Terms {
        superseded: app_superseded || paying.number < in_force.revision,
        offer,
        paying,
        current,
        currency,
        is_newest,
        holds: Holds {
            min_seconds_to_convert: if shard.app.is_test() && conversion.is_to_be_held {
                Some(u32::MAX)
            } else {
                min_seconds_to_convert
            },
            max_rewards_per_user_day,
        },
    })
}

/// Stores the app's first values, once its first outbox has confirmed the number of outboxes.
async fn claim(db: &impl Database, peers: &impl Peers, shard: OutboxShard, current: &CurrentApp) -> Result {
    if endpoint::needs_claim(db, peers, shard)? {
        endpoint::claim_at_first(peers, shard, current).await?;
    }
    endpoint::store_current(db, peers, shard, current)
}

/// Asks the catalog for the app's current values, at most once per minute. A postback brings these values, but an
/// action of the operator does not.
async fn ask_for_app(db: &impl Database, peers: &impl Peers, shard: OutboxShard) -> Result {
    let (now_ms, ask_ms) = (peers.now_ms(), &peers.state_cache().ask_ms);
    let Some(known) = endpoint::app_now(db, peers)?.filter(|_| ask_ms.get() <= now_ms) else {
        return Ok(());
    };
    let question = GetAppTerms { app_id: shard.app, shard: shard.number, revision: known.terms.revision };
    // Without an answer the newest known values are used, and the next actions do not ask again.
    ask_ms.set(now_ms.saturating_add(MINUTE_MS));
    if let Ok(KnownApp { current, .. }) = peers.ask_app(question).await {
        endpoint::store_current(db, peers, shard, &current)?;
    }
    Ok(())
}

/// Asks the catalog for a revision of the app's terms, unless the outbox has the revision and the newest callback
/// settings, which come with the answer.
///
/// # Errors
/// `invalid_click_id` for an app that the catalog does not have; [`LOST_TERMS`]; `unavailable` if the catalog does not
/// answer.
pub async fn learn_app(db: &impl Database, peers: &impl Peers, shard: OutboxShard, revision: i64) -> Result {
    let question = GetAppTerms { app_id: shard.app, shard: shard.number, revision };
    let key = format!("app {revision}");
    ask_once(peers, &key, async {
        if known_app(db, peers, revision)?.is_some() && !endpoint::read(db)?.is_some_and(|state| state.is_behind()) {
            return Ok(());
        }
        let KnownApp { terms, current, callback } = lost(peers.ask_app(question).await, || format!("app {revision}"))?;
        claim(db, peers, shard, &current).await?;
        endpoint::store_settings(db, peers, shard, &callback)?;
        endpoint::forget_lost_settings(db, callback.revision)?;
        Ok(store(db, peers.now_ms(), Resource::App, "", revision, &terms)?)
    })
    .await
}

fn offer_question(shard: OutboxShard, offer: &OfferId, revision: i64) -> GetOfferTerms {
    GetOfferTerms { offer_id: offer.clone(), revision, outbox: Some((shard.app, shard.number)) }
}

async fn learn_offer(
    db: &impl Database,
    peers: &impl Peers,
    shard: OutboxShard,
    offer: &OfferId,
    revision: i64,
) -> Result {
    let question = offer_question(shard, offer, revision);
    let key = format!("{offer} {revision}");
    ask_once(peers, &key, async {
        let has_terms = known_offer(db, peers, offer, revision)?.is_some();
        if has_terms && newest(db, peers, offer, None)?.is_some() {
            return Ok(());
        }
        let KnownOffer { terms, current } = match peers.ask_offer(question).await {
            // The outbox has what the catalog has lost.
            Err(Failure::Refused(refusal)) if has_terms && refusal.code != common::UNAVAILABLE.code => {
                return Ok(());
            }
            asked => lost(asked, || format!("offer {offer} {revision}"))?,
        };
        newest(db, peers, offer, Some(&current))?;
        Ok(store(db, peers.now_ms(), Resource::Offer, offer.as_str(), revision, &terms)?)
    })
    .await
}

fn lost<T>(asked: Result<T>, name: impl FnOnce() -> String) -> Result<T> {
    asked.map_err(|failure| match failure {
        Failure::Refused(refusal) if refusal.code == LOST_TERMS.code => LOST_TERMS.with_message(name()).into(),
        failure => failure,
    })
}

/// Runs `ask` once for all callers that wait for the same key.
async fn ask_once(peers: &impl Peers, key: &str, ask: impl Future<Output = Result>) -> Result {
    let flight = peers.questions().of(key.as_bytes());
    match flight.join(|_| true).await {
        Outcome::Shared(learned) => learned,
        Outcome::Lead(leader) => leader.run(ask).await,
    }
}

fn stored<T: DeserializeOwned>(db: &impl Database, kind: Resource, id: &str, revision: i64) -> DbResult<Option<T>> {
    let key = params![kind.singular(), id, revision];
    db.read_first(sql::GET_TERMS, key, |row| row.json(0))
}

fn store(db: &impl Database, now_ms: i64, kind: Resource, id: &str, revision: i64, terms: &impl Serialize) -> DbResult {
    db.execute(sql::PUT_TERMS, params![kind.singular(), id, revision, json(terms)?, now_ms])
}

/// Returns a revision of an offer's terms, if the outbox has it.
pub fn of_offer(db: &impl Database, offer: &OfferId, revision: i64) -> DbResult<Option<Rc<OfferTerms>>> {
    let terms = stored(db, Resource::Offer, offer.as_str(), revision)?;
    Ok(terms.map(Rc::new))
}

fn known_offer(
    db: &impl Database,
    peers: &impl Peers,
    offer: &OfferId,
    revision: i64,
) -> DbResult<Option<Rc<OfferTerms>>> {
    let cache = &peers.state_cache().terms.offers;
    cached(cache, (offer.clone(), revision), || of_offer(db, offer, revision))
}

fn known_app(db: &impl Database, peers: &impl Peers, revision: i64) -> DbResult<Option<AppTerms>> {
    let cache = &peers.state_cache().terms.apps;
    cached(cache, revision, || stored(db, Resource::App, "", revision))
}

/// Returns an offer's newest conversion cap, and the revision of the offer that set it. The cap is read in the same
/// turn in which it is used, so that a cap that was pushed while a conversion waited for another object also applies to
/// that conversion.
pub fn cap(db: &impl Database, peers: &impl Peers, offer: &OfferId) -> DbResult<Option<(u32, i64)>> {
    let current = newest(db, peers, offer, None)?;
    Ok(current.and_then(|current| Some((current.conversion_cap?, current.revision))))
}

/// Stores an offer's newest values, and counts today's conversions that were paid without a cap. Both happen in one
/// transaction, so that all later conversions are taken from the cap.
pub fn set_offer(
    db: &impl Database,
    peers: &impl Peers,
    shard: OutboxShard,
    SetOffer { offer, current }: &SetOffer,
) -> DbResult<SetCap> {
    let day = UtcDay::of_ms(peers.now_ms());
    let [first_s, end_s] = [day, day.minus(-1)].map(|day| day.start_ms() / SECOND_MS);
    db.transaction(|| {
        newest(db, peers, offer, Some(current))?;
        let first = first_number(day.start_ms());
        let counted = params![first, offer.as_str(), first_s, end_s];
        let conversions = db.query_integer(sql::COUNT_UNCAPPED, counted)?;
        Ok(SetCap {
            offer: offer.clone(),
            limit: current.conversion_cap,
            revision: current.revision,
            day,
            source: shard.object_name(),
            uncapped: u32::try_from(conversions.unwrap_or(0)).unwrap_or(u32::MAX),
        })
    })
}

/// Stores `seen` if it is newer than the stored values of an offer. Returns the newest values.
fn newest(
    db: &impl Database,
    peers: &impl Peers,
    offer: &OfferId,
    seen: Option<&CurrentOffer>,
) -> DbResult<Option<CurrentOffer>> {
    let cache = &peers.state_cache().terms.current;
    let stored = cached(cache, offer.clone(), || read_current(db, offer))?;
    let is_newer = |seen: &&CurrentOffer| stored.as_ref().is_none_or(|stored| seen.revision > stored.revision);
    let Some(newer) = seen.filter(is_newer) else {
        return Ok(stored);
    };
    // The value is dropped before the write, because a write that reports an error may have happened.
    cache.borrow_mut().pop(offer);
    db.execute(
        sql::PUT_OFFER,
        params![
            offer.as_str(),
            newer.revision,
            newer.terms.revision,
            newer.terms.since,
            newer.conversion_cap,
            newer.min_seconds_to_convert
        ],
    )?;
    Ok(Some(newer.clone()))
}

fn read_current(db: &impl Database, offer: &OfferId) -> DbResult<Option<CurrentOffer>> {
    db.read_first(sql::GET_OFFER, params![offer.as_str()], |row| {
        Ok(CurrentOffer {
            revision: row.integer(0)?,
            terms: TermsInForce { revision: row.integer(1)?, since: row.integer(2)? },
            conversion_cap: row.optional_number(3)?,
            min_seconds_to_convert: row.optional_number(4)?,
        })
    })
}
