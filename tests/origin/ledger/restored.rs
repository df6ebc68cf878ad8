//! A ledger that is put back to an earlier copy: keys are as they were, and days that were loaded since are named.

use std::{cell::Cell, time::Duration};

use crate::{now, registers::Registers, storage::Storage};
use contract::{
    attention,
    ledger::{AddOffers, Command, CreateKey, ListKeys, Reply, RevokeKey, SuspendKeys, Target, Upload},
    operation::{CallError, Mark, ObjectAddress, Operation, OperatorReply},
};
use domain::{
    model::{PublisherId, time::DAY_MS},
    reporting::facts::Format,
};
use origin::objects::ledger::service::{Asked, LedgerService};
use platform::{
    database::Database,
    failure::Failure,
    traits::{Clock, ObjectCall, Random},
};
use serde_json::Value;

use super::*;

pub struct World {
    pub db: Sqlite,
    pub registers: Registers,
    pub now_ms: Cell<i64>,
}

pub struct Runtime<'w>(&'w World);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Random for Runtime<'_> {
    fn random(&self) -> Result<[u8; 32], String> {
        self.0.now_ms.set(self.now_ms() + 1);
        let drawn = self.now_ms().to_be_bytes();
        Ok(std::array::from_fn(|at| drawn[at % 8]))
    }
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if to.binding == attention::BINDING {
            return self.0.registers.answer(self.now_ms(), to, operation);
        }
        let names = serde_json::to_string(&OperatorReply::new(200, "{}")).unwrap();
        Ok(serde_json::from_str(&names).unwrap())
    }
}

impl World {
    pub fn new() -> Self {
        Self { db: ledger(), registers: Registers::default(), now_ms: Cell::new(day(30).start_ms()) }
    }

    pub fn service(&self) -> LedgerService<Storage<'_>, Runtime<'_>> {
        let (storage, runtime) = (Storage::new(&self.db), Runtime(self));
        LedgerService::new(Some("ledger-acme".into()), storage, runtime, "ab".repeat(32))
    }

    pub fn send(&self, command: impl Into<Command>) -> Result<Reply, Failure> {
        now(self.service().command(&publisher(), command.into()))
    }

    /// The id and the secret of a new key.
    fn create(&self) -> (String, String) {
        let body = r#"{"label":"warehouse"}"#.into();
        let Ok(Reply::Operator(reply)) = self.send(CreateKey { body, by: None }) else {
            panic!("no key");
        };
        let key: Value = serde_json::from_str(&reply.body).unwrap();
        let text = |name: &str| key[name].as_str().unwrap().to_owned();
        (text("key_id"), text("api_key"))
    }

    /// The status of a report with this key.
    fn status(&self, key: &str) -> u16 {
        let report = now(self.service().report(&publisher(), key, Asked::default(), async || Ok("{".into())));
        match report {
            // The query is invalid, but the key is valid.
            Ok(_) => 200,
            Err(Failure::Refused(error)) => error.status,
            Err(error) => panic!("{error:?}"),
        }
    }

    fn load(&self, target: Target) {
        self.load_rows(target, &format!("{},10000001,DE,p,banner,house,7.0.0,1,1,1,1,0.5\n", day(3)));
    }

    /// Loads facts, whose rows have no header.
    pub fn load_rows(&self, target: Target, rows: &str) {
        const HEADER: &str = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue";
        let upload = Upload { format: Format::Csv, gzip: false, target, by: None, is_dry_run: false };
        let chunk: Result<_, ()> = Ok(format!("{HEADER}\n{rows}").into_bytes());
        let chunks = || Ok(Some(futures_util::stream::iter([chunk])));
        let reply = now(self.service().facts(&publisher(), upload, chunks)).unwrap();
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    fn loaded_days(&self) -> Option<i64> {
        self.db.query_integer("SELECT COUNT(*) FROM loads", &[]).unwrap()
    }
}

pub fn publisher() -> PublisherId {
    PublisherId::parse("acme").unwrap()
}

#[test]
fn keys_keep_their_state_after_a_restore() {
    let mut world = World::new();
    let (revoked_id, revoked) = world.create();
    let (_, kept) = world.create();
    let copy = world.db.copy();
    world.send(RevokeKey { key_id: revoked_id }).unwrap();
    let (_, new) = world.create();
    world.db = copy;
    assert_eq!([&revoked, &kept, &new].map(|key| world.status(key)), [401, 200, 200]);
    assert_eq!(world.registers.doubts(), [], "nothing is in doubt");

    let copy = world.db.copy();
    let suspend = |is_suspended, revision| SuspendKeys { is_suspended, revision };
    world.send(suspend(true, 5)).unwrap();
    world.db = copy;
    assert_eq!(world.status(&kept), 401);
    let copy = world.db.copy();
    world.send(suspend(false, 6)).unwrap();
    world.db = copy;
    assert_eq!(world.status(&kept), 200);
}

#[test]
fn a_batch_after_its_mark_shows_that_it_was_put_back() {
    let world = World::new();
    let batch = |after, number| AddOffers { source: "outbox-00000042-0".into(), after, number, sums: vec![] };
    let send = |batch| now(world.service().command(&publisher(), Command::AddOffers(batch)));
    for (after, number) in [(0, 5), (0, 5), (5, 7)] {
        send(batch(after, number)).unwrap();
    }
    assert_eq!(world.registers.doubts(), []);
    world.registers.are_down.set(true);
    assert!(send(batch(8, 9)).is_err(), "the sender sends it again");
    world.registers.are_down.set(false);
    assert!(matches!(send(batch(8, 9)), Ok(Reply::Mark(Mark { mark: 7 }))));
    let doubt = ("ledger-acme".to_owned(), "ledger_restored".to_owned());
    assert_eq!(world.registers.doubts(), [doubt]);
}

#[test]
fn no_key_is_accepted_until_the_register_has_answered() {
    let mut world = World::new();
    let (key_id, key) = world.create();
    let copy = world.db.copy();
    world.send(RevokeKey { key_id }).unwrap();
    world.db = copy;
    world.registers.are_down.set(true);
    assert_eq!(world.status(&key), 503);
    world.registers.are_down.set(false);
    assert_eq!(world.status(&key), 401);
}

#[test]
fn a_change_is_answered_once_the_register_has_it() {
    let mut world = World::new();
    let (key_id, key) = world.create();
    let copy = world.db.copy();
    let service = world.service();
    assert!(now(service.report(&publisher(), &key, Asked::default(), async || Ok("{".into()))).is_ok());
    world.registers.are_down.set(true);
    let revoke = || RevokeKey { key_id: key_id.clone() };
    let refused = now(service.command(&publisher(), revoke().into()));
    assert!(matches!(refused, Err(Failure::Refused(error)) if error.status == 503));
    world.registers.are_down.set(false);
    // The key is revoked, so the repeat is refused, and registers it.
    let repeated = now(service.command(&publisher(), revoke().into()));
    assert!(matches!(repeated, Err(Failure::Refused(error)) if error.status == 404));
    drop(service);
    world.db = copy;
    assert_eq!(world.status(&key), 401);
}

#[test]
fn no_key_is_made_that_its_owner_might_not_see() {
    let world = World::new();
    world.create();
    world.registers.are_down.set(true);
    let body = r#"{"label":"lost"}"#.to_owned();
    let create = CreateKey { body, by: None };
    assert!(world.send(create).is_err());
    let keys = world.db.query_integer("SELECT COUNT(*) FROM report_keys", &[]);
    assert_eq!(keys, Ok(Some(1)));
}

/// The alarm registers changes that nobody repeats.
#[test]
fn the_alarm_goes_on_with_what_is_not_registered() {
    let mut world = World::new();
    let (key_id, key) = world.create();
    let copy = world.db.copy();
    let service = world.service();
    now(service.command(&publisher(), ListKeys {}.into())).unwrap();
    world.registers.are_down.set(true);
    assert!(now(service.command(&publisher(), RevokeKey { key_id }.into())).is_err());
    world.registers.are_down.set(false);
    now(service.alarm());
    drop(service);
    world.db = copy;
    assert_eq!(world.status(&key), 401);
}

#[test]
fn days_that_were_loaded_since_are_to_be_loaded_again() {
    for target in [Target::Day(day(3)), Target::Batch("key".into())] {
        let mut world = World::new();
        world.load(Target::Day(day(3)));
        let copy = world.db.copy();
        world.load(target);
        world.db = copy;
        assert_eq!(world.loaded_days(), Some(1));
        world.now_ms.set(world.now_ms.get() + DAY_MS);
        // Its own alarm finds it, too, before it calls the day final.
        now(world.service().alarm());
        assert_eq!(world.loaded_days(), Some(0), "such a day is not final");
        let doubts = [(day(3).to_string(), "load_again".to_owned())];
        assert_eq!(world.registers.doubts(), doubts);
    }
}
