//! Everything that one release stores or sends and another release may read. `docs/OPERATING.md` ("Formats") shows this
//! table. A new version is read one release before it is written.

use std::fmt::Display;

use crate::objects::{accounts, activity, catalog, clicks, counters, ledger, outbox, postbacks};
use domain::{reporting::segment, snapshot::envelope::Kind, tracking::click_id};

/// A row of the table: one format.
#[derive(Clone, Debug)]
pub struct Format {
    pub name: &'static str,
    /// The versions that this release writes and reads. JSON has none: it is read by the names of its members.
    pub version: String,
    pub writer: &'static str,
    pub reader: &'static str,
    /// The reader's answer to an unknown version.
    pub unknown: &'static str,
    /// How an operator makes the data readable again.
    pub remedy: &'static str,
}

/// All formats.
pub fn formats() -> Vec<Format> {
    let format = |name, version: &dyn Display, writer, reader, unknown, remedy| Format {
        name,
        version: version.to_string(),
        writer,
        reader,
        unknown,
        remedy,
    };
    let snapshot = |name, kind: Kind, unknown, remedy| format(name, &kind.format(), "catalog", "edge", unknown, remedy);
    let publish = "`POST …/refresh`; the next listing, within five minutes, also replaces it";
    let missed = "the catalog writes it again once isolates have missed it for 10 minutes";
    let newer = "deploy the newer code again";
    let retries = "503; the partner retries";
    let keeps = "an isolate keeps the one it has; a new isolate asks the catalog";
    let asks = "an isolate asks the catalog; 503 if that does not help";
    let of_objects = [
        ("accounts", accounts::MIGRATIONS),
        ("activity", activity::MIGRATIONS),
        ("catalog", catalog::schema::MIGRATIONS),
        ("clicks", clicks::MIGRATIONS),
        ("counters", counters::MIGRATIONS),
        ("ledger", ledger::MIGRATIONS),
        ("outbox", outbox::MIGRATIONS),
        ("postbacks", postbacks::MIGRATIONS),
    ];
    let schemas = of_objects.map(|(object, migrations)| format!("{object} {}", migrations.len()));
    let ids = format!("{}, {}", click_id::WHOLE, click_id::SHORT);
    vec![
        format("click id", &ids, "edge", "edge, origin", retries, newer),
        format("record of a short click id", &click_id::WHOLE, "edge", "edge, origin", retries, newer),
        Format { version: String::new(), ..snapshot("pointer in KV", Kind::Manifest, keeps, publish) },
        snapshot("manifest in KV", Kind::Manifest, keeps, publish),
        snapshot("listing in KV", Kind::Listing, keeps, publish),
        snapshot("bodies of offers in KV", Kind::Bodies, asks, missed),
        snapshot("shard of goals in KV", Kind::Goals, asks, missed),
        snapshot("shard of apps in KV", Kind::Apps, asks, missed),
        snapshot("shard of advertisers in KV", Kind::Advertisers, asks, missed),
        format(
            "segment of a day",
            &segment::VERSION,
            "ledger, counters",
            "ledger, counters",
            "503 for reports of the day",
            "load or restate the day, or deploy the newer code again",
        ),
        format(
            "sealed secret",
            &"id of its key",
            "catalog, activity",
            "catalog, activity, outboxes",
            "callbacks wait, and changes of the app return 500",
            "add the removed key to its setting again",
        ),
        format(
            "command of an object",
            &"",
            "edge, origin",
            "objects",
            "unknown members are ignored; 503 for an unknown command or value",
            "finish the deployment",
        ),
        format(
            "stored document or entry",
            &"",
            "objects",
            "objects",
            "unknown members are kept; an unreadable row is logged and left out",
            "deploy the newer code again, or `PUT` the document",
        ),
        format(
            "schema",
            &schemas.join(", "),
            "each object",
            "the same object",
            "additions are ignored; 503 after any other change",
            newer,
        ),
    ]
}
