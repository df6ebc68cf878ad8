//! The accounts that a browser is signed in to, and the switch to another of them.

use futures_util::future::{join, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::visitor::Visit;
use crate::http::{
    HandlerResult,
    calls::{read_document, read_resource},
    site::{gate, sign_in::with_sessions},
};
use contract::catalog::Resource;
use domain::{
    accounts::{account::Account, browser_sessions::BrowserSession, session::SessionUse},
    model::{ApiError, Document, PublisherId, common},
};

const MAX_BODY: usize = 1 << 10;

#[derive(Deserialize)]
struct SwitchBody {
    publisher_id: String,
}

impl Document for SwitchBody {}

/// Returns the browser's accounts other than the current one, most recently used first. Ended sessions are left out but
/// stay in the cookie. An answer to a read sets no cookie, because the cookie could undo a sign-in in another tab.
pub async fn others(visit: &Visit<'_>) -> Vec<Value> {
    let others = visit.sessions.all().iter().skip(1);
    let others = join_all(others.map(|session| other(visit, session))).await;
    others.into_iter().flatten().collect()
}

/// Returns the accounts for the overview, the current one first.
pub fn accounts(visit: &Visit<'_>, publisher: &Value, others: Vec<Value>) -> Vec<Value> {
    let current = json!({
        "publisher_id": visit.publisher,
        "name": publisher.get("name"),
        "is_current": true,
    });
    std::iter::once(current).chain(others).collect()
}

/// Returns another account; `None` if its session has ended. The account is shown even if its object does not answer.
/// If the catalog does not answer, the account's id replaces its name.
async fn other(visit: &Visit<'_>, session: &BrowserSession) -> Option<Value> {
    let id = session.account.owner();
    let (context, config) = (visit.context, visit.config);
    let (read, publisher) = join(
        gate::read_session(context, config, session, SessionUse::Poll),
        read_resource::<Value>(context, Resource::Publisher, id),
    )
    .await;
    if read.is_err_and(|refused| gate::has_ended(&refused)) {
        return None;
    }
    let publisher = publisher.unwrap_or_default();
    let name = publisher.get("name").and_then(Value::as_str).unwrap_or(id);
    Some(json!({ "publisher_id": id, "name": name, "is_current": false }))
}

fn not_held() -> ApiError {
    common::NOT_FOUND.with_message("this browser is not signed in to that account")
}

/// `POST switch`: makes another live session of the browser the current one.
pub async fn switch(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let SwitchBody { publisher_id } = read_document(&mut request, MAX_BODY).await?;
    let account = PublisherId::parse(&publisher_id).map(Account::Publisher);
    let account = account.ok_or_else(not_held)?;
    let session = visit.sessions.find(&account).ok_or_else(not_held)?;
    match gate::read_session(visit.context, visit.config, session, SessionUse::Action).await {
        Ok(_) => {}
        Err(ended) if gate::has_ended(&ended) => return Err(not_held().into()),
        Err(unknown) => return Err(unknown),
    }
    let mut sessions = visit.sessions.clone();
    sessions.switch(&account);
    with_sessions(visit.config, &sessions)
}
