//! The Durable Object of an account.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::service::AccountsService;
use domain::accounts;
use platform::{
    durable::DurableDatabase,
    object_http::{command_in, respond},
    panics::panics_to_failure,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Accounts {
    service: AccountsService<DurableDatabase, Workers>,
}

/// Its only field's shell is unwind-safe, and the setting beside it never changes.
impl RefUnwindSafe for Accounts {}

impl DurableObject for Accounts {
    fn new(state: State, env: Env) -> Self {
        let workers = Workers::new(env);
        let mac = workers.setting(accounts::SETTING).unwrap_or_default();
        let database = DurableDatabase::new(&state);
        Self {
            service: AccountsService::new(state.id().name(), database, workers, mac),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let reply = panics_to_failure(async { self.service.command(command_in(request).await?).await });
        respond("accounts", reply.await)
    }

    async fn alarm(&self) -> Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}
