//! Calls to all outboxes of an app, or to the one that keeps a transaction or a user.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::merge;
use crate::{
    http::{
        Refusal, RequestContext,
        calls::{TIMEOUT, ask_catalog, until_found},
        comparison::read_day,
    },
    objects::outbox::{
        conversions::settlement::{self, Place, settle_in_steps},
        sums::journal,
    },
};
use contract::{
    catalog::{AppSettings, GetAppSettings},
    ledger::{self, CountedDay, OPERATOR, ReadOffers},
    operation::{CallError, Operation, OperatorReply},
    outbox::{
        Enable, Erase, GetStatus, List, OutboxDay, OutboxShard, ReadDay, ReadReward, SettleMany, Settled, Standing,
    },
};
use domain::{
    callbacks::shards,
    conversions::{ids, table::UNKNOWN_CONVERSION},
    model::{AppId, UtcDay},
};
use platform::{CONNECTIONS, ObjectCall, runtime::now_ms};

/// Maximum time for which one call settles conversions, in milliseconds. A step takes a few seconds, and an invocation
/// may make at most 1,000 calls.
const MANY_MS: i64 = 15_000;
/// The timeout of an action. The action may wait for the catalog, a `txn` and the counters, up to 5 s for each.
pub const SETTLE_TIMEOUT: Duration = Duration::from_secs(25);

pub struct Outboxes<'c> {
    context: &'c RequestContext,
    app: AppId,
    pub settings: AppSettings,
}

impl<'c> Outboxes<'c> {
    /// Returns the outboxes of an app in the catalog.
    ///
    /// # Errors
    /// The app is unknown, or the catalog does not answer.
    pub async fn of(context: &'c RequestContext, app: AppId) -> Result<Self, Refusal> {
        let settings = ask_catalog(context, GetAppSettings { app_id: app }).await?;
        Ok(Self::new(context, app, settings))
    }

    pub fn new(context: &'c RequestContext, app: AppId, settings: AppSettings) -> Self {
        Self { context, app, settings }
    }

    pub async fn call<O: Operation>(
        &self,
        number: u8,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let shard = OutboxShard::new(self.app, number);
        self.context.workers.call(&shard.address(), operation, timeout).await
    }

    /// Returns the numbers of the app's outboxes. All are asked, because a catalog that was restored from a backup does
    /// not know which outboxes have ever had a conversion.
    pub fn numbers(&self) -> Vec<u8> {
        (0..self.settings.outbox_shards).collect()
    }

    /// Sends an operation to each outbox.
    async fn call_each<O: Operation + Copy>(
        &self,
        operation: O,
        timeout: Duration,
    ) -> Result<Vec<O::Answer>, CallError> {
        ask_all(self.numbers(), async |number| self.call(number, operation, timeout).await).await
    }

    fn has_callback(&self) -> bool {
        self.settings.callback.sealed.is_some()
    }

    pub async fn standing(&self, timeout: Duration) -> Result<Standing, CallError> {
        let each = self.call_each(GetStatus {}, timeout).await?;
        Ok(merge::standing(self.has_callback(), each))
    }

    pub async fn enable(&self) -> Result<Standing, CallError> {
        let enable = Enable { at_ms: now_ms() };
        let each = self.call_each(enable, TIMEOUT).await?;
        Ok(merge::standing(self.has_callback(), each))
    }

    /// Returns a page of the log. Only the last page may be empty.
    pub async fn list(&self, list: &List) -> Result<merge::Page, Refusal> {
        let mut list = list.clone();
        until_found(async || {
            let page = self.list_part(&list).await?;
            list.before = page.before;
            let is_found = !page.conversions.is_empty() || list.before.is_none();
            Ok(is_found.then_some(page))
        })
        .await
    }

    async fn list_part(&self, list: &List) -> Result<merge::Page, CallError> {
        let ask = async |number, part| self.call(number, part, TIMEOUT).await;
        let numbers = match &list.user_id {
            Some(user_id) => vec![shards::of_user(user_id, self.settings.outbox_shards)],
            None => self.numbers(),
        };
        merge::list(&numbers, list, ask).await
    }

    pub async fn read_story(&self, transaction_id: &str) -> Result<OperatorReply, Refusal> {
        let read = ReadReward {
            publisher: self.settings.publisher_id.clone(),
            transaction_id: transaction_id.to_owned(),
            is_analyst: false,
        };
        self.of_transaction(transaction_id, read, TIMEOUT).await
    }

    /// Sends an operation to the outbox that keeps a transaction.
    pub async fn of_transaction<O: Operation>(
        &self,
        transaction_id: &str,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, Refusal> {
        let keeper = ids::shard_of(transaction_id).filter(|number| *number < self.settings.outbox_shards);
        Ok(self.call(keeper.ok_or(UNKNOWN_CONVERSION)?, operation, timeout).await?)
    }

    /// Settles the matching conversions after a place, for up to [`MANY_MS`]. Returns the place at which to continue.
    pub async fn settle_many(&self, first: &SettleMany, from: Place) -> Result<(Settled, Option<Place>), CallError> {
        let until_ms = now_ms().saturating_add(MANY_MS);
        let has_time = || now_ms() < until_ms;
        let mut all = Settled::default();
        for number in self.numbers().into_iter().skip(from.outbox.into()) {
            let first = SettleMany { after: if number == from.outbox { from.after } else { 0 }, ..first.clone() };
            let step = async |step: SettleMany| self.call(number, step, SETTLE_TIMEOUT).await;
            let settled = settle_in_steps(&first, has_time, step).await?;
            let next = settled.next;
            settlement::add(&mut all, settled);
            if let Some(after) = next {
                let place = Place { outbox: number, after };
                return Ok((all, Some(place)));
            }
        }
        Ok((all, None))
    }

    /// Reads from the ledger the app's revenue of a UTC day, and the ledger's mark for each outbox.
    pub async fn read_counted(&self, day: UtcDay) -> Result<CountedDay, CallError> {
        let name = |number| OutboxShard::new(self.app, number);
        let read = ReadOffers {
            app: self.app,
            day,
            sources: self.numbers().into_iter().map(|number| name(number).object_name()).collect(),
        };
        let ledger = ledger::address(&self.settings.publisher_id, OPERATOR);
        self.context.call(&ledger, read).await
    }

    /// Reads the payments of these outboxes on a UTC day, up to the ledger's marks. The marks are read first, because
    /// the entries of a log up to its mark no longer change.
    pub async fn read_days(
        &self,
        day: UtcDay,
        counted: &CountedDay,
        numbers: Vec<u8>,
    ) -> Result<Vec<(u8, OutboxDay)>, CallError> {
        let read = async |number: u8| {
            let source = counted.sources.get(usize::from(number));
            let mark = source.map_or(0, |source| source.mark);
            let step = async |step: ReadDay| self.call(number, step, TIMEOUT).await;
            Ok((number, read_day(day, mark, step).await?))
        };
        ask_all(numbers, read).await
    }

    /// Erases a user from the outbox that has all conversions of the user, and from that outbox's journal.
    pub async fn erase(&self, user_id: String) -> Result<OperatorReply, CallError> {
        let outboxes = self.settings.outbox_shards;
        let own = OutboxShard::new(self.app, shards::of_user(&user_id, outboxes));
        let erase = |is_witness| Erase { user_id: user_id.clone(), is_witness };
        let erased = self.call(own.number, erase(false), TIMEOUT).await?;
        let witness = journal::witness(own, outboxes).number;
        self.call(witness, erase(true), TIMEOUT).await?;
        Ok(erased)
    }
}

/// Asks outboxes by their numbers. The answers are in the order of the numbers.
async fn ask_all<T>(numbers: Vec<u8>, ask: impl AsyncFn(u8) -> Result<T, CallError>) -> Result<Vec<T>, CallError> {
    stream::iter(numbers).map(|number| ask(number)).buffered(CONNECTIONS).try_collect().await
}
