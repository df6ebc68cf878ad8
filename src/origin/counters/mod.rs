//! `origin/counters`: 64 objects by hash of the offer id. They take from daily caps, exactly, add up what the edge's
//! isolates counted, and hand it on to the publishers' ledgers (`design.md` section 5, "Click caps" and "Counting"). Of
//! conversions they are told by the outboxes, for the offers' 30-day figures.
//!
//! Commands and replies are in [`command`]; this file only leads to the rule behind each.

mod caps;
pub mod command;
mod counting;
#[cfg(target_arch = "wasm32")]
mod shell;
pub mod sql;
mod sweep;

pub use command::{Applied, Command, ConversionSum, Kind, Limit, OfferStats, Reply, Take, Taken};
pub use sql::MIGRATIONS;
pub use sweep::alarm;

use super::{
    command::shard,
    database::{Database, DatabaseError},
    forward::{self, Batch},
};
use crate::catalog::{OfferId, PublisherId};

/// The namespace's binding.
pub const BINDING: &str = "COUNTERS";

/// How many objects there are.
pub const OBJECTS: u64 = 64;

/// The number of the object that counts an offer. A changed number, or name, would lose what the object knows.
pub fn object(offer: &OfferId) -> u64 {
    shard(offer.as_str().as_bytes(), OBJECTS)
}

/// The name of the object that counts an offer.
pub fn object_name(offer: &OfferId) -> String {
    name(object(offer))
}

/// Every object's name, for who asks them all.
pub fn object_names() -> impl Iterator<Item = String> {
    (0..OBJECTS).map(name)
}

/// The name of an object by its number.
pub fn name(object: u64) -> String {
    format!("counters-{object}")
}

/// Carries out one command.
///
/// # Errors
/// What the database says; the command may then be sent again.
pub fn handle<D: Database>(db: &D, now_ms: i64, command: Command) -> Result<Reply, DatabaseError> {
    match command {
        Command::Take(take) => caps::take(db, now_ms, &take).map(Reply::Taken),
        Command::SetLimits { limits } => caps::set_limits(db, &limits).map(|()| Reply::Done {}),
        Command::Flush {
            isolate,
            sequence,
            sums,
        } => counting::flush(db, now_ms, &isolate, sequence, &sums).map(Reply::Applied),
        Command::AddConversions {
            source,
            sequence,
            sums,
        } => counting::add_conversions(db, &source, sequence, &sums).map(Reply::Applied),
        Command::Stats { today } => counting::stats(db, today).map(Reply::Stats),
    }
}

/// Whose ledger a batch of the counters' is for.
///
/// # Errors
/// That its destination is none. It concerns no other batch.
pub fn publisher(batch: &Batch) -> Result<PublisherId, String> {
    let destination = &batch.destination;
    PublisherId::parse(destination).ok_or_else(|| format!("{destination:?} is no publisher's id"))
}

/// When the object has to be woken, given all that it holds: to sweep, or to forward.
///
/// # Errors
/// What the database says.
pub fn next_alarm<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        forward::due_ms(db, now_ms)?,
    ]))
}

/// When a command has the object woken. What only an alarm begins, a batch that is sent again, has its alarm already;
/// so a take asks only whether traffic waits.
///
/// # Errors
/// What the database says.
pub fn alarm_after_command<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    Ok(earliest([
        sweep::due_ms(db, now_ms)?,
        forward::traffic_due_ms(db, now_ms)?,
    ]))
}

fn earliest(times: [Option<i64>; 2]) -> Option<i64> {
    times.into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_of_objects_never_change() {
        let name_of = |offer: &str| object_name(&OfferId::parse(offer).unwrap());
        assert_eq!(name_of("offer-1"), "counters-2");
        assert_eq!(name_of("summer-quest"), "counters-49");
        assert_eq!(name_of("6f1c1a52-3c0e-4c3a-9c39-3f3d7e0b1c55"), "counters-30");
    }

    #[test]
    fn every_offer_has_its_object_among_the_64() {
        let all: BTreeSet<_> = object_names().collect();
        assert_eq!(all.len(), 64);
        let used: BTreeSet<_> = (0..2_000)
            .filter_map(|n| OfferId::parse(&format!("offer-{n}")))
            .map(|id| object_name(&id))
            .collect();
        assert_eq!(used, all);
    }
}
