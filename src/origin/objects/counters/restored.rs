//! Counters that were restored from a copy have lost takes. Before such an object takes from a conversion cap again, it
//! asks the outboxes that pay for the offer. Before it takes from a click cap again, it asks the counters that add up
//! the offer's clicks. The conversions or clicks that these objects report for the day count as taken.

use std::time::Duration;

use super::{log::ClickLog, sql};
use crate::delivery::{batches::Log, register};
use contract::{
    attention::Doubt,
    catalog::{self, COMMAND_PATH, ListOfferOutboxes},
    counters::{self, Asker, CapKind, ReadTaken, Take},
    operation::CallError,
    outbox::{OutboxShard, ReadDay},
};
use domain::model::{AppId, MINUTE_MS, OfferId, UtcDay, common};
use platform::{Clock, Database, DbResult, Failure, ObjectCall, Result, concurrent::try_each, log, params};

/// The timeout of a call to the catalog, or to an outbox for a part of its day.
const TIMEOUT: Duration = Duration::from_secs(5);
/// For this long after a restore, outboxes may still name batches that the object lacks, because they have not resent
/// them yet.
const INCIDENT_MS: i64 = 10 * MINUTE_MS;

/// Records that the object was restored from a copy, if it lacks a batch that it had confirmed to an outbox.
pub fn notice(db: &impl Database, now_ms: i64, asker: &Asker) -> DbResult {
    let mark = db.query_integer(sql::SOURCE, params![asker.source.as_str()])?;
    if asker.known <= mark.unwrap_or(0) || now_ms < restored_ms(db)?.saturating_add(INCIDENT_MS) {
        return Ok(());
    }
    log::error(
        "counters",
        format_args!(
            "the object is behind {}, so it was restored from an earlier copy",
            asker.source
        ),
    );
    db.transaction(|| put_back(db, now_ms))
}

/// Records that the object was restored from a copy, if its log lacks the mark of a ledger.
pub async fn notice_lost(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    name: &str,
    mark: i64,
) -> DbResult {
    let now_ms = runtime.now_ms();
    if now_ms < restored_ms(db)?.saturating_add(INCIDENT_MS) || ClickLog(db, None).has(mark)? {
        return Ok(());
    }
    db.transaction(|| put_back(db, now_ms))?;
    // If this call fails, the operator is told at night which days differ.
    let doubts = vec![Doubt::new(name, "counters_restored")];
    drop(register::tell(runtime, name, None, doubts).await);
    Ok(())
}

/// Records that the object was restored from a copy and may have lost takes, within the caller's transaction.
pub fn put_back(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::FORGET_RESTORED, &[])?;
    db.execute(sql::SET_RESTORED, params![now_ms])
}

pub fn restored_ms(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_RESTORED, &[])?.unwrap_or(0))
}

/// The `source` under which the table `uncapped` stores lost takes.
fn source(kind: CapKind) -> &'static str {
    match kind {
        CapKind::Click => "lost clicks",
        CapKind::Conversion => "lost",
    }
}

/// True if takes from the cap may be lost and the other objects have not been asked yet.
pub fn is_unknown(db: &impl Database, take: &Take) -> DbResult<bool> {
    let known = params![take.day.number(), take.offer.as_str(), source(take.kind)];
    Ok(take.day <= UtcDay::of_ms(restored_ms(db)?) && !db.query_boolean(sql::IS_KNOWN, known)?)
}

/// Asks the outboxes, or the counters that add up clicks, for the minimum number of takes from the cap.
///
/// # Errors
/// `unavailable`: an object did not answer.
pub async fn ask(runtime: &impl ObjectCall, take: &Take) -> Result<i64> {
    let (offer, day) = (&take.offer, take.day);
    if take.kind == CapKind::Click {
        let counts = counters::name(counters::click_object(offer.as_str()));
        let read = ReadTaken {
            offer: offer.clone(),
            day,
        };
        let taken = runtime.call(&counters::address(counts), read, TIMEOUT).await;
        let taken = taken.map_err(|error| unavailable("the counters of clicks", &error))?;
        return Ok(taken.clicks);
    }
    let list = ListOfferOutboxes {
        offer_id: offer.clone(),
    };
    let reply = runtime.call(&catalog::address(COMMAND_PATH), list, TIMEOUT).await;
    let reply = reply.map_err(|error| unavailable("the catalog", &error))?;
    let outboxes: Vec<(AppId, u8)> = serde_json::from_str(&reply.body).map_err(|error| {
        Failure::Internal(format!(
            "the list of outboxes of offer {offer} cannot be parsed: {error}"
        ))
    })?;
    let rewards = try_each(outboxes, |(app, number)| {
        rewards(runtime, OutboxShard { app, number }, offer, day)
    });
    Ok(rewards.await?.into_iter().fold(0, i64::saturating_add))
}

/// Returns the number of an outbox's rewards of an offer on a day.
async fn rewards(
    runtime: &impl ObjectCall,
    outbox: OutboxShard,
    offer: &OfferId,
    day: UtcDay,
) -> Result<i64> {
    let (mut rewards, mut after) = (0_i64, 0);
    loop {
        let read = ReadDay { day, after, mark: 0 };
        let part = runtime.call(&outbox.address(), read, TIMEOUT).await;
        let part = part.map_err(|error| unavailable(&outbox.object_name(), &error))?;
        let of_offer = part.offers.iter().filter(|paid| paid.offer == *offer);
        rewards = of_offer.fold(rewards, |sum, paid| sum.saturating_add(paid.rewards));
        match part.next {
            Some(next) => after = next,
            None => return Ok(rewards),
        }
    }
}

fn unavailable(whom: &str, error: &CallError) -> Failure {
    log::warn("counters", format_args!("a call to {whom} failed: {error}"));
    common::UNAVAILABLE.into()
}

/// Stores lost takes: the number by which `least` exceeds `taken`. Lost takes count as taken.
pub fn learn(db: &impl Database, take: &Take, least: i64, taken: u32) -> DbResult {
    let lost = least.saturating_sub(taken.into()).max(0);
    db.transaction(|| {
        let (day, offer) = (take.day.number(), take.offer.as_str());
        db.execute(sql::SET_LOST, params![day, offer, source(take.kind), lost])?;
        db.execute(sql::ADD_OFFER, params![day, offer])
    })
}
