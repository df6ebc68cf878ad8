//! Finds resources by an id, a credential or a part of a name: the first step of the console's search.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use super::{Context, resource_tables::table_of, sql};
use contract::{catalog::Resource, operation::OperatorReply};
use domain::{
    conversions::token::{Serial, Token},
    model::credentials,
};
use platform::{Database, Result, Row, params};

/// The fields of a document by which a person recognizes a resource.
const SHOWN: [&str; 6] = ["name", "publisher_id", "advertiser_id", "platform", "approved", "active"];

/// The allowed length of a part of a name or an id, in characters.
const PART: RangeInclusive<usize> = 2..=100;
/// Maximum resources of each kind that a part finds.
const MAX_NAMED: u32 = 10;

/// Finds everything whose id or credential is the text. If nothing matches, finds resources whose name or id contains
/// the text.
pub fn search(db: &impl Database, context: &Context<'_>, text: &str) -> Result<OperatorReply> {
    let mut matches = Vec::new();
    for resource in Resource::ALL.into_iter().filter(|resource| resource.is_id(text)) {
        let row = db.query_first(table_of(resource).select_one, params![text])?;
        if let Some(row) = row {
            matches.push(resource_match(resource, &row)?);
        }
    }
    if let Some(row) = db.query_first(sql::GET_GOAL_OWNER, params![text])? {
        matches.push(goal_match(db, text, row.text(0)?)?);
    }
    let hash = credentials::hash(text).to_vec();
    if let Some(row) = db.query_first(sql::FIND_PUB_KEY, params![hash])? {
        matches.push(json!({ "kind": "pub_key", "publisher_id": row.text(0)? }));
    }
    let issued = Token::verify(context.token_mac, text);
    if let Some(token) = issued.as_ref().or(Token::claimed(text).as_ref()) {
        let (advertiser, Serial(serial)) = (token.advertiser.as_str(), token.serial);
        let valid = db.query_integer(sql::IS_TOKEN_VALID, params![advertiser, serial])? == Some(1);
        // The catalog does not store revoked serials, so a serial alone does not show whether its token was ever
        // issued. A whole token does, because its MAC proves that Signpost issued it.
        if valid || issued.is_some() {
            matches.push(json!({
                "kind": "token",
                "advertiser_id": advertiser,
                "token_id": serial.to_string(),
                "is_issued": issued.is_some(),
                "is_valid": valid,
            }));
        }
    }
    if matches.is_empty() && PART.contains(&text.chars().count()) {
        matches = named(db, text)?;
    }
    Ok(OperatorReply::ok(&json!({ "matches": matches })))
}

/// Finds resources by a part of a name or an id.
fn named(db: &impl Database, part: &str) -> Result<Vec<Json>> {
    let part = part.to_ascii_lowercase();
    let mut matches = Vec::new();
    for resource in Resource::ALL {
        let table = table_of(resource);
        for row in db.query(table.find_named, params![part.as_str(), MAX_NAMED])? {
            if let Some(row) = db.query_first(table.select_one, params![row.text(0)?])? {
                matches.push(resource_match(resource, &row)?);
            }
        }
    }
    Ok(matches)
}

fn resource_match(resource: Resource, row: &Row) -> Result<Json> {
    let mut members = serde_json::Map::new();
    members.insert("kind".into(), resource.singular().into());
    members.insert(table_of(resource).id_member.into(), row.text(0)?.into());
    if let Json::Object(document) = row.json(1)? {
        let shown = document.into_iter().filter(|(name, _)| SHOWN.contains(&name.as_str()));
        members.extend(shown);
    }
    Ok(members.into())
}

/// Returns a goal with the title from its offer's document. A retired goal has no title.
fn goal_match(db: &impl Database, goal: &str, offer: &str) -> Result<Json> {
    let document: Option<Json> = db.read_first(sql::GET_OFFER_DOCUMENT, params![offer], |row| row.json(0))?;
    let goals = document.as_ref().and_then(|document| document.get("goals")?.as_array());
    let found = goals.and_then(|goals| goals.iter().find(|known| known.get("id").is_some_and(|id| id == goal)));
    let title = found.and_then(|goal| goal.get("ttl"));
    Ok(json!({ "kind": "goal", "goal_id": goal, "offer_id": offer, "title": title }))
}
