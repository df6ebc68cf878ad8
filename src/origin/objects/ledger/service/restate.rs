//! Asks the sources of a day for their sums, and restates the day.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::LedgerService;
use crate::objects::ledger::restate::{self, Question, ReportedDay, Restatement, SourceReport};
use contract::{
    counters,
    ledger::{DaySums, Restate},
    operation::{CallError, OperatorReply},
    outbox::{self, OutboxShard},
};
use domain::model::{PublisherId, SECOND_MS, UtcDay, common};
use platform::{CONNECTIONS, Clock, Failure, ObjectCall, ObjectStorage, Random, Result, concurrent::each, log};

const TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for asking the sources, in milliseconds: the operator's call waits for 25 s.
const TIME_MS: i64 = 15 * SECOND_MS;

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    /// `POST …/days/{date}/restate`.
    ///
    /// # Errors
    /// The day is not over, a source does not answer, or the database failed. Nothing has changed.
    pub async fn restate(&self, publisher: &PublisherId, restate: Restate) -> Result<OperatorReply> {
        self.require_publisher(publisher, super::CATALOG_TIMEOUT).await?;
        let db = self.started(publisher).await?;
        restate::check(self.now_ms(), restate.day)?;
        let _permit = self.restatements.acquire_any(self.now_ms())?;
        let until_ms = self.now_ms().saturating_add(TIME_MS);
        let mut reported = ReportedDay::default();
        while self.now_ms() < until_ms {
            let missing = reported.missing(db, restate.day)?;
            if missing.is_empty() {
                let Restatement { reply, sources } = restate::apply(db, self.now_ms(), restate, &reported)?;
                self.shell.wake_for(self.next_alarm(db))?;
                if !restate.is_dry_run {
                    self.keep(publisher).await?;
                    self.tell_restated(publisher, restate.day, sources).await;
                }
                return Ok(reply);
            }
            let mut answers = stream::iter(missing)
                .map(|question| self.ask(publisher, restate.day, question, until_ms))
                .buffer_unordered(CONNECTIONS);
            while let Some((source, report)) = answers.try_next().await? {
                if let Some(report) = report {
                    reported.put(source, report)?;
                }
            }
        }
        Err(common::UNAVAILABLE
            .with_message("the sums of the day could not be read in time: nothing was changed; try again")
            .into())
    }

    /// Asks one source, step by step. Returns no report if the source must be asked again.
    async fn ask(
        &self,
        publisher: &PublisherId,
        day: UtcDay,
        question: Question,
        until_ms: i64,
    ) -> Result<(String, Option<SourceReport>)> {
        let mut report = SourceReport::new(&question);
        let Question { source, through } = question;
        let mut next = Some(0);
        while let Some(after) = next {
            let part = self.ask_step(publisher, day, &source, after, through).await;
            let part = part.map_err(|error| {
                log::warn("ledger", format_args!("{source} did not send the sums of {day}: {error}"));
                let message = format!("{source} did not report the day: nothing was changed; its log says why");
                Failure::from(common::UNAVAILABLE.with_message(message))
            })?;
            if part.is_cut || until_ms <= self.now_ms() {
                return Ok((source, None));
            }
            report.add(&part)?;
            next = part.next;
        }
        Ok((source, Some(report)))
    }

    async fn ask_step(
        &self,
        publisher: &PublisherId,
        day: UtcDay,
        source: &str,
        after: i64,
        through: i64,
    ) -> Result<DaySums, CallError> {
        let runtime = self.shell.runtime();
        match OutboxShard::of_object(source) {
            Some(outbox) => {
                let sum = outbox::SumDay { day, after, through };
                runtime.call(&outbox.address(), sum, TIMEOUT).await
            }
            None => {
                let sum = counters::SumDay { publisher: publisher.clone(), day, after, through };
                runtime.call(&counters::address(source.to_owned()), sum, TIMEOUT).await
            }
        }
    }

    /// Ends the sources' attention items about the day. If a source is not reached, its item ends with the next
    /// restatement.
    async fn tell_restated(&self, publisher: &PublisherId, day: UtcDay, sources: Vec<String>) {
        let runtime = self.shell.runtime();
        let tell = async |source: String| match OutboxShard::of_object(&source) {
            Some(outbox) => {
                let told = outbox::Restated { day };
                runtime.call(&outbox.address(), told, TIMEOUT).await.map(drop)
            }
            None => {
                let publisher = publisher.clone();
                let told = counters::Restated { publisher, day };
                runtime.call(&counters::address(source), told, TIMEOUT).await.map(drop)
            }
        };
        let told = each(sources, tell).await;
        for error in told.into_iter().filter_map(Result::err) {
            log::warn("ledger", format_args!("{day} is restated, but a source was not told: {error}"));
        }
    }
}
