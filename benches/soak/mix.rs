//! The mix: the kinds of requests, the share of each and its documented answers.

use std::fmt::Write;

use crate::{book::Paid, harness::OPERATOR_TOKEN, random::Random};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Click,
    CappedClick,
    KnownPage,
    NewPage,
    Conversion,
    Repeat,
    CappedConversion,
    Refused,
    Report,
    Facts,
    Operator,
    Refresh,
    Malformed,
}

impl Kind {
    pub const ALL: [Self; 13] = [
        Self::Click,
        Self::CappedClick,
        Self::KnownPage,
        Self::NewPage,
        Self::Conversion,
        Self::Repeat,
        Self::CappedConversion,
        Self::Refused,
        Self::Report,
        Self::Facts,
        Self::Operator,
        Self::Refresh,
        Self::Malformed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::CappedClick => "click with a cap",
            Self::KnownPage => "offers, cached",
            Self::NewPage => "offers, not cached",
            Self::Conversion => "conversion",
            Self::Repeat => "conversion, repeated",
            Self::CappedConversion => "conversion with a cap",
            Self::Refused => "conversion, refused",
            Self::Report => "report",
            Self::Facts => "facts",
            Self::Operator => "operator",
            Self::Refresh => "refresh",
            Self::Malformed => "malformed",
        }
    }

    /// The share in a thousand requests. Refreshes are sent by the clock instead.
    fn share(self) -> usize {
        match self {
            Self::Click => 600,
            Self::CappedClick => 20,
            Self::KnownPage => 100,
            Self::NewPage => 60,
            Self::Conversion => 100,
            Self::Repeat => 20,
            Self::CappedConversion => 10,
            Self::Refused => 20,
            Self::Report => 5,
            Self::Facts => 5,
            Self::Operator => 15,
            Self::Refresh => 0,
            Self::Malformed => 45,
        }
    }

    pub fn pick(random: &mut Random) -> Self {
        let mut at = random.below(1_000);
        for kind in Self::ALL {
            match at.checked_sub(kind.share()) {
                Some(rest) => at = rest,
                None => return kind,
            }
        }
        Self::Click
    }
}

/// A request and its documented answers: statuses with their codes, empty without a code.
pub struct Request {
    pub text: Vec<u8>,
    pub stated: &'static [(u16, &'static str)],
    pub about: About,
}

/// The record that an answer makes.
pub enum About {
    Nothing,
    /// A click that counts for this publisher if it is redirected.
    Click(String),
    /// The first conversion of a click.
    Conversion(Paid),
    /// A conversion that was answered before with this transaction id.
    Repeat(String),
}

/// The bytes of a request.
pub fn text(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    // Writing to a String cannot fail.
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if !body.is_empty() || method == "POST" || method == "PUT" {
        let _ = write!(head, "Content-Length: {}\r\n", body.len());
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

pub fn operator(method: &str, path: &str, header: (&str, &str), body: &[u8]) -> Vec<u8> {
    let authorization = format!("Bearer {OPERATOR_TOKEN}");
    let headers = [("Authorization", authorization.as_str()), header];
    text(method, &format!("/v1/operator/{path}"), &headers, body)
}
