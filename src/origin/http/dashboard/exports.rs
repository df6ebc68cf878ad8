//! Exports: a report with all its rows as a file. The ledger makes the file piece by piece. This Worker asks for the
//! next piece once the reader has taken the previous one. So neither the Worker nor the ledger holds more than one
//! piece.

use std::time::Duration;

use futures_util::stream;
use worker::{Delay, Headers, Request, Response};

use super::visitor::Visit;
use crate::{
    http::{
        HandlerResult,
        calls::{TIMEOUT, ask},
        site::gate,
    },
    objects::ledger::exports::FACTS_CHANGED,
};
use contract::{
    ledger::{CreateExport, EXPORT, Export, ExportPiece, ExportProgress, OPERATOR, OpenExport, address},
    operation::{Bytes, CallError},
};
use domain::{
    model::{PublisherId, credentials},
    reporting::{
        export::file_name,
        query::{MAX_BODY, Query},
    },
};
use platform::{
    http::{Answer, body, fixed_length},
    log,
    object_call::{self, broken},
    workers::Workers,
};

/// Maximum attempts for a piece while the report budget or the ledger has no room for it. A retry waits as long as
/// `Retry-After` says, mostly 2 to 4 seconds, so an export is aborted after about half a minute without room.
const ATTEMPTS: u32 = 12;
/// Maximum body: a query with JSON around it. No other body of the dashboard is longer.
pub const MAX_REQUEST: usize = MAX_BODY + (1 << 10);

/// `POST exports`.
pub async fn create(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let body = body::read_text(&mut request, MAX_REQUEST).await?;
    let create = CreateExport { body, session: session_of(visit) };
    Ok(ask(visit.context, &address(&visit.publisher, OPERATOR), create).await)
}

/// `GET exports/{export_id}`. A failure before the first row is answered as an error. A later failure breaks the
/// connection, so that nobody mistakes a part of the file for the whole.
pub async fn read(visit: &Visit<'_>) -> HandlerResult {
    let export_id = visit.segment(0);
    let open = OpenExport { export_id: export_id.clone(), session: session_of(visit) };
    let ledger = address(&visit.publisher, OPERATOR);
    let Export { query, format, rows } = visit.context.call(&ledger, open).await?;
    let parsed = Query::parse(&query)?;
    let mut reading = Reading {
        workers: visit.context.workers.clone(),
        publisher: visit.publisher.clone(),
        piece: ExportPiece { export_id, query, format, rows_before: 0, version: None },
    };
    let (first, progress) = reading.next().await?;
    // The page has shown the number of rows, so a file with another number is refused.
    if progress.rows != rows {
        return Err(FACTS_CHANGED.into());
    }
    let file = file_name(&visit.publisher, &parsed, format);
    let head = Answer::new(200)
        .header("Content-Type", format.format().media_type())
        .header("Content-Disposition", format!("attachment; filename=\"{file}\""));
    let length = progress.length.unwrap_or(first.len() as u64);
    let rest = (!progress.is_complete()).then_some(reading);
    respond(head, length, first, rest).map(Answer::pass_unread).map_err(|error| broken(error).into())
}

/// The hash of the session that may read an export. The ledger does not see the token itself.
fn session_of(visit: &Visit<'_>) -> Bytes {
    Bytes(credentials::hash(&visit.token).to_vec())
}

/// Returns the answer whose body is the first piece and then the others. Each piece is made once the reader is ready
/// for it.
fn respond(head: Answer, length: u64, first: Vec<u8>, rest: Option<Reading>) -> worker::Result<Response> {
    let headers: Headers = gate::add_guard_headers(head).into_response()?.headers().clone();
    let pieces = stream::try_unfold((Some(first), rest), async |(first, rest)| {
        if let Some(first) = first {
            return Ok(Some((first, (None, rest))));
        }
        let Some(mut reading) = rest else {
            return Ok(None);
        };
        match reading.next().await {
            Ok((piece, progress)) => {
                let rest = (!progress.is_complete()).then_some(reading);
                Ok(Some((piece, (None, rest))))
            }
            Err(error) => {
                log::warn("dashboard", format_args!("an export broke off: {error}"));
                Err(worker::Error::RustError("the export broke off".into()))
            }
        }
    });
    fixed_length::respond(headers, length, pieces)
}

/// An export that is being read.
struct Reading {
    workers: Workers,
    publisher: PublisherId,
    /// The next piece to ask for.
    piece: ExportPiece,
}

impl Reading {
    /// Returns the next piece, once the ledger has room for it.
    async fn next(&mut self) -> Result<(Vec<u8>, ExportProgress), CallError> {
        // workerd serves its sockets only when no other work is left. Without a timer between two pieces, a fast reader
        // would make all other requests wait until the export ends.
        Delay::from(Duration::ZERO).await;
        let mut attempt = 1;
        loop {
            let wait_s = match self.ask().await {
                Ok((piece, progress)) => {
                    self.piece.version = Some(progress.version);
                    self.piece.rows_before = progress.rows_read;
                    return Ok((piece, progress));
                }
                Err(CallError::Refused { status: 429 | 503, retry_after_s: Some(seconds), .. })
                    if attempt < ATTEMPTS =>
                {
                    seconds
                }
                Err(error) => return Err(error),
            };
            attempt += 1;
            Delay::from(Duration::from_secs(u64::from(wait_s))).await;
        }
    }

    async fn ask(&self) -> Result<(Vec<u8>, ExportProgress), CallError> {
        let body = serde_json::to_string(&self.piece).map_err(broken)?;
        let init = object_call::post(&body.into());
        let to = address(&self.publisher, EXPORT);
        let mut response = object_call::send(&self.workers.env, &to, &init, TIMEOUT).await?;
        let progress = response.headers().get(ExportProgress::HEADER).ok().flatten();
        match (response.status_code(), progress) {
            (200, Some(progress)) => {
                let progress = serde_json::from_str(&progress).map_err(broken)?;
                Ok((response.bytes().await.map_err(broken)?, progress))
            }
            _ => Err(object_call::refused(response).await),
        }
    }
}
