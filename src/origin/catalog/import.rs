//! `POST /v1/operator/import`: NDJSON, one resource per line, all or nothing.
//!
//! A body may exceed an isolate's memory, and a transaction cannot wait for more bytes. Lines are therefore checked and
//! staged as they arrive, and applied in one transaction at the end. Kinds are applied in the order of [`Resource`],
//! whatever the order of the lines.

use serde_json::{Map, Value as Json, json};

use super::{Context, resource_tables::WriteSource, resources, sql};
use contract::{catalog::Resource, operation::Reply};
use domain::{
    catalog::{Offer, advertiser::Advertiser, app::App, publisher::Publisher},
    model::{
        api_error::{ApiError, common},
        document::{self, Document, INVALID_FIELD},
        lines::{LineErrors, TooLong},
    },
};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
};

/// The longest line, in bytes. A staged line is a SQLite row of at most 2 MB, and its document may have 1 MiB.
pub const MAX_LINE: usize = 1_500_000;
/// Staged lines that are read and applied at a time; bounds the memory.
const PAGE: i64 = 20;

const INVALID_IMPORT: ApiError = ApiError::new(
    400,
    "invalid_import",
    "nothing was imported: some lines are wrong",
);

/// The answer that lists the wrong lines.
pub fn refuse(errors: &LineErrors) -> Reply {
    Reply {
        status: INVALID_IMPORT.status,
        body: errors.body(&INVALID_IMPORT),
    }
}

/// Checks one line on its own and stages it. A wrong line is added to `errors`.
///
/// # Errors
/// The database failed, or an app could not be sealed.
pub fn stage(
    db: &impl Database,
    context: &Context<'_>,
    import_id: &str,
    line: i64,
    bytes: Result<&[u8], TooLong>,
    errors: &mut LineErrors,
) -> Result<(), Failure> {
    let read = match bytes.map(str::from_utf8) {
        Ok(Ok(text)) if text.trim().is_empty() => return Ok(()),
        Ok(Ok(text)) => read(text).map_err(|refusal| refusal.message),
        Ok(Err(_)) => Err("is not UTF-8".into()),
        Err(too_long) => Err(too_long.to_string().into()),
    };
    let (resource, id, document) = match read {
        Ok(read) => read,
        Err(problem) => {
            errors.add(line, None, problem);
            return Ok(());
        }
    };
    // After the first wrong line nothing will be applied, so nothing more needs staging.
    if errors.is_empty() {
        let staged = match resource {
            // Its secrets are not written to disk in the clear, also not for the seconds of an import.
            Resource::App => context.seal(context.vault, &purpose(&id), &document)?,
            _ => document.into_bytes(),
        };
        db.execute(
            sql::STAGE_LINE,
            params![import_id, kind_code(resource), line, id, staged],
        )?;
    }
    Ok(())
}

/// The purpose for which an app's staged document is sealed.
fn purpose(app_id: &str) -> String {
    format!("import/{app_id}")
}

/// The document of a staged line.
fn staged_document(context: &Context<'_>, resource: Resource, row: &Row) -> Result<String, Failure> {
    let (id, staged) = (row.text(1)?, row.blob(2)?);
    let document = match resource {
        Resource::App => context.vault.open(&purpose(id), staged),
        _ => Some(staged.to_vec()),
    };
    document
        .and_then(|document| String::from_utf8(document).ok())
        .ok_or_else(|| {
            Failure::Internal(format!(
                "the staged line of {} {id} is unreadable",
                resource.singular()
            ))
        })
}

fn kind_code(resource: Resource) -> i64 {
    resource as i64
}

/// Returns a line's kind, id and document, with every check that needs no other resource.
///
/// # Errors
/// The fault of the line, with the field's name where it has one.
pub fn read(text: &str) -> Result<(Resource, String, String), ApiError> {
    let mut members: Map<String, Json> = serde_json::from_str(text)
        .map_err(|error| common::INVALID_JSON.with_message(document::problem(&error)))?;
    let kind = members
        .remove("kind")
        .ok_or_else(|| common::MISSING_FIELD.with_message("kind is missing"))?;
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
    match resource {
        Resource::Publisher => drop(Publisher::from_json(&document)?),
        Resource::App => drop(App::from_json(&document)?),
        Resource::Advertiser => drop(Advertiser::from_json(&document)?),
        Resource::Offer => drop(Offer::from_json(&document)?),
    }
    Ok((resource, id, document))
}

/// Applies all staged lines or none, and deletes them either way.
pub fn apply(db: &impl Database, context: &Context<'_>, import_id: &str) -> Result<Reply, Failure> {
    let mut errors = LineErrors::default();
    let applied = db.transaction(|| {
        let imported = apply_lines(db, context, import_id, &mut errors)?;
        if errors.is_empty() {
            discard(db, import_id)?;
            Ok(imported)
        } else {
            // The error rolls the transaction back; the answer is built from `errors`.
            Err(Failure::Refused(INVALID_IMPORT))
        }
    });
    if applied.is_err() {
        discard(db, import_id)?;
    }
    match applied {
        Ok(imported) => Ok(Reply::ok(&json!({ "imported": imported }))),
        Err(Failure::Refused(_)) if !errors.is_empty() => Ok(refuse(&errors)),
        Err(failure) => Err(failure),
    }
}

fn apply_lines(
    db: &impl Database,
    context: &Context<'_>,
    import_id: &str,
    errors: &mut LineErrors,
) -> Result<u64, Failure> {
    let mut imported = 0;
    for resource in Resource::ALL {
        let mut after = 0;
        loop {
            let rows = db.query(
                sql::LIST_STAGED,
                params![import_id, kind_code(resource), after, PAGE],
            )?;
            let Some(last) = rows.last() else { break };
            after = last.integer(0)?;
            for row in &rows {
                let document = staged_document(context, resource, row)?;
                match resources::put(
                    db,
                    context,
                    WriteSource::Import,
                    resource,
                    row.text(1)?,
                    &document,
                ) {
                    Ok(()) => imported += 1,
                    Err(Failure::Refused(refusal)) => errors.add(row.integer(0)?, None, refusal.message),
                    Err(failure) => return Err(failure),
                }
            }
        }
    }
    Ok(imported)
}

/// Deletes an import's staged lines.
pub fn discard(db: &impl Database, import_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::DISCARD_IMPORT, params![import_id])
}

/// Deletes all staged lines: an import does not outlive the object's process.
pub fn discard_all(db: &impl Database) -> Result<(), DatabaseError> {
    db.execute(sql::DISCARD_ALL_IMPORTS, params![])
}
