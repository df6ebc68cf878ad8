//! A call to a publisher's endpoint and its outcome.

use domain::callbacks::delivery::{Answer, Outcome};

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// The start in milliseconds since the epoch.
    pub at_ms: i64,
    pub took_ms: i64,
    pub outcome: Result<HttpAnswer, NoAnswer>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAnswer {
    pub status: u16,
    /// The target of a redirect, which is not followed.
    pub location: Option<String>,
    pub retry_after: Option<String>,
    pub webhook_delivery: Option<String>,
    /// The first [`MAX_READ`](domain::callbacks::request::MAX_READ) bytes of the body.
    pub body: String,
}

/// The reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// One word for the service's log, which must not show the callback's URL.
    pub cause: &'static str,
    /// A message for the operator, in the app's log of conversions.
    pub message: String,
}

impl NoAnswer {
    pub fn new(cause: &'static str, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

impl HttpCall {
    /// The outcome in the form that the delivery rules take.
    pub fn delivery_outcome(&self) -> Outcome<'_> {
        match &self.outcome {
            Ok(answer) => Outcome::Answered(Answer {
                status: answer.status,
                retry_after: answer.retry_after.as_deref(),
                webhook_delivery: answer.webhook_delivery.as_deref(),
            }),
            Err(_) => Outcome::Failed,
        }
    }
}

#[cfg(target_arch = "wasm32")]
pub use fetch::{opens, send};

#[cfg(target_arch = "wasm32")]
mod fetch {
    //! The call by the runtime's `fetch`.

    use std::time::Duration;

    use futures_util::StreamExt;
    use url::Url;
    use worker::{AbortController, Fetch, Headers, Method, RequestInit, RequestRedirect, Response, Socket};

    use super::{HttpAnswer, HttpCall, NoAnswer};
    use crate::runtime::{self, with_timeout};
    use domain::callbacks::{
        request::{MAX_READ, Request},
        settings::CallbackMethod,
    };

    /// Sends a request and reads the beginning of its answer, within `timeout`. Redirects are not followed.
    pub async fn send(request: &Request, timeout: Duration) -> HttpCall {
        let at_ms = runtime::now_ms();
        let abort = AbortController::default();
        let outcome = with_timeout(timeout, exchange(request, &abort)).await;
        let outcome = outcome.unwrap_or_else(|_| {
            let message = format!("no whole answer within {} ms", timeout.as_millis());
            Err(NoAnswer::new("timeout", message))
        });
        // Closes the connection if it is still open: the answer was longer than `MAX_READ`, or did not arrive.
        abort.abort();
        HttpCall { at_ms, took_ms: runtime::now_ms().saturating_sub(at_ms), outcome }
    }

    async fn exchange(request: &Request, abort: &AbortController) -> Result<HttpAnswer, NoAnswer> {
        let failed = |error: worker::Error| NoAnswer::new("connection", format!("no answer: {error}"));
        let headers = Headers::new();
        for (name, value) in &request.headers {
            headers.set(name, value).map_err(failed)?;
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
        let request = worker::Request::new_with_init(&request.url, &init).map_err(failed)?;
        let mut response = Fetch::Request(request).send_with_signal(&abort.signal()).await.map_err(failed)?;
        let header = |name: &str| response.headers().get(name).ok().flatten();
        let [location, retry_after, webhook_delivery] = ["location", "retry-after", "webhook-delivery"].map(header);
        let broken = |error| NoAnswer::new("broken_answer", format!("incomplete answer: {error}"));
        Ok(HttpAnswer {
            status: response.status_code(),
            location,
            retry_after,
            webhook_delivery,
            body: beginning(&mut response).await.map_err(broken)?,
        })
    }

    /// True if a TCP connection to the host of a URL opens. Closes the connection at once.
    pub async fn opens(url: &Url, timeout: Duration) -> bool {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return false;
        };
        let Ok(mut socket) = Socket::builder().connect(host, port) else {
            return false;
        };
        let opened = with_timeout(timeout, socket.opened()).await;
        // A socket that did not open also fails to close.
        let _ = with_timeout(timeout, socket.close()).await;
        matches!(opened, Ok(Ok(_)))
    }

    /// Returns the first [`MAX_READ`] bytes of a body. Fails if the body breaks off earlier.
    async fn beginning(response: &mut Response) -> worker::Result<String> {
        let mut bytes = Vec::new();
        // These statuses have no body, and reading one would fail.
        if !matches!(response.status_code(), 204 | 205 | 304) {
            let mut stream = response.stream()?;
            while bytes.len() < MAX_READ
                && let Some(chunk) = stream.next().await
            {
                bytes.extend_from_slice(&chunk?);
            }
        }
        bytes.truncate(MAX_READ);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
