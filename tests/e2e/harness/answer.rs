//! What a Signpost answered, and what a test says of it.

use std::fmt;

use serde_json::Value;
use ureq::http;

/// An answer, whole.
#[derive(Clone)]
pub struct Answer {
    /// What was asked, for a test that fails.
    pub(super) asked: String,
    pub status: u16,
    pub(super) headers: http::HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header of ASCII"))
    }

    /// Every header, its name in lower case.
    pub fn headers(&self) -> Vec<(String, String)> {
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub fn location(&self) -> &str {
        self.header("Location")
            .unwrap_or_else(|| panic!("no Location in {self:?}"))
    }

    /// The `code` of a refusal.
    pub fn code(&self) -> String {
        self.json()["code"]
            .as_str()
            .unwrap_or_else(|| panic!("no code in {self:?}"))
            .to_owned()
    }

    /// Fails the test, with request and answer, unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Fails the test unless it is this refusal, told as `{error, code}` and nothing else, but for the `lines` that
    /// are wrong in an upload or an import. A `/healthz` that is [unwell](Self::unwell) says more, too.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        let body = answer.json();
        assert_eq!(body["code"], code, "{answer:?}");
        let names_lines = ["invalid_facts", "invalid_import"].contains(&code);
        let mut members = body.as_object().expect("members").keys();
        let is_told =
            |member: &String| matches!(&**member, "error" | "code") || names_lines && member == "lines";
        assert!(members.all(is_told), "{answer:?}");
        assert!(
            body["error"].as_str().is_some_and(|message| !message.is_empty()),
            "{answer:?}"
        );
        answer
    }

    /// Fails the test unless it is of a `/healthz` where something is not served: a refusal that says what.
    #[track_caller]
    pub fn unwell(self) -> Self {
        let answer = self.expect(503);
        assert_eq!(answer.code(), "unavailable", "{answer:?}");
        assert!(answer.json()["interfaces"].is_object(), "{answer:?}");
        answer
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body: String = self.body.chars().take(2_000).collect();
        write!(
            f,
            "\n{}\n-> {}\n{:?}\n{body}",
            self.asked, self.status, self.headers
        )
    }
}
