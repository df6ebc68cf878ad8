//! The script that keeps a copy of the rewards in DuckDB, against the operator's log.

use std::{collections::BTreeMap, path::Path, process::Command, thread, time::Duration};

use serde_json::Value;

use crate::harness::{Setup, away_from_midnight, now_ms, root};
use domain::model::time::UtcDay;

/// A change can be read after 2 s.
const SETTLED: Duration = Duration::from_millis(2_100);
const READ: &str = "import duckdb, json, sys
db = duckdb.connect(sys.argv[1], read_only=True)
rows = db.execute('SELECT transaction_id, state, user_id, value::DOUBLE FROM rewards').fetchall()
print(json.dumps({row[0]: row[1:] for row in rows}))";

fn python(arguments: &[&str], path: &Path, api_key: &str) -> String {
    let ran = Command::new("python3")
        .args(arguments)
        .arg(path)
        .env("API_KEY", api_key)
        .env("PYTHONPATH", root().join(".tools/duckdb"))
        .output()
        .expect("python3");
    assert!(ran.status.success(), "`make verify` installs DuckDB: {ran:?}");
    String::from_utf8(ran.stdout).expect("UTF-8")
}

#[test]
fn a_copy_in_duckdb_has_the_logs_rewards_and_adds_up_what_each_day_paid() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("kept-in-duckdb", "79000836", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let api_key = publisher.create_key_for("ia-rewards.READ", "copy").api_key;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rewards.duckdb");
    let script = root().join("fixtures/recipes/rewards_to_duckdb.py");
    let script = script.to_str().expect("UTF-8");
    let copy = || {
        thread::sleep(SETTLED);
        let printed = python(&[script, &signpost.base()], &path, &api_key);
        let kept = python(&["-c", READ], &path, "");
        let kept: BTreeMap<String, Value> = serde_json::from_str(&kept).expect("JSON");
        let entries = wall.all_entries(100);
        let rewards = entries.iter().filter(|entry| entry["original_transaction_id"].is_null());
        let rewards: BTreeMap<_, _> =
            rewards.map(|entry| (entry["transaction_id"].as_str().expect("an id"), entry)).collect();
        assert_eq!(kept.keys().collect::<Vec<_>>(), rewards.keys().collect::<Vec<_>>());
        let mut paid = 0.0;
        for (id, row) in &kept {
            let entry = rewards[id.as_str()];
            assert_eq!([&row[0], &row[1]], [&entry["status"], &entry["user_id"]]);
            if row[0] == "approved" {
                assert_eq!(row[2].as_f64(), entry["value"].as_f64());
                paid += row[2].as_f64().expect("a value");
            }
        }
        let approved = kept.values().filter(|row| row[0] == "approved").count();
        let today = UtcDay::of_ms(now_ms());
        assert_eq!(printed, format!("{today},Coins,{approved},{paid:.6}\n"));
        approved
    };
    let clicks: Vec<_> = (0..9).map(|n| wall.click_id(&format!("user-{n}"))).collect();
    for (n, click) in clicks.iter().enumerate() {
        let status = ["&goal=purchase", "&goal=install", "&status=pending"][n % 3];
        wall.convert(click, status).expect(200);
    }
    assert_eq!(copy(), 6);
    wall.convert(&clicks[0], "&goal=purchase&status=reversed").expect(200);
    wall.convert(&clicks[2], "").expect(200);
    wall.convert(&clicks[5], "&status=rejected").expect(200);
    wall.pay("user-9");
    wall.erase("user-1");
    assert_eq!(copy(), 7);
    // Nothing has changed.
    assert_eq!(copy(), 7);
}
