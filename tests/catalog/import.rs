//! Imports are atomic under every fault.

use serde_json::{Value, json};

use crate::{Catalog, Faults, app, body, demo::Demo, offer, under_every_fault, with};
use contract::catalog::Resource;
use domain::model::lines::LineErrors;
use origin::catalog::import::{MAX_LINE, discard, discard_all, stage};
use platform::failure::Failure;

fn line(kind: &str, id: &str, document: Value) -> String {
    with(document, &json!({ "kind": kind, "id": id })).to_string() + "\n"
}

/// Import lines that refer to later lines. Some resources are new, others replace existing ones.
fn lines() -> String {
    line("offer", "o-1", offer(&["g-2", "g-3"]))
        + &line(
            "offer",
            "o-2",
            with(offer(&["g-4"]), &json!({ "advertiser_id": "southwind" })),
        )
        + &line("app", "10000001", app("beta"))
        + &line("publisher", "beta", json!({ "name": "Beta", "approved": true }))
        + &line("advertiser", "southwind", json!({ "name": "Southwind" }))
        + &line(
            "publisher",
            "acme",
            json!({ "name": "Acme again", "approved": false }),
        )
}

fn prepared() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1", "g-2"]));
    catalog
}

fn staged(catalog: &Catalog) -> usize {
    catalog.rows("SELECT import_id FROM import_lines").len()
}

/// All resources as an operator reads them.
fn read(catalog: &Catalog) -> Vec<Value> {
    [
        (Resource::Publisher, "acme"),
        (Resource::Publisher, "beta"),
        (Resource::App, "10000001"),
        (Resource::Advertiser, "northwind"),
        (Resource::Advertiser, "southwind"),
        (Resource::Offer, "o-1"),
        (Resource::Offer, "o-2"),
    ]
    .map(|(resource, id)| catalog.get(resource, id))
    .into()
}

#[test]
fn an_import_stores_the_same_as_single_puts() {
    let imported = Catalog::from_fixtures();
    let put = Catalog::empty();
    let demo = Demo::read();
    for (resource, documents) in [
        (Resource::Publisher, &demo.publishers),
        (Resource::App, &demo.apps),
        (Resource::Advertiser, &demo.advertisers),
        (Resource::Offer, &demo.offers),
    ] {
        for (id, document) in documents {
            put.put(resource, id, document);
        }
    }
    // Line order differs from the order of PUTs, and so do revisions, which an edge does not show.
    for table in ["publishers", "apps", "advertisers", "offer_documents", "goals"] {
        let sql = format!("SELECT * FROM {table} ORDER BY id");
        assert_eq!(imported.rows(&sql), put.rows(&sql), "{table}");
    }
    assert_eq!(imported.listed(), put.listed());
    assert_eq!(staged(&imported), 0);
}

#[test]
fn a_wrong_line_is_reported_and_aborts_its_import() {
    let catalog = prepared();
    let before = catalog.dump();
    let good = lines();
    let count = good.lines().count() as u64;
    for (wrong, named) in [
        ("nonsense".to_owned(), "expected"),
        ("x".repeat(MAX_LINE + 1), "longer than"),
        (line("planet", "x", json!({})), "kind"),
        (line("offer", "o-3", offer(&[])), "goals"),
        (
            line("offer", "o-3", with(offer(&["g-9"]), &json!({ "colour": "red" }))),
            "colour",
        ),
        // Each is valid alone and conflicts with stored resources or with other lines.
        (
            line(
                "offer",
                "o-3",
                with(offer(&["g-9"]), &json!({ "advertiser_id": "nobody" })),
            ),
            "advertiser_id",
        ),
        (line("offer", "o-3", offer(&["g-1"])), "goals[0].id"),
        (line("offer", "o-3", offer(&["g-4"])), "goals[0].id"),
        (line("app", "10000002", app("nobody")), "publisher_id"),
        (line("app", "x", app("acme")), "app_id"),
    ] {
        let reply = body(&catalog.import("wrong", &(good.clone() + &wrong)).unwrap(), 400);
        assert_eq!(reply["code"], "invalid_import", "{reply}");
        let lines = reply["lines"].as_array().unwrap();
        assert_eq!(
            (lines.len(), &lines[0]["line"]),
            (1, &json!(count + 1)),
            "{reply}"
        );
        assert!(
            lines[0]["message"].as_str().unwrap().contains(named),
            "{named}: {reply}"
        );
        assert_eq!(catalog.dump(), before, "{reply}");
        assert_eq!(staged(&catalog), 0, "{reply}");
    }
    // The reply lists 20 lines and counts all.
    let reply = body(&catalog.import("wrong", &"nonsense\n".repeat(33)).unwrap(), 400);
    assert_eq!(reply["lines"].as_array().unwrap().len(), 20);
    assert!(reply["error"].as_str().unwrap().contains("33"), "{reply}");
}

#[test]
fn an_import_that_fails_at_any_write_is_applied_whole_or_not_at_all() {
    let old = prepared().dump();
    let (new, new_read) = {
        let catalog = prepared();
        assert_eq!(
            body(&catalog.import("i", &lines()).unwrap(), 200),
            json!({ "imported": 6 })
        );
        (catalog.dump(), read(&catalog))
    };
    assert_ne!(old, new);
    under_every_fault(prepared, |catalog, fault| {
        let outcome = catalog.import("import-1", &lines());
        let state = catalog.dump();
        match &outcome {
            Ok(reply) => assert_eq!((reply.status, &state), (200, &new), "{fault}"),
            Err(Failure::Internal(_)) => assert!(state == old || state == new, "{fault}"),
            Err(Failure::Refused(refusal)) => panic!("{fault}: {refusal:?}"),
        }
        // The operator repeats the import, in the same process or in a new one.
        catalog.db.inject(Faults::none());
        discard_all(&catalog.db).unwrap();
        let again = body(&catalog.import("import-2", &lines()).unwrap(), 200);
        assert_eq!(again, json!({ "imported": 6 }), "{fault}");
        assert_eq!(read(catalog), new_read, "{fault}");
        assert_eq!(staged(catalog), 0, "{fault}");
    });
}

#[test]
fn concurrent_imports_do_not_mix() {
    let catalog = prepared();
    let mut errors = LineErrors::default();
    let other = line("publisher", "gamma", json!({ "name": "Gamma", "approved": true }));
    catalog
        .with_context(|context| {
            stage(
                &catalog.db,
                context,
                "other",
                1,
                Ok(other.as_bytes()),
                &mut errors,
            )
        })
        .unwrap();
    assert!(errors.is_empty());
    let reply = catalog.import("mine", &lines()).unwrap();
    assert_eq!(body(&reply, 200), json!({ "imported": 6 }));
    assert_eq!(staged(&catalog), 1, "the other import's line stays staged");
    discard(&catalog.db, "other").unwrap();
    assert_eq!(staged(&catalog), 0);
}

#[test]
fn an_import_of_several_slices_is_applied_whole() {
    let catalog = Catalog::small();
    let lines: String = (0..1_001)
        .map(|n| {
            line(
                "publisher",
                &format!("p-{n}"),
                json!({ "name": "P", "approved": true }),
            )
        })
        .collect();
    assert_eq!(
        body(&catalog.import("i", &lines).unwrap(), 200),
        json!({ "imported": 1_001 })
    );
    assert_eq!(catalog.rows("SELECT id FROM publishers").len(), 1_002);
}

#[test]
fn an_import_may_have_a_byte_order_mark_carriage_returns_and_blank_lines() {
    let catalog = Catalog::small();
    let text = format!("\u{feff}{}\n \n", lines().replace('\n', "\r\n\r\n"));
    assert_eq!(
        body(&catalog.import("i", &text).unwrap(), 200),
        json!({ "imported": 6 })
    );
}
