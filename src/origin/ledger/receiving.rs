//! Facts as they come in over HTTP: unpacked, checked and staged chunk by chunk.

use std::cell::Cell;

use futures_util::StreamExt;
use serde_json::json;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    ByteStream, Request, Response,
    web_sys::{self, ReadableStream},
};

use super::{
    client::{self, Target},
    upload::{self, BUFFERED, Upload},
};
use crate::{
    origin::{command::Failure, durable::DurableDatabase, shell::caught_async},
    refusal::common,
    reporting::facts::{Format, INVALID_FACTS, Reader},
    runtime,
};

#[wasm_bindgen]
extern "C" {
    type DecompressionStream;

    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;

    type Pipe;

    #[wasm_bindgen(method, catch, js_name = pipeThrough)]
    fn pipe_through(this: &Pipe, through: &DecompressionStream) -> Result<ReadableStream, JsValue>;
}

/// The most that an upload may have, unpacked, in bytes.
const MAX_UPLOAD: usize = 64 << 20;

const ENDED_EARLY: &str = "nothing was kept: the body ended early";
const NOT_GZIP: &str = "nothing was kept: the body does not unpack as gzip of one member";
/// What a sender that failed sends, and would clear a day.
const EMPTY: &str =
    "nothing was kept: the body is empty; a day without facts is a header of CSV, or an empty line of NDJSON";

/// The uploads of one object.
#[derive(Default)]
pub struct Receiving {
    /// Whether what an earlier process staged is forgotten: its uploads had the same numbers.
    cleared: Cell<bool>,
    started: Cell<i64>,
    in_progress: Cell<usize>,
}

/// One upload in progress.
struct InProgress<'r>(&'r Cell<usize>);

impl<'r> InProgress<'r> {
    fn begin(count: &'r Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }

    /// What each upload may hold in memory, in bytes.
    fn share(&self) -> usize {
        BUFFERED / self.0.get().max(1)
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl Receiving {
    /// Receives one upload: all of it counts afterwards, or nothing.
    pub async fn receive(&self, db: &DurableDatabase, request: Request) -> Result<Response, Failure> {
        if !self.cleared.get() {
            upload::discard_all(db)?;
            self.cleared.set(true);
        }
        let number = self.started.get() + 1;
        self.started.set(number);
        // Also after a panic nothing stays behind that was staged.
        let received = caught_async(self.take_in(db, request, number)).await;
        let discarded = upload::discard(db, number);
        let (status, body) = received?;
        discarded?;
        let answer = Response::builder()
            .with_status(status)
            .with_header("content-type", "application/json")?
            .with_header("cache-control", "no-store")?;
        Ok(answer.fixed(body.into_bytes()))
    }

    async fn take_in(
        &self,
        db: &DurableDatabase,
        mut request: Request,
        number: i64,
    ) -> Result<(u16, String), Failure> {
        let about = client::Upload::of(&request)
            .ok_or_else(|| Failure::Broken("an upload that says nothing of itself".into()))?;
        let in_progress = InProgress::begin(&self.in_progress);
        let day = match about.target {
            Target::Day(day) => Some(day),
            Target::Batch(_) => None,
        };
        let mut reader = Reader::new(about.format, day);
        let mut upload = Upload::new(number);
        let mut read = 0;
        if request.inner().body().is_some() {
            let mut stream = runtime::in_turns(if about.gzip {
                unpacked(&request)?
            } else {
                request.stream()?
            });
            while let Some(chunk) = stream.next().await {
                let Ok(chunk) = chunk else {
                    return Ok(unread(if about.gzip { NOT_GZIP } else { ENDED_EARLY }));
                };
                read += chunk.len();
                if read > MAX_UPLOAD {
                    return Err(common::PAYLOAD_TOO_LARGE
                        .because("facts are at most 64 MiB, unpacked: send them in parts")
                        .into());
                }
                upload.note(&chunk);
                reader.push(&chunk, &mut |fact| upload.add(&fact))?;
                upload.stage_above(db, in_progress.share())?;
            }
        }
        // Of CSV the reader misses the header.
        if read == 0 && about.format == Format::Ndjson {
            return Ok(unread(EMPTY));
        }
        let outcome = reader.finish(&mut |fact| upload.add(&fact))?;
        if !outcome.errors.is_empty() {
            return Ok((INVALID_FACTS.status, outcome.errors.body(&INVALID_FACTS)));
        }
        let (rows, now_ms) = (outcome.rows, runtime::now_ms());
        let body = match about.target {
            Target::Day(day) => {
                upload.replace(db, now_ms, day)?;
                json!({ "rows": rows })
            }
            Target::Batch(key) => {
                let added = upload.apply(db, now_ms, &key, rows)?;
                json!({ "rows": added.rows, "duplicate": added.duplicate })
            }
        };
        Ok((200, body.to_string()))
    }
}

/// What is wrong with an upload, and with no line of it.
fn unread(problem: &'static str) -> (u16, String) {
    let body = json!({ "error": problem, "code": INVALID_FACTS.code, "lines": [] });
    (INVALID_FACTS.status, body.to_string())
}

/// The runtime unpacks faster than Wasm would, and as slowly as it is read.
fn unpacked(request: &Request) -> Result<ByteStream, Failure> {
    let thrown = |error: JsValue| Failure::Broken(format!("unpacking: {error:?}"));
    let body: JsValue = request.inner().body().into();
    let stream = body
        .unchecked_ref::<Pipe>()
        .pipe_through(&DecompressionStream::new("gzip").map_err(thrown)?)
        .map_err(thrown)?;
    let carrier = web_sys::Response::new_with_opt_readable_stream(Some(&stream)).map_err(thrown)?;
    Ok(Response::from(carrier).stream()?)
}
