//! The memory of one isolate between requests. It is a cache and a batch of counts: all of it may vanish at any moment, and
//! is built anew.
//!
//! No borrow is held over an `await`: requests interleave there. And no request waits for another's future, since the
//! runtime drops a task that another request wakes; they share finished values only.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use worker::{Context, Env};

use crate::{
    byte_cache::ByteCache,
    config::Config,
    health::Reach,
    limits::Pools,
    metrics::EdgeTraffic,
    offers::{PageKey, Rendered},
    rate_limit::RateLimiter,
};
use domain::{
    catalog::snapshot::{bodies::Chunk, tracking::Tracking},
    offers::selection::Selector,
    tracking::{
        click_counts::ClickCounts,
        click_id::{Nonce, NonceSource},
    },
};
use platform::{runtime, workers::Workers};

/// The bodies an isolate keeps, in bytes: all of the 20,000 offers that Signpost plans for, which take 30 MB, since a page
/// that nobody asked for before takes twenty of any. With the two snapshots (some 5 MB and 1 MB at that size and 5,000
/// apps, twice that while a new one comes in) and the pages this stays below 48 MiB.
const CHUNK_BUDGET: usize = 32 << 20;
/// The rendered pages an isolate keeps, in bytes. Few: made of bodies in memory, a page is soon made again.
const PAGE_BUDGET: usize = 4 << 20;

pub struct Isolate {
    pub config: Config,
    /// Tells this isolate's batches of counts from all others'.
    pub id: String,
    pub tracking: SnapshotSlot<Tracking>,
    pub listing: SnapshotSlot<Selector>,
    /// When the pointer was last asked for.
    pub revalidated_at_ms: Cell<i64>,
    pub chunks: ByteCache<String, Chunk>,
    pub pages: ByteCache<PageKey, Rendered>,
    pub rate_limiter: RateLimiter,
    pub pools: Pools,
    pub counts: RefCell<ClickCounts>,
    nonces: RefCell<NonceSource>,
    /// Offers whose click cap is spent: for which day, under which revision of the offer.
    pub spent: RefCell<HashMap<String, (i64, i64)>>,
    pub traffic: EdgeTraffic,
    /// What is known of the objects.
    pub reach: Reach,
}

/// The place of a snapshot in an isolate.
pub struct SnapshotSlot<T> {
    value: RefCell<Option<Rc<T>>>,
    /// When the catalog last said that this is its newest, in milliseconds.
    pub confirmed_at_ms: Cell<i64>,
    /// Until when a request is loading the first one, so that others wait for it rather than load their own.
    pub loading_until_ms: Cell<i64>,
    /// Until when nobody tries again, after neither KV nor the catalog had one.
    pub refused_until_ms: Cell<i64>,
}

impl<T> SnapshotSlot<T> {
    fn empty() -> Self {
        Self {
            value: RefCell::new(None),
            confirmed_at_ms: Cell::new(0),
            loading_until_ms: Cell::new(0),
            refused_until_ms: Cell::new(0),
        }
    }

    /// Whether there is none yet, and a request is loading the first.
    pub fn is_awaited(&self, now_ms: i64) -> bool {
        self.value.borrow().is_none() && self.loading_until_ms.get() > now_ms
    }

    /// Whether it was just found that there is none to load.
    pub fn was_refused(&self, now_ms: i64) -> bool {
        self.refused_until_ms.get() > now_ms
    }

    /// Whether the first is to be loaded by whoever asks.
    pub fn is_wanting(&self, now_ms: i64) -> bool {
        self.value.borrow().is_none() && !self.is_awaited(now_ms) && !self.was_refused(now_ms)
    }

    /// How long ago the catalog said that this is its newest, in seconds.
    pub fn age_s(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.confirmed_at_ms.get()).max(0) / 1_000
    }

    pub fn get(&self) -> Option<Rc<T>> {
        self.value.borrow().clone()
    }

    /// Keeps a value unless `keeps` prefers the one that is held: decided in one step, since another request may have
    /// brought a newer one while this one waited. Returns what is held now.
    pub fn offer(&self, value: T, keeps: impl FnOnce(&T, &T) -> bool) -> Rc<T> {
        let mut held = self.value.borrow_mut();
        match held.as_ref() {
            Some(own) if keeps(own, &value) => Rc::clone(own),
            _ => Rc::clone(held.insert(Rc::new(value))),
        }
    }
}

thread_local! {
    static ISOLATE: RefCell<Option<Rc<Isolate>>> = const { RefCell::new(None) };
}

impl Isolate {
    /// The isolate's memory, if there was a request before.
    pub fn existing() -> Option<Rc<Self>> {
        ISOLATE.with_borrow(Clone::clone)
    }

    /// The isolate's memory; the first request reads the configuration and draws the randomness, which the runtime
    /// gives out only while a request is served.
    fn current(workers: &Workers) -> Result<Rc<Self>, String> {
        if let Some(isolate) = Self::existing() {
            return Ok(isolate);
        }
        let config = Config::read(|name| workers.setting(name))?;
        let random = runtime::random()?;
        let (nonce_base, id) = random.split_first_chunk::<8>().ok_or("no randomness")?;
        let id = hex::encode(id);
        let isolate = Rc::new(Self {
            config,
            id,
            tracking: SnapshotSlot::empty(),
            listing: SnapshotSlot::empty(),
            revalidated_at_ms: Cell::new(0),
            chunks: ByteCache::new(CHUNK_BUDGET),
            pages: ByteCache::new(PAGE_BUDGET),
            rate_limiter: RateLimiter::default(),
            pools: Pools::default(),
            counts: RefCell::default(),
            nonces: RefCell::new(NonceSource::new(*nonce_base)),
            spent: RefCell::default(),
            traffic: EdgeTraffic::default(),
            reach: Reach::default(),
        });
        ISOLATE.set(Some(Rc::clone(&isolate)));
        Ok(isolate)
    }

    /// A nonce that no other click has. After 2^32 the source is drawn anew.
    pub fn nonce(&self) -> Result<Nonce, String> {
        if let Some(nonce) = self.nonces.borrow_mut().next() {
            return Ok(nonce);
        }
        let random = runtime::random()?;
        let (base, _) = random.split_first_chunk::<8>().ok_or("no randomness")?;
        self.nonces.replace(NonceSource::new(*base));
        self.nonces
            .borrow_mut()
            .next()
            .ok_or_else(|| "a new source is empty".to_owned())
    }
}

/// One request's bindings and lifetime, the isolate, and the time it arrived.
pub struct RequestContext {
    pub workers: Workers,
    pub lifetime: Context,
    pub isolate: Rc<Isolate>,
    pub now_ms: i64,
}

impl RequestContext {
    /// # Errors
    /// The configuration is broken.
    pub fn new(env: Env, lifetime: Context) -> Result<Self, String> {
        let workers = Workers::new(env);
        let isolate = Isolate::current(&workers)?;
        Ok(Self {
            workers,
            lifetime,
            isolate,
            now_ms: runtime::now_ms(),
        })
    }
}
