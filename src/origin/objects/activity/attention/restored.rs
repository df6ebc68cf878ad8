//! Items of objects that were put back to an earlier copy. Each says what is in doubt, and stays until a person ends it.

use super::sql;
use contract::{
    attention::{EndItem, Restored},
    operation::{Done, OperatorReply},
};
use domain::model::api_error::common;
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    params,
};

/// Lists what is in doubt. What is listed already stays as it is.
pub fn put(db: &impl Database, restored: &Restored) -> Result<Done, DatabaseError> {
    let publisher = restored.publisher.as_ref().map(|publisher| publisher.as_str());
    let doubts = json(&restored.doubts)?;
    db.execute(
        sql::PUT_RESTORED,
        params![restored.source.as_str(), publisher, restored.at_ms, doubts],
    )?;
    Ok(Done {})
}

/// `DELETE …/attention/{item_id}`.
pub fn end(db: &impl Database, end: EndItem) -> Result<OperatorReply, Failure> {
    let ended = db.query_first(sql::END_RESTORED, params![end.place.since_ms, end.place.item])?;
    match ended {
        Some(_) => Ok(OperatorReply::no_content()),
        None => Err(common::NOT_FOUND
            .with_message("there is no such open item that a person ends")
            .into()),
    }
}
