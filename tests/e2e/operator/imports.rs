//! Imports of many offers: others are answered meanwhile, and one that is cut off is applied whole or not at all.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    harness::{End, OPERATOR_TOKEN, Setup, Signpost},
    large_catalog,
};

const OFFERS: usize = 2_000;

/// An import of the same offers with another text.
fn round(n: usize) -> String {
    large_catalog::catalog(OFFERS, 1).replace("A game of many levels", &format!("Round {n}"))
}

/// The rounds that the offers' texts are from.
fn rounds(signpost: &Signpost) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut path = "offers?limit=1000".to_owned();
    loop {
        let page = signpost.operator("GET", &path, None).expect(200).json();
        for offer in page["offers"].as_array().unwrap() {
            let text = offer["desc"].as_str().unwrap();
            found.insert(text.split('.').next().unwrap().to_owned());
        }
        match page["cursor"].as_str() {
            Some(cursor) => path = format!("offers?limit=1000&cursor={cursor}"),
            None => return found,
        }
    }
}

#[test]
fn the_catalog_answers_others_while_an_import_is_applied() {
    let signpost = Setup::new().start();
    signpost.import(&round(1)).expect(200);
    let is_done = AtomicBool::new(false);
    let (mut reads, mut repeated) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _end = End(&is_done);
            let imported = signpost.import(&round(2)).expect(200).json();
            assert_eq!(imported["imported"], OFFERS + 3);
        });
        let other = json!({"name": "Other", "approved": true});
        while !is_done.load(Ordering::Relaxed) {
            signpost.operator("GET", "publishers/big", None).expect(200);
            signpost.put("publishers/other", &other);
            // A PUT of a resource in the import has to wait for the import.
            let same = json!({"name": "Big", "approved": true});
            let put = signpost.operator("PUT", "publishers/big", Some(&same));
            repeated += u32::from(put.status == 503);
            reads += 1;
        }
    });
    assert!(reads > 10, "{reads} reads during the import");
    assert!(repeated > 0, "no PUT had to be repeated");
    assert_eq!(rounds(&signpost), BTreeSet::from(["Round 2".to_owned()]));
}

#[test]
fn an_import_that_is_cut_off_is_applied_whole_or_not_at_all() {
    let signpost = Setup::new().start();
    signpost.import(&round(0)).expect(200);
    for (n, after_ms) in (1..).zip([50, 400, 800, 1_200, 1_600, 2_000]) {
        let lines = round(n);
        let before = rounds(&signpost);
        thread::scope(|scope| {
            scope.spawn(|| {
                let authorization = format!("Bearer {OPERATOR_TOKEN}");
                let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/x-ndjson")];
                let _cut_off = signpost.try_send("POST", "/v1/operator/import", &headers, lines.as_bytes());
            });
            thread::sleep(Duration::from_millis(after_ms));
            signpost.restart();
        });
        // The next import comes after one that was decided.
        signpost.import("").expect(200);
        let now = rounds(&signpost);
        assert!(now == before || now == BTreeSet::from([format!("Round {n}")]), "{now:?}");
        // Nothing that was staged holds up a PUT.
        signpost.put("publishers/big", &json!({"name": "Big", "approved": true}));
    }
}
