//! Erases or exports one user's data over all apps of a publisher, for a key of the publisher or for its owner in the
//! dashboard.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use worker::Request;

use crate::http::{
    HandlerResult, Refusal, RequestContext,
    api_key::{self, ApiKey},
    calls::{ask_catalog, internal, read_document, read_reply},
    handlers::UserCall,
    site::{audited, merge, outboxes::Outboxes},
};
use contract::{
    accounts::{Actor, Announce, AnnouncedChange},
    activity::{self, EndReplaysOf},
    catalog::AppNames,
    ledger::UsedKey,
    operation::{CallError, Done, OperatorReply},
    outbox::List,
};
use domain::{
    accounts::account::Account,
    model::{ApiError, AppId, Document, FieldError, PublisherId, trimmed},
    reporting::keys::Scope,
};
use platform::{
    concurrent::try_each,
    http::{Answer, answer::LogFields},
};

const MAX_BODY: usize = 4 << 10;
/// Maximum apps in one request. Each app takes at most 3 calls, and an invocation may make at most 1,000.
const APPS: usize = 250;
/// Maximum conversions on a page of an export.
const PAGE: u32 = 100;

/// The body of both calls, because no URL may name a user.
#[derive(Deserialize)]
pub struct UserBody {
    #[serde(deserialize_with = "trimmed")]
    pub user_id: String,
    /// The cursor of the previous answer.
    #[serde(default)]
    cursor: Option<String>,
}

impl Document for UserBody {
    fn check(&self) -> Result<(), FieldError> {
        if self.user_id.is_empty() {
            return Err(FieldError::new("user_id", "must not be empty"));
        }
        if self.cursor.is_some() && self.place().is_none() {
            return Err(FieldError::new("cursor", "must be the cursor of an earlier answer"));
        }
        Ok(())
    }
}

impl UserBody {
    pub async fn read(request: &mut Request) -> Result<Self, ApiError> {
        read_document(request, MAX_BODY).await
    }

    fn place(&self) -> Option<Place> {
        Place::parse(self.cursor.as_deref()?)
    }
}

/// Where a call continues: at an app, with the log entries below a number.
#[derive(Clone, Copy)]
struct Place {
    app: AppId,
    before: Option<i64>,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let (app, before) = text.split_once('.').unwrap_or((text, ""));
        let before = (!before.is_empty()).then(|| before.parse());
        Some(Self { app: AppId::parse(app)?, before: before.transpose().ok()?.filter(|before: &i64| *before > 0) })
    }

    fn to_text(self) -> String {
        let before = self.before.map(|before| format!(".{before}"));
        format!("{}{}", self.app, before.unwrap_or_default())
    }
}

/// `POST /v1/core/users/…` with a key. The body is read before a permit is taken, so that a slow sender holds none.
pub async fn call(context: &RequestContext, call: UserCall, request: Request) -> Answer {
    api_key::answer(async |log_fields| with_key(context, call, request, log_fields).await).await
}

async fn with_key(
    context: &RequestContext,
    call: UserCall,
    mut request: Request,
    log_fields: &mut LogFields,
) -> HandlerResult {
    let key = ApiKey::of(context, &request)?;
    let body = UserBody::read(&mut request).await;
    let _permit = key.enter(context)?;
    let UsedKey { key_id, label } = key.use_for(context, Scope::Privacy, log_fields).await?;
    // An invalid body is refused only after the key and its rate were checked. Reports do the same.
    let by = Actor::Key(format!("key {label} ({key_id})"));
    carry_out(context, &key.publisher, by, call, body?).await
}

/// Carries out a call. The publisher's audit records the call without the user's id.
pub async fn carry_out(
    context: &RequestContext,
    publisher: &PublisherId,
    by: Actor,
    call: UserCall,
    body: UserBody,
) -> HandlerResult {
    let change = match call {
        UserCall::Erase => AnnouncedChange::EraseUser {},
        UserCall::Export => AnnouncedChange::ExportUser {},
    };
    let account = Account::Publisher(publisher.clone()).id();
    let announce = Announce { by, change };
    let made = async {
        match call {
            UserCall::Erase => erase(context, publisher, &body).await,
            UserCall::Export => export(context, publisher, &body).await,
        }
    };
    let body = audited::act(&context.workers, account, announce, made).await?;
    Ok(OperatorReply::ok(&body).into())
}

/// Erases a user in up to [`APPS`] of the publisher's apps.
async fn erase(context: &RequestContext, publisher: &PublisherId, body: &UserBody) -> Result<Value, Refusal> {
    let (apps, next) = apps(context, publisher, body.place()).await?;
    let erased = try_each(&apps, async |app| {
        let outboxes = Outboxes::of(context, *app).await?;
        Ok::<_, Refusal>(outboxes.erase(body.user_id.clone()).await?)
    })
    .await?;
    end_replays_of(context, publisher, body.user_id.clone(), None).await?;
    let (mut all, mut waiting) = (0_i64, 0_i64);
    for reply in &erased {
        let Erased { erased, waiting: still } = read_reply(reply)?;
        (all, waiting) = (all.saturating_add(erased), waiting.saturating_add(still));
    }
    Ok(json!({ "apps": apps.len(), "erased": all, "waiting": waiting, "cursor": next.map(Place::to_text) }))
}

/// Ends the replays whose filters name a user who is erased.
pub async fn end_replays_of(
    context: &RequestContext,
    publisher: &PublisherId,
    user_id: String,
    app: Option<AppId>,
) -> Result<(), CallError> {
    let end = EndReplaysOf { user_id, app };
    context.call(&activity::address(publisher), end).await.map(|Done {}| ())
}

#[derive(Deserialize)]
struct Erased {
    erased: i64,
    waiting: i64,
}

/// Returns a page of a user's conversions, with everything that is stored about these conversions.
async fn export(context: &RequestContext, publisher: &PublisherId, body: &UserBody) -> Result<Value, Refusal> {
    let mut before = body.place().and_then(|place| place.before);
    let (apps, mut next) = apps(context, publisher, body.place()).await?;
    let mut conversions: Vec<Box<RawValue>> = Vec::new();
    for app in apps {
        let limit = PAGE.saturating_sub(u32::try_from(conversions.len()).unwrap_or(PAGE));
        if limit == 0 {
            next = Some(Place { app, before: None });
            break;
        }
        let list = List {
            user_id: Some(body.user_id.clone()),
            limit,
            max_text: merge::MAX_TEXT,
            before: before.take(),
            ..List::default()
        };
        let outboxes = Outboxes::of(context, app).await?;
        let page = outboxes.list(&list).await?;
        for entry in page.conversions {
            let entry: ListedEntry = serde_json::from_str(entry.get()).map_err(|error| internal("users", error))?;
            // The story of a reward includes its reversals and notices.
            if entry.original_transaction_id.is_none() {
                conversions.push(read_reply(&outboxes.read_story(&entry.transaction_id).await?)?);
            }
        }
        if page.before.is_some() {
            next = Some(Place { app, before: page.before });
            break;
        }
    }
    Ok(json!({ "conversions": conversions, "cursor": next.map(Place::to_text) }))
}

#[derive(Deserialize)]
struct ListedEntry {
    transaction_id: String,
    #[serde(default)]
    original_transaction_id: Option<IgnoredAny>,
}

/// Reads up to [`APPS`] of the publisher's apps, beginning at a place. Also returns where the rest begins.
async fn apps(
    context: &RequestContext,
    publisher: &PublisherId,
    from: Option<Place>,
) -> Result<(Vec<AppId>, Option<Place>), Refusal> {
    // The catalog's page begins after the given id, so the id just before the place's app is sent.
    let after = from.and_then(|place| place.app.number().checked_sub(1)).map(|id| format!("{id:08}"));
    let page = AppNames { publisher_id: publisher.to_string(), after };
    let page: BTreeMap<String, IgnoredAny> = ask_catalog(context, page).await?;
    let mut found: Vec<_> = page.keys().filter_map(|id| AppId::parse(id)).collect();
    let next = found.get(APPS).map(|app| Place { app: *app, before: None });
    found.truncate(APPS);
    Ok((found, next))
}
