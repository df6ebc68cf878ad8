//! The catalog's Durable Object.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::service::{CatalogService, Settings};
use contract::catalog::{COMMAND_PATH, IMPORT_CHECK_PATH, IMPORT_PATH, REFRESH_PATH};
use domain::{
    callbacks::guard::Guard,
    conversions::token,
    model::{
        MacKeys, Vault,
        credentials::{EDGE_KEYS, STORE_KEYS},
    },
};
use platform::{
    Result,
    durable::DurableDatabase,
    object_http::{answer, command_in, fail, respond},
    panics_to_failure, runtime,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Catalog {
    service: CatalogService<DurableDatabase, Workers>,
}

/// Cells are set in single steps and a panic releases the lock, so the object stays consistent.
impl RefUnwindSafe for Catalog {}

impl DurableObject for Catalog {
    fn new(state: State, env: Env) -> Self {
        let workers = Workers::new(env);
        let vault = |setting| Vault::parse(setting, &workers.setting(setting).unwrap_or_default());
        let settings = Settings {
            vault: vault(STORE_KEYS),
            edge_vault: vault(EDGE_KEYS),
            token_mac: MacKeys::parse(token::SETTING, &workers.setting(token::SETTING).unwrap_or_default()),
            guard: Guard::from_config(|name| workers.setting(name)),
        };
        Self { service: CatalogService::new(state.id().name(), DurableDatabase::new(&state), workers, settings) }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let path = request.path();
        let service = &self.service;
        let answered = match path.as_str() {
            COMMAND_PATH => {
                let reply = async { service.command(command_in(request).await?).await };
                return respond("catalog", panics_to_failure(reply).await);
            }
            REFRESH_PATH => return respond("catalog", panics_to_failure(service.refresh()).await),
            IMPORT_PATH => panics_to_failure(self.import(request, false)).await,
            IMPORT_CHECK_PATH => panics_to_failure(self.import(request, true)).await,
            path => panics_to_failure(async { Ok(Response::from_bytes(service.value(path).await?)?) }).await,
        };
        answered.or_else(|failure| fail("catalog", failure))
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}

impl Catalog {
    async fn import(&self, mut request: Request, is_dry_run: bool) -> Result<Response> {
        let chunks = match request.inner().body() {
            Some(_) => Some(runtime::yielding(request.stream()?)),
            None => None,
        };
        let reply = self.service.import(chunks, is_dry_run).await?;
        Ok(answer(reply.status, reply.body.into_bytes())?)
    }
}
