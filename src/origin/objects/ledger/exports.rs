//! Exports: each is a report with all its rows, created once, and read once by the session that created it. The rows
//! are made piece by piece while they are read, so no export needs to fit into memory (docs/DECISIONS.md, "Accounts and
//! the dashboard").

use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh64::Xxh64;

use super::{
    Context, freshness, names,
    report::{self, Report},
    segments::{Layer, Segments},
    sql,
};
use contract::{
    ledger::{CreateExport, Export, ExportPiece, ExportProgress, FactsVersion, OpenExport},
    operation::OperatorReply,
};
use domain::{
    model::{ApiError, Document, common},
    reporting::{
        Sums,
        engine::{Budget, Source},
        export::{ExportFormat, LIFE_MS},
        query::{INVALID_PAGINATION, Query},
        render::{BodyLength, Renderer},
    },
};
use platform::{Database, DbResult, Failure, Result, params};

/// Maximum exports that wait to be read. With a query of up to 256 KiB each they take 4 MiB. A page reads its export at
/// once, so an export that is followed by 16 others was abandoned and is deleted.
const WAITING: i64 = 16;

/// A piece ends with the row that reaches this many bytes, or after `PIECE_ROWS` rows. Pieces are large because all
/// facts are read for each piece. A row usually has about 100 bytes, so the largest result, 2,000,000 rows, takes 200
/// pieces. Cloudflare allows an invocation 1,000 requests, which are enough for rows of 500 bytes.
const PIECE: usize = 1 << 20;
const PIECE_ROWS: u32 = 10_000;

/// The export ends, because a file must not mix two versions of the facts.
pub const FACTS_CHANGED: ApiError =
    ApiError::new(409, "facts_changed", "the facts changed while the export was made: start it again");

/// A page's request for an export.
#[derive(Debug, Deserialize)]
struct NewExport {
    query: Value,
    format: ExportFormat,
}

impl Document for NewExport {}

/// The query of an export. Its order is fixed; its page changes from piece to piece.
pub struct ExportQuery {
    pub query: Query,
    layer: Option<Layer>,
}

impl ExportQuery {
    /// Reads the query that a page asks to export.
    ///
    /// # Errors
    /// The body is not a report query, or the query has a page.
    pub fn of_body(body: &str) -> Result<Self, ApiError> {
        let NewExport { query, .. } = NewExport::from_json(body)?;
        if query.get("pagination").is_some() {
            return Err(INVALID_PAGINATION.with_message("an export has all rows: remove pagination"));
        }
        Self::parse(&query.to_string())
    }

    /// # Errors
    /// The text is not a report query.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        /// The field that only queries under a session have.
        #[derive(Deserialize)]
        struct Extras {
            #[serde(default)]
            without_offerwall: bool,
        }
        let parsed = Query::parse(query)?;
        let extras: Extras =
            serde_json::from_str(query).map_err(|error| common::INVALID_JSON.with_message(error.to_string()))?;
        Ok(Self { query: parsed, layer: extras.without_offerwall.then_some(Layer::Loaded) })
    }

    /// Returns the number of stored facts that each piece reads.
    pub fn facts(&self, db: &impl Database) -> DbResult<u64> {
        Segments::new(db, self.layer).facts(self.query.start, self.query.end)
    }

    fn version(&self, db: &impl Database) -> DbResult<FactsVersion> {
        let mut hash = Xxh64::new(0);
        for segment in Segments::new(db, self.layer).segments(self.query.start, self.query.end)? {
            hash.update(&segment.id.to_le_bytes());
        }
        Ok(FactsVersion { changes: freshness::version(db)?, segments: hash.digest() })
    }

    /// Returns the query of the page that contains the row after the first `rows` rows.
    fn page(&self, rows: u64, count: u32) -> Query {
        Query { page: rows / u64::from(count) + 1, count, ..self.query.clone() }
    }

    /// Returns the number of the report's rows.
    fn count(&self, db: &impl Database) -> Result<u64> {
        let segments = Segments::new(db, self.layer);
        Ok(report::build_of(&segments, db, &self.page(0, 1), &Budget::default())?.page.total)
    }

    /// Makes the page of a piece and, for the first piece, computes the length of the whole body.
    fn report(&self, db: &impl Database, wanted: &ExportPiece) -> Result<(Report, Option<u64>)> {
        let segments = Segments::new(db, self.layer);
        let page = self.page(wanted.rows_before, PIECE_ROWS);
        let budget = Budget::default();
        if wanted.version.is_some() {
            return Ok((report::build_of(&segments, db, &page, &budget)?, None));
        }
        let mut length = BodyLength::new(&page, wanted.format.format(), names::all(db)?);
        let mut visitor = |values: &[&str], sums: &Sums| length.add(values, sums);
        let report = report::build_visited(&segments, db, &page, &budget, &mut visitor)?;
        Ok((report, Some(length.bytes())))
    }
}

/// Makes an export. It can be read for 5 minutes.
///
/// # Errors
/// The body is not valid.
pub fn create(db: &impl Database, context: &Context<'_>, create: &CreateExport) -> Result<OperatorReply> {
    let NewExport { query, format } = NewExport::from_json(&create.body)?;
    let rows = ExportQuery::of_body(&create.body)?.count(db)?;
    let random = (context.random)().map_err(Failure::Internal)?;
    let export_id = hex::encode(random.first_chunk::<16>().unwrap_or(&[0; 16]));
    db.execute(sql::SWEEP_EXPORTS, params![context.now_ms])?;
    db.execute(sql::KEEP_EXPORTS, params![WAITING - 1])?;
    db.execute(
        sql::INSERT_EXPORT,
        params![
            export_id.as_str(),
            create.session.0.clone(),
            context.now_ms.saturating_add(LIFE_MS),
            query.to_string(),
            name_of(format)?,
            rows
        ],
    )?;
    Ok(OperatorReply::created(&json!({ "export_id": export_id, "rows": rows })))
}

/// Opens an export for reading, which spends it.
///
/// # Errors
/// 404 for an unknown id, for another session's export, and for an export that was read or has expired. So nobody
/// learns of others' exports.
pub fn open(db: &impl Database, now_ms: i64, open: &OpenExport) -> Result<Export> {
    let spent = db.query(sql::SPEND_EXPORT, params![open.export_id.as_str(), open.session.0.clone(), now_ms])?;
    let row = spent.first().ok_or(common::NOT_FOUND)?;
    let format = Value::from(row.text(1)?);
    Ok(Export {
        query: row.text(0)?.to_owned(),
        format: serde_json::from_value(format).map_err(|error| Failure::Internal(error.to_string()))?,
        rows: row.number(2)?,
    })
}

fn name_of(format: ExportFormat) -> Result<String> {
    match serde_json::to_value(format) {
        Ok(Value::String(name)) => Ok(name),
        _ => Err(Failure::Internal("a format without a name".into())),
    }
}

/// Makes the next piece of an export from the same version of the facts as the earlier pieces.
///
/// # Errors
/// The facts have changed, or the report cannot be made.
pub fn piece(db: &impl Database, query: &ExportQuery, wanted: &ExportPiece) -> Result<(ExportProgress, Vec<u8>)> {
    let version = query.version(db)?;
    if wanted.version.is_some_and(|before| !before.has_facts_of(version)) {
        return Err(FACTS_CHANGED.into());
    }
    let (Report { page, names, .. }, length) = query.report(db, wanted)?;
    let rows = page.total;
    let from = usize::try_from(wanted.rows_before % u64::from(PIECE_ROWS)).unwrap_or(usize::MAX);
    let renderer = Renderer::new(page, wanted.format.format(), names);
    let (bytes, read) = renderer.piece(from, wanted.rows_before == 0, PIECE);
    let progress = ExportProgress { version, rows, rows_read: wanted.rows_before.saturating_add(read as u64), length };
    if read == 0 && !progress.is_complete() {
        return Err(Failure::Internal("a piece of an export has no rows".into()));
    }
    Ok((progress, bytes))
}
