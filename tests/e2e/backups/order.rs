//! A backup of many or large objects takes minutes, so its copies are of different times. Here they are of two times,
//! with batches, callbacks and conversions in between.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
};

use serde_json::Value;

use super::{command, expect_done, manifest};
use crate::{
    conversions::revenue::revenue,
    harness::{OfferWall, Receiver, Setup, Signpost, away_from_midnight, eventually_within, expect_accepted, now_ms},
    restored::{OUTBOXES, doubts},
};
use domain::model::time::MINUTE_MS;

const REWARDS: usize = 12;

/// Takes a file's namespace and number.
type IsOfFirst = fn(&str, usize) -> bool;

fn is_sender(namespace: &str) -> bool {
    [OUTBOXES, "signpost-clicks"].contains(&namespace)
}

fn back_up(signpost: &Signpost, to: PathBuf) -> PathBuf {
    expect_done(command(&[("--state", signpost.state.path()), ("--to", &to)], "backup"));
    to
}

/// Makes a backup of the files of two.
fn mix(to: &Path, [first, second]: [&Path; 2], is_of_first: IsOfFirst) {
    let (mut made, second_files) = (manifest(second), manifest(second));
    let first_files = manifest(first);
    let first_files = first_files["files"].as_array().expect("files");
    let files = second_files["files"].as_array().expect("files").iter().enumerate();
    let files = files.filter_map(|(number, file)| {
        let namespace = file["namespace"].as_str().expect("a namespace");
        let (from, entry) = if is_of_first(namespace, number) {
            // An object may be newer than the first copies.
            (
                first,
                first_files.iter().find(|copied| {
                    ["namespace", "id"].map(|name| &copied[name]) == ["namespace", "id"].map(|name| &file[name])
                })?,
            )
        } else {
            (second, file)
        };
        let name = format!("{namespace}/{}.sqlite", file["id"].as_str().expect("an id"));
        fs::create_dir_all(to.join(namespace)).expect("a folder");
        fs::copy(from.join(&name), to.join(&name)).expect("a file");
        Some(entry.clone())
    });
    made["files"] = Value::Array(files.collect());
    fs::write(to.join("manifest.json"), made.to_string()).expect("a manifest");
}

/// Waits until the ledger and the witnesses have everything.
fn settle(walls: &[OfferWall<'_>], began_ms: i64, rewards: usize) {
    walls.iter().for_each(|wall| wall.expect_reconciled_since(began_ms));
    eventually_within(MINUTE_MS, &(rewards * walls.len()), || {
        let sql = "SELECT COUNT(*) FROM journal, json_each(entries)";
        let counts = walls[0].signpost.stored(OUTBOXES, sql, |row| row.get::<_, u32>(0));
        counts.into_iter().sum::<u32>() as usize
    });
}

/// The namespaces in the order of their copies.
fn order(backup: &Path) -> Vec<String> {
    let files = manifest(backup)["files"].as_array().expect("files").clone();
    let mut order: Vec<_> =
        files.iter().map(|file| file["namespace"].as_str().expect("a namespace").to_owned()).collect();
    order.dedup();
    order
}

#[test]
fn objects_that_were_copied_minutes_apart_agree_after_a_restore() {
    away_from_midnight();
    let began_ms = now_ms();
    let scratch = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start();
    let signpost = Setup::new().start();
    let walls = [("apart-one", "79000762", 1), ("apart-eight", "79000763", 8)]
        .map(|(id, app, outboxes)| signpost.sharded_offer_wall(id, app, Some(&receiver), outboxes));
    signpost.refresh();
    let mut paid = BTreeMap::new();
    let mut pay = |from: usize| {
        for wall in &walls {
            for number in from..from + REWARDS {
                let click = wall.click_id(&format!("user-{number}"));
                let id = expect_accepted(wall.convert(&click, ""), "approved", false);
                paid.insert((wall.app.clone(), click), (id, number));
            }
        }
    };
    pay(0);
    settle(&walls, began_ms, REWARDS);
    let first = back_up(&signpost, scratch.path().join("first"));
    pay(REWARDS);
    settle(&walls, began_ms, 2 * REWARDS);
    let arrived = receiver.wait_for_transactions(MINUTE_MS, paid.len());
    let revenues = walls.each_ref().map(|wall| revenue(&signpost.existing_publisher(&wall.id)));
    let second = back_up(&signpost, scratch.path().join("second"));
    signpost.stop();
    let receivers = ["ledger", "counters", "catalog", "accounts", "activity", "postbacks"];
    let expected = [&receivers[..], &["outbox", "clicks"]].concat();
    assert_eq!(order(&second), expected.iter().map(|kind| format!("signpost-{kind}")).collect::<Vec<_>>());

    let mixes: [(&str, IsOfFirst); 2] = [
        ("receivers", |namespace, _| !is_sender(namespace)),
        // The number of a file is as good as random, because ids are hashes.
        ("outboxes", |namespace, number| !is_sender(namespace) || number % 2 == 0),
    ];
    let check = |(name, is_of_first): (&str, IsOfFirst)| {
        let [mixed, state] = ["", "-state"].map(|end| scratch.path().join(format!("{name}{end}")));
        mix(&mixed, [&first, &second], is_of_first);
        expect_done(command(&[("--from", &mixed), ("--state", &state)], "restore"));
        let restored = Setup::new().state(&state).start();
        let walls = walls.each_ref().map(|wall| wall.on(&restored));
        for ((app, click), (id, number)) in &paid {
            let wall = walls.iter().find(|wall| wall.app == *app).expect("a wall");
            let answer = wall.convert(click, "").expect(200).json();
            // Two neighbours of the first time have both lost what came after it. It is paid under the same ids.
            let may_be_lost = name == "outboxes" && *number >= REWARDS;
            assert!(answer["duplicate"] == true || may_be_lost, "{name}: {answer}");
            assert_eq!(answer["transaction_id"], *id, "{name}");
        }
        for (wall, revenues) in walls.iter().zip(revenues) {
            wall.expect_reconciled_since(began_ms);
            let revenue = revenue(&restored.existing_publisher(&wall.id));
            assert!((revenue - revenues).abs() < 1e-6, "{name}: {revenue}, not {revenues}");
        }
        let reasons: Vec<_> = doubts(&restored).into_iter().map(|(_, reason)| reason).collect();
        println!("{name}: {reasons:?}");
        for reason in &reasons {
            let allowed = ["ledger_restored", "counters_restored", "catalog_restored", "outbox_restored"];
            assert!(allowed.contains(&reason.as_str()), "{name}: {reasons:?}");
        }
    };
    thread::scope(|scope| mixes.iter().for_each(|mix| drop(scope.spawn(|| check(*mix)))));
    assert_eq!(receiver.transactions().len(), arrived.len());
    println!("{} callbacks were sent again", receiver.count() - paid.len());
}
