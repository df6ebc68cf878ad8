//! Parses HTTP/1.1 requests for the receiver.

use std::io::{self, BufRead};

use ureq::http::{HeaderMap, HeaderName, HeaderValue};
use url::form_urlencoded;

use crate::harness::now_ms;

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// Path and query, byte for byte.
    pub target: String,
    pub headers: HeaderMap,
    pub body: String,
    /// When it was completely read, in milliseconds since 1970.
    pub at_ms: i64,
}

impl Received {
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next().unwrap_or_else(|| panic!("no {name} in {self:?}"));
        assert!(values.next().is_none(), "{name} twice in {self:?}");
        value.to_str().expect("a header of ASCII")
    }

    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// The raw query.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The parameters of the query in their order, raw.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let pairs = self.query().split('&');
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect()
    }

    /// A parameter of the query, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query().as_bytes());
        let found = pairs.find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned())
    }

    /// The id by which a publisher deduplicates rewards.
    #[track_caller]
    pub fn transaction_id(&self) -> &str {
        self.header("webhook-id")
    }
}

/// Reads the next request of a connection, or `None` at its end.
pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Received>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(invalid("no request"));
    };
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("no header"))?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| invalid("no header"))?;
        headers.append(name, value);
    }
    assert!(!headers.contains_key("Transfer-Encoding"), "a callback must have a Content-Length");
    let length = headers.get("Content-Length").and_then(|length| length.to_str().ok());
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok(Some(Received {
        method,
        target,
        headers,
        body: String::from_utf8(body).map_err(|_| invalid("no UTF-8"))?,
        at_ms: now_ms(),
    }))
}
