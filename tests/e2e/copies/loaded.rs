//! A copy of a whole Signpost is loaded into one without data.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use chrono::DateTime;
use serde_json::{Value, json};

use super::{copy_command, expect_done};
use crate::{
    backups::load::Load,
    conversions::revenue::revenue,
    dashboard::{Browser, signed_in},
    harness::{
        Answer, Behaviour, End, Publisher, Receiver, Setup, Signpost, away_from_midnight, demo, encoded,
        eventually_within, now_ms, timed,
    },
    restored::expect_all_recovered,
    test_apps::TestApp,
};
use domain::model::time::{MINUTE_MS, UtcDay};

const GOAL: &str = "signpost-test-one-goal-1";
const ID: &str = "0000000000000000000000000000000000000000000000000000000000000001";
/// Callbacks of users whose ids begin so wait until the move.
const WAITS: &str = "waits-";
/// A user with a reward in the copy, who is erased afterwards.
const ERASED_LATER: &str = "erased-later";
/// Outputs of a push at which it is killed: it loads the first objects, or others, or it starts objects.
const KILLED_AT: [&str; 3] = ["load 3 of", "load 75 of", "start 40 of"];

fn pull(signpost: &Signpost, to: &Path) -> Command {
    let url = signpost.base();
    copy_command("pull", &[("--url", url.as_ref()), ("--to", to.as_ref())])
}

fn push(from: &Path, signpost: &Signpost) -> Command {
    let url = signpost.base();
    copy_command("push", &[("--from", from.as_ref()), ("--url", url.as_ref())])
}

/// Kills a command once it has written a text.
fn kill_at(mut command: Command, mark: &str) {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("python3");
    let (mut output, mut written) = (child.stderr.take().expect("a pipe"), String::new());
    while !written.contains(mark) {
        let mut part = [0; 1_024];
        let length = output.read(&mut part).expect("an output");
        assert!(length > 0, "the command has ended: {written}");
        written.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    child.kill().expect("a process");
    child.wait().expect("an end");
}

fn expect_refused(mut command: Command, problem: &str) {
    let output = command.output().expect("python3");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains(problem), "{text}");
}

#[test]
fn a_copy_under_load_is_loaded_into_an_empty_signpost_with_all_promises() {
    away_from_midnight();
    let began_ms = now_ms();
    let receiver = Receiver::start();
    let has_moved = Arc::new(AtomicBool::new(false));
    let accepts = Arc::clone(&has_moved);
    receiver.set(Behaviour::decide(move |received| {
        let waits = format!("{received:?}").contains(WAITS) && !accepts.load(Relaxed);
        Behaviour::status(if waits { 500 } else { 200 })
    }));
    let signpost = Setup::new().start();
    let walls = [("loaded-one", "79000952", 1), ("loaded-eight", "79000953", 8)]
        .map(|(id, app, outboxes)| signpost.sharded_offer_wall(id, app, Some(&receiver), outboxes));
    signpost.refresh();
    let publisher = signpost.existing_publisher(&walls[0].id);
    let [revoked, kept] = ["Revoked", "Kept"].map(|label| publisher.create_key(label));
    publisher.revoke_key(&revoked);
    let facts = format!(
        "app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,\
        revenue\n{},Loaded,DE,p,banner,house,7.0.0,10,9,8,1,0.5\n",
        walls[0].app
    );
    publisher.put_facts("2026-11-03", &facts).expect(200);
    let loaded = |publisher: &Publisher<'_>| publisher.days().pop().expect("a day");
    let day = loaded(&publisher);
    let owner = signed_in(&signpost, &publisher, "owner");
    let test_app = TestApp::of(&walls[0], &receiver);
    let tested = test_app.click(GOAL, "tester");
    let held = test_app.report(&tested, GOAL, "held").expect(200).json();
    // The sender is told that it is pending.
    assert_eq!(held["status"], "pending");
    let waiting: Vec<_> = (0..4).flat_map(|n| walls.each_ref().map(|wall| wall.pay(&format!("{WAITS}{n}")))).collect();
    for wall in &walls {
        wall.pay(ERASED_LATER);
    }

    let scratch = tempfile::tempdir().expect("a folder");
    let [copy, newer] = ["copy", "newer"].map(|name| scratch.path().join(name));
    let (ends, load) = (AtomicBool::new(false), Load::default());
    thread::scope(|scope| {
        let _end = End(&ends);
        for wall in &walls {
            scope.spawn(|| load.convert(wall, "a", &ends));
            scope.spawn(|| load.erase(wall, &ends));
        }
        scope.spawn(|| load.change(&walls[0], &ends));
        receiver.wait_for_transactions(2 * MINUTE_MS, 80);
        expect_done(pull(&signpost, &copy));
        for wall in &walls {
            wall.erase(ERASED_LATER);
        }
    });
    // It has the erasures that the copy lacks.
    expect_done(pull(&signpost, &newer));
    let manifest: Value = serde_json::from_str(&fs::read_to_string(copy.join("manifest.json")).unwrap()).unwrap();
    let until = DateTime::parse_from_rfc3339(manifest["complete_until"].as_str().unwrap()).unwrap();
    signpost.stop();
    // Outboxes send as soon as they are started.
    let before_move = receiver.count();
    has_moved.store(true, Relaxed);

    let moved = Setup::new().start();
    // A Signpost without data answers, too, and `attention` gets the figures of its isolates.
    moved.get("/healthz", &[]).expect_unhealthy();
    moved.refresh();
    moved.operator("GET", "attention", None).expect(200);
    let push = || {
        let mut push = push(&copy, &moved);
        push.arg("--erased").arg(&newer);
        push
    };
    let publishers = || moved.operator("GET", "publishers", None);
    for mark in KILLED_AT {
        kill_at(push(), mark);
        let answer = publishers();
        let listed = answer.json()["publishers"].as_array().map_or(0, Vec::len);
        println!("killed at {mark:?}: {} with {listed} publishers", answer.status);
        assert!(answer.status == 503 || [0, walls.len()].contains(&listed), "{answer:?}");
        // A nightly pull reads the objects that are started already.
        for object in ["catalog", &format!("ledger-{}", walls[0].id)] {
            moved.operator("GET", &format!("objects/{object}/copy"), None);
        }
    }
    let (_, took) = timed(|| expect_done(push()));
    println!("the last push took {took:?}");
    // Everything is loaded, so nothing changes.
    expect_done(push());

    let again = fs::read_to_string(copy.join("erase_again.ndjson")).expect("a list of users");
    for line in again.lines() {
        let user: Value = serde_json::from_str(line).expect("JSON");
        let path = format!("apps/{}/erase_user", user["app_id"].as_str().unwrap());
        moved.operator("POST", &path, Some(&json!({ "user_id": user["user_id"] }))).expect(200);
    }
    println!("{} users erased again", again.lines().count());
    assert_eq!(again.matches(ERASED_LATER).count(), walls.len(), "{again}");
    let walls = walls.each_ref().map(|wall| wall.on(&moved));
    load.check(&walls, until.timestamp_millis());

    let arrived = |id: &String| {
        let received = receiver.received();
        received[before_move..].iter().filter(|received| format!("{received:?}").contains(id.as_str())).count()
    };
    eventually_within(3 * MINUTE_MS, &vec![1; waiting.len()], || waiting.iter().map(arrived).collect());
    let publisher = moved.existing_publisher(&walls[0].id);
    assert_eq!(loaded(&publisher), day);
    let status = |key: &str| moved.report_with(key, b"{").status;
    assert_eq!([status(&revoked.api_key), status(&kept.api_key)], [401, 400]);
    let mut browser = Browser::new(&moved);
    (browser.cookie, browser.publisher) = (owner.cookie.clone(), owner.publisher.clone());
    browser.get("overview").expect_error(401, "not_signed_in");
    signed_in(&moved, &publisher, "owner").get("overview").expect(200);
    let states = test_app.on(&moved).states(&tested);
    assert_eq!(states, ["held"]);
    let target = format!("rid={}&app={}&user_id=u-1", walls[0].goal("1"), walls[0].app);
    moved.click(&target, "DE").expect(302);
    for wall in &walls {
        wall.expect_reconciled_since(began_ms);
        let paid = wall.reconcile(UtcDay::of_ms(began_ms))["paid_micro_usd"].clone();
        let paid = paid.as_f64().expect("a sum") / 1e6;
        let found = revenue(&moved.existing_publisher(&wall.id));
        assert!((found - paid).abs() < 1e-6, "{found}, not {paid}");
    }
    let most = receiver.transactions().into_iter().filter(|(id, _)| !waiting.contains(id));
    let most = most.map(|(_, count)| count).max();
    assert!(most <= Some(2), "{most:?} callbacks of one reward");
    expect_all_recovered(&moved);
    // A loaded object can be copied.
    expect_done(pull(&moved, &scratch.path().join("again")));
}

/// Sends a page to an object, or asks with an empty one.
fn put(signpost: &Signpost, object: &str, id: &str, cursor: &str, page: &str) -> Answer {
    let cursor = encoded(cursor);
    let path = format!("objects/{object}/copy?id={id}&cursor={cursor}");
    signpost.operate("PUT", &path, &[("Content-Type", "application/x-ndjson")], page.as_bytes())
}

#[test]
fn an_object_loads_whole_pages_in_their_order_and_shows_nothing_until_it_is_started() {
    let source = Setup::new().start();
    source.offer_wall("loaded-pages", "79000954", None);
    let page = source.operator("GET", "objects/catalog/copy", None).expect(200).body;
    let signpost = Setup::new().start();
    signpost.refresh();
    let put = |id: &str, cursor: &str, page: &str| put(&signpost, "catalog", id, cursor, page);
    let start = |id: &str| signpost.operator("POST", &format!("objects/catalog/copy?id={id}"), None);
    let state = |answer: Answer| answer.expect(200).json();
    // An object that has run restarts first.
    let put_first = |id: &str| {
        put(id, "", &page).expect_error(503, "unavailable");
        put(id, "", &page).expect(200);
    };
    let asked = json!({ "id": null, "next": "", "is_loaded": false });

    start(ID).expect_error(409, "copy_incomplete");
    for id in ["", "1", &"g".repeat(64)] {
        put(id, "", "").expect_error(400, "invalid_field");
    }
    signpost.operator("POST", &format!("objects/catalogs/copy?id={ID}"), None).expect_error(404, "not_found");
    let chunked = [("Transfer-Encoding", "chunked")];
    let path = format!("objects/catalog/copy?id={ID}&cursor=");
    signpost.operate("PUT", &path, &chunked, page.as_bytes()).expect_error(413, "payload_too_large");
    // A damaged page does not even begin a load.
    put(ID, "", &page.replacen("loaded-pages", "loaded-pagez", 1)).expect_error(400, "invalid_copy");
    signpost.operator("GET", "publishers", None).expect(200);

    // Neither does a question, nor a right page in the wrong place.
    assert_eq!(state(put(ID, "", "")), asked);
    assert_eq!(state(put(ID, "another", &page)), asked);
    signpost.operator("GET", "publishers", None).expect(200);
    put_first(ID);
    let refuse = || {
        for path in ["publishers", "objects/catalog/copy"] {
            signpost.operator("GET", path, None).expect_error(503, "unavailable");
        }
    };
    refuse();
    let end = page.lines().last().unwrap();
    let damaged = [
        page.replacen("loaded-pages", "loaded-pagez", 1),
        page.replacen(end, &end.replace("\"lines\":", "\"lines\":1"), 1),
        page.lines().skip(1).map(|line| format!("{line}\n")).collect(),
        "{".to_owned(),
        "\n".to_owned(),
        "null\n".to_owned(),
    ];
    for page in damaged {
        put(ID, "", &page).expect_error(400, "invalid_copy");
    }
    signpost.restart();
    refuse();
    let loaded = |id: &str| json!({ "id": id, "next": null, "is_loaded": true });
    assert_eq!(state(put(ID, "", "")), loaded(ID));
    // A question about another copy changes nothing. Its first page begins again.
    let other = ID.replace('1', "2");
    assert_eq!(state(put(&other, "", "")), loaded(ID));
    start(&other).expect_error(409, "copy_incomplete");
    put(&other, "", &page).expect(200);
    start(ID).expect_error(409, "copy_incomplete");
    assert_eq!(state(put(&other, "", "")), loaded(&other));
    // An object whose load is given up is empty, and can be loaded.
    for _ in 0..2 {
        signpost.operator("DELETE", "objects/catalog/copy", None).expect(204);
        assert_eq!(state(put(&other, "", "")), asked);
    }
    let listed = signpost.operator("GET", "publishers", None).expect(200).json();
    assert_eq!(listed["publishers"], json!([]));
    put_first(&other);
    assert_eq!(state(put(&other, "", "")), loaded(&other));
    refuse();
    start(&other).expect(204);
    start(&other).expect(204);
    assert_eq!(state(put(&other, "", &page)), loaded(&other));
    signpost.operator("DELETE", "objects/catalog/copy", None).expect(204);
    put(ID, "", "").expect_error(409, "not_empty");
    let listed = signpost.operator("GET", "publishers", None).expect(200).json();
    assert_eq!(listed["publishers"][0]["publisher_id"], "loaded-pages");
}

#[test]
fn a_push_refuses_a_signpost_with_data_and_a_damaged_copy() {
    let signpost = demo();
    let scratch = tempfile::tempdir().expect("a folder");
    let copy = scratch.path().join("copy");
    expect_done(pull(&signpost, &copy));
    expect_refused(push(&copy, &signpost), "not_empty");
    // Not even those without data were loaded.
    let counters = signpost.operator("GET", "objects/counters-63/copy", None);
    counters.expect(200);
    signpost.operator("GET", "publishers", None).expect(200);

    let empty = Setup::new().start();
    let catalog = copy.join("catalog.ndjson");
    let text = fs::read_to_string(&catalog).unwrap();
    fs::write(&catalog, text.replacen("lumen-arcade", "lumen-arcadf", 1)).unwrap();
    expect_refused(push(&copy, &empty), "is not as the pull wrote it");
    empty.operator("GET", "publishers", None).expect(200);
}
