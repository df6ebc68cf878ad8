//! The diagnosis of a callback: findings about its URL and the answer to a test, each with a code. The pages have a
//! text for each code (openapi-dashboard.yaml, "Finding").

use serde::Serialize;

use super::{
    check,
    request::{Endpoint, after_authority, with_braces},
    settings::CallbackMethod,
    signature::SignWith,
};
use crate::model::placeholders::in_url;

/// Milliseconds after which an answer counts as slow. Slow answers delay the callbacks that follow.
const SLOW_MS: i64 = 3_000;

/// Maximum findings about macros and placeholders of a URL.
const MAX_PLACEHOLDERS: usize = 12;
/// Some servers and proxies cut or refuse a URL of this length or longer, in bytes.
const MAX_SAFE_URL: usize = 2_000;

/// The urgency of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Rewards are lost, doubled or open to forgery.
    Problem,
    /// The callback works, but could be better.
    Advice,
    /// Nothing to change.
    Ok,
}

/// A finding about a test or a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The code by which the pages find its text.
    pub code: &'static str,
    /// How urgent the finding is.
    pub severity: Severity,
    /// The value that the finding refers to, such as a placeholder, a status or a time.
    pub subject: Option<String>,
}

impl Finding {
    fn problem(code: &'static str) -> Self {
        Self::of(code, Severity::Problem)
    }

    fn advice(code: &'static str) -> Self {
        Self::of(code, Severity::Advice)
    }

    fn ok(code: &'static str) -> Self {
        Self::of(code, Severity::Ok)
    }

    fn of(code: &'static str, severity: Severity) -> Self {
        Self { code, severity, subject: None }
    }

    fn about(self, subject: impl ToString) -> Self {
        Self { subject: Some(subject.to_string()), ..self }
    }
}

crate::named_values! {
    /// The reason why a test has no answer. All failures to connect share one reason: a test must not distinguish a
    /// closed port from a host that does not exist.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum NoAnswer {
        /// No complete answer came in time.
        Timeout = "timeout",
        /// The TLS handshake failed, for example because of the certificate.
        Tls = "tls",
        /// No connection: the host's name does not resolve, or the host or its port does not answer.
        Unreachable = "unreachable",
        /// The answer was cut off.
        BrokenAnswer = "broken_answer",
        /// The network guard refuses the URL.
        Forbidden = "forbidden",
    }
}

/// An attempt's error as a publisher sees it. The runtime's texts for failed connections are removed: they would
/// distinguish a closed port from a host that does not exist.
pub fn shown_error(logged: &str) -> &str {
    match logged.split_once(':') {
        Some(("no answer", _)) => "no answer",
        _ => logged,
    }
}

impl NoAnswer {
    /// Returns the reason for the logged cause of a failed call.
    pub fn of_cause(cause: &str) -> Self {
        match cause {
            "timeout" => Self::Timeout,
            "tls" => Self::Tls,
            "broken_answer" => Self::BrokenAnswer,
            "forbidden" | "not_a_url" => Self::Forbidden,
            _ => Self::Unreachable,
        }
    }

    /// Returns the reason for a status that Cloudflare's network sends when the receiver gives no valid answer; `None`
    /// for any other status.
    fn of_status(status: u16) -> Option<Self> {
        match status {
            520 => Some(Self::BrokenAnswer),
            521..=523 | 530 => Some(Self::Unreachable),
            524 => Some(Self::Timeout),
            525 | 526 => Some(Self::Tls),
            _ => None,
        }
    }

    fn finding(self) -> Finding {
        Finding::problem(self.as_str())
    }
}

/// A receiver's answer to a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Time from the request to the end of the answer, in milliseconds.
    pub took_ms: i64,
    /// The header `webhook-delivery`, as received.
    pub webhook_delivery: Option<String>,
    /// The start of the body, with secrets masked.
    pub body: String,
}

/// Returns the receiver's answer. If the answer has a status of Cloudflare's network instead, returns the reason why
/// the receiver gave no answer.
pub fn outcome(answered: Result<Answer, NoAnswer>) -> Result<Answer, NoAnswer> {
    answered.and_then(|answer| NoAnswer::of_status(answer.status).map_or(Ok(answer), Err))
}

/// The findings about the answer to a test, after [`outcome`].
pub fn of_answer(sign_with: SignWith, answered: &Result<Answer, NoAnswer>) -> Vec<Finding> {
    let answer = match answered {
        Ok(answer) => answer,
        Err(no_answer) => return vec![no_answer.finding()],
    };
    let mut findings = vec![of_status(sign_with, answer.status)];
    let delivery = answer.webhook_delivery.as_deref().map(str::trim);
    if delivery.is_some_and(|delivery| delivery.eq_ignore_ascii_case("disable")) {
        findings.push(Finding::problem("asks_to_disable"));
    }
    if is_success(answer.status) && is_page(&answer.body) {
        findings.push(Finding::advice("answers_a_page"));
    }
    if answer.took_ms >= SLOW_MS {
        findings.push(Finding::advice("slow").about(answer.took_ms));
    }
    findings
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The finding about a status. If the status shows that the URL is wrong, the finding is about the URL even in a test
/// with a wrong signature: the receiver may not have checked the signature.
fn of_status(sign_with: SignWith, status: u16) -> Finding {
    let is_wrong = sign_with == SignWith::Wrong;
    let problem = |code| Finding::problem(code).about(status);
    match status {
        200..=299 if is_wrong => problem("accepts_wrong_signature"),
        200..=299 => Finding::ok("accepted").about(status),
        300..=399 => problem("redirect"),
        404 => problem("not_found"),
        405 => problem("method_refused"),
        410 => problem("gone"),
        415 => problem("content_type_refused"),
        408 | 425 | 429 => problem("busy"),
        400..=499 if is_wrong => Finding::ok("wrong_signature_refused").about(status),
        401 | 403 => problem("signature_refused"),
        400..=499 => problem("request_refused"),
        500..=599 => problem("server_error"),
        _ => problem("unexpected_status"),
    }
}

/// True if a body is an HTML page, such as a login or a catch-all page.
fn is_page(body: &str) -> bool {
    let body = body.trim_start_matches('\u{feff}').trim_start();
    let begins = |tag: &str| body.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins("<!doctype html") || begins("<html")
}

/// The findings about a callback's URL.
pub fn of_url(endpoint: &Endpoint) -> Vec<Finding> {
    let url = with_braces(endpoint.url());
    let (url, has_fragment) = match url.split_once('#') {
        Some((before, fragment)) => (before, !fragment.is_empty()),
        None => (url.as_str(), false),
    };
    let rest = after_authority(url);
    let mut findings = of_macros(endpoint);
    for found in in_url(rest) {
        let finding = Finding::problem("foreign_placeholder").about(found.text);
        if findings.len() < MAX_PLACEHOLDERS && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    let longest = check::longest_url(endpoint);
    if longest >= MAX_SAFE_URL {
        findings.push(Finding::advice("long_url").about(longest));
    }
    if has_fragment {
        findings.push(Finding::advice("fragment_dropped"));
    }
    if !url.to_ascii_lowercase().starts_with("https://") {
        findings.push(Finding::advice("not_encrypted"));
    }
    if endpoint.has_legacy_md5() {
        findings.push(Finding::advice("legacy_signature"));
    }
    findings
}

/// The findings about the macros of a URL. A URL without macros and a POST send all fields.
fn of_macros(endpoint: &Endpoint) -> Vec<Finding> {
    if endpoint.method() == CallbackMethod::Post || !endpoint.has_macros() {
        return vec![Finding::ok("sends_all_fields")];
    }
    let has = |name: &str| endpoint.has_macro(name);
    let events = endpoint.events;
    let mut findings = Vec::new();
    if !has("user_id") {
        findings.push(Finding::problem("no_user_id"));
    }
    // The legacy signature's parameter `token` carries the transaction id.
    if !has("transaction_id") && !endpoint.has_legacy_md5() {
        findings.push(Finding::problem("no_transaction_id"));
    }
    if !has("value") && !has("payout") {
        findings.push(Finding::problem("no_value"));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("names_user_transaction_and_value"));
    }
    if !has("status") && (events.reversed || events.pending || events.rejected) {
        findings.push(Finding::advice("no_status"));
    }
    if !has("original_transaction_id") && events.reversed {
        findings.push(Finding::advice("no_original_transaction_id"));
    }
    findings
}

#[cfg(test)]
mod tests;
