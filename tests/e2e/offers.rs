//! The offers interface over HTTP with the demo catalog, compared with a naive model of `fixtures/catalog.ndjson` and
//! with literal answers.

#[path = "../support/demo.rs"]
mod demo;

mod admission;
mod caching;
mod changes;
mod fields;
mod listing;
mod refusals;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Value, json};

use crate::harness::{ANDROID_APP, Answer, IOS_APP, PUBLISHER, Setup, Signpost, WEB_APP, with};
use demo::Demo;

const APPS: [&str; 3] = [ANDROID_APP, IOS_APP, WEB_APP];

const PATH: &str = "/v1/offer/api";
const JSON: (&str, &str) = ("Content-Type", "application/json");
const GOOD: &[u8] = br#"{"page":1,"size":1}"#;

/// A publisher that is not approved, and its app.
const UNAPPROVED: &str = "unapproved-studio";
const UNAPPROVED_APP: &str = "10000009";

/// The instance that read-only tests share while any of them runs, since a start takes most of a second.
static SHARED: Mutex<Weak<Served>> = Mutex::new(Weak::new());

/// A Signpost that serves the demo catalog, with its keys and the model of its content.
struct Served {
    signpost: Signpost,
    pub_key: String,
    demo: Demo,
    /// The Pub-Key of [`UNAPPROVED`].
    unapproved_key: String,
}

impl Served {
    fn start(setup: Setup) -> Self {
        let signpost = setup.start();
        signpost.import(&demo::text()).expect(200);
        let [pub_key, unapproved_key] = [PUBLISHER, UNAPPROVED].map(|id| signpost.issue_pub_key(id));
        signpost.refresh();
        Self { signpost, pub_key, demo: Demo::read(), unapproved_key }
    }

    /// Without a rate limit: a rate of 0 disables it, whatever the burst.
    fn unlimited() -> Self {
        Self::start(Setup::new().var("OFFERS_RATE", "0,1"))
    }

    /// The shared instance, for tests that change nothing.
    fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let served = Arc::new(Self::unlimited());
            *shared = Arc::downgrade(&served);
            served
        })
    }

    fn list(&self, app: &str, body: &Value) -> Answer {
        self.signpost.offers(app, &self.pub_key, body)
    }

    /// All offers of an app, on one page.
    #[track_caller]
    fn all(&self, app: &str) -> Vec<Value> {
        self.signpost.list(app, &self.pub_key, &json!([]))
    }

    #[track_caller]
    fn ids(&self, app: &str) -> Vec<String> {
        self.all(app).iter().map(id).collect()
    }

    /// Changes these members of a resource, in the catalog and in the model.
    #[track_caller]
    fn change(&mut self, resources: &str, id: &str, members: &Value) {
        let kind = match resources {
            "publishers" => &mut self.demo.publishers,
            "apps" => &mut self.demo.apps,
            _ => &mut self.demo.offers,
        };
        let resource = kind.get_mut(id).unwrap();
        *resource = with(resource.take(), members);
        self.signpost.put(&format!("{resources}/{id}"), resource);
    }
}

fn id(offer: &Value) -> String {
    offer["id"].as_str().unwrap().to_owned()
}

fn filter(dim: &str, kind: &str, values: &[&str]) -> Value {
    json!({ "dim": dim, "match": { "type": kind, "value": values } })
}

fn page(page: u32, size: u32) -> Value {
    json!({ "page": page, "size": size })
}

#[expect(clippy::disallowed_methods, reason = "a test has a clock")]
fn now_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_secs()).unwrap()
}
