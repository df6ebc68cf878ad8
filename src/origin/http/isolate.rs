//! The memory of an isolate of the origin Worker, without the memory of its objects.

use std::{cell::RefCell, rc::Rc};

use crate::http::{
    config::Config,
    limits::{Pools, TIMEOUT},
};
use contract::operation::{CallError, ObjectAddress, Operation};
use platform::{
    ObjectCall,
    http::traffic::{Count, Traffic},
    isolate_metrics, runtime,
    workers::Workers,
};
use worker::Env;

/// Shared by all requests of an isolate.
pub struct Isolate {
    pub config: Config,
    pub pools: Pools,
    pub traffic: Traffic,
}

thread_local! {
    static ISOLATE: RefCell<Option<Rc<Isolate>>> = const { RefCell::new(None) };
}

/// One request's bindings, its isolate, and the time of its arrival.
pub struct RequestContext {
    pub workers: Workers,
    pub isolate: Rc<Isolate>,
    pub now_ms: i64,
}

impl RequestContext {
    /// # Errors
    /// The configuration is invalid.
    pub fn new(env: Env) -> Result<Self, String> {
        let workers = Workers::new(env);
        Ok(Self { isolate: Isolate::current(&workers)?, workers, now_ms: runtime::now_ms() })
    }

    /// Sends an operation to an object, with [`TIMEOUT`].
    ///
    /// # Errors
    /// The errors of [`ObjectCall::call`].
    pub async fn call<O: Operation>(&self, to: &ObjectAddress, operation: O) -> Result<O::Answer, CallError> {
        self.workers.call(to, operation, TIMEOUT).await
    }
}

/// Returns how many requests each pool of this isolate rejected. The objects in this isolate have no such counts.
fn counts() -> Vec<Count> {
    let isolate = ISOLATE.with_borrow(Clone::clone);
    isolate.iter().flat_map(|isolate| isolate.pools.shed()).collect()
}

impl Isolate {
    fn current(workers: &Workers) -> Result<Rc<Self>, String> {
        if let Some(isolate) = ISOLATE.with_borrow(Clone::clone) {
            return Ok(isolate);
        }
        let isolate = Rc::new(Self {
            config: Config::read(|name| workers.setting(name))?,
            pools: Pools::default(),
            traffic: Traffic::default(),
        });
        ISOLATE.set(Some(Rc::clone(&isolate)));
        isolate_metrics::include(counts);
        Ok(isolate)
    }
}
