//! Conversions that wait: for their cap, for terms that the catalog has lost, or for the end of a suspension.

use std::rc::Rc;

use super::{OutboxService, Runtime};
use crate::objects::outbox::{
    callbacks::delivery_log::Observer,
    conversions::{
        commit,
        kept::{self, KeptPostback},
        settlement,
    },
    endpoint,
    peers::Peers,
    sql,
};
use contract::outbox::{OutboxShard, SettleFilter, SettleMany};
use domain::conversions::{state::Reason, table::Action};
use platform::{failure::Failure, panics::panics_to_failure, params, traits::ObjectStorage};

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    /// Resumes reservations whose requests ended before the cap was taken, frees the claims of refused conversions, and decides
    /// what waited for terms or for the end of a suspension.
    pub(super) async fn resume_overdue(self: Rc<Self>) {
        if self.is_resuming.replace(true) {
            return;
        }
        loop {
            self.must_resume.set(false);
            let resumed = panics_to_failure(async {
                let has_more = commit::resume_overdue(self.shell.storage(), &*self).await?;
                self.decide_kept().await?;
                Ok(has_more | self.release_suspended().await?)
            });
            let resumed = resumed.await;
            self.start_due();
            match resumed {
                Ok(has_more) if has_more || self.must_resume.get() => {}
                Ok(_) => break,
                Err(failure) => {
                    platform::log::warn("outbox", format_args!("resuming: {failure}"));
                    break;
                }
            }
        }
        self.is_resuming.set(false);
    }

    /// Decides kept postbacks whose terms may be back.
    async fn decide_kept(&self) -> Result<(), Failure> {
        let db = self.shell.storage();
        let due = kept::due(db, self.now_ms())?;
        if due.is_empty() {
            return Ok(());
        }
        self.committed()?;
        for KeptPostback { number, conversion } in due {
            let shard = OutboxShard {
                app: conversion.click.app,
                number: conversion.click.shard,
            };
            if kept::decides(&self.convert(shard, &conversion).await) {
                kept::drop_one(db, number)?;
            }
        }
        Ok(())
    }

    /// Judges a step of the conversions that a suspension held again, if it has ended. Returns whether there may be more.
    async fn release_suspended(&self) -> Result<bool, Failure> {
        let db = self.shell.storage();
        let released = db.query_integer(sql::GET_RELEASED, &[])?;
        let state = endpoint::read(db)?.filter(|state| !state.callback.is_suspended);
        let (Some(after), Some(state)) = (released, state) else {
            return Ok(false);
        };
        let held = SettleMany {
            filter: SettleFilter {
                status: "held".into(),
                reason: Some(Reason::Suspended.code().into()),
                ..SettleFilter::default()
            },
            action: Action::Approve,
            reason: String::new(),
            despite: Vec::new(),
            dry_run: false,
            after,
        };
        let (ids, next) = settlement::matching(db, &held)?;
        for transaction_id in ids {
            let (_, _, conversion) = settlement::of_entry(db, state.shard, &transaction_id)?;
            match self.convert(state.shard, &conversion).await {
                Err(failure) if !kept::decides(&Err::<(), _>(failure.clone())) => return Err(failure),
                _ => {}
            }
        }
        db.execute(sql::SET_RELEASED, params![next])?;
        Ok(next.is_some())
    }
}
