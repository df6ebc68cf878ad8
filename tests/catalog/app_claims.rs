//! An app's first outbox stores the app's number of outboxes. The catalog's own service claims it from real outboxes.

use serde_json::json;

use crate::{account_sync::World, app, body, with};
use platform::database::Database;

/// Two apps with so many outboxes each, and their publisher.
fn lines(first: u8, second: u8) -> String {
    let publisher = json!({ "kind": "publisher", "id": "acme", "name": "Acme", "approved": true });
    let of_app = |id: &str, outboxes: u8| {
        with(app("acme"), &json!({ "kind": "app", "id": id, "outbox_shards": outboxes })).to_string()
    };
    [publisher.to_string(), of_app("10000001", first), of_app("10000002", second)].join("\n")
}

/// The number of outboxes that each app's first outbox has stored; `None` if nothing was claimed.
fn claimed(world: &World) -> Vec<Option<i64>> {
    let outboxes = world.outboxes.borrow();
    let count = |db: &crate::sqlite::Sqlite| db.query_integer("SELECT outbox_shards FROM outbox", &[]).unwrap();
    outboxes.values().map(count).collect()
}

#[test]
fn an_import_that_is_refused_claims_nothing() {
    // The second app was there before the catalog was restored.
    let world = World::new();
    body(&world.import_lines(&lines(8, 8), false).unwrap(), 200);
    let restored = World::new();
    let second = world.outboxes.borrow_mut().pop_last().unwrap();
    restored.outboxes.borrow_mut().extend([second]);

    for is_dry_run in [true, false] {
        let reply = body(&restored.import_lines(&lines(1, 64), is_dry_run).unwrap(), 400);
        assert_eq!(reply["lines"][0]["line"], 3, "{reply}");
        assert!(reply["lines"][0]["message"].as_str().unwrap().contains("must be 8"), "{reply}");
        assert_eq!(claimed(&restored), [None, Some(8)], "{is_dry_run}");
    }
    body(&restored.import_lines(&lines(1, 8), true).unwrap(), 200);
    assert_eq!(claimed(&restored), [None, Some(8)]);
    body(&restored.import_lines(&lines(1, 8), false).unwrap(), 200);
    assert_eq!(claimed(&restored), [Some(1), Some(8)]);
}
