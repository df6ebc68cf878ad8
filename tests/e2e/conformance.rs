//! Every SQL text, on the SQLite and under the rules of the runtime it is meant for. Native tests run them on another.

use serde_json::json;

use crate::harness::Setup;
use origin::{batches, catalog, clicks, counters, ledger, outbox};
use platform::migrations::Migration;

#[test]
fn workerd_takes_every_statement_of_every_object() {
    let workerd = Setup::new().config("conformance.capnp").undocumented().start();
    let of_counters = [counters::sql::ALL, batches::sql::ALL].concat();
    let of_outbox = [outbox::sql::ALL, batches::sql::ALL].concat();
    let objects: [(&str, &[Migration], &[&str]); 6] = [
        ("catalog", catalog::schema::MIGRATIONS, catalog::sql::ALL),
        ("counters", counters::MIGRATIONS, &of_counters),
        ("clicks", clicks::MIGRATIONS, clicks::sql::ALL),
        ("batches", &[&[batches::sql::TABLES]], batches::sql::ALL),
        ("ledger", ledger::MIGRATIONS, ledger::sql::ALL),
        ("outbox", outbox::MIGRATIONS, &of_outbox),
    ];
    for (object, migrations, statements) in objects {
        let body =
            json!({ "migrations": migrations.concat().concat(), "statements": statements }).to_string();
        let refused = workerd
            .send("POST", &format!("/{object}"), &[], body.as_bytes())
            .expect(200);
        assert_eq!(refused.json(), json!([]), "{object}");
    }
    let wrong = json!({ "migrations": [], "statements": ["SELECT nothing FROM nowhere"] }).to_string();
    let refused = workerd.send("POST", "/wrong", &[], wrong.as_bytes()).expect(200);
    assert_eq!(
        refused.json().as_array().unwrap().len(),
        1,
        "a wrong statement is noticed"
    );
}
