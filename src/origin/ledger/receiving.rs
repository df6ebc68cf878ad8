//! Facts as they come in over HTTP: unpacked, checked and staged chunk by chunk.

use std::cell::Cell;

use futures_util::StreamExt;
use serde_json::json;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    ByteStream, Request, Response,
    web_sys::{self, ReadableStream},
};

use super::upload::{self, BUFFERED, Upload};
use crate::{
    catalog::document::INVALID_FIELD,
    origin::{command::Failure, durable::DurableDatabase},
    refusal::{Refusal, common},
    reporting::facts::{Format, INVALID_FACTS, Reader},
    runtime,
    time::UtcDay,
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

/// How the edge describes an upload to the ledger.
pub const DAY: &str = "x-day";
pub const KEY: &str = "x-idempotency-key";
/// Not `Content-Encoding`, which the runtime may take as its own business.
pub const ENCODING: &str = "x-encoding";

const ENDED_EARLY: Refusal = Refusal::new(400, "invalid_facts", "nothing was kept: the body ended early");
const NOT_GZIP: Refusal = Refusal::new(
    400,
    "invalid_facts",
    "nothing was kept: the body does not unpack as gzip",
);

/// The uploads of one object.
#[derive(Default)]
pub struct Receiving {
    started: Cell<i64>,
    in_progress: Cell<usize>,
}

impl Receiving {
    /// Receives one upload: all of it counts afterwards, or nothing.
    pub async fn receive(&self, db: &DurableDatabase, request: Request) -> Result<Response, Failure> {
        let number = self.started.get() + 1;
        self.started.set(number);
        if number == 1 {
            upload::discard_all(db)?;
        }
        self.in_progress.set(self.in_progress.get() + 1);
        let received = self.take_in(db, request, number).await;
        self.in_progress.set(self.in_progress.get().saturating_sub(1));
        upload::discard(db, number)?;
        let (status, body) = received?;
        let answer = Response::builder()
            .with_status(status)
            .with_header("content-type", "application/json")
            .and_then(|answer| answer.with_header("cache-control", "no-store"))
            .map_err(broken)?;
        Ok(answer.fixed(body.into_bytes()))
    }

    async fn take_in(
        &self,
        db: &DurableDatabase,
        mut request: Request,
        number: i64,
    ) -> Result<(u16, String), Failure> {
        let header = |name| request.headers().get(name).ok().flatten();
        let day = header(DAY).as_deref().and_then(UtcDay::parse);
        let key = header(KEY);
        let format = match header("content-type").as_deref() {
            Some("text/csv") => Format::Csv,
            _ => Format::Ndjson,
        };
        let gzip = header(ENCODING).is_some();
        let mut reader = Reader::new(format, day);
        let mut upload = Upload::new(number);
        if request.inner().body().is_some() {
            let mut stream = if gzip {
                unpacked(&request)?
            } else {
                request.stream().map_err(broken)?
            };
            let mut read = 0;
            while let Some(chunk) = stream.next().await {
                let chunk = chunk.map_err(|_| if gzip { NOT_GZIP } else { ENDED_EARLY })?;
                read += chunk.len();
                if read > MAX_UPLOAD {
                    return Err(common::PAYLOAD_TOO_LARGE
                        .because("facts are at most 64 MiB, unpacked: send them in parts")
                        .into());
                }
                upload.note(&chunk);
                reader.push(&chunk, &mut |fact| upload.add(&fact))?;
                upload.stage_above(db, BUFFERED / self.in_progress.get().max(1))?;
            }
        }
        let outcome = reader.finish(&mut |fact| upload.add(&fact))?;
        if !outcome.errors.is_empty() {
            return Ok((INVALID_FACTS.status, outcome.errors.body(&INVALID_FACTS)));
        }
        let rows = outcome.rows;
        let now_ms = runtime::now_ms();
        match (day, key) {
            (Some(day), _) => {
                upload.replace(db, now_ms, day)?;
                Ok((200, json!({ "rows": rows }).to_string()))
            }
            (None, Some(key)) => {
                let applied = upload.apply(db, now_ms, &key, rows)?;
                Ok((
                    200,
                    json!({ "rows": applied.rows, "duplicate": applied.duplicate }).to_string(),
                ))
            }
            (None, None) => Err(INVALID_FIELD
                .because("neither a day nor an Idempotency-Key")
                .into()),
        }
    }
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
    Response::from(carrier).stream().map_err(broken)
}

fn broken(error: worker::Error) -> Failure {
    Failure::Broken(error.to_string())
}
