//! Stored data of a later release, in KV and in SQLite: the answer is right or 503, `/healthz` names the kind, and the
//! remedy of docs/OPERATING.md ("Formats") heals it.

use std::{fs, path::PathBuf, thread, time::Duration};

use serde_json::{Value, json};

use crate::harness::{ANDROID_APP, Answer, Setup, Signpost, eventually};

/// The byte of a snapshot value that has its format.
const FORMAT_AT: usize = 5;

fn unreadable(signpost: &Signpost) -> Vec<Value> {
    let health = signpost.get("/healthz", &[]).json();
    health["unreadable"].as_array().cloned().unwrap_or_default()
}

fn is_stated(answer: &Answer) -> bool {
    // Internal names never reach a partner.
    answer.is_retried() && !answer.body.contains("schema") && answer.header("x-newer-schema").is_none()
}

fn rested(ask: impl FnOnce() -> Answer) -> Answer {
    thread::sleep(Duration::from_millis(2_100));
    ask()
}

/// Does something to the schema of all objects of a namespace while Signpost is stopped.
fn change_schema(signpost: &Signpost, namespace: &str, sql: &str) {
    signpost.restart_after(|| signpost.damage(namespace, sql));
}

const NEWER: &str = "INSERT INTO migrations (version, applied_at_ms, only_adds) VALUES (2, 0, 0)";
const NEWER_THAT_ADDS: &str = "INSERT INTO migrations (version, applied_at_ms, only_adds) VALUES (2, 0, 1)";
const BACK: &str = "DELETE FROM migrations WHERE version = 2";

#[test]
fn an_object_with_a_newer_schema_answers_503_until_the_newer_code_is_back() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("later", "79000930", None);
    wall.pay("user-1");
    let publisher = signpost.existing_publisher("later");
    let ask = |path: &str| match path {
        "outbox" => wall.convert(&wall.click_id("user-2"), ""),
        // A key rests between two reports, and another one could not be created.
        "ledger" => rested(|| {
            publisher.report(&json!({
                "dimensions": ["date"], "metrics": ["clicks"],
                "date_range": {"start_date": "2026-11-01", "end_date": "2026-11-02"},
            }))
        }),
        _ => signpost.operator("GET", "apps/79000930", None),
    };
    for (name, namespace, binding) in [
        ("outbox", "signpost-outbox", "OUTBOXES"),
        ("ledger", "signpost-ledger", "LEDGERS"),
        ("catalog", "signpost-catalog", "CATALOG"),
    ] {
        change_schema(&signpost, namespace, NEWER_THAT_ADDS);
        let answer = ask(name);
        assert!(answer.status < 300, "{name} with a schema that only adds: {answer:?}");
        change_schema(&signpost, namespace, BACK);
        change_schema(&signpost, namespace, NEWER);
        let answer = ask(name);
        assert!(is_stated(&answer), "{name}: {answer:?}");
        assert!(unreadable(&signpost).contains(&json!(binding)), "{name}: {:?}", unreadable(&signpost));
        change_schema(&signpost, namespace, BACK);
        let answer = ask(name);
        assert!(answer.status < 300, "{name} with the newer code: {answer:?}");
        assert!(unreadable(&signpost).is_empty());
    }
}

/// The values of snapshots in KV, without the pointer.
fn values(signpost: &Signpost) -> Vec<PathBuf> {
    let files = fs::read_dir(signpost.state.path().join("kv")).expect("a folder");
    let files = files.map(|file| file.expect("a file").path());
    files.filter(|file| !file.ends_with(contract::kv::KEY)).collect()
}

/// Sets the format of a value; that of the pointer's manifest begins after its line of JSON.
fn set_format(file: &PathBuf, format: u8) {
    let mut bytes = fs::read(file).expect("a value");
    let start = match file.ends_with(contract::kv::KEY) {
        true => bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1,
        false => 0,
    };
    bytes[start + FORMAT_AT] = format;
    fs::write(file, bytes).expect("written");
}

#[test]
fn a_value_of_another_format_in_kv_makes_no_answer_wrong_and_is_healed() {
    let (signpost, pub_key) = Setup::new().var("REVALIDATE_SECONDS", "0").start_with_fixtures();
    let click = || signpost.click("rid=410271&app=10000001&user_id=u-1", "DE");
    let offers = || signpost.offers(ANDROID_APP, &pub_key, &json!({"page": 1, "size": 5}));
    let location = click().expect(302).location().split('?').next().unwrap().to_owned();
    let page = offers().expect(200).body;
    for format in [2, 77] {
        let pointer = signpost.state.path().join("kv").join(contract::kv::KEY);
        let all = || values(&signpost).into_iter().chain([pointer.clone()]);
        signpost.restart_after(|| all().for_each(|file| set_format(&file, format)));
        // A cold isolate asks the catalog.
        let clicked = click().expect(302);
        assert!(clicked.location().starts_with(&location), "{clicked:?}");
        let listed = offers();
        assert!(listed.status == 200 && listed.body == page || listed.status == 503, "{listed:?}");
        let met = unreadable(&signpost);
        assert!(met.contains(&json!("manifest")), "{met:?}");
        signpost.refresh();
        eventually(&true, || {
            signpost.restart();
            let right = offers().status == 200 && click().status == 302;
            right && !unreadable(&signpost).contains(&json!("manifest"))
        });
        assert_eq!(offers().expect(200).body, page);
    }
}
