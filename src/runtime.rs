//! What the Workers runtime gives: the time, randomness, and the values it was configured with; and that a panic ends
//! where it is caught.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
    time::Duration,
};

use futures_util::{
    FutureExt, Stream, StreamExt,
    future::{Either, select},
};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::spawn_local;
use worker::{Delay, Env};

use crate::{log, spread};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
}

/// Milliseconds since the Unix epoch. In production it stands still between two I/O events.
pub fn now_ms() -> i64 {
    whole_ms(js_sys::Date::now())
}

/// A time from JavaScript. An f64 holds whole milliseconds for 285,000 years.
pub fn whole_ms(now_ms: f64) -> i64 {
    now_ms as i64
}

/// 32 random bytes. The runtime gives them only while it serves a request or an alarm.
///
/// # Errors
/// The runtime's, outside of a request: nothing may be issued or sealed without randomness.
pub fn random() -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    match get_random_values(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!("no randomness: {error:?}")),
    }
}

/// Draws what hash tables are spread by, once in a process. To be called before the first of them is made, while a request
/// is served: without randomness it is left for the next call.
pub fn draw_seed() {
    if spread::seed() == 0
        && let Ok(random) = random()
        && let Some((seed, _)) = random.split_first_chunk()
    {
        spread::set_seed(u64::from_le_bytes(*seed));
    }
}

/// A binding of plain text, or a secret. One that is not set is `undefined` on Cloudflare and `null` on workerd.
pub fn binding(env: &Env, name: &str) -> Option<String> {
    js_sys::Reflect::get(env, &name.into()).ok()?.as_string()
}

/// What a future comes to, if it does so in time; it is dropped if not.
///
/// Like the others here that take a future it is no `async fn`, which would keep room for the future twice, as its argument
/// and as what it waits for: nested four deep, that was 23 KB for each request that waits, and is 3.
pub fn within<T>(time: Duration, future: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    select(Box::pin(future), Delay::from(time)).map(move |first| match first {
        Either::Left((value, _)) => Ok(value),
        Either::Right(_) => Err(format!("no answer within {time:?}")),
    })
}

/// So many chunks of a body are read at a time.
const CHUNKS: u32 = 64;

/// A body that leaves others their turn. workerd looks at its sockets and timers once nothing else is left to do, and chunks
/// of a byte each that come as fast as they are read leave it something to do: no time limit would go off before they end.
pub fn in_turns<S: Stream>(body: S) -> impl Stream<Item = S::Item> + Unpin {
    let mut read = 0_u32;
    Box::pin(body.then(move |chunk| {
        read = read.wrapping_add(1);
        let is_turn_over = read.is_multiple_of(CHUNKS);
        async move {
            if is_turn_over {
                Delay::from(Duration::ZERO).await;
            }
            chunk
        }
    }))
}

/// Runs what may panic; `Err` says what the panic said. What the work borrowed or locked is free again.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(&*panic))
}

/// The same for what waits: each of its steps is caught.
pub fn caught_async<T>(work: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    let mut work = Box::pin(work);
    poll_fn(move |context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
}

/// Has work go on by itself. A panic that reached the queue of tasks would leave those behind it, which may be anybody's,
/// waiting for the next event.
pub fn go_beside(name: &'static str, work: impl Future<Output = ()> + 'static) {
    spawn_local(looked_after(name, work));
}

/// Work that nobody waits for: a panic in it is logged, and is no one else's.
pub fn looked_after(name: &'static str, work: impl Future<Output = ()>) -> impl Future<Output = ()> {
    caught_async(work).map(move |done| {
        if let Err(panic) = done {
            log::error(name, panic);
        }
    })
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("panic: {message}")
}
