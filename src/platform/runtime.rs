//! Functions of the Workers runtime: time, randomness, configuration, timeouts.

use std::time::Duration;

use futures_util::{
    FutureExt, Stream, StreamExt,
    future::{Either, select},
};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{Delay, Env};

use domain::model::seeded_hash;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
}

/// Milliseconds since the Unix epoch. In production the clock stands still between two I/O events.
pub fn now_ms() -> i64 {
    whole_ms(js_sys::Date::now())
}

/// Converts a time from JavaScript. An f64 represents whole milliseconds for 285,000 years.
pub fn whole_ms(now_ms: f64) -> i64 {
    now_ms as i64
}

/// 32 random bytes.
///
/// # Errors
/// The runtime provides randomness only while it serves a request or an alarm.
pub fn random() -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    match get_random_values(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!("no randomness: {error:?}")),
    }
}

/// Generates the hash seed of the isolate, once. Must be called during a request, before the first seeded map is
/// created. Without randomness, the next call tries again.
pub fn draw_seed() {
    if seeded_hash::seed() == 0
        && let Ok(random) = random()
        && let Some((seed, _)) = random.split_first_chunk()
    {
        seeded_hash::set_seed(u64::from_le_bytes(*seed));
    }
}

/// A plain text binding or secret. An unset binding is `undefined` on Cloudflare and `null` on workerd.
pub fn binding(env: &Env, name: &str) -> Option<String> {
    js_sys::Reflect::get(env, &name.into()).ok()?.as_string()
}

/// Waits for a future for at most `time`, and then drops it.
pub fn with_timeout<T>(time: Duration, future: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    select(Box::pin(future), Delay::from(time)).map(move |first| match first {
        Either::Left((value, _)) => Ok(value),
        Either::Right(_) => Err(format!("no answer within {time:?}")),
    })
}

/// The number of a body's chunks that are read before yielding to the event loop.
const CHUNKS: u32 = 64;

/// Wraps a body so that reading it yields to the event loop. workerd polls sockets and timers only when it is idle, so
/// without yielding, one-byte chunks that arrive as fast as they are read would delay every timeout.
pub fn yielding<S: Stream>(body: S) -> impl Stream<Item = S::Item> + Unpin {
    let mut read = 0_u32;
    Box::pin(body.then(move |chunk| {
        read = read.wrapping_add(1);
        let yields = read.is_multiple_of(CHUNKS);
        async move {
            if yields {
                Delay::from(Duration::ZERO).await;
            }
            chunk
        }
    }))
}
