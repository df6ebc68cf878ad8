//! How an outbox is asked. Whose it is comes with each request, since an object that its alarm has started is not told
//! its name.

use std::time::Duration;

use serde::de::DeserializeOwned;
use worker::Env;

use super::{Answer, BINDING, Command, Conversion, object_name};
use crate::{
    catalog::AppId,
    origin::{
        call,
        catalog::terms::CallbackSettings,
        command::{CallError, Reply},
    },
};

/// A postback waits for the catalog and for a counter, five seconds each at most.
const TIMEOUT: Duration = Duration::from_secs(25);
/// The catalog has others to tell.
const TELL_TIMEOUT: Duration = Duration::from_secs(5);

/// Whose outbox a request is for.
pub(super) fn app_of(path: &str) -> Option<AppId> {
    AppId::parse(path.strip_prefix('/')?)
}

async fn ask<R: DeserializeOwned>(
    env: &Env,
    app: AppId,
    command: &Command,
    timeout: Duration,
) -> Result<R, CallError> {
    let namespace = env.durable_object(BINDING).map_err(call::broken)?;
    call::call_at(&namespace, &object_name(app), &address(app), command, timeout).await
}

fn address(app: AppId) -> String {
    format!("https://outbox/{app}")
}

/// Hands a postback on.
pub async fn convert(env: &Env, conversion: Conversion) -> Result<Answer, CallError> {
    let app = conversion.click.app;
    ask(env, app, &Command::Convert(Box::new(conversion)), TIMEOUT).await
}

/// Carries out an operator's command.
pub async fn operate(env: &Env, app: AppId, command: &Command) -> Result<Reply, CallError> {
    operate_within(env, app, command, TIMEOUT).await
}

/// The same, for who has others to ask.
pub async fn operate_within(
    env: &Env,
    app: AppId,
    command: &Command,
    timeout: Duration,
) -> Result<Reply, CallError> {
    ask(env, app, command, timeout).await
}

/// Tells an outbox of its app's callback as it is now.
pub async fn tell(env: &Env, app: AppId, settings: &CallbackSettings) -> Result<(), CallError> {
    let command = Command::Settings(settings.clone());
    let _: serde_json::Value = ask(env, app, &command, TELL_TIMEOUT).await?;
    Ok(())
}
