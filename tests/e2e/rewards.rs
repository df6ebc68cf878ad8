//! The rewards feed, read as a publisher's data job reads it; and the routes that keys of each scope may call.

mod duckdb;
mod kills;

use std::{collections::BTreeMap, process::Command, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    dashboard::signed_in,
    harness::{Answer, Behaviour, OfferWall, Publisher, Receiver, Setup, Signpost, eventually, now_ms, root},
};
use origin::http::routes::routes;
use platform::http::router::{Interface, RouteName};

const PATH: &str = "/v1/core/rewards";
const SCOPES: [&str; 4] = ["ia-reporting.READ", "ia-rewards.READ", "ia-privacy.WRITE", "ia-test.WRITE"];

/// A publisher's copy of its rewards.
struct Poller<'s> {
    signpost: &'s Signpost,
    key: String,
    cursor: Option<String>,
    limit: u32,
    rewards: BTreeMap<String, Value>,
}

impl<'s> Poller<'s> {
    fn new(signpost: &'s Signpost, publisher: &Publisher<'_>, limit: u32) -> Self {
        Self {
            signpost,
            key: publisher.create_key_for("ia-rewards.READ", "copy").api_key,
            cursor: None,
            limit,
            rewards: BTreeMap::new(),
        }
    }

    fn ask(&self, query: &str) -> Answer {
        ask(self.signpost, &self.key, query)
    }

    /// Reads what has changed, as a key may: once in a second.
    fn read(&mut self) -> usize {
        let mut changed = 0;
        loop {
            let after = self.cursor.as_ref().map(|cursor| format!("&after={cursor}"));
            let answer = self.ask(&format!("limit={}{}", self.limit, after.unwrap_or_default()));
            thread::sleep(Duration::from_millis(1_010));
            if answer.status == 429 {
                continue;
            }
            let page = answer.expect(200).json();
            for reward in page["rewards"].as_array().expect("rewards") {
                let id = reward["transaction_id"].as_str().expect("an id");
                self.rewards.insert(id.to_owned(), reward.clone());
                changed += 1;
            }
            self.cursor = page["cursor"].as_str().map(str::to_owned);
            if page["has_more"] == false {
                return changed;
            }
        }
    }
}

fn ask(signpost: &Signpost, key: &str, query: &str) -> Answer {
    signpost.get(&format!("{PATH}?{query}"), &[("X-Api-Key", key)])
}

/// The rewards of an app as the operator's log has them, by their ids: the state and the user.
fn logged(wall: &OfferWall<'_>) -> BTreeMap<String, (Value, Value)> {
    let entries = wall.all_entries(100);
    let rewards = entries.iter().filter(|entry| entry["original_transaction_id"].is_null());
    rewards
        .map(|entry| {
            let id = entry["transaction_id"].as_str().expect("an id").to_owned();
            let story = wall.operator("GET", &format!("conversions/{id}/story"), None);
            (id, (story.expect(200).json()["state"].clone(), entry["user_id"].clone()))
        })
        .collect()
}

#[test]
fn a_copy_has_every_reward_in_its_newest_state_whatever_callbacks_did() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("copied", "79000830", Some(&receiver));
    let other = signpost.offer_wall("not-copied", "79000831", None);
    let second = signpost.offer_wall("copied", "79000832", None);
    signpost.refresh();
    // No callback arrives.
    receiver.set(Behaviour::status(503));
    let mut poller = Poller::new(&signpost, &signpost.existing_publisher("copied"), 5);
    let click = |user: &str| wall.click_id(user);
    let clicks: Vec<String> = (0..12).map(|n| click(&format!("user-{n}"))).collect();
    for (n, id) in clicks.iter().enumerate() {
        let status = ["", "&status=pending"][n % 2];
        wall.convert(id, status).expect(200);
    }
    second.pay("user-of-the-second");
    other.pay("user-of-another");
    let copied = |poller: &mut Poller<'_>| {
        poller.read();
        let state = |(id, reward): (&String, &Value)| {
            assert_eq!(reward["is_erased"], reward["user_id"].is_null());
            (id.clone(), (reward["state"].clone(), reward["user_id"].clone()))
        };
        poller.rewards.iter().map(state).collect::<BTreeMap<_, _>>()
    };
    let expected = || [logged(&wall), logged(&second)].into_iter().flatten().collect::<BTreeMap<_, _>>();
    eventually(&json!(expected()), || json!(copied(&mut poller)));
    assert_eq!(poller.rewards.len(), 13);
    assert!(!json!(poller.rewards).to_string().contains("user-of-another"));

    // Changes of all kinds come again, and nothing else does.
    wall.convert(&clicks[1], "&status=rejected").expect(200);
    wall.convert(&clicks[3], "").expect(200);
    wall.convert(&clicks[0], "&status=reversed").expect(200);
    wall.erase("user-2");
    receiver.set(Behaviour::status(200));
    thread::sleep(Duration::from_millis(2_100));
    assert_eq!(poller.read(), 4);
    assert_eq!(copied(&mut poller), expected());
    for (n, state) in [(0, "reversed"), (1, "rejected"), (3, "approved"), (5, "pending")] {
        let user = format!("user-{n}");
        let found = poller.rewards.values().find(|reward| reward["user_id"] == user.as_str());
        assert_eq!(found.expect("a reward")["state"], state);
    }
    let erased: Vec<_> = poller.rewards.values().filter(|reward| reward["is_erased"] == true).collect();
    assert_eq!(erased.len(), 1);
    assert_eq!((&erased[0]["user_id"], &erased[0]["click"]["c1"]), (&Value::Null, &Value::Null));
    assert_eq!(poller.read(), 0);

    // One app, and lines.
    let of_second = poller.ask("app=79000832").expect(200).json();
    assert_eq!(of_second["rewards"].as_array().expect("a list").len(), 1);
    thread::sleep(Duration::from_millis(1_010));
    let headers = [("X-Api-Key", poller.key.as_str()), ("Accept", "application/x-ndjson")];
    let lines = signpost.get(&format!("{PATH}?limit=1000"), &headers).expect(200);
    assert_eq!(lines.body.lines().count(), 13);
    for line in lines.body.lines() {
        let reward: Value = serde_json::from_str(line).expect("a reward");
        assert_eq!(Some(&reward), poller.rewards.get(reward["transaction_id"].as_str().expect("an id")));
    }
    assert_eq!(lines.header("X-Has-More"), Some("false"));
    assert!(lines.header("X-Cursor").is_some());
    thread::sleep(Duration::from_millis(1_010));
    for (wrong, status, code) in [
        ("limit=0", 400, "invalid_field"),
        ("limit=1001", 400, "invalid_field"),
        ("after=1.2", 400, "invalid_field"),
        ("app=1", 400, "invalid_field"),
        ("app=79000831", 404, "not_found"),
    ] {
        poller.ask(wrong).expect_error(status, code);
        thread::sleep(Duration::from_millis(1_010));
    }
    poller.ask("").expect(200);
    poller.ask("").expect_error(429, "rate_limit_exceeded");

    // The script that INTEGRATING names has the same, once and again.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rewards.sqlite");
    for _ in 0..2 {
        thread::sleep(Duration::from_millis(1_010));
        let ran = Command::new("python3")
            .arg(root().join("fixtures/recipes/keep_rewards.py"))
            .arg(signpost.base())
            .arg(&path)
            .env("API_KEY", &poller.key)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let db = rusqlite::Connection::open(&path).unwrap();
        let mut kept = db.prepare("SELECT transaction_id, reward FROM rewards").unwrap();
        let kept = kept.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
        let kept: BTreeMap<String, Value> = kept
            .unwrap()
            .map(|kept| kept.unwrap())
            .map(|(id, reward)| (id, serde_json::from_str(&reward).unwrap()))
            .collect();
        assert_eq!(kept, poller.rewards);
    }

    // The log of requests names no user.
    for line in signpost.log_lines() {
        assert!(!line.to_string().contains("user-2"), "{line}");
    }
}

/// A conversion is in the feed once, also while others come at the same time in every outbox.
#[test]
fn rewards_that_come_while_they_are_read_are_all_read() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("read-meanwhile", "79000833", None);
    signpost.refresh();
    let mut poller = Poller::new(&signpost, &signpost.existing_publisher(&wall.id), 1_000);
    let until_ms = now_ms() + 8_000;
    let mut paid = thread::scope(|scope| {
        let pays = |sender: usize| {
            let wall = &wall;
            scope.spawn(move || {
                let mut paid = Vec::new();
                while now_ms() < until_ms {
                    paid.push(wall.pay(&format!("sender-{sender}-{}", paid.len())));
                }
                paid
            })
        };
        let senders: Vec<_> = (0..4).map(pays).collect();
        while now_ms() < until_ms {
            let answer = poller.ask(&format!("limit=1000&after={}", poller.cursor.as_deref().unwrap_or("0")));
            if answer.status == 200 {
                let page = answer.json();
                for reward in page["rewards"].as_array().expect("a list") {
                    let id = reward["transaction_id"].as_str().expect("an id").to_owned();
                    assert!(poller.rewards.insert(id, reward.clone()).is_none(), "read twice: {reward}");
                }
                poller.cursor = page["cursor"].as_str().map(str::to_owned);
            }
            thread::sleep(Duration::from_millis(200));
        }
        let paid = senders.into_iter().flat_map(|sender| sender.join().expect("a sender"));
        paid.collect::<Vec<_>>()
    });
    thread::sleep(Duration::from_millis(3_100));
    poller.read();
    paid.sort_unstable();
    let read: Vec<String> = poller.rewards.into_keys().collect();
    assert_eq!(read, paid);
}

#[test]
fn a_key_of_another_scope_is_refused_on_every_route() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("scopes", "79000834", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let mut tried = 0;
    let edges = edge::routes::ROUTES
        .iter()
        .flat_map(|route| route.methods.iter().map(|on| (route.interface, route.name, route.pattern, on.method)));
    let origins = routes()
        .flat_map(|route| route.methods.iter().map(|on| (route.interface, route.name, route.pattern, on.method)));
    for (interface, name, path, method) in edges.chain(origins) {
        let own = match name {
            RouteName::Report | RouteName::Changes => SCOPES[0],
            RouteName::Rewards => SCOPES[1],
            RouteName::Users => SCOPES[2],
            RouteName::TestApps => SCOPES[3],
            _ => {
                assert!(interface != Interface::Reporting, "{path} has no scope");
                continue;
            }
        };
        for scope in SCOPES {
            let key = publisher.create_key_for(scope, "scopes").api_key;
            let headers = [("X-Api-Key", key.as_str()), ("Content-Type", "application/json")];
            let body: &[u8] = if method.as_str() == "GET" { b"" } else { br#"{"user_id":"u"}"# };
            let answer = signpost.send(method.as_str(), path, &headers, body);
            if scope == own {
                assert!(![401, 403].contains(&answer.status), "{path}: {answer:?}");
            } else if name == RouteName::Report {
                answer.expect_error(401, "invalid_api_key");
            } else {
                answer.expect_error(403, "insufficient_scope");
            }
            tried += 1;
        }
    }
    assert_eq!(tried, 24);

    // Owners alone make keys that read or erase users.
    let [owner, developer] = ["owner", "developer"].map(|role| signed_in(&signpost, &publisher, role));
    for scope in &SCOPES[1..3] {
        let body = json!({ "label": "mine", "scope": scope });
        developer.post("report_keys", &body).expect_error(403, "role_forbids");
        owner.post("report_keys", &body).expect(201);
    }
    for scope in [SCOPES[0], SCOPES[3]] {
        let body = json!({ "label": "theirs", "scope": scope });
        developer.post("report_keys", &body).expect(201);
    }
}
