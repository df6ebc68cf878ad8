//! The HTTP interfaces of the origin Worker: those of the operator, the dashboard, the console and a publisher's keys,
//! and the test page.

pub mod access;
#[cfg(target_arch = "wasm32")]
mod alarms;
#[cfg(target_arch = "wasm32")]
mod api_key;
#[cfg(target_arch = "wasm32")]
mod calls;
#[cfg(target_arch = "wasm32")]
mod clicks;
pub mod comparison;
pub mod config;
#[cfg(target_arch = "wasm32")]
mod console;
#[cfg(target_arch = "wasm32")]
mod dashboard;
#[cfg(target_arch = "wasm32")]
mod day_changes;
pub mod description;
#[cfg(target_arch = "wasm32")]
mod entry;
pub mod formats;
pub mod handlers;
#[cfg(target_arch = "wasm32")]
mod health;
#[cfg(target_arch = "wasm32")]
mod isolate;
pub mod limits;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod offer_names;
#[cfg(target_arch = "wasm32")]
mod operator;
#[cfg(target_arch = "wasm32")]
mod refusal;
pub mod reward_changes;
#[cfg(target_arch = "wasm32")]
mod rewards;
pub mod routes;
pub mod site;
#[cfg(target_arch = "wasm32")]
mod test_apps;
#[cfg(target_arch = "wasm32")]
mod test_page;
#[cfg(target_arch = "wasm32")]
mod users;

#[cfg(target_arch = "wasm32")]
use self::{
    isolate::RequestContext,
    refusal::{HandlerResult, Refusal},
};
