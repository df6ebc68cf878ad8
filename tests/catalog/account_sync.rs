//! Suspensions: the catalog's own service tells the accounts' own object, under lost calls and lost answers.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    time::Duration,
};

use futures_util::FutureExt;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value as Json, json};

use crate::{Catalog, EDGE_KEYS, Fault, Faults, STORE_KEYS, sqlite::Sqlite, storage::Storage};
use contract::{
    accounts::{self, Suspend},
    activity,
    alarms::RaiseAlarms,
    attention,
    catalog::{self, Command, Put, Resource},
    operation::{CallError, ObjectAddress, Operation, OperatorReply, Unanswered},
    outbox::{self, OutboxShard},
};
use domain::{
    accounts::account::Account,
    callbacks::guard::Guard,
    model::{AppId, PublisherId, credentials::Vault},
};
use origin::{
    delivery::push::{FIRST_PUSH_MS, Push, RETRY_MS},
    objects::{
        catalog::{
            service::{CatalogService, Settings},
            waiting::Waiting,
        },
        outbox::endpoint,
    },
};
use platform::{
    database::Database,
    failure::Failure,
    migrations::migrate,
    traits::{Clock, Kv, ObjectCall, Random, Sleep},
};

/// A catalog, the one account that it tells, and the first outboxes of apps.
pub struct World {
    pub catalog: Catalog,
    account: Sqlite,
    pub outboxes: RefCell<BTreeMap<AppId, Sqlite>>,
    /// How the next calls to the account fail.
    faults: RefCell<Vec<Fault>>,
    calls: Cell<usize>,
    /// The alarms that arrived, with the names of their receivers.
    raised: RefCell<Vec<(String, RaiseAlarms)>>,
}

#[derive(Clone, Copy)]
pub struct Runtime<'w>(&'w World);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.catalog.now()
    }
}

impl Random for Runtime<'_> {
    fn random(&self) -> Result<[u8; 32], String> {
        Ok([7; 32])
    }
}

impl Sleep for Runtime<'_> {
    /// An import's pauses end at once, and no time limit is reached.
    async fn sleep(&self, time: Duration) {
        if time >= Duration::from_secs(1) {
            std::future::pending().await
        }
    }
}

impl Kv for Runtime<'_> {
    async fn get(&self, _key: &str) -> Result<Option<Vec<u8>>, String> {
        Err("not asked".into())
    }

    async fn put(&self, _key: &str, _bytes: &[u8]) -> Result<(), String> {
        Ok(())
    }

    async fn delete(&self, _key: &str) -> Result<(), String> {
        Ok(())
    }
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if O::NAME == "RaiseAlarms" {
            if self.0.faults.borrow_mut().pop().is_some() {
                return Err(Unanswered::default().into());
            }
            self.0.raised.borrow_mut().push((to.name.clone(), sent(&operation)));
        }
        if to.binding == attention::BINDING {
            return self.0.catalog.registers.answer(self.now_ms(), to, operation);
        }
        if to.binding == outbox::BINDING && O::NAME == "ClaimApp" {
            return Ok(self.0.claim(to, operation));
        }
        if to.binding != accounts::BINDING {
            return Err(Unanswered::default().into());
        }
        assert_eq!(to.name, accounts::object_name(account().id()));
        self.0.calls.set(self.0.calls.get() + 1);
        let fault = self.0.faults.borrow_mut().pop();
        if fault == Some(Fault::Before) {
            return Err(Unanswered::default().into());
        }
        let command = sent(operation.into());
        let context = origin::objects::accounts::Context {
            now_ms: self.now_ms(),
            name: None,
            random: &|| Err("nothing is drawn".into()),
            mac: &|| Err(Failure::Internal("nothing is issued".into())),
        };
        let reply = origin::objects::accounts::handle(&self.0.account, &context, command).unwrap();
        match fault {
            Some(_) => Err(Unanswered::default().into()),
            None => Ok(sent(reply)),
        }
    }
}

fn account() -> Account {
    Account::Publisher(PublisherId::parse("acme").unwrap())
}

fn document(approved: bool) -> Json {
    json!({ "name": "Acme", "approved": approved })
}

/// Serializes a value to JSON and back, as a call between objects does.
fn sent<T: Serialize, U: DeserializeOwned>(value: T) -> U {
    serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap()
}

impl World {
    fn claim<O: Operation>(&self, to: &ObjectAddress, operation: O) -> O::Answer {
        let shard = OutboxShard::parse_path(&to.path).unwrap();
        let mut outboxes = self.outboxes.borrow_mut();
        let db = outboxes.entry(shard.app).or_insert_with(|| {
            let db = Sqlite::in_memory();
            migrate(&db, 0, origin::objects::outbox::MIGRATIONS).unwrap();
            db
        });
        sent(endpoint::claim_app(db, shard, sent(operation)).unwrap())
    }

    pub fn new() -> Self {
        let account = Sqlite::in_memory();
        migrate(&account, 0, origin::objects::accounts::MIGRATIONS).unwrap();
        Self {
            catalog: Catalog::empty(),
            account,
            outboxes: RefCell::default(),
            faults: RefCell::default(),
            calls: Cell::new(0),
            raised: RefCell::default(),
        }
    }

    pub fn service(&self) -> CatalogService<Storage<'_>, Runtime<'_>> {
        let settings = Settings {
            vault: Vault::parse("STORE_KEYS", STORE_KEYS),
            edge_vault: Vault::parse("EDGE_KEYS", EDGE_KEYS),
            token_mac: crate::token_mac(),
            guard: Guard::default(),
        };
        let storage = Storage::new(&self.catalog.db);
        CatalogService::new(Some(catalog::OBJECT_NAME.into()), storage, Runtime(self), settings)
    }

    fn put(&self, approved: bool) -> Result<OperatorReply, Failure> {
        self.put_document(&document(approved))
    }

    fn put_document(&self, document: &Json) -> Result<OperatorReply, Failure> {
        let put = Put { resource: Resource::Publisher, id: "acme".into(), body: document.to_string(), condition: None };
        self.service().command(Command::Put(put)).now_or_never().unwrap()
    }

    fn import(&self, approved: bool) -> Result<OperatorReply, Failure> {
        let mut line = document(approved);
        line["kind"] = "publisher".into();
        line["id"] = "acme".into();
        self.import_lines(&format!("{line}\n"), false)
    }

    pub fn import_lines(&self, lines: &str, is_dry_run: bool) -> Result<OperatorReply, Failure> {
        let chunk: Result<_, ()> = Ok(lines.as_bytes().to_vec());
        let body = futures_util::stream::iter([chunk]);
        self.service().import(Some(body), is_dry_run).now_or_never().unwrap()
    }

    fn alarm(&self) {
        self.service().alarm().now_or_never().unwrap();
    }

    fn is_suspended(&self) -> bool {
        let rows = self.account.query("SELECT is_suspended FROM account", &[]).unwrap();
        rows.first().is_some_and(|row| row.boolean(0).unwrap())
    }

    fn is_approved(&self) -> bool {
        self.catalog.get(Resource::Publisher, "acme")["approved"] == true
    }
}

fn code(reply: Result<OperatorReply, Failure>) -> &'static str {
    crate::refused(reply).0
}

type Write = fn(&World, bool) -> Result<OperatorReply, Failure>;
const WRITES: [Write; 2] = [World::put, World::import];

#[test]
fn an_account_is_suspended_while_its_approval_is_taken_back() {
    for write in WRITES {
        let world = World::new();
        for (approved, is_suspended) in [(true, false), (false, true), (false, true), (true, false), (false, true)] {
            write(&world, approved).unwrap();
            assert_eq!(world.is_suspended(), is_suspended, "{approved}");
        }
        assert_eq!(world.calls.get(), 3, "what is known is not told again");
        assert_eq!(Suspend::next_ms(&world.catalog.db), Ok(None));
    }
}

#[test]
fn a_publisher_that_waits_for_its_approval_is_not_suspended() {
    for write in WRITES {
        let world = World::new();
        for approved in [false, false, true] {
            write(&world, approved).unwrap();
            assert_eq!((world.is_suspended(), world.calls.get()), (false, 0));
        }
    }
}

/// Its sessions and keys end, whether it was ever approved or not.
#[test]
fn a_publisher_that_is_closed_is_suspended() {
    for known in [None, Some(false), Some(true)] {
        let world = World::new();
        if let Some(approved) = known {
            world.put(approved).unwrap();
        }
        let closed = json!({ "name": "Acme", "approved": false, "closed": true });
        world.put_document(&closed).unwrap();
        assert!(world.is_suspended(), "{known:?}");
    }
}

#[test]
fn a_write_is_answered_when_the_account_knows() {
    for write in WRITES {
        for fault in [Fault::Before, Fault::After] {
            for approved in [false, true] {
                let world = World::new();
                world.put(true).unwrap();
                if approved {
                    world.put(false).unwrap();
                }
                world.faults.borrow_mut().push(fault);
                assert_eq!(code(write(&world, approved)), "unavailable");
                assert_eq!(world.is_approved(), approved, "it is stored all the same");
                world.catalog.wait(1);
                // The same again changes nothing in the catalog, and tells the account.
                write(&world, approved).unwrap();
                assert_eq!(world.is_suspended(), !approved);
            }
        }
    }
}

#[test]
fn the_alarm_tells_an_account_that_was_not_reached() {
    for write in WRITES {
        let world = World::new();
        world.put(true).unwrap();
        *world.faults.borrow_mut() = vec![Fault::After, Fault::Before];
        assert_eq!(code(write(&world, false)), "unavailable");
        assert!(!world.is_suspended());
        let due_ms = Suspend::next_ms(&world.catalog.db).unwrap().unwrap();
        assert!(due_ms <= world.catalog.now() + RETRY_MS.max(FIRST_PUSH_MS));
        world.catalog.now_ms.set(due_ms);
        world.alarm();
        assert!(world.is_suspended());
        assert_eq!(Suspend::next_ms(&world.catalog.db), Ok(Some(due_ms + RETRY_MS)), "the answer was lost");
        world.catalog.wait(RETRY_MS);
        world.alarm();
        assert_eq!(Suspend::next_ms(&world.catalog.db), Ok(None));
    }
}

#[test]
fn attention_hears_once_of_a_new_publisher_that_waits() {
    for write in WRITES {
        let world = World::new();
        let next_ms = || Waiting::next_ms(&world.catalog.db).unwrap();
        write(&world, false).unwrap();
        assert_eq!(next_ms(), Some(world.catalog.now() + FIRST_PUSH_MS));
        world.catalog.wait(FIRST_PUSH_MS);
        world.faults.borrow_mut().push(Fault::Before);
        world.alarm();
        assert_eq!(next_ms(), Some(world.catalog.now() + RETRY_MS));
        world.catalog.wait(RETRY_MS);
        world.alarm();
        assert_eq!(next_ms(), None);
        let changed = json!({ "name": "Acme Games", "approved": false });
        world.put_document(&changed).unwrap();
        assert_eq!(next_ms(), None, "it is not new");

        // No alarm is raised for a publisher that is approved soon or at once, or whose approval is taken back.
        for approvals in [&[false, true][..], &[true], &[true, false]] {
            let world = World::new();
            for approved in approvals {
                write(&world, *approved).unwrap();
            }
            assert_eq!(Waiting::next_ms(&world.catalog.db), Ok(None), "{approvals:?}");
        }
    }
}

#[test]
fn alarms_of_a_closed_publisher_end() {
    let world = World::new();
    let activity = activity::object_name(&PublisherId::parse("acme").unwrap());
    let is_ended = || {
        let raised = world.raised.borrow();
        raised.iter().any(|(to, raised)| *to == activity && raised.ends)
    };
    world.put(true).unwrap();
    world.put_document(&json!({ "name": "Acme", "approved": false, "closed": true })).unwrap();
    let next_ms = || Waiting::next_ms(&world.catalog.db).unwrap();
    assert_eq!(next_ms(), Some(world.catalog.now() + FIRST_PUSH_MS));
    // Its activity does not answer at first.
    world.catalog.wait(FIRST_PUSH_MS);
    world.faults.borrow_mut().push(Fault::Before);
    world.alarm();
    assert!(!is_ended());
    assert_eq!(next_ms(), Some(world.catalog.now() + RETRY_MS));
    world.catalog.wait(RETRY_MS);
    world.alarm();
    assert!(is_ended());
    assert_eq!(next_ms(), None);
    // No alarm told the operator that this publisher waits for approval.
    assert_eq!(world.raised.borrow().len(), 1);
}

#[test]
fn no_fault_of_the_catalogs_database_loses_a_suspension() {
    for nth in 1.. {
        for fault in [Fault::Before, Fault::After] {
            let world = World::new();
            world.put(true).unwrap();
            world.catalog.db.inject(Faults::at(nth, fault));
            let first = world.put(false);
            let is_broken = world.catalog.db.writes() >= nth;
            world.catalog.db.inject(Faults::none());
            if first.is_ok() {
                assert!(world.is_suspended(), "write {nth} broken: {fault:?}");
            }
            if !world.is_approved() {
                world.catalog.wait(RETRY_MS);
                world.alarm();
                assert!(world.is_suspended(), "write {nth} broken: {fault:?}");
            }
            if !is_broken {
                assert!(nth > 3);
                return;
            }
        }
    }
}
