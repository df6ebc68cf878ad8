//! Sends revenue to ledgers, conversions to counters and the [journal] to the witness, in [batches] of the outbox's
//! log.

use std::{cell::Cell, time::Duration};

use super::{
    journal::{self, TO_WITNESS},
    sql,
};
use crate::{
    delivery::batches::{self, Amounts, Batch, DeliveryError, Log, LogPage, SumKey},
    objects::outbox::{
        calls,
        endpoint::{self, OutboxState},
        period,
    },
};
use contract::{
    counters,
    ledger::{self, ReadMark},
    operation::ObjectAddress,
    outbox::OutboxShard,
};
use domain::{
    conversions::{log_number::first_number, reward::CLICK_LIFE_DAYS},
    model::{AppId, Country, DAY_MS, OfferId, UtcDay},
};
use platform::{Clock, Database, DatabaseError, DbResult, ObjectCall, Row, log, params};

/// The destination of batches for the publisher's ledger. The destination of counters is the name of their object.
pub const TO_LEDGER: &str = "ledger";

/// The timeout of a call to a ledger.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the first command of a process waits for the ledger's mark.
const MARK_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum entries of a page of the log. A page takes about 50 ms, during which the object answers no request.
const PAGE: i64 = 5_000;

/// The log of an outbox. Each payment goes to the ledger and to the counters of its offer.
pub struct OutboxLog<'a, D> {
    db: &'a D,
    /// `None` before the first conversion, when the receivers of batches are not known yet.
    app: Option<AppId>,
}

impl<'a, D> OutboxLog<'a, D> {
    pub fn of(db: &'a D, state: Option<&OutboxState>) -> Self {
        Self { db, app: state.filter(|state| state.current.is_some()).map(|state| state.shard.app) }
    }
}

impl<D: Database> Log for OutboxLog<'_, D> {
    fn read(&self, after: i64, each: &mut dyn FnMut(batches::Movement<'_>)) -> DbResult<LogPage> {
        let row = self.db.query_first(sql::LOG_PAGE, params![after, PAGE])?;
        let row = row.unwrap_or(Row(vec![]));
        let is_last = row.integer(1)? < PAGE;
        let end = match row.optional_integer(0)? {
            Some(last) if !is_last => last,
            _ => after.max(self.last()?),
        };
        // Nobody gets batches of a test app, so its log counts as settled as soon as it is read.
        let Some(app) = self.app.filter(|app| !app.is_test()) else {
            return Ok(LogPage { end, is_last });
        };
        for row in self.db.query(sql::MOVEMENTS, params![after, end])? {
            let number = row.integer(0)?;
            let damaged = || DatabaseError(format!("the day of entry {number} is out of range"));
            let offer = row.parse(2, OfferId::parse)?;
            let paid = row.optional_integer(5)?;
            let amounts = Amounts {
                clicks: 0,
                conversions: if row.boolean(6)? { -1 } else { 1 },
                revenue_micro_usd: paid.unwrap_or(0),
            };
            let counters = counters::object_name(&offer);
            let mut key = SumKey {
                day: UtcDay::from_number(row.integer(1)?).ok_or_else(damaged)?,
                app,
                offer,
                country: row.optional_text(3)?.and_then(Country::parse),
                placement: row.optional_text(4)?.map(str::to_owned),
            };
            let mut pass = |destination: &str, key: &SumKey| {
                each(batches::Movement { first: number, number, destination, key, amounts });
            };
            if paid.is_some() {
                pass(TO_LEDGER, &key);
            }
            // Counters' figures have neither country nor placement.
            (key.country, key.placement) = (None, None);
            if paid.is_some() {
                pass(&counters, &key);
            }
            // The journal gets the entries themselves, not their sums.
            pass(TO_WITNESS, &key);
        }
        Ok(LogPage { end, is_last })
    }

    fn last(&self) -> DbResult<i64> {
        // Until the app is known, the log has only `txn` claims, and their batch is not sent yet.
        let last = match self.app {
            Some(_) => self.db.query_integer(sql::LAST_NUMBER, &[])?,
            None => None,
        };
        Ok(last.unwrap_or(0))
    }

    fn has(&self, number: i64) -> DbResult<bool> {
        self.db.query_boolean(sql::HAS_NUMBER, params![number])
    }
}

/// Sends all due batches. `opened_ms` is the start of the period in which the outbox last opened batches. The outbox
/// opens batches once per period, because it is also woken for other work, and batches at each wake-up would cost more
/// commits than the conversions. Returns the outbox's shard if the witness's answer shows that the outbox was restored.
/// Stops if the ledger's answer shows that payments are lost, because the answer to the next batch would hide the loss.
pub async fn send(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    opened_ms: &Cell<i64>,
) -> DbResult<Option<OutboxShard>> {
    let Some(state) = endpoint::read(db)? else {
        return Ok(None);
    };
    let source = state.shard.object_name();
    let is_lost = Cell::new(false);
    let deliver = async |batch: &Batch| {
        let unknown = || DeliveryError::Unanswered("the outbox does not know its app yet".into());
        let current = state.current.as_ref().ok_or_else(unknown)?;
        let mark = match batch.destination.as_str() {
            TO_WITNESS => {
                let own = (state.shard, current.outbox_shards);
                return journal::send(db, runtime, own, batch, &is_lost).await;
            }
            TO_LEDGER => {
                let ledger = ledger::address(&current.publisher_id, ledger::BATCH);
                runtime.call(&ledger, batch.to_ledger(&source), LEDGER_TIMEOUT).await
            }
            counters => {
                let counters = counters::address(counters.to_owned());
                runtime.call(&counters, batch.to_counters(&source, state.refilled_ms), calls::TIMEOUT).await
            }
        };
        mark.map_err(DeliveryError::from)
    };
    let start_ms = period(Some(&state), runtime.now_ms()).start;
    let opens = opened_ms.replace(start_ms) != start_ms;
    let log = OutboxLog::of(db, Some(&state));
    while batches::send(db, runtime, &source, &log, opens, deliver).await? && lost(db, runtime.now_ms())?.is_none() {}
    Ok(is_lost.get().then_some(state.shard))
}

/// Returns the publisher's ledger; `None` until the publisher is known.
pub fn ledger_of(state: &OutboxState) -> Option<ObjectAddress> {
    let current = state.current.as_ref()?;
    Some(ledger::address(&current.publisher_id, ledger::BATCH))
}

/// Returns the ledger's last number if the log lacks that number. A number that is older than any valid click does not
/// count, because its entry may have expired.
pub fn lost(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let mark = batches::mark_of(db, TO_LEDGER)?;
    let oldest = first_number(now_ms.saturating_sub(CLICK_LIFE_DAYS * DAY_MS));
    let is_lost = mark > oldest && !db.query_boolean(sql::HAS_NUMBER, params![mark])?;
    Ok(is_lost.then_some(mark))
}

/// Reads the ledger's mark when a process starts, if batches were sent before. A mark beyond the log shows that the
/// outbox was restored. The outbox's next numbers are then above the mark.
pub async fn read_mark(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> DbResult {
    let known = batches::mark_of(db, TO_LEDGER)?;
    if known == 0 {
        return Ok(());
    }
    let state = endpoint::read(db)?;
    let Some((state, ledger)) = state.as_ref().and_then(|state| Some((state, ledger_of(state)?))) else {
        return Ok(());
    };
    let source = state.shard.object_name();
    match runtime.call(&ledger, ReadMark { source, known }, MARK_TIMEOUT).await {
        Ok(mark) => batches::learn_mark(db, runtime.now_ms(), TO_LEDGER, mark),
        Err(error) => {
            log::warn("batches", format_args!("the ledger did not send its mark: {error}"));
            Ok(())
        }
    }
}
