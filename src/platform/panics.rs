//! Containment of panics: a panic costs only the request or task in which it happened.

use std::{
    any::Any,
    cell::Cell,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use futures_util::{FutureExt, future::LocalBoxFuture};

use crate::{Result, failure::Failure, log};

thread_local! {
    static CAUGHT: Cell<u64> = const { Cell::new(0) };
}

/// The number of panics caught in this isolate.
pub fn count() -> u64 {
    CAUGHT.get()
}

/// Counts a panic of the fast path, which JavaScript catches.
pub fn add() {
    CAUGHT.set(CAUGHT.get() + 1);
}

/// Runs code that may panic; `Err` is the panic's message. Unwinding releases the code's borrows and locks.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        add();
        message(&*panic)
    })
}

/// Like [`catch_panic`], for a future: catches panics in each of its polls.
///
/// None of these functions is an `async fn`: the compiler would store the argument and the awaited future. Nested four
/// deep, that takes 23 KB instead of 3 KB for each waiting request. The future is a trait object. So V8 compiles one
/// function for each type of result on the first request, and not one for each future.
pub fn catch_panics<'w, T: 'w>(work: impl Future<Output = T> + 'w) -> impl Future<Output = Result<T, String>> + 'w {
    let mut work: LocalBoxFuture<'w, T> = Box::pin(work);
    poll_fn(move |context| match catch_panic(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
}

/// Converts a panic to a [`Failure`].
pub fn panic_to_failure<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(work).unwrap_or_else(|panic| Err(Failure::Internal(panic)))
}

/// Like [`panic_to_failure`], for a future.
pub fn panics_to_failure<'w, T: 'w>(
    work: impl Future<Output = Result<T>> + 'w,
) -> impl Future<Output = Result<T>> + 'w {
    catch_panics(work).map(|done| done.unwrap_or_else(|panic| Err(Failure::Internal(panic))))
}

/// Wraps a background task: a panic in it is logged under `place`. A panic that reached the runtime's task queue would
/// delay the queue's other tasks until the next event.
pub fn log_panics<'t>(place: &'static str, task: impl Future<Output = ()> + 't) -> impl Future<Output = ()> + 't {
    catch_panics(task).map(move |done| {
        if let Err(panic) = done {
            log::error(place, panic);
        }
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("panic: {message}")
}
