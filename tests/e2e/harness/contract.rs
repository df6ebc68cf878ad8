//! Checks every answer that tests receive against `openapi.yaml`, or that of the dashboard against
//! `openapi-dashboard.yaml`: route, method and status are documented, headers and body match their schemas, and there is
//! no other header. Not checked are `Raw::receive` and `answer_to`, which do not know the request, and connections that a
//! test reads itself.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{
    Answer,
    document::{dashboard_document, document, escaped, methods, resolved, schema as schema_at},
};

const OPERATOR: &str = "/v1/operator/";
const METRICS: &str = "/metrics";
/// The prefixes of the paths of the dashboard and the console. A first page is one of them without the slash.
const SITES: [&str; 4] = ["/dashboard/", "/console/", "/v1/dashboard/", "/v1/console/"];
/// A header of every answer to a page of the dashboard or the console, and of no other answer.
const GUARD: &str = "Cross-Origin-Resource-Policy";
/// Headers that a page gets with the answer to a call of the operator.
const OF_PAGES: [&str; 7] = [
    "cache-control",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
    "x-request-id",
];
/// The refusals of a session, whatever it asks of the operator.
const OF_SESSIONS: [(u16, &str); 6] = [
    (401, "not_signed_in"),
    (403, "cross_site_request"),
    (403, "role_forbids"),
    (403, "verify_first"),
    (415, "unsupported_media_type"),
    (421, "misdirected_request"),
];
/// Headers that are not compared: the runtime adds them, and the body's type is under `content`.
const IGNORED: [&str; 4] = ["connection", "content-length", "content-type", "transfer-encoding"];

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| Contract::of(document()));
static DASHBOARDS: LazyLock<Contract> = LazyLock::new(|| Contract::of(dashboard_document()));

/// Checks an answer; the error names the document and says how it differs. With `has_hosts`, each interface has its own
/// host, so a documented path may be 404 on this one.
pub fn check(method: &str, target: &str, has_hosts: bool, answer: &Answer) -> Result<(), String> {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let is_page = path.starts_with(OPERATOR) && answer.header(GUARD).is_some();
    if is_page && answer.status >= 400 && OF_SESSIONS.contains(&(answer.status, answer.code().as_str())) {
        return Ok(());
    }
    let (name, contract) =
        if is_sites(path) { ("openapi-dashboard.yaml", &*DASHBOARDS) } else { ("openapi.yaml", &*CONTRACT) };
    let may_be_elsewhere = has_hosts && answer.header(GUARD).is_none();
    contract
        .response(method, path, may_be_elsewhere, answer.status)
        .and_then(|location| contract.check(method, path, &location, answer))
        .map_err(|problem| format!("{name}: {problem}"))
}

fn is_sites(path: &str) -> bool {
    let path = format!("{path}/");
    SITES.iter().any(|prefix| path.starts_with(prefix))
}

struct Contract {
    document: Value,
    /// The document's paths, those with the fewest parameters first.
    paths: Vec<String>,
    /// Compiled validators by the JSON Pointer of their schema, made on first use since most tests need few.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    fn of(document: Value) -> Self {
        let paths = document["paths"].as_object().expect("paths").keys();
        let mut paths: Vec<_> = paths.cloned().collect();
        paths.sort_by_key(|path| path.matches('{').count());
        Self { document, paths, validators: Mutex::default() }
    }

    /// The JSON Pointer of the document's response for this request and status.
    fn response(&self, method: &str, path: &str, may_be_elsewhere: bool, status: u16) -> Result<String, String> {
        let found = self.paths.iter().find(|known| matches_template(known, path));
        let item = found.map(|found| format!("/paths/{}", escaped(found)));
        let operation = item.as_ref().map(|item| format!("{item}/{}", method.to_ascii_lowercase()));
        let operation = operation.filter(|operation| self.document.pointer(operation).is_some());
        let location = match (operation, item) {
            _ if status == 401 && path.starts_with(OPERATOR) => "/components/responses/OperatorOnly".into(),
            _ if status == 421 && (path.starts_with(OPERATOR) || path == METRICS) => {
                "/x-elsewhere/another-name/421".into()
            }
            _ if status == 404 && may_be_elsewhere => "/x-elsewhere/another-path/404".into(),
            (Some(operation), _) => format!("{operation}/responses/{status}"),
            (None, Some(_)) => format!("/x-elsewhere/another-method/{status}"),
            (None, None) => format!("/x-elsewhere/another-path/{status}"),
        };
        match self.document.pointer(&location) {
            Some(_) => Ok(location),
            None => Err(format!("{method} {path} has no {status}")),
        }
    }

    fn check(&self, method: &str, path: &str, location: &str, answer: &Answer) -> Result<(), String> {
        let (location, response) = resolved(&self.document, location);
        let headers = response.get("headers").and_then(Value::as_object);
        for (name, value) in answer.headers() {
            let mut documented = headers.into_iter().flat_map(Map::keys);
            let is_of_pages = path.starts_with(OPERATOR) && OF_PAGES.contains(&name.to_ascii_lowercase().as_str());
            if is_of_pages && answer.header(GUARD).is_some() {
                continue;
            }
            if !IGNORED.contains(&name.as_str()) && !documented.any(|known| known.eq_ignore_ascii_case(&name)) {
                return Err(format!("{name}: {value} is not documented"));
            }
        }
        for name in headers.into_iter().flat_map(Map::keys) {
            let (location, header) = resolved(&self.document, &format!("{location}/headers/{name}"));
            let all = answer.headers();
            let sent = all.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
            let values: Vec<_> = sent.map(|(_, value)| value).collect();
            if values.is_empty() && header["required"] == true {
                return Err(format!("{name} is missing"));
            }
            for value in values {
                self.check_header(name, &location, value)?;
            }
        }
        if let Some(allow) = answer.header("Allow") {
            self.check_allow(path, allow)?;
        }
        let content = response.get("content").and_then(Value::as_object);
        let Some(content) = content.filter(|_| method != "HEAD") else {
            let is_empty = answer.body.is_empty();
            return is_empty.then_some(()).ok_or("an undocumented body".into());
        };
        let media_type = answer.header("Content-Type").unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !content.contains_key(essence) {
            return Err(format!("a body of {media_type:?}"));
        }
        let schema = format!("{location}/content/{}/schema", escaped(essence));
        if essence == "application/json" {
            return self.valid(&schema, &parse(&answer.body)?);
        }
        let (schema, body_schema) = resolved(&self.document, &schema);
        if body_schema.get("x-lines").is_some() {
            let schema = format!("{schema}/x-lines");
            for line in answer.body.lines() {
                self.valid(&schema, &parse(line)?)?;
            }
        }
        Ok(())
    }

    fn check_header(&self, name: &str, location: &str, value: &str) -> Result<(), String> {
        let schema = format!("{location}/schema");
        let is_integer = self.document.pointer(&schema).is_some_and(|schema| schema["type"] == "integer");
        let value = if is_integer { parse(value)? } else { json!(value) };
        self.valid(&schema, &value).map_err(|problem| format!("{name}: {problem}"))
    }

    /// `Allow` must list exactly the documented methods.
    fn check_allow(&self, path: &str, allow: &str) -> Result<(), String> {
        let allowed: BTreeSet<String> = allow.split(", ").map(str::to_ascii_lowercase).collect();
        let found = self.paths.iter().find(|known| matches_template(known, path)).ok_or("Allow at no path")?;
        let item = &self.document["paths"][found];
        let documented = methods(item).map(|(method, _)| method.to_owned()).collect();
        if allowed == documented { Ok(()) } else { Err(format!("Allow is {allow}, and {documented:?} are documented")) }
    }

    fn valid(&self, schema: &str, instance: &Value) -> Result<(), String> {
        let validator = {
            let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
            let known = validators.entry(schema.to_owned());
            Arc::clone(known.or_insert_with(|| Arc::new(schema_at(&self.document, schema))))
        };
        match validator.iter_errors(instance).next() {
            None => Ok(()),
            Some(error) => Err(format!("{} at {:?}", error, error.instance_path().as_str())),
        }
    }
}

fn matches_template(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(varies), Some(segment)) if varies.starts_with('{') && !segment.is_empty() => {}
            (Some(expected), Some(segment)) if expected == segment => {}
            _ => return false,
        }
    }
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error} in {text:.200}"))
}
