//! The tasks that a click of the fast path defers until after its answer. [`background`](crate::background) runs them.

use std::cell::RefCell;

use domain::tracking::click_counts::Duty;

/// A task and the time to wait before it.
#[derive(Clone, Copy)]
pub struct Task {
    /// The time to wait, in milliseconds.
    pub wait_ms: i64,
    /// The number of the batch of counts to send, which is at least 1, or the id of [`REVALIDATE`](Self::REVALIDATE).
    /// It is below 2^53, so JavaScript represents it exactly.
    pub id: u64,
}

impl Task {
    /// Reads the pointer, after the answer of the click.
    pub const REVALIDATE: Self = Self { wait_ms: 1, id: 0 };

    /// Returns the task of a click with this duty.
    pub fn of_duty(duty: Duty) -> Option<Self> {
        match duty {
            Duty::None => None,
            Duty::Send { wait_ms, batch } => Some(Self { wait_ms, id: batch }),
        }
    }
}

/// The tasks of the click that was just answered.
#[derive(Default)]
pub struct Tasks(RefCell<Vec<Task>>);

impl Tasks {
    pub fn add(&self, task: Option<Task>) {
        if let Some(task) = task {
            self.0.borrow_mut().push(task);
        }
    }

    pub fn take(&self) -> Vec<Task> {
        self.0.take()
    }
}
