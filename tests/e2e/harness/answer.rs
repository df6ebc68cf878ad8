//! An HTTP response as tests read it, with the assertions that most tests need.

use std::fmt;

use serde_json::Value;
use ureq::http;

/// A complete response.
#[derive(Clone)]
pub struct Answer {
    /// The request, shown when a test fails.
    pub(super) request: String,
    pub status: u16,
    pub(super) headers: http::HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a header of ASCII"))
    }

    /// All headers, with names in lower case.
    pub fn headers(&self) -> Vec<(String, String)> {
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub fn location(&self) -> &str {
        self.header("Location").unwrap_or_else(|| panic!("no Location in {self:?}"))
    }

    /// The `code` of an error response.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_else(|| panic!("no code in {self:?}")).to_owned()
    }

    /// Fails the test unless the response has this status. The message shows request and response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// True for the 503 after which a sender tries again.
    pub fn is_retried(&self) -> bool {
        self.status == 503 && self.code() == "unavailable" && self.header("Retry-After").is_some()
    }

    /// Fails the test unless this is the error response `{error, code}` without other members. Only the errors of
    /// uploads and imports may have `lines`. For `/healthz`, whose error has more members, see
    /// [`expect_unhealthy`](Self::expect_unhealthy).
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        let body = answer.json();
        assert_eq!(body["code"], code, "{answer:?}");
        let names_lines = ["invalid_facts", "invalid_import"].contains(&code);
        let mut members = body.as_object().expect("members").keys();
        let is_allowed = |member: &String| matches!(&**member, "error" | "code") || names_lines && member == "lines";
        assert!(members.all(is_allowed), "{answer:?}");
        assert!(body["error"].as_str().is_some_and(|message| !message.is_empty()), "{answer:?}");
        answer
    }

    /// Fails the test unless this is the 503 of a `/healthz` where an interface is not served.
    #[track_caller]
    pub fn expect_unhealthy(self) -> Self {
        let answer = self.expect(503);
        assert_eq!(answer.code(), "unavailable", "{answer:?}");
        assert!(answer.json()["interfaces"].is_object(), "{answer:?}");
        answer
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body: String = self.body.chars().take(2_000).collect();
        write!(f, "\n{}\n-> {}\n{:?}\n{body}", self.request, self.status, self.headers)
    }
}
