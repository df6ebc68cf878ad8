//! A publisher's replay of many callbacks: the activity object's steps over a real outbox, paced, repeated after a lost answer,
//! and cancelled.

use super::*;
use contract::{
    activity::{
        CancelReplay, Command as ActivityCommand, CountReplay, ReadReplay, ReplayFilter, ReplayedDelivery,
        Reply as ActivityReply, StartReplay,
    },
    operation::{CallError, ObjectAddress, Operation, Unanswered},
    outbox::Command as OutboxCommand,
};
use domain::model::PublisherId;
use origin::{
    activity::{
        self,
        replays::{self, PACE, REPLAY_RUNNING},
    },
    outbox::{feed, story},
};
use platform::traits::{Clock, ObjectCall};

/// An activity object and the outbox that it calls.
struct World {
    activity: Sqlite,
    outbox: Sqlite,
    now_ms: Cell<i64>,
    answers: Cell<bool>,
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
        _timeout: std::time::Duration,
    ) -> Result<O::Answer, CallError> {
        assert_eq!(to.name, "outbox-00000042-5");
        let command = serde_json::to_value(operation.into()).unwrap();
        let OutboxCommand::ReplayRewards(step) = serde_json::from_value(command).unwrap() else {
            panic!("another call to an outbox");
        };
        let replayed = story::replay_some(&self.outbox, self.now_ms(), &step, CLAIM_MS).unwrap();
        if !self.answers.get() {
            return Err(Unanswered::default().into());
        }
        Ok(serde_json::from_value(serde_json::to_value(replayed).unwrap()).unwrap())
    }
}

fn acme() -> PublisherId {
    PublisherId::parse("acme").unwrap()
}

fn dead() -> ReplayFilter {
    ReplayFilter {
        delivery: ReplayedDelivery::Dead,
        from: 0,
        until: NOW / 1_000 + 60,
    }
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
        let report = feed::make(&db, NOW).unwrap().unwrap().report;
        activity::handle(&activity, NOW, ActivityCommand::Report(Box::new(report))).unwrap();
        Self {
            activity,
            outbox: db,
            now_ms: Cell::new(NOW),
            answers: Cell::new(true),
        }
    }

    fn replay(&self, command: impl Into<ActivityCommand>) -> Result<Reply, Failure> {
        match activity::handle(&self.activity, self.now_ms(), command.into())? {
            ActivityReply::Operator(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    fn start(&self, key: &str) -> Result<Reply, Failure> {
        self.replay(StartReplay {
            publisher: acme(),
            app: app(),
            filter: dead(),
            key: key.into(),
        })
    }

    fn progress(&self) -> (String, i64) {
        let read = ReadReplay {
            app: app(),
            replay_id: "1".into(),
        };
        let progress = json(self.replay(read).unwrap());
        let state = progress["state"].as_str().unwrap().to_owned();
        (state, progress["replayed"].as_i64().unwrap())
    }

    /// Wakes the object when its alarm is due. Returns how far the replay is.
    fn step(&self) -> (String, i64) {
        let due_ms = activity::sweep::next_alarm(&self.activity, self.now_ms())
            .unwrap()
            .unwrap();
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
    let count = CountReplay {
        publisher: acme(),
        app: app(),
        filter: dead(),
    };
    let counted = now(replays::count(&world.activity, &world, &count)).unwrap();
    assert_eq!((counted.count, world.waiting()), (250, 0));
    assert_eq!(world.start("key").unwrap().status, 202);
    assert_eq!(world.start("key").unwrap().status, 200);
    assert_eq!(refusal(world.start("another")), REPLAY_RUNNING);

    let running = |replayed| ("running".to_owned(), replayed);
    let pace = i64::from(PACE);
    assert_eq!(world.step(), running(pace));
    assert_eq!((world.waiting(), world.now_ms()), (pace, NOW));
    // While as many are due, others would wait behind more.
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
fn a_step_without_an_answer_is_made_again_later_and_a_cancelled_replay_stops() {
    let world = World::new(250);
    world.start("key").unwrap();
    world.answers.set(false);
    assert_eq!(world.step(), ("running".to_owned(), 0));
    world.answers.set(true);
    // What was sent without an answer is not dead any more.
    world.deliver();
    assert_eq!(world.step(), ("running".to_owned(), 100));
    assert_eq!((world.now_ms(), world.waiting()), (NOW + 5_000, 100));
    let cancel = CancelReplay {
        app: app(),
        replay_id: "1".into(),
    };
    assert_eq!(world.replay(cancel).unwrap().status, 204);
    assert_eq!(world.step(), ("cancelled".to_owned(), 100));
    assert_eq!(world.waiting(), 100);
    let unknown = CancelReplay {
        app: app(),
        replay_id: "x".into(),
    };
    assert_eq!(refusal(world.replay(unknown)).code, "not_found");
}

#[test]
fn another_publishers_outbox_sends_nothing() {
    let world = World::new(1);
    let step = contract::outbox::ReplayRewards {
        publisher: PublisherId::parse("other").unwrap(),
        filter: dead(),
        after: 0,
        limit: 10,
    };
    let refused = refusal(story::replay_some(&world.outbox, NOW, &step, CLAIM_MS));
    assert_eq!((refused.code, world.waiting()), ("not_found", 0));
}
