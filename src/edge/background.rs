//! Work that a click of the fast path leaves to do after its answer, in the lifetime of its request. `entry.js` asks for
//! the tasks, waits, and calls [`run_task`]. The wait is in JavaScript, so that V8 compiles nothing of a task before the
//! click is answered.

use std::{cell::RefCell, panic::AssertUnwindSafe};

use futures_util::FutureExt;
use js_sys::Promise;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::future_to_promise;
use worker::Env;

use crate::{click_flush, isolate::Isolate, snapshots};
use domain::tracking::click_counts::Duty;
use platform::{panics::log_panics, workers::Workers};

/// A task and the time to wait before it, in milliseconds.
#[derive(Clone, Copy)]
pub struct Task {
    wait_ms: i64,
    /// [`SEND_NOW`](Self::SEND_NOW), [`REVALIDATE`](Self::REVALIDATE), or the number of the batch of counts to send if it
    /// is still open. These are below 2^53, which JavaScript's numbers hold.
    id: i64,
}

impl Task {
    /// Reads the pointer.
    pub const REVALIDATE: Self = Self { wait_ms: 0, id: -1 };
    /// Sends the due batches of counts. Batches are numbered from 1.
    const SEND_NOW: Self = Self { wait_ms: 0, id: 0 };

    /// The task of a click that has this part in sending its batch.
    pub fn of_duty(duty: Duty) -> Option<Self> {
        match duty {
            Duty::None => None,
            Duty::SendNow => Some(Self::SEND_NOW),
            Duty::SendAfter { wait_ms, batch } => Some(Self {
                wait_ms,
                id: i64::try_from(batch).unwrap_or(Self::SEND_NOW.id),
            }),
        }
    }
}

/// The tasks of the click that was just answered.
#[derive(Default)]
pub struct Background(RefCell<Vec<Task>>);

impl Background {
    pub fn add(&self, task: Option<Task>) {
        if let Some(task) = task {
            self.0.borrow_mut().push(task);
        }
    }
}

/// Takes the tasks of the click that was just answered: for each the milliseconds to wait, and its number for
/// [`run_task`].
#[wasm_bindgen]
pub fn tasks() -> Option<Vec<f64>> {
    let isolate = Isolate::existing()?;
    let mut tasks = isolate.background.0.borrow_mut();
    if tasks.is_empty() {
        return None;
    }
    let numbers = tasks.drain(..).flat_map(|task| [task.wait_ms, task.id]);
    Some(numbers.map(|number| number as f64).collect())
}

/// Runs a task of [`tasks`] after its wait. A panic in it is logged.
#[wasm_bindgen]
pub fn run_task(env: Env, id: f64) -> Promise {
    let task = log_panics("background", async move {
        let Some(isolate) = Isolate::existing() else {
            return;
        };
        let (workers, id) = (Workers::new(env), id as i64);
        if id == Task::REVALIDATE.id {
            snapshots::revalidate(&workers, &isolate).await;
        } else if id == Task::SEND_NOW.id || isolate.counts.borrow().is_open(id.unsigned_abs()) {
            click_flush::send(&workers, &isolate).await;
        }
    });
    future_to_promise(AssertUnwindSafe(task.map(|()| Ok(JsValue::UNDEFINED))))
}
