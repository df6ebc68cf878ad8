//! Test callbacks. The operator gets the response, and the publisher also gets a diagnosis. A test callback is sent to
//! the saved URL, pays nothing, is not logged and is never retried.

use std::{rc::Rc, time::Duration};

use serde_json::{Value, json};
use url::Url;

use crate::delivery::callback_sender::CallbackSender;
use contract::{
    catalog::CallbackSettings,
    operation::OperatorReply,
    outbox::{Diagnose, Test},
};
use domain::{
    callbacks::{
        diagnosis::{self, Answer, NoAnswer},
        request::Endpoint,
        signature::SignWith,
        tester::{self, ShownRequest},
    },
    model::{ApiError, AppId, CurrencyRate, SECOND_MS},
};
use platform::{
    Clock, Failure, Random, Result,
    http_call::{self, HttpAnswer, HttpCall},
    traits::Http,
};

pub const NO_CALLBACK: ApiError = ApiError::new(409, "no_callback", "the app has no callback to test");

/// Maximum wait for the connection that is opened after a failed call, to see whether the host accepts connections.
const OPENING: Duration = Duration::from_secs(3);
/// The runtime's error for a connection that was refused or closed by the other side.
const CONNECTION_LOST: &str = "Network connection lost";

/// A test that was sent.
struct SentTest {
    endpoint: Rc<Endpoint>,
    request: ShownRequest,
    call: HttpCall,
}

async fn send(
    sender: &CallbackSender,
    runtime: &(impl Clock + Random + Http),
    app: AppId,
    currency: &CurrencyRate,
    callback: &CallbackSettings,
    sign_with: SignWith,
) -> Result<SentTest> {
    let endpoint = sender.endpoint(app, callback)?.ok_or(NO_CALLBACK)?;
    let random = runtime.random().map_err(Failure::Internal)?;
    let now_s = runtime.now_ms().div_euclid(SECOND_MS);
    let fields = tester::fields(app, currency, &random, now_s);
    let request = tester::request(&endpoint, &fields, sign_with, &random, now_s);
    let call = sender.call(runtime, &request, sender.test_timeout()).await;
    Ok(SentTest { request: ShownRequest::new(&endpoint, &request, &fields, now_s), endpoint, call })
}

fn response(answer: &HttpAnswer, took_ms: i64, endpoint: &Endpoint) -> Value {
    let is_redirect = (300..400).contains(&answer.status);
    let location = answer.location.as_deref().filter(|_| is_redirect);
    json!({
        "http_status": answer.status,
        "ms": took_ms,
        "location": location.map(|location| endpoint.mask_for_log(location)),
        "body": endpoint.mask_for_log(&answer.body),
    })
}

/// Answers the operator's `POST …/callback_test`. If the receiver does not answer, the reply gives the reason as a
/// text.
///
/// # Errors
/// `no_callback` if the app has no endpoint. Or the runtime returned no random bytes.
pub async fn test(
    sender: &CallbackSender,
    runtime: &(impl Clock + Random + Http),
    app: AppId,
    Test { currency, callback }: &Test,
) -> Result<OperatorReply> {
    let sent = send(sender, runtime, app, currency, callback, SignWith::Both).await?;
    Ok(OperatorReply::ok(&match sent.call.outcome {
        Ok(answer) => {
            json!({ "request": sent.request, "response": response(&answer, sent.call.took_ms, &sent.endpoint) })
        }
        Err(no_answer) => json!({ "request": sent.request, "response": null, "error": no_answer.message }),
    }))
}

/// True if a call over TLS failed although its host accepts connections. The check is needed because workerd returns
/// the same error for an untrusted certificate, an unknown name and a forbidden address. On Cloudflare, a TLS failure
/// is instead an answer with status 525 or 526.
async fn is_tls(runtime: &impl Http, endpoint: &Endpoint, no_answer: &http_call::NoAnswer) -> bool {
    let is_other = no_answer.cause != "connection" || no_answer.message.contains(CONNECTION_LOST);
    match Url::parse(endpoint.url()) {
        Ok(url) if !is_other && url.scheme() == "https" => runtime.opens(&url, OPENING).await,
        _ => false,
    }
}

/// Sends a publisher's test, and answers with its findings. If the receiver does not answer, the reply gives the reason
/// as a code, because a text would reveal whether a port is closed or a host is unknown.
///
/// # Errors
/// `no_callback` if the app has no endpoint. Or the runtime returned no random bytes.
pub async fn diagnose(
    sender: &CallbackSender,
    runtime: &(impl Clock + Random + Http),
    app: AppId,
    test: &Diagnose,
) -> Result<OperatorReply> {
    let sent = send(sender, runtime, app, &test.currency, &test.callback, test.sign_with).await?;
    let answered = match &sent.call.outcome {
        Ok(answer) => Ok(Answer {
            status: answer.status,
            took_ms: sent.call.took_ms,
            webhook_delivery: answer.webhook_delivery.clone(),
            body: sent.endpoint.mask_for_log(&answer.body),
        }),
        Err(no_answer) if is_tls(runtime, &sent.endpoint, no_answer).await => Err(NoAnswer::Tls),
        Err(no_answer) => Err(NoAnswer::of_cause(no_answer.cause)),
    };
    let answered = diagnosis::outcome(answered);
    let mut findings = diagnosis::of_answer(test.sign_with, &answered);
    findings.extend(diagnosis::of_url(&sent.endpoint));
    let (response, error) = match (&answered, &sent.call.outcome) {
        (Ok(_), Ok(answer)) => (response(answer, sent.call.took_ms, &sent.endpoint), Value::Null),
        (answered, _) => (Value::Null, json!({ "code": answered.as_ref().err() })),
    };
    Ok(OperatorReply::ok(&json!({
        "request": sent.request,
        "response": response,
        "error": error,
        "findings": findings,
    })))
}
