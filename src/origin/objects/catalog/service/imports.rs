//! `POST /v1/operator/import` in the catalog's object.

use std::{cell::Cell, time::Duration};

use futures_util::{Stream, StreamExt};

use super::CatalogService;
use crate::objects::catalog::{
    app_claims,
    callback_sync::QueuedSettings,
    cap_sync::QueuedCap,
    import::{self, MAX_LINE},
    import_claims,
    import_steps::{self, Check},
    steps::in_steps,
};
use contract::{accounts::Suspend, operation::OperatorReply};
use domain::model::{
    common,
    lines::{LineErrors, Lines, TooLong},
};
use platform::{
    Clock, Failure, Kv, ObjectCall, ObjectStorage, Random, Result, Sleep, panics_to_failure,
    single_flight::{Leader, SingleFlight},
};
use serde_json::json;

/// Maximum size of an import, in bytes.
const MAX_IMPORT: usize = 64 << 20;
/// A staging step ends at this many bytes. The catalog answers other callers between two steps.
const STEP_BYTES: usize = 32 << 10;

/// The imports of a process. They are staged concurrently, and checked and applied one after the other.
#[derive(Default)]
pub(super) struct Imports {
    turns: SingleFlight<()>,
    in_turn: Cell<Option<i64>>,
    were_swept: Cell<bool>,
}

impl Imports {
    /// Returns the import that is being checked or applied.
    pub fn in_turn(&self) -> Option<i64> {
        self.in_turn.get()
    }

    async fn turn(&self, import: i64) -> Turn<'_> {
        let leader = self.turns.lead().await;
        self.in_turn.set(Some(import));
        Turn { imports: self, _leader: leader }
    }
}

/// An import's turn. It ends when this value is dropped, even if the caller disconnects.
struct Turn<'i> {
    imports: &'i Imports,
    _leader: Leader<'i, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.imports.in_turn.set(None);
    }
}

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    /// `POST /v1/operator/import`: lines are staged as they arrive, then checked, then applied unless it is a dry run.
    ///
    /// # Errors
    /// The import is refused as a whole, or the database failed. If the import was already decided, all of it will
    /// still be applied; otherwise nothing is.
    pub async fn import<S: Stream<Item = Result<Vec<u8>, E>> + Unpin, E>(
        &self,
        chunks: Option<S>,
        is_dry_run: bool,
    ) -> Result<OperatorReply> {
        let db = self.started().await?;
        let import = import_steps::begin(db)?;
        let outcome = panics_to_failure(async {
            self.discard_leftovers(db, import).await?;
            let errors = self.stage(db, chunks, import).await?;
            if errors.is_empty() {
                self.check_and_apply(db, import, is_dry_run).await
            } else {
                Ok(import::refuse(&errors))
            }
        })
        .await;
        // The alarm is set even after a failure, because a write may have happened.
        let woken = self.shell.wake_for(self.next_alarm(db).map(Some));
        // Staged lines are deleted even after a failure, unless they will still be applied.
        let discarded = if import_claims::decided(db)? == Some(import) {
            Ok(())
        } else {
            in_steps(self.shell.runtime(), || import_steps::discard(db, import, import)).await
        };
        let reply = outcome?;
        woken?;
        discarded?;
        if reply.status == 200 && !is_dry_run {
            self.keep().await?;
            self.queue::<QueuedSettings>(db).require_imported().await?;
            self.queue::<Suspend>(db).require_imported().await?;
            self.queue::<QueuedCap>(db).require_imported().await?;
        }
        Ok(reply)
    }

    /// Once per process: finishes an import that an earlier process decided, and deletes all other lines that earlier
    /// processes staged.
    async fn discard_leftovers(&self, db: &D, import: i64) -> Result {
        if self.imports.were_swept.replace(true) {
            return Ok(());
        }
        self.resume_import(db).await?;
        in_steps(self.shell.runtime(), || import_steps::discard(db, 0, import.saturating_sub(1))).await
    }

    /// Stages an import's lines as they arrive.
    async fn stage<S: Stream<Item = Result<Vec<u8>, E>> + Unpin, E>(
        &self,
        db: &D,
        chunks: Option<S>,
        import: i64,
    ) -> Result<LineErrors> {
        let mut errors = LineErrors::default();
        let Some(mut chunks) = chunks else {
            return Ok(errors);
        };
        let mut stage_line = |line, bytes: Result<&[u8], TooLong>| {
            self.with_context(|context| import::stage(db, context, import, line, bytes, &mut errors))
        };
        let (mut lines, mut read, mut step) = (Lines::new(MAX_LINE), 0, 0);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| common::INVALID_JSON.with_message("the body ended early"))?;
            read += chunk.len();
            if read > MAX_IMPORT {
                return Err(common::PAYLOAD_TOO_LARGE.into());
            }
            lines.push(&chunk, &mut stage_line)?;
            step += chunk.len();
            if step >= STEP_BYTES {
                step = 0;
                self.shell.runtime().sleep(Duration::ZERO).await;
            }
        }
        lines.finish(&mut stage_line)?;
        Ok(errors)
    }

    async fn check_and_apply(&self, db: &D, import: i64, is_dry_run: bool) -> Result<OperatorReply> {
        let _turn = self.imports.turn(import).await;
        // If an earlier import was decided and then failed, its remaining lines are applied first, so that this import
        // is checked against the result.
        self.apply_decided(db).await?;
        let mut check = Check::default();
        in_steps(self.shell.runtime(), || {
            self.with_context(|context| import_steps::check(db, context, import, &mut check))
        })
        .await?;
        // All outboxes are asked before an app is claimed, so that a refused import claims nothing.
        self.claim_apps(&mut check, false).await?;
        if !check.errors.is_empty() {
            return Ok(import::refuse(&check.errors));
        }
        if is_dry_run {
            return Ok(OperatorReply::ok(&check.would_import()));
        }
        self.claim_apps(&mut check, true).await?;
        if !check.errors.is_empty() {
            return Ok(import::refuse(&check.errors));
        }
        import_steps::decide(db, import)?;
        // The alarm is set in the same commit as the decision. The alarm waits for this turn and applies the lines that
        // are left.
        self.shell.wake_by(self.next_alarm(db)?)?;
        let imported = self.apply_decided(db).await?;
        if imported < check.lines {
            let problem = format!("only {imported} of {} checked lines were applied", check.lines);
            return Err(Failure::Internal(problem));
        }
        Ok(OperatorReply::ok(&json!({ "imported": imported })))
    }

    /// If `is_final`, claims the new apps of an import; otherwise only asks whether each app could be claimed. A
    /// refused claim becomes an error of the app's line.
    async fn claim_apps(&self, check: &mut Check, is_final: bool) -> Result {
        if !check.errors.is_empty() || check.new_apps.len() > app_claims::MAX_OF_IMPORT {
            return Ok(());
        }
        let apps = check.new_apps.iter().copied();
        for (new, refusal) in app_claims::claim(self.shell.runtime(), apps, is_final).await? {
            check.errors.add(new.line, None, refusal.message);
        }
        Ok(())
    }

    /// Applies the remaining lines of a decided import, after the current turn.
    pub(super) async fn resume_import(&self, db: &D) -> Result {
        if let Some(import) = import_claims::decided(db)? {
            let _turn = self.imports.turn(import).await;
            self.apply_decided(db).await?;
        }
        Ok(())
    }

    /// Applies the decided import's lines in steps, and returns their number.
    async fn apply_decided(&self, db: &D) -> Result<u64> {
        let mut applied = 0;
        let Some(import) = import_claims::decided(db)? else {
            return Ok(applied);
        };
        while self.with_context(|context| import_steps::apply(db, context, import, &mut applied))? {
            // The register must not fall behind, because conversions also wait for it.
            self.keep_up().await;
            self.shell.runtime().sleep(Duration::ZERO).await;
        }
        in_steps(self.shell.runtime(), || import_steps::discard(db, import, import)).await?;
        Ok(applied)
    }
}
