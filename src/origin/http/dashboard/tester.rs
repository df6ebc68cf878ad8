//! An app's callback: tests the saved callback, previews a draft without sending it, and enables a disabled endpoint.

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::{own_app, visitor::Visit};
use crate::{
    delivery::callback_sender::CallbackSender,
    http::{
        HandlerResult,
        calls::{internal, read_document},
        site::outboxes::Outboxes,
    },
    objects::outbox::callbacks::tester::NO_CALLBACK,
};
use contract::{
    accounts::AnnouncedChange,
    catalog::AppSettings,
    outbox::{Diagnose, OutboxShard},
};
use domain::{
    callbacks::{
        diagnosis,
        fields::Status,
        request::Endpoint,
        settings::{Callback, CallbackMethod, LegacyMd5},
        signature::SignWith,
        tester::{self, ShownRequest},
    },
    catalog::app::check_callback,
    model::{ApiError, Document, FieldError, SECOND_MS},
};
use platform::{Random, http::Answer};

const MAX_BODY: usize = 8 << 10;

/// The secret that signs previews instead of the app's secrets.
const PLACEHOLDER: &str = "whsec_cHJldmlldy1wcmV2aWV3LXByZXZpZXct";

#[derive(Deserialize)]
struct TestBody {
    sign_with: SignWith,
}

impl Document for TestBody {}

#[derive(Deserialize)]
struct PreviewBody {
    callback: Draft,
}

/// A callback as a publisher writes it. The service generates its secrets.
#[derive(Deserialize)]
struct Draft {
    url: String,
    method: CallbackMethod,
    events: Option<Vec<Status>>,
}

impl Document for PreviewBody {}

/// `POST …/callback/test`: sends a test to the saved URL.
pub async fn test(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let (app, settings): (_, AppSettings) = own_app::read(visit.context, visit, visit.segments).await?;
    let TestBody { sign_with } = read_document(&mut request, MAX_BODY).await?;
    if settings.callback.sealed.is_none() {
        return Err(NO_CALLBACK.into());
    }
    let announced = AnnouncedChange::TestCallback { app_id: app, sign_with };
    let outbox = OutboxShard { app, number: 0 }.address();
    let diagnose = Diagnose { currency: settings.currency, callback: settings.callback, sign_with };
    let test = visit.context.call(&outbox, diagnose);
    Ok(visit.act(announced, test).await?.into())
}

/// `POST …/callback/enable`: enables a disabled endpoint, and sends the waiting callbacks.
pub async fn enable(visit: &Visit<'_>) -> HandlerResult {
    let (app_id, settings): (_, AppSettings) = own_app::read(visit.context, visit, visit.segments).await?;
    if settings.callback.sealed.is_none() {
        return Err(NO_CALLBACK.into());
    }
    let announced = AnnouncedChange::EnableCallback { app_id };
    let outboxes = Outboxes::new(visit.context, app_id, settings);
    visit.act(announced, outboxes.enable()).await?;
    Ok(Answer::new(204))
}

/// `POST …/callback/preview`: the request that a draft would make, signed with a placeholder.
pub async fn preview(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let (app, settings): (_, AppSettings) = own_app::read(visit.context, visit, visit.segments).await?;
    let PreviewBody { callback: draft } = read_document(&mut request, MAX_BODY).await?;
    let context = visit.context;
    let sender = CallbackSender::new(|name| context.workers.setting(name));
    let saved = sender.endpoint(app, &settings.callback);
    let saved = saved.map_err(|failure| internal("dashboard", failure))?;
    let has_legacy = saved.is_some_and(|saved| saved.has_legacy_md5());
    let callback = Callback {
        url: draft.url,
        method: draft.method,
        secret: PLACEHOLDER.into(),
        previous_secret: None,
        legacy_md5: has_legacy.then(|| LegacyMd5 { secret: PLACEHOLDER.into() }),
        events: draft.events,
    };
    check_callback(&callback).map_err(ApiError::from)?;
    let refused = |problem| ApiError::from(FieldError::new("callback.url", problem));
    sender.guard.check(&callback.url).map_err(refused)?;
    let endpoint = Endpoint::parse(&callback).map_err(ApiError::from)?;
    let random = context.workers.random();
    let random = random.map_err(|error| internal("dashboard", error))?;
    let now_s = context.now_ms.div_euclid(SECOND_MS);
    let fields = tester::fields(app, &settings.currency, &random, now_s);
    let request = tester::request(&endpoint, &fields, SignWith::Both, &random, now_s);
    let shown = ShownRequest::new(&endpoint, &request, &fields, now_s);
    let body = json!({ "request": shown, "findings": diagnosis::of_url(&endpoint) });
    Ok(Answer::json(200, body.to_string()))
}
