//! The Durable Object of a publisher's activity.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::service::ActivityService;
use platform::{
    durable::DurableDatabase,
    object_http::{command_in, respond},
    panics::panics_to_failure,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Activity {
    service: ActivityService<DurableDatabase, Workers>,
}

/// Its only field, the object's shell, is unwind-safe.
impl RefUnwindSafe for Activity {}

impl DurableObject for Activity {
    fn new(state: State, env: Env) -> Self {
        Self {
            service: ActivityService::new(state.id().name(), DurableDatabase::new(&state), Workers::new(env)),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let reply = panics_to_failure(async { self.service.command(command_in(request).await?).await });
        respond("activity", reply.await)
    }

    async fn alarm(&self) -> Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}
