//! Activity objects: one for each publisher, and one for the operator. Other objects send their changes to these
//! objects, so that a page needs one call, however many apps and outboxes there are. The received changes are copies
//! that can be resent, and no money depends on them.
//!
//! - [`publisher`]: the rewards of a publisher's outboxes ([`crate::objects::outbox::feed`]);
//! - [`attention`]: the items that need the operator's attention;
//! - [`alarms`]: the webhooks that tell a publisher or the operator of problems;
//! - [`register`]: the registers of other objects, each in an activity object of its own;
//! - [`sweep`][]: retention.

pub mod alarms;
pub mod attention;
pub mod publisher;
pub mod service;
pub mod sweep;

pub use publisher::sql::MIGRATIONS;

use crate::delivery::register;
use contract::activity::{Command, FindOutbox, Found, Reply};
use domain::model::common;
use platform::{Database, DbResult, Result, params};
use publisher::{feed_batches, overview, replays, rewards, sql};

/// Carries out one command.
///
/// # Errors
/// The command is refused, or the database failed. After a failure of the database the command may be retried.
pub fn handle(db: &impl Database, now_ms: i64, command: Command) -> Result<Reply> {
    match command {
        Command::Feed(batch) => Ok(Reply::FeedAnswer(feed_batches::apply(db, now_ms, &batch)?)),
        Command::Read(read) => Ok(Reply::Activity(overview::read(db, now_ms, read)?)),
        Command::List(list) => rewards::list(db, now_ms, &list).map(Reply::Page),
        Command::StartReplay(start) => replays::start(db, now_ms, &start).map(Reply::Operator),
        Command::ReadReplay(read) => replays::read(db, &read).map(Reply::Operator),
        Command::CancelReplay(cancel) => replays::cancel(db, now_ms, &cancel).map(Reply::Operator),
        Command::EndReplaysOf(end) => replays::end_of_user(db, now_ms, &end).map(Reply::Done),
        Command::Attention(batch) => {
            let declined = attention::feed_batches::apply(db, now_ms, &batch, attention::feed_batches::MAX_ITEMS)?;
            Ok(Reply::Declined(declined))
        }
        Command::Size(size) => Ok(Reply::Done(attention::size::put(db, now_ms, &size)?)),
        Command::ListAttention(list) => attention::list::list(db, now_ms, &list).map(Reply::Operator),
        Command::Isolate(metrics) => {
            let done = attention::isolates::put_isolate(db, &metrics, attention::isolates::MAX_FIGURES)?;
            Ok(Reply::Done(done))
        }
        Command::ReadIsolateMetrics(_) => attention::isolates::read(db, now_ms).map(Reply::Operator),
        Command::Restored(restored) => Ok(Reply::Done(attention::restored::put(db, now_ms, &restored)?)),
        Command::EndItem(end) => attention::restored::end(db, end).map(Reply::Operator),
        Command::AddEntries(add) => Ok(Reply::Mark(register::receive(db, now_ms, &add)?)),
        Command::Announce(announce) => Ok(Reply::Done(register::announced::note(db, announce)?)),
        Command::ReadRegister(read) => Ok(Reply::Register(register::read(db, read)?)),
        Command::RaiseAlarms(raise) => Ok(Reply::Done(alarms::raise_all(db, now_ms, &raise)?)),
        // The service carries these out, because they need more than the database.
        Command::CountReplay(_)
        | Command::SetAlarmAddress(_)
        | Command::ReadAlarmAddress(_)
        | Command::TestAlarms(_) => Err(common::NOT_FOUND.into()),
        Command::Find(find) => Ok(Reply::Found(Found { found: has_outbox(db, find)? })),
    }
}

fn has_outbox(db: &impl Database, find: FindOutbox) -> DbResult<bool> {
    let shard = find.shard.map(u32::from);
    db.query_boolean(sql::HAS_OUTBOX, params![find.app.number(), shard])
}
