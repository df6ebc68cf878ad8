//! Tests of `origin::objects::catalog` on a real SQLite: production SQL and handlers over a backend that imitates a Durable
//! Object's and fails where a test injects a fault. Only `service` runs the object's service; the rest call handlers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

#[path = "../support/demo.rs"]
mod demo;
#[path = "../support/large_catalog.rs"]
mod large_catalog;
#[path = "../support/registers.rs"]
mod registers;
#[path = "../support/sqlite.rs"]
mod sqlite;
#[path = "../support/storage.rs"]
mod storage;

mod account_sync;
mod app_claims;
mod at_scale;
mod callback_sync;
mod callback_sync_model;
mod cap_sync;
mod caps;
mod chunks;
mod click_secrets;
mod credentials;
mod guard;
mod import;
mod lists;
mod lookups;
mod own_apps;
mod pub_key_requests;
mod publication;
mod resealing;
mod resources;
mod restored;
mod schedule;
mod service;
mod snapshots;
mod statements;
mod terms;
mod tolerance;
mod tracking;
mod tracking_slots;
mod unchanged;

use contract::catalog::{EnterTerms, Get, GetAppTerms, GetOfferTerms, KnownApp, KnownOffer, Put};
use contract::{catalog::CallbackSettings, outbox::OutboxShard};
use std::cell::Cell;

use serde_json::{Value, json};
use sqlite::{Fault, Faults, Sqlite};
use tracking::Tracking;

use contract::{
    catalog::{Command, Resource},
    operation::OperatorReply,
};
use domain::{
    callbacks::guard::Guard,
    conversions::token,
    model::{
        AppId, OfferId,
        credentials::Vault,
        lines::{LineErrors, Lines, TooLong},
        mac::MacKeys,
    },
    snapshot::listing::Listing,
};
use origin::objects::catalog::{
    self, Context,
    import::{MAX_LINE, refuse, stage},
    import_claims,
    import_steps::{self, Check},
    publication::Prepared,
    schema::MIGRATIONS,
    snapshots::{ListingBuild, rerender_bodies},
};
use origin::{delivery::push::Push, objects::catalog::callback_sync::QueuedSettings};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    migrations::migrate,
};
use registers::Registers;

/// 2026-01-15, 12:00 UTC, which is a boundary of the listing's rebuild interval.
const NOON: i64 = 20_468 * 86_400_000 + 12 * 3_600_000;

const STORE_KEYS: &str = "1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const EDGE_KEYS: &str = "1:202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

fn token_mac() -> Result<MacKeys, String> {
    MacKeys::parse(token::SETTING, &"ab".repeat(32))
}

/// The catalog's object: its database, its clock and a source of random bytes that never repeats itself.
struct Catalog {
    db: Sqlite,
    now_ms: Cell<i64>,
    draws: Cell<u16>,
    vault: Vault,
    edge_vault: Vault,
    token_mac: MacKeys,
    /// The guard's production settings, without own hosts.
    guard: Guard,
    /// The import whose turn it is.
    import: Cell<Option<i64>>,
    registers: Registers,
}

impl Catalog {
    /// The steps of SQLite's plan for a statement.
    fn plan(&self, statement: &str, parameters: &[platform::database::Value]) -> Vec<String> {
        let plan = format!("EXPLAIN QUERY PLAN {statement}");
        let rows = self.db.query(&plan, parameters).unwrap();
        rows.iter().map(|row| row.text(3).unwrap().to_owned()).collect()
    }

    fn empty() -> Self {
        let db = Sqlite::in_memory();
        migrate(&db, NOON, MIGRATIONS).unwrap();
        Self {
            db,
            now_ms: Cell::new(NOON),
            draws: Cell::new(0),
            vault: Vault::parse("STORE_KEYS", STORE_KEYS).unwrap(),
            edge_vault: Vault::parse("EDGE_KEYS", EDGE_KEYS).unwrap(),
            token_mac: token_mac().unwrap(),
            guard: Guard::default(),
            import: Cell::new(None),
            registers: Registers::default(),
        }
    }

    /// A catalog with a publisher `acme` and an advertiser `northwind`.
    fn small() -> Self {
        let catalog = Self::empty();
        catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": true }));
        catalog.put(Resource::Advertiser, "northwind", &json!({ "name": "Northwind" }));
        catalog
    }

    /// A catalog with the imported demo fixtures.
    fn from_fixtures() -> Self {
        let catalog = Self::empty();
        assert_eq!(catalog.import(&demo::text()).unwrap().status, 200);
        catalog
    }

    fn now(&self) -> i64 {
        self.now_ms.get()
    }

    fn wait(&self, ms: i64) {
        self.now_ms.set(self.now() + ms);
    }

    fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> T) -> T {
        let random = || {
            self.draws.set(self.draws.get() + 1);
            let [low, high] = self.draws.get().to_le_bytes();
            let mut bytes = [low; 32];
            bytes[0] = high;
            Ok(bytes)
        };
        work(&Context {
            now_ms: self.now(),
            random: &random,
            vault: &self.vault,
            edge_vault: &self.edge_vault,
            token_mac: &self.token_mac,
            guard: &self.guard,
            import: self.import.get(),
            is_repeat: false,
        })
    }

    fn send(&self, command: Command) -> Result<OperatorReply, Failure> {
        self.with_context(|context| catalog::handle(&self.db, context, command))
    }

    fn try_put(&self, resource: Resource, id: &str, document: &Value) -> Result<OperatorReply, Failure> {
        self.send(Command::Put(Put { resource, id: id.into(), body: document.to_string(), condition: None }))
    }

    #[track_caller]
    fn put(&self, resource: Resource, id: &str, document: &Value) -> Value {
        body(&self.try_put(resource, id, document).unwrap(), 200)
    }

    #[track_caller]
    fn get(&self, resource: Resource, id: &str) -> Value {
        let id = id.into();
        body(&self.send(Command::Get(Get { resource, id })).unwrap(), 200)
    }

    fn try_ask_app(&self, app: &str) -> Result<OperatorReply, Failure> {
        self.ask_app_from(app, 5)
    }

    fn ask_app_from(&self, app: &str, shard: u8) -> Result<OperatorReply, Failure> {
        let newest = self
            .rows(&format!("SELECT terms_revision FROM apps WHERE id = '{app}'"))
            .first()
            .map_or(0, |row| row.integer(0).unwrap());
        self.send(Command::AppTerms(GetAppTerms { app_id: AppId::parse(app).unwrap(), shard, revision: newest }))
    }

    /// The answer that an outbox of the app gets for its newest terms.
    #[track_caller]
    fn ask_app(&self, app: &str) -> KnownApp {
        serde_json::from_value(body(&self.try_ask_app(app).unwrap(), 200)).unwrap()
    }

    fn try_ask_offer(&self, offer: &str, revision: i64) -> Result<OperatorReply, Failure> {
        self.send(Command::OfferTerms(GetOfferTerms {
            offer_id: OfferId::parse(offer).unwrap(),
            revision,
            outbox: None,
        }))
    }

    /// An outbox asks for the offer's terms in force.
    #[track_caller]
    fn outbox_asks(&self, offer: &str, app: &str, shard: u8) {
        let sql = format!("SELECT terms_revision FROM offers WHERE id = '{offer}'");
        let asked = self.send(Command::OfferTerms(GetOfferTerms {
            offer_id: OfferId::parse(offer).unwrap(),
            revision: self.rows(&sql)[0].integer(0).unwrap(),
            outbox: Some((AppId::parse(app).unwrap(), shard)),
        }));
        assert_eq!(asked.unwrap().status, 200);
    }

    /// The operator enters lost terms of an offer.
    fn enter(&self, offer: &str, revision: i64, terms: &Value) -> Result<OperatorReply, Failure> {
        self.send(Command::EnterTerms(EnterTerms {
            resource: Resource::Offer,
            id: offer.into(),
            revision: revision.to_string(),
            body: terms.to_string(),
        }))
    }

    /// The answer that an outbox gets for a revision of an offer's terms.
    #[track_caller]
    fn ask_offer(&self, offer: &str, revision: i64) -> KnownOffer {
        serde_json::from_value(body(&self.try_ask_offer(offer, revision).unwrap(), 200)).unwrap()
    }

    /// Imports like the service: every line is staged, then checked; then the import is decided and applied.
    fn import(&self, text: &str) -> Result<OperatorReply, Failure> {
        let number = import_steps::begin(&self.db)?;
        let reply = self
            .stage(number, text)
            .and_then(|errors| if errors.is_empty() { self.check_and_apply(number) } else { Ok(refuse(&errors)) });
        self.import.set(None);
        if import_claims::decided(&self.db)? != Some(number) {
            while import_steps::discard(&self.db, number, number)? {}
        }
        reply
    }

    fn stage(&self, import: i64, text: &str) -> Result<LineErrors, Failure> {
        let mut errors = LineErrors::default();
        let mut lines = Lines::new(MAX_LINE);
        let mut stage_line = |line, bytes: Result<&[u8], TooLong>| {
            self.with_context(|context| stage(&self.db, context, import, line, bytes, &mut errors))
        };
        for chunk in text.as_bytes().chunks(4_000) {
            lines.push(chunk, &mut stage_line)?;
        }
        lines.finish(&mut stage_line)?;
        Ok(errors)
    }

    fn check_and_apply(&self, import: i64) -> Result<OperatorReply, Failure> {
        self.import.set(Some(import));
        let mut check = Check::default();
        while self.check_step(import, &mut check)? {}
        if !check.errors.is_empty() {
            return Ok(refuse(&check.errors));
        }
        import_steps::decide(&self.db, import)?;
        let mut applied = 0;
        while self.apply_step(import, &mut applied)? {}
        while import_steps::discard(&self.db, import, import)? {}
        Ok(OperatorReply::ok(&json!({ "imported": applied })))
    }

    fn check_step(&self, import: i64, check: &mut Check) -> Result<bool, Failure> {
        self.with_context(|context| import_steps::check(&self.db, context, import, check))
    }

    fn apply_step(&self, import: i64, applied: &mut u64) -> Result<bool, Failure> {
        self.with_context(|context| import_steps::apply(&self.db, context, import, applied))
    }

    #[track_caller]
    fn tracking(&self) -> Tracking {
        Tracking::of_tables(self)
    }

    #[track_caller]
    fn listing(&self) -> Listing {
        Listing::open(prepare_listing(&self.db, self.now()).unwrap().bytes).unwrap()
    }

    #[track_caller]
    fn listed(&self) -> Vec<String> {
        let listing = self.listing();
        (0..listing.len()).map(|row| listing.id(row).unwrap().to_owned()).collect()
    }

    fn rows(&self, sql: &str) -> Vec<Row> {
        self.db.query(sql, &[]).unwrap()
    }

    /// All stored rows except staged import lines.
    fn dump(&self) -> Vec<Vec<Row>> {
        const TABLES: [&str; 12] = [
            "state",
            "publishers",
            "suspensions",
            "waiting_publishers",
            "apps",
            "outboxes",
            "advertisers",
            "advertiser_tokens",
            "offers",
            "offer_documents",
            "goals",
            "terms",
        ];
        TABLES
            .map(|table| match table {
                // An import that is refused leaves its number.
                "state" => self.rows("SELECT * FROM state WHERE name <> 'import'"),
                table => self.rows(&format!("SELECT * FROM {table}")),
            })
            .into()
    }
}

#[track_caller]
fn body(reply: &OperatorReply, status: u16) -> Value {
    assert_eq!(reply.status, status, "{reply:?}");
    serde_json::from_str(&reply.body).unwrap()
}

/// The code and message of a refused command.
#[track_caller]
fn refused(reply: Result<OperatorReply, Failure>) -> (&'static str, String) {
    match reply {
        Err(Failure::Refused(refusal)) => (refusal.code, refusal.message.into_owned()),
        other => panic!("expected a refusal: {other:?}"),
    }
}

/// Records that an outbox has these settings.
fn confirm(db: &Sqlite, shard: OutboxShard, settings: &CallbackSettings) -> Result<(), DatabaseError> {
    let settings = settings.clone();
    QueuedSettings { shard, settings }.confirm(db)
}

/// Runs `scenario` once without a fault and then once for each of its writes and each kind of fault, on new catalogs.
fn under_every_fault(prepared: impl Fn() -> Catalog, scenario: impl Fn(&Catalog, &str)) {
    let fault_free = prepared();
    fault_free.db.inject(Faults::none());
    scenario(&fault_free, "no fault");
    let writes = fault_free.db.writes();
    assert!(writes > 0, "the scenario writes nothing");
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let catalog = prepared();
            catalog.db.inject(Faults::at(nth, fault));
            scenario(&catalog, &format!("write {nth} broken: {fault:?}"));
        }
    }
}

fn app(publisher: &str) -> Value {
    json!({
        "publisher_id": publisher, "name": "An app", "platform": "android",
        "currency": { "name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down" }
    })
}

/// An app of `acme` with a callback to `url`.
fn app_with_url(url: &str) -> Value {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let callback = json!({ "url": url, "method": "GET", "secret": secret });
    with(app("acme"), &json!({ "callback": callback }))
}

fn goal(id: &str) -> Value {
    json!({ "id": id, "ttl": "Install", "instr": "1. Install", "payout_usd": 1.25, "ord": 1, "gl_val": null })
}

/// An offer of the small catalog with goals of these ids.
fn offer(goals: &[&str]) -> Value {
    json!({
        "advertiser_id": "northwind", "off_type": "CPI", "s_id": "com.example.game", "name": "A game",
        "lp_url": "https://play.google.com/store/apps/details?id=com.example.game",
        "ic_url": "https://cdn.example.com/icon.png", "desc": "Play it", "ctg": ["GAMING"], "os": "android",
        "geo_tgt": { "include": [], "exclude": [] }, "active": true,
        "goals": goals.iter().map(|id| goal(id)).collect::<Vec<_>>(),
    })
}

/// Builds and stores the listing.
fn prepare_listing(db: &impl Database, now_ms: i64) -> Result<Prepared, Failure> {
    while rerender_bodies(db)? {}
    let mut build = ListingBuild::new(now_ms);
    while build.step(db)? {}
    build.finish(db)
}

/// The document with these members replaced or added.
fn with(mut document: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}
