//! Parses the conditions of a list of conversions. They come in a query, or in a body if they name a user.

use serde::Deserialize;

use crate::{
    http::{
        calls::{DEFAULT_PAGE, parameter, read_page, read_place},
        site::merge,
    },
    objects::outbox::log::Filter,
};
use contract::{catalog::MAX_PAGE, outbox::List};
use domain::model::{ApiError, Document, FieldError, trimmed};

/// The body that lists one user's conversions, because no URL may name a user. It has the same conditions as a query.
#[derive(Deserialize)]
struct FindBody {
    status: Option<String>,
    state: Option<String>,
    reason: Option<String>,
    #[serde(deserialize_with = "trimmed")]
    user_id: String,
    limit: Option<u32>,
    cursor: Option<String>,
}

impl Document for FindBody {
    fn check(&self) -> Result<(), FieldError> {
        match self.limit {
            Some(limit) if !(1..=MAX_PAGE).contains(&limit) => {
                Err(FieldError::new("limit", format!("must be an integer from 1 to {MAX_PAGE}")))
            }
            _ => Ok(()),
        }
    }
}

/// Parses the conditions of a body.
pub fn of_body(body: &str) -> Result<List, ApiError> {
    let body = FindBody::from_json(body)?;
    let filter = (body.status, body.state, body.reason);
    Ok(List { user_id: Some(body.user_id), ..list_of(filter, body.limit.unwrap_or(DEFAULT_PAGE), body.cursor)? })
}

/// Parses the conditions and the cursor of a query.
pub fn of_query(query: &str) -> Result<List, ApiError> {
    // A user id in a URL would appear in logs. If it were ignored, the caller would mistake everybody's conversions for
    // one user's.
    if parameter(query, "user_id").is_some() {
        return Err(FieldError::new("user_id", "a URL must not name a user: send user_id in the body of a POST").into());
    }
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let filter = |name| parameter(query, name);
    list_of((filter("status"), filter("state"), filter("reason")), limit, cursor)
}

fn list_of(
    (status, state, reason): (Option<String>, Option<String>, Option<String>),
    limit: u32,
    cursor: Option<String>,
) -> Result<List, ApiError> {
    Filter::parse(status.as_deref(), state.as_deref())?;
    Ok(List { status, state, reason, user_id: None, limit, max_text: merge::MAX_TEXT, before: read_place(cursor)? })
}
