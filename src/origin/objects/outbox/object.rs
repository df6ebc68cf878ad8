//! The outbox's Durable Object. A request's path names the shard, because an object does not know its own name when its
//! alarm starts it.

use std::{panic::RefUnwindSafe, rc::Rc};

use worker::{DurableObject, Env, Request, Response, State, durable_object};

use super::{callbacks::delivery_log::DeliveryLog, service::OutboxService};
use crate::delivery::callback_sender::CallbackSender;
use contract::outbox::OutboxShard;
use domain::model::common;
use platform::{
    durable::DurableDatabase,
    keyed_flights::KeyedFlights,
    object_http::{command_in, respond},
    panics_to_failure,
    workers::Workers,
};

#[durable_object(alarm)]
pub struct Outbox {
    service: Rc<OutboxService<DurableDatabase, Workers, DeliveryLog>>,
}

/// Cells are set in single steps that cannot panic, so the object stays consistent.
impl RefUnwindSafe for Outbox {}

impl DurableObject for Outbox {
    fn new(state: State, env: Env) -> Self {
        let workers = Workers::new(env);
        let sender = CallbackSender::new(|name| workers.setting(name));
        let database = DurableDatabase::new(&state);
        let (name, clicks) = (state.id().name(), KeyedFlights::default());
        Self { service: OutboxService::new(name, database, workers, DeliveryLog, sender, clicks) }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let reply = async {
            let shard = OutboxShard::parse_path(&request.path()).ok_or(common::NOT_FOUND)?;
            self.service.command(shard, command_in(request).await?).await
        };
        respond("outbox", panics_to_failure(reply).await)
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.service.alarm().await;
        Response::empty()
    }
}
