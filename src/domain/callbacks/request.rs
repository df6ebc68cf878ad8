//! Builds the HTTP request of one attempt. An app's callback URL is checked once, when the operator writes it. Each
//! attempt fills the URL with the frozen fields, the time of the attempt, and signatures made with the current secrets.

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::{
    fields::{Fields, Get, TABLE, Value},
    hidden::Hidden,
    mask,
    settings::{Callback, CallbackMethod, Events, MASKED_SECRET, MAX_URL},
    signature::{Secret, SignWith, legacy_md5, query_signature, webhook_signature},
};
use crate::model::{
    FieldError, TEST_ID,
    document::check_web_url,
    placeholders::unknown_macro,
    url_template::{self, append_value, could_be_dots},
};

/// The characters that a URL parser encodes in a path or a query. They are encoded before signing, because the
/// signature of a query that is changed later cannot be verified.
const NOT_IN_A_URL: &AsciiSet = &url_template::NOT_IN_A_URL.add(b' ').add(b'\'');

/// Parameters that are added to every query. A configured URL must not have them, because a receiver that finds a
/// parameter twice could verify one value and use the other.
const RESERVED: [&str; 2] = ["ts", "signature"];
/// Further parameters that are added with the legacy signature.
const RESERVED_WITH_MD5: [&str; 2] = ["token", "signature_hmac"];

/// Maximum bytes of an answer that the log keeps.
const MAX_LOGGED: usize = 1 << 10;
/// Maximum bytes of an answer that are read for the log. No secret is longer than `MAX_READ - MAX_LOGGED`, so a secret
/// that the read limit splits is always in the part that is dropped.
pub const MAX_READ: usize = 2 * MAX_LOGGED;

/// The macros whose values could be empty or consist of dots. Such macros must not form a whole segment of the path.
const USER_MACROS: [&str; 14] = [
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
    "{pending_value}",
    "{reason}",
];

const NOT_HTTP: &str = "must be an http or https URL";
const MACROS_WITH_POST: &str = "must not have macros if the method is POST, because the body has every field";

/// The URL with plain braces, which may be written as `%7B` and `%7D`.
pub(super) fn with_braces(url: &str) -> String {
    let url = url.replace("%7B", "{").replace("%7b", "{");
    url.replace("%7D", "}").replace("%7d", "}")
}

/// The path, query and fragment of a URL.
pub(super) fn after_authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let start = rest.find(['/', '?', '#']);
    start.and_then(|at| rest.get(at..)).unwrap_or_default()
}

/// A callback URL with a fixed scheme and host. Its path and query consist of text and known macros.
#[derive(Clone, Debug)]
pub struct Template {
    /// Scheme, host and port, as every URL parser reads them.
    origin: String,
    path: Vec<Piece>,
    query: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Percent-encoded ASCII.
    Text(String),
    Field(&'static str, Get),
    /// `{ts}`
    Timestamp,
}

impl Template {
    /// Checks a callback URL. A macro's braces may be `%7B` and `%7D`. A fragment is dropped, because requests do not
    /// carry one. `with_md5` says whether the app has the legacy signature, which adds two parameters to a GET. The
    /// error is a phrase to put after the field's name: `must not …`.
    pub fn parse(url: &str, method: CallbackMethod, with_md5: bool) -> Result<Self, String> {
        let url = with_braces(url);
        let (scheme, rest) = url.split_once("://").ok_or(NOT_HTTP)?;
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let braces = ['{', '}'];
        if [scheme, authority, fragment].iter().any(|part| part.contains(braces)) {
            return Err("may have macros only in its path and query".to_owned());
        }
        // A URL parser also accepts `https:/host`, where the first `://` may come later, for example in the query.
        if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
            return Err(NOT_HTTP.to_owned());
        }
        check_web_url("", &url).map_err(|error| error.problem)?;
        let origin =
            Url::parse(&format!("{scheme}://{authority}")).map_err(|error| format!("is not a URL: {error}"))?;

        let with_md5 = with_md5.then_some(RESERVED_WITH_MD5);
        // A URL with macros gets only the fields that they name. A URL without macros gets every field.
        let has_macros = path.contains(braces) || query.contains(braces);
        let fields = TABLE.map(|(name, _)| name);
        let added: &[&str] = if has_macros { &[] } else { &fields };
        for parameter in query.split('&') {
            let name = parameter.split('=').next().unwrap_or_default();
            // A user's value could turn the parameter's name into `signature`.
            if name.contains(braces) {
                return Err("must not have a macro in the name of a parameter".to_owned());
            }
            // A POST's fields and signatures are in its body and its headers.
            if method == CallbackMethod::Post {
                continue;
            }
            let name = percent_decode_str(name).decode_utf8_lossy();
            let mut reserved = RESERVED.iter().chain(with_md5.iter().flatten()).chain(added);
            if let Some(reserved) = reserved.find(|reserved| reserved.eq_ignore_ascii_case(&name)) {
                return Err(format!("must not have a parameter {reserved}: Signpost adds it"));
            }
        }
        let could_be_dots = |segment| could_be_dots(segment, &USER_MACROS, &[]);
        if path.split('/').any(could_be_dots) {
            return Err("must not have a path segment that consists only of macros that a user could fill with dots: \
                such a segment could become .. and lead to another folder; put a letter next to the macro"
                .to_owned());
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self {
            origin: origin.as_str().trim_end_matches('/').to_owned(),
            path: pieces(path)?,
            query: pieces(query.trim_end_matches('&'))?,
        })
    }

    fn has(&self, is_sought: impl Fn(&Piece) -> bool) -> bool {
        self.path.iter().chain(&self.query).any(is_sought)
    }

    fn has_macros(&self) -> bool {
        self.has(|piece| !matches!(piece, Piece::Text(_)))
    }
}

/// The names of all macros.
pub(super) fn macro_names() -> Vec<&'static str> {
    TABLE.iter().map(|(name, _)| *name).chain(["ts"]).collect()
}

/// Splits a path or a query at its macros.
fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let piece = |piece| match piece {
        url_template::Piece::Text(text) => Ok(Piece::Text(utf8_percent_encode(text, NOT_IN_A_URL).to_string())),
        url_template::Piece::Macro("ts") => Ok(Piece::Timestamp),
        url_template::Piece::Macro(name) => {
            let known = TABLE.iter().find(|(known, _)| *known == name);
            known.map(|(name, get)| Piece::Field(name, *get)).ok_or_else(|| unknown_macro(name, &macro_names()))
        }
    };
    url_template::pieces(text).map(|found| found.map_err(str::to_owned).and_then(piece)).collect()
}

/// Appends the pieces with their macros filled in. An absent field is empty.
fn fill(pieces: &[Piece], fields: &Fields, timestamp: i64, out: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Field(_, get) => append_value(&get(fields).map(Value::text).unwrap_or_default(), out),
            Piece::Timestamp => append_value(&timestamp.to_string(), out),
        }
    }
}

/// Appends `&name=value`, without the `&` if the query is empty.
fn append(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(name);
    query.push('=');
    append_value(value, query);
}

/// An app's callback settings, checked and parsed.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL as configured. A POST calls it as it is.
    url: String,
    template: Template,
    method: CallbackMethod,
    secret: Secret,
    previous: Option<Secret>,
    md5_secret: Option<Hidden<String>>,
    /// All secrets, in each form in which a receiver may echo them.
    secret_texts: Hidden<Vec<String>>,
    /// The events for which callbacks are sent.
    pub events: Events,
}

/// The HTTP request of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method from the app's settings.
    pub method: CallbackMethod,
    /// The full URL, with the signed query on a GET.
    pub url: String,
    /// Names in lower case, with their values.
    pub headers: Vec<(&'static str, String)>,
    /// JSON. `None` on a GET.
    pub body: Option<String>,
}

impl Endpoint {
    /// Checks the URL and the secrets. An error's path begins at the app's document, such as `callback.url`.
    pub fn parse(callback: &Callback) -> Result<Self, FieldError> {
        let secret = |path: &str, text: &str| Secret::parse(text).ok_or_else(|| FieldError::new(path, Secret::RULE));
        let template = Template::parse(&callback.url, callback.method, callback.legacy_md5.is_some())
            .map_err(|problem| FieldError::new("callback.url", problem))?;
        if callback.method == CallbackMethod::Post && template.has_macros() {
            return Err(FieldError::new("callback.url", MACROS_WITH_POST));
        }
        let previous = callback.previous_secret.as_ref();
        let md5_secret = callback.legacy_md5.as_ref().map(|legacy| &legacy.secret);
        Ok(Self {
            url: callback.url.clone(),
            template,
            method: callback.method,
            secret: secret("callback.secret", &callback.secret)?,
            previous: previous.map(|text| secret("callback.previous_secret", text)).transpose()?,
            md5_secret: md5_secret.cloned().map(Hidden),
            secret_texts: Hidden(mask::of_callback(callback, MAX_READ - MAX_LOGGED)),
            events: callback.events(),
        })
    }

    /// The text with every secret masked.
    pub fn mask(&self, text: &str) -> String {
        let Hidden(secrets) = &self.secret_texts;
        let mask = |text: String, secret: &String| text.replace(secret, MASKED_SECRET);
        secrets.iter().fold(text.to_owned(), mask)
    }

    /// The callback URL as configured, with macros.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// GET, which sends the fields in the query, or POST, which sends them in the body.
    pub fn method(&self) -> CallbackMethod {
        self.method
    }

    /// True if the URL has macros. It then gets only the fields that the macros name.
    pub fn has_macros(&self) -> bool {
        self.template.has_macros()
    }

    /// True if the URL has the macro of a field.
    pub fn has_macro(&self, name: &str) -> bool {
        self.template.has(|piece| matches!(piece, Piece::Field(known, _) if *known == name))
    }

    /// True if callbacks also carry the legacy MD5 signature.
    pub fn has_legacy_md5(&self) -> bool {
        self.md5_secret.is_some()
    }

    /// Returns the first KiB of a receiver's answer for the log. Secrets that the receiver echoed are masked.
    pub fn mask_for_log(&self, answer: &str) -> String {
        let mut logged = self.mask(answer);
        // Drops as many bytes at the end as were read beyond `MAX_LOGGED`, because they may hold part of a secret.
        let longest = logged.len().saturating_sub(answer.len().saturating_sub(MAX_LOGGED));
        logged.truncate(logged.floor_char_boundary(longest.min(MAX_LOGGED)));
        logged
    }

    /// Builds the request of an attempt at `timestamp`, in seconds since the Unix epoch.
    ///
    /// If the URL exceeds the limit that is checked when the settings are saved, `reason` is omitted, because the
    /// reward matters more.
    pub fn request(&self, fields: &Fields, timestamp: i64) -> Request {
        let request = self.request_with(fields, timestamp);
        if request.url.len() <= MAX_URL || fields.reason.is_none() {
            return request;
        }
        let without = Fields { reason: None, ..fields.clone() };
        self.request_with(&without, timestamp)
    }

    /// Builds the request without a limit for the URL.
    pub(super) fn request_with(&self, fields: &Fields, timestamp: i64) -> Request {
        let id = fields.transaction_id.as_str();
        match self.method {
            CallbackMethod::Get => {
                let query = self.query(fields, timestamp);
                let mut url = self.template.origin.clone();
                fill(&self.template.path, fields, timestamp, &mut url);
                url.push('?');
                url.push_str(&query);
                // Signs the whole query as sent, including the parameter with the query's own signature.
                self.signed(id, timestamp, url, &query)
            }
            CallbackMethod::Post => self.message(id, self.body(fields), timestamp),
        }
    }

    /// Builds a POST with a JSON body.
    pub fn message(&self, id: &str, body: String, timestamp: i64) -> Request {
        let mut request = self.signed(id, timestamp, self.url.clone(), &body);
        let json = ("content-type", "application/json".to_owned());
        request.headers.push(json);
        request.body = Some(body);
        request
    }

    /// Builds a request without a body, whose headers sign `payload`.
    fn signed(&self, id: &str, timestamp: i64, url: String, payload: &str) -> Request {
        let secrets = [&self.secret].into_iter().chain(&self.previous);
        let signature = webhook_signature(secrets, id, timestamp, payload);
        let mark = id.starts_with(TEST_ID).then(|| ("webhook-test", "true".to_owned()));
        Request {
            method: self.method,
            url,
            headers: vec![
                ("webhook-id", id.to_owned()),
                ("webhook-timestamp", timestamp.to_string()),
                ("webhook-signature", signature),
                ("user-agent", "Signpost/1".to_owned()),
            ]
            .into_iter()
            .chain(mark)
            .collect(),
            body: None,
        }
    }

    /// A copy of the endpoint that signs with the secrets a test asks for. The copy still masks all secrets of the
    /// endpoint.
    pub(super) fn signing_with(&self, sign_with: SignWith, random: &[u8; 32]) -> Self {
        let mut endpoint = self.clone();
        if sign_with != SignWith::Both {
            endpoint.previous = None;
        }
        if sign_with == SignWith::Wrong
            && let Some(wrong) = Secret::of_key(random)
        {
            endpoint.secret = wrong;
            endpoint.md5_secret = self.md5_secret.as_ref().map(|_| Hidden(hex::encode(random)));
        }
        endpoint
    }

    fn query(&self, fields: &Fields, timestamp: i64) -> String {
        let mut query = String::new();
        fill(&self.template.query, fields, timestamp, &mut query);
        if !self.has_macros() {
            for (name, value) in fields.present() {
                append(&mut query, name, &value.text());
            }
        }
        append(&mut query, "ts", &timestamp.to_string());
        let mut name = "signature";
        for (parameter, value) in self.md5_parameters(fields).into_iter().flatten() {
            append(&mut query, parameter, &value);
            name = "signature_hmac";
        }
        let signature = query_signature(&self.secret, &query);
        append(&mut query, name, &signature);
        query
    }

    fn body(&self, fields: &Fields) -> String {
        let members = fields.present().map(|(name, value)| (name, value.json()));
        let md5 = self.md5_parameters(fields).into_iter().flatten();
        let md5 = md5.map(|(name, value)| (name, Value::Text(&value).json()));
        let members: Vec<_> = members.chain(md5).map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }

    /// The parameters of the legacy signature; `None` if the app does not use it.
    fn md5_parameters(&self, fields: &Fields) -> Option<[(&'static str, String); 2]> {
        let token = &fields.transaction_id;
        let Hidden(secret) = self.md5_secret.as_ref()?;
        let signature = legacy_md5(secret, &fields.user_id, fields.value.as_str(), token);
        Some([("token", token.clone()), ("signature", signature)])
    }
}

#[cfg(test)]
mod tests;
