//! Mock runtime for the catalog's service: KV with injected faults, a clock set by tests, objects that never answer.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::Value as Json;

use contract::{
    catalog::Resource,
    kv::{self, Pointer},
    operation::{CallError, ObjectAddress, Operation, Unanswered},
};
use domain::{callbacks::guard::Guard, model::credentials::Vault, snapshot::listing::Listing};
use origin::objects::catalog::{
    kv_writer::{KvWriter, SHARDS, TrackingPublication},
    publication::Prepared,
    schedule::next_alarm,
    service::{CatalogService, Settings},
    tracking_slots,
};
use platform::{
    database::Row,
    failure::Failure,
    traits::{Clock, ObjectCall, Random, Sleep},
};

use crate::{
    Catalog, EDGE_KEYS, STORE_KEYS,
    sqlite::{Fault, Sqlite},
    storage::Storage,
    tracking::Tracking,
};

pub type PutMeanwhile = (Resource, String, Json);

#[derive(Default)]
pub struct Kv {
    pub values: RefCell<BTreeMap<String, Vec<u8>>>,
    pub writes: Cell<usize>,
    /// Bytes of the values that were written.
    pub bytes: Cell<usize>,
    /// A resource that is put during a write after so many others.
    pub put_meanwhile: RefCell<Option<(usize, PutMeanwhile)>>,
    /// The same during a pause between two steps.
    pub put_in_pause: RefCell<Option<(usize, PutMeanwhile)>>,
    /// The number of the write that fails, from 1, and how.
    pub fault: Cell<Option<(usize, Fault)>>,
}

impl Kv {
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Result<(), String> {
        self.writes.set(self.writes.get() + 1);
        let fault = self.fault.get().filter(|(nth, _)| *nth == self.writes.get());
        if fault != Some((self.writes.get(), Fault::Before)) {
            change(&mut self.values.borrow_mut());
        }
        fault.map_or(Ok(()), |_| Err("KV".into()))
    }

    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.values.borrow().get(key).cloned()
    }

    pub fn pointer(&self) -> Option<Pointer> {
        self.get(kv::KEY).map(|bytes| Pointer::parse(&bytes).unwrap())
    }
}

impl Catalog {
    /// Puts a resource once it has been called so many times before.
    fn put_after(&self, meanwhile: &RefCell<Option<(usize, PutMeanwhile)>>) {
        match meanwhile.take() {
            Some((0, (resource, id, document))) => drop(self.put(resource, &id, &document)),
            Some((calls, put)) => drop(meanwhile.replace(Some((calls - 1, put)))),
            None => {}
        }
    }
}

pub struct Runtime<'a> {
    catalog: &'a Catalog,
    kv: &'a Kv,
}

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.catalog.now()
    }
}

impl Random for Runtime<'_> {
    fn random(&self) -> Result<[u8; 32], String> {
        self.catalog.with_context(|context| (context.random)())
    }
}

impl Sleep for Runtime<'_> {
    async fn sleep(&self, time: Duration) {
        self.catalog.put_after(&self.kv.put_in_pause);
        self.catalog.wait(i64::try_from(time.as_millis()).unwrap());
    }
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if to.binding == contract::attention::BINDING {
            return self.catalog.registers.answer(self.now_ms(), to, operation);
        }
        Err(Unanswered::default().into())
    }
}

impl platform::traits::Kv for Runtime<'_> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.kv.get(key))
    }

    async fn put(&self, key: &str, bytes: &[u8]) -> Result<(), String> {
        self.catalog.put_after(&self.kv.put_meanwhile);
        self.kv.bytes.set(self.kv.bytes.get() + bytes.len());
        self.kv.change(|values| drop(values.insert(key.to_owned(), bytes.to_vec())))
    }

    async fn delete(&self, key: &str) -> Result<(), String> {
        self.kv.change(|values| drop(values.remove(key)))
    }
}

/// Completes a future that never waits here.
fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().unwrap()
}

fn with_writer<T>(catalog: &Catalog, kv: &Kv, work: impl FnOnce(&KvWriter<'_, Sqlite, Runtime<'_>>) -> T) -> T {
    let runtime = Runtime { catalog, kv };
    work(&KvWriter { db: &catalog.db, runtime: &runtime })
}

/// Writes a prepared listing and then the pointer to KV.
pub fn publish(catalog: &Catalog, kv: &Kv, prepared: Prepared) -> Result<(), Failure> {
    with_writer(catalog, kv, |writer| {
        let written = now(writer.write_listing(prepared))?;
        now(writer.point(&[&written], &Cell::new(0)))
    })
}

/// Writes what is new of the tracking snapshot, but not the pointer to it.
pub fn write_tracking(catalog: &Catalog, kv: &Kv) -> Result<TrackingPublication, Failure> {
    with_writer(catalog, kv, |writer| now(writer.tracking(SHARDS)))
}

/// Publishes the tracking snapshot, as much of it as one invocation may. Returns whether that was only a part.
pub fn publish_tracking(catalog: &Catalog, kv: &Kv) -> Result<bool, Failure> {
    publish_shards(catalog, kv, SHARDS)
}

/// The same with at most so many shards.
pub fn publish_shards(catalog: &Catalog, kv: &Kv, most: usize) -> Result<bool, Failure> {
    with_writer(catalog, kv, |writer| {
        let tracked = now(writer.tracking(most))?;
        let written: Vec<_> = tracked.manifest.iter().collect();
        now(writer.point(&written, &Cell::new(0)))?;
        tracking_slots::record_published(&catalog.db, tracked.is_partial, catalog.now())?;
        Ok(tracked.is_partial)
    })
}

/// Publishes the listing. Returns whether that was all of it.
pub fn publish_listing(catalog: &Catalog, kv: &Kv) -> Result<bool, Failure> {
    with_writer(catalog, kv, |writer| {
        let Some(listing) = now(writer.listing())? else {
            return Ok(false);
        };
        let written = now(writer.write_listing(listing))?;
        now(writer.point(&[&written], &Cell::new(0)))?;
        Ok(true)
    })
}

/// Looks whether KV was emptied, moved or damaged.
pub fn find_lost(catalog: &Catalog, kv: &Kv) {
    with_writer(catalog, kv, |writer| now(writer.find_lost())).unwrap();
}

pub fn sweep(catalog: &Catalog, kv: &Kv) -> Result<(), Failure> {
    with_writer(catalog, kv, |writer| now(writer.sweep()))
}

/// A new process of the catalog.
pub fn process<'a>(catalog: &'a Catalog, kv: &'a Kv) -> CatalogService<Storage<'a>, Runtime<'a>> {
    let settings = Settings {
        vault: Vault::parse("STORE_KEYS", STORE_KEYS),
        edge_vault: Vault::parse("EDGE_KEYS", EDGE_KEYS),
        token_mac: crate::token_mac(),
        guard: Guard::default(),
    };
    CatalogService::new(None, Storage::new(&catalog.db), Runtime { catalog, kv }, settings)
}

/// Runs due alarms for `ms` milliseconds, each in a new process.
pub fn run_for(catalog: &Catalog, kv: &Kv, ms: i64) {
    let end_ms = catalog.now() + ms;
    let mut alarm_ms = next_alarm(&catalog.db, catalog.now()).unwrap();
    while alarm_ms < end_ms {
        catalog.now_ms.set(alarm_ms.max(catalog.now()));
        let service = process(catalog, kv);
        now(service.alarm());
        let set_ms = service.storage().state.alarm_ms.get().unwrap();
        alarm_ms = set_ms.max(catalog.now() + 1);
        check_reachable(kv);
        check_listed(catalog, kv);
    }
    catalog.now_ms.set(end_ms);
}

/// Checks that goals of each offer in the pointer's newest listing are in its manifest, too, so that nobody gets a link
/// that is unknown.
fn check_listed(catalog: &Catalog, kv: &Kv) {
    let Some(pointer) = kv.pointer() else { return };
    let Some(version) = pointer.listing.first() else {
        return;
    };
    let tracking = Tracking::of_kv(kv, &pointer);
    let goals = catalog.rows("SELECT offer_id, id FROM goals");
    let known = |row: &&Row| tracking.goal(row.text(1).unwrap()).is_some();
    let known: BTreeSet<_> = goals.iter().filter(known).map(|row| row.text(0).unwrap()).collect();
    let listing = Listing::open(kv.get(&kv::listing_key(*version)).unwrap()).unwrap();
    for row in 0..listing.len() {
        let id = listing.id(row).unwrap();
        assert!(known.contains(id), "offer {id} is listed, and its goals are unknown");
    }
}

/// Checks that KV holds each shard in the pointer's manifest, each of its listings, and each chunk of these, intact.
pub fn check_reachable(kv: &Kv) {
    let Some(pointer) = kv.pointer() else { return };
    if !pointer.manifest.is_empty() {
        Tracking::of_kv(kv, &pointer);
    }
    for version in pointer.listing {
        let listing = Listing::open(kv.get(&kv::listing_key(version)).unwrap()).unwrap();
        let keys = listing.chunk_keys();
        for chunk in (0..).map_while(|index| keys.get(index)) {
            assert!(kv.get(&kv::bodies_key(chunk)).is_some(), "chunk {chunk} of listing {version}");
        }
    }
}
