//! KV, and the steps of the object's shell around it (`object.rs`), in its order.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use signpost::{
    catalog::snapshot::{
        listing::Listing,
        pointer::{self, Pointer},
        tracking::Tracking,
    },
    origin::{
        catalog::{
            publication::{
                self, Kind, Prepared, chunk, chunk_unwritten, chunk_written, chunks_to_write, enter,
                expired_chunks, expired_versions, forget_chunk, forget_version, published,
            },
            schedule::{listing_due_ms, next_alarm, tracking_due_ms},
        },
        command::Failure,
    },
};

use crate::{Catalog, prepare_listing, prepare_tracking, sqlite::Fault};

#[derive(Default)]
pub struct Kv {
    pub values: RefCell<BTreeMap<String, Vec<u8>>>,
    pub writes: Cell<usize>,
    /// The write that breaks.
    pub fault: Cell<Option<(usize, Fault)>>,
}

impl Kv {
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Result<(), Failure> {
        self.writes.set(self.writes.get() + 1);
        let fault = self.fault.get().filter(|(nth, _)| *nth == self.writes.get());
        if fault != Some((self.writes.get(), Fault::Before)) {
            change(&mut self.values.borrow_mut());
        }
        fault.map_or(Ok(()), |_| Err(Failure::Broken("KV".into())))
    }

    fn put(&self, key: String, bytes: &[u8]) -> Result<(), Failure> {
        self.change(|values| drop(values.insert(key, bytes.to_vec())))
    }

    fn delete(&self, key: &str) -> Result<(), Failure> {
        self.change(|values| drop(values.remove(key)))
    }

    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.values.borrow().get(key).cloned()
    }

    pub fn pointer(&self) -> Option<Pointer> {
        self.get(pointer::KEY)
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
    }
}

pub fn key(kind: Kind, version: u64) -> String {
    match kind {
        Kind::Tracking => pointer::tracking_key(version),
        Kind::Listing => pointer::listing_key(version),
    }
}

/// Writes a snapshot to KV and then the pointer to it.
pub fn publish(catalog: &Catalog, kv: &Kv, prepared: &Prepared) -> Result<(), Failure> {
    kv.put(key(prepared.kind, prepared.version), &prepared.bytes)?;
    enter(&catalog.db, prepared, catalog.now())?;
    let pointer = serde_json::to_vec(&publication::pointer(&catalog.db)?).unwrap();
    kv.put(pointer::KEY.into(), &pointer)?;
    Ok(published(&catalog.db, prepared)?)
}

pub fn publish_tracking(catalog: &Catalog, kv: &Kv) -> Result<(), Failure> {
    let prepared = prepare_tracking(&catalog.db, catalog.now())?;
    publish(catalog, kv, &prepared)
}

pub fn publish_listing(catalog: &Catalog, kv: &Kv) -> Result<(), Failure> {
    let prepared = prepare_listing(&catalog.db, catalog.now())?;
    for key in chunks_to_write(&catalog.db)? {
        if let Some(bytes) = chunk(&catalog.db, &key)? {
            kv.put(pointer::bodies_key(&key), &bytes)?;
            chunk_written(&catalog.db, &key)?;
        }
    }
    publish(catalog, kv, &prepared)
}

pub fn sweep(catalog: &Catalog, kv: &Kv) -> Result<(), Failure> {
    for (kind, version) in expired_versions(&catalog.db, catalog.now())? {
        kv.delete(&key(kind, version))?;
        forget_version(&catalog.db, kind, version)?;
    }
    for key in expired_chunks(&catalog.db)? {
        chunk_unwritten(&catalog.db, &key)?;
        kv.delete(&pointer::bodies_key(&key))?;
        forget_chunk(&catalog.db, &key)?;
    }
    Ok(())
}

/// One alarm's work.
pub fn alarm(catalog: &Catalog, kv: &Kv) -> Result<(), Failure> {
    if tracking_due_ms(&catalog.db)?.is_some_and(|due_ms| due_ms <= catalog.now()) {
        publish_tracking(catalog, kv)?;
    }
    if listing_due_ms(&catalog.db)? <= catalog.now() {
        publish_listing(catalog, kv)?;
        sweep(catalog, kv)?;
    }
    Ok(())
}

/// Lets the alarm go off as often as it is due; one that breaks is tried again five seconds later.
pub fn run_for(catalog: &Catalog, kv: &Kv, ms: i64) {
    let end_ms = catalog.now() + ms;
    while catalog.now() < end_ms {
        let next_ms = match alarm(catalog, kv) {
            Ok(()) => next_alarm(&catalog.db, catalog.now())
                .unwrap()
                .max(catalog.now() + 1),
            Err(_) => catalog.now() + 5_000,
        };
        catalog.now_ms.set(next_ms.min(end_ms));
        check_reachable(kv);
    }
}

/// Whatever the pointer lists is in KV and whole, and so are the chunks of the listings.
pub fn check_reachable(kv: &Kv) {
    let Some(pointer) = kv.pointer() else { return };
    for version in pointer.tracking {
        let value = kv.get(&key(Kind::Tracking, version)).unwrap();
        assert_eq!(Tracking::open(value).unwrap().version(), version);
    }
    for version in pointer.listing {
        let listing = Listing::open(kv.get(&key(Kind::Listing, version)).unwrap()).unwrap();
        let keys = listing.chunk_keys();
        for chunk in (0..).map_while(|place| keys.get(place)) {
            assert!(
                kv.get(&pointer::bodies_key(chunk)).is_some(),
                "chunk {chunk} of listing {version}"
            );
        }
    }
}
