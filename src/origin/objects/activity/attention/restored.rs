//! Items of objects that were restored from an earlier copy. Each item says what is in doubt, and stays until a person
//! ends it.

use super::sql;
use crate::objects::activity::alarms::{causes::Noted, raise_new};
use contract::{
    alarms::AlarmKind,
    attention::{EndItem, Restored},
    operation::{Done, OperatorReply},
};
use domain::model::common;
use platform::{Database, DbResult, Result, database::json, params};

/// Lists the doubts about a restored object. Doubts that are already listed do not change.
pub fn put(db: &impl Database, now_ms: i64, restored: &Restored) -> DbResult<Done> {
    let publisher = restored.publisher.as_ref().map(|publisher| publisher.as_str());
    let doubts = json(&restored.doubts)?;
    let row = params![restored.source.as_str(), publisher, restored.at_ms, doubts];
    let noted = Noted { now_ms, publisher: restored.publisher.as_ref() };
    let alarm = noted.alarm(AlarmKind::ObjectRestored, &restored.source, restored.at_ms);
    db.transaction(|| match db.query_first(sql::PUT_RESTORED, row)? {
        Some(_) => raise_new(db, now_ms, alarm),
        None => Ok(()),
    })?;
    Ok(Done {})
}

/// Answers `DELETE …/attention/{item_id}`.
pub fn end(db: &impl Database, end: EndItem) -> Result<OperatorReply> {
    let ended = db.query_first(sql::END_RESTORED, params![end.place.since_ms, end.place.item])?;
    match ended {
        Some(_) => Ok(OperatorReply::no_content()),
        None => Err(common::NOT_FOUND.with_message("no open item has this id, or the item ends by itself").into()),
    }
}
