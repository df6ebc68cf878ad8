//! Exports within the permits and the budget of reports. Other callers are answered between two pieces, so that batches
//! of clicks and rewards do not wait for an export.

use super::{LedgerService, dashboard::LEAST_COST};
use crate::objects::ledger::exports::{self, ExportQuery};
use contract::ledger::{Command, CreateExport, ExportPiece, ExportProgress, OpenExport, Reply};
use domain::{model::PublisherId, reporting::Dimension};
use platform::{Clock, ObjectCall, ObjectStorage, Random, Result};

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    /// Makes an export. Its rows are counted, which costs as much as a report.
    ///
    /// # Errors
    /// The body is not valid, or there is no permit, budget or slot.
    pub async fn create_export(&self, publisher: &PublisherId, create: CreateExport) -> Result<Reply> {
        let _permit = self.reports.acquire_any(self.now_ms())?;
        let query = ExportQuery::of_body(&create.body)?;
        // Checked here, where the page can show a refusal: a refused download shows nothing.
        self.exports.check(self.now_ms())?;
        let db = self.shell.ready().await?;
        if query.query.dimensions.contains(&Dimension::App) {
            self.refresh_names(db, publisher).await;
        }
        self.budget.take(query.facts(db)?.max(LEAST_COST), self.now_ms())?;
        self.command(publisher, Command::CreateExport(create)).await
    }

    /// Spends an export, if there is room for its reader.
    ///
    /// # Errors
    /// There is no such export for this session; or too many are being read, and the export is not spent.
    pub async fn open_export(&self, publisher: &PublisherId, open: OpenExport) -> Result<Reply> {
        let export_id = open.export_id.clone();
        let is_new = self.exports.hold(&export_id, self.now_ms())?;
        let opened = self.command(publisher, Command::OpenExport(open)).await;
        // An export that is being read keeps its slot, even if another request tries to open it.
        if opened.is_err() && is_new {
            self.exports.free(&export_id);
        }
        opened
    }

    /// Makes the next piece of an export.
    ///
    /// # Errors
    /// The facts have changed, which ends the export. Or there is no permit or budget; then the piece may be requested
    /// again.
    pub async fn export_piece(&self, piece: &ExportPiece) -> Result<(ExportProgress, Vec<u8>)> {
        let _permit = self.reports.acquire_any(self.now_ms())?;
        let query = ExportQuery::parse(&piece.query)?;
        let db = self.shell.ready().await?;
        self.exports.hold(&piece.export_id, self.now_ms())?;
        let cost = query.facts(db)?.max(LEAST_COST);
        // The first piece may use the whole burst, like a dashboard view, because a person is waiting for it. Later
        // pieces may use only half.
        match piece.version {
            None => self.budget.take(cost, self.now_ms())?,
            Some(_) => self.budget.take_spare(cost, self.now_ms())?,
        }
        let made = exports::piece(db, &query, piece);
        if made.as_ref().map_or(true, |(progress, _)| progress.is_complete()) {
            self.exports.free(&piece.export_id);
        }
        made
    }
}
