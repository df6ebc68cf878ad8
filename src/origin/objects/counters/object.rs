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

/// Its only field, the object's shell, is unwind-safe.
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

/// The object's name. An object that its alarm starts knows only its id, so the id is compared with those of all names.
fn own_name(state: &State, env: &Env) -> Option<String> {
    let id = state.id();
    id.name().or_else(|| {
        let counters = env.durable_object(BINDING).ok()?;
        object_names().find(|name| counters.id_from_name(name).is_ok_and(|named_id| named_id == id))
    })
}
