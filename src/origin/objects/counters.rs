//! Counters: 64 objects, chosen by a hash of the offer's id. They enforce daily caps exactly. Outboxes send them
//! conversions for the offers' 30-day figures. Eight of them add up the clicks of the edge's isolates and send the sums
//! to the publishers' ledgers (docs/DECISIONS.md, "Clicks").

mod caps;
mod counting;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod service;
pub mod sql;
mod sweep;

pub use sql::MIGRATIONS;
pub use sweep::alarm;

use crate::delivery::{
    attention_feed,
    batches::{self, Batch},
};
use contract::counters::{AddConversions, Command, Flush, Reply};
use domain::model::{PublisherId, time::SECOND_MS};
use platform::database::{Database, DatabaseError};

/// Carries out one command.
///
/// # Errors
/// The database failed; the command may then be sent again.
pub fn handle<D: Database>(db: &D, now_ms: i64, command: Command) -> Result<Reply, DatabaseError> {
    match command {
        Command::Take(take) => caps::take(db, now_ms, &take).map(Reply::Taken),
        Command::SetCap(cap) => caps::set_cap(db, now_ms, &cap).map(|()| Reply::Done {}),
        Command::Flush(Flush {
            isolate,
            sequence,
            sums,
        }) => counting::flush(db, now_ms, &isolate, sequence, &sums).map(Reply::Applied),
        Command::AddConversions(AddConversions {
            source,
            sequence,
            sums,
        }) => counting::add_conversions(db, &source, sequence, &sums).map(Reply::Applied),
        Command::ReadTaken(read) => Ok(Reply::TakenOfDay(caps::read_taken(db, &read)?)),
        Command::Stats(stats) => counting::stats(db, &stats).map(Reply::Stats),
    }
}

/// How long traffic is collected before a batch is opened, in milliseconds.
pub const COALESCE_MS: i64 = 2 * SECOND_MS;

/// The publisher whose ledger a batch is for.
///
/// # Errors
/// The batch's destination is not a publisher id. Other batches are not affected.
pub fn publisher(batch: &Batch) -> Result<PublisherId, String> {
    let destination = &batch.destination;
    PublisherId::parse(destination).ok_or_else(|| format!("{destination:?} is no publisher's id"))
}

/// The time for the alarm, given the object's rows: the next sweep, the next batch of sums, or the next one of what wants the
/// operator's attention.
pub fn next_alarm<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        batches::due_ms(db, now_ms.saturating_add(COALESCE_MS))?,
        attention_feed::due_ms(db, now_ms)?,
    ]))
}

/// The time for the alarm after a command. A command begins no retry of a batch, which has its alarm already, so only
/// waiting traffic is checked.
pub fn alarm_after_command<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        batches::traffic_due_ms(db, now_ms.saturating_add(COALESCE_MS))?,
    ]))
}

fn earliest<const N: usize>(times: [Option<i64>; N]) -> Option<i64> {
    times.into_iter().flatten().min()
}
