//! Issues credentials: a publisher's Pub-Key and an advertiser's conversion tokens.

use serde_json::json;

use super::{Context, resource_tables, revisions, sql};
use contract::{
    catalog::{Resource, UNKNOWN_RESOURCE},
    operation::Reply,
};
use domain::{
    catalog::advertiser::VALID_TOKENS,
    model::{api_error::common, credentials},
};
use platform::{database::Database, failure::Failure, params};

fn pub_key_purpose(publisher_id: &str) -> String {
    format!("pub_key/{publisher_id}")
}

/// Issues a publisher's Pub-Key. Its predecessor becomes invalid.
pub fn issue_pub_key(
    db: &impl Database,
    context: &Context<'_>,
    publisher_id: &str,
) -> Result<Reply, Failure> {
    let pub_key = credentials::pub_key(context.random()?);
    let sealed = context
        .vault
        .seal(
            &pub_key_purpose(publisher_id),
            pub_key.as_bytes(),
            context.random()?,
        )
        .ok_or_else(|| Failure::Internal("the vault did not seal a Pub-Key".into()))?;
    db.transaction(|| {
        let updated = db.query(
            sql::SET_PUB_KEY,
            params![credentials::hash(&pub_key).to_vec(), sealed, publisher_id],
        )?;
        if updated.is_empty() {
            return Err(UNKNOWN_RESOURCE
                .with_message(format!("there is no publisher {publisher_id}"))
                .into());
        }
        revisions::record(db, context.now_ms)?;
        Ok(Reply::created(&json!({ "pub_key": pub_key })))
    })
}

/// Returns a publisher's Pub-Key in plain text, for its settings page.
pub fn pub_key(db: &impl Database, context: &Context<'_>, publisher_id: &str) -> Result<Reply, Failure> {
    let row = db
        .query_first(sql::GET_PUB_KEY, params![publisher_id])?
        .ok_or_else(|| UNKNOWN_RESOURCE.with_message(format!("there is no publisher {publisher_id}")))?;
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
    Ok(Reply::ok(&json!({ "pub_key": plain })))
}

/// Issues a conversion token. The advertiser's two newest tokens are valid.
pub fn issue_token(db: &impl Database, context: &Context<'_>, advertiser_id: &str) -> Result<Reply, Failure> {
    let (token_id, token) = credentials::advertiser_token(context.random()?);
    db.transaction(|| {
        resource_tables::require(db, Resource::Advertiser, advertiser_id)?;
        let revision = revisions::record(db, context.now_ms)?;
        db.execute(
            sql::INSERT_TOKEN,
            params![
                advertiser_id,
                revision,
                token_id.as_str(),
                credentials::hash(&token).to_vec(),
                context.now_ms
            ],
        )?;
        db.execute(
            sql::KEEP_NEWEST_TOKENS,
            params![
                advertiser_id,
                advertiser_id,
                i64::try_from(VALID_TOKENS).unwrap_or(2)
            ],
        )?;
        Ok(Reply::created(&json!({ "token_id": token_id, "token": token })))
    })
}

/// Revokes one token.
pub fn revoke_token(
    db: &impl Database,
    context: &Context<'_>,
    advertiser_id: &str,
    token_id: &str,
) -> Result<Reply, Failure> {
    db.transaction(|| {
        let revoked = db.query(sql::REVOKE_TOKEN, params![advertiser_id, token_id])?;
        if revoked.is_empty() {
            return Err(common::NOT_FOUND.with_message("there is no such token").into());
        }
        revisions::record(db, context.now_ms)?;
        Ok(Reply::no_content())
    })
}
