//! Replays of many callbacks as the activity makes them, step by step.

use super::*;

/// An outbox that answers every other call.
struct Flaky(std::cell::Cell<bool>);

impl platform::traits::Clock for Flaky {
    fn now_ms(&self) -> i64 {
        NOW + 10_000
    }
}

impl platform::traits::ObjectCall for Flaky {
    async fn call<O: contract::operation::Operation>(
        &self,
        _to: &contract::operation::ObjectAddress,
        _operation: O,
        _timeout: std::time::Duration,
    ) -> Result<O::Answer, contract::operation::CallError> {
        if self.0.replace(!self.0.get()) {
            let replayed = serde_json::json!({ "replayed": 0, "next": null, "until": 1 });
            return Ok(serde_json::from_value(replayed).unwrap());
        }
        Err(contract::operation::Unanswered::default().into())
    }
}

/// Runs the statements of replays: one that ends, and one that is cancelled.
pub fn run_replays(db: &Sqlite) {
    use contract::{
        activity::{CancelReplay, CountReplay, EndReplaysOf, ReadReplay, StartReplay},
        rewards::RewardFilter,
    };
    use domain::model::PublisherId;
    use futures_util::FutureExt;
    use origin::objects::activity::publisher::replays;

    let filter = RewardFilter { until: Some(1), ..RewardFilter::default() };
    let publisher = PublisherId::parse("acme").unwrap();
    let start = |key: &str| {
        let start = StartReplay {
            publisher: publisher.clone(),
            app: app(1),
            filter: filter.clone(),
            key: key.into(),
            most: None,
        };
        handle(db, NOW, start.into()).unwrap();
    };
    let outbox = Flaky(std::cell::Cell::new(true));
    let count = CountReplay { publisher: publisher.clone(), app: app(1), filter: filter.clone() };
    replays::count(db, &outbox, &count, NOW + 10_000).now_or_never().unwrap().unwrap();
    start("first");
    for _ in 0..3 {
        replays::step(db, &outbox).now_or_never().unwrap().unwrap();
        db.execute("UPDATE replays SET due_ms = 0", &[]).unwrap();
    }
    start("second");
    let (app, replay_id) = (app(1), "2".to_owned());
    let cancel = CancelReplay { app, replay_id: replay_id.clone() };
    handle(db, NOW, cancel.into()).unwrap();
    let user_id = "u".to_owned();
    handle(db, NOW, EndReplaysOf { user_id, app: None }.into()).unwrap();
    handle(db, NOW, ReadReplay { app, replay_id }.into()).unwrap();
}
