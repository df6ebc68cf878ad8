//! Users who were erased after a backup: a restore lists them, keeps their hashes, or says that it cannot know them.

use std::{
    fs::{self, File},
    path::Path,
};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{command, expect_done, expect_refused, text};
use crate::{
    harness::{Setup, Signpost, eventually_within},
    restored::OUTBOXES,
};
use domain::{callbacks::shards, model::time::MINUTE_MS};

const APP: &str = "79000764";
const ID: &str = "erased-since";
const OUTBOX_COUNT: u8 = 8;
/// The status of a restore after which some erasures are unknown.
const UNKNOWN_STATUS: i32 = 3;

/// The sum of a query's numbers over all outboxes.
fn sum(signpost: &Signpost, sql: &str) -> u32 {
    let numbers = signpost.stored(OUTBOXES, sql, |row| row.get::<_, u32>(0));
    numbers.into_iter().sum()
}

/// Reads the list of users to erase again and publishers to close again.
fn listed(state: &Path) -> Vec<Value> {
    let list = fs::read_to_string(state.join("erase_again.ndjson")).expect("a list");
    list.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn close_publisher(signpost: &Signpost) {
    let closed = json!({ "name": ID, "approved": false, "closed": true });
    signpost.put(&format!("publishers/{ID}"), &closed);
}

#[test]
fn users_who_were_erased_after_a_backup_stay_erased() {
    let scratch = tempfile::tempdir().expect("a folder");
    let path = |name: &str| scratch.path().join(name);
    let signpost = Setup::new().start();
    let wall = signpost.sharded_offer_wall(ID, APP, None, OUTBOX_COUNT);
    signpost.refresh();
    let users = wall.users()[..2].to_vec();
    let [paid, clicked] = [&users[0], &users[1]];
    wall.pay(paid);
    let mut others = (0..).map(|number| format!("of-closed-{number}"));
    wall.pay(&others.find(|user| shards::of_user(user, OUTBOX_COUNT) == 0).expect("a user"));
    // The second outbox has a journal for the first one, but has paid nobody.
    let journaled = "SELECT COUNT(*) FROM journal, json_each(entries)";
    eventually_within(MINUTE_MS, &2, || sum(&signpost, journaled));
    assert_eq!(sum(&signpost, "SELECT COUNT(*) FROM outbox WHERE shard = 1"), 0);
    let click = wall.click_id(clicked);
    let backup = path("backup");
    expect_done(command(&[("--state", signpost.state.path()), ("--to", &backup)], "backup"));
    users.iter().for_each(|user| drop(wall.erase(user)));
    close_publisher(&signpost);
    signpost.stop();
    let old = signpost.state.path();

    let state = path("state");
    let restore = |state: &Path| command(&[("--from", &backup), ("--state", state), ("--erased", old)], "restore");
    let printed = expect_done(restore(&state));
    assert!(printed.contains("because it names erased users"), "{printed}");
    let user = json!({ "app_id": APP, "user_id": paid });
    assert_eq!(listed(&state), [user.clone(), json!({ "publisher_id": ID })]);
    let restored = Setup::new().state(&state).start();
    let wall = wall.on(&restored);
    // An outbox that was just put back may ask for a retry.
    let mut answer = wall.convert(&click, "");
    eventually_within(MINUTE_MS, &200, || {
        if answer.status == 503 {
            answer = wall.convert(&click, "");
        }
        answer.status
    });
    assert_eq!(answer.json()["status"], "approved");
    wall.erase(paid);
    let named = || restored.stored_with(|text| users.iter().any(|user| text.contains(user)));
    eventually_within(MINUTE_MS, &Vec::<String>::new(), named);
    close_publisher(&restored);
    let of_log = "SELECT COUNT(*) FROM entries WHERE user_id IS NOT NULL";
    eventually_within(MINUTE_MS, &0, || sum(&restored, of_log));

    // The state's own outbox knows the erasures.
    let object = format!("outbox-{APP}-0");
    let mut put_back = command(&[("--from", &backup), ("--state", old)], "restore");
    put_back.args(["--object", &object]);
    expect_done(put_back);
    assert_eq!(listed(old), [user]);
    let mut both = restore(old);
    both.args(["--object", &object]);
    expect_refused(both, "not allowed with");

    let outbox = signpost.database(OUTBOXES, "SELECT 1 FROM outbox WHERE shard = 0");
    let damages: [fn(&Path); 4] = [
        |outbox| run(outbox, "UPDATE outbox SET salt = randomblob(16)"),
        |outbox| run(outbox, "DELETE FROM outbox"),
        |outbox| fs::write(outbox, [b'x'; 4096]).expect("a file"),
        |outbox| fs::remove_file(outbox).expect("a file"),
    ];
    for (number, damage) in damages.iter().enumerate() {
        damage(&outbox);
        let state = path(&format!("unknown-{number}"));
        let output = restore(&state).output().expect("python3");
        let printed = text(&output);
        assert_eq!(output.status.code(), Some(UNKNOWN_STATUS), "{printed}");
        assert!(printed.contains(&object), "{printed}");
        assert!(state.join("objects").exists());
    }
}

fn run(database: &Path, sql: &str) {
    let database = Connection::open(database).expect("a database");
    database.execute(sql, []).expect("a change");
}

#[test]
fn a_disk_without_room_for_the_backup_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder");
    let [state, backup] = ["state", "backup"].map(|name| scratch.path().join(name));
    let folder = state.join("objects").join(OUTBOXES);
    fs::create_dir_all(&folder).expect("a folder");
    let large = File::create(folder.join("large.sqlite")).expect("a file");
    // It has no blocks on the disk. A later pass needs its size a second time.
    large.set_len(1 << 43).expect("a length");
    expect_refused(command(&[("--state", &state), ("--to", &backup)], "backup"), "the backup needs 16777316 MiB");
    assert!(!backup.exists());
}
