//! An outbox that is about to be restored sends everything to its journal, and writes nothing more until it restarts.

use std::rc::Rc;

use super::{OutboxService, Runtime};
use crate::objects::outbox::{callbacks::delivery_log::Observer, endpoint, sql, sums::journal};
use contract::outbox::{Command, OutboxShard, Reply};
use domain::{
    conversions::log_number::{SHARDS, lowest_number},
    model::{SECOND_MS, common},
};
use platform::{ObjectStorage, Result, database::Value, params};

/// How long an outbox writes nothing once it begins to send everything, in milliseconds. The restart must happen in
/// that time.
const LEAVES_MS: i64 = 30 * SECOND_MS;

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Refuses commands whose writes would be lost.
    pub(super) fn refuse_if_leaving(&self, command: &Command) -> Result {
        if self.now_ms() < self.leaves_until_ms.get() && would_be_lost(command) {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(())
    }

    /// Sends all batches now, so that the journal has everything that the restore will lose.
    pub(super) async fn send_all(self: Rc<Self>, shard: OutboxShard) -> Result<Reply> {
        let db = self.shell.ready().await?;
        self.wait_for_start(shard, None).await?;
        if endpoint::read(db)?.is_none() {
            // The outbox never had a conversion.
            return Ok(Reply::Done {});
        }
        let now_ms = self.now_ms();
        self.leaves_until_ms.set(now_ms.saturating_add(LEAVES_MS));
        // This number is above all others in the log, so the journal is sure to go beyond the log of the restored copy.
        let lowest = lowest_number(now_ms, shard.number);
        db.execute(sql::CHANGE, params![lowest, SHARDS, Value::Null, Value::Null])?;
        self.opened_ms.set(i64::MIN);
        Rc::clone(&self).send_batches().await;
        let is_idle = self.conversions.in_use() == 0;
        if is_idle && journal::is_complete(db, self.runtime(), shard).await? {
            Ok(Reply::Done {})
        } else {
            Err(common::UNAVAILABLE.into())
        }
    }
}

/// True if a command writes data that the restored copy would lack.
fn would_be_lost(command: &Command) -> bool {
    matches!(
        command,
        Command::Convert(_)
            | Command::Settle(_)
            | Command::SettleMany(_)
            | Command::Settings(_)
            | Command::SetOffer(_)
            | Command::ClaimApp(_)
            | Command::ClaimTxn(_)
            | Command::FreeTxn(_)
            | Command::Erase(_)
            | Command::Enable(_)
            | Command::Replay(_)
            | Command::ReplayReward(_)
            | Command::ReplayRewards(_)
    )
}
