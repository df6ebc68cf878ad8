//! The Durable Objects: eight kinds, each with its own SQLite database. A kind uses no module of another kind; objects
//! call each other with the operations of [`contract`].
//!
//! Each kind is a module of the same shape:
//! - `object.rs`, the shell: parses a request, calls the service and answers. It exists only in Wasm. The shells of
//!   objects that take only commands are in this file;
//! - `service.rs`: orchestration over the [platform's traits](platform::traits), also run by the simulation;
//! - `sql.rs`: schema and statements;
//! - the rules, in files next to these: each rule is a function of the database, the time and a command.

pub mod accounts;
pub mod activity;
pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod ledger;
pub mod outbox;
pub mod postbacks;

/// The Durable Objects that take only commands.
#[cfg(target_arch = "wasm32")]
mod command_objects {
    use std::panic::RefUnwindSafe;

    use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

    use super::{
        accounts::service::AccountsService, activity::service::ActivityService, clicks::service::ClicksService,
        counters::service::CountersService, postbacks::service::PostbacksService,
    };
    use contract::counters::{BINDING, object_names};
    use domain::accounts;
    use platform::{
        durable::DurableDatabase,
        object_http::{command_in, respond},
        panics::panics_to_failure,
        workers::Workers,
    };

    macro_rules! command_object {
        ($(#[$doc:meta])* $object:ident($place:literal, $service:ident), $new:expr) => {
            $(#[$doc])*
            #[durable_object(alarm)]
            pub struct $object($service<DurableDatabase, Workers>);

            /// The service's shell is unwind-safe, and its settings never change.
            impl RefUnwindSafe for $object {}

            impl DurableObject for $object {
                fn new(state: State, env: Env) -> Self {
                    let new: fn(State, Env) -> $service<DurableDatabase, Workers> = $new;
                    Self(new(state, env))
                }

                async fn fetch(&self, request: Request) -> Result<Response> {
                    let reply = panics_to_failure(async { self.0.command(command_in(request).await?).await });
                    respond($place, reply.await)
                }

                async fn alarm(&self) -> Result<Response> {
                    self.0.alarm().await;
                    Response::empty()
                }
            }
        };
    }

    command_object!(
        /// The object of an account.
        Accounts("accounts", AccountsService),
        |state, env| {
            let workers = Workers::new(env);
            let mac = workers.setting(accounts::SETTING).unwrap_or_default();
            AccountsService::new(state.id().name(), DurableDatabase::new(&state), workers, mac)
        }
    );

    command_object!(
        /// The object of a publisher's activity, of the operator's attention, or of a register.
        Activity("activity", ActivityService),
        |state, env| {
            let workers = Workers::new(env);
            let settings = workers.clone();
            let (name, storage) = (state.id().name(), DurableDatabase::new(&state));
            ActivityService::new(name, storage, workers, |name| settings.setting(name))
        }
    );

    command_object!(
        /// An object of click records.
        Clicks("clicks", ClicksService),
        |state, env| ClicksService::new(state.id().name(), DurableDatabase::new(&state), Workers::new(env))
    );

    command_object!(
        /// An object of counters.
        Counters("counters", CountersService),
        |state, env| CountersService::new(own_name(&state, &env), DurableDatabase::new(&state), Workers::new(env))
    );

    command_object!(
        /// The object of an advertiser's postbacks.
        Postbacks("postbacks", PostbacksService),
        |state, env| PostbacksService::new(state.id().name(), DurableDatabase::new(&state), Workers::new(env))
    );

    /// Returns the name of a counters object. An object that its alarm starts knows only its id, so the id is compared
    /// with the ids of all names.
    fn own_name(state: &State, env: &Env) -> Option<String> {
        let id = state.id();
        id.name().or_else(|| {
            let counters = env.durable_object(BINDING).ok()?;
            object_names().find(|name| counters.id_from_name(name).is_ok_and(|named_id| named_id == id))
        })
    }
}
