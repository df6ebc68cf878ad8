//! Dry-runs a postback: computes the answer and writes nothing.

use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::{ask_catalog, none_if_unknown, read_document, read_resource};
use crate::http::{HandlerResult, Refusal, RequestContext, clicks::click_outcome};
use contract::{
    catalog::{AppSettings, GetAppSettings, GetOfferTerms, KnownOffer, LOST_TERMS, Resource},
    clicks,
    operation::{Bytes, CallError, OperatorReply, code_in},
    outbox::{CheckPostback, Conversion, Current, NumberedTerms, OutboxShard},
};
use domain::{
    conversions::{
        parameters::{INVALID_CLICK_ID, Postback, TEST_CLICK},
        received::{PastedPostback, shown_parameters},
        reward::check_life,
        state::{CONVERSION_WINDOW_CLOSED, Reason},
        table::Event,
        terms::TermsInForce,
        token::{INVALID_TOKEN, Serial, Token},
        verdict::{self, Explanation},
    },
    model::{ApiError, Document, FieldError, OfferId, SECOND_MS, common},
    tracking::{Click, Nonce, OpenError, Opened, click_id, keys::KeyRing},
};
use platform::http::router::Interface;

const NO_CLICK_KEYS: ApiError =
    ApiError::new(409, "no_click_keys", "click ids cannot be opened: CLICK_KEYS is not set at the origin");

/// The segments of the edge's path for postbacks.
const PATH: [&str; 3] = ["v2", "tracking", "conversion"];
/// Maximum length of the URL in bytes, which is Cloudflare's limit.
const MAX_URL: usize = 16 << 10;
const MAX_BODY: usize = 64 << 10;

#[derive(Deserialize)]
struct CheckBody {
    url: String,
}

impl Document for CheckBody {
    fn check(&self) -> Result<(), FieldError> {
        if self.url.len() <= MAX_URL {
            Ok(())
        } else {
            Err(FieldError::new("url", format!("must have at most {MAX_URL} bytes")))
        }
    }
}

/// The answer that a postback would get.
struct Outcome {
    http_status: u16,
    code: String,
    /// The error message that the sender of a refused postback would read.
    error: Option<String>,
    transaction_id: Option<String>,
    /// Why the conversion would be held; `None` if it would not be held.
    reason: Option<Reason>,
}

impl Outcome {
    fn refused(http_status: u16, code: String, error: Option<String>) -> Self {
        Self { http_status, code, error, transaction_id: None, reason: None }
    }
}

/// Why a check ends without an answer from the outbox.
enum CheckError {
    /// The postback would be refused.
    Refused(Outcome),
    /// The check itself cannot be made now.
    Failed(Refusal),
}

impl From<ApiError> for CheckError {
    fn from(refusal: ApiError) -> Self {
        let message = refusal.message.into_owned();
        Self::Refused(Outcome::refused(refusal.status, refusal.code.to_owned(), Some(message)))
    }
}

impl From<CallError> for CheckError {
    /// An object's refusal is the postback's refusal. If the object does not answer, the check fails.
    fn from(error: CallError) -> Self {
        let CallError::Refused { status, body, .. } = &error else {
            return Self::Failed(error.into());
        };
        let Some(code) = code_in(body) else {
            return Self::Failed(error.into());
        };
        let message: Option<Value> = serde_json::from_str(body).ok();
        let message = message.as_ref().and_then(|body| body["error"].as_str());
        Self::Refused(Outcome::refused(*status, code, message.map(str::to_owned)))
    }
}

/// `POST postback_check`: evaluates a `GET` postback as the edge and the outbox would. Nothing is stored or sent.
pub async fn check(context: &RequestContext, mut request: Request) -> HandlerResult {
    let keys = context.isolate.config.click_keys.as_ref().ok_or(NO_CLICK_KEYS)?;
    let CheckBody { url } = read_document(&mut request, MAX_BODY).await?;
    let pasted = PastedPostback::parse(&url);
    let mut click = None;
    let outcome = match judge(context, keys, &pasted, &mut click).await {
        Ok(outcome) | Err(CheckError::Refused(outcome)) => outcome,
        Err(CheckError::Failed(refusal)) => return Err(refusal),
    };
    let Explanation { verdict, remedy } = match outcome.reason {
        Some(reason) => verdict::of_held(reason),
        None => verdict::of_code(&outcome.code),
    };
    let body = json!({
        "http_status": outcome.http_status,
        "code": outcome.code,
        "error": outcome.error,
        "reason": outcome.reason,
        "transaction_id": outcome.transaction_id,
        "verdict": verdict,
        "remedy": remedy,
        "click": click,
        "parameters": shown_parameters(pasted.query, None),
    });
    Ok(OperatorReply::ok(&body).into())
}

/// True if the edge takes postbacks at this path. Like the edge's router, it ignores empty segments.
fn is_path(path: &str) -> bool {
    path.split('/').filter(|segment| !segment.is_empty()).eq(PATH)
}

/// Evaluates a postback in the same order as the edge (`src/edge/conversion.rs`) and the outbox. Puts the postback's
/// click into `shown`.
async fn judge(
    context: &RequestContext,
    keys: &KeyRing,
    pasted: &PastedPostback<'_>,
    shown: &mut Option<Value>,
) -> Result<Outcome, CheckError> {
    let config = &context.isolate.config;
    if let Some((host, path)) = pasted.address
        && (!is_path(path) || !config.hosts.serves(host, Interface::Tracking))
    {
        return Err(common::NOT_FOUND.into());
    }
    let postback = Postback::parse(pasted.query, None)?;
    let opened = click_id::open(keys, &postback.click_id).map_err(OpenError::refusal)?;
    *shown = Some(json!({ "app_id": opened.app() }));
    if opened.app().is_test() {
        return Err(TEST_CLICK.into());
    }
    if let Opened::Whole { click, nonce } = &opened {
        *shown = Some(shown_click(context, click, *nonce).await?);
    }
    let token = Token::verify(&config.token_keys, &postback.token).ok_or(INVALID_TOKEN)?;
    check_serial(context, &token).await?;
    let (click, nonce) = match opened {
        Opened::Whole { click, nonce } => (click, nonce),
        Opened::Short { app, shard, nonce } => {
            let get = clicks::Get { nonce: Bytes(nonce.to_vec()) };
            let found = context.call(&clicks::address(&nonce), get).await?;
            let record = found.record.ok_or(CONVERSION_WINDOW_CLOSED)?;
            let click = click_id::open_record(keys, &record.0, app, shard, nonce).map_err(OpenError::refusal)?;
            *shown = Some(shown_click(context, &click, nonce).await?);
            (click, nonce)
        }
    };
    // The age is checked first, because the terms of a click that is too old may have been deleted.
    check_life(click.clicked_at_ms, context.now_ms)?;
    let app_id = click.app;
    let app: AppSettings = known(ask_catalog(context, GetAppSettings { app_id }).await)?;
    let offer = OfferId::parse(&click.offer).ok_or(INVALID_CLICK_ID)?;
    let sealed = terms(context, &offer, click.offer_terms).await?;
    let TermsInForce { revision, .. } = sealed.current.terms;
    let paying = sealed.current.terms.paying(click.offer_terms, click.clicked_at_ms);
    let now = if revision == click.offer_terms {
        None
    } else {
        let terms = terms(context, &offer, revision).await?.terms;
        Some(NumberedTerms { revision, terms })
    };
    let (paying, current) = match now {
        Some(now) if paying == revision => (now, None),
        now => {
            let sealed_terms = NumberedTerms { revision: click.offer_terms, terms: sealed.terms };
            (sealed_terms, now)
        }
    };
    let shard = OutboxShard::new(app_id, click.shard);
    let check = CheckPostback {
        conversion: Conversion {
            nonce: Bytes(nonce.to_vec()),
            click,
            advertiser: Some(token.advertiser),
            goal: postback.goal.map(Into::into),
            txn: postback.txn.map(Into::into),
            event: Event::Postback(postback.status),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: Current { offer: Some(sealed.current), app: None, is_recent: true },
        },
        paying,
        current,
        currency: app.currency,
        outbox_shards: app.outbox_shards,
    };
    let checked = context.call(&shard.address(), Box::new(check)).await?;
    Ok(Outcome {
        http_status: 200,
        code: verdict::taken_code(checked.answer.status, checked.answer.duplicate).to_owned(),
        error: None,
        transaction_id: Some(checked.answer.transaction_id),
        reason: checked.reason,
    })
}

/// Checks with the catalog that a token is still valid for its advertiser. The edge learns of a revoked or new token
/// within two minutes.
async fn check_serial(context: &RequestContext, token: &Token) -> Result<(), CheckError> {
    #[derive(Deserialize)]
    struct Issued {
        token_id: String,
    }
    #[derive(Deserialize)]
    struct Advertiser {
        tokens: Vec<Issued>,
    }
    let asked = read_resource(context, Resource::Advertiser, token.advertiser.as_str()).await;
    let asked: Option<Advertiser> = none_if_unknown(asked).map_err(CheckError::Failed)?;
    let advertiser = asked.ok_or(INVALID_TOKEN)?;
    let mut valid = advertiser.tokens.iter();
    let is_valid = valid.any(|issued| Serial::parse(&issued.token_id) == Some(token.serial));
    is_valid.then_some(()).ok_or_else(|| INVALID_TOKEN.into())
}

async fn terms(context: &RequestContext, offer: &OfferId, revision: i64) -> Result<KnownOffer, CheckError> {
    let question = GetOfferTerms { offer_id: offer.clone(), revision, outbox: None };
    known(ask_catalog(context, question).await)
}

/// Returns the catalog's answer about an app or an offer. A click id that refers to an unknown app or offer is invalid.
fn known<T>(asked: Result<T, Refusal>) -> Result<T, CheckError> {
    match asked {
        Err(refused) if refused.status() == 404 => {
            Err(INVALID_CLICK_ID.with_message("click_id refers to an unknown app or offer").into())
        }
        Err(refused) if refused.code() == Some(LOST_TERMS.code) => Err(common::UNAVAILABLE
            .with_message("the terms of the click are lost; GET /v1/operator/attention names them")
            .into()),
        asked => asked.map_err(CheckError::Failed),
    }
}

/// Returns a click as the check shows it. Only the app is shown if the click's user was erased later, or if the click
/// is so old that its outbox may have forgotten an erasure.
async fn shown_click(context: &RequestContext, click: &Click<'_>, nonce: Nonce) -> Result<Value, CheckError> {
    let shard = OutboxShard::new(click.app, click.shard);
    if check_life(click.clicked_at_ms, context.now_ms).is_err() {
        return Ok(json!({ "app_id": click.app }));
    }
    let outcome = click_outcome(context, shard, nonce, Some(click)).await;
    if outcome.map_err(|error| CheckError::Failed(error.into()))?.is_erased {
        return Ok(json!({ "app_id": click.app, "is_erased": true }));
    }
    Ok(json!({
        "app_id": click.app,
        "offer_id": click.offer,
        "goal_id": click.goal,
        "user_id": click.user_id,
        "clicked_at": click.clicked_at_ms.div_euclid(SECOND_MS),
        "country": click.country,
        "placement": click.placement,
    }))
}
