//! The operator's way to a publisher's ledger: report keys and facts.

use worker::Request;

use super::{
    answer::{Answer, JSON},
    body::{self, header},
    isolate::Visit,
    operator::{self, MAX_DOCUMENT},
    routes::Handler,
};
use crate::{
    catalog::{PublisherId, document::FieldError},
    origin::{
        catalog::resources::MAX_PAGE,
        ledger::{
            Command,
            client::{self, Target, Upload},
        },
    },
    refusal::{Refusal, common},
    reporting::facts::{self, Format},
};

/// What facts come as.
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

const MISSING_IDEMPOTENCY_KEY: Refusal = Refusal::new(
    400,
    "missing_field",
    "Idempotency-Key: a header of 1 to 255 printable characters is required, so that a batch sent twice counts once",
);

pub async fn operate(
    visit: &Visit,
    handler: Handler,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, Refusal> {
    let segment = |at| operator::segment(segments, at);
    let publisher = PublisherId::parse(&segment(0))
        .ok_or_else(|| common::NOT_FOUND.because("there is no such publisher"))?;
    let command = match handler {
        Handler::CreateReportKey => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            Command::CreateKey { body }
        }
        Handler::ListReportKeys => Command::ListKeys {},
        Handler::RevokeReportKey => Command::RevokeKey { key_id: segment(1) },
        Handler::ListFacts => {
            let (limit, before) = operator::read_page(query, MAX_PAGE)?;
            Command::ListDays { limit, before }
        }
        Handler::ReplaceFacts => {
            let day = facts::day(&segment(1)).map_err(|problem| FieldError::new("date", problem))?;
            return upload(visit, &publisher, &request, Target::Day(day)).await;
        }
        Handler::AddFacts => {
            let key = header(&request, "Idempotency-Key")
                .filter(|key| {
                    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
                })
                .ok_or(MISSING_IDEMPOTENCY_KEY)?;
            return upload(visit, &publisher, &request, Target::Batch(key)).await;
        }
        _ => return Err(common::NOT_FOUND),
    };
    Ok(operator::told(
        client::call(&visit.env, &publisher, &command).await,
    ))
}

/// Hands an upload on to the ledger.
async fn upload(
    visit: &Visit,
    publisher: &PublisherId,
    request: &Request,
    target: Target,
) -> Result<Answer, Refusal> {
    body::check_media_type(request, &[CSV, NDJSON], true)?;
    let format = if body::check_media_type(request, &[CSV], true).is_ok() {
        Format::Csv
    } else {
        Format::Ndjson
    };
    let encoding = header(request, "Content-Encoding").unwrap_or_default();
    let gzip = match encoding.to_ascii_lowercase().as_str() {
        "" | "identity" => false,
        "gzip" => true,
        _ => return Err(common::UNSUPPORTED_MEDIA_TYPE.because("the Content-Encoding must be gzip, or none")),
    };
    let upload = Upload { target, format, gzip };
    let answered = client::facts(&visit.env, publisher, request, &upload).await;
    Ok(match answered {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    })
}
