//! One call to a publisher's endpoint: no redirect is followed, headers and body have one limit of time, and no more of
//! the answer is read than the log keeps.

use std::time::Duration;

use futures_util::StreamExt;
use url::Url;
use worker::{AbortController, Fetch, Headers, Method, RequestInit, RequestRedirect, Response};

use crate::{
    callbacks::{
        delivery::{Answer, Outcome},
        guard::Guard,
        request::{READ, Request},
    },
    catalog::app::CallbackMethod,
    runtime::{self, within},
};

/// How a call went.
pub struct Called {
    pub at_ms: i64,
    pub took_ms: i64,
    pub answered: Result<Answered, NoAnswer>,
}

/// Why there was no answer.
pub struct NoAnswer {
    /// One word for the log of the service, which must not have the callback's URL.
    pub cause: &'static str,
    /// For the operator, in the app's log of conversions.
    pub message: String,
}

pub struct Answered {
    pub status: u16,
    retry_after: Option<String>,
    webhook_delivery: Option<String>,
    /// The beginning of the body.
    pub body: String,
}

impl Called {
    pub fn outcome(&self) -> Outcome<'_> {
        match &self.answered {
            Ok(answered) => Outcome::Answered(Answer {
                status: answered.status,
                retry_after: answered.retry_after.as_deref(),
                webhook_delivery: answered.webhook_delivery.as_deref(),
            }),
            Err(_) => Outcome::Failed,
        }
    }
}

/// Calls, unless the guard refuses. Without a whole answer within `timeout` it is none.
pub async fn call(guard: &Guard, request: &Request, timeout: Duration) -> Called {
    let at_ms = runtime::now_ms();
    let abort = AbortController::default();
    let answer = async {
        let url = Url::parse(&request.url)
            .map_err(|error| because("not_a_url", format!("the callback URL: {error}")))?;
        guard
            .check_parsed(&url)
            .map_err(|problem| because("forbidden", format!("not called: the callback URL {problem}")))?;
        exchange(request, &abort).await
    };
    let answered = within(timeout, answer).await;
    let answered = answered.unwrap_or_else(|_| {
        let message = format!("no whole answer within {} ms", timeout.as_millis());
        Err(because("timeout", message))
    });
    // Whatever is still open is closed: an answer that was cut, or one that did not come.
    abort.abort();
    Called {
        at_ms,
        took_ms: runtime::now_ms().saturating_sub(at_ms),
        answered,
    }
}

fn because(cause: &'static str, message: String) -> NoAnswer {
    NoAnswer { cause, message }
}

async fn exchange(request: &Request, abort: &AbortController) -> Result<Answered, NoAnswer> {
    let told = |error: worker::Error| because("connection", format!("no answer: {error}"));
    let headers = Headers::new();
    for (name, value) in &request.headers {
        headers.set(name, value).map_err(told)?;
    }
    let mut init = RequestInit::new();
    init.with_method(match request.method {
        CallbackMethod::Get => Method::Get,
        CallbackMethod::Post => Method::Post,
    })
    .with_headers(headers)
    .with_redirect(RequestRedirect::Manual);
    if let Some(body) = &request.body {
        init.with_body(Some(body.as_str().into()));
    }
    let request = worker::Request::new_with_init(&request.url, &init).map_err(told)?;
    let mut response = Fetch::Request(request)
        .send_with_signal(&abort.signal())
        .await
        .map_err(told)?;
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let (retry_after, webhook_delivery) = (header("retry-after"), header("webhook-delivery"));
    Ok(Answered {
        status: response.status_code(),
        retry_after,
        webhook_delivery,
        body: beginning(&mut response)
            .await
            .map_err(|error| because("broken_answer", format!("half an answer: {error}")))?,
    })
}

/// The first [`READ`] bytes of a body. It is an error if it ends before them and before its own end.
async fn beginning(response: &mut Response) -> worker::Result<String> {
    let mut bytes = Vec::new();
    // Such an answer has none, and asking for one would be an error.
    if !matches!(response.status_code(), 204 | 205 | 304) {
        let mut stream = response.stream()?;
        while bytes.len() < READ
            && let Some(chunk) = stream.next().await
        {
            bytes.extend_from_slice(&chunk?);
        }
    }
    bytes.truncate(READ);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
