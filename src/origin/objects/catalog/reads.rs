//! Reads publishers, apps, advertisers and offers: a single one, or a page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{
    Context,
    list_filter::Conditions,
    resource_tables::{require, table_of, unknown},
    sql,
};
use contract::{
    catalog::{
        APP_NAMES_PAGE, AppNames, List, ListEarning, ListPublisherOutboxes, MAX_PAGE, OUTBOXES_PAGE, OfferNames,
        Resource,
    },
    operation::OperatorReply,
};
use domain::{
    catalog::{Offer, advertiser::Advertiser, app::App, publisher::Publisher},
    model::{FIRST_TEST_APP, PublisherId, document::names_of},
    offers::test_offers,
};
use platform::{
    Database, DatabaseError, DbResult, Result, Row,
    database::{Value, json},
    params,
};

pub fn get(db: &impl Database, resource: Resource, id: &str) -> Result<OperatorReply> {
    find(db, resource, id)?.ok_or_else(|| unknown(resource, id).into())
}

pub fn find(db: &impl Database, resource: Resource, id: &str) -> Result<Option<OperatorReply>> {
    let row = db.query_first(table_of(resource).select_one, params![id])?;
    row.map(|row| Ok(OperatorReply::ok(&to_json(db, resource, &row)?))).transpose()
}

/// Returns the next page of a publisher's app names, as a JSON object by app id.
pub fn app_names(db: &impl Database, command: &AppNames) -> Result<OperatorReply> {
    let publisher = command.publisher_id.as_str();
    require(db, Resource::Publisher, publisher)?;
    let after = command.after.as_deref().unwrap_or_default();
    aggregated(db, sql::LIST_APP_NAMES, params![publisher, after, APP_NAMES_PAGE])
}

/// Returns the JSON that a statement aggregates.
fn aggregated(db: &impl Database, sql: &str, parameters: &[Value]) -> Result<OperatorReply> {
    Ok(OperatorReply::new(200, only_row(db, sql, parameters)?.text(0)?))
}

/// Returns the row of a statement that always has one.
pub fn only_row(db: &impl Database, sql: &str, parameters: &[Value]) -> DbResult<Row> {
    let row = db.query_first(sql, parameters)?;
    row.ok_or_else(|| DatabaseError("the query returned no row".into()))
}

/// Counts the items that wait for the operator, including the caps that are nearly used up.
pub fn count_waiting(db: &impl Database, near_caps: usize) -> Result<OperatorReply> {
    let row = only_row(db, sql::COUNT_WAITING, &[])?;
    Ok(OperatorReply::ok(&json!({
        "publishers": row.integer(0)?, "pub_key_requests": row.integer(1)?, "near_caps": near_caps,
    })))
}

/// Returns the publishers of apps that have an outbox, as a JSON list of ids.
pub fn earning(db: &impl Database, list: ListEarning) -> Result<OperatorReply> {
    aggregated(db, sql::LIST_EARNING, params![FIRST_TEST_APP.to_string(), list.limit])
}

/// Returns the names of offers and the titles of their goals.
pub fn offer_names(db: &impl Database, command: &OfferNames) -> Result<OperatorReply> {
    let ids = json(&command.offer_ids)?;
    let mut names: Names = only_row(db, sql::OFFER_NAMES, params![ids])?.json(0)?;
    let asked = command.offer_ids.iter().filter_map(|id| test_offers::find(id));
    for offer in asked {
        names.offers.insert(offer.id.to_owned(), offer.name.to_owned());
        let goals = offer.goals.iter().map(|goal| (goal.id.to_owned(), goal.title.to_owned()));
        names.goals.extend(goals);
    }
    Ok(OperatorReply::ok(&json!(names)))
}

/// Names by id.
#[derive(Serialize, Deserialize)]
struct Names {
    offers: BTreeMap<String, String>,
    goals: BTreeMap<String, String>,
}

/// The highest app id that does not belong to a test app.
const LAST_ID: u32 = FIRST_TEST_APP - 1;

/// Returns the apps of a publisher with their numbers of outboxes. A test app is included only if its id is asked for.
pub fn publisher_outboxes(db: &impl Database, list: &ListPublisherOutboxes) -> Result<OperatorReply> {
    let publisher = list.publisher_id.as_str();
    require(db, Resource::Publisher, publisher)?;
    let from = list.from.map_or(String::new(), |app| app.to_string());
    let to = list.to.map_or_else(|| LAST_ID.to_string(), |app| app.to_string());
    // A page with an end includes all apps up to that app, even if new apps make it longer than a usual page.
    let most = if list.to.is_some() { u32::MAX } else { OUTBOXES_PAGE };
    aggregated(db, sql::LIST_PUBLISHER_OUTBOXES, params![publisher, from, to, most])
}

/// Returns the publishers among `publisher_ids` that exist, as a JSON list of ids.
pub fn known_publishers(db: &impl Database, publisher_ids: &[PublisherId]) -> Result<OperatorReply> {
    aggregated(db, sql::KNOWN_PUBLISHERS, params![json!(publisher_ids).to_string()])
}

/// A page ends with the document that reaches this many bytes. That document has at most 1 MiB, so clients can still
/// read the page.
const PAGE_BYTES: usize = 1 << 20;
/// Maximum documents that are read at a time, of at most 1 MiB each.
const READ_ROWS: u32 = 20;
/// Maximum resources that a page with conditions examines, in about 20 ms.
const MAX_LOOKED_AT: u32 = 1_000;

/// Returns a page of resources, ordered by id or name; a page of one owner's resources is always ordered by id.
/// `cursor` is null on the last page. A page with conditions ends after [`MAX_LOOKED_AT`] resources, so that other
/// callers are answered in between.
pub fn list(db: &impl Database, context: &Context<'_>, list: &List) -> Result<OperatorReply> {
    let resource = list.resource;
    if let Some(cursor) = list.cursor.as_deref().filter(|_| list.by_name) {
        require(db, resource, cursor)?;
    }
    let read = |after: &str| match (resource, list.owner.as_deref()) {
        (_, None) if list.by_name => db.query(table_of(resource).select_by_name, params![after, READ_ROWS]),
        (_, None) => db.query(table_of(resource).select_page, params![after, READ_ROWS]),
        (Resource::App, Some(owner)) => db.query(sql::LIST_APPS_OF, params![owner, after, READ_ROWS]),
        (Resource::Offer, Some(owner)) => db.query(sql::LIST_OFFERS_OF, params![owner, after, READ_ROWS]),
        (Resource::Publisher | Resource::Advertiser, Some(_)) => Ok(Vec::new()),
    };
    let limit = list.limit.clamp(1, MAX_PAGE) as usize;
    let is_filtered = !list.filter.is_empty();
    let conditions = Conditions::new(&list.filter, context.now_ms);
    let (mut items, mut bytes, mut looked_at) = (Vec::new(), 0, 0);
    let mut after = list.cursor.clone().unwrap_or_default();
    let has_more = 'page: loop {
        let rows = read(&after)?;
        for row in &rows {
            if items.len() == limit || bytes >= PAGE_BYTES || looked_at == MAX_LOOKED_AT {
                break 'page true;
            }
            row.text(0)?.clone_into(&mut after);
            if is_filtered {
                looked_at += 1;
                if !conditions.match_document(&after, &row.json(1)?) {
                    continue;
                }
            }
            bytes += row.text(1)?.len();
            items.push(to_json(db, resource, row)?);
        }
        if rows.len() < READ_ROWS as usize {
            break false;
        }
    };
    let next = has_more.then_some(after);
    Ok(OperatorReply::ok(&json!({ resource.plural(): items, "cursor": next })))
}

/// Returns a resource as the operator reads it: its id, its document, and the fields that Signpost adds.
fn to_json(db: &impl Database, resource: Resource, row: &Row) -> Result<Json> {
    let id = row.text(0)?;
    let mut members = serde_json::Map::new();
    members.insert(table_of(resource).id_member.into(), id.into());
    if let Json::Object(document) = row.json(1)? {
        // A member that newer code has stored is not shown, so that a document can be put as it was read.
        let known = match resource {
            Resource::Publisher => names_of::<Publisher>(),
            Resource::App => names_of::<App>(),
            Resource::Advertiser => names_of::<Advertiser>(),
            Resource::Offer => names_of::<Offer>(),
        };
        let is_known = |(name, _): &(String, Json)| known.contains(&name.as_str());
        members.extend(document.into_iter().filter(is_known));
    }
    if matches!(resource, Resource::App | Resource::Offer) {
        members.insert("terms_revision".into(), row.integer(2)?.into());
    }
    match resource {
        Resource::Offer => {
            members.insert("updated_at".into(), row.integer(3)?.into());
            let retired = db.read_all(sql::LIST_RETIRED_GOALS, params![id], |row| row.text(0).map(str::to_owned))?;
            if !retired.is_empty() {
                members.insert("retired_goals".into(), json!(retired));
            }
        }
        Resource::Advertiser => {
            let tokens = db.read_all(sql::LIST_TOKENS, params![id], |row| {
                let issued_at = row.integer(1)?.div_euclid(1_000);
                Ok(json!({ "token_id": row.integer(0)?.to_string(), "issued_at": issued_at }))
            })?;
            members.insert("tokens".into(), tokens.into());
        }
        Resource::Publisher | Resource::App => {}
    }
    Ok(Json::Object(members))
}
