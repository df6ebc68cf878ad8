//! Pages of the conversion log.

use std::{collections::BTreeSet, thread};

use serde_json::Value;

use crate::harness::{demo, encoded, expect_accepted};

const ENTRIES: usize = 250;

fn ids(entries: &[Value]) -> Vec<String> {
    let id = |entry: &Value| entry["transaction_id"].as_str().unwrap().to_owned();
    entries.iter().map(id).collect()
}

#[test]
fn pages_list_every_entry_once_newest_first() {
    let signpost = demo();
    let wall = signpost.offer_wall("cb-pages", "79000291", None);
    let mut expected = Vec::new();
    for user in 0..ENTRIES {
        let status = ["approved", "pending", "rejected", "reversed"][user % 4];
        let click = wall.click_id(&format!("u-{user}"));
        let answer = wall.convert(&click, &format!("&status={status}"));
        expected.insert(0, expect_accepted(answer, status, false));
    }
    for limit in [1_000, 250, 249, 100, 7] {
        assert_eq!(ids(&wall.all_entries(limit)), expected, "{limit}");
    }
    assert_eq!(ids(&wall.entries("")), expected[..100], "100 by default");

    // Pages of a filtered log.
    for (index, status) in ["approved", "pending", "rejected", "reversed"].into_iter().enumerate() {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("conversions?status={status}&limit=20{cursor}");
            let page = wall.operator("GET", &path, None).expect(200).json();
            let entries = page["conversions"].as_array().unwrap();
            assert!(entries.iter().all(|entry| entry["status"] == status));
            found.extend(ids(entries));
            let Some(next) = page["cursor"].as_str() else {
                break;
            };
            cursor = format!("&cursor={}", encoded(next));
        }
        let with_status: Vec<_> = expected.iter().rev().skip(index).step_by(4).rev().cloned().collect();
        assert_eq!(found, with_status, "{status}");
    }

    // New entries do not move the pages behind a cursor.
    let first = wall.operator("GET", "conversions?limit=100", None).expect(200).json();
    thread::scope(|scope| {
        for user in 0..8 {
            let wall = &wall;
            scope.spawn(move || wall.pay(&format!("late-{user}")));
        }
    });
    let cursor = encoded(first["cursor"].as_str().unwrap());
    let second = wall.entries(&format!("limit=1000&cursor={cursor}"));
    assert_eq!(ids(&second), expected[100..]);
    let all: BTreeSet<_> = ids(&wall.all_entries(100)).into_iter().collect();
    assert_eq!(all.len(), ENTRIES + 8);

    for wrong in ["limit=0", "limit=1001", "limit=-1", "limit=x", "cursor=!", "cursor=AAAA"] {
        wall.operator("GET", &format!("conversions?{wrong}"), None).expect_error(400, "invalid_field");
    }
}
