//! A copy of a whole Signpost while conversions arrive, and the route that reads the pages.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use rusqlite::Connection;

use super::{copy_command, expect_done};
use crate::{
    conversions::revenue::revenue,
    harness::{Setup, away_from_midnight, demo, encoded, eventually_within, expect_accepted},
};

/// Marks all databases of a backup as put back, as a restore does.
fn mark_put_back(backup: &Path) {
    for folder in fs::read_dir(backup).expect("namespaces") {
        for file in fs::read_dir(folder.expect("a folder").path()).expect("files") {
            let file = file.expect("a file").path();
            if !file.ends_with("metadata.sqlite") {
                let database = Connection::open(&file).expect("a database");
                let mark = "CREATE TABLE put_back (at_ms INTEGER NOT NULL)";
                database.execute(mark, []).expect("a mark");
            }
        }
    }
}

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
    let [copy, state] = ["copy", "state"].map(|name| folder.path().join(name));
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
    let backup = state.join("objects");
    expect_done(copy_command(
        "to-sqlite",
        &[("--from", copy.as_ref()), ("--to", backup.as_ref())],
    ));
    fs::remove_file(backup.join("manifest.json")).expect("a manifest");
    mark_put_back(&backup);
    fs::create_dir(state.join("kv")).expect("a folder");

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
    eventually_within(60_000, &true, || {
        revenue(&before) > 0.0 && revenue(&before) == revenue(&after)
    });
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
    assert!(
        read("objects/catalog/copy")
            .expect(200)
            .body
            .contains("CREATE TABLE publishers")
    );
}
