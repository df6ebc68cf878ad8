//! `POST …/report/generate`: junk is refused here, and all else is the ledger's of the publisher that the key names.

use worker::Request;

use super::{
    admission::QUERIES_OF_KEY,
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

pub async fn report(visit: &Visit, request: Request) -> Answer {
    let mut noted = Noted::default();
    let answered = made(visit, request, &mut noted).await;
    noted.onto(answered)
}

async fn made(visit: &Visit, mut request: Request, noted: &mut Noted) -> Result<Answer, Refusal> {
    let Visit { isolate, now_ms, .. } = visit;
    body::check_media_type(&request, &[JSON], true)?;
    let api_key = header(&request, "X-Api-Key").unwrap_or_default();
    let Some(publisher) = isolate.config.report_keys.publisher(&api_key) else {
        // The size comes before the key, but no stranger's body is kept for it.
        body::measure(&mut request, MAX_BODY).await?;
        return Err(INVALID_API_KEY);
    };
    noted.publisher = Some(publisher.to_string());
    noted.key = Some(credentials::fingerprint(&api_key));
    let body = {
        // The ledger alone knows whether the key was revoked: until then its body holds up others under the same key, and
        // never those of other publishers.
        let key = (api_key.as_str(), QUERIES_OF_KEY);
        let _place = isolate
            .rooms
            .queries
            .enter_part(publisher.as_str(), key, *now_ms)?;
        body::read(&mut request, MAX_BODY).await?
    };
    // Whether it is JSON comes after the key and the rate, which are the ledger's; what is not even text is none.
    let body = String::from_utf8(body).unwrap_or_else(|_| char::REPLACEMENT_CHARACTER.into());
    let _place = isolate.rooms.reports.enter(publisher.as_str(), *now_ms)?;
    let accept = header(&request, "Accept");
    let answered = client::report(&visit.env, &publisher, &api_key, accept.as_deref(), &body).await;
    isolate
        .reach
        .ledger(&publisher, CallError::was_answered(&answered));
    let answer = match answered {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    };
    noted.rows = match answer.status() {
        204 => Some(0),
        _ => answer
            .passed_header("X-Total-Count")
            .and_then(|rows| rows.parse().ok()),
    };
    Ok(answer)
}
