//! Property test of callback settings: any order of PUTs, imports, requests for terms and alarms, with lost and late
//! messages. An outbox accepts a higher revision only, like the production outbox.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    Catalog, app, app_with_url,
    callback_sync::{id, put},
    with,
};
use contract::{
    catalog::{CallbackSettings, KnownApp},
    outbox::OutboxShard,
};
use domain::model::AppId;
use origin::{
    delivery::push::{FIRST_PUSH_MS, Push, RETRY_MS, claim},
    objects::catalog::callback_sync::{QueuedSettings, settings_of},
};

/// The outcome of a message to an outbox.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lost,
    /// It arrives, and the answer is lost.
    Unanswered,
    Answered,
    /// It arrives after the next answered message.
    Late,
}

#[derive(Clone, Debug)]
enum Step {
    /// Puts the app with this callback and tries to push it.
    Put(u8, Option<u8>, Fate),
    Rename(u8, u8),
    /// Imports the app with this callback and tries to push what is due by then.
    Import(u8, Option<u8>, Fate),
    /// An outbox requests the terms. The flag says whether the answer arrives.
    RequestTerms(u8, u8, bool),
    /// The alarm runs after this many milliseconds.
    Alarm(i64, Fate),
}

fn step() -> impl Strategy<Value = Step> {
    let fate = prop_oneof![Just(Fate::Lost), Just(Fate::Unanswered), Just(Fate::Answered), Just(Fate::Late)];
    let app = 0..3_u8;
    prop_oneof![
        (app.clone(), proptest::option::of(0..3_u8), fate.clone()).prop_map(|(a, c, f)| Step::Put(a, c, f)),
        (app.clone(), any::<u8>()).prop_map(|(a, name)| Step::Rename(a, name)),
        (app.clone(), proptest::option::of(0..3_u8), fate.clone()).prop_map(|(a, c, f)| Step::Import(a, c, f)),
        (app, 0..3_u8, any::<bool>()).prop_map(|(a, shard, arrives)| Step::RequestTerms(a, shard, arrives)),
        (0..20_000_i64, fate).prop_map(|(ms, f)| Step::Alarm(ms, f)),
    ]
}

fn with_callback(path: Option<u8>) -> Value {
    let url = path.map(|path| format!("https://acme.example.com/{path}"));
    json!({ "callback": url.map(|url| app_with_url(&url)["callback"].take()) })
}

/// The catalog, its apps' outboxes and the late messages between them.
struct World {
    catalog: Catalog,
    documents: BTreeMap<AppId, Value>,
    outboxes: BTreeMap<OutboxShard, CallbackSettings>,
    late: Vec<QueuedSettings>,
}

impl World {
    fn new() -> Self {
        let catalog = Catalog::small();
        let documents: BTreeMap<_, _> =
            (0..3).map(|n| (Self::app(n), with(app("acme"), &with_callback(None)))).collect();
        for (id, document) in &documents {
            put(&catalog, &id.to_string(), document);
        }
        Self { catalog, documents, outboxes: BTreeMap::new(), late: Vec::new() }
    }

    fn app(n: u8) -> AppId {
        id(&format!("1000000{n}"))
    }

    fn arrive(&mut self, queued: QueuedSettings) {
        // The catalog pushes only to an outbox that requested terms; here at most that answer was lost.
        let stored = self.outboxes.entry(queued.shard).or_insert_with(|| queued.settings.clone());
        if queued.settings.revision > stored.revision {
            *stored = queued.settings;
        }
    }

    fn send(&mut self, queued: QueuedSettings, fate: Fate) {
        match fate {
            Fate::Lost => {}
            Fate::Unanswered => self.arrive(queued),
            Fate::Late => self.late.push(queued),
            Fate::Answered => {
                self.arrive(queued.clone());
                queued.confirm(&self.catalog.db).unwrap();
                for late in std::mem::take(&mut self.late) {
                    self.arrive(late);
                }
            }
        }
    }

    fn put(&mut self, app: AppId, members: &Value) {
        let document = self.documents.get_mut(&app).unwrap();
        *document = with(document.take(), members);
        put(&self.catalog, &app.to_string(), document);
    }

    fn import(&mut self, app: AppId, members: &Value) {
        let known = self.documents.get_mut(&app).unwrap();
        let document = with(known.clone(), members);
        let line = with(document.clone(), &json!({ "kind": "app", "id": app.to_string() }));
        let before = self.catalog.dump();
        let reply = self.catalog.import(&line.to_string()).unwrap();
        assert_eq!(reply.status, 200);
        assert_eq!(self.catalog.dump() == before, document == *known);
        *known = document;
    }

    /// Tries to push what is due within this many milliseconds.
    fn push_due(&mut self, within_ms: i64, limit: u32, fate: Fate) {
        let now_ms = self.catalog.now();
        for queued in claim(&self.catalog.db, now_ms, now_ms + within_ms, limit).unwrap() {
            self.send(queued, fate);
        }
    }

    fn alarm(&mut self, fate: Fate) {
        self.push_due(0, 2, fate);
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Put(n, callback, fate) => {
                let app = Self::app(n);
                self.put(app, &with_callback(callback));
                for queued in settings_of(&self.catalog.db, app).unwrap() {
                    self.send(queued, fate);
                }
            }
            Step::Rename(n, name) => self.put(Self::app(n), &json!({ "name": format!("App {name}") })),
            Step::Import(n, callback, fate) => {
                self.import(Self::app(n), &with_callback(callback));
                self.push_due(FIRST_PUSH_MS, 48, fate);
            }
            Step::RequestTerms(n, number, arrives) => {
                let app = Self::app(n);
                let reply = self.catalog.ask_app_from(&app.to_string(), number).unwrap();
                let settings = serde_json::from_str::<KnownApp>(&reply.body).unwrap().callback;
                if arrives {
                    let shard = OutboxShard { app, number };
                    self.arrive(QueuedSettings { shard, settings });
                }
            }
            Step::Alarm(ms, fate) => {
                self.catalog.wait(ms);
                self.alarm(fate);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_outbox_converges_to_the_last_settings(
        steps in proptest::collection::vec(step(), 1..30)
    ) {
        let mut world = World::new();
        for step in steps {
            world.run(step);
        }
        // From here on no message is lost.
        for _ in 0..4 {
            world.catalog.wait(RETRY_MS);
            world.alarm(Fate::Answered);
        }
        prop_assert_eq!(QueuedSettings::next_ms(&world.catalog.db), Ok(None));
        for (shard, settings) in world.outboxes {
            let current = world.catalog.ask_app(&shard.app.to_string()).callback;
            prop_assert_eq!(settings, current, "{:?}", shard);
        }
    }
}
