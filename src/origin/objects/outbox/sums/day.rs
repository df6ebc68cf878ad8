//! The payments of an outbox on a UTC day, in its log and in the batches that the ledger has confirmed. The operator
//! compares both with the ledger's facts (docs/OPERATING.md, "Reconcile a day").

use crate::{
    delivery::{
        attention_feed,
        batches::{self, Batch},
    },
    objects::outbox::{log::entries::TO_LEDGER, sql},
};
use contract::{
    attention::DayRewards,
    outbox::{DayEntries, DayEntry, ListDay, OfferDay, OutboxDay, ReadDay},
};
use domain::{
    conversions::log_number::first_number,
    model::{
        OfferId,
        time::{DAY_MS, SECOND_MS, UtcDay},
    },
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    log, params,
};

/// Entries that one step examines at most: about 50 ms, in which the object answers no request.
pub const STEP: i64 = 5_000;

/// Acknowledges a batch, and adds one to the ledger to the confirmed sums, once.
pub fn confirm(db: &impl Database, batch: &Batch) -> Result<(), DatabaseError> {
    if batch.destination != TO_LEDGER {
        return batches::acknowledge(db, batch);
    }
    db.transaction(|| {
        db.execute(sql::ADD_CONFIRMED, params![TO_LEDGER, batch.sequence])?;
        batches::acknowledge(db, batch)
    })
}

/// One step through the payments of a day, over at most `entries` entries.
pub fn read(
    db: &impl Database,
    ReadDay { day, after }: ReadDay,
    entries: i64,
) -> Result<OutboxDay, DatabaseError> {
    let step = DayPage::of(db, day, after, entries)?;
    let offers = db.query(sql::SUM_DAY, &step.parameters())?;
    let offers = offers.iter().map(|row| {
        Ok(OfferDay {
            offer: row.parse(0, OfferId::parse)?,
            rewards: row.integer(1)?,
            rewards_after_24_h: row.integer(2)?,
            rewards_by_superseded_terms: row.integer(3)?,
            reversals: row.integer(4)?,
            paid_micro_usd: row.integer(5)?,
            waiting_micro_usd: 0,
        })
    });
    let mut part = OutboxDay {
        offers: offers.collect::<Result<_, DatabaseError>>()?,
        confirmed_micro_usd: 0,
        next: step.next(),
    };
    if part.next.is_none() {
        for row in db.query(sql::SUM_WAITING, params![TO_LEDGER, day.number()])? {
            part.offers.push(OfferDay {
                waiting_micro_usd: row.integer(1)?,
                ..OfferDay::new(row.parse(0, OfferId::parse)?)
            });
        }
        let confirmed = db.query_integer(sql::GET_CONFIRMED, params![day.number()])?;
        part.confirmed_micro_usd = confirmed.unwrap_or(0);
    }
    Ok(part)
}

/// One step through the transactions of an offer on a day, in the order of their numbers.
pub fn list(db: &impl Database, list: &ListDay, entries: i64) -> Result<DayEntries, DatabaseError> {
    let step = DayPage::of(db, list.day, list.after, entries)?;
    let mut parameters = step.parameters().to_vec();
    parameters.extend([list.offer.as_str().into(), list.limit.into()]);
    let rows = db.query(sql::LIST_DAY, &parameters)?;
    let is_full = u32::try_from(rows.len()) == Ok(list.limit);
    let entry = |row: &Row| {
        Ok(DayEntry {
            transaction_id: row.text(1)?.to_owned(),
            offer_id: list.offer.clone(),
            paid_micro_usd: row.integer(2)?,
        })
    };
    Ok(DayEntries {
        next: match rows.last() {
            Some(last) if is_full => Some(last.integer(0)?),
            _ => step.next(),
        },
        entries: rows.iter().map(entry).collect::<Result<_, DatabaseError>>()?,
    })
}

/// A part of the entries that may have been paid on a day.
struct DayPage {
    day: UtcDay,
    after: i64,
    /// The number after which the day's own numbers go on.
    from: i64,
    /// The last entry.
    last: i64,
    is_last: bool,
}

impl DayPage {
    fn of(db: &impl Database, day: UtcDay, after: i64, entries: i64) -> Result<Self, DatabaseError> {
        // Numbers follow the time, and are ahead of it after the clock was set back (see `numbers`).
        let end = first_number(day.start_ms().saturating_add(2 * DAY_MS));
        let from = after.max(first_number(day.start_ms()).saturating_sub(1));
        let row = db.query_first(sql::LAST_OF_DAY, params![from, after, end, day.number(), entries])?;
        let row = row.unwrap_or(Row(vec![]));
        Ok(Self {
            day,
            after,
            from,
            last: row.optional_integer(0)?.unwrap_or(after),
            is_last: row.integer(1)? < entries,
        })
    }

    fn next(&self) -> Option<i64> {
        (!self.is_last).then_some(self.last)
    }

    /// The parameters of `sql::SUM_DAY`.
    fn parameters(&self) -> [Value; 6] {
        let start_ms = self.day.start_ms();
        let second = |ms: i64| ms.div_euclid(SECOND_MS);
        [
            self.from.into(),
            self.after.into(),
            self.last.into(),
            self.day.number().into(),
            second(start_ms).into(),
            second(start_ms.saturating_add(DAY_MS)).into(),
        ]
    }
}

/// A step of the night's comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonStep {
    pub part: OutboxDay,
    /// Whether the log differs from the batches; `None` before the last step.
    pub differs: Option<bool>,
}

/// How far the nights' comparisons are.
struct Progress {
    /// The last day that was compared.
    compared: UtcDay,
    /// The day that is compared now, or was last, with its last entry examined, and its sums so far.
    comparing: UtcDay,
    entry: i64,
    difference_micro_usd: i64,
    rewards: DayRewards,
}

impl Progress {
    fn read(db: &impl Database) -> Result<Self, DatabaseError> {
        let row = db.query_first(sql::GET_COMPARED, &[])?.unwrap_or(Row(vec![]));
        let day = |column| {
            let day = UtcDay::from_number(row.integer(column)?);
            day.ok_or_else(|| DatabaseError("a compared day is damaged".into()))
        };
        let comparing = day(1)?;
        Ok(Self {
            compared: day(0)?,
            comparing,
            entry: row.integer(2)?,
            difference_micro_usd: row.integer(3)?,
            rewards: DayRewards {
                day: comparing,
                rewards: row.integer(4)?,
                after_24_h: row.integer(5)?,
                by_superseded_terms: row.integer(6)?,
            },
        })
    }

    fn begin(self, day: UtcDay) -> Self {
        Self {
            comparing: day,
            entry: 0,
            difference_micro_usd: 0,
            rewards: DayRewards {
                day,
                rewards: 0,
                after_24_h: 0,
                by_superseded_terms: 0,
            },
            ..self
        }
    }

    fn add(&mut self, part: &OutboxDay) {
        self.difference_micro_usd += part.difference_micro_usd();
        self.rewards.rewards += part.sum(|offer| offer.rewards);
        self.rewards.after_24_h += part.sum(|offer| offer.rewards_after_24_h);
        self.rewards.by_superseded_terms += part.sum(|offer| offer.rewards_by_superseded_terms);
        match part.next {
            Some(last) => self.entry = last,
            None => self.compared = self.comparing,
        }
    }

    fn write(&self, db: &impl Database) -> Result<(), DatabaseError> {
        let row = params![
            self.compared.number(),
            self.comparing.number(),
            self.entry,
            self.difference_micro_usd,
            self.rewards.rewards,
            self.rewards.after_24_h,
            self.rewards.by_superseded_terms
        ];
        db.execute(sql::SET_COMPARED, row)
    }
}

/// The rewards of the last compared day. There are none while the next one is compared.
pub fn last_rewards(db: &impl Database) -> Result<Option<DayRewards>, DatabaseError> {
    let progress = Progress::read(db)?;
    let is_complete = progress.comparing == progress.compared;
    Ok((is_complete && progress.rewards.rewards > 0).then_some(progress.rewards))
}

/// Compares yesterday's payments with the batches, one step for each call. After the last step it opens an item for a
/// difference, and has the day's rewards reported. Returns `None` once the day was compared.
pub fn compare_step(
    db: &impl Database,
    now_ms: i64,
    entries: i64,
) -> Result<Option<ComparisonStep>, DatabaseError> {
    let day = UtcDay::of_ms(now_ms).minus(1);
    let mut progress = Progress::read(db)?;
    if progress.compared >= day {
        return Ok(None);
    }
    if progress.comparing != day {
        progress = progress.begin(day);
    }
    let part = read(
        db,
        ReadDay {
            day,
            after: progress.entry,
        },
        entries,
    )?;
    progress.add(&part);
    let difference = progress.difference_micro_usd;
    let differs = part.next.is_none().then_some(difference != 0);
    db.transaction(|| {
        progress.write(db)?;
        if differs.is_some() {
            attention_feed::end_differing(db, now_ms)?;
            if progress.rewards.rewards > 0 {
                attention_feed::send_soon(db, now_ms)?;
            }
        }
        match differs {
            Some(true) => attention_feed::open_differing(db, now_ms, day, difference),
            _ => Ok(()),
        }
    })?;
    if differs == Some(true) {
        log::error(
            "reconcile",
            format_args!("the log of {day} has {difference} micro-USD more than its batches"),
        );
    }
    Ok(Some(ComparisonStep { part, differs }))
}
