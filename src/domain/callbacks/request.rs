//! What is sent to a publisher at one try: an app's callback URL is checked once, where the operator writes it, and each
//! try fills it with the frozen fields, the time of the try and the signatures of the current secrets.

use std::fmt;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::{
    fields::{Fields, Get, TABLE, Value},
    signature::{Secret, legacy_md5, query_signature, webhook_signature},
};
use crate::{
    catalog::app::{Callback, CallbackMethod, MASKED_SECRET},
    model::document::{FieldError, check_web_url},
    tracking::target::{self, NOT_IN_A_VALUE, could_be_dots},
};

/// What a URL parser encodes itself in a path or a query. It is encoded before it is signed: a query that changed on its
/// way out would not verify.
const NOT_IN_A_URL: &AsciiSet = &target::NOT_IN_A_URL.add(b' ').add(b'\'');

/// What is added to a query here. A receiver that found one of them twice could check the one and use the other.
const OURS: [&str; 2] = ["ts", "signature"];
/// What else is added for a receiver of the older signature.
const OURS_WITH_MD5: [&str; 2] = ["token", "signature_hmac"];

/// How much of an answer the log keeps, in bytes.
const KEPT: usize = 1 << 10;
/// How much of it is to be read for that: no secret is longer than the difference, so none is cut in two unnoticed.
pub const READ: usize = 2 * KEPT;

/// The macros whose value could be nothing, or nothing but dots.
const FREE: [&str; 12] = [
    "{user_id}",
    "{currency}",
    "{goal_value}",
    "{gaid}",
    "{idfa}",
    "{c1}",
    "{c2}",
    "{c3}",
    "{c4}",
    "{c5}",
    "{country}",
    "{original_transaction_id}",
];

const NOT_OF_THE_WEB: &str = "must be an http or https URL";
const MACROS_WITH_POST: &str = "must not have macros with POST, whose body carries every field";

/// A callback URL whose scheme and host are fixed, and whose path and query are texts and known macros.
#[derive(Clone, Debug)]
pub struct Template {
    /// Scheme, host and port, as every URL parser reads them.
    origin: String,
    path: Vec<Piece>,
    query: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// ASCII, as it is sent.
    Text(String),
    Field(Get),
    /// `{ts}`
    Timestamp,
}

impl Template {
    /// Checks a callback URL. A macro may be written with `%7B` and `%7D` for its braces; a fragment is left out, as no
    /// request carries one. `with_md5` says whether the app has the older signature, which takes two more parameters.
    /// The error is a phrase that follows the field's name: `must not …`.
    pub fn parse(url: &str, with_md5: bool) -> Result<Self, String> {
        let url = ["%7B", "%7b"]
            .into_iter()
            .fold(url.to_owned(), |url, open| url.replace(open, "{"));
        let url = ["%7D", "%7d"]
            .into_iter()
            .fold(url, |url, close| url.replace(close, "}"));
        let (scheme, rest) = url.split_once("://").ok_or(NOT_OF_THE_WEB)?;
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let braces = ['{', '}'];
        if [scheme, authority, fragment]
            .iter()
            .any(|part| part.contains(braces))
        {
            return Err("may have macros in its path and query only".to_owned());
        }
        // A URL parser also takes `https:/host`, whose first `://` may stand anywhere.
        if !["http", "https"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
        {
            return Err(NOT_OF_THE_WEB.to_owned());
        }
        check_web_url("", &url).map_err(|error| error.problem)?;
        let origin = Url::parse(&format!("{scheme}://{authority}"))
            .map_err(|error| format!("is not a URL: {error}"))?;

        let with_md5 = with_md5.then_some(OURS_WITH_MD5);
        // A URL with macros has its own say; to one without, every field is added.
        let has_macros = path.contains(braces) || query.contains(braces);
        let fields = TABLE.map(|(name, _)| name);
        let added: &[&str] = if has_macros { &[] } else { &fields };
        for parameter in query.split('&') {
            let name = parameter.split('=').next().unwrap_or_default();
            // A user's own text for a name could be `signature`.
            if name.contains(braces) {
                return Err("must not have a macro in the name of a parameter".to_owned());
            }
            let name = percent_decode_str(name).decode_utf8_lossy();
            let mut ours = OURS.iter().chain(with_md5.iter().flatten()).chain(added);
            if let Some(ours) = ours.find(|ours| ours.eq_ignore_ascii_case(&name)) {
                return Err(format!(
                    "must not have a parameter {ours}: it is added to what is sent"
                ));
            }
        }
        if path.split('/').any(|segment| could_be_dots(segment, &FREE, &[])) {
            return Err(
                "must not have a path segment of nothing but macros that a user could fill with dots: \
                a value of .. would lead out of its folder; put a letter beside it"
                    .to_owned(),
            );
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self {
            origin: origin.as_str().trim_end_matches('/').to_owned(),
            path: pieces(path)?,
            query: pieces(query.trim_end_matches('&'))?,
        })
    }

    fn has_macros(&self) -> bool {
        let mut all = self.path.iter().chain(&self.query);
        all.any(|piece| !matches!(piece, Piece::Text(_)))
    }
}

/// A path or a query, cut at its macros.
fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let stray = || "has a { or } that is not part of a macro".to_owned();
    let literal = |text: &str| {
        let encoded = utf8_percent_encode(text, NOT_IN_A_URL).to_string();
        if text.contains('}') {
            Err(stray())
        } else {
            Ok(Piece::Text(encoded))
        }
    };
    let mut parts = text.split('{');
    let mut pieces = vec![literal(parts.next().unwrap_or_default())?];
    for part in parts {
        let (name, after) = part.split_once('}').ok_or_else(stray)?;
        pieces.push(match TABLE.iter().find(|(known, _)| *known == name) {
            Some((_, get)) => Piece::Field(*get),
            None if name == "ts" => Piece::Timestamp,
            None => return Err(format!("has an unknown macro {{{name}}}")),
        });
        pieces.push(literal(after)?);
    }
    Ok(pieces)
}

/// Appends the pieces with their macros filled in; what the callback does not carry is nothing.
fn fill(pieces: &[Piece], fields: &Fields, timestamp: i64, out: &mut String) {
    for piece in pieces {
        let value = match piece {
            Piece::Text(text) => {
                out.push_str(text);
                continue;
            }
            Piece::Field(get) => get(fields),
            Piece::Timestamp => Some(Value::Seconds(timestamp)),
        };
        let text = value.map(Value::text).unwrap_or_default();
        out.extend(utf8_percent_encode(&text, NOT_IN_A_VALUE));
    }
}

/// `&name=value`, or without the `&` if it is the first.
fn append(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(name);
    query.push('=');
    query.extend(utf8_percent_encode(value, NOT_IN_A_VALUE));
}

/// An app's callback, checked and ready for use.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// As the operator wrote it: where a POST goes.
    url: String,
    template: Template,
    method: CallbackMethod,
    secret: Secret,
    previous: Option<Secret>,
    md5_secret: Option<Hidden<String>>,
    /// All secrets as the operator wrote them.
    written: Hidden<Vec<String>>,
}

/// What is never shown: a configuration may be logged.
#[derive(Clone)]
struct Hidden<T>(T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

/// What is sent at one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: CallbackMethod,
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    /// JSON; none on a GET.
    pub body: Option<String>,
}

impl Endpoint {
    /// Checks the URL and the secrets. The error's path is as in an app's document: `callback.url`.
    pub fn parse(callback: &Callback) -> Result<Self, FieldError> {
        let secret =
            |path: &str, text: &str| Secret::parse(text).ok_or_else(|| FieldError::new(path, Secret::RULE));
        let template = Template::parse(&callback.url, callback.legacy_md5.is_some())
            .map_err(|problem| FieldError::new("callback.url", problem))?;
        if callback.method == CallbackMethod::Post && template.has_macros() {
            return Err(FieldError::new("callback.url", MACROS_WITH_POST));
        }
        let previous = callback.previous_secret.as_ref();
        Ok(Self {
            url: callback.url.clone(),
            template,
            method: callback.method,
            secret: secret("callback.secret", &callback.secret)?,
            previous: previous
                .map(|text| secret("callback.previous_secret", text))
                .transpose()?,
            md5_secret: callback
                .legacy_md5
                .as_ref()
                .map(|legacy| Hidden(legacy.secret.clone())),
            written: Hidden(
                [&callback.secret]
                    .into_iter()
                    .chain(previous)
                    .chain(callback.legacy_md5.as_ref().map(|legacy| &legacy.secret))
                    .flat_map(|secret| [secret.as_str(), secret.trim_start_matches("whsec_")])
                    // An older secret may be any text, also that prefix alone.
                    .filter(|secret| !secret.is_empty())
                    .map(str::to_owned)
                    .collect(),
            ),
        })
    }

    /// The beginning of what a receiver answered, as the log keeps it: at most 1 KiB, without the secrets that it may
    /// have repeated.
    pub fn for_the_log(&self, answer: &str) -> String {
        let Hidden(secrets) = &self.written;
        let hidden = |answer: String, secret: &String| answer.replace(secret, MASKED_SECRET);
        let mut kept = secrets.iter().fold(answer.to_owned(), hidden);
        // As much goes from the end as was read beyond what is kept: half a secret may stand there.
        let longest = kept.len().saturating_sub(answer.len().saturating_sub(KEPT));
        kept.truncate(kept.floor_char_boundary(longest.min(KEPT)));
        kept
    }

    /// The request of a try at `timestamp`, in seconds.
    pub fn request(&self, fields: &Fields, timestamp: i64) -> Request {
        let id = fields.transaction_id.as_str();
        let sign = |payload: &str| {
            webhook_signature(
                [&self.secret].into_iter().chain(&self.previous),
                id,
                timestamp,
                payload,
            )
        };
        let (url, signature, body) = match self.method {
            CallbackMethod::Get => {
                let query = self.query(fields, timestamp);
                let mut url = self.template.origin.clone();
                fill(&self.template.path, fields, timestamp, &mut url);
                url.push('?');
                url.push_str(&query);
                // Over the whole of it, the signature inside included: "the raw query as sent".
                (url, sign(&query), None)
            }
            CallbackMethod::Post => {
                let body = self.body(fields);
                (self.url.clone(), sign(&body), Some(body))
            }
        };
        let mut headers = vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signature),
            ("user-agent", "Signpost/1".to_owned()),
        ];
        if body.is_some() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        Request {
            method: self.method,
            url,
            headers,
            body,
        }
    }

    fn query(&self, fields: &Fields, timestamp: i64) -> String {
        let mut query = String::new();
        fill(&self.template.query, fields, timestamp, &mut query);
        if !self.template.has_macros() {
            for (name, value) in fields.present() {
                append(&mut query, name, &value.text());
            }
        }
        append(&mut query, "ts", &timestamp.to_string());
        let mut name = "signature";
        for (of_md5, value) in self.of_md5(fields).into_iter().flatten() {
            append(&mut query, of_md5, &value);
            name = "signature_hmac";
        }
        let signature = query_signature(&self.secret, &query);
        append(&mut query, name, &signature);
        query
    }

    fn body(&self, fields: &Fields) -> String {
        let of_fields = fields.present().map(|(name, value)| (name, value.json()));
        let of_md5 = self.of_md5(fields).into_iter().flatten();
        let of_md5 = of_md5.map(|(name, value)| (name, Value::Text(&value).json()));
        let members: Vec<_> = of_fields
            .chain(of_md5)
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// What a receiver of the older signature looks for.
    fn of_md5(&self, fields: &Fields) -> Option<[(&'static str, String); 2]> {
        let token = &fields.transaction_id;
        let Hidden(secret) = self.md5_secret.as_ref()?;
        let signature = legacy_md5(secret, &fields.user_id, fields.value.as_str(), token);
        Some([("token", token.clone()), ("signature", signature)])
    }
}

#[cfg(test)]
mod tests;
