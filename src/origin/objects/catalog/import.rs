//! The lines of an import: NDJSON with one resource per line.
//!
//! A body may exceed an isolate's memory. So each line is checked by itself and staged as it arrives.
//! [`import_steps`](super::import_steps) checks the lines against each other and applies them. Kinds are applied in the
//! order of [`Resource`], not in the order of the lines.

use serde_json::{Map, Value as Json};

use super::{Context, import_claims, sql};
use contract::{catalog::Resource, operation::OperatorReply};
use domain::{
    catalog::{Offer, advertiser::Advertiser, app::App, publisher::Publisher},
    model::{
        ApiError, Document, GoalId, INVALID_FIELD, common, document,
        lines::{LineErrors, TooLong},
    },
};
use platform::{Database, Result, params};

/// Maximum length of a line, in bytes. A staged line is a SQLite row of at most 2 MB, and its document may have 1 MiB.
pub const MAX_LINE: usize = 1_500_000;

const INVALID_IMPORT: ApiError = ApiError::new(400, "invalid_import", "nothing was imported: some lines are wrong");

/// Returns the answer that lists the wrong lines.
pub fn refuse(errors: &LineErrors) -> OperatorReply {
    OperatorReply::new(INVALID_IMPORT.status, errors.body(&INVALID_IMPORT))
}

/// Checks a line by itself and stages it. A wrong line is added to `errors`.
///
/// # Errors
/// The database failed, or an app could not be sealed.
pub fn stage(
    db: &impl Database,
    context: &Context<'_>,
    import: i64,
    line: i64,
    bytes: Result<&[u8], TooLong>,
    errors: &mut LineErrors,
) -> Result {
    // A file from a spreadsheet may begin with a byte order mark.
    let mark: &[u8] = if line == 1 { b"\xEF\xBB\xBF" } else { b"" };
    let read = match bytes.map(|bytes| str::from_utf8(bytes.strip_prefix(mark).unwrap_or(bytes))) {
        Ok(Ok(text)) if text.trim().is_empty() => return Ok(()),
        Ok(Ok(text)) => read(text).map_err(|refusal| refusal.message),
        Ok(Err(_)) => Err("is not UTF-8".into()),
        Err(too_long) => Err(too_long.to_string().into()),
    };
    let Line { resource, id, document, goals } = match read {
        Ok(read) => read,
        Err(problem) => {
            errors.add(line, None, problem);
            return Ok(());
        }
    };
    // One wrong line rejects the whole import, so no further line is staged.
    if !errors.is_empty() {
        return Ok(());
    }
    if let Some(first) = import_claims::staged_line(db, import, resource, &id)? {
        let problem = format!("{} {id} is also on line {first}", resource.singular());
        errors.add(line, None, problem);
        return Ok(());
    }
    let staged = staged(context, resource, &id, document)?;
    let kind = resource as i64;
    db.execute(sql::STAGE_LINE, params![import, kind, line, id.as_str(), staged])?;
    for goal in goals {
        db.execute(sql::STAGE_GOAL, params![import, goal.as_str(), id.as_str()])?;
    }
    Ok(())
}

/// The purpose for which an app's staged document is sealed.
fn purpose(app_id: &str) -> String {
    format!("import/{app_id}")
}

/// Returns the staged form of a document.
pub(super) fn staged(context: &Context<'_>, resource: Resource, id: &str, document: String) -> Result<Vec<u8>> {
    match resource {
        // Secrets are never written to disk in plain text, not even for the seconds of an import.
        Resource::App => context.seal(context.vault, &purpose(id), &document),
        _ => Ok(document.into_bytes()),
    }
}

/// Returns the document of a staged line.
pub(super) fn staged_document(context: &Context<'_>, resource: Resource, id: &str, staged: &[u8]) -> Result<String> {
    let document = match resource {
        Resource::App => context.vault.open(&purpose(id), staged),
        _ => Some(staged.to_vec()),
    };
    document.and_then(|document| String::from_utf8(document).ok()).ok_or_else(|| {
        let problem = format!("the staged {} {id} is unreadable", resource.singular());
        INVALID_IMPORT.with_message(problem).into()
    })
}

/// Returns the kind with this code in `import_lines`.
pub(super) fn kind_of(code: u8) -> Option<Resource> {
    Resource::ALL.into_iter().find(|resource| *resource as u8 == code)
}

/// A line that passed the checks that need no other resource.
#[derive(Debug)]
pub struct Line {
    pub resource: Resource,
    pub id: String,
    /// The line's other fields, as JSON.
    pub document: String,
    /// The ids of an offer's goals; empty for other resources.
    pub goals: Vec<GoalId>,
}

/// Parses a line, with all checks that need no other resource.
///
/// # Errors
/// The fault of the line, with the name of the faulty field if there is one.
pub fn read(text: &str) -> Result<Line, ApiError> {
    let mut members: Map<String, Json> = serde_json::from_str(text).map_err(|error| {
        let problem = document::problem(&error);
        let begins = if error.is_data() { "the line" } else { "the line is not JSON:" };
        common::INVALID_JSON.with_message(format!("{begins} {problem}"))
    })?;
    let kind = members.remove("kind").ok_or_else(|| common::MISSING_FIELD.with_message("kind is missing"))?;
    let resource = Resource::ALL
        .into_iter()
        .find(|resource| kind == resource.singular())
        .ok_or_else(|| INVALID_FIELD.with_message("kind: must be publisher, app, advertiser or offer"))?;
    let id = match members.remove("id") {
        Some(Json::String(id)) => id,
        Some(_) => return Err(INVALID_FIELD.with_message("id: must be a string")),
        None => return Err(common::MISSING_FIELD.with_message("id is missing")),
    };
    let document = Json::Object(members).to_string();
    let mut goals = Vec::new();
    match resource {
        Resource::Publisher => drop(Publisher::from_json(&document)?),
        Resource::App => drop(App::from_json(&document)?),
        Resource::Advertiser => drop(Advertiser::from_json(&document)?),
        Resource::Offer => goals.extend(Offer::from_json(&document)?.goals.into_iter().map(|goal| goal.id)),
    }
    Ok(Line { resource, id, document, goals })
}
