//! Rewards in the dashboard: the list is live, counts agree with log and ledger, a story has what the owner or analyst
//! may know, and whatever a receiver answers is shown as text.

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::harness::{
    Behaviour, OfferWall, Receiver, SECRET, Setup, dashboard_document, demo, eventually_within, now_ms, with,
};
use domain::model::time::SECOND_MS;

/// How long the list may take on a busy machine, and after a crash, when outboxes wait for their alarms. The outbox
/// simulation holds it to 4 s of its own clock (`tests/origin/outbox_simulation/activity.rs`).
const PATIENCE_MS: i64 = 60 * SECOND_MS;

fn rows(browser: &Browser<'_>, body: &Value) -> Vec<Value> {
    let page = browser.post("rewards", body).expect(200).json();
    page["rows"].as_array().unwrap().clone()
}

/// The row of a transaction, as soon as the list has it in this state of delivery.
#[track_caller]
fn row_with(browser: &Browser<'_>, transaction_id: &str, delivery: &str) -> Value {
    let find = || rows(browser, &json!({ "filter": { "transaction_id": transaction_id } }));
    eventually_within(PATIENCE_MS, &json!(delivery), || {
        find().first().map_or(Value::Null, |row| row["delivery"].clone())
    });
    find().remove(0)
}

fn story(browser: &Browser<'_>, app: &str, transaction_id: &str) -> Value {
    let path = format!("apps/{app}/rewards/{transaction_id}");
    browser.get(&path).expect(200).json()
}

/// The sums over all days of the activity.
fn sums(activity: &Value) -> [i64; 6] {
    let days = activity["days"].as_array().unwrap();
    ["pending", "approved", "rejected", "reversed", "held", "refused"]
        .map(|state| days.iter().map(|day| day[state].as_i64().unwrap()).sum())
}

/// The same from the operator's log.
fn sums_of_log(entries: &[Value]) -> [i64; 6] {
    let mut sums = [0; 6];
    for entry in entries {
        let has_original = entry.get("original_transaction_id").is_some();
        let is_paid = entry.get("payout").is_some();
        let at = match (entry["status"].as_str().unwrap(), has_original, is_paid) {
            ("reversed", true, _) => 3,
            // A notice.
            (_, true, _) => continue,
            (_, false, true) => 1,
            ("pending", ..) => 0,
            ("rejected" | "reversed", ..) => 2,
            ("held", ..) => 4,
            ("refused", ..) => 5,
            other => panic!("{other:?}"),
        };
        sums[at] += 1;
    }
    sums
}

/// Waits until the activity has everything, and compares it with the log and with what the ledger was told.
#[track_caller]
pub fn expect_agreement(wall: &OfferWall<'_>, revenue_usd: f64) {
    let publisher = wall.signpost.existing_publisher(&wall.id);
    let owner = signed_in(wall.signpost, &publisher, "owner");
    let log = wall.all_entries(1_000);
    let expected = sums_of_log(&log);
    let activity = || owner.get("activity").expect(200).json();
    eventually_within(PATIENCE_MS, &expected, || sums(&activity()));
    eventually_within(PATIENCE_MS, &json!(0), || activity()["behind_ms"].clone());
    let shown = activity();
    let micro_usd: i64 = shown["apps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|app| [&app["approved_micro_usd"], &app["reversed_micro_usd"]])
        .map(|sum| sum.as_i64().unwrap())
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "within 2^53")]
    let usd = micro_usd as f64 / 1e6;
    assert!((usd - revenue_usd).abs() < 1e-6, "{usd} in the activity, {revenue_usd} in the ledger");
    // The newest 10,000 entries, page by page.
    let newest: Vec<_> = log.iter().take(10_000).map(|entry| &entry["transaction_id"]).collect();
    let mut listed = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = owner.post("rewards", &json!({ "limit": 200, "cursor": cursor })).expect(200).json();
        listed.extend(page["rows"].as_array().unwrap().iter().cloned());
        cursor = page["cursor"].clone();
        if cursor.is_null() || listed.len() >= newest.len() {
            break;
        }
    }
    let listed: Vec<_> = listed.iter().map(|row| &row["transaction_id"]).take(newest.len()).collect();
    assert_eq!(listed, newest);
}

#[test]
fn a_reward_is_listed_and_its_story_ends_with_its_reversal() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("activity-live", "79000301", Some(&receiver));
    let publisher = signpost.existing_publisher(&wall.id);
    let owner = signed_in(&signpost, &publisher, "owner");
    let nothing = owner.get("activity").expect(200).json();
    assert_eq!((&nothing["days"], &nothing["apps"]), (&json!([]), &json!([])));
    assert_eq!(nothing["first"]["conversion"], Value::Null);
    assert!(rows(&owner, &json!({})).is_empty());

    for user in ["live-1", "live-2", "live-3"] {
        let id = wall.pay(user);
        let listed = json!({ "filter": { "transaction_id": id } });
        eventually_within(PATIENCE_MS, &1, || rows(&owner, &listed).len());
    }
    let id = wall.pay("live-<b>\u{202e}4");
    let row = row_with(&owner, &id, "delivered");
    assert_eq!((&row["state"], &row["http_status"]), (&json!("approved"), &json!(200)));
    assert_eq!((&row["value"], &row["payout"]), (&json!(1250.0), &json!(1.25)));
    assert_eq!(row["user_id"], "live-<b>\u{202e}4");
    let by_user = json!({ "app_id": wall.app, "filter": { "user_id": "live-<b>\u{202e}4" } });
    assert_eq!(rows(&owner, &by_user).len(), 1);

    let told = story(&owner, &wall.app, &id);
    assert_eq!(told["callbacks"][0]["attempts"][0]["http_status"], 200);
    assert_eq!(told["callbacks"][0]["fields"]["transaction_id"], id);
    assert_eq!(told["click"]["country"], "DE");

    let polled = owner.post("rewards", &json!({})).expect(200).json();
    wall.convert(&wall.click_id("live-5"), "&status=pending").expect(200);
    let after = json!({ "after": polled["newest"] });
    eventually_within(PATIENCE_MS, &1, || rows(&owner, &after).len());
    assert_eq!(rows(&owner, &after)[0]["state"], "pending");

    // Reversed by the operator, and replayed by a developer.
    let reason = json!({ "reason": "checked" });
    wall.operator("POST", &format!("conversions/{id}/reverse"), Some(&reason)).expect(200);
    eventually_within(PATIENCE_MS, &json!("reversed"), || story(&owner, &wall.app, &id)["state"].clone());
    let told = story(&owner, &wall.app, &id);
    assert_eq!(told["callbacks"][1]["event"], "reversed");
    assert_eq!(told["callbacks"][1]["value"], -1250);
    let reversal = told["callbacks"][1]["transaction_id"].as_str().unwrap();
    assert_eq!(story(&owner, &wall.app, reversal)["transaction_id"], id);
    row_with(&owner, reversal, "delivered");

    let developer = signed_in(&signpost, &publisher, "developer");
    let sent = receiver.transactions()[&id];
    let replay = format!("apps/{}/rewards/{id}/replay", wall.app);
    assert_eq!(developer.post(&replay, &json!({})).expect(202).json(), json!({ "transaction_id": id }));
    eventually_within(PATIENCE_MS, &(sent + 1), || receiver.transactions()[&id]);
    let audit = owner.get("audit").expect(200).json();
    let entry = &audit["entries"][0];
    assert_eq!((&entry["action"], &entry["by"]), (&json!("reward_replayed"), &json!("The developer")));
    assert_eq!(entry["subject"], format!("{} {id}", wall.app));
    let analyst = signed_in(&signpost, &publisher, "analyst");
    analyst.post(&replay, &json!({})).expect_error(403, "role_forbids");
    let pending = rows(&owner, &json!({ "filter": { "state": "pending" } }))[0]["transaction_id"].clone();
    let replay = format!("apps/{}/rewards/{}/replay", wall.app, pending.as_str().unwrap());
    owner.post(&replay, &json!({})).expect_error(409, "nothing_to_send");

    expect_agreement(&wall, 3.0 * 1.25);
    let activity = owner.get("activity").expect(200).json();
    let app = &activity["apps"][0];
    assert_eq!((&app["app_id"], &app["endpoint"]["state"]), (&json!(wall.app), &json!("healthy")));
    for first in ["conversion", "callback"] {
        assert!(activity["first"][first].is_i64(), "{activity}");
    }
    for first in ["list", "click", "report"] {
        assert_eq!(activity["first"][first], Value::Null, "{activity}");
    }
    let query = format!("rid={}&app={}&user_id=live-6", wall.goal("1"), wall.app);
    signpost.click(&query, "DE").expect(302);
    let report = json!({
        "date_range": { "start_date": "2026-11-01", "end_date": "2026-11-02" },
        "dimensions": ["date"], "metrics": ["revenue"],
    });
    publisher.report(&report);
    eventually_within(PATIENCE_MS, &true, || {
        let first = owner.get("activity").expect(200).json()["first"].clone();
        first["click"].is_i64() && first["report"].is_i64()
    });
}

#[test]
fn an_analyst_sees_no_user_and_another_publisher_nothing() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("activity-roles", "79000302", Some(&receiver));
    let id = wall.pay("secret-user");
    let publisher = signpost.existing_publisher(&wall.id);
    let owner = signed_in(&signpost, &publisher, "owner");
    row_with(&owner, &id, "delivered");

    let analyst = signed_in(&signpost, &publisher, "analyst");
    let listed = analyst.post("rewards", &json!({})).expect(200);
    assert!(listed.body.contains(&id) && !listed.body.contains("secret-user"), "{listed:?}");
    let told = analyst.get(&format!("apps/{}/rewards/{id}", wall.app)).expect(200);
    assert!(!told.body.contains("secret-user"), "{told:?}");
    // Exactly the documented keys: a field that others get does not reach an analyst.
    let document = dashboard_document();
    let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let (row, told) = (&listed.json()["rows"][0], told.json());
    let callback = "/AnalystReward/properties/callbacks/items";
    for (object, schema) in [
        (row, "/AnalystRow".to_owned()),
        (&told, "/AnalystReward".to_owned()),
        (&told["callbacks"][0], callback.to_owned()),
        (&told["callbacks"][0]["attempts"][0], format!("{callback}/properties/attempts/items")),
    ] {
        let promised = document.pointer(&format!("/components/schemas{schema}/properties"));
        assert_eq!(keys(object), keys(promised.unwrap()), "{schema}");
    }
    let by_user = json!({ "app_id": wall.app, "filter": { "user_id": "secret-user" } });
    analyst.post("rewards", &by_user).expect_error(400, "invalid_field");

    let other = signpost.publisher("activity-other");
    let stranger = signed_in(&signpost, &other, "owner");
    assert!(rows(&stranger, &json!({ "app_id": wall.app })).is_empty());
    let unknown = "00000000-0000-8000-8000-000000000000";
    let answers = [
        stranger.get(&format!("apps/{}/rewards/{id}", wall.app)),
        stranger.get(&format!("apps/79999999/rewards/{id}")),
        stranger.get(&format!("apps/{}/rewards/{unknown}", wall.app)),
        owner.get(&format!("apps/{}/rewards/{unknown}", wall.app)),
        stranger.post(&format!("apps/{}/rewards/{id}/replay", wall.app), &json!({})),
    ]
    .map(|answer| answer.expect_error(404, "not_found").body);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");

    // An erased user leaves list and story.
    wall.erase("secret-user");
    eventually_within(PATIENCE_MS, &Value::Null, || {
        rows(&owner, &json!({ "filter": { "transaction_id": id } }))[0]["user_id"].clone()
    });
    let told = owner.get(&format!("apps/{}/rewards/{id}", wall.app)).expect(200);
    assert!(!told.body.contains("secret-user"), "{told:?}");
    assert_eq!(told.json()["is_erased"], true);
}

#[test]
fn a_receivers_answer_is_shown_as_text_with_its_secrets_masked() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("activity-answers", "79000303", Some(&receiver));
    let body = format!("<script>alert(1)</script>\u{1b}[31m\u{0}\u{202e} {SECRET}");
    receiver.set(Behaviour::answer(503, &[], &body));
    let id = wall.pay("user-1");
    let owner = signed_in(&signpost, &signpost.existing_publisher(&wall.id), "owner");
    let shown = || story(&owner, &wall.app, &id)["callbacks"][0]["attempts"][0]["http_status"].clone();
    row_with(&owner, &id, "waiting");
    eventually_within(PATIENCE_MS, &json!(503), shown);
    let answer = owner.get(&format!("apps/{}/rewards/{id}", wall.app)).expect(200);
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
    assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
    assert!(!answer.body.contains(SECRET), "{answer:?}");
    let body = answer.json()["callbacks"][0]["attempts"][0]["body"].clone();
    assert!(body.as_str().unwrap().starts_with("<script>alert(1)</script>"), "{body}");
    eventually_within(PATIENCE_MS, &json!(1), || {
        owner.get("activity").expect(200).json()["apps"][0]["endpoint"]["waiting"].clone()
    });
    assert_eq!(rows(&owner, &json!({ "filter": { "http_status": 503 } })).len(), 1);
}

#[test]
fn dead_callbacks_are_counted_and_sent_again_and_a_replay_can_be_cancelled() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("activity-replays", "79000304", Some(&receiver));
    // Aborted at the first try.
    receiver.set(Behaviour::answer(400, &[("webhook-delivery", "abort-message")], ""));
    let ids: Vec<String> = (0..30).map(|nth| wall.pay(&format!("user-{nth}"))).collect();
    let owner = signed_in(&signpost, &signpost.existing_publisher(&wall.id), "owner");
    let dead = || owner.get("activity").expect(200).json()["apps"][0]["endpoint"]["dead"].clone();
    eventually_within(PATIENCE_MS, &json!(30), dead);
    receiver.set(Behaviour::status(200));

    let path = format!("apps/{}/replays", wall.app);
    let count = |filter: &Value| {
        let question = json!({ "filter": filter, "dry_run": true });
        owner.post(&path, &question).expect(200).json()
    };
    // A count equals the number of rewards that the list shows.
    for filter in [
        json!({}),
        json!({ "delivery": "dead", "state": "approved", "http_status": 400 }),
        json!({ "http_status": 200 }),
        json!({ "delivery": "delivered" }),
        json!({ "state": "reversed" }),
        json!({ "user_id": "user-7" }),
        json!({ "transaction_id": ids[3] }),
        json!({ "from": now_ms() / 1_000 + 60 }),
    ] {
        let question = json!({ "app_id": wall.app, "filter": filter, "limit": 200 });
        let shown = rows(&owner, &question).len();
        assert_eq!(count(&filter)["count"], shown, "{filter}");
    }
    let counted = count(&json!({ "delivery": "dead" }));
    assert_eq!(counted["count"], 30);
    let start_with = |key: &str, filter: &Value| {
        let body = json!({ "filter": with(filter.clone(), &json!({ "until": counted["until"] })) });
        let path = format!("/v1/dashboard/{path}");
        owner.send_with("POST", &path, &[("Idempotency-Key", key)], Some(&body))
    };
    owner.post(&path, &json!({ "filter": { "until": counted["until"] } })).expect_error(400, "invalid_field");
    let start = |key: &str| start_with(key, &json!({ "delivery": "dead" }));
    let started = start("first").expect(202).json();
    assert_eq!(start("first").expect(200).json(), started);
    start_with("first", &json!({})).expect_error(409, "idempotency_key_reused");
    let replay = format!("{path}/{}", started["replay_id"].as_str().unwrap());
    let progress = || owner.get(&replay).expect(200).json();
    eventually_within(PATIENCE_MS, &json!("done"), || progress()["state"].clone());
    assert_eq!(progress()["replayed"], 30);
    eventually_within(PATIENCE_MS, &json!(0), dead);
    let received = receiver.transactions();
    assert!(ids.iter().all(|id| received[id] == 2), "{received:?}");

    // Nothing is dead any more, so the second one is over soon, and cancelling it changes nothing.
    let audited = || {
        let audit = owner.get("audit").expect(200).json();
        let entries = audit["entries"].as_array().unwrap().iter();
        let names = entries.map(|entry| entry["action"].as_str().unwrap().to_owned());
        names.take(2).collect::<Vec<_>>()
    };
    let cancel = |replay: &str| owner.send("DELETE", &format!("/v1/dashboard/{replay}"), None);
    let second = start("second").expect(202).json();
    let second = format!("{path}/{}", second["replay_id"].as_str().unwrap());
    eventually_within(PATIENCE_MS, &json!("done"), || owner.get(&second).expect(200).json()["state"].clone());
    cancel(&second).expect(204);
    assert_eq!(owner.get(&second).expect(200).json()["replayed"], 0);
    owner.get(&format!("{path}/99")).expect_error(404, "not_found");
    cancel(&format!("{path}/99")).expect_error(404, "not_found");
    assert_eq!(audited(), ["rewards_replayed", "rewards_replayed"]);

    // A replay that has sent something is over a second later at the earliest. A slow machine may miss that.
    let filter = json!({ "user_id": "user-7" });
    let is_cancelled = (0..9).any(|nth| {
        let started = start_with(&format!("cancelled-{nth}"), &filter).expect(202).json();
        let replay = format!("{path}/{}", started["replay_id"].as_str().unwrap());
        cancel(&replay).expect(204);
        let progress = || owner.get(&replay).expect(200).json();
        eventually_within(PATIENCE_MS, &true, || progress()["state"] != "running");
        progress()["state"] == "cancelled"
    });
    assert!(is_cancelled);
    assert_eq!(audited(), ["replay_cancelled", "rewards_replayed"]);
    let audit = owner.get("audit").expect(200).json();
    let of_user = format!("user, until {}", counted["until"]);
    assert_eq!(audit["entries"][0]["subject"], json!(wall.app));
    assert_eq!(audit["entries"][1]["detail"], json!(of_user));
}

/// Apps of 64 outboxes each. `ACTIVITY_APPS=50` was tried: 3,200 outboxes.
fn apps() -> u32 {
    let apps = std::env::var("ACTIVITY_APPS").ok();
    apps.and_then(|apps| apps.parse().ok()).unwrap_or(3)
}

#[test]
fn overview_and_list_have_every_app_and_outbox_in_one_call() {
    let signpost = Setup::new().start();
    let first = signpost.sharded_offer_wall("activity-many", "79100000", None, 64);
    let walls: Vec<_> = (0..apps())
        .map(|nth| {
            let wall = OfferWall {
                signpost: &signpost,
                app: format!("{}", 79_100_000 + nth),
                id: first.id.clone(),
                token: first.token.clone(),
                token_id: first.token_id.clone(),
                terms: Default::default(),
                shards: 64,
            };
            wall.put_offer(&json!({}));
            wall.put_app(&json!({}));
            wall
        })
        .collect();
    signpost.refresh();
    let ids: Vec<Vec<String>> = std::thread::scope(|scope| {
        let threads = walls.chunks(walls.len().div_ceil(4)).map(|walls| {
            scope.spawn(|| {
                let pay = |wall: &OfferWall<'_>| wall.users().iter().map(|user| wall.pay(user)).collect();
                walls.iter().map(pay).collect::<Vec<Vec<String>>>()
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let owner = signed_in(&signpost, &signpost.existing_publisher(&first.id), "owner");
    let activity = || owner.get("activity").expect(200).json();
    let all = i64::from(apps()) * 64;
    eventually_within(PATIENCE_MS, &all, || sums(&activity())[1]);
    eventually_within(PATIENCE_MS, &json!(0), || activity()["behind_ms"].clone());
    let shown = activity();
    let by_app: Vec<_> =
        shown["apps"].as_array().unwrap().iter().map(|app| (&app["approved"], &app["endpoint"])).collect();
    let endpoint = json!({ "state": "none", "since": null, "waiting": 64, "dead": 0 });
    assert_eq!(by_app, vec![(&json!(64), &endpoint); walls.len()]);
    let started_ms = now_ms();
    let listed = rows(&owner, &json!({ "limit": 200 }));
    let list_ms = now_ms() - started_ms;
    activity();
    println!("{all} outboxes: list {list_ms} ms, activity {} ms", now_ms() - started_ms - list_ms);
    assert_eq!(listed.len(), usize::try_from(all.min(200)).unwrap());
    assert!(listed.iter().all(|row| row["delivery"] == "no_endpoint"));
    let last = ids.last().unwrap().last().unwrap();
    assert_eq!(rows(&owner, &json!({ "filter": { "transaction_id": last } })).len(), 1);
}
