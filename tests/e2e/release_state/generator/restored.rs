//! An object that was put back to an earlier copy, as `make restore OBJECT=` does; and the sums that reports have.

use std::path::Path;

use serde_json::{Value, json};

use super::{FACTS_DAYS, Maker, PUBLISHER, WITHOUT_CALLBACK, documents::USUAL};
use crate::{
    backups::{command, expect_done},
    harness::REPORT,
    release_state::promises::Promise,
};
use domain::model::time::{DAY_MS, UtcDay};

pub fn make(maker: &Maker<'_>) {
    let signpost = maker.signpost;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let (state, backup) = (signpost.state.path(), scratch.path().join("backup"));
    expect_done(command(&[("--state", state), ("--to", &backup)], "backup"));
    // It is lost with the object, and recovered from the journal.
    maker.pay(USUAL, WITHOUT_CALLBACK, "u-recovered");
    Maker::settle();
    let object = format!("outbox-{WITHOUT_CALLBACK}-0");
    signpost.restart_after(|| {
        let arguments = [("--from", &*backup), ("--state", state), ("--object", Path::new(&object))];
        expect_done(command(&arguments, "restore"));
    });
    signpost.refresh();
    maker.pay(USUAL, WITHOUT_CALLBACK, "u-after-restore");
    Maker::settle();

    let restored = Promise::new("attention", "An object that was put back is named until a person has seen it.");
    let items = json!({"items": [{"kind": "restored", "subject": object}]});
    maker.promise(restored.operator("GET", "attention?kind=restored", &Value::Null).answers(200, &items));

    let publisher = signpost.existing_publisher(PUBLISHER);
    let today = UtcDay::of_ms(maker.began_ms).to_string();
    let asked = json!({
        "dimensions": ["app"], "metrics": ["revenue", "clicks"],
        "date_range": {"start_date": today, "end_date": today},
    });
    let key = publisher.create_key("of the sums");
    // One reward by the earlier terms, and two by the later ones.
    let rows = json!({"rows": [{"app_id": WITHOUT_CALLBACK, "revenue": 5.25, "clicks": 3}]});
    let sums = Promise::new("facts", "Reports have the clicks and the revenue of rewards.");
    let sums = sums.ask("POST", REPORT, &[("X-Api-Key", &key.api_key)], &asked);
    maker.promise(sums.answers(200, &rows).until(maker.began_ms + FACTS_DAYS * DAY_MS));
}
