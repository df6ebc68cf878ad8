//! `POST /v1/core/test_apps`: sets up a test app with a publisher's key, for continuous integration.

use worker::Request;

use crate::http::{
    HandlerResult, RequestContext,
    api_key::{self, ApiKey},
    calls::{read_json, text_in},
    site::audited,
};
use contract::{
    accounts::{Actor, Announce, AnnouncedChange},
    catalog::{self, COMMAND_PATH, PutTestApp},
    ledger::UsedKey,
};
use domain::{accounts::account::Account, catalog::own_app::TestApp, model::Document, reporting::keys::Scope};
use platform::http::{Answer, answer::LogFields};

const MAX_BODY: usize = 8 << 10;

/// The body is read before a permit is taken, so that a slow sender holds no permit.
pub async fn call(context: &RequestContext, request: Request) -> Answer {
    api_key::answer(async |log_fields| put(context, request, log_fields).await).await
}

async fn put(context: &RequestContext, mut request: Request, log_fields: &mut LogFields) -> HandlerResult {
    let key = ApiKey::of(context, &request)?;
    let body = read_json(&mut request, MAX_BODY).await;
    let _permit = key.enter(context)?;
    let UsedKey { key_id, label } = key.use_for(context, Scope::Test, log_fields).await?;
    let body = body?;
    let name = TestApp::from_json(&body)?.name().to_owned();
    let announce =
        Announce { by: Actor::Key(format!("key {label} ({key_id})")), change: AnnouncedChange::CreateApp { name } };
    let put = PutTestApp { publisher_id: key.publisher.clone(), body };
    let account = Account::Publisher(key.publisher).id();
    let app_of = |made: &_| text_in(made, "app_id");
    let to = catalog::address(COMMAND_PATH);
    let made = audited::change(&context.workers, account, announce, &to, put, app_of).await?;
    Ok(made.into())
}
