//! An answer before it becomes a response: what every handler returns.

use worker::{Headers, Response, ResponseBody, Result};

use crate::{
    origin::command::CallError,
    refusal::{Refusal, common},
};

pub const JSON: &str = "application/json";

pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// An object's answer that is passed on as it comes, its body a stream that is not looked at.
    passed: Option<Response>,
}

impl Answer {
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            passed: None,
        }
    }

    pub fn pass(response: Response) -> Self {
        let answer = Self::new(response.status_code());
        Self {
            passed: Some(response),
            ..answer
        }
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status).body(JSON, body)
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    /// The same answer to a HEAD request.
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
        let body = if self.body.is_empty() {
            ResponseBody::Empty
        } else {
            ResponseBody::Body(self.body)
        };
        Ok(Response::from_body(body)?
            .with_status(self.status)
            .with_headers(headers))
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let answer = Self::json(refusal.status, refusal.body()).header("Cache-Control", "no-store");
        match refusal.retry_after_s {
            Some(seconds) => answer.header("Retry-After", seconds.to_string()),
            None => answer,
        }
    }
}

impl From<CallError> for Answer {
    /// An object's refusal is passed on; an object that did not answer is for the log, and the caller tries again.
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused {
                status,
                body,
                retry_after_s,
            } => {
                let answer = Self::json(status, body).header("Cache-Control", "no-store");
                match retry_after_s {
                    Some(seconds) => answer.header("Retry-After", seconds.to_string()),
                    None => answer,
                }
            }
            CallError::Unanswered(_) => {
                worker::console_error!("{error}");
                common::UNAVAILABLE.into()
            }
        }
    }
}
