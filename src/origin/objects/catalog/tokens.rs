//! Issues credentials: a publisher's Pub-Key and an advertiser's conversion tokens.

use serde_json::json;

use super::{
    Context, pub_key_requests,
    resource_tables::{self, unknown},
    revisions, sql, tracking_slots,
};
use contract::{
    catalog::{Resource, UNKNOWN_RESOURCE},
    operation::OperatorReply,
};
use domain::{
    catalog::advertiser::VALID_TOKENS,
    conversions::token::{self, Serial},
    model::{api_error::common, credentials, revision, time::SECOND_MS},
};
use platform::{database::Database, failure::Failure, params};

fn pub_key_purpose(publisher_id: &str) -> String {
    format!("pub_key/{publisher_id}")
}

/// Issues a publisher's Pub-Key. Its predecessor becomes invalid, and a request for it is closed.
pub fn issue_pub_key(
    db: &impl Database,
    context: &Context<'_>,
    publisher_id: &str,
) -> Result<OperatorReply, Failure> {
    let pub_key = credentials::pub_key(context.random()?);
    let sealed = context.seal(context.vault, &pub_key_purpose(publisher_id), &pub_key)?;
    db.transaction(|| {
        let updated = db.query(
            sql::SET_PUB_KEY,
            params![credentials::hash(&pub_key).to_vec(), sealed, publisher_id],
        )?;
        if updated.is_empty() {
            return Err(unknown(Resource::Publisher, publisher_id).into());
        }
        pub_key_requests::close(db, publisher_id)?;
        let revision = revisions::record(db, context.now_ms)?;
        tracking_slots::mark_apps_of(db, publisher_id, revision)?;
        Ok(OperatorReply::created(&json!({ "pub_key": pub_key })))
    })
}

/// Returns a publisher's Pub-Key in plain text, for its settings page.
pub fn pub_key(
    db: &impl Database,
    context: &Context<'_>,
    publisher_id: &str,
) -> Result<OperatorReply, Failure> {
    let row = db
        .query_first(sql::GET_PUB_KEY, params![publisher_id])?
        .ok_or_else(|| unknown(Resource::Publisher, publisher_id))?;
    if row.is_null(0) {
        return Err(UNKNOWN_RESOURCE
            .with_message("this publisher has no Pub-Key yet")
            .into());
    }
    let plain = context
        .vault
        .open(&pub_key_purpose(publisher_id), row.blob(0)?)
        .and_then(|plain| String::from_utf8(plain).ok())
        .ok_or_else(|| Failure::Internal(format!("the Pub-Key of {publisher_id} does not decrypt")))?;
    let request = pub_key_requests::get(db, publisher_id)?;
    Ok(OperatorReply::ok(
        &json!({ "pub_key": plain, "request": request }),
    ))
}

/// Issues a conversion token. The advertiser's two newest tokens are valid.
pub fn issue_token(
    db: &impl Database,
    context: &Context<'_>,
    advertiser_id: &str,
) -> Result<OperatorReply, Failure> {
    let random = context.random()?;
    db.transaction(|| {
        resource_tables::require(db, Resource::Advertiser, advertiser_id)?;
        let newest = db.query_integer(sql::GET_NEWEST_SERIAL, params![advertiser_id])?;
        let newest = newest.unwrap_or_default();
        let serial = Serial(revision::after(newest, context.now_ms.div_euclid(SECOND_MS)));
        let revision = revisions::record(db, context.now_ms)?;
        tracking_slots::mark_advertiser(db, advertiser_id, revision)?;
        db.execute(sql::SET_NEWEST_SERIAL, params![serial.0, advertiser_id])?;
        db.execute(
            sql::INSERT_TOKEN,
            params![advertiser_id, serial.0, context.now_ms],
        )?;
        db.execute(
            sql::KEEP_NEWEST_TOKENS,
            params![
                advertiser_id,
                advertiser_id,
                i64::try_from(VALID_TOKENS).unwrap_or(2)
            ],
        )?;
        let token = token::issue(context.token_mac, advertiser_id, serial, random);
        Ok(OperatorReply::created(
            &json!({ "token_id": serial.0.to_string(), "token": token }),
        ))
    })
}

/// Revokes one token. `token_id` is its serial.
pub fn revoke_token(
    db: &impl Database,
    context: &Context<'_>,
    advertiser_id: &str,
    token_id: &str,
) -> Result<OperatorReply, Failure> {
    let unknown_token = || Failure::from(common::NOT_FOUND.with_message("there is no such token"));
    let Serial(serial) = Serial::parse(token_id).ok_or_else(unknown_token)?;
    db.transaction(|| {
        if db
            .query(sql::REVOKE_TOKEN, params![advertiser_id, serial])?
            .is_empty()
        {
            return Err(unknown_token());
        }
        let revision = revisions::record(db, context.now_ms)?;
        tracking_slots::mark_advertiser(db, advertiser_id, revision)?;
        Ok(OperatorReply::no_content())
    })
}
