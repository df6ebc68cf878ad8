//! The counters' Durable Object.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::service::CountersService;
use contract::counters::{BINDING, object_names};
use platform::{
    durable::DurableDatabase,
    object_http::{command_in, respond},
    panics::panics_to_failure,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Counters {
    service: CountersService<DurableDatabase, Workers>,
}

/// The shell is unwind-safe, and there is nothing else.
impl RefUnwindSafe for Counters {}

impl DurableObject for Counters {
    fn new(state: State, env: Env) -> Self {
        let name = own_name(&state, &env);
        Self {
            service: CountersService::new(name, DurableDatabase::new(&state), Workers::new(env)),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let reply = panics_to_failure(async { self.service.command(command_in(request).await?).await });
        respond("counters", reply.await)
    }

    async fn alarm(&self) -> Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}

/// An object that its alarm has started is not told its name; but it knows its id, and the id of each name there is.
fn own_name(state: &State, env: &Env) -> Option<String> {
    let id = state.id();
    id.name().or_else(|| {
        let counters = env.durable_object(BINDING).ok()?;
        object_names().find(|name| counters.id_from_name(name).is_ok_and(|of_name| of_name == id))
    })
}
