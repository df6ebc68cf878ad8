//! Counters that were restored from a copy have lost takes. Before such an object takes from a conversion cap again, it
//! asks the outboxes that pay for the offer. Before it takes from a click cap again, it asks the counters that add up
//! the offer's clicks. The conversions or clicks that these objects report for the day count as taken.

use std::{cell::Cell, time::Duration};

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

/// When this process noticed that the object was restored. The database would also say so in a copy that was made
/// after an earlier restore.
#[derive(Default)]
pub struct Noticed(Cell<Option<i64>>);

impl Noticed {
    fn is_recent(&self, now_ms: i64) -> bool {
        self.0
            .get()
            .is_some_and(|noticed_ms| now_ms < noticed_ms.saturating_add(INCIDENT_MS))
    }
}

/// Records that the object was restored from a copy, if it lacks a batch that it had confirmed to an outbox. If the
/// outbox was restored since, the object may have been restored with it.
pub fn notice(db: &impl Database, now_ms: i64, noticed: &Noticed, asker: &Asker) -> DbResult {
    let mark = db.query_integer(sql::SOURCE, params![asker.source.as_str()])?;
    let is_behind = asker.known > mark.unwrap_or(0) && !noticed.is_recent(now_ms);
    if !is_behind && asker.put_back_ms <= restored_ms(db)? {
        return Ok(());
    }
    log::error(
        "counters",
        format_args!(
            "{} shows that the object may have been restored from an earlier copy",
            asker.source
        ),
    );
    db.transaction(|| put_back(db, now_ms.max(asker.put_back_ms)))?;
    noticed.0.set(Some(now_ms));
    Ok(())
}

/// Records that the object was restored from a copy, if its log lacks the mark of a ledger.
pub async fn notice_lost(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    noticed: &Noticed,
    name: &str,
    mark: i64,
) -> DbResult {
    let now_ms = runtime.now_ms();
    if noticed.is_recent(now_ms) || ClickLog(db, None).has(mark)? {
        return Ok(());
    }
    db.transaction(|| put_back(db, now_ms))?;
    noticed.0.set(Some(now_ms));
    // If this call fails, the operator is told at night which days differ.
    let doubts = vec![Doubt::new(name, "counters_restored")];
    drop(register::tell(runtime, name, None, doubts).await);
    Ok(())
}

/// Records that the object was restored from a copy and may have lost takes, within the caller's transaction.
pub fn put_back(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::FORGET_ASKED, &[])?;
    db.execute(sql::SET_RESTORED, params![now_ms])
}

pub fn restored_ms(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_RESTORED, &[])?.unwrap_or(0))
}

/// The `source` of lost takes in the table `uncapped`, and the one which says that the other objects were asked.
fn sources(kind: CapKind) -> [&'static str; 2] {
    match kind {
        CapKind::Click => ["lost clicks", "asked clicks"],
        CapKind::Conversion => ["lost", "asked"],
    }
}

/// True if takes from the cap may be lost and the other objects have not been asked yet.
pub fn is_unknown(db: &impl Database, take: &Take) -> DbResult<bool> {
    let [_, asked] = sources(take.kind);
    let known = params![take.day.number(), take.offer.as_str(), asked];
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

/// Stores lost takes: the number by which `least` exceeds `taken`. Lost takes count as taken, and none is forgotten: a
/// later `least` may lack conversions that are under way.
pub fn learn(db: &impl Database, take: &Take, least: i64, taken: u32) -> DbResult {
    let more = least.saturating_sub(taken.into()).max(0);
    let [lost, asked] = sources(take.kind);
    db.transaction(|| {
        let (day, offer) = (take.day.number(), take.offer.as_str());
        for (source, number) in [(lost, more), (asked, 0)] {
            db.execute(sql::ADD_LOST, params![day, offer, source, number])?;
        }
        db.execute(sql::ADD_OFFER, params![day, offer])
    })
}
