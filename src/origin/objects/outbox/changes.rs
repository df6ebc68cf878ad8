//! The rewards of an outbox in the order of their newest changes, for requests with a publisher's report key. Each
//! change has a number of the log: the number of an entry, of a later payment, or of a row in `changes`. The delivery
//! of a callback is not a change.

pub mod sql;

use serde::Serialize;
use serde_json::value::to_raw_value;

use super::{
    endpoint,
    story::{reward::Reward, unknown_reward},
    sums::journal,
};
use contract::outbox::{ChangedReward, ChangedRewards, OutboxShard, ReadChanges};
use domain::{
    conversions::log_number::{NUMBERS_PER_MS, first_number},
    model::SECOND_MS,
};
use platform::{Database, DbResult, Failure, Result, Row, params};

/// Maximum numbers of the log that one call examines. This takes about 20 ms, during which the object answers no other
/// request.
const NUMBERS: i64 = 2_000;

/// A reward and the time of its last change.
#[derive(Serialize)]
struct Changed<'r> {
    changed_ts: i64,
    #[serde(flatten)]
    reward: Reward<'r>,
}

/// Reads the rewards whose newest change is in a range of the log. The answer may cover only the beginning of the
/// range, up to `through`. An answer without rewards may also be partial.
///
/// # Errors
/// `not_found` if the app belongs to another publisher.
pub fn read(db: &impl Database, now_ms: i64, shard: OutboxShard, read: &ReadChanges) -> Result<ChangedRewards> {
    // An outbox without a publisher never had a conversion.
    let Some(current) = endpoint::read(db)?.and_then(|outbox| outbox.current) else {
        return Ok(ChangedRewards { rewards: vec![], through: read.through });
    };
    if current.publisher_id != read.publisher {
        return Err(unknown_reward().into());
    }
    // Every later write gets a higher number, so the log up to `through` is final.
    let through = read.through.min(first_number(now_ms).saturating_sub(1));
    let end = db.query_integer(journal::sql::END_OF_BATCH, params![read.after, through, NUMBERS])?;
    let Some(end) = end else {
        return Ok(ChangedRewards { rewards: vec![], through });
    };
    let most = read.limit.saturating_add(1);
    let mut rows = db.query(sql::CHANGED, params![read.after, end, most])?;
    let limit = usize::try_from(read.limit).unwrap_or(usize::MAX);
    let is_cut = rows.len() > limit;
    rows.truncate(limit);
    let rewards = rows.iter().map(|row| changed(row, shard));
    let rewards: Vec<ChangedReward> = rewards.collect::<Result<_, _>>()?;
    let through = match rewards.last() {
        Some(last) if is_cut => last.number,
        // The call has examined `NUMBERS` numbers, and the range has more.
        _ if has_more(db, end, through)? => end,
        _ => through,
    };
    Ok(ChangedRewards { rewards, through })
}

fn has_more(db: &impl Database, after: i64, through: i64) -> DbResult<bool> {
    let next = db.query_integer(journal::sql::END_OF_BATCH, params![after, through, 1_i64])?;
    Ok(next.is_some())
}

fn changed(row: &Row, shard: OutboxShard) -> Result<ChangedReward> {
    let number = row.integer(15)?;
    let changed = Changed {
        changed_ts: number.div_euclid(NUMBERS_PER_MS).div_euclid(SECOND_MS),
        reward: Reward::read(row, shard.app)?,
    };
    Ok(ChangedReward { number, reward: to_raw_value(&changed).map_err(|error| Failure::Internal(error.to_string()))? })
}
