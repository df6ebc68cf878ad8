//! What the Workers runtime gives: the time, randomness, and the values it was configured with.

use std::{pin::pin, time::Duration};

use futures_util::future::{Either, select};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{Delay, Env};

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

/// A binding of plain text, or a secret. One that is not set is `undefined` on Cloudflare and `null` on workerd.
pub fn binding(env: &Env, name: &str) -> Option<String> {
    js_sys::Reflect::get(env, &name.into()).ok()?.as_string()
}

/// What a future comes to, if it does so in time; it is dropped if not.
pub async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Result<T, String> {
    match select(pin!(future), pin!(Delay::from(time))).await {
        Either::Left((value, _)) => Ok(value),
        Either::Right(_) => Err(format!("no answer within {time:?}")),
    }
}
