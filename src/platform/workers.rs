//! The [traits](crate::traits) on the Workers runtime.

use std::time::Duration;

use wasm_bindgen_futures::spawn_local;
use worker::{Delay, Env, kv::KvStore};

use crate::{
    http_call::{self, HttpCall},
    object_call,
    panics::log_panics,
    runtime,
    traits::{Clock, Http, Kv, ObjectCall, Random, Sleep, Spawn},
};
use contract::{
    kv,
    operation::{CallError, ObjectAddress, Operation},
};
use domain::callbacks::request::Request;
use url::Url;

const KV_READ_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout of a write to KV, for a value of up to 25 MiB. Without one, a write that hangs would hold up every
/// publication until the alarm's own limit of 15 minutes.
const KV_WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The runtime of a Worker or an object, with its bindings.
#[derive(Clone)]
pub struct Workers {
    pub env: Env,
}

impl Workers {
    /// Also generates the hash seed if there is none yet.
    pub fn new(env: Env) -> Self {
        runtime::draw_seed();
        Self { env }
    }

    /// A plain text binding or secret; `None` if it is unset or empty.
    pub fn setting(&self, name: &str) -> Option<String> {
        runtime::binding(&self.env, name).filter(|text| !text.is_empty())
    }

    fn kv(&self) -> Result<KvStore, String> {
        self.env.kv(kv::BINDING).map_err(|error| error.to_string())
    }
}

impl Clock for Workers {
    fn now_ms(&self) -> i64 {
        runtime::now_ms()
    }
}

impl Random for Workers {
    fn random(&self) -> Result<[u8; 32], String> {
        runtime::random()
    }
}

impl Sleep for Workers {
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> {
        Delay::from(time)
    }
}

impl Spawn for Workers {
    fn spawn(&self, place: &'static str, task: impl Future<Output = ()> + 'static) {
        spawn_local(log_panics(place, task));
    }
}

impl ObjectCall for Workers {
    fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> impl Future<Output = Result<O::Answer, CallError>> {
        object_call::call(&self.env, to, operation, timeout)
    }
}

impl Kv for Workers {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let kv = self.kv()?;
        let value = runtime::with_timeout(KV_READ_TIMEOUT, kv.get(key).bytes()).await?;
        value.map_err(|error| error.to_string())
    }

    async fn put(&self, key: &str, bytes: &[u8]) -> Result<(), String> {
        let put = self.kv()?.put_bytes(key, bytes).map_err(|error| error.to_string())?;
        let put = runtime::with_timeout(KV_WRITE_TIMEOUT, put.execute()).await?;
        put.map_err(|error| error.to_string())
    }

    async fn delete(&self, key: &str) -> Result<(), String> {
        let kv = self.kv()?;
        let deleted = runtime::with_timeout(KV_WRITE_TIMEOUT, kv.delete(key)).await?;
        deleted.map_err(|error| error.to_string())
    }
}

impl Http for Workers {
    fn send(&self, request: &Request, timeout: Duration) -> impl Future<Output = HttpCall> {
        http_call::send(request, timeout)
    }

    fn opens(&self, url: &Url, timeout: Duration) -> impl Future<Output = bool> {
        http_call::opens(url, timeout)
    }
}
