//! The Durable Object of an advertiser's postbacks.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::service::PostbacksService;
use platform::{
    durable::DurableDatabase,
    object_http::{command_in, respond},
    panics::panics_to_failure,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Postbacks {
    service: PostbacksService<DurableDatabase, Workers>,
}

/// Its only field, the object's shell, is unwind-safe.
impl RefUnwindSafe for Postbacks {}

impl DurableObject for Postbacks {
    fn new(state: State, env: Env) -> Self {
        Self {
            service: PostbacksService::new(
                state.id().name(),
                DurableDatabase::new(&state),
                Workers::new(env),
            ),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let reply = panics_to_failure(async { self.service.command(command_in(request).await?).await });
        respond("postbacks", reply.await)
    }

    async fn alarm(&self) -> Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}
