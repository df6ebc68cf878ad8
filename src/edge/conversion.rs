//! `GET|POST /v2/tracking/conversion` (docs/DECISIONS.md, "Conversions"): the edge parses the postback, opens the click
//! id and checks the token. The app's outbox decides everything else.

use std::time::Duration;

use futures_util::future::join;
use worker::Request;

use crate::{
    click_records::record,
    isolate::RequestContext,
    limits::Pool,
    postbacks::{self, Proof, ProvenClick, RawPostback},
    shards::{self, ShardQuery},
    snapshots,
};
use contract::{
    operation::{Bytes, CallError},
    outbox::{Conversion, Current, OutboxShard},
};
use domain::{
    conversions::{
        parameters::{Postback, TEST_CLICK},
        table::Event,
        token::{INVALID_TOKEN, Token},
    },
    model::{ApiError, MINUTE_MS, common},
    snapshot::tracking::Manifest,
    tracking::{Click, OpenError, Opened, click_id, parameters::INVALID_PARAMETER},
};
use platform::{
    ObjectCall,
    http::{
        Answer,
        answer::{JSON, LogFields},
        body,
    },
    runtime::now_ms,
};

/// Maximum bytes of a form. It has the same parameters as a query.
const MAX_BODY: usize = 16 << 10;
const FORM: &str = "application/x-www-form-urlencoded";
/// Some scripts send `json={}` or a multipart form in addition to a complete query. Ignoring the body loses no
/// conversion.
const BODY_IGNORED: &str =
    "the body was ignored because it is not application/x-www-form-urlencoded; only the query was read";
const NOT_IN_THE_QUERY: ApiError = ApiError::new(
    415,
    "unsupported_media_type",
    "click_id or token is missing from the query, and the body is not application/x-www-form-urlencoded; send a form, or all parameters in the query",
);
/// The timeout of an outbox, which may wait 5 s for the catalog and 5 s for the counters.
const OUTBOX_TIMEOUT: Duration = Duration::from_secs(25);
/// Maximum age of a shard's confirmation, in milliseconds, for which a goal that the shard lacks is refused
/// permanently. A shard confirmed earlier may lack a goal that was added since.
const RECENT_MS: i64 = 5 * MINUTE_MS;

pub async fn conversion(context: &RequestContext, mut request: Request, query: &str) -> Answer {
    let (mut log_fields, mut proof) = (LogFields::default(), Proof::default());
    let is_post = matches!(request.method(), worker::Method::Post);
    let is_form =
        body::header(&request, "Content-Type").is_none_or(|content_type| body::is_media_type(&content_type, &[FORM]));
    let form = if is_post && is_form { read_form(context, &mut request).await.map(Some) } else { Ok(None) };
    // `curl -d` sends any body with the media type of a form.
    let (form, was_no_form) = match form {
        Ok(Some(text)) if is_other_document(&text) => (Ok(None), true),
        form => (form, false),
    };
    let ignores_body = is_post && !is_form && body::exists(&request);
    let (form, answered) = match form {
        Ok(form) => {
            let answered = convert(context, query, form.as_deref(), &mut log_fields, &mut proof).await;
            (form, answered)
        }
        Err(error) => (None, Err(error)),
    };
    let refused = answered.as_ref().err().map(|error| error.code);
    let is_ignored = refused.is_none_or(|code| code == common::MISSING_FIELD.code)
        && (was_no_form || (ignores_body && body::discard(Clone::clone(request.inner()), 200).await));
    let answered = match answered {
        Err(error) if is_ignored && error.code == common::MISSING_FIELD.code => Err(NOT_IN_THE_QUERY),
        answered => answered,
    };
    let mut answer = log_fields.attach_to(answered);
    if is_ignored && answer.status < 400 {
        answer = answer.header("Signpost-Note", BODY_IGNORED);
    }
    let sent = RawPostback { is_post, query, form: form.as_deref() };
    postbacks::note(context, sent, proof, &answer);
    answer
}

/// True if a body is JSON, XML or a text without `=`. None of these is a form.
fn is_other_document(text: &str) -> bool {
    let text = text.trim();
    if !text.is_empty() && !text.contains('=') {
        return true;
    }
    let marks = [('{', '}'), ('[', ']'), ('<', '>')];
    marks.iter().any(|(open, close)| text.starts_with(*open) && text.ends_with(*close))
}

async fn read_form(context: &RequestContext, request: &mut Request) -> Result<String, ApiError> {
    let forms = context.isolate.pools.get(Pool::Forms);
    let _permit = forms.acquire_any(context.now_ms)?;
    let body = body::read(request, MAX_BODY).await;
    // An unreadable form is an invalid parameter, not invalid JSON.
    let body = body.map_err(|error| match error.status {
        400 => INVALID_PARAMETER.with_message(error.message),
        _ => error,
    })?;
    // A reason may have another encoding. Ids and statuses must be ASCII, and their own checks refuse other characters.
    Ok(String::from_utf8_lossy(&body).into_owned())
}

async fn convert(
    context: &RequestContext,
    query: &str,
    form: Option<&str>,
    log_fields: &mut LogFields,
    proof: &mut Proof,
) -> Result<Answer, ApiError> {
    let postback = Postback::parse(query, form)?;
    let keys = &context.isolate.config.click_keys;
    let opened = click_id::open(keys, &postback.click_id).map_err(OpenError::refusal)?;
    let app = opened.app();
    // A postback of a test app is in no list, since no advertiser owns it.
    if app.is_test() {
        log_fields.app = Some(app.to_string());
        return Ok(TEST_CLICK.into());
    }
    let proven = proof.click.insert(ProvenClick::of(&opened));
    let owner = app.to_string();
    log_fields.app = Some(owner.clone());
    if let Opened::Whole { click, .. } = &opened {
        log_fields.offer = Some(click.offer.to_string());
    }
    // Returns an answer, since an error would have no log fields: the operator must see whose postbacks are refused.
    let Some(token) = Token::verify(&context.isolate.config.token_keys, &postback.token) else {
        return Ok(Answer::from(INVALID_TOKEN));
    };
    log_fields.advertiser = Some(token.advertiser.to_string());
    proof.token = Some(token.clone());
    let conversions = context.isolate.pools.get(Pool::Conversions);
    let _permit = conversions.acquire(&owner, context.now_ms)?;
    if let Err(error) = check_serial(context, &token).await {
        return Ok(error.into());
    }
    let (click, nonce) = match opened {
        Opened::Whole { click, nonce } => (click, nonce),
        Opened::Short { shard, nonce, .. } => {
            let record = record(&context.workers, nonce).await?;
            let click = click_id::open_record(keys, &record, app, shard, nonce).map_err(OpenError::refusal)?;
            proven.complete(&click);
            log_fields.offer = Some(click.offer.to_string());
            (click, nonce)
        }
    };
    let current = current(context, &click).await;
    let shard = OutboxShard::new(app, click.shard);
    let conversion = Conversion {
        nonce: Bytes(nonce.to_vec()),
        click,
        advertiser: Some(token.advertiser),
        goal: postback.goal.map(Into::into),
        txn: postback.txn.map(Into::into),
        event: Event::Postback(postback.status),
        reason: postback.reason.map(Into::into),
        despite: Vec::new(),
        current,
        received_ms: None,
        is_to_be_held: false,
    };
    let answered = context.workers.call(&shard.address(), Box::new(conversion), OUTBOX_TIMEOUT).await;
    let was_answered = CallError::was_answered(&answered);
    context.isolate.reach.outboxes.borrow_mut().note(&owner, was_answered, now_ms());
    Ok(match answered {
        Ok(converted) => {
            let body = serde_json::to_vec(&converted).unwrap_or_default();
            log_fields.outcome = Some(converted.status.as_str());
            log_fields.duplicate = Some(converted.duplicate);
            log_fields.transaction_id = Some(converted.transaction_id);
            Answer::new(200).body(JSON, body).header("Cache-Control", "no-store")
        }
        Err(error) => error.into(),
    })
}

/// Refuses a revoked token. The caller has verified its MAC.
async fn check_serial(context: &RequestContext, token: &Token) -> Result<(), ApiError> {
    snapshots::recent::<Manifest>(context, snapshots::CREDENTIALS_IDLE_MS).await?;
    let advertisers = shards::find(context, ShardQuery::Advertiser(&token.advertiser)).await?;
    if !advertisers.is_confirmed_within(context.now_ms, snapshots::CREDENTIALS_VALID_MS) {
        return Err(common::UNAVAILABLE.with_message("token cannot be checked at the moment"));
    }
    let as_of_ms = advertisers.as_of_ms.get();
    let tokens = advertisers.shard.advertisers();
    let is_accepted = tokens.is_some_and(|tokens| tokens.accepts(token, as_of_ms));
    is_accepted.then_some(()).ok_or(INVALID_TOKEN)
}

/// Returns the current values of a click's offer and app. If a shard cannot be loaded, the outbox asks the catalog
/// instead.
async fn current(context: &RequestContext, click: &Click<'_>) -> Current {
    let (apps, goals) =
        join(shards::find(context, ShardQuery::App(click.app)), shards::find(context, ShardQuery::Goal(&click.goal)))
            .await;
    let (apps, goals) = (apps.ok(), goals.ok());
    let goal = goals.as_ref().and_then(|goals| goals.shard.goal(&click.goal));
    let offer = goal.map(|goal| goal.offer).filter(|offer| offer.id == click.offer);
    let app = apps.as_ref().and_then(|apps| apps.shard.app(click.app));
    Current {
        offer: offer.map(|offer| offer.current()),
        app: app.and_then(|app| app.current()),
        is_recent: goals.is_some_and(|goals| goals.is_confirmed_within(context.now_ms, RECENT_MS)),
    }
}
