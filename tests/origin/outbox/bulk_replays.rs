//! A publisher's replay of many callbacks: the activity object's steps over a real outbox, paced, repeated after a lost
//! answer, and cancelled.

use super::*;
use contract::{
    activity::{
        CancelReplay, Command as ActivityCommand, CountReplay, EndReplaysOf, ReadReplay, Reply as ActivityReply,
        StartReplay,
    },
    operation::{CallError, ObjectAddress, Operation, Unanswered},
    outbox::Command as OutboxCommand,
    rewards::{RewardDelivery, RewardFilter},
};
use domain::model::PublisherId;
use origin::{
    delivery::feed::Feed,
    objects::{
        activity::{
            self,
            publisher::replays::{self, COUNT_TOO_LONG, KEY_REUSED, PACE, REPLAY_RUNNING},
        },
        outbox::{callbacks::bulk_replay, feed::ActivityFeed, story},
    },
};
use platform::traits::{Clock, ObjectCall};
use std::time::Duration;

/// An activity object and the outbox that it calls.
struct World {
    activity: Sqlite,
    outbox: Sqlite,
    now_ms: Cell<i64>,
    answers: Cell<bool>,
    /// How long each call takes, in milliseconds.
    call_ms: Cell<i64>,
    /// Entries that a step examines.
    step: i64,
}

impl Clock for World {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }
}

impl ObjectCall for World {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        assert_eq!(to.name, "outbox-00000042-5");
        let command = serde_json::to_value(operation.into()).unwrap();
        let OutboxCommand::ReplayRewards(step) = serde_json::from_value(command).unwrap() else {
            panic!("another call to an outbox");
        };
        let replayed = bulk_replay::step(&self.outbox, self.now_ms(), &step, CLAIM_MS, self.step).unwrap();
        let timeout_ms = i64::try_from(timeout.as_millis()).unwrap();
        let is_late = self.call_ms.get() > timeout_ms;
        self.now_ms.set(self.now_ms() + self.call_ms.get().min(timeout_ms));
        if is_late || !self.answers.get() {
            return Err(Unanswered::default().into());
        }
        Ok(serde_json::from_value(serde_json::to_value(replayed).unwrap()).unwrap())
    }
}

fn acme() -> PublisherId {
    PublisherId::parse("acme").unwrap()
}

fn dead() -> RewardFilter {
    RewardFilter { delivery: Some(RewardDelivery::Dead), until: Some(NOW / 1_000 + 60), ..RewardFilter::default() }
}

impl World {
    /// With so many dead callbacks.
    fn new(callbacks: i64) -> Self {
        let (db, _) = with_rewards(1);
        apply_settings(&db, NOW, &settings(1, true));
        let callback = claim(&db, NOW).remove(0);
        abort(&db, NOW, &callback);
        fill(&db, callbacks);
        let activity = migrated(activity::MIGRATIONS);
        let report = ActivityFeed(&db).prepare(NOW).unwrap().unwrap().batch;
        activity::handle(&activity, NOW, ActivityCommand::Feed(report)).unwrap();
        Self {
            activity,
            outbox: db,
            now_ms: Cell::new(NOW),
            answers: Cell::new(true),
            call_ms: Cell::new(0),
            step: bulk_replay::STEP,
        }
    }

    fn replay(&self, command: impl Into<ActivityCommand>) -> Result<OperatorReply, Failure> {
        match activity::handle(&self.activity, self.now_ms(), command.into())? {
            ActivityReply::Operator(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    fn start(&self, key: &str) -> Result<OperatorReply, Failure> {
        self.start_with(key, dead())
    }

    fn start_with(&self, key: &str, filter: RewardFilter) -> Result<OperatorReply, Failure> {
        self.start_at_most(key, filter, None)
    }

    fn start_at_most(&self, key: &str, filter: RewardFilter, most: Option<u32>) -> Result<OperatorReply, Failure> {
        self.replay(StartReplay { publisher: acme(), app: app(), filter, key: key.into(), most })
    }

    /// Counts for a caller that asked so long ago.
    fn count_for(&self, filter: RewardFilter, waited_ms: i64) -> Result<i64, Failure> {
        let count = CountReplay { publisher: acme(), app: app(), filter };
        let asked_ms = self.now_ms() - waited_ms;
        now(replays::count(&self.activity, self, &count, asked_ms)).map(|counted| counted.count)
    }

    fn read(&self) -> Json {
        let read = ReadReplay { app: app(), replay_id: "1".into() };
        json(self.replay(read).unwrap())
    }

    fn progress(&self) -> (String, i64) {
        let progress = self.read();
        let state = progress["state"].as_str().unwrap().to_owned();
        (state, progress["replayed"].as_i64().unwrap())
    }

    /// Wakes the object when its alarm is due. Returns how far the replay is.
    fn step(&self) -> (String, i64) {
        let due_ms = activity::sweep::next_alarm(&self.activity, self.now_ms()).unwrap().unwrap();
        self.now_ms.set(due_ms.max(self.now_ms()));
        now(replays::step(&self.activity, self)).unwrap();
        self.progress()
    }

    /// Delivers what is due.
    fn deliver(&self) {
        let sql = "UPDATE entries SET delivery = 1, due_ms = NULL WHERE delivery = 0";
        self.outbox.execute(sql, &[]).unwrap();
    }

    fn waiting(&self) -> i64 {
        let sql = "SELECT COUNT(*) FROM entries WHERE delivery = 0";
        self.outbox.query_integer(sql, &[]).unwrap().unwrap()
    }
}

#[test]
fn a_replay_sends_some_callbacks_a_second_until_all_are_sent() {
    let world = World::new(250);
    assert_eq!((world.count_for(dead(), 0).unwrap(), world.waiting()), (250, 0));
    assert_eq!(world.start("key").unwrap().status, 202);
    assert_eq!(world.start("key").unwrap().status, 200);
    assert_eq!(refusal(world.start("another")), REPLAY_RUNNING);

    let running = |replayed| ("running".to_owned(), replayed);
    let pace = i64::from(PACE);
    assert_eq!(world.step(), running(pace));
    assert_eq!((world.waiting(), world.now_ms()), (pace, NOW));
    // Nothing is added while as many are due, because other callbacks would have to wait behind them.
    assert_eq!(world.step(), running(pace));
    assert_eq!((world.waiting(), world.now_ms()), (pace, NOW + 1_000));
    world.deliver();
    assert_eq!(world.step(), running(2 * pace));
    assert_eq!(world.now_ms(), NOW + 2_000);
    world.deliver();
    assert_eq!(world.step(), running(250));
    assert_eq!(world.step(), ("done".to_owned(), 250));
    assert_eq!(world.waiting(), 50);
    assert_eq!(world.start("another").unwrap().status, 202);
}

#[test]
fn a_replay_with_a_most_sends_no_more_even_if_more_match_by_then() {
    let world = World::new(250);
    let start = StartReplay { publisher: acme(), app: app(), filter: dead(), key: "key".into(), most: Some(120) };
    world.replay(start).unwrap();
    assert_eq!(world.step(), ("running".to_owned(), 100));
    world.deliver();
    assert_eq!(world.step(), ("running".to_owned(), 120));
    world.deliver();
    assert_eq!(world.step(), ("done".to_owned(), 120));
    assert_eq!(world.waiting(), 0);
}

#[test]
fn a_step_without_an_answer_is_made_again_later_and_a_cancelled_replay_stops() {
    let world = World::new(250);
    world.start("key").unwrap();
    world.answers.set(false);
    assert_eq!(world.step(), ("running".to_owned(), 0));
    world.answers.set(true);
    world.deliver();
    assert_eq!(world.step(), ("running".to_owned(), 100));
    assert_eq!((world.now_ms(), world.waiting()), (NOW + 5_000, 0));
    assert_eq!(world.step(), ("running".to_owned(), 200));
    let cancel = CancelReplay { app: app(), replay_id: "1".into() };
    assert_eq!(world.replay(cancel.clone()).unwrap().status, 204);
    // The replay is over, so a second cancellation changes nothing.
    assert_eq!(world.replay(cancel).unwrap().status, 200);
    assert_eq!(world.step(), ("cancelled".to_owned(), 200));
    assert_eq!(world.waiting(), 100);
    let unknown = CancelReplay { app: app(), replay_id: "x".into() };
    assert_eq!(refusal(world.replay(unknown)).code, "not_found");
}

/// The replay's filter names the user, and with an endpoint that does not answer the replay would never end.
#[test]
fn a_replay_of_an_erased_users_callbacks_ends() {
    let world = World::new(10);
    let of = |user: &str| RewardFilter { user_id: Some(user.into()), ..dead() };
    world.start_with("key", of("ann")).unwrap();
    let rows = || format!("{:?}", dump(&world.activity, "replays"));
    let end = |user: &str, of_app| {
        let (user_id, app) = (user.to_owned(), of_app);
        let end = EndReplaysOf { user_id, app };
        activity::handle(&world.activity, NOW, end.into()).unwrap();
    };
    end("bob", None);
    end("ann", AppId::parse("99999999"));
    assert!(rows().contains("ann"));
    for app in [None, Some(app())] {
        end("ann", app);
        assert!(!rows().contains("ann"));
        assert_eq!(world.progress(), ("cancelled".to_owned(), 0));
    }
    world.start_with("key", of("ann")).unwrap();
    assert_eq!(world.progress().0, "cancelled", "the same key leads to the same replay");
}

#[test]
fn a_step_whose_answer_is_lost_sends_its_callbacks_once_also_up_to_a_bound() {
    let world = World::new(250);
    world.start_at_most("key", dead(), Some(150)).unwrap();
    for (sent, left) in [(100, 150), (50, 100)] {
        world.answers.set(false);
        for _ in 0..3 {
            world.step();
        }
        assert_eq!(world.waiting(), sent, "of {left}");
        world.deliver();
        world.answers.set(true);
        world.step();
        assert_eq!(world.waiting(), 0);
    }
    world.step();
    assert_eq!(world.progress(), ("done".to_owned(), 150));
    assert_eq!(world.count_for(dead(), 0).unwrap(), 100);
}

#[test]
fn another_publishers_outbox_sends_nothing() {
    let world = World::new(1);
    let step = contract::outbox::ReplayRewards {
        publisher: PublisherId::parse("other").unwrap(),
        filter: dead(),
        after: 0,
        limit: 10,
        step: None,
    };
    let refused = refusal(story::replay_some(&world.outbox, NOW, &step, CLAIM_MS));
    assert_eq!((refused.code, world.waiting()), ("not_found", 0));
}

#[test]
fn an_outbox_without_a_callback_has_nothing_to_send_again() {
    let world = World::new(3);
    let step = contract::outbox::ReplayRewards { publisher: acme(), filter: dead(), after: 0, limit: 10, step: None };
    apply_settings(&world.outbox, NOW, &settings(2, false));
    let replayed = story::replay_some(&world.outbox, NOW, &step, CLAIM_MS).unwrap();
    assert_eq!((replayed.replayed, replayed.next, world.waiting()), (0, None, 0));
}

#[test]
fn a_key_starts_one_replay_and_is_refused_for_another_filter() {
    let of = |user: &str| RewardFilter { user_id: Some(user.into()), ..dead() };
    for first in [dead(), of("user-1"), of("nobody")] {
        let world = World::new(1);
        assert_eq!(world.start_with("key", first.clone()).unwrap().status, 202);
        // While it runs, and once it is over.
        for is_over in [false, true] {
            while is_over && world.progress().0 == "running" {
                world.deliver();
                world.step();
            }
            assert_eq!(world.start_with("key", first.clone()).unwrap().status, 200);
            let others = [dead(), of("user-1"), of("nobody")].into_iter();
            let later = RewardFilter { until: first.until.map(|until| until + 1), ..first.clone() };
            for other in others.filter(|other| *other != first).chain([later]) {
                assert_eq!(refusal(world.start_with("key", other)), KEY_REUSED);
            }
        }
    }
}

#[test]
fn a_replay_that_is_over_names_no_user() {
    for is_cancelled in [false, true] {
        let world = World::new(1);
        let filter = RewardFilter { user_id: Some("user-1".into()), http_status: Some(400), ..dead() };
        let conditions = serde_json::json!({
            "delivery": "dead", "http_status": 400, "until": filter.until, "user_id": "user-1"
        });
        world.start_with("key", filter).unwrap();
        assert_eq!(world.read()["filter"], conditions);
        if is_cancelled {
            let cancel = CancelReplay { app: app(), replay_id: "1".into() };
            world.replay(cancel).unwrap();
        }
        while world.progress().0 == "running" {
            world.step();
        }
        assert_eq!(world.read()["filter"]["user_id"], Json::Null);
        assert!(!format!("{:?}", dump(&world.activity, "replays")).contains("user-1"));
    }
}

#[test]
fn a_count_ends_before_its_caller_stops_waiting() {
    let world = World { step: 10, ..World::new(100) };
    // Ten steps of a second each, and one that finds nothing more.
    world.call_ms.set(1_000);
    assert_eq!(world.count_for(dead(), 0).unwrap(), 100);
    world.call_ms.set(3_000);
    let asked_ms = world.now_ms();
    assert_eq!(refusal(world.count_for(dead(), 0)), COUNT_TOO_LONG);
    assert_eq!(world.now_ms() - asked_ms, 20_000);
    // Fewer days have fewer entries to count.
    let of_day = RewardFilter { from: Some(NOW / 1_000 + 86_400), until: Some(NOW / 1_000 + 2 * 86_400), ..dead() };
    assert_eq!(world.count_for(of_day, 0).unwrap(), 0);
    // The wait for another caller's count takes a part of the time.
    world.call_ms.set(1_000);
    assert_eq!(refusal(world.count_for(dead(), 15_000)), COUNT_TOO_LONG);
    assert_eq!(refusal(world.count_for(dead(), 20_000)).code, "unavailable");
    world.answers.set(false);
    assert_eq!(refusal(world.count_for(dead(), 0)).code, "unavailable");
}

#[test]
fn a_replay_pauses_only_where_it_has_sent_something() {
    let world = World { step: 10, ..World::new(100) };
    let filter = RewardFilter { delivery: Some(RewardDelivery::Delivered), ..dead() };
    world.start_with("key", filter).unwrap();
    while world.progress().0 == "running" {
        world.step();
    }
    assert_eq!((world.progress(), world.now_ms()), (("done".to_owned(), 0), NOW));
}
