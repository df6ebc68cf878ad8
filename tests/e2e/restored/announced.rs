//! `make restore`: an object that is put back on purpose knows it, and starts by itself.

use std::{path::Path, process::Command};

use rusqlite::Connection;
use serde_json::json;

use super::{OUTBOXES, copy, settle};
use crate::{
    clicks::{CLICK, click_id_at, expect_redirect},
    conversions::{accepted_id, expect_conversion_error},
    harness::{Behaviour, Receiver, Setup, Signpost, away_from_midnight, click_keys, eventually_within, root},
};
use contract::{clicks, counters};
use domain::{
    model::{OfferId, time::MINUTE_MS},
    tracking::click_id::{self, Opened},
};

/// A copy of the object that has a row, as somebody keeps it elsewhere. workerd must be down.
pub fn keep(signpost: &Signpost, namespace: &str, sql: &str, folder: &Path) {
    for (file, content) in copy(signpost, namespace, sql) {
        let name = file.file_name().expect("a name").to_str().expect("UTF-8");
        let end = name.split_once(".sqlite").expect("a database").1;
        if let Some(content) = content {
            std::fs::write(folder.join(format!("copy.sqlite{end}")), content).expect("a file written");
        }
    }
}

/// `make restore`. workerd must be down.
pub fn restore(signpost: &Signpost, object: &str, folder: &Path) -> (bool, String) {
    let output = Command::new("make")
        .args(["--no-print-directory", "restore"])
        .arg(format!("OBJECT={object}"))
        .arg(format!("FROM={}", folder.join("copy.sqlite").display()))
        .arg(format!("STATE={}", signpost.state.path().display()))
        .current_dir(root())
        .output()
        .expect("make");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Stops workerd, puts an object back, and starts workerd.
fn put_back(signpost: &Signpost, object: &str, folder: &Path) {
    let mut outcome = None;
    signpost.restart_after(|| outcome = Some(restore(signpost, object, folder)));
    let (is_done, text) = outcome.expect("workerd was down");
    assert!(is_done && text.contains("is put back"), "{text}");
}

#[test]
fn waiting_callbacks_go_out_although_nobody_calls() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("restored-waiting", "79000730", Some(&receiver), 1);
    signpost.refresh();
    let folder = tempfile::tempdir().expect("a folder");
    receiver.set(Behaviour::status(500));
    for n in 0..3 {
        wall.pay(&format!("user-{n}"));
    }
    receiver.wait(3);
    settle(&wall, 3);
    let of_app = format!("SELECT 1 FROM outbox WHERE app = {}", wall.app);
    signpost.restart_after(|| keep(&signpost, OUTBOXES, &of_app, folder.path()));
    receiver.set(Behaviour::status(200));
    eventually_within(2 * MINUTE_MS, &true, || wall.all_entries(10).iter().all(|entry| entry["state"] == "delivered"));
    let before = receiver.count();
    put_back(&signpost, &format!("outbox-{}-0", wall.app), folder.path());
    // The copy's waiting callbacks go out within a minute of the start.
    assert!(receiver.wait_until(MINUTE_MS, |received| received.len() >= before + 3));
    assert_eq!(receiver.transactions().len(), 3);
}

#[test]
fn a_cap_is_not_exceeded_whatever_the_counters_have_lost() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("restored-cap", "79000731", None);
    wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": 5}}));
    signpost.refresh();
    let folder = tempfile::tempdir().expect("a folder");
    let pay = |n: u32| wall.convert(&wall.click_id(&format!("user-{n}")), "");
    drop(accepted_id(pay(0)));
    let of_offer = "SELECT 1 FROM takes WHERE offer = 'restored-cap'";
    signpost.restart_after(|| keep(&signpost, "signpost-counters", of_offer, folder.path()));
    (1..4).for_each(|n| drop(accepted_id(pay(n))));
    let counters = counters::object_name(&OfferId::parse("restored-cap").expect("an id"));
    put_back(&signpost, &counters, folder.path());
    drop(accepted_id(pay(4)));
    expect_conversion_error(pay(5), 409, "conversion_capped");
}

#[test]
fn a_click_whose_record_may_be_lost_is_not_refused_permanently() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("restored-click", "79000732", None);
    signpost.refresh();
    let folder = tempfile::tempdir().expect("a folder");
    let long = "x".repeat(128);
    let click = format!("{CLICK}?rid={}-1&app={}&user_id=u-1&c1={long}&c2={long}&c3={long}", wall.id, wall.app);
    let id = click_id_at(&expect_redirect(signpost.get(&click, &[])));
    let Ok(Opened::Short { nonce, .. }) = click_id::open(&click_keys(), &id) else {
        panic!("{id} is whole");
    };
    let of_click = format!("SELECT 1 FROM records WHERE nonce = x'{}'", hex::encode(nonce));
    signpost.restart_after(|| {
        keep(&signpost, "signpost-clicks", &of_click, folder.path());
        let copy = Connection::open(folder.path().join("copy.sqlite")).expect("a database");
        copy.execute("DELETE FROM records", []).expect("rows deleted");
    });
    put_back(&signpost, &clicks::object_name(&nonce), folder.path());
    expect_conversion_error(wall.convert(&id, ""), 503, "unavailable");
}

#[test]
fn a_file_that_is_not_a_copy_of_an_object_changes_nothing() {
    let signpost = Setup::new().start();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("copy.sqlite"), "no database").expect("a file written");
    let problems =
        [("catalog", "not a database"), ("ships-1", "not the name of an object"), ("", "not a complete backup")];
    let mut outcomes = Vec::new();
    signpost.restart_after(|| {
        outcomes.extend(problems.map(|(object, _)| restore(&signpost, object, folder.path())));
    });
    for ((object, problem), (is_done, text)) in problems.iter().zip(outcomes) {
        assert!(!is_done && text.contains(problem), "{object}: {text}");
    }
    signpost.operator("GET", "publishers", None).expect(200);
}
