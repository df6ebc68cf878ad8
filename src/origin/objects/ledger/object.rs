//! The ledger's Durable Object. A request's path names the publisher, because an object that was started by its alarm
//! does not know its own name. The alarm does not need the name.

use std::panic::RefUnwindSafe;

use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{ByteStream, DurableObject, Env, Headers, Request, Response, State, durable_object};

use super::{
    response_stream,
    retention::{self, DEFAULT_DAYS},
    service::{Asked, LedgerService, ReportAnswer, ReportBody},
};
use contract::ledger::{self, Command, ExportProgress, Reply, Upload};
use domain::{
    model::{PublisherId, common},
    reporting::keys,
};
use platform::{
    Failure, Result,
    durable::DurableDatabase,
    http::fixed_length::pipe,
    object_http::{answer, command_in, fail, refuse, respond},
    panics_to_failure, runtime,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Ledger {
    state: State,
    service: LedgerService<DurableDatabase, Workers>,
}

/// Cells are set in single steps that cannot panic, so the object stays consistent.
impl RefUnwindSafe for Ledger {}

impl DurableObject for Ledger {
    fn new(state: State, env: Env) -> Self {
        let workers = Workers::new(env);
        let mac = workers.setting(keys::SETTING).unwrap_or_default();
        // The default below is never used, because the Worker refuses to start with a faulty setting.
        let facts_days = workers.setting(retention::SETTING);
        let facts_days = retention::facts_days(facts_days.as_deref()).unwrap_or(DEFAULT_DAYS);
        let database = DurableDatabase::new(&state);
        let service = LedgerService::new(state.id().name(), database, workers, mac);
        Self { service: service.with_facts_days(facts_days), state }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        let response = match ledger::parse_path(&path) {
            Some((publisher, ledger::REPORT)) => panics_to_failure(self.report(&publisher, request)).await,
            Some((publisher, ledger::DASHBOARD)) => panics_to_failure(self.dashboard(&publisher, request)).await,
            Some((_, ledger::EXPORT)) => panics_to_failure(self.export(request)).await,
            Some((publisher, ledger::FACTS)) => panics_to_failure(self.facts(&publisher, request)).await,
            Some((publisher, ledger::BATCH)) => {
                let service = &self.service;
                let reply = async { service.command(&publisher, command_in(request).await?).await };
                return respond("ledger", panics_to_failure(reply).await);
            }
            Some((publisher, ledger::OPERATOR)) => {
                let service = &self.service;
                let reply = async {
                    match command_in(request).await? {
                        Command::Suggest(suggest) => service.suggest(&suggest).await.map(Reply::Operator),
                        Command::Restate(restate) => service.restate(&publisher, restate).await.map(Reply::Operator),
                        Command::CreateExport(create) => service.create_export(&publisher, create).await,
                        Command::OpenExport(open) => service.open_export(&publisher, open).await,
                        command => service.command(&publisher, command).await,
                    }
                };
                return respond("ledger", panics_to_failure(reply).await);
            }
            #[cfg(feature = "bench")]
            Some((_, ledger::BENCH)) => match self.service.ready().await {
                Ok(db) => panics_to_failure(super::bench::report(db, self.service.columns(), request)).await,
                Err(failure) => Err(failure),
            },
            _ => Err(common::NOT_FOUND.into()),
        };
        response.or_else(|failure| fail("ledger", failure))
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}

impl Ledger {
    async fn report(&self, publisher: &PublisherId, mut request: Request) -> Result<Response> {
        let header = |name| request.headers().get(name).ok().flatten();
        let (key, accept) = (header("X-Api-Key").unwrap_or_default(), header("Accept"));
        let if_match = header("If-Match");
        let asked = Asked { accept: accept.as_deref(), if_match: if_match.as_deref() };
        let body = async || Ok(request.text().await?);
        let report = self.service.report(publisher, &key, asked, body).await?;
        self.send(report)
    }

    async fn dashboard(&self, publisher: &PublisherId, mut request: Request) -> Result<Response> {
        let body = request.text().await?;
        let batch = self.service.dashboard(publisher, &body).await?;
        Ok(answer(200, batch.into_bytes())?)
    }

    async fn export(&self, mut request: Request) -> Result<Response> {
        let piece =
            serde_json::from_str(&request.text().await?).map_err(|error| Failure::Internal(error.to_string()))?;
        let (progress, bytes) = self.service.export_piece(&piece).await?;
        let progress = serde_json::to_string(&progress).map_err(|error| Failure::Internal(error.to_string()))?;
        Ok(Response::builder().with_header(ExportProgress::HEADER, &progress)?.fixed(bytes))
    }

    fn send(&self, report: ReportAnswer) -> Result<Response> {
        let answer = match report.body {
            ReportBody::Error(error) => refuse(&error)?,
            ReportBody::Nothing => Response::empty()?.with_status(204),
            ReportBody::Whole(bytes) => Response::from_bytes(bytes)?,
            ReportBody::Stream(renderer, permit) => {
                let (chunks, done) = response_stream::stream(*renderer, permit);
                self.state.wait_until(done);
                Response::from_stream(chunks)?
            }
        };
        let headers = Headers::new();
        for (name, value) in answer.headers() {
            headers.set(&name, &value)?;
        }
        for (name, value) in &report.headers {
            headers.set(name, value)?;
        }
        Ok(answer.with_headers(headers))
    }

    async fn facts(&self, publisher: &PublisherId, mut request: Request) -> Result<Response> {
        let header = request.headers().get(Upload::HEADER)?;
        let upload: Upload = header
            .and_then(|json| serde_json::from_str(&json).ok())
            .ok_or_else(|| Failure::Internal("an upload has no valid description".into()))?;
        let gzip = upload.gzip;
        let chunks = move || {
            if request.inner().body().is_none() {
                return Ok(None);
            }
            let stream = if gzip { decompress(&request)? } else { request.stream()? };
            Ok(Some(runtime::yielding(stream)))
        };
        let reply = self.service.facts(publisher, upload, chunks).await?;
        Ok(answer(reply.status, reply.body.into_bytes())?)
    }
}

#[wasm_bindgen]
extern "C" {
    type DecompressionStream;

    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;
}

/// Decompresses a gzip body with the runtime's stream, which is faster than Wasm and applies backpressure.
fn decompress(request: &Request) -> Result<ByteStream> {
    let failure = |error: JsValue| Failure::Internal(format!("decompression: {error:?}"));
    let decompression = DecompressionStream::new("gzip").map_err(failure)?;
    Ok(pipe(&request.inner().body().into(), &decompression).map_err(failure)?.stream()?)
}
