//! Runs the work that a click of the fast path defers until after its answer. The work runs within the lifetime of the
//! click's request. `entry.js` takes the tasks, waits, and calls [`run_task`]. JavaScript does the waiting, so that V8
//! compiles no code of a task before the click is answered.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use js_sys::Promise;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::future_to_promise;
use worker::Env;

use crate::{click_flush, isolate::Isolate, snapshots, tasks::Task};
use platform::{log_panics, workers::Workers};

/// Takes the tasks of the click that was just answered. Each task is two numbers: the milliseconds to wait, and the
/// task's id for [`run_task`].
#[wasm_bindgen]
pub fn take_tasks() -> Option<Vec<f64>> {
    let tasks = Isolate::existing()?.tasks.take();
    let numbers = tasks.iter().flat_map(|task| [task.wait_ms as f64, task.id as f64]);
    (!tasks.is_empty()).then(|| numbers.collect())
}

/// Runs a task of [`take_tasks`] after its wait. Logs a panic in the task.
#[wasm_bindgen]
pub fn run_task(env: Env, id: f64) -> Promise {
    let task = log_panics("background", async move {
        let Some(isolate) = Isolate::existing() else {
            return;
        };
        let (workers, id) = (Workers::new(env), id as u64);
        if id == Task::REVALIDATE.id {
            snapshots::revalidate_and_tell(&workers, &isolate).await;
        } else {
            click_flush::send_if_open(&workers, &isolate, id).await;
        }
    });
    future_to_promise(AssertUnwindSafe(task.map(|()| Ok(JsValue::UNDEFINED))))
}
