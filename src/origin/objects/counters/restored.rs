//! Counters that were restored from a copy have lost takes. Before such an object takes from a conversion cap again, it
//! asks the outboxes that pay for the offer. Before it takes from a click cap again, it asks the counters that add up
//! the offer's clicks. The conversions or clicks that these objects report for the day count as taken.

use std::{cell::Cell, time::Duration};

use super::{log::ClickLog, sql};
use crate::delivery::{batches::Log, register};
use contract::{
    attention::Doubt,
    catalog::{self, COMMAND_PATH, ListOfferOutboxes},
    counters::{self, Asker, CapKind, Command, ReadTaken, Take},
    operation::CallError,
    outbox::{OutboxShard, ReadDay},
};
use domain::model::{AppId, MINUTE_MS, OfferId, UtcDay, common};
use platform::{Clock, Database, DbResult, Failure, ObjectCall, Result, Row, concurrent::try_each, log, params};

/// The timeout of a call to the catalog, or to an outbox for a part of its day.
const TIMEOUT: Duration = Duration::from_secs(5);
/// For this long after a restore, outboxes may still name batches that the object lacks, because they have not resent
/// them yet.
const INCIDENT_MS: i64 = 10 * MINUTE_MS;

/// When this process noticed that the object was restored. Not stored: a copy that was made after an earlier restore
/// would say that this one was already noticed.
#[derive(Default)]
pub struct Noticed(Cell<Option<i64>>);

impl Noticed {
    fn is_recent(&self, now_ms: i64) -> bool {
        self.0.get().is_some_and(|noticed_ms| now_ms < noticed_ms.saturating_add(INCIDENT_MS))
    }
}

/// Records that the object was restored from a copy, if it lacks a batch that it had confirmed to an outbox.
pub fn notice(db: &impl Database, now_ms: i64, noticed: &Noticed, asker: &Asker) -> DbResult {
    let mark = db.query_integer(sql::SOURCE, params![asker.source.as_str()])?;
    if asker.known <= mark.unwrap_or(0) || noticed.is_recent(now_ms) {
        return Ok(());
    }
    log::error(
        "counters",
        format_args!("the object is behind {}, so it was restored from an earlier copy", asker.source),
    );
    db.transaction(|| put_back(db, now_ms))?;
    noticed.0.set(Some(now_ms));
    Ok(())
}

/// Records that an outbox has written again what a restore had lost. The object may have been restored with the outbox,
/// so the other objects must be asked about each cap of the command that the refill may concern.
pub fn hear(db: &impl Database, refilled_ms: i64, command: &Command) -> DbResult {
    let hear = |(day, offer): (UtcDay, &OfferId)| {
        if day > UtcDay::of_ms(refilled_ms) {
            return Ok(());
        }
        let kind = CapKind::Conversion.number();
        db.execute(sql::HEAR, params![kind, day.number(), offer.as_str(), refilled_ms])
    };
    match command {
        Command::Take(take) => hear((take.day, &take.offer)),
        Command::AddConversions(batch) => {
            let mut caps = batch.sums.iter().map(|sum| (sum.day, &sum.offer));
            caps.try_for_each(hear)
        }
        _ => Ok(()),
    }
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

/// The `source` under which the table `uncapped` stores lost takes.
fn source(kind: CapKind) -> &'static str {
    match kind {
        CapKind::Click => "lost clicks",
        CapKind::Conversion => "lost",
    }
}

/// If takes from the cap may be lost and the other objects must be asked, returns the `heard_ms` that they must cover.
pub fn unknown(db: &impl Database, take: &Take) -> DbResult<Option<i64>> {
    let cap = params![take.kind.number(), take.day.number(), take.offer.as_str()];
    let read = |row: &Row| {
        let heard_ms = row.optional_integer(1)?.unwrap_or(0);
        Ok((row.integer(0)?, heard_ms, row.optional_integer(2)?))
    };
    let (restored_ms, heard_ms, asked_ms) = db.read_first(sql::GET_ASKED, cap, read)?.unwrap_or_default();
    let must_ask = match asked_ms {
        Some(asked_ms) => heard_ms > asked_ms,
        None => heard_ms > 0 || take.day <= UtcDay::of_ms(restored_ms),
    };
    Ok(must_ask.then_some(heard_ms))
}

/// The answers of the other objects about a cap.
#[derive(Default)]
pub struct Known {
    /// The minimum number of takes from the cap.
    pub least: i64,
    /// The last time at which one of the outboxes wrote again what a restore had lost.
    pub refilled_ms: i64,
}

impl Known {
    fn add(self, other: Self) -> Self {
        Self { least: self.least.saturating_add(other.least), refilled_ms: self.refilled_ms.max(other.refilled_ms) }
    }
}

/// Asks the outboxes, or the counters that add up clicks, about a cap.
///
/// # Errors
/// `unavailable`: an object did not answer.
pub async fn ask(runtime: &impl ObjectCall, take: &Take) -> Result<Known> {
    let (offer, day) = (&take.offer, take.day);
    if take.kind == CapKind::Click {
        let counts = counters::name(counters::click_object(offer.as_str()));
        let read = ReadTaken { offer: offer.clone(), day };
        let taken = runtime.call(&counters::address(counts), read, TIMEOUT).await;
        let taken = taken.map_err(|error| unavailable("the counters of clicks", &error))?;
        return Ok(Known { least: taken.clicks, refilled_ms: 0 });
    }
    let list = ListOfferOutboxes { offer_id: offer.clone() };
    let reply = runtime.call(&catalog::address(COMMAND_PATH), list, TIMEOUT).await;
    let reply = reply.map_err(|error| unavailable("the catalog", &error))?;
    let outboxes: Vec<(AppId, u8)> = serde_json::from_str(&reply.body).map_err(|error| {
        Failure::Internal(format!("the list of outboxes of offer {offer} cannot be parsed: {error}"))
    })?;
    let rewards = try_each(outboxes, |(app, number)| rewards(runtime, OutboxShard { app, number }, offer, day));
    Ok(rewards.await?.into_iter().fold(Known::default(), Known::add))
}

/// Reads an outbox's rewards of an offer on a day.
async fn rewards(runtime: &impl ObjectCall, outbox: OutboxShard, offer: &OfferId, day: UtcDay) -> Result<Known> {
    let (mut known, mut after) = (Known::default(), 0);
    loop {
        let read = ReadDay { day, after, mark: 0 };
        let part = runtime.call(&outbox.address(), read, TIMEOUT).await;
        let part = part.map_err(|error| unavailable(&outbox.object_name(), &error))?;
        let of_offer = part.offers.iter().filter(|paid| paid.offer == *offer);
        known = known.add(Known {
            least: of_offer.map(|paid| paid.rewards).fold(0, i64::saturating_add),
            refilled_ms: part.refilled_ms,
        });
        match part.next {
            Some(next) => after = next,
            None => return Ok(known),
        }
    }
}

fn unavailable(whom: &str, error: &CallError) -> Failure {
    log::warn("counters", format_args!("a call to {whom} failed: {error}"));
    common::UNAVAILABLE.into()
}

/// Stores lost takes: the number by which `known.least` exceeds `taken`. Lost takes count as taken. A later answer only
/// adds to them, because it may lack conversions that are under way, and their part of the cap must not be taken twice.
pub fn learn(db: &impl Database, take: &Take, known: &Known, taken: u32) -> DbResult {
    let more = known.least.saturating_sub(taken.into()).max(0);
    db.transaction(|| {
        let (kind, day, offer) = (take.kind, take.day.number(), take.offer.as_str());
        db.execute(sql::ADD_LOST, params![day, offer, source(kind), more])?;
        db.execute(sql::SET_ASKED, params![kind.number(), day, offer, known.refilled_ms])?;
        db.execute(sql::ADD_OFFER, params![day, offer])
    })
}
