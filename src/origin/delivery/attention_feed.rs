//! Sends an object's open items to the operator's `attention`.
//!
//! The items are rows of a table in the object. Triggers open and end them in the transaction of the change. So no code
//! path can forget an item, and a conversion that needs no attention writes nothing. A batch has the items that changed
//! since the last confirmed batch. The receiver declines an item for which it has no room. A declined item stays in
//! this object and is offered again later.
//!
//! A batch names its predecessor and the last confirmed batch. If the receiver lacks the confirmed batch, or has a
//! batch that came after the predecessor, then the sender or the receiver was restored or lost. The receiver's answer
//! says so, and the sender resends all items. An object that has sent a batch sends at least one per day, so that a
//! loss is noticed even without changes.

pub mod sql;

use super::feed::{self, FEED_MS, Feed, Prepared};
use contract::{
    attention::{self, AttentionBatch, AttentionItem, DayRewards, DeclinedItems, Kind},
    ledger::Vouched,
};
use domain::model::{AppId, DAY_MS, MINUTE_MS, MicroUsd, PublisherId, UtcDay};
use platform::{Database, DatabaseError, DbResult, Row, database::json, params};

/// The time until declined items are offered again, in milliseconds.
pub const OFFER_MS: i64 = 10 * MINUTE_MS;
/// Maximum items of a batch. Each takes about 200 bytes.
pub const ITEMS: usize = 200;
/// Maximum length of a reason, in bytes.
const MAX_REASON: usize = 200;

/// The object that reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// The app of an outbox; `None` for other objects.
    pub app: Option<AppId>,
    pub publisher: Option<PublisherId>,
    /// An outbox's rewards of the last compared day; `None` for other objects.
    pub rewards: Option<DayRewards>,
}

/// The row of `attention_feed`.
struct FeedRow {
    sequence: i64,
    confirmed: i64,
    attempts: u32,
    sends_at_ms: Option<i64>,
    resets: bool,
    complete_ms: i64,
    ping_ms: Option<i64>,
}

fn read(db: &impl Database) -> DbResult<FeedRow> {
    let row = db.query_first(sql::GET_FEED, &[])?;
    let row = row.ok_or_else(|| DatabaseError("the table attention_feed has no row".into()))?;
    Ok(FeedRow {
        sequence: row.integer(0)?,
        confirmed: row.integer(1)?,
        attempts: row.number(2)?,
        sends_at_ms: row.optional_integer(3)?,
        resets: row.boolean(4)?,
        complete_ms: row.integer(5)?,
        ping_ms: row.optional_integer(6)?,
    })
}

/// Returns the time of the alarm for a batch; `None` if nothing is to be sent.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    Ok(feed::alarm_ms(read(db)?.sends_at_ms, now_ms))
}

/// Opens an item for a batch that its receiver refused, and ends the item of the late batch. The batch begins after the
/// number `after`.
pub fn open_refused(db: &impl Database, now_ms: i64, destination: &str, after: i64, cause: &str) -> DbResult {
    let subject = subject(destination, after);
    let end = cause.floor_char_boundary(MAX_REASON);
    let reason = cause.get(..end).unwrap_or_default();
    end_item(db, Kind::BatchLate, &subject)?;
    db.execute(sql::OPEN_REFUSED, params![subject, now_ms, reason])
}

/// Opens an item for a batch whose receiver does not answer, unless an item for its refusal is open.
pub fn open_late(db: &impl Database, now_ms: i64, destination: &str, after: i64) -> DbResult {
    db.execute(sql::OPEN_LATE, params![subject(destination, after), now_ms])
}

/// Ends the items of a batch that was applied.
pub fn end_batch(db: &impl Database, destination: &str, after: i64) -> DbResult {
    db.execute(sql::END_BATCH, params![subject(destination, after)])
}

fn subject(destination: &str, after: i64) -> String {
    format!("{destination}: batch after {after}")
}

/// Opens an item for a day on which the ledger's clicks or revenue differ from the sender's log. The reason says
/// whether the ledger or the log is behind.
pub fn open_differing(db: &impl Database, now_ms: i64, subject: &str, vouched: &Vouched) -> DbResult {
    let reason = match (vouched.missing_micro_usd, vouched.missing_clicks) {
        (1.., _) | (0, 1..) => "ledger_behind",
        _ => "log_behind",
    };
    let amount = (vouched.missing_micro_usd != 0).then(|| {
        let mut amount = String::new();
        MicroUsd(vouched.missing_micro_usd.saturating_abs()).write_usd(&mut amount);
        amount
    });
    db.execute(sql::OPEN_DIFFERING, params![subject, now_ms, reason, amount])
}

/// Ends an item, such as that of a day that was restated.
pub fn end_item(db: &impl Database, kind: Kind, subject: &str) -> DbResult {
    db.execute(sql::END_ITEM, params![kind.number(), subject])
}

/// Opens a ledger's item for a day.
pub fn open_day(db: &impl Database, now_ms: i64, kind: Kind, day: UtcDay, reason: &str) -> DbResult {
    db.execute(sql::OPEN_DAY, params![kind.number(), day.to_string(), now_ms, reason])
}

/// Makes the next batch due, although no item has changed.
pub fn send_soon(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::PING, params![now_ms])
}

/// Marks all changes as sent, so that no batch is due.
pub fn drop_changes(db: &impl Database) -> DbResult {
    db.execute(sql::DROP_CHANGES, &[])?;
    db.execute(sql::DROP_PING, &[])
}

/// The feed of an object's items. `source` is called for each batch. If it returns `None`, nothing is sent.
pub struct AttentionFeed<'a, D> {
    pub db: &'a D,
    pub source: &'a dyn Fn() -> DbResult<Option<Source>>,
}

/// The changes that the confirmation of a batch settles.
pub struct Marks {
    ping_ms: Option<i64>,
    /// The change counts of the changed items, which come first in the batch. The batch's other items were declined
    /// before.
    changes: Vec<i64>,
}

impl<D: Database> Feed for AttentionFeed<'_, D> {
    type Batch = Box<AttentionBatch>;
    type Marks = Marks;
    const NAME: &'static str = "attention";

    fn sends_at_ms(&self) -> DbResult<Option<i64>> {
        Ok(read(self.db)?.sends_at_ms)
    }

    fn attempts(&self) -> DbResult<u32> {
        Ok(read(self.db)?.attempts)
    }

    fn prepare(&self, now_ms: i64) -> DbResult<Option<Prepared<Self>>> {
        let (db, Some(source)) = (self.db, (self.source)()?) else {
            return Ok(None);
        };
        let row = read(db)?;
        let next_ms = now_ms.saturating_add(FEED_MS);
        let sequence = db.query_integer(sql::BEGIN_BATCH, params![now_ms, next_ms])?;
        let sequence = sequence.ok_or_else(|| DatabaseError("the table attention_feed has no row".into()))?;
        let mut rows = db.query(sql::CHANGED, params![ITEMS])?;
        let changes: Vec<i64> = rows.iter().map(|row| row.integer(6)).collect::<Result<_, _>>()?;
        let free = ITEMS.saturating_sub(rows.len());
        if free > 0 && row.ping_ms.is_some_and(|ping_ms| ping_ms <= now_ms) {
            rows.append(&mut db.query(sql::DECLINED, params![free])?);
        }
        let is_complete = changes.len() < ITEMS;
        let owes_since_ms = match is_complete {
            true => None,
            false => db.query_integer(sql::OLDEST_CHANGE, &[])?,
        };
        let batch = AttentionBatch {
            source: source.name,
            app: source.app,
            publisher: source.publisher,
            sequence,
            before: row.sequence,
            confirmed: row.confirmed,
            at_ms: now_ms,
            // The items that did not fit into this batch changed after the last complete batch, and no item changed
            // before it was opened.
            owes_since_ms: owes_since_ms.map(|since_ms| since_ms.max(row.complete_ms)),
            next_by_ms: feed::promise_ms(!changes.is_empty(), now_ms),
            resets: row.resets,
            counts: count_open(db)?,
            items: rows.iter().map(item).collect::<Result<_, _>>()?,
            rewards: source.rewards,
        };
        Ok(Some(Prepared {
            batch: Box::new(batch),
            receiver: attention::address(),
            is_complete,
            marks: Marks { ping_ms: row.ping_ms, changes },
        }))
    }

    fn confirm(&self, now_ms: i64, prepared: &Prepared<Self>, answer: &DeclinedItems) -> DbResult {
        let db = self.db;
        let (batch, marks) = (&prepared.batch, &prepared.marks);
        let is_declined = |place: usize| u32::try_from(place).is_ok_and(|place| answer.declined.contains(&place));
        let offered = batch.items.len().saturating_sub(marks.changes.len());
        // The row of an item that was declined before changes only if the receiver accepts the item now.
        let settled: Vec<_> = batch
            .items
            .iter()
            .enumerate()
            .filter_map(|(place, item)| {
                let declined = is_declined(place);
                match marks.changes.get(place) {
                    Some(changes) => Some((item.kind.number(), &item.subject, Some(*changes), declined)),
                    None => (!declined).then_some((item.kind.number(), &item.subject, None, false)),
                }
            })
            .collect();
        let taken = settled.len().saturating_sub(marks.changes.len());
        let has_room = taken > 0 && taken == offered;
        let wait_ms = if !marks.changes.is_empty() || has_room || batch.resets {
            FEED_MS
        } else if !answer.declined.is_empty() {
            OFFER_MS
        } else {
            DAY_MS
        };
        db.transaction(|| {
            if !settled.is_empty() {
                let settled = json(&settled)?;
                db.execute(sql::DELETE_ENDED, params![settled.as_str()])?;
                db.execute(sql::CONFIRM_ITEMS, params![settled])?;
            }
            if answer.is_incomplete {
                db.execute(sql::TELL_AGAIN, &[])?;
            }
            db.execute(
                sql::CONFIRM_BATCH,
                params![
                    batch.sequence,
                    prepared.is_complete.then_some(batch.at_ms),
                    now_ms.saturating_add(wait_ms),
                    answer.is_incomplete,
                    marks.ping_ms
                ],
            )
        })
    }

    fn put_off(&self, until_ms: i64) -> DbResult {
        self.db.execute(sql::PUT_OFF, params![until_ms])
    }
}

fn count_open(db: &impl Database) -> DbResult<Vec<(Kind, i64)>> {
    let mut counts = Vec::new();
    for kind in Kind::ALL.iter().filter(|kind| kind.is_limited()) {
        let limits = params![kind.number(), AttentionBatch::MAX_COUNTED];
        match db.query_integer(sql::COUNT_OPEN, limits)? {
            None | Some(0) => {}
            Some(open) => counts.push((*kind, open)),
        }
    }
    Ok(counts)
}

fn item(row: &Row) -> DbResult<AttentionItem> {
    Ok(AttentionItem {
        kind: row.decode(0, Kind::from_number)?,
        subject: row.text(1)?.to_owned(),
        since_ms: row.integer(2)?,
        reason: row.text(3)?.to_owned(),
        payout: row.optional_text(4)?.map(str::to_owned),
        is_open: row.boolean(5)?,
    })
}
