//! `make backup` while clicks, conversions, changes and erasures arrive, and `make restore` into an empty state. Every
//! promise that was made before the manifest's `complete_until` holds afterwards, although both commands are killed
//! `KILLS` times in all. `SEED` chooses other moments.

mod erased;
pub mod load;
mod order;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::AtomicBool,
    thread,
    time::Duration,
};

use chrono::DateTime;
use serde_json::{Value, json};

use crate::{
    conversions::revenue::revenue,
    dashboard::{Browser, signed_in},
    harness::{End, Receiver, Setup, away_from_midnight, now_ms, root},
    random::Random,
    restored::expect_all_recovered,
    security::chaos::setting,
};
use domain::model::time::{MINUTE_MS, UtcDay};
use load::Load;

const KILLS: u64 = 20;
/// How long a command lives before it is killed, in milliseconds: at most about its whole run.
const LIFE_MS: usize = 500;

pub fn command(arguments: &[(&str, &Path)], name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("fixtures/local/backup.py")).arg(name);
    for (option, value) in arguments {
        command.arg(option).arg(value);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command's output, of both streams.
fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

pub fn expect_done(mut command: Command) -> String {
    let output = command.output().expect("python3");
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

fn expect_refused(mut command: Command, problem: &str) {
    let output = command.output().expect("python3");
    let text = text(&output);
    assert!(!output.status.success() && text.contains(problem), "{text}");
}

/// Kills a command after a random time. Returns false if it had ended by then.
fn kill(mut command: Command, random: &mut Random) -> bool {
    let mut child = command.spawn().expect("python3");
    thread::sleep(Duration::from_millis(random.below(LIFE_MS) as u64));
    let runs = child.try_wait().expect("a child").is_none();
    child.kill().expect("a child");
    let output = child.wait_with_output().expect("a child");
    assert!(runs || output.status.success(), "{}", text(&output));
    runs
}

fn manifest(folder: &Path) -> Value {
    let manifest = fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    serde_json::from_str(&manifest).expect("JSON")
}

/// Backs up under load into folders below `to`, and kills some of the runs. Returns the folder of the last backup.
fn back_up(state: &Path, to: &Path, kills: u64, random: &mut Random) -> PathBuf {
    let backup = |folder: &Path| command(&[("--state", state), ("--to", folder)], "backup");
    let (mut folder, mut killed) = (to.join("0"), 0);
    while killed < kills {
        // The traffic goes on between two runs.
        thread::sleep(Duration::from_millis(200));
        if kill(backup(&folder), random) {
            killed += 1;
        }
        // A kill may come after the manifest was written.
        if folder.join("manifest.json").exists() {
            expect_refused(backup(&folder), "has a complete backup already");
            folder = to.join(killed.to_string());
        }
    }
    println!("{}", expect_done(backup(&folder)));
    folder
}

/// Restores into an empty state, and kills some of the runs. A killed run leaves no objects, or all.
fn restore(from: &Path, state: &Path, erased: &Path, kills: u64, random: &mut Random) {
    let restore = || command(&[("--from", from), ("--state", state), ("--erased", erased)], "restore");
    let count = manifest(from)["files"].as_array().expect("files").len();
    for _ in 0..kills {
        kill(restore(), random);
        let objects = state.join("objects");
        if objects.exists() {
            let folders = fs::read_dir(&objects).expect("folders");
            let files = folders.map(|folder| fs::read_dir(folder.unwrap().path()).expect("files").count());
            assert!(files.sum::<usize>() >= count);
            expect_refused(restore(), "is not empty");
            fs::remove_dir_all(objects).expect("objects removed");
        }
    }
    println!("{}", expect_done(restore()));
}

/// Each damage of a backup is refused by name, and nothing is written.
fn refuse_damaged(backup: &Path, scratch: &Path) {
    let file = manifest(backup)["files"][5].clone();
    let name = format!("{}/{}.sqlite", file["namespace"].as_str().unwrap(), file["id"].as_str().unwrap());
    let whole = fs::read(backup.join(&name)).unwrap();
    let [flipped, cut] = [whole.len() / 2, whole.len() - 1].map(|at| (whole[..at].to_vec(), at));
    let flipped = [flipped.0, vec![whole[flipped.1] ^ 1], whole[flipped.1 + 1..].to_vec()].concat();
    let state = scratch.join("refused");
    let refuse = |problem: &str| {
        expect_refused(command(&[("--from", backup), ("--state", &state)], "restore"), problem);
        assert!(!state.exists());
    };
    for damaged in [flipped, cut.0] {
        fs::write(backup.join(&name), damaged).unwrap();
        refuse(&name);
    }
    fs::remove_file(backup.join(&name)).unwrap();
    refuse(&name);
    fs::write(backup.join(&name), whole).unwrap();
    let listed = fs::read_to_string(backup.join("manifest.json")).unwrap();
    fs::write(backup.join("manifest.json"), listed.replace("\"format\": 1", "\"format\": 2")).unwrap();
    refuse("this release reads format 1");
    fs::remove_file(backup.join("manifest.json")).unwrap();
    refuse("is not a complete backup");
    fs::write(backup.join("manifest.json"), listed).unwrap();
}

#[test]
fn a_backup_under_load_keeps_every_promise_after_a_restore() {
    away_from_midnight();
    let seed = setting("SEED", now_ms().unsigned_abs());
    let kills = setting("KILLS", KILLS);
    println!("SEED={seed} KILLS={kills}");
    let mut random = Random(seed);
    let began_ms = now_ms();
    let scratch = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start();
    let signpost = Setup::new().start();
    let walls = [("backup-one", "79000760", 1), ("backup-eight", "79000761", 8)]
        .map(|(id, app, outboxes)| signpost.sharded_offer_wall(id, app, Some(&receiver), outboxes));
    signpost.refresh();
    let publisher = signpost.existing_publisher(&walls[0].id);
    let revoked = publisher.create_key("Revoked");
    let kept = publisher.create_key("Kept");
    publisher.revoke_key(&revoked);
    let owner = signed_in(&signpost, &publisher, "owner");
    // Callbacks that arrived before the backup began.
    for wall in &walls {
        (0..8).for_each(|n| drop(wall.pay(&format!("early-{n}"))));
    }
    let early = receiver.wait_for_transactions(MINUTE_MS, 16);
    thread::sleep(Duration::from_secs(2));

    let (ends, load) = (AtomicBool::new(false), Load::default());
    let backup = thread::scope(|scope| {
        let _end = End(&ends);
        for wall in &walls {
            for sender in ["a", "b", "c"] {
                scope.spawn(|| load.convert(wall, sender, &ends));
            }
            scope.spawn(|| load.erase(wall, &ends));
        }
        scope.spawn(|| load.change(&walls[0], &ends));
        let backup = back_up(signpost.state.path(), scratch.path(), kills / 2, &mut random);
        // Changes after the backup are lost, except the erasures of users.
        for wall in &walls {
            wall.erase("early-0");
        }
        thread::sleep(Duration::from_secs(2));
        backup
    });
    let log = signpost.log();
    assert!(!log.contains("SQLITE_CORRUPT") && !log.contains("malformed"), "{log}");
    println!("{} times an object was locked", log.matches("SQLITE_BUSY").count());
    let until = manifest(&backup)["complete_until"].clone();
    let until_ms = DateTime::parse_from_rfc3339(until.as_str().unwrap()).unwrap().timestamp_millis();
    assert!(until_ms > began_ms && until_ms < now_ms(), "{until}");
    refuse_damaged(&backup, scratch.path());

    let state = scratch.path().join("state");
    signpost.stop();
    restore(&backup, &state, signpost.state.path(), kills.div_ceil(2), &mut random);
    let restored = Setup::new().state(&state).start();
    let again = fs::read_to_string(state.join("erase_again.ndjson")).expect("a list of users");
    for line in again.lines() {
        let user: Value = serde_json::from_str(line).expect("JSON");
        let path = format!("apps/{}/erase_user", user["app_id"].as_str().unwrap());
        restored.operator("POST", &path, Some(&json!({ "user_id": user["user_id"] }))).expect(200);
    }
    println!("{} users erased again", again.lines().count());
    let walls = walls.each_ref().map(|wall| wall.on(&restored));
    load.check(&walls, until_ms);

    let mut browser = Browser::new(&restored);
    (browser.cookie, browser.publisher) = (owner.cookie.clone(), owner.publisher.clone());
    browser.get("overview").expect_error(401, "not_signed_in");
    let publisher = restored.existing_publisher(&walls[0].id);
    let status = |key: &str| restored.report_with(key, b"{").status;
    assert_eq!([status(&revoked.api_key), status(&kept.api_key)], [401, 400]);
    signed_in(&restored, &publisher, "owner").get("overview").expect(200);
    for wall in &walls {
        wall.expect_reconciled_since(began_ms);
        let publisher = restored.existing_publisher(&wall.id);
        let paid = wall.reconcile(UtcDay::of_ms(began_ms))["paid_micro_usd"].clone();
        let paid = paid.as_f64().expect("a sum") / 1e6;
        assert!((revenue(&publisher) - paid).abs() < 1e-6, "{paid}");
    }
    let sent = receiver.transactions();
    for id in early.keys() {
        assert_eq!(sent[id], 1, "{id} had arrived before the backup");
    }
    let most = sent.values().max();
    assert!(most <= Some(&2), "{most:?} callbacks of one reward");
    expect_all_recovered(&restored);
}
