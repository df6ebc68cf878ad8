//! A copy of a whole Signpost while conversions arrive, and the route that reads the pages.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use serde_json::json;

use super::{copy_command, expect_done};
use crate::{
    backups,
    conversions::revenue::revenue,
    harness::{Setup, away_from_midnight, demo, encoded, eventually_within, expect_accepted},
};

#[test]
fn a_copy_under_load_moves_to_another_signpost_with_all_promises() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("copied-wall", "79000950", None);
    let pay = |users: std::ops::Range<usize>| -> Vec<(String, String)> {
        let pay = |n| {
            let click = wall.click_id(&format!("u-{n}"));
            let id = expect_accepted(wall.convert(&click, ""), "approved", false);
            (click, id)
        };
        users.map(pay).collect()
    };
    let paid = pay(0..200);
    let folder = tempfile::tempdir().expect("a folder");
    let [copy, backup, state] = ["copy", "backup", "state"].map(|name| folder.path().join(name));
    let url = signpost.base();
    let pull = || copy_command("pull", &[("--url", url.as_ref()), ("--to", copy.as_ref())]);
    let is_done = AtomicBool::new(false);
    let paid_meanwhile = thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut paid = vec![];
            while !is_done.load(Relaxed) && paid.len() < 5_000 {
                paid.extend(pay(1_000 + paid.len()..1_001 + paid.len()));
            }
            paid
        });
        // A pull that is killed goes on with the next one.
        let mut killed = pull().spawn().expect("python3");
        thread::sleep(Duration::from_millis(700));
        killed.kill().expect("a process");
        killed.wait().expect("an end");
        expect_done(pull());
        is_done.store(true, Relaxed);
        load.join().expect("the load")
    });
    assert!(paid_meanwhile.len() > 20, "{}", paid_meanwhile.len());
    expect_done(copy_command("to-sqlite", &[("--from", copy.as_ref()), ("--to", backup.as_ref())]));
    let arguments = [("--from", backup.as_path()), ("--state", state.as_path())];
    expect_done(backups::command(&arguments, "restore"));

    let moved = Setup::new().state(&state).start();
    moved.refresh();
    let convert = |click: &str| moved.convert(&format!("click_id={click}&token={}", wall.token));
    for (click, id) in &paid {
        assert_eq!(&expect_accepted(convert(click), "approved", true), id);
    }
    // The advertiser repeats what came after the copy of the click's outbox.
    for (click, _) in &paid_meanwhile {
        let answer = convert(click).expect(200).json();
        assert_eq!(answer["status"], "approved", "{answer}");
    }
    let target = format!("rid={}&app={}&user_id=u-1", wall.goal("1"), wall.app);
    moved.click(&target, "DE").expect(302);
    let before = signpost.existing_publisher(&wall.id);
    let after = moved.existing_publisher(&wall.id);
    eventually_within(60_000, &true, || revenue(&before) > 0.0 && revenue(&before) == revenue(&after));
}

#[test]
fn a_copy_needs_the_operators_token_an_objects_name_and_the_next_of_its_previous_page() {
    let signpost = demo();
    let read = |path: &str| signpost.operator("GET", path, None);
    for name in ["catalogs", "outbox-", "x"] {
        read(&format!("objects/{name}/copy")).expect_error(404, "not_found");
    }
    read("objects/clicks-0/copy?cursor=next").expect_error(400, "invalid_field");
    let ended = encoded(r#"{"id":"0","page":1,"note":0}"#);
    read(&format!("objects/clicks-0/copy?cursor={ended}")).expect_error(409, "copy_ended");
    let url = "/v1/operator/objects/catalog/copy";
    signpost.get(url, &[]).expect_error(401, "invalid_operator_token");
    assert!(read("objects/catalog/copy").expect(200).body.contains("CREATE TABLE publishers"));
}

#[test]
fn an_alarm_ends_a_copy_that_nobody_reads_any_more_and_runs_even_if_that_fails() {
    let signpost = Setup::new().var("REVALIDATE_SECONDS", "0").start();
    let wall = signpost.offer_wall("copied-long", "79000951", None);
    let desc = "Play it. ".repeat(1_000);
    for number in 0..150 {
        wall.put_offer_as(&format!("copied-long-{number}"), &json!({ "desc": desc }));
    }
    signpost.refresh();
    let begin = || {
        let page = signpost.operator("GET", "objects/catalog/copy", None).expect(200);
        assert!(!page.body.ends_with("null}\n") && !page.body.contains("{\"next\":null"), "one page");
    };
    let parts = "SELECT COUNT(*) FROM sqlite_schema WHERE name GLOB 'copy_*'";
    let parts = || signpost.stored("signpost-catalog", parts, |row| row.get::<_, u32>(0))[0];
    let has_offer = |id: &str| signpost.click(&format!("rid={id}-1&app={}&user_id=u", wall.app), "DE").status;

    begin();
    assert!(parts() > 2);
    signpost.restart_after(|| signpost.damage("signpost-catalog", "UPDATE copy_state SET read_ms = 0"));
    // The alarm of the catalog publishes a change.
    wall.put_offer_as("copied-late", &json!({}));
    eventually_within(60_000, &302, || has_offer("copied-late"));
    eventually_within(60_000, &0, parts);

    begin();
    // Without its row the copy cannot be ended.
    signpost.restart_after(|| signpost.damage("signpost-catalog", "DELETE FROM copy_state"));
    wall.put_offer_as("copied-later", &json!({}));
    eventually_within(60_000, &302, || has_offer("copied-later"));
    eventually_within(60_000, &true, || {
        let lines = signpost.log_lines();
        lines.iter().any(|line| line["where"] == "copy" && line["level"] == "error")
    });
    // The rest of the alarm has run: it has published the change.
    eventually_within(60_000, &0, || signpost.metric("signpost_tracking_dirty_since_ms"));
    assert!(parts() > 2);
}
