//! The memory of one isolate between requests: caches and counts. The runtime may discard it at any moment.
//!
//! No borrow is held across an `await`, where requests interleave. No request awaits the future of another request,
//! since the runtime drops a task that another request wakes. So requests share only complete values.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use futures_util::future::LocalBoxFuture;
use worker::{Context, Env};

use crate::{
    config::Config,
    limits::Pools,
    page_cache::{PageKey, RenderedPage},
    postback_queue::PostbackQueue,
    rate_limit::RateLimiter,
    reachability::Reachability,
    shard_store::ShardStore,
    signing_keys::OpenedKeys,
    tasks::Tasks,
    traffic::EdgeTraffic,
};
use contract::isolates::Figure;
use domain::{
    offers::selection::Selector,
    snapshot::{
        bodies::Chunk,
        tracking::{Manifest, ShardKind},
    },
    tracking::{Nonce, click_counts::ClickCounts, click_id::NonceSource},
};
use platform::{byte_cache::ByteCache, http::traffic::Count, isolate_metrics, runtime, workers::Workers};

/// Budgets for the shards of goals, apps and advertisers, in bytes. They hold all goals of 60,000 offers, and 20,000
/// apps. Each kind has its own budget, so that clicked goals evict no app.
const GOAL_BUDGET: usize = 20 << 20;
const APP_BUDGET: usize = 10 << 20;
const ADVERTISER_BUDGET: usize = 2 << 20;
/// The budget for offer bodies, in bytes. A new page may need any 20 bodies, so the budget holds the bodies of 20,000
/// offers, which take 30 MB. With the shards, the pages and the listing (10 MB for 200,000 offers, and twice that
/// during an update) the total stays below 96 MiB.
const CHUNK_BUDGET: usize = 32 << 20;
/// The budget for rendered pages, in bytes. It is small, since a page is quickly rendered from cached bodies.
const PAGE_BUDGET: usize = 4 << 20;
/// The age in seconds from which an isolate reports that its snapshot is old.
const OLD_S: i64 = 600;

pub struct Isolate {
    pub config: Config,
    /// The isolate's random name, which identifies its batches of counts.
    pub id: String,
    pub manifest: SnapshotSlot<Manifest>,
    goals: ShardStore,
    apps: ShardStore,
    advertisers: ShardStore,
    pub listing: SnapshotSlot<Selector>,
    /// The time of the last request for the pointer, in milliseconds.
    pub revalidated_at_ms: Cell<i64>,
    /// The start of the last answered request for the pointer, in milliseconds.
    pub pointer_read_at_ms: Cell<i64>,
    /// True if the last request for the pointer was answered.
    pub is_pointer_known: Cell<bool>,
    /// The end of the lease of a request that reads the pointer and the snapshots that the pointer names, in
    /// milliseconds.
    pub revalidating_until_ms: Cell<i64>,
    pub chunks: ByteCache<String, Chunk>,
    pub pages: ByteCache<PageKey, RenderedPage>,
    pub rate_limiter: RateLimiter,
    pub pools: Pools,
    pub counts: RefCell<ClickCounts>,
    nonces: RefCell<NonceSource>,
    /// The offers whose click cap is used up, each with the UTC day and the offer's revision.
    pub spent: RefCell<HashMap<String, (i64, i64)>>,
    pub signing_keys: OpenedKeys,
    pub traffic: EdgeTraffic,
    pub reach: Reachability,
    /// Postbacks to be reported to their advertisers' objects.
    pub postbacks: RefCell<PostbackQueue>,
    /// The tasks deferred by the click that was just answered.
    pub tasks: Tasks,
}

/// An isolate's snapshot of one kind, and the state of its loading.
pub struct SnapshotSlot<T> {
    value: RefCell<Option<Rc<T>>>,
    /// The time when the catalog last confirmed that this snapshot is the newest, in milliseconds.
    pub confirmed_at_ms: Cell<i64>,
    /// The end of the lease of the request that loads the first snapshot, in milliseconds. Until then, other requests
    /// wait for that load.
    pub loading_until_ms: Cell<i64>,
    /// The time before which no request tries to load, in milliseconds, after neither KV nor the catalog had a
    /// snapshot.
    pub unavailable_until_ms: Cell<i64>,
}

impl<T> SnapshotSlot<T> {
    fn empty() -> Self {
        Self {
            value: RefCell::new(None),
            confirmed_at_ms: Cell::new(0),
            loading_until_ms: Cell::new(0),
            unavailable_until_ms: Cell::new(0),
        }
    }

    /// Records that the catalog confirmed this snapshot as the newest at this time.
    pub fn confirm(&self, at_ms: i64) {
        self.confirmed_at_ms.set(self.confirmed_at_ms.get().max(at_ms));
    }

    /// True if a request is loading the first snapshot.
    pub fn is_loading(&self, now_ms: i64) -> bool {
        self.value.borrow().is_none() && self.loading_until_ms.get() > now_ms
    }

    /// True if a load has just failed.
    pub fn is_unavailable(&self, now_ms: i64) -> bool {
        self.unavailable_until_ms.get() > now_ms
    }

    /// True if the caller should load the first snapshot.
    pub fn needs_load(&self, now_ms: i64) -> bool {
        self.value.borrow().is_none() && !self.is_loading(now_ms) && !self.is_unavailable(now_ms)
    }

    /// The time since the catalog confirmed that this snapshot is the newest, in seconds.
    pub fn age_s(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.confirmed_at_ms.get()).max(0) / 1_000
    }

    pub fn get(&self) -> Option<Rc<T>> {
        self.value.borrow().clone()
    }

    /// Stores a value, unless `keeps` prefers the current one: another request may have stored a newer value while this
    /// request waited. Returns the value that is current afterwards.
    pub fn replace_unless(&self, value: T, keeps: impl FnOnce(&T, &T) -> bool) -> Rc<T> {
        let mut current = self.value.borrow_mut();
        match current.as_ref() {
            Some(own) if keeps(own, &value) => Rc::clone(own),
            _ => Rc::clone(current.insert(Rc::new(value))),
        }
    }
}

thread_local! {
    static ISOLATE: RefCell<Option<Rc<Isolate>>> = const { RefCell::new(None) };
}

impl Isolate {
    /// Returns the store of this kind of shard.
    pub fn shards(&self, kind: ShardKind) -> &ShardStore {
        match kind {
            ShardKind::Advertisers => &self.advertisers,
            ShardKind::Apps => &self.apps,
            ShardKind::Goals => &self.goals,
        }
    }

    pub fn holds_shards(&self) -> bool {
        ShardKind::ALL.into_iter().any(|kind| self.shards(kind).size().1 > 0)
    }

    /// Returns the isolate's memory, or `None` before its first request.
    pub fn existing() -> Option<Rc<Self>> {
        ISOLATE.with_borrow(Clone::clone)
    }

    /// Returns the isolate's memory. The first request reads the configuration and generates random values, for which
    /// the runtime must be serving a request.
    pub fn current(workers: &Workers) -> Result<Rc<Self>, String> {
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
            manifest: SnapshotSlot::empty(),
            goals: ShardStore::new(ShardKind::Goals, GOAL_BUDGET),
            apps: ShardStore::new(ShardKind::Apps, APP_BUDGET),
            advertisers: ShardStore::new(ShardKind::Advertisers, ADVERTISER_BUDGET),
            listing: SnapshotSlot::empty(),
            revalidated_at_ms: Cell::new(0),
            pointer_read_at_ms: Cell::new(0),
            is_pointer_known: Cell::new(true),
            revalidating_until_ms: Cell::new(0),
            chunks: ByteCache::new(CHUNK_BUDGET),
            pages: ByteCache::new(PAGE_BUDGET),
            rate_limiter: RateLimiter::default(),
            pools: Pools::default(),
            counts: RefCell::default(),
            nonces: RefCell::new(NonceSource::new(*nonce_base)),
            spent: RefCell::default(),
            signing_keys: OpenedKeys::default(),
            traffic: EdgeTraffic::default(),
            reach: Reachability::default(),
            postbacks: RefCell::default(),
            tasks: Tasks::default(),
        });
        ISOLATE.set(Some(Rc::clone(&isolate)));
        isolate_metrics::include(|| {
            Self::existing().map_or_else(Vec::new, |isolate| isolate.counts(runtime::now_ms()))
        });
        Ok(isolate)
    }

    fn counts(&self, now_ms: i64) -> Vec<Count> {
        let age_s = self.manifest.age_s(now_ms);
        let is_old = self.manifest.get().is_some() && age_s >= OLD_S;
        // The age is rounded down to whole steps of `OLD_S`, because each change of a figure causes a report.
        let age_s = if is_old { age_s - age_s % OLD_S } else { 0 };
        let mut counts = vec![
            (Figure::CLICKS_UNCOUNTED, "", self.counts.borrow().dropped()),
            (Figure::SNAPSHOT_AGE_S, "", age_s.unsigned_abs()),
        ];
        self.traffic.ordinary.add_failures(&mut counts);
        counts.extend(self.pools.shed());
        counts
    }

    /// Returns a unique nonce for a click. After 2^32 nonces, a new random base is generated.
    pub fn nonce(&self) -> Result<Nonce, String> {
        if let Some(nonce) = self.nonces.borrow_mut().next() {
            return Ok(nonce);
        }
        let random = runtime::random()?;
        let (base, _) = random.split_first_chunk::<8>().ok_or("no randomness")?;
        self.nonces.replace(NonceSource::new(*base));
        self.nonces.borrow_mut().next().ok_or_else(|| "a new nonce source is empty".to_owned())
    }
}

/// A request's bindings, lifetime and time of arrival, and the isolate.
pub struct RequestContext {
    pub workers: Workers,
    pub lifetime: Context,
    pub isolate: Rc<Isolate>,
    pub now_ms: i64,
}

impl RequestContext {
    /// Runs a task that may outlast the answer, within the request's lifetime. The task is a trait object, so that V8
    /// compiles one function for all tasks.
    pub fn go_on(&self, task: impl Future<Output = ()> + 'static) {
        let task: LocalBoxFuture<'static, ()> = Box::pin(task);
        self.lifetime.wait_until(task);
    }

    /// # Errors
    /// The configuration is invalid.
    pub fn new(env: Env, lifetime: Context) -> Result<Self, String> {
        let workers = Workers::new(env);
        let isolate = Isolate::current(&workers)?;
        Ok(Self { workers, lifetime, isolate, now_ms: runtime::now_ms() })
    }
}
