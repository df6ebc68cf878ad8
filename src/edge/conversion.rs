//! `GET|POST /v2/tracking/conversion` (`design.md` section 6): the edge reads the postback and opens the click; everything
//! that may be refused on more than that is judged by the app's outbox.

use std::time::Duration;

use worker::Request;

use super::{
    answer::{Answer, JSON},
    body,
    isolate::Visit,
    watching::Noted,
};
use crate::{
    catalog::{AppId, credentials},
    conversions::{
        parameters::{INVALID_CLICK_ID, Postback},
        state::CONVERSION_WINDOW_CLOSED,
    },
    log,
    origin::{
        call::call,
        clicks,
        command::{Bytes, CallError},
        outbox::{Conversion, client},
    },
    refusal::{Refusal, common},
    room::Place,
    tracking::{
        click::Click,
        click_id::{self, Nonce, OpenError, Opened},
        parameters::INVALID_PARAMETER,
    },
};

/// The longest body, in bytes: parameters of an ordinary URL.
const MAX_BODY: usize = 16 << 10;
const FORM: &str = "application/x-www-form-urlencoded";
/// How long the record of a short click id is waited for.
const RECORD_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn conversion(visit: &Visit, request: Request, query: &str) -> Answer {
    let mut noted = Noted::default();
    let answered = convert(visit, request, query, &mut noted).await;
    noted.onto(answered)
}

async fn convert(
    visit: &Visit,
    mut request: Request,
    query: &str,
    noted: &mut Noted,
) -> Result<Answer, Refusal> {
    let form = match request.method() {
        worker::Method::Post => {
            body::check_media_type(&request, &[FORM], false)?;
            let _place = visit.isolate.rooms.forms.enter_any(visit.now_ms)?;
            let body = body::read(&mut request, MAX_BODY).await;
            // Whatever is wrong with a form is told as of its parameters.
            let body = body.map_err(|refusal| match refusal.status {
                400 => INVALID_PARAMETER.because(refusal.message),
                _ => refusal,
            })?;
            let not_text = |_| INVALID_PARAMETER.because("the body is not UTF-8");
            Some(String::from_utf8(body).map_err(not_text)?)
        }
        _ => None,
    };
    let postback = Postback::parse(query, form.as_deref())?;
    let (click, nonce, _place) = open(visit, &postback.click_id, noted).await?;
    let conversion = Conversion {
        nonce: Bytes(nonce.to_vec()),
        click,
        token: Bytes(credentials::hash(&postback.token).to_vec()),
        goal: postback.goal.map(Into::into),
        txn: postback.txn.map(Into::into),
        status: postback.status,
    };
    let app = conversion.click.app;
    let answered = client::convert(&visit.env, conversion).await;
    let was_answered = CallError::was_answered(&answered);
    visit.isolate.reach.outbox(app, was_answered);
    Ok(match answered {
        Ok(told) => {
            let body = serde_json::to_vec(&told).unwrap_or_default();
            noted.outcome = Some(told.status.as_str());
            noted.duplicate = Some(told.duplicate);
            noted.transaction_id = Some(told.transaction_id);
            Answer::new(200)
                .body(JSON, body)
                .header("Cache-Control", "no-store")
        }
        Err(error) => error.into(),
    })
}

/// The click that an id stands for, its identity, and a place to wait in for its app's outbox. Notes whose it is as soon as
/// it is known.
async fn open(visit: &Visit, id: &str, noted: &mut Noted) -> Result<(Click<'static>, Nonce, Place), Refusal> {
    let keys = &visit.isolate.config.click_keys;
    let enter = |noted: &mut Noted, app: AppId| {
        let owner = noted.app.insert(app.to_string());
        visit.isolate.rooms.conversions.enter(owner, visit.now_ms)
    };
    match click_id::open(keys, id).map_err(refuse)? {
        Opened::Whole { click, nonce } => {
            noted.offer = Some(click.offer.to_string());
            let place = enter(noted, click.app)?;
            Ok((click, nonce, place))
        }
        Opened::Short { app, nonce } => {
            let place = enter(noted, app)?;
            let record = record(visit, nonce).await?;
            let click = click_id::open_record(keys, &record, app, nonce).map_err(refuse)?;
            noted.offer = Some(click.offer.to_string());
            Ok((click, nonce, place))
        }
    }
}

fn refuse(error: OpenError) -> Refusal {
    match error {
        // It may have been sealed under a key that is not deployed here yet.
        OpenError::UnknownKey => {
            common::UNAVAILABLE.because("click_id is under a key that is not known here yet")
        }
        OpenError::Malformed | OpenError::Forged => INVALID_CLICK_ID,
    }
}

/// What is kept of a click with a short id. It was there before its redirect, and stays for longer than any window.
async fn record(visit: &Visit, nonce: Nonce) -> Result<Vec<u8>, Refusal> {
    let unavailable = |error: String| {
        log::error("conversion", error);
        common::UNAVAILABLE
    };
    let namespace = visit
        .env
        .durable_object(clicks::BINDING)
        .map_err(|error| unavailable(error.to_string()))?;
    let get = clicks::Command::Get {
        nonce: Bytes(nonce.to_vec()),
    };
    let found: clicks::Found = call(&namespace, &clicks::object_name(&nonce), &get, RECORD_TIMEOUT)
        .await
        .map_err(|error| unavailable(error.to_string()))?;
    found
        .record
        .map(|record| record.0)
        .ok_or(CONVERSION_WINDOW_CLOSED)
}
