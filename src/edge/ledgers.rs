//! The operator's way to a publisher's ledger: report keys and facts.

use worker::{Headers, Request};

use super::{
    answer::{Answer, JSON},
    body::{self, header},
    isolate::Visit,
    operator::{self, MAX_DOCUMENT},
    routes::Handler,
};
use crate::{
    catalog::{PublisherId, document::FieldError},
    origin::ledger::{Command, client, receiving},
    refusal::{Refusal, common},
    time::UtcDay,
};

/// What facts come as.
const FACTS_TYPES: [&str; 2] = ["text/csv", "application/x-ndjson"];

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
    let segment = |at: usize| segments.get(at).copied().unwrap_or_default();
    let publisher = PublisherId::parse(segment(0))
        .ok_or_else(|| common::NOT_FOUND.because("there is no such publisher"))?;
    let command = match handler {
        Handler::CreateReportKey => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            Command::CreateKey { body }
        }
        Handler::ListReportKeys => Command::ListKeys {},
        Handler::RevokeReportKey => Command::RevokeKey {
            key_id: segment(1).to_owned(),
        },
        Handler::ListFacts => {
            let (limit, before) = operator::read_page(query)?;
            Command::ListDays { limit, before }
        }
        Handler::ReplaceFacts => {
            let day =
                UtcDay::parse(segment(1)).ok_or_else(|| FieldError::new("date", "must be YYYY-MM-DD"))?;
            return facts(visit, &publisher, &request, (receiving::DAY, &day.to_string())).await;
        }
        Handler::AddFacts => {
            let key = header(&request, "Idempotency-Key")
                .filter(|key| {
                    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
                })
                .ok_or(MISSING_IDEMPOTENCY_KEY)?;
            return facts(visit, &publisher, &request, (receiving::KEY, &key)).await;
        }
        _ => return Err(common::NOT_FOUND),
    };
    Ok(client::call(&visit.env, &publisher, &command)
        .await
        .map_or_else(Answer::from, operator::answer))
}

/// Hands an upload on to the ledger, described by headers of its own: what the sender says besides stays here.
async fn facts(
    visit: &Visit,
    publisher: &PublisherId,
    request: &Request,
    (name, value): (&str, &str),
) -> Result<Answer, Refusal> {
    body::check_media_type(request, &FACTS_TYPES, true)?;
    let media_type = header(request, "Content-Type").unwrap_or_default();
    let media_type = media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let mut described = vec![(name, value), ("content-type", media_type.as_str())];
    match header(request, "Content-Encoding")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "" | "identity" => {}
        "gzip" => described.push((receiving::ENCODING, "gzip")),
        _ => return Err(common::UNSUPPORTED_MEDIA_TYPE.because("the Content-Encoding must be gzip, or none")),
    }
    let headers = Headers::new();
    for (name, value) in described {
        headers.set(name, value).map_err(|_| common::INTERNAL_ERROR)?;
    }
    let answered = client::facts(&visit.env, publisher, request, headers).await;
    Ok(answered.map_or_else(Answer::from, Answer::pass))
}
