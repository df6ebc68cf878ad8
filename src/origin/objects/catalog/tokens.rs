//! Issues credentials: a publisher's Pub-Key and an advertiser's conversion tokens.

use serde_json::json;

use super::{
    Context,
    lasting::{self, Lasting, PubKey, Tokens},
    pub_key_requests,
    resource_tables::{self, unknown},
    revisions, sql, tracking_slots,
};
use contract::{
    catalog::{Resource, UNKNOWN_RESOURCE},
    operation::{Bytes, OperatorReply},
};
use domain::{
    catalog::advertiser::VALID_TOKENS,
    conversions::token::{self, Serial},
    model::{SECOND_MS, common, credentials, revision},
};
use platform::{Database, DbResult, Failure, Result, params};

pub fn pub_key_purpose(publisher_id: &str) -> String {
    format!("pub_key/{publisher_id}")
}

/// Issues a publisher's Pub-Key. The previous key becomes invalid, and an open request for a new key is closed.
pub fn issue_pub_key(db: &impl Database, context: &Context<'_>, publisher_id: &str) -> Result<OperatorReply> {
    let pub_key = credentials::pub_key(context.random()?);
    let key = PubKey {
        publisher_id: publisher_id.to_owned(),
        hash: Bytes(credentials::hash(&pub_key).to_vec()),
        sealed: Bytes(context.seal(context.vault, &pub_key_purpose(publisher_id), &pub_key)?),
    };
    db.transaction(|| {
        store_pub_key(db, context, &key)?;
        lasting::add(db, context, &Lasting::PubKey(key))?;
        Ok(OperatorReply::created(&json!({ "pub_key": pub_key })))
    })
}

/// Replaces a publisher's Pub-Key, within the caller's transaction.
pub fn store_pub_key(db: &impl Database, context: &Context<'_>, key: &PubKey) -> Result {
    let id = key.publisher_id.as_str();
    let row = params![key.hash.0.clone(), key.sealed.0.clone(), id];
    if db.query(sql::SET_PUB_KEY, row)?.is_empty() {
        return Err(unknown(Resource::Publisher, id).into());
    }
    pub_key_requests::close(db, id)?;
    let revision = revisions::record(db, context.now_ms)?;
    Ok(tracking_slots::mark_apps_of(db, id, revision)?)
}

/// Returns a publisher's Pub-Key in plain text, for its settings page.
pub fn pub_key(db: &impl Database, context: &Context<'_>, publisher_id: &str) -> Result<OperatorReply> {
    let row = db
        .query_first(sql::GET_PUB_KEY, params![publisher_id])?
        .ok_or_else(|| unknown(Resource::Publisher, publisher_id))?;
    if row.is_null(0) {
        return Err(UNKNOWN_RESOURCE.with_message("this publisher has no Pub-Key yet").into());
    }
    let plain = context
        .vault
        .open(&pub_key_purpose(publisher_id), row.blob(0)?)
        .and_then(|plain| String::from_utf8(plain).ok())
        .ok_or_else(|| Failure::Internal(format!("no listed key decrypts the Pub-Key of {publisher_id}")))?;
    let request = pub_key_requests::get(db, publisher_id)?;
    Ok(OperatorReply::ok(&json!({ "pub_key": plain, "request": request })))
}

/// Issues a conversion token. The advertiser's two newest tokens are valid.
pub fn issue_token(db: &impl Database, context: &Context<'_>, advertiser_id: &str) -> Result<OperatorReply> {
    let random = context.random()?;
    db.transaction(|| {
        resource_tables::require(db, Resource::Advertiser, advertiser_id)?;
        let mut tokens = Tokens::read(db, advertiser_id)?;
        let serial = Serial(revision::after(tokens.newest, context.now_ms.div_euclid(SECOND_MS)));
        tokens.newest = serial.0;
        tokens.valid.push((serial.0, context.now_ms));
        let ended = tokens.valid.len().saturating_sub(VALID_TOKENS);
        tokens.valid.drain(..ended);
        store_tokens(db, context, &tokens)?;
        lasting::add(db, context, &Lasting::Tokens(tokens))?;
        let token = token::issue(context.token_mac, advertiser_id, serial, random);
        Ok(OperatorReply::created(&json!({ "token_id": serial.0.to_string(), "token": token })))
    })
}

/// Revokes one token. `token_id` is its serial.
pub fn revoke_token(
    db: &impl Database,
    context: &Context<'_>,
    advertiser_id: &str,
    token_id: &str,
) -> Result<OperatorReply> {
    let unknown_token = || Failure::from(common::NOT_FOUND.with_message("no token has this id"));
    let Serial(serial) = Serial::parse(token_id).ok_or_else(unknown_token)?;
    db.transaction(|| {
        let mut tokens = Tokens::read(db, advertiser_id)?;
        let before = tokens.valid.len();
        tokens.valid.retain(|(valid, _)| *valid != serial);
        if tokens.valid.len() == before {
            return Err(unknown_token());
        }
        store_tokens(db, context, &tokens)?;
        lasting::add(db, context, &Lasting::Tokens(tokens))?;
        Ok(OperatorReply::no_content())
    })
}

impl Tokens {
    fn read(db: &impl Database, advertiser_id: &str) -> DbResult<Self> {
        Ok(Self {
            advertiser_id: advertiser_id.to_owned(),
            newest: db.query_integer(sql::GET_NEWEST_SERIAL, params![advertiser_id])?.unwrap_or_default(),
            valid: db
                .read_all(sql::LIST_TOKENS, params![advertiser_id], |row| Ok((row.integer(0)?, row.integer(1)?)))?,
        })
    }
}

/// Replaces the tokens of an advertiser, within the caller's transaction.
pub fn store_tokens(db: &impl Database, context: &Context<'_>, tokens: &Tokens) -> Result {
    let id = tokens.advertiser_id.as_str();
    resource_tables::require(db, Resource::Advertiser, id)?;
    db.execute(sql::SET_NEWEST_SERIAL, params![tokens.newest, id])?;
    db.execute(sql::DELETE_TOKENS, params![id])?;
    for (serial, issued_at_ms) in &tokens.valid {
        db.execute(sql::INSERT_TOKEN, params![id, *serial, *issued_at_ms])?;
    }
    let revision = revisions::record(db, context.now_ms)?;
    Ok(tracking_slots::mark_advertiser(db, id, revision)?)
}
