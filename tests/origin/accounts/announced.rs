//! Each change of another object has its entry in the audit, despite lost calls, lost answers and failed writes. The
//! dashboard's own function runs between the real account and the real ledger.

use std::{cell::Cell, time::Duration};

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::{
    migrated,
    sqlite::{Fault, Faults, Sqlite},
};
use contract::{
    ledger::{self, CreateKey, RevokeKey},
    operation::{CallError, ObjectAddress, Operation, OperatorReply, Unanswered},
};
use domain::reporting::keys::Scope;
use domain::{
    callbacks::signature::SignWith,
    model::{AppId, PublisherId},
};
use origin::http::site::audited;
use platform::{failure::Failure, traits::ObjectCall};

/// The two objects, and how the nth call between the dashboard and them fails.
struct Objects<'w> {
    world: &'w World,
    ledger: &'w Sqlite,
    fault: Option<(usize, Fault)>,
    calls: Cell<usize>,
}

fn publisher() -> PublisherId {
    PublisherId::parse("lumen-arcade").unwrap()
}

fn answered(outcome: Result<Value, Failure>) -> Result<Value, CallError> {
    outcome.map_err(|failure| {
        let error = failure.into_answer();
        CallError::from_answer(error.status, error.body(), error.retry_after_s)
    })
}

impl ObjectCall for Objects<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        self.calls.set(self.calls.get() + 1);
        let fault = self.fault.filter(|(nth, _)| *nth == self.calls.get());
        if matches!(fault, Some((_, Fault::Before))) {
            return Err(Unanswered::default().into());
        }
        let command = serde_json::to_value(operation.into()).unwrap();
        let outcome = if to.binding == BINDING {
            let command: Command = serde_json::from_value(command).unwrap();
            let reply = self.world.command(command);
            answered(reply.map(|reply| serde_json::to_value(reply).unwrap()))
        } else {
            let context = origin::objects::ledger::Context {
                now_ms: self.world.now_ms.get(),
                random: &|| Ok([5; 32]),
                mac: &|| Ok(world::keys()),
                publisher: &publisher(),
            };
            let command = serde_json::from_value(command).unwrap();
            let reply = origin::objects::ledger::handle(self.ledger, &context, command);
            answered(reply.map(|reply| serde_json::to_value(reply).unwrap()))
        };
        if fault.is_some() {
            return Err(Unanswered::default().into());
        }
        outcome.map(|answer| serde_json::from_value(answer).unwrap())
    }
}

/// A change that a member makes, and whether the ledger shows that it was made.
struct Case {
    name: &'static str,
    prepare: fn(&Objects<'_>, MemberId),
    change: fn(&Objects<'_>, MemberId) -> Result<OperatorReply, CallError>,
    is_made: fn(&Sqlite) -> bool,
    action: &'static str,
}

const KEY: &str = "0505050505050505";

fn create(objects: &Objects<'_>, by: MemberId) -> Result<OperatorReply, CallError> {
    let announce = Announce {
        by: Actor::Member(by),
        change: AnnouncedChange::CreateReportKey { label: "warehouse".into(), scope: Scope::Reporting },
    };
    let create = CreateKey { body: json!({ "label": "warehouse" }).to_string(), by: None };
    let key_id = |reply: &OperatorReply| {
        let body: Value = serde_json::from_str(&reply.body).unwrap();
        Some(body["key_id"].as_str().unwrap().to_owned())
    };
    let (account, ledger) = (objects.world.account.id(), ledger::address(&publisher(), ledger::OPERATOR));
    let change = audited::change(objects, account, announce, &ledger, create, key_id);
    change.now_or_never().unwrap()
}

fn revoke(objects: &Objects<'_>, by: MemberId) -> Result<OperatorReply, CallError> {
    let announce = Announce { by: Actor::Member(by), change: AnnouncedChange::RevokeReportKey { key_id: KEY.into() } };
    let revoke = RevokeKey { key_id: KEY.into() };
    let (account, ledger) = (objects.world.account.id(), ledger::address(&publisher(), ledger::OPERATOR));
    let change = audited::change(objects, account, announce, &ledger, revoke, |_| None);
    change.now_or_never().unwrap()
}

const CASES: [Case; 2] = [
    Case {
        name: "create",
        prepare: |_, _| {},
        change: create,
        is_made: |ledger| !crate::dump(ledger, "report_keys").is_empty(),
        action: "report_key_created",
    },
    Case {
        name: "revoke",
        prepare: |objects, by| drop(create(objects, by).unwrap()),
        change: revoke,
        is_made: |ledger| crate::dump(ledger, "report_keys").is_empty(),
        action: "report_key_revoked",
    },
];

/// Runs a case on new objects with a fault in a call, or in a write of the account or of the ledger. Returns whether
/// the fault was reached.
fn run(case: &Case, place: &str, nth: usize, fault: Fault) -> bool {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let db = migrated(origin::objects::ledger::MIGRATIONS);
    let mut objects = Objects { world: &world, ledger: &db, fault: None, calls: Cell::new(0) };
    (case.prepare)(&objects, ada.id);
    objects.calls.set(0);
    world.db.inject(Faults::none());
    db.inject(Faults::none());
    match place {
        "call" => objects.fault = Some((nth, fault)),
        "account" => world.db.inject(Faults::at(nth, fault)),
        _ => db.inject(Faults::at(nth, fault)),
    }
    let outcome = (case.change)(&objects, ada.id);
    let count = match place {
        "call" => objects.calls.get(),
        "account" => world.db.writes(),
        _ => db.writes(),
    };
    world.db.inject(Faults::none());
    db.inject(Faults::none());
    let read = ReadAudit { limit: 200, before: None };
    let entries = world.send(read).unwrap().entries;
    let entry = entries.iter().find(|entry| entry.action == case.action);
    let about = format!("{} with {place} {nth} broken: {fault:?}: {outcome:?}", case.name);
    assert!(entry.is_some() || !(case.is_made)(&db), "{about}");
    if outcome.is_ok() {
        assert!((case.is_made)(&db), "{about}");
    }
    if let Some(entry) = entry {
        assert_eq!(entry.actor, Some(ada.id), "{about}");
        assert!(entry.is_unconfirmed || (case.is_made)(&db), "{about}");
        assert!(entry.is_unconfirmed || entry.subject.as_deref() == Some(KEY), "{about}");
    }
    count >= nth
}

#[test]
fn no_fault_leaves_a_change_without_its_entry() {
    for case in &CASES {
        for place in ["call", "account", "ledger"] {
            for fault in [Fault::Before, Fault::After] {
                let reached = (1..).take_while(|nth| run(case, place, *nth, fault)).count();
                assert!(reached > 0 && (place != "call" || reached == 3), "{} {place} {reached}", case.name);
            }
        }
    }
}

#[test]
fn a_refused_change_leaves_no_entry() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let db = migrated(origin::objects::ledger::MIGRATIONS);
    let objects = Objects { world: &world, ledger: &db, fault: None, calls: Cell::new(0) };
    let before = world.audit();
    let refused = revoke(&objects, ada.id).unwrap_err();
    assert_eq!(refused.code(), "not_found");
    assert_eq!(world.audit(), before);
    // Another entry gets the number of the one that left, and a second settlement does not touch it.
    world.sign_in(&ada, 2).unwrap();
    for is_done in [true, false] {
        let settle = Settle {
            entry: i64::try_from(before.len()).unwrap() + 1,
            is_done,
            subject: Some("other".into()),
            detail: None,
        };
        world.send(settle).unwrap();
    }
    assert_eq!(world.audit()[before.len()], ["Ada", "signed_in", "-", "-"].map(str::to_owned));
}

#[test]
fn a_member_creates_10_report_keys_an_hour_and_revokes_as_many_as_it_must() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    let announce = |change: AnnouncedChange| {
        let by = Actor::Member(ada.id);
        world.send(Announce { by, change })
    };
    let label = || AnnouncedChange::CreateReportKey { label: "x".into(), scope: Scope::Reporting };
    for _ in 0..10 {
        announce(label()).unwrap();
    }
    assert_eq!(refusal(announce(label())), (429, "rate_limit_exceeded"));
    for _ in 0..40 {
        announce(AnnouncedChange::RevokeReportKey { key_id: KEY.into() }).unwrap();
    }
    world.pass(HOUR_MS);
    announce(label()).unwrap();
}

#[test]
fn members_test_callbacks_once_in_5_seconds_and_60_times_an_hour() {
    let world = World::new();
    let (ada, bob) = (world.join("Ada", Role::Owner), world.join("Bob", Role::Developer));
    let test = |by: MemberId, app: &str| {
        let by = Actor::Member(by);
        let change = AnnouncedChange::TestCallback { app_id: AppId::parse(app).unwrap(), sign_with: SignWith::Wrong };
        world.send(Announce { by, change }).map(drop)
    };
    let wait_s = |outcome: Result<(), Failure>| match outcome.unwrap_err() {
        Failure::Refused(error) => {
            assert_eq!((error.status, error.code), (429, "rate_limit_exceeded"));
            error.retry_after_s.unwrap()
        }
        internal => panic!("{internal:?}"),
    };
    for _ in 0..60 {
        test(ada.id, "10000001").unwrap();
        // Another member and another app have to wait after that test, too. A refused test does not count.
        assert_eq!(wait_s(test(bob.id, "10000002")), 6);
        world.pass(5 * SECOND_MS);
    }
    let before = crate::dump(&world.db, "audit").len();
    assert_eq!(wait_s(test(ada.id, "10000001")), 3_301);
    assert_eq!(crate::dump(&world.db, "audit").len(), before);
    test(bob.id, "10000001").unwrap();
    world.pass(55 * MINUTE_MS);
    test(ada.id, "10000001").unwrap();
}
