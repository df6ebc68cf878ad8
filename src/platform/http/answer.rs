//! The answer of a handler, before it is converted to a response.

use std::borrow::Cow;

use worker::{Headers, Response, ResponseBody, Result};

use crate::log;
use contract::operation::{CallError, NEWER_SCHEMA, OperatorReply, code_in};
use domain::model::{ApiError, common};

pub const JSON: &str = "application/json";

pub struct Answer {
    pub status: u16,
    headers: Vec<(Cow<'static, str>, String)>,
    body: Vec<u8>,
    /// The code of a refusal, kept even if the body does not contain it.
    pub code: Option<Cow<'static, str>>,
    pub log_fields: LogFields,
    /// True if nothing was changed, because the caller asked only for a preview.
    pub is_dry_run: bool,
    /// The detail that the audit records of a change, in addition to the ids in its path.
    pub audit_detail: Option<String>,
    /// A response that is passed on unchanged, with its body as a stream.
    passed: Option<Response>,
}

impl Answer {
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            code: None,
            log_fields: LogFields::default(),
            is_dry_run: false,
            audit_detail: None,
            passed: None,
        }
    }

    /// Passes on an object's answer. Reads a refusal, which is short, to get its code.
    pub async fn pass(mut response: Response) -> Self {
        let answer = Self::new(response.status_code());
        if answer.status < 400 {
            return Self { passed: Some(response), ..answer };
        }
        let body = response.text().await.unwrap_or_default();
        Self {
            headers: response
                .headers()
                .entries()
                .filter(|(name, _)| name != NEWER_SCHEMA)
                .map(|(name, value)| (Cow::Owned(name), value))
                .collect(),
            code: code_in(&body).map(Cow::Owned),
            body: body.into_bytes(),
            ..answer
        }
    }

    /// Passes on another Worker's answer without reading it, even a refusal.
    pub fn pass_unread(response: Response) -> Self {
        let status = response.status_code();
        Self { passed: Some(response), ..Self::new(status) }
    }

    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status).body(JSON, body)
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// A header of the response that is passed on.
    pub fn passed_header(&self, name: &str) -> Option<String> {
        self.passed.as_ref()?.headers().get(name).ok().flatten()
    }

    pub fn coded(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Marks an answer that changed nothing, because the caller asked only for a preview.
    pub fn dry_run(mut self, is_dry_run: bool) -> Self {
        self.is_dry_run = is_dry_run;
        self
    }

    /// Sets the detail that the audit records of a change, in addition to the ids in its path. It must not name a user.
    pub fn audited(mut self, detail: impl Into<String>) -> Self {
        self.audit_detail = Some(detail.into());
        self
    }

    pub fn with_log_fields(mut self, log_fields: LogFields) -> Self {
        self.log_fields = log_fields;
        self
    }

    /// Sets `Retry-After`, if `seconds` has a value.
    pub fn retry_after(self, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => self.header("Retry-After", seconds.to_string()),
            None => self,
        }
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    /// The same answer without its body, for a HEAD request.
    pub fn without_body(mut self) -> Self {
        self.body.clear();
        self
    }

    pub fn into_response(self) -> Result<Response> {
        if let Some(passed) = self.passed {
            return Ok(passed);
        }
        let headers = Headers::new();
        for (name, value) in &self.headers {
            headers.set(name, value)?;
        }
        let body = if self.body.is_empty() { ResponseBody::Empty } else { ResponseBody::Body(self.body) };
        Ok(Response::from_body(body)?.with_status(self.status).with_headers(headers))
    }
}

impl From<ApiError> for Answer {
    fn from(refusal: ApiError) -> Self {
        Self::json(refusal.status, refusal.body())
            .header("Cache-Control", "no-store")
            .coded(refusal.code)
            .retry_after(refusal.retry_after_s)
    }
}

impl From<OperatorReply> for Answer {
    /// An object's answer to an operator's command.
    fn from(reply: OperatorReply) -> Self {
        let code = (reply.status >= 400).then(|| code_in(&reply.body)).flatten();
        let answer = match reply.status {
            204 => Self::new(204),
            status => Self::json(status, reply.body),
        }
        .header("Cache-Control", "no-store");
        match code {
            Some(code) => answer.coded(code),
            None => answer,
        }
    }
}

impl From<CallError> for Answer {
    /// Passes on an object's refusal. A missing answer is logged, and the caller receives 503.
    fn from(error: CallError) -> Self {
        let code = error.code();
        match error {
            CallError::Refused { status, body, retry_after_s } => {
                Self::json(status, body).header("Cache-Control", "no-store").coded(code).retry_after(retry_after_s)
            }
            CallError::Unanswered(_) => {
                log::error("objects", error);
                common::UNAVAILABLE.into()
            }
        }
    }
}

/// The fields that a handler adds to a request's line.
#[derive(Default)]
pub struct LogFields {
    pub app: Option<String>,
    pub offer: Option<String>,
    pub publisher: Option<String>,
    pub advertiser: Option<String>,
    /// The fingerprint of the report key.
    pub key: Option<String>,
    pub transaction_id: Option<String>,
    pub outcome: Option<&'static str>,
    pub duplicate: Option<bool>,
    pub rows: Option<i64>,
}

impl LogFields {
    /// Attaches these fields to an answer or an internal error. A refusal that is returned as an error gets no fields
    /// and so causes few lines: anybody with a revoked key can provoke it.
    pub fn attach_to(self, answered: Result<Answer, ApiError>) -> Answer {
        match answered {
            Ok(answer) => answer.with_log_fields(self),
            Err(error) if error.status >= 500 => Answer::from(error).with_log_fields(self),
            Err(error) => error.into(),
        }
    }

    /// True if an authentic click id or report key identifies the request's owner.
    pub fn is_known(&self) -> bool {
        self.app.is_some() || self.key.is_some()
    }
}
