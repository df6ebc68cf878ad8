//! Holds the answers that tests get from a Signpost against the document that it serves: the route, the method and the
//! status are there, the headers and the body are as it says, and there is no header besides. What a test does not look at
//! is looked at here. Not held are `Raw::receive` and `answer_to`, which do not know what was asked or whether it was a
//! request at all, and connections that a test reads by itself.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{
    Answer,
    document::{document, escaped, resolved, schema as schema_at},
};

const OPERATOR: &str = "/v1/operator/";
/// Headers of HTTP itself, which the runtime adds, and the body's type, which the document has under `content`.
const OF_HTTP: [&str; 4] = [
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
];

static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

/// What is wrong with an answer to this request, if anything is. Where interfaces have hosts of their own, a path of the
/// document may be none of this host's.
pub fn check(method: &str, target: &str, has_hosts: bool, answer: &Answer) -> Result<(), String> {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let place = CONTRACT.response(method, path, has_hosts, answer.status)?;
    CONTRACT.check(method, path, &place, answer)
}

struct Contract {
    document: Value,
    /// The document's paths, those with the fewest segments that vary first.
    paths: Vec<String>,
    /// By where in the document their schema is. Most tests need a few of them.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    fn read() -> Self {
        let document = document();
        let paths = document["paths"].as_object().expect("paths").keys();
        let mut paths: Vec<_> = paths.cloned().collect();
        paths.sort_by_key(|path| path.matches('{').count());
        Self {
            document,
            paths,
            validators: Mutex::default(),
        }
    }

    /// Where the document says what an answer of this status is.
    fn response(&self, method: &str, path: &str, has_hosts: bool, status: u16) -> Result<String, String> {
        let found = self.paths.iter().find(|known| is_of(known, path));
        let item = found.map(|found| format!("/paths/{}", escaped(found)));
        let operation = item
            .as_ref()
            .map(|item| format!("{item}/{}", method.to_ascii_lowercase()));
        let operation = operation.filter(|operation| self.document.pointer(operation).is_some());
        let place = match (operation, item) {
            _ if status == 401 && path.starts_with(OPERATOR) => "/components/responses/OperatorOnly".into(),
            _ if status == 404 && has_hosts => "/x-elsewhere/another-path/404".into(),
            (Some(operation), _) => format!("{operation}/responses/{status}"),
            (None, Some(_)) => format!("/x-elsewhere/another-method/{status}"),
            (None, None) => format!("/x-elsewhere/another-path/{status}"),
        };
        match self.document.pointer(&place) {
            Some(_) => Ok(place),
            None => Err(format!("{method} {path} has no {status}")),
        }
    }

    fn check(&self, method: &str, path: &str, place: &str, answer: &Answer) -> Result<(), String> {
        let (place, response) = resolved(&self.document, place);
        let headers = response.get("headers").and_then(Value::as_object);
        for (name, value) in answer.headers() {
            let mut documented = headers.into_iter().flat_map(Map::keys);
            if !OF_HTTP.contains(&name.as_str()) && !documented.any(|known| known.eq_ignore_ascii_case(&name))
            {
                return Err(format!("{name}: {value} is not documented"));
            }
        }
        for name in headers.into_iter().flat_map(Map::keys) {
            let (place, header) = resolved(&self.document, &format!("{place}/headers/{name}"));
            match answer.header(name) {
                Some(value) => self.check_header(name, &place, value)?,
                None if header["required"] == true => return Err(format!("{name} is missing")),
                None => {}
            }
        }
        if let Some(allow) = answer.header("Allow") {
            self.check_allow(path, allow)?;
        }
        let content = response.get("content").and_then(Value::as_object);
        let Some(content) = content.filter(|_| method != "HEAD") else {
            let is_empty = answer.body.is_empty();
            return is_empty.then_some(()).ok_or("a body where none is due".into());
        };
        let media_type = answer.header("Content-Type").unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !content.contains_key(essence) {
            return Err(format!("a body of {media_type:?}"));
        }
        let schema = format!("{place}/content/{}/schema", escaped(essence));
        if essence == "application/json" {
            return self.valid(&schema, &parsed(&answer.body)?);
        }
        let (schema, about) = resolved(&self.document, &schema);
        if about.get("x-lines").is_some() {
            let schema = format!("{schema}/x-lines");
            for line in answer.body.lines() {
                self.valid(&schema, &parsed(line)?)?;
            }
        }
        Ok(())
    }

    fn check_header(&self, name: &str, place: &str, value: &str) -> Result<(), String> {
        let schema = format!("{place}/schema");
        let is_integer = self
            .document
            .pointer(&schema)
            .is_some_and(|schema| schema["type"] == "integer");
        let value = if is_integer { parsed(value)? } else { json!(value) };
        self.valid(&schema, &value)
            .map_err(|problem| format!("{name}: {problem}"))
    }

    /// What `Allow` names is what the document has.
    fn check_allow(&self, path: &str, allow: &str) -> Result<(), String> {
        let told: BTreeSet<String> = allow.split(", ").map(str::to_ascii_lowercase).collect();
        let found = self
            .paths
            .iter()
            .find(|known| is_of(known, path))
            .ok_or("Allow at no path")?;
        let item = self.document["paths"][found]
            .as_object()
            .expect("a path's methods");
        let documented = item.keys().filter(|key| *key != "parameters").cloned().collect();
        if told == documented {
            Ok(())
        } else {
            Err(format!("Allow is {allow}, and {documented:?} are documented"))
        }
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

fn is_of(template: &str, path: &str) -> bool {
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

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error} in {text:.200}"))
}
