//! The list of what a click of the fast path leaves to do after its answer. [`background`](crate::background) runs it.

use std::cell::RefCell;

use domain::tracking::click_counts::Duty;

/// A task and the time to wait before it, in milliseconds.
#[derive(Clone, Copy)]
pub struct Task {
    pub wait_ms: i64,
    /// [`SEND_NOW`](Self::SEND_NOW), [`REVALIDATE`](Self::REVALIDATE), or the number of the batch of counts to send if it
    /// is still open. These are below 2^53, which JavaScript's numbers hold.
    pub id: i64,
}

impl Task {
    /// Reads the pointer.
    pub const REVALIDATE: Self = Self { wait_ms: 0, id: -1 };
    /// Sends the due batches of counts. Batches are numbered from 1.
    pub const SEND_NOW: Self = Self { wait_ms: 0, id: 0 };

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
