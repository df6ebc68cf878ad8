//! The commands that an outbox carries out without calling another object.

use super::{
    callbacks::replay,
    changes,
    conversions::txns,
    endpoint, erasure, log,
    peers::Peers,
    story,
    sums::{day, journal, revenue_batches::OutboxLog},
};
use crate::delivery::attention_feed::end_item;
use contract::{
    attention::Kind,
    outbox::{
        ClaimTxn, Claimed, Command, Enable, Erase, FindTxn, FreeTxn, Get, OutboxDay, OutboxShard, Replay, Reply,
        Restated,
    },
};
use domain::model::common;
use platform::{Database, Result};

/// Carries out a command synchronously.
pub fn carry_out(db: &impl Database, peers: &impl Peers, shard: OutboxShard, command: Command) -> Result<Reply> {
    let (now_ms, claim_ms) = (peers.now_ms(), peers.claim_ms());
    if matches!(command, Command::Replay(_) | Command::ReplayReward(_) | Command::ReplayRewards(_) | Command::Enable(_))
    {
        // These commands make callbacks due.
        peers.state_cache().lacks_endpoint.set(false);
    }
    let done = |()| Reply::Done {};
    let claimed = |claimed| Reply::Claimed(Claimed { claimed });
    match command {
        Command::Settings(settings) => endpoint::store_settings(db, peers, shard, &settings).map(done),
        Command::ClaimApp(claim) => endpoint::claim_app(db, shard, claim).map(Reply::ClaimedApp),
        Command::ClaimTxn(ClaimTxn(txn)) => Ok(claimed(txns::claim(db, now_ms, shard, &txn)?)),
        Command::FindTxn(FindTxn(txn)) => Ok(claimed(txns::is_free(db, &txn)?)),
        Command::FreeTxn(FreeTxn(txn)) => Ok(done(txns::free(db, &txn)?)),
        Command::Disabled(disabled) => Ok(done(endpoint::disable(db, now_ms, disabled)?)),
        Command::List(list) => log::list(db, &list, log::WALK).map(Reply::Page),
        Command::Get(Get { transaction_id }) => log::get(db, &transaction_id).map(Reply::Operator),
        Command::Replay(Replay { transaction_id }) => {
            replay::replay(db, now_ms, &transaction_id, claim_ms).map(Reply::Operator)
        }
        Command::ReadReward(read) => story::read(db, &read).map(Reply::Operator),
        Command::ReadChanges(read) => changes::read(db, now_ms, shard, &read).map(Reply::Changes),
        Command::ReadClick(read) => story::of_click(db, &read).map(Reply::Click),
        Command::ReplayReward(replay) => story::replay_one(db, now_ms, &replay, claim_ms).map(Reply::Operator),
        Command::ReplayRewards(step) => story::replay_some(db, now_ms, &step, claim_ms).map(Reply::Replayed),
        Command::Status(_) => Ok(Reply::Standing(replay::standing(db)?)),
        Command::Enable(Enable { at_ms }) => replay::enable(db, now_ms, claim_ms, at_ms).map(Reply::Standing),
        Command::Erase(Erase { user_id, is_witness }) => {
            let erased = match is_witness {
                true => erasure::erase_journal(db, &user_id),
                false => erasure::erase(db, now_ms, shard, &user_id),
            };
            erased.map(Reply::Operator)
        }
        Command::ReadDay(read) => {
            let refilled_ms = endpoint::read(db)?.map_or(0, |state| state.refilled_ms);
            let part = day::read(db, read, day::STEP)?;
            Ok(Reply::Day(OutboxDay { refilled_ms, ..part }))
        }
        Command::ListDay(list) => Ok(Reply::DayEntries(day::list(db, &list, day::STEP)?)),
        Command::Restated(Restated { day }) => Ok(done(end_item(db, Kind::Differs, &day.to_string())?)),
        Command::SumDay(sum) => {
            let state = endpoint::read(db)?;
            let log = OutboxLog::of(db, state.as_ref());
            Ok(Reply::DaySums(day::sums(now_ms, &log, sum)?))
        }
        Command::AddJournal(batch) => Ok(Reply::Mark(journal::add(db, &batch)?)),
        Command::ReadJournal(read) => Ok(Reply::Journal(journal::read(db, &read)?)),
        Command::Convert(_)
        | Command::Settle(_)
        | Command::SettleMany(_)
        | Command::SetOffer(_)
        | Command::CheckPostback(_)
        | Command::SendAll(_)
        | Command::Test(_)
        | Command::Diagnose(_) => Err(common::NOT_FOUND.into()),
    }
}

/// True if a restored outbox would answer the command wrongly until the outbox is refilled from its journal.
pub fn needs_all_that_was_written(command: &Command) -> bool {
    matches!(
        command,
        Command::Settle(_)
            | Command::SettleMany(_)
            | Command::SetOffer(_)
            | Command::ReadDay(_)
            | Command::SumDay(_)
            | Command::ListDay(_)
            | Command::Erase(_)
            | Command::List(_)
            | Command::Get(_)
            | Command::ReadReward(_)
            | Command::ReadClick(_)
            | Command::ReadChanges(_)
            | Command::ClaimTxn(_)
            | Command::FindTxn(_)
            | Command::FreeTxn(_)
    )
}
