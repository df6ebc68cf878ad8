//! `POST …/report/generate`: junk is refused here, and all else is the ledger's of the publisher that the key names.

use worker::Request;

use super::{
    answer::{Answer, JSON},
    body::{self, header},
    isolate::Visit,
    watching::Noted,
};
use crate::{
    catalog::credentials,
    origin::{command::CallError, ledger::client},
    refusal::Refusal,
    reporting::{keys::INVALID_API_KEY, query::MAX_BODY},
};

pub async fn report(visit: &Visit, mut request: Request) -> Result<Answer, Refusal> {
    body::check_media_type(&request, &[JSON], true)?;
    let api_key = header(&request, "X-Api-Key").unwrap_or_default();
    let Some(publisher) = visit.isolate.config.report_keys.publisher(&api_key) else {
        // The size comes before the key, but no stranger's body is kept for it.
        body::measure(&mut request, MAX_BODY).await?;
        return Err(INVALID_API_KEY);
    };
    let _place = visit
        .isolate
        .rooms
        .reports
        .enter(publisher.as_str(), visit.now_ms)?;
    let body = body::read(&mut request, MAX_BODY).await?;
    // Whether it is JSON comes after the key and the rate, which are the ledger's; what is not even text is none.
    let body = String::from_utf8(body).unwrap_or_else(|_| char::REPLACEMENT_CHARACTER.into());
    let accept = header(&request, "Accept");
    let answered = client::report(&visit.env, &publisher, &api_key, accept.as_deref(), &body).await;
    let reached = !matches!(answered, Err(CallError::Unanswered(_)));
    visit.isolate.reach.ledgers(reached);
    let answer = match answered {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    };
    let rows = match answer.status() {
        204 => Some(0),
        _ => answer
            .passed_header("X-Total-Count")
            .and_then(|rows| rows.parse().ok()),
    };
    Ok(answer.noting(Noted {
        publisher: Some(publisher.to_string()),
        key: Some(credentials::fingerprint(&api_key)),
        rows,
        ..Noted::default()
    }))
}
