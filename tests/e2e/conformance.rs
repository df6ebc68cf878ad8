//! Compiles every SQL statement in workerd's SQLite and under its rules, since native tests use another SQLite.

use serde_json::json;

use crate::harness::Setup;
use origin::{
    delivery::{attention_feed, batches},
    objects::{
        accounts,
        activity::{self, attention},
        catalog, clicks, counters, ledger, outbox, postbacks,
    },
};
use platform::migrations::Migration;

#[test]
fn workerd_compiles_every_sql_statement() {
    let workerd = Setup::new().config("conformance.capnp").without_api_check().start();
    let (feed_sql, list_sql) = (attention_feed::sql::ALL, attention::sql::ALL);
    let counters_sql = [counters::sql::ALL, batches::sql::ALL, feed_sql].concat();
    let outbox_sql = [
        outbox::sql::ALL,
        outbox::feed::sql::ALL,
        outbox::changes::sql::ALL,
        outbox::sums::sql::ALL,
        outbox::callbacks::bulk_replay::sql::ALL,
        batches::sql::ALL,
        feed_sql,
    ]
    .concat();
    let ledger_sql = [ledger::sql::ALL, ledger::day_changes::sql::ALL].concat();
    let activity_sql = [activity::publisher::sql::ALL, list_sql, activity::alarms::sql::ALL].concat();
    let objects: [(&str, &[Migration], &[&str]); 9] = [
        ("catalog", catalog::schema::MIGRATIONS, catalog::sql::ALL),
        ("counters", counters::MIGRATIONS, &counters_sql),
        ("clicks", clicks::MIGRATIONS, clicks::sql::ALL),
        ("batches", &[&[batches::sql::TABLES]], batches::sql::ALL),
        ("ledger", ledger::MIGRATIONS, &ledger_sql),
        ("outbox", outbox::MIGRATIONS, &outbox_sql),
        ("accounts", accounts::MIGRATIONS, accounts::sql::ALL),
        ("activity", activity::MIGRATIONS, &activity_sql),
        ("postbacks", postbacks::MIGRATIONS, postbacks::sql::ALL),
    ];
    for (object, migrations, statements) in objects {
        let body = json!({ "migrations": migrations.concat().concat(), "statements": statements }).to_string();
        let refused = workerd.send("POST", &format!("/{object}"), &[], body.as_bytes()).expect(200);
        assert_eq!(refused.json(), json!([]), "{object}");
    }
    let wrong = json!({ "migrations": [], "statements": ["SELECT nothing FROM nowhere"] }).to_string();
    let refused = workerd.send("POST", "/wrong", &[], wrong.as_bytes()).expect(200);
    assert_eq!(refused.json().as_array().unwrap().len(), 1, "a wrong statement was not refused");
}
