//! The real objects that decide what is paid: a catalog, an app's outboxes and the counters, each on its own SQLite. Calls
//! between them arrive at once, except those that a scenario withholds.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::{Database, Sqlite, migrated, now};
use contract::{
    catalog::{self, GetAppTerms, GetOfferTerms, KnownApp, KnownOffer, LOST_TERMS, Resource},
    counters::{self, Take},
    outbox::{Answer, ClaimApp, ClaimedApp, Conversion, Current, OutboxShard, Settle, Txn},
};
use domain::{
    callbacks::{fields::Status, guard::Guard},
    conversions::{
        parameters::INVALID_CLICK_ID,
        terms::{CurrentApp, CurrentOffer, TermsInForce},
        token,
    },
    model::{AppId, OfferId, PublisherId, api_error::common, credentials::Vault, mac::MacKeys},
};
use origin::objects::{
    catalog::{Context, cap_sync, schema::MIGRATIONS},
    counters as counters_object,
    outbox::{
        self,
        conversions::{commit, kept, settlement, txns},
        endpoint,
        peers::{Peers, StateCache},
        terms,
    },
};
use platform::{database::DatabaseError, failure::Failure, keyed_flights::KeyedFlights, params};

pub const APP: &str = "00000042";
pub const OFFERS: [&str; 2] = ["o-1", "o-2"];
const KEYS: &str = "1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

pub fn app() -> AppId {
    AppId::parse(APP).unwrap()
}

/// An outbox: its database, and the caches of its process.
pub struct Outbox {
    pub db: Sqlite,
    state_cache: StateCache,
    questions: KeyedFlights<Result<(), Failure>>,
    must_resume: Cell<bool>,
}

pub struct World {
    pub now_ms: Cell<i64>,
    pub catalog: RefCell<Sqlite>,
    pub counters: Sqlite,
    counts: counters_object::TakenCounts,
    pub outboxes: RefCell<BTreeMap<u8, Rc<Outbox>>>,
    vault: Vault,
    token_mac: MacKeys,
    guard: Guard,
    draws: Cell<u8>,
}

/// The values of the catalog in the newest snapshot.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub offers: BTreeMap<String, CurrentOffer>,
    pub app: Option<CurrentApp>,
}

impl World {
    pub fn new(now_ms: i64) -> Self {
        Self {
            now_ms: Cell::new(now_ms),
            catalog: RefCell::new(migrated(MIGRATIONS)),
            counters: migrated(counters_object::MIGRATIONS),
            counts: counters_object::TakenCounts::default(),
            outboxes: RefCell::default(),
            vault: Vault::parse("STORE_KEYS", KEYS).unwrap(),
            token_mac: MacKeys::parse(token::SETTING, &"ab".repeat(32)).unwrap(),
            guard: Guard::default(),
            draws: Cell::new(0),
        }
    }

    /// A command of the catalog.
    pub fn ask(&self, command: catalog::Command) -> Result<Json, Failure> {
        let context = Context {
            now_ms: self.now_ms.get(),
            random: &|| {
                self.draws.set(self.draws.get().wrapping_add(1));
                Ok([self.draws.get(); 32])
            },
            vault: &self.vault,
            edge_vault: &self.vault,
            token_mac: &self.token_mac,
            guard: &self.guard,
            import: None,
            is_repeat: false,
        };
        let reply = origin::objects::catalog::handle(&*self.catalog.borrow(), &context, command)?;
        Ok(serde_json::from_str(&reply.body).unwrap())
    }

    fn known<T: DeserializeOwned>(&self, command: catalog::Command) -> Result<T, Failure> {
        let known = self.ask(command).map_err(|failure| match failure {
            Failure::Refused(refusal) if refusal.code == LOST_TERMS.code => LOST_TERMS.into(),
            Failure::Refused(_) => INVALID_CLICK_ID.into(),
            failure => failure,
        })?;
        Ok(serde_json::from_value(known).unwrap())
    }

    pub fn put(&self, resource: Resource, id: &str, document: &Json) -> Result<Json, Failure> {
        self.ask(catalog::Command::Put(catalog::Put {
            resource,
            id: id.into(),
            body: document.to_string(),
            condition: None,
        }))
    }

    /// Pushes an offer's cap to the outboxes that asked, which tell the counters, as a PUT does before it is answered.
    pub fn push_cap(&self, id: &str) {
        let offer = OfferId::parse(id).unwrap();
        let queued = cap_sync::queued_of(&*self.catalog.borrow(), &offer).unwrap();
        for queued in queued {
            let node = self.node(queued.shard.number);
            let cap = terms::set_offer(&node.outbox.db, &node, queued.shard, &queued.offer).unwrap();
            self.count(counters::Command::SetCap(cap));
            origin::delivery::push::Push::confirm(&queued, &*self.catalog.borrow()).unwrap();
        }
    }

    fn count(&self, command: counters::Command) -> counters::Reply {
        counters_object::handle(&self.counters, &self.counts, self.now_ms.get(), command).unwrap()
    }

    /// The values that a publication would contain now.
    pub fn snapshot(&self) -> Snapshot {
        let catalog = self.catalog.borrow();
        let current = |id: &&str| {
            let sql = "SELECT revision, terms_revision, terms_since, conversion_cap, min_seconds_to_convert
                FROM offers WHERE id = ?";
            let row = catalog.query_first(sql, params![*id]).unwrap()?;
            Some(((*id).to_owned(), cap_sync::current(&row).unwrap()))
        };
        let sql = "SELECT revision, terms_revision, terms_since, callback_revision, outbox_shards FROM apps";
        let app = catalog.query_first(sql, &[]).unwrap();
        Snapshot {
            offers: OFFERS.iter().filter_map(current).collect(),
            app: app.map(|row| CurrentApp {
                revision: row.integer(0).unwrap(),
                terms: TermsInForce { revision: row.integer(1).unwrap(), since: row.integer(2).unwrap() },
                publisher_id: PublisherId::parse("acme").unwrap(),
                callback_revision: row.integer(3).unwrap(),
                outbox_shards: row.number(4).unwrap(),
                max_rewards_per_user_day: None,
            }),
        }
    }

    pub fn node(&self, shard: u8) -> Node<'_> {
        let mut outboxes = self.outboxes.borrow_mut();
        let outbox = outboxes.entry(shard).or_insert_with(|| {
            Rc::new(Outbox {
                db: migrated(outbox::MIGRATIONS),
                state_cache: StateCache::default(),
                questions: KeyedFlights::default(),
                must_resume: Cell::new(false),
            })
        });
        Node { world: self, outbox: Rc::clone(outbox) }
    }

    pub fn claim_app(&self, outbox_shards: u8) -> u8 {
        let claim = contract::outbox::ClaimApp { outbox_shards, is_final: true };
        let first = OutboxShard { app: app(), number: 0 };
        let claimed = endpoint::claim_app(&self.node(0).outbox.db, first, claim);
        claimed.unwrap().outbox_shards
    }

    /// Sends a postback to its outbox, as the service does.
    pub fn send(&self, snapshot: &Snapshot, mut conversion: Conversion) -> Result<Answer, Failure> {
        conversion.current = Current {
            offer: snapshot.offers.get(&*conversion.click.offer).cloned(),
            app: snapshot.app.clone(),
            is_recent: true,
        };
        self.convert(&conversion)
    }

    fn convert(&self, conversion: &Conversion) -> Result<Answer, Failure> {
        let node = self.node(conversion.click.shard);
        let (db, shard) = (&node.outbox.db, node.shard(conversion));
        let answer = match now(terms::of(db, &node, shard, conversion)) {
            Ok(terms) => now(commit::convert(db, &node, conversion, &terms)),
            Err(failure) => Err(kept::keep(db, self.now_ms.get(), conversion, failure).unwrap()),
        };
        if node.outbox.must_resume.replace(false) {
            now(txns::free_due(db, &node)).unwrap();
        }
        answer
    }

    pub fn settle(&self, shard: u8, settle: &Settle) -> Result<Answer, Failure> {
        let of_app = OutboxShard { app: app(), number: shard };
        let (db, now_ms) = (&self.node(shard).outbox.db, self.now_ms.get());
        let conversion = settlement::conversion(db, now_ms, of_app, settle)?;
        self.convert(&conversion)
    }

    /// Decides the kept postbacks that are due.
    pub fn decide_kept(&self) {
        let shards: Vec<u8> = self.outboxes.borrow().keys().copied().collect();
        for shard in shards {
            let node = self.node(shard);
            let convert = async |conversion: &Conversion| self.convert(conversion);
            now(kept::decide_due(&node.outbox.db, &node, convert)).unwrap();
        }
    }

    pub fn sweep(&self) {
        let now_ms = self.now_ms.get();
        origin::objects::catalog::terms::sweep(&*self.catalog.borrow(), now_ms).unwrap();
        for outbox in self.outboxes.borrow().values() {
            outbox::retention::sweep(&outbox.db, now_ms).unwrap();
        }
    }

    /// A copy of the catalog, as a backup has it.
    pub fn backup(&self) -> Sqlite {
        copy(&self.catalog.borrow())
    }
}

/// Copies every row of a catalog.
pub fn copy(catalog: &Sqlite) -> Sqlite {
    let copy = migrated(MIGRATIONS);
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations'
        AND name NOT LIKE 'sqlite%'";
    for table in catalog.query(tables, &[]).unwrap() {
        let table = table.text(0).unwrap();
        copy.execute(&format!("DELETE FROM {table}"), &[]).unwrap();
        for row in crate::dump(catalog, table) {
            let places = vec!["?"; row.0.len()].join(", ");
            let insert = format!("INSERT INTO {table} VALUES ({places})");
            copy.execute(&insert, &row.0).unwrap();
        }
    }
    copy
}

/// An outbox among the others.
pub struct Node<'w> {
    world: &'w World,
    pub outbox: Rc<Outbox>,
}

impl Node<'_> {
    fn shard(&self, conversion: &Conversion) -> OutboxShard {
        OutboxShard { app: conversion.click.app, number: conversion.click.shard }
    }

    fn keeper(&self, txn: &Txn) -> Result<(OutboxShard, Rc<Outbox>), Failure> {
        let shards =
            endpoint::read(&self.outbox.db)?.and_then(|state| state.current).map_or(1, |app| app.outbox_shards);
        let keeper = txns::keeper(app(), shards, txn);
        Ok((keeper, self.world.node(keeper.number).outbox))
    }
}

impl Peers for Node<'_> {
    fn now_ms(&self) -> i64 {
        self.world.now_ms.get()
    }

    fn claim_ms(&self) -> i64 {
        15_000
    }

    fn state_cache(&self) -> &StateCache {
        &self.outbox.state_cache
    }

    fn questions(&self) -> &KeyedFlights<Result<(), Failure>> {
        &self.outbox.questions
    }

    async fn ask_offer(&self, question: GetOfferTerms) -> Result<KnownOffer, Failure> {
        self.world.known(catalog::Command::OfferTerms(question))
    }

    async fn ask_app(&self, question: GetAppTerms) -> Result<KnownApp, Failure> {
        self.world.known(catalog::Command::AppTerms(question))
    }

    async fn claim_app(&self, first: OutboxShard, claim: ClaimApp) -> Result<ClaimedApp, Failure> {
        endpoint::claim_app(&self.world.node(first.number).outbox.db, first, claim)
    }

    async fn take(&self, take: &Take) -> Result<bool, Failure> {
        match self.world.count(counters::Command::Take(take.clone())) {
            counters::Reply::Taken(taken) => Ok(taken.taken),
            _ => Err(common::UNAVAILABLE.into()),
        }
    }

    async fn claim_txn(&self, txn: &Txn) -> Result<bool, Failure> {
        let (shard, keeper) = self.keeper(txn)?;
        Ok(txns::claim(&keeper.db, self.now_ms(), shard, txn)?)
    }

    async fn free_txn(&self, txn: &Txn) -> Result<(), Failure> {
        Ok(txns::free(&self.keeper(txn)?.1.db, txn)?)
    }

    fn resume_soon(&self) {
        self.outbox.must_resume.set(true);
    }

    fn wants(&self, _status: Status) -> Result<bool, DatabaseError> {
        Ok(false)
    }

    fn committed(&self) -> Result<(), Failure> {
        Ok(())
    }
}

/// The app as the operator puts it.
pub fn app_document(per_usd: u32, outbox_shards: Option<u8>) -> Json {
    json!({
        "publisher_id": "acme", "name": "An app", "platform": "android",
        "currency": { "name": "Coins", "per_usd": per_usd, "decimals": 0, "rounding": "down" },
        "outbox_shards": outbox_shards,
    })
}
