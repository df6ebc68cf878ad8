//! Fuzzes every operation of the served OpenAPI document with schemathesis, by requests that the document allows and by
//! requests that it does not. Its settings are in `api/`, with the reason for each check that is disabled.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::Command,
};

use serde_json::{Value, json};

use crate::{
    dashboard::signed_in,
    harness::{
        METRICS_TOKEN, OPERATOR_TOKEN, Publisher, Receiver, Setup, Signpost, callback, eventually, expect_accepted,
        methods, now_ms, root,
    },
    test_apps::TestApp,
};

const SETTINGS: &str = "schemathesis.toml";

/// The publisher whose credentials schemathesis uses, and its app. No request of the run changes or deletes them.
const KEEPER: (&str, &str) = ("keeper", "20000090");
/// The publisher whose keys, tokens and conversions schemathesis reads, replays and revokes, and its app.
const SPARE: (&str, &str) = ("spare", "20000091");
/// The day of the uploaded facts, which the document's examples query.
const DAY: &str = "2026-11-03";
/// Each key may send one query in 2 seconds.
const REPORT_KEYS: usize = 100;
/// Each may send one request in a second.
const PRIVACY_KEYS: usize = 40;
const REWARDS_KEYS: usize = 28;
/// Each may send one request in 10 seconds.
const TEST_KEYS: usize = 10;

/// Requests for each operation in the fuzzing phase, unless `make fuzz-api` sets a duration.
const EXAMPLES: &str = "10";
/// A short run leaves these operations to the fuzzing phase. `put_offer` has half of the document's fields and takes a
/// quarter of the coverage phase; the others behave like their GET.
const SHORT: &str = r#"
[[operations]]
include-operation-id = ["put_offer", "click_head", "head_offers"]
phases.coverage.enabled = false
"#;

/// The number of answers for each operation and status.
type Counts = BTreeMap<String, BTreeMap<String, u64>>;

#[test]
fn schemathesis_finds_no_undocumented_answer() {
    let (signpost, _) = Setup::new().config("no_internet.capnp").start_with_fixtures();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in [SETTINGS, "hooks.py"] {
        let from = root().join("tests/e2e/api").join(file);
        fs::copy(from, folder.path().join(file)).expect("a file copied");
    }
    let served = signpost.get("/openapi.json", &[]).expect(200);
    fs::write(folder.path().join("openapi.json"), &served.body).expect("a file written");
    let environment = prepare(&signpost, folder.path());
    let seconds = std::env::var("API_SECONDS").ok().filter(|seconds| !seconds.is_empty());
    if seconds.is_none() {
        let settings = OpenOptions::new().append(true).open(folder.path().join(SETTINGS));
        settings.and_then(|mut file| file.write_all(SHORT.as_bytes())).expect("settings");
    }

    // A timed run takes a while longer to end.
    let timeout_s = seconds.as_ref().map_or(0, |seconds| seconds.parse::<u64>().expect("seconds")) + 300;
    let mut command = Command::new("timeout");
    command
        .args([&timeout_s.to_string(), "python3"])
        .current_dir(folder.path())
        .env("PYTHONPATH", root().join(".tools/api-python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(environment)
        .arg(root().join(".tools/api-python/bin/schemathesis"))
        .args(["--config-file", SETTINGS, "run", "--no-color"]);
    match &seconds {
        // With links between operations and a new seed each time, which it prints.
        Some(seconds) => command.args(["--phases=examples,coverage,fuzzing,stateful", "--max-time", seconds]),
        None => command.args(["--phases=examples,coverage,fuzzing", "--seed=1", "--max-examples", EXAMPLES]),
    };
    // From a file: it skips the operation that serves a document which it fetched itself.
    let base = signpost.base();
    let output = command.args(["--url", &base, "openapi.json"]).output();
    let output = output.expect("schemathesis, which `make verify` installs");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));

    let counts = fs::read_to_string(folder.path().join("counts.json")).expect("counts");
    let counts: Counts = serde_json::from_str(&counts).expect("counts");
    let all: u64 = counts.values().flat_map(BTreeMap::values).sum();
    println!("schemathesis sent {all} requests");
    // A service that refuses everything would pass, so every operation must succeed at least once.
    let succeeded =
        |counts: &BTreeMap<String, u64>| counts.keys().any(|status| matches!(status.as_bytes(), [b'2' | b'3', ..]));
    // Plain workerd cannot put an object back; `restored::recovery` does it by a stand-in. An object starts only after
    // a load, which other requests of this test give up; `copies::loaded` does it in order.
    let can_succeed = |label: &str| {
        !label.ends_with("/objects/{object}/restore") && label != "POST /v1/operator/objects/{object}/copy"
    };
    let failed: Vec<_> = counts.iter().filter(|(label, counts)| can_succeed(label) && !succeeded(counts)).collect();
    assert!(failed.is_empty(), "never successful: {failed:?}");
    assert_eq!(counts.len(), operations(&served.json()), "{:?}", counts.keys());
}

/// Creates resources, writes lists of their ids to `folder`, and returns the credentials as environment variables.
fn prepare(signpost: &Signpost, folder: &Path) -> Vec<(&'static str, String)> {
    let walls = [KEEPER, SPARE].map(|(id, app)| signpost.unpublished_offer_wall(id, app, None));
    for wall in &walls {
        wall.put_app(&json!({ "callback": callback("http://receiver.example/cb", "GET") }));
    }
    let [keeper, spare] = &walls;
    let pub_key = signpost.issue_pub_key(KEEPER.0);
    signpost.refresh();
    // Half of them are paid and the others are pending, so that every action finds some.
    let transaction = |user: usize| {
        let status = if user.is_multiple_of(2) { "approved" } else { "pending" };
        let click = spare.click_id(&format!("user-{user}"));
        expect_accepted(spare.convert(&click, &format!("&status={status}")), status, false)
    };
    let transactions: Vec<_> = (0..300).map(transaction).collect();
    // A replay of the spare app's callbacks, which is read and cancelled.
    let until = now_ms() / 1_000 + 1;
    let order = json!({"filter": {"user_id": "user-0", "until": until}});
    let order_replay = || {
        signpost.send(
            "POST",
            &format!("/v1/operator/apps/{}/replays", SPARE.1),
            &[
                ("Authorization", &format!("Bearer {OPERATOR_TOKEN}")),
                ("Idempotency-Key", "spare-replay"),
                ("Content-Type", "application/json"),
            ],
            order.to_string().as_bytes(),
        )
    };
    // The activity hears of an app some seconds after its first reward. The same key names the same replay.
    eventually(&true, || matches!(order_replay().status, 200 | 202));
    let ordered = order_replay().expect(200).json();
    let replay = ordered["replay_id"].as_str().expect("an id").to_owned();
    let click_ids: Vec<_> = (0..200).map(|user| keeper.click_id(&format!("user-{user}"))).collect();
    let (_, last_token) = (spare.issue_token(), spare.issue_token());

    let publisher = signpost.existing_publisher(KEEPER.0);
    let facts = fs::read_to_string(root().join("fixtures/facts-2026-11-03.csv")).expect("the fixtures");
    publisher.put_facts(DAY, &facts).expect(200);
    let issue = |publisher: &Publisher<'_>, count: usize| -> Vec<(String, String)> {
        let keys = (0..count).map(|_| publisher.create_key("a test's"));
        keys.map(|key| (key.id, key.api_key)).collect()
    };
    let report_keys: Vec<_> = issue(&publisher, REPORT_KEYS).into_iter().map(|(_, key)| key).collect();
    let spare_publisher = signpost.existing_publisher(SPARE.0);
    let mut kept_keys = Vec::new();
    let mut keys_for = |scope: &str, count: usize| -> Vec<String> {
        let keys = (0..count).map(|_| spare_publisher.create_key_for(scope, "a test's"));
        let (ids, keys): (Vec<_>, Vec<_>) = keys.map(|key| (key.id, key.api_key)).unzip();
        kept_keys.extend(ids);
        keys
    };
    let privacy_keys = keys_for("ia-privacy.WRITE", PRIVACY_KEYS);
    let rewards_keys = keys_for("ia-rewards.READ", REWARDS_KEYS);
    let test_keys = keys_for("ia-test.WRITE", TEST_KEYS);
    let test_app = TestApp::of(spare, &Receiver::start());
    let test_click = |user: usize| test_app.click("signpost-test-one-goal-1", &format!("user-{user}"));
    let test_click_ids: Vec<_> = (0..100).map(test_click).collect();
    let revocable: Vec<_> = issue(&spare_publisher, 20).into_iter().map(|(id, _)| id).collect();

    // A member, and more invites than requests of a short run.
    signed_in(signpost, &spare_publisher, "owner");
    for guest in 0..20 {
        let body = json!({ "name": format!("Guest {guest}"), "role": "analyst" });
        spare_publisher.operator("POST", "invites", Some(&body)).expect(201);
    }
    let people = spare_publisher.operator("GET", "members", None).expect(200).json();
    let ids = |list: &str, id: &str| -> Vec<_> {
        let entries = people[list].as_array().expect("a list").iter();
        entries.map(|entry| entry[id].as_str().expect("an id").to_owned()).collect()
    };

    // Items as a restore leaves them: enough for a short run, with numbers that no real item has.
    signpost.operator("GET", "attention", None).expect(200);
    let items = 1_001..=1_060;
    let rows = items.clone().map(|n| format!("({n}, 'ledger-{n}', 12, 'a day', 1, 'load_again')"));
    let rows = rows.collect::<Vec<_>>().join(", ");
    signpost.restart_after(|| {
        let insert = "INSERT INTO attention_items (item, source, kind, subject, since_ms, reason) VALUES";
        signpost.damage("signpost-activity", &format!("{insert} {rows}"));
    });
    let items: Vec<_> = items.map(|n| format!("1.{n}")).collect();

    let write = |name: &str, texts: &[String]| {
        let lines: Vec<_> = texts.iter().map(|text| format!("{text:?}")).collect();
        fs::write(folder.join(name), lines.join("\n")).expect("a list");
    };
    write("transactions.txt", &transactions);
    write("click_ids.txt", &click_ids);
    write("test_click_ids.txt", &test_click_ids);
    write("keys.txt", &revocable);
    write("tokens.txt", &[last_token.0]);
    write("invites.txt", &ids("invites", "invite_id"));
    write("members.txt", &ids("members", "member_id"));
    write("replays.txt", &[replay]);
    write("items.txt", &items);
    vec![
        ("APP_ID", KEEPER.1.to_owned()),
        ("PUB_KEY", pub_key),
        ("REPORT_KEY", report_keys[0].clone()),
        ("REPORT_KEYS", report_keys.join(",")),
        ("PRIVACY_KEY", privacy_keys[0].clone()),
        ("PRIVACY_KEYS", privacy_keys.join(",")),
        ("REWARDS_KEY", rewards_keys[0].clone()),
        ("REWARDS_KEYS", rewards_keys.join(",")),
        ("TEST_KEY", test_keys[0].clone()),
        ("TEST_KEYS", test_keys.join(",")),
        ("KEPT_KEYS", kept_keys.join(",")),
        ("ADVERTISER_TOKEN", keeper.token.clone()),
        ("OPERATOR_TOKEN", OPERATOR_TOKEN.to_owned()),
        ("METRICS_TOKEN", METRICS_TOKEN.to_owned()),
    ]
}

/// The number of operations in the document.
fn operations(document: &Value) -> usize {
    let paths = document["paths"].as_object().expect("paths").values();
    paths.map(|item| methods(item).count()).sum()
}
