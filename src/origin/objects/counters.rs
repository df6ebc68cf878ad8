//! Counters: 64 objects, chosen by a hash of the offer's id. They enforce daily caps exactly. Outboxes send conversions
//! to them, for the offers' 30-day figures. Eight of the counters also add up the clicks of the edge's isolates and
//! send the sums to the publishers' ledgers (docs/DECISIONS.md, "Clicks").

pub mod cap_alarms;
mod caps;
mod counting;
mod daily;
pub mod flushes;
pub mod log;
pub mod night;
pub mod restored;
pub mod service;
pub mod sql;
mod sweep;

pub use caps::TakenCounts;
pub use sql::MIGRATIONS;
pub use sweep::alarm;

use crate::delivery::{attention_feed, batches};
use contract::{
    attention::Kind,
    counters::{Command, Reply, Restated},
    operation::Applied,
};
use domain::model::SECOND_MS;
use flushes::Tally;
use log::ClickLog;
use platform::{Database, DbResult};

/// Carries out one command.
///
/// # Errors
/// The database failed; the command may be retried.
pub fn handle<D: Database>(db: &D, counts: &TakenCounts, now_ms: i64, command: Command) -> DbResult<Reply> {
    match command {
        Command::Take(take) => caps::take(db, counts, now_ms, &take).map(Reply::Taken),
        Command::SetCap(cap) => caps::set_cap(db, counts, now_ms, &cap).map(|()| Reply::Done {}),
        Command::Flush(flush) => {
            let mut tally = Tally::read(db, now_ms)?;
            let applied = !tally.has(&flush);
            tally.append(db, now_ms, &[flush])?;
            Ok(Reply::Applied(Applied { applied }))
        }
        Command::AddConversions(batch) => counting::add_conversions(db, &batch).map(Reply::Mark),
        Command::ReadTaken(read) => Ok(Reply::TakenOfDay(caps::read_taken(db, counts, read)?)),
        Command::SumDay(sum) => log::sums_of_day(db, now_ms, &sum).map(Reply::DaySums),
        Command::Restated(Restated { publisher, day }) => {
            attention_feed::end_item(db, Kind::Differs, &night::subject(publisher.as_str(), day))?;
            Ok(Reply::Done {})
        }
        Command::Stats(stats) => counting::stats(db, counts, &stats).map(Reply::Stats),
    }
}

/// The number of UTC days that `Stats` covers, including today.
const STATS_DAYS: i32 = 30;

/// How long clicks are collected before batches are made, in milliseconds. Each batch writes eleven rows in two
/// objects, so fewer and larger batches cost less.
pub const COALESCE_MS: i64 = 8 * SECOND_MS;

/// Returns when the alarm must fire next: the earliest due sweep, batch, fold, nightly vouching, attention batch or cap
/// alarm.
pub fn next_alarm<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        batches::due_ms(db, &ClickLog(db, None), now_ms.saturating_add(COALESCE_MS))?,
        log::fold_due_ms(db)?.map(|due_ms| due_ms.max(now_ms.saturating_add(COALESCE_MS))),
        night::due_ms(db, now_ms)?,
        attention_feed::due_ms(db, now_ms)?,
        cap_alarms::due_ms(db)?,
    ]))
}

/// Returns when the alarm must fire after clicks were appended. Clicks do not take from caps, so no cap alarm becomes
/// due. No retry becomes due either: a batch that is retried has already set its alarm.
pub fn alarm_after_clicks<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        batches::opens_ms(db, &ClickLog(db, None), now_ms.saturating_add(COALESCE_MS))?,
    ]))
}

/// Like [`alarm_after_clicks`], but after any other command, which may have taken from a cap.
pub fn alarm_after_command<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    Ok(earliest([alarm_after_clicks(db, now_ms)?, cap_alarms::due_ms(db)?]))
}

fn earliest<const N: usize>(times: [Option<i64>; N]) -> Option<i64> {
    times.into_iter().flatten().min()
}
