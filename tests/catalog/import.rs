//! Imports are atomic under every fault.

use serde_json::{Value, json};

use proptest::prelude::*;

use crate::{Catalog, Faults, app, body, demo::Demo, offer, refused, service, service::Kv, under_every_fault, with};
use contract::{
    catalog::{Command, PutTestApp, Resource},
    operation::OperatorReply,
};
use domain::model::PublisherId;
use origin::objects::catalog::{
    import::MAX_LINE,
    import_claims,
    import_steps::{self, Check},
};
use platform::failure::Failure;

fn line(kind: &str, id: &str, document: Value) -> String {
    with(document, &json!({ "kind": kind, "id": id })).to_string() + "\n"
}

/// Import lines that refer to later lines. Some resources are new, others replace existing ones.
fn lines() -> String {
    line("offer", "o-1", offer(&["g-2", "g-3"]))
        + &line("offer", "o-2", with(offer(&["g-4"]), &json!({ "advertiser_id": "southwind" })))
        + &line("app", "10000001", app("beta"))
        + &line("publisher", "beta", json!({ "name": "Beta", "approved": true }))
        + &line("advertiser", "southwind", json!({ "name": "Southwind" }))
        + &line("publisher", "acme", json!({ "name": "Acme again", "approved": false }))
}

fn prepared() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1", "g-2"]));
    catalog
}

fn staged(catalog: &Catalog) -> usize {
    catalog.rows("SELECT import FROM import_lines").len()
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
fn a_check_counts_what_is_new_and_changed_and_names_payouts() {
    let catalog = prepared();
    let would = |text: &str| {
        let import = import_steps::begin(&catalog.db).unwrap();
        assert!(catalog.stage(import, text).unwrap().is_empty());
        catalog.import.set(Some(import));
        let mut check = Check::default();
        while catalog.check_step(import, &mut check).unwrap() {}
        catalog.import.set(None);
        while import_steps::discard(&catalog.db, import, import).unwrap() {}
        assert!(check.errors.is_empty());
        check.would_import()
    };
    let counts = |lines: u64, new: u64, changed: u64| json!({ "would_import": lines, "new": new, "changed": changed, "payouts": [] });
    let before = catalog.rows("SELECT * FROM offer_documents");
    assert_eq!(would(&lines()), counts(6, 4, 2));
    assert_eq!(catalog.rows("SELECT * FROM offer_documents"), before);
    body(&catalog.import(&lines()).unwrap(), 200);
    assert_eq!(would(&lines()), counts(6, 0, 0));

    let raised = |payout: f64| {
        let mut raised = offer(&["g-2", "g-5"]);
        raised["goals"][0]["payout_usd"] = payout.into();
        line("offer", "o-1", raised)
    };
    let payouts = |payout: f64| would(&raised(payout))["payouts"].clone();
    // A goal that comes or goes has no payout before or after.
    assert_eq!(payouts(1.25), json!([]));
    assert_eq!(payouts(2.5), json!([{ "offer_id": "o-1", "goal_id": "g-2", "before_usd": 1.25, "after_usd": 2.5 }]));
    // A secret is compared with the one that is sealed.
    let with_secret = |secret: &str| {
        let callback = json!({ "url": "https://acme.example/cb", "method": "GET", "secret": secret });
        line("app", "10000001", with(app("beta"), &json!({ "callback": callback })))
    };
    let first = with_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    body(&catalog.import(&first).unwrap(), 200);
    assert_eq!(would(&first), counts(1, 0, 0));
    let second = with_secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    assert_eq!(would(&second), counts(1, 0, 1));
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
        (line("offer", "o-3", with(offer(&["g-9"]), &json!({ "colour": "red" }))), "colour"),
        // Each is valid alone and conflicts with stored resources or with other lines.
        (line("offer", "o-3", with(offer(&["g-9"]), &json!({ "advertiser_id": "nobody" }))), "advertiser_id"),
        (line("offer", "o-3", offer(&["g-1"])), "goals[0].id"),
        (line("offer", "o-3", offer(&["g-4"])), "goals[0].id"),
        (line("app", "10000002", app("nobody")), "publisher_id"),
        (line("app", "x", app("acme")), "app_id"),
        (line("app", "10000001", app("beta")), "line 3"),
    ] {
        let reply = body(&catalog.import(&(good.clone() + &wrong)).unwrap(), 400);
        assert_eq!(reply["code"], "invalid_import", "{reply}");
        let lines = reply["lines"].as_array().unwrap();
        assert_eq!((lines.len(), &lines[0]["line"]), (1, &json!(count + 1)), "{reply}");
        assert!(lines[0]["message"].as_str().unwrap().contains(named), "{named}: {reply}");
        assert_eq!(catalog.dump(), before, "{reply}");
        assert_eq!(staged(&catalog), 0, "{reply}");
    }
    // The reply lists 20 lines and counts all.
    let reply = body(&catalog.import(&"nonsense\n".repeat(33)).unwrap(), 400);
    assert_eq!(reply["lines"].as_array().unwrap().len(), 20);
    assert!(reply["error"].as_str().unwrap().contains("33"), "{reply}");
}

#[test]
fn an_import_that_fails_at_any_write_is_applied_whole_or_not_at_all() {
    let old = prepared().dump();
    let (new, new_read) = {
        let catalog = prepared();
        assert_eq!(body(&catalog.import(&lines()).unwrap(), 200), json!({ "imported": 6 }));
        (catalog.dump(), read(&catalog))
    };
    assert_ne!(old, new);
    under_every_fault(prepared, |catalog, fault| {
        let outcome = catalog.import(&lines());
        catalog.db.inject(Faults::none());
        match outcome {
            Ok(reply) => assert_eq!(reply.status, 200, "{fault}"),
            Err(Failure::Internal(_)) => {}
            Err(Failure::Refused(refusal)) => panic!("{fault}: {refusal:?}"),
        }
        let is_decided = import_claims::decided(&catalog.db).unwrap().is_some();
        resume(catalog);
        let state = catalog.dump();
        assert!(state == new || state == old && !is_decided, "{fault}");
        // The operator repeats the import.
        let again = body(&catalog.import(&lines()).unwrap(), 200);
        assert_eq!(again, json!({ "imported": 6 }), "{fault}");
        assert_eq!(read(catalog), new_read, "{fault}");
        assert_eq!(staged(catalog), 0, "{fault}");
    });
}

/// Continues like the alarm of a new process, and deletes all other staged lines.
fn resume(catalog: &Catalog) {
    if let Some(import) = import_claims::decided(&catalog.db).unwrap() {
        while catalog.apply_step(import, &mut 0).unwrap() {}
    }
    while import_steps::discard(&catalog.db, 0, 1 << 40).unwrap() {}
}

#[test]
fn the_alarm_of_a_new_process_goes_on_with_a_decided_import() {
    let catalog = prepared();
    let import = import_steps::begin(&catalog.db).unwrap();
    let text: String = (0..100).map(|n| line("offer", &format!("x-{n}"), offer(&[&format!("xg-{n}")]))).collect();
    assert!(catalog.stage(import, &text).unwrap().is_empty());
    import_steps::decide(&catalog.db, import).unwrap();
    let mut applied = 0;
    assert!(catalog.apply_step(import, &mut applied).unwrap());
    assert!((1..100).contains(&applied), "{applied}");
    // A PUT waits for lines that are left, and not for those that are applied.
    let left = catalog.try_put(Resource::Offer, "x-99", &offer(&["xg-99"]));
    assert_eq!(refused(left).0, "unavailable");
    catalog.put(Resource::Offer, "x-0", &offer(&["xg-0"]));
    service::run_for(&catalog, &Kv::default(), 10_000);
    catalog.put(Resource::Offer, "x-99", &offer(&["xg-99"]));
    assert_eq!(catalog.rows("SELECT id FROM offers WHERE id LIKE 'x-%'").len(), 100);
    assert_eq!((staged(&catalog), staged_goals(&catalog)), (0, 0));
    assert_eq!(import_claims::decided(&catalog.db).unwrap(), None);
}

fn staged_goals(catalog: &Catalog) -> usize {
    catalog.rows("SELECT id FROM import_goals").len()
}

#[test]
fn a_put_that_could_make_a_checked_line_wrong_is_to_be_repeated() {
    let catalog = prepared();
    let import = import_steps::begin(&catalog.db).unwrap();
    assert!(catalog.stage(import, &lines()).unwrap().is_empty());
    // Before its turn an import refuses nothing.
    catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": true }));
    catalog.import.set(Some(import));
    assert!(catalog.check_step(import, &mut Check::default()).unwrap());
    for (resource, id, document) in [
        (Resource::Publisher, "acme", json!({ "name": "Acme", "approved": true })),
        (Resource::Publisher, "beta", json!({ "name": "Beta", "approved": true })),
        (Resource::App, "10000001", app("acme")),
        (Resource::Advertiser, "southwind", json!({ "name": "Southwind" })),
        (Resource::Offer, "o-2", offer(&["g-4"])),
        // The import gives its goal to another offer.
        (Resource::Offer, "o-3", offer(&["g-4"])),
    ] {
        let (code, message) = refused(catalog.try_put(resource, id, &document));
        assert_eq!(code, "unavailable");
        assert!(message.contains("repeat the PUT"), "{message}");
    }
    catalog.put(Resource::Offer, "o-3", &offer(&["g-5"]));
    catalog.put(Resource::App, "10000009", &app("acme"));
    assert_eq!(body(&catalog.check_and_apply(import).unwrap(), 200)["imported"], 6);
    catalog.import.set(None);
    catalog.put(Resource::Offer, "o-2", &offer(&["g-4"]));
}

#[test]
fn a_test_app_that_an_import_is_about_to_write_is_set_up_later() {
    let catalog = prepared();
    let callback = json!({ "url": "https://ci.example/cb", "method": "POST", "events": ["approved"] });
    let set_up = || {
        catalog.send(Command::PutTestApp(PutTestApp {
            publisher_id: PublisherId::parse("acme").unwrap(),
            body: json!({ "name": "ci", "callback": callback }).to_string(),
        }))
    };
    let known = body(&set_up().unwrap(), 201);
    let import = import_steps::begin(&catalog.db).unwrap();
    let lines = line("app", known["app_id"].as_str().unwrap(), app("acme"));
    assert!(catalog.stage(import, &lines).unwrap().is_empty());
    catalog.import.set(Some(import));
    assert_eq!(refused(set_up()).0, "unavailable");
    catalog.import.set(None);
    set_up().unwrap();
}

/// A PUT or a line: the kind, the id and, of an offer, the goal; of an app, the publisher.
type Write = (bool, u8, u8);

fn any_write() -> impl Strategy<Value = Write> {
    (any::<bool>(), 0..3_u8, 0..3_u8)
}

fn written((is_offer, id, refers_to): Write) -> (Resource, String, Value) {
    if is_offer {
        let goal = format!("g-{refers_to}");
        (Resource::Offer, format!("o-{id}"), offer(&[&goal]))
    } else {
        let publisher = ["acme", "beta", "nobody"][usize::from(refers_to)];
        (Resource::App, format!("1000000{id}"), app(publisher))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A line that was checked is applied, whatever is put in between.
    #[test]
    fn an_import_applies_all_that_it_checked(
        before in proptest::collection::vec(any_write(), 0..4),
        lines in proptest::collection::vec(any_write(), 1..5),
        meanwhile in proptest::collection::vec(any_write(), 0..12),
    ) {
        let catalog = Catalog::small();
        let beta = json!({ "name": "Beta", "approved": true });
        let put = |write: Write| {
            let (resource, id, document) = written(write);
            let _: Result<_, _> = catalog.try_put(resource, &id, &document);
        };
        before.into_iter().for_each(&put);
        let mut text = line("publisher", "beta", beta);
        for write in &lines {
            let (resource, id, document) = written(*write);
            text += &line(resource.singular(), &id, document);
        }
        let import = import_steps::begin(&catalog.db).unwrap();
        let is_staged = catalog.stage(import, &text).unwrap().is_empty();
        if is_staged {
            catalog.import.set(Some(import));
            let (first, second) = meanwhile.split_at(meanwhile.len() / 2);
            let mut check = Check::default();
            while catalog.check_step(import, &mut check).unwrap() {}
            first.iter().copied().for_each(&put);
            if check.errors.is_empty() {
                import_steps::decide(&catalog.db, import).unwrap();
                second.iter().copied().for_each(&put);
                let mut applied = 0;
                while catalog.apply_step(import, &mut applied).unwrap() {}
                prop_assert_eq!(applied, lines.len() as u64 + 1);
            }
        }
    }
}

#[test]
fn concurrent_imports_do_not_mix() {
    let catalog = prepared();
    let other = line("publisher", "gamma", json!({ "name": "Gamma", "approved": true }));
    let number = import_steps::begin(&catalog.db).unwrap();
    assert!(catalog.stage(number, &other).unwrap().is_empty());
    let reply: OperatorReply = catalog.import(&lines()).unwrap();
    assert_eq!(body(&reply, 200), json!({ "imported": 6 }));
    assert_eq!(staged(&catalog), 1, "the other import's line stays staged");
    assert_eq!(body(&catalog.check_and_apply(number).unwrap(), 200)["imported"], 1);
    assert_eq!(staged(&catalog), 0);
}

#[test]
fn an_import_of_several_slices_is_applied_whole() {
    let catalog = Catalog::small();
    let lines: String =
        (0..1_001).map(|n| line("publisher", &format!("p-{n}"), json!({ "name": "P", "approved": true }))).collect();
    assert_eq!(body(&catalog.import(&lines).unwrap(), 200), json!({ "imported": 1_001 }));
    assert_eq!(catalog.rows("SELECT id FROM publishers").len(), 1_002);
}

#[test]
fn an_import_may_have_a_byte_order_mark_carriage_returns_and_blank_lines() {
    let catalog = Catalog::small();
    let text = format!("\u{feff}{}\n \n", lines().replace('\n', "\r\n\r\n"));
    assert_eq!(body(&catalog.import(&text).unwrap(), 200), json!({ "imported": 6 }));
}
