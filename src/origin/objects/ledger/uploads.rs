//! Receives uploads of facts, and checks and stages them chunk by chunk.

use std::cell::Cell;

use futures_util::{Stream, StreamExt};
use serde_json::json;

use super::upload::{self, BUFFERED, Upload};
use contract::{ledger::Target, operation::OperatorReply};
use domain::{
    model::{UtcDay, common},
    reporting::facts::{Format, INVALID_FACTS, Reader},
};
use platform::{Clock, Database, Result, panics_to_failure};

/// Maximum size of an upload, decompressed, in bytes.
const MAX_UPLOAD: usize = 64 << 20;

const ENDED_EARLY: &str = "nothing was kept: the body ended early";
const NOT_GZIP: &str = "nothing was kept: the body is not exactly one gzip member";
/// Facts of earlier days would be deleted in the next night.
const TOO_OLD: &str = "nothing was kept: the facts have a day that is too old; FACTS_DAYS says how long facts are kept";
/// An empty body is refused, because a broken sender may send one, and it would clear a day.
const EMPTY: &str =
    "nothing was kept: the body is empty; for a day without facts, send a CSV header or an empty NDJSON line";

/// The uploads of one object.
#[derive(Default)]
pub struct Uploads {
    /// True once the facts that an earlier process staged were deleted. New uploads use the same numbers as that
    /// process's uploads.
    cleared: Cell<bool>,
    started: Cell<i64>,
    in_progress: Cell<usize>,
}

/// One upload in progress, counted until it is dropped.
struct InProgress<'r>(&'r Cell<usize>);

impl<'r> InProgress<'r> {
    fn begin(count: &'r Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }

    /// Returns the memory for each upload, in bytes.
    fn share(&self) -> usize {
        BUFFERED / self.0.get().max(1)
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl Uploads {
    /// Receives one upload and activates all of it or nothing.
    ///
    /// # Errors
    /// The upload is refused, or the database failed.
    pub async fn receive<S: Stream<Item = Result<Vec<u8>, E>> + Unpin, E>(
        &self,
        db: &impl Database,
        clock: &impl Clock,
        info: contract::ledger::Upload,
        chunks: Option<S>,
        first_kept: UtcDay,
    ) -> Result<OperatorReply> {
        if !self.cleared.get() {
            upload::discard_all(db)?;
            self.cleared.set(true);
        }
        let number = self.started.get() + 1;
        self.started.set(number);
        // A panic is caught, so that staged facts are deleted even then.
        let received = panics_to_failure(self.stage(db, clock, info, chunks, (number, first_kept))).await;
        let discarded = upload::discard(db, number);
        let reply = received?;
        discarded?;
        Ok(reply)
    }

    async fn stage<S: Stream<Item = Result<Vec<u8>, E>> + Unpin, E>(
        &self,
        db: &impl Database,
        clock: &impl Clock,
        info: contract::ledger::Upload,
        chunks: Option<S>,
        (number, first_kept): (i64, UtcDay),
    ) -> Result<OperatorReply> {
        let in_progress = InProgress::begin(&self.in_progress);
        let day = match info.target {
            Target::Day(day) => Some(day),
            Target::Batch(_) => None,
        };
        let mut reader = Reader::new(info.format, day);
        let mut upload = Upload::new(number).by(info.by);
        let mut read = 0;
        if let Some(mut stream) = chunks {
            while let Some(chunk) = stream.next().await {
                let Ok(chunk) = chunk else {
                    return Ok(refuse_body(if info.gzip { NOT_GZIP } else { ENDED_EARLY }));
                };
                read += chunk.len();
                if read > MAX_UPLOAD {
                    return Err(common::PAYLOAD_TOO_LARGE
                        .with_message("facts are at most 64 MiB uncompressed: send them in parts")
                        .into());
                }
                upload.note(&chunk);
                reader.push(&chunk, &mut |fact| upload.add(&fact))?;
                upload.stage_above(db, in_progress.share())?;
            }
        }
        // An empty CSV is refused by the reader, because its header is missing.
        if read == 0 && info.format == Format::Ndjson {
            return Ok(refuse_body(EMPTY));
        }
        let outcome = reader.finish(&mut |fact| upload.add(&fact))?;
        if !outcome.errors.is_empty() {
            let body = outcome.errors.body(&INVALID_FACTS);
            return Ok(OperatorReply::new(INVALID_FACTS.status, body));
        }
        if day.into_iter().chain(upload.first_day).any(|day| day < first_kept) {
            return Ok(refuse_body(TOO_OLD));
        }
        let (rows, now_ms) = (outcome.rows, clock.now_ms());
        if info.is_dry_run {
            return Ok(OperatorReply::ok(&upload.preview(db, &info.target, rows)?));
        }
        let body = match info.target {
            Target::Day(day) => {
                upload.replace(db, now_ms, day)?;
                json!({ "rows": rows })
            }
            Target::Batch(key) => upload.apply(db, now_ms, &key, rows)?,
        };
        Ok(OperatorReply::ok(&body))
    }
}

/// The answer to a fault of the whole upload rather than of a line.
fn refuse_body(problem: &'static str) -> OperatorReply {
    let body = json!({ "error": problem, "code": INVALID_FACTS.code, "lines": [] });
    OperatorReply::new(INVALID_FACTS.status, body.to_string())
}
