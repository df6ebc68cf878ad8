//! Alarms: the first is told at once, further ones in digests, and each message has one id whatever fails.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use proptest::prelude::*;
use serde_json::Value as Json;

use crate::{simulations, sqlite::Sqlite};
use contract::{
    alarms::{AlarmKind, RaiseAlarms, ReadAlarmAddress, TestAlarms},
    outbox::EndpointState,
};
use domain::model::{
    common,
    time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS},
};
use origin::objects::activity::alarms::sql;
use platform::failure::Failure;
use world::*;

mod world;

#[test]
fn the_first_alarm_says_what_happened_since_when_what_it_costs_and_where_to_repair_it() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    world.report(EndpointState::Healthy, 0);
    world.pass(MINUTE_MS);
    assert!(world.sent().is_empty());
    world.report(EndpointState::Failing, 0);
    world.pass(MINUTE_MS);
    let [sent] = &world.sent()[..] else { panic!("{:?}", world.sent()) };
    assert!(sent.at_ms - (NOW + MINUTE_MS) < MINUTE_MS);
    assert_eq!(sent.body["type"], "endpoint.failing");
    assert_eq!(sent.body["data"]["subject"], "00000042");
    assert_eq!(sent.body["data"]["since"], "2026-01-15T12:26:00Z");
    assert_eq!(sent.body["data"]["page"], "https://dash.example/dashboard/apps/00000042");
    for words in ["summary", "cost"] {
        assert!(sent.body["data"][words].as_str().unwrap().len() > 20, "{}", sent.body);
    }
    // The same state from another outbox of the app is not another cause.
    world.report(EndpointState::Failing, 0);
    world.pass(3 * HOUR_MS);
    assert_eq!(world.sent().len(), 1);
}

#[test]
fn a_flapping_endpoint_has_at_most_24_ids_a_day_and_its_last_state_is_told() {
    let states = [EndpointState::Failing, EndpointState::Healthy, EndpointState::Disabled, EndpointState::Healthy];
    for minutes in [1, 7, 59, 61, 90] {
        let db = Sqlite::in_memory();
        let mut world = World::new(&db);
        let began_ms = world.now_ms();
        for state in states.into_iter().cycle() {
            if world.now_ms() >= began_ms + DAY_MS {
                break;
            }
            world.report(state, 0);
            world.pass(minutes * MINUTE_MS);
        }
        let ids = world.ids(began_ms, began_ms + DAY_MS).len();
        assert!((10..=24).contains(&ids), "{ids} ids, every {minutes} minutes");
        // Each kind was told within a minute of its first cause.
        for kind in ["endpoint.failing", "endpoint.recovered", "endpoint.disabled"] {
            let first = world.sent().into_iter().find(|sent| sent.body["type"] == kind).unwrap();
            assert!(first.at_ms <= began_ms + 2 * minutes * MINUTE_MS + MINUTE_MS, "{kind}");
        }
    }
}

#[test]
fn a_thousand_rewards_given_up_within_an_hour_are_one_alarm_and_one_digest() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    for dead in 1..=1_000 {
        world.report(EndpointState::Healthy, dead);
        world.pass(3 * SECOND_MS);
    }
    world.pass(3 * HOUR_MS);
    let [first, digest] = &world.sent()[..] else { panic!("{:?}", world.sent()) };
    assert_eq!(first.body["data"]["count"], 1);
    assert_eq!(digest.body["data"]["count"], 999);
    assert_eq!(digest.body["data"]["page"], "https://dash.example/dashboard/rewards?delivery=dead");
}

#[test]
fn many_alarms_that_come_at_once_share_a_message() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    for app in 0..450 {
        world.raise(AlarmKind::EndpointFailing, &format!("{app:08}"), 1);
    }
    world.pass(MINUTE_MS);
    let sizes: Vec<_> = world.sent().iter().map(|sent| sent.entries().len()).collect();
    assert_eq!(sizes, [200, 200, 50]);
    assert!(world.sent().iter().all(|sent| sent.body["type"] == "digest"));
}

#[test]
fn an_address_that_fails_is_tried_by_the_schedule_and_its_last_answer_is_shown() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    let read = |world: &World<'_>| -> Json {
        serde_json::from_str(&world.operator(ReadAlarmAddress {}).unwrap().body).unwrap()
    };
    assert_eq!(read(&world)["address"]["url"], "https://hooks.acme.example/alarms?key=********");
    for (receiver, status) in [(302, Some(302)), (503, Some(503)), (0, None)] {
        world.runtime.0.receiver.set(Receiver::Answers(receiver));
        world.raise(AlarmKind::DayChanged, &format!("to {receiver}"), 1);
        world.pass(MINUTE_MS);
        let shown = read(&world);
        assert_eq!(shown["address"]["last_try"]["http_status"], Json::from(status), "{shown}");
        assert!(shown["address"]["waiting"].as_i64() >= Some(1), "{shown}");
    }
    world.runtime.0.receiver.set(Receiver::Answers(200));
    world.pass(DAY_MS);
    assert_eq!(read(&world)["address"]["waiting"], 0);
    let ids: BTreeSet<_> = world.sent().into_iter().map(|sent| sent.id).collect();
    assert_eq!(ids.len(), 3, "a repeat has the id of the first try");
    // An alarm seals the settings again with a new key, so that the old one can be removed.
    for keys in [BOTH_KEYS, NEW_KEY] {
        world.runtime.0.keys.set(keys);
        world.kill();
        world.raise(AlarmKind::DayChanged, keys, 1);
        world.pass(DAY_MS);
        assert_eq!(read(&world)["address"]["url"], "https://hooks.acme.example/alarms?key=********");
    }
    // Without an address nothing is noted and nothing is sent.
    world.kill();
    world.set(None).unwrap();
    assert_eq!(read(&world)["address"], Json::Null);
    world.raise(AlarmKind::DayChanged, "none", 1);
    world.pass(DAY_MS);
    assert_eq!(world.ids(0, i64::MAX).len(), 5);
    assert!(world.operator(TestAlarms {}).is_err());
    for refused in
        ["http://10.0.0.1/x", "https://x.example:8443/", "ftp://x.example", "https://x.example/{user_id}", "nonsense"]
    {
        let Err(Failure::Refused(error)) = world.set(Some(refused)) else { panic!("{refused}") };
        assert!(error.message.starts_with("url: "), "{}", error.message);
    }
    let ran = db.statements();
    let idle: Vec<_> = sql::ALL.iter().filter(|sql| !ran.contains(**sql)).collect();
    assert!(idle.is_empty(), "listed but never ran: {idle:#?}");
}

#[test]
fn an_object_that_is_put_back_sends_to_the_newest_address() {
    let db = Sqlite::in_memory();
    let world = World::new(&db);
    let before = db.copy();
    world.set(Some("https://new.acme.example/alarms")).unwrap();
    let with_new = db.copy();
    let url = |world: &World<'_>| {
        let read = world.operator(ReadAlarmAddress {}).unwrap();
        serde_json::from_str::<Json>(&read.body).unwrap()["address"]["url"].clone()
    };
    let mut world = world.put_back(&before);
    // The put-back object sends a report to the new address even before anybody has read the address.
    world.report(EndpointState::Failing, 0);
    assert_eq!(url(&world), "https://new.acme.example/alarms");
    world.pass(MINUTE_MS);
    assert_eq!(world.sent().len(), 1);

    // An address that was removed stays removed.
    world.set(None).unwrap();
    let world = world.put_back(&with_new);
    assert_eq!(url(&world), Json::Null);

    // The address of a closed publisher stays removed, too.
    world.set(Some(URL)).unwrap();
    let with_last = with_new.copy();
    let closed = RaiseAlarms { alarms: vec![], ends: true };
    world.send(closed).unwrap();
    assert_eq!(url(&world), Json::Null);
    let world = world.put_back(&with_last);
    assert_eq!(url(&world), Json::Null);

    // Without the register no address can be set, but reports are accepted.
    let mut world = world.put_back(&before);
    world.runtime.0.registers.are_down.set(true);
    assert_eq!(world.set(Some(URL)).unwrap_err(), common::UNAVAILABLE.into());
    world.report(EndpointState::Failing, 0);
}

#[test]
fn alarms_that_wait_for_an_address_whose_key_is_gone_go_to_the_next_address() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    world.runtime.0.keys.set(OTHER_KEYS);
    world.kill();
    world.report(EndpointState::Failing, 0);
    // The time lies between two hourly tries.
    world.pass(2 * HOUR_MS + 10 * MINUTE_MS);
    assert!(world.sent().is_empty());
    let read = world.operator(ReadAlarmAddress {}).unwrap();
    let shown: Json = serde_json::from_str(&read.body).unwrap();
    assert_eq!((&shown["address"]["url"], &shown["address"]["waiting"]), (&Json::Null, &1.into()));
    world.set(Some(URL)).unwrap();
    world.pass(MINUTE_MS);
    assert_eq!(world.sent().len(), 1);
}

#[test]
fn an_alarm_that_an_address_did_not_take_has_all_attempts_at_the_next_address() {
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    world.runtime.0.receiver.set(Receiver::Answers(500));
    world.report(EndpointState::Failing, 0);
    world.pass(20 * HOUR_MS);
    let tried = world.sent().len();
    world.set(Some("https://new.acme.example/alarms")).unwrap();
    world.pass(100 * HOUR_MS);
    assert_eq!(world.sent().len(), tried + 12);
}

#[test]
fn a_replay_goes_on_while_the_address_hangs() {
    const STEPS: u32 = 40;
    let db = Sqlite::in_memory();
    let mut world = World::new(&db);
    world.report(EndpointState::Failing, 0);
    world.runtime.0.receiver.set(Receiver::Hangs);
    world.replay(STEPS);
    world.pass(MINUTE_MS);
    assert_eq!(world.runtime.0.steps.get(), 0);
    assert!(!world.sent().is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Raise {
        kind: usize,
        subject: u8,
    },
    Pass(i64),
    Receiver(Receiver),
    Kill,
    Copy,
    /// The object is put back to the last copy.
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let receiver = prop_oneof![
        4 => Just(Receiver::Answers(200)),
        2 => Just(Receiver::Answers(500)),
        1 => Just(Receiver::Answers(0)),
        2 => Just(Receiver::Hangs),
    ];
    let step = prop_oneof![
        6 => (0..AlarmKind::ALL.len(), 0..4_u8).prop_map(|(kind, subject)| Step::Raise { kind, subject }),
        4 => (0..90 * MINUTE_MS).prop_map(Step::Pass),
        2 => receiver.prop_map(Step::Receiver),
        1 => Just(Step::Kill),
        1 => Just(Step::Copy),
        1 => Just(Step::Restore),
    ];
    proptest::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(simulations(24))]

    /// Each cause is told once, in a message with one id, whatever the receiver and the processes do. After a restore
    /// the object tells the causes in its copy, perhaps again, and all later ones.
    #[test]
    fn each_cause_is_told_once_and_a_message_has_one_id(steps in steps()) {
        check(steps)?;
    }
}

/// A receiver that knows an id takes the message for a repeat.
#[test]
fn a_message_with_other_causes_than_before_a_restore_has_another_id() {
    let raise = || Step::Raise { kind: 2, subject: 3 };
    for later in [vec![], vec![raise()], vec![raise(), raise()]] {
        let mut steps = vec![raise(), Step::Copy, raise(), Step::Pass(2_000), Step::Restore];
        steps.extend(later);
        check(steps).unwrap();
    }
}

fn check(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let databases: Vec<_> = steps.iter().map(|_| OnceCell::new()).collect();
    let first = Sqlite::in_memory();
    let mut db = &first;
    let mut world = World::new(db);
    let (mut cause, mut raised) = (0, BTreeMap::<(String, String), i64>::new());
    let mut last_copy = None;
    let is_put_back = steps.iter().any(|step| matches!(step, Step::Restore));
    let hangs = steps.iter().any(|step| matches!(step, Step::Receiver(Receiver::Hangs)));
    let mut firsts = BTreeMap::<(String, String), i64>::new();
    for (step, restored) in steps.into_iter().zip(&databases) {
        match step {
            Step::Raise { kind, subject } => {
                cause += 1;
                let kind = AlarmKind::ALL[kind];
                let subject = format!("s-{subject}");
                world.raise(kind, &subject, cause);
                // A repeat of a report raises the same cause.
                world.raise(kind, &subject, cause);
                let key = (kind.as_str().to_owned(), subject);
                firsts.entry(key.clone()).or_insert(world.now_ms());
                *raised.entry(key).or_default() += 1;
            }
            Step::Pass(ms) => world.pass(ms),
            Step::Receiver(receiver) => world.runtime.0.receiver.set(receiver),
            Step::Kill => world.kill(),
            Step::Copy => last_copy = Some((db.copy(), raised.clone(), firsts.clone())),
            Step::Restore => {
                if let Some((copy, raised_then, firsts_then)) = &last_copy {
                    db = restored.get_or_init(|| copy.copy());
                    world = world.put_back(db);
                    (raised, firsts) = (raised_then.clone(), firsts_then.clone());
                    world.wake();
                }
            }
        }
    }
    world.runtime.0.receiver.set(Receiver::Answers(200));
    world.pass(10 * DAY_MS);
    let mut bodies = BTreeMap::new();
    for sent in world.sent() {
        // A repeat has the same id and the same body; one that was made again after a restore has a time of its own.
        let known = bodies.entry(sent.id.clone()).or_insert_with(|| sent.body.clone());
        prop_assert_eq!(&known["data"], &sent.body["data"]);
        prop_assert!(is_put_back || *known == sent.body);
    }
    let mut told = BTreeMap::<(String, String), i64>::new();
    let mut times = BTreeMap::<(String, String), i64>::new();
    for sent in world.sent() {
        for entry in sent.entries() {
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            let time = times.entry((text("type"), text("subject"))).or_insert(sent.at_ms);
            *time = (*time).min(sent.at_ms);
        }
    }
    for body in bodies.into_values() {
        let entries = Sent { at_ms: 0, id: String::new(), body }.entries();
        for entry in entries {
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            *told.entry((text("type"), text("subject"))).or_default() += entry["count"].as_i64().unwrap();
        }
    }
    prop_assert!(is_put_back || told.keys().eq(raised.keys()));
    for (key, count) in raised {
        let told = told[&key];
        prop_assert!(told == count || (is_put_back && told > count), "{key:?}: {told} told of {count}");
    }
    for (key, first_ms) in firsts {
        let sent_ms = times[&key];
        // An address that hangs delays its own alarms.
        prop_assert!(hangs || sent_ms - first_ms <= MINUTE_MS, "{key:?} came after {} ms", sent_ms - first_ms);
    }
    Ok(())
}
