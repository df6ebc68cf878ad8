//! The SQL texts. A bound integer arrives as a double, so a statement must convert it back before it uses it.

use contract::catalog::{
    AppNames, ChangeOwnApp, CountWaiting, CreateOwnApp, GetAppSettings, GetPubKey, GetPubKeyRequest, GetStatus,
    IssuePubKey, IssueToken, KnownPublishers, List, ListEarning, ListOfferOutboxes, ListOwnApps, ListPubKeyRequests,
    ListPublisherOutboxes, ListTerms, OfferNames, OwnAppChange, PutTestApp, ReadOfferFigures, RequestPubKey,
    RevokeToken, Search, SecretChange,
};
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    Catalog, NOON, app_with_url, body,
    demo::Demo,
    prepare_listing,
    service::{Kv, publish_tracking},
    with,
};
use contract::{
    accounts::Suspend,
    catalog::{CallbackSettings, Command, Resource},
    counters::OfferStats,
};
use domain::{
    model::{AppId, OfferId, PublisherId, Vault, time::UtcDay},
    snapshot::tracking::{ShardKind, Slot},
};
use origin::{
    delivery::push::{FIRST_PUSH_MS, Push, claim},
    objects::catalog::{
        Context, callback_sync, cap_sync, import_claims, import_steps,
        offer_figures::NearCaps,
        publication,
        resealing::{self, Resealing},
        revisions, schedule, sql, terms, tracking_slots,
        waiting::Waiting,
    },
};
use platform::{database::Database, params};

/// A catalog that ran every command and job, and every SQL text that it ran.
fn run_everything() -> (Catalog, BTreeSet<String>) {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    for (resource, documents) in [
        (Resource::Publisher, &demo.publishers),
        (Resource::App, &demo.apps),
        (Resource::Advertiser, &demo.advertisers),
        (Resource::Offer, &demo.offers),
    ] {
        for (id, document) in documents {
            catalog.put(resource, id, &with(document.clone(), &json!({ "name": "New" })));
            catalog.get(resource, id);
        }
        let list = Command::List(List::of(resource, 10, None));
        body(&catalog.send(list).unwrap(), 200);
    }
    for command in [
        |publisher_id| Command::IssuePubKey(IssuePubKey { publisher_id }),
        |publisher_id| Command::GetPubKey(GetPubKey { publisher_id }),
        |publisher_id| Command::GetPubKeyRequest(GetPubKeyRequest { publisher_id }),
    ] {
        catalog.send(command("lumen-arcade".into())).unwrap();
    }
    let request = Command::RequestPubKey(RequestPubKey {
        publisher_id: "lumen-arcade".into(),
        by: "Ada".into(),
        reason: "lost".into(),
    });
    body(&catalog.send(request).unwrap(), 201);
    let list = Command::ListPubKeyRequests(ListPubKeyRequests {});
    body(&catalog.send(list).unwrap(), 200);
    let advertiser_id = "mangrove-mobile".to_owned();
    let issue = Command::IssueToken(IssueToken { advertiser_id });
    let issued = body(&catalog.send(issue).unwrap(), 201);
    let revoke = Command::RevokeToken(RevokeToken {
        advertiser_id: "mangrove-mobile".into(),
        token_id: issued["token_id"].as_str().unwrap().into(),
    });
    catalog.send(revoke).unwrap();
    body(&catalog.send(Command::Status(GetStatus {})).unwrap(), 200);
    let publisher_id = "lumen-arcade".to_owned();
    body(&catalog.send(Command::AppNames(AppNames { publisher_id, after: None })).unwrap(), 200);
    let app = *demo.apps.keys().collect::<Vec<_>>().first().unwrap();
    catalog.ask_app(app);
    catalog.send(Command::AppSettings(GetAppSettings { app_id: AppId::parse(app).unwrap() })).unwrap();
    own_apps(&catalog, app);
    let test = json!({
        "name": "test", "callback": { "url": "https://acme.example/", "method": "GET", "events": ["approved"] },
    });
    let put = Command::PutTestApp(PutTestApp {
        publisher_id: PublisherId::parse("lumen-arcade").unwrap(),
        body: test.to_string(),
    });
    body(&catalog.send(put).unwrap(), 201);
    catalog.outbox_asks("60240", app, 3);
    // A revision that is lost, as after a restore.
    let lost = json!({
        "advertiser_id": "mangrove-mobile", "conversion_window_days": 30, "once_per": "user",
        "goals": [{ "id": "g", "payout_usd": 1 }],
    });
    catalog.enter("60240", 1, &lost).unwrap();
    let capped = json!({ "conversion_cap": { "dur": "DAILY", "lim": 5 } });
    catalog.put(Resource::Offer, "60240", &with(demo.offers["60240"].clone(), &capped));
    let changed = json!({ "callback": app_with_url("https://acme.example.com/cb")["callback"] });
    catalog.put(Resource::App, app, &with(demo.apps[app].clone(), &changed));

    for approved in [false, true] {
        let document = with(demo.publishers["lumen-arcade"].clone(), &json!({ "approved": approved }));
        catalog.put(Resource::Publisher, "lumen-arcade", &document);
    }

    let db = &catalog.db;
    for waiting in claim::<Waiting>(db, NOON, NOON + FIRST_PUSH_MS, 10).unwrap() {
        waiting.confirm(db).unwrap();
    }
    let told = claim::<Suspend>(db, NOON, NOON + FIRST_PUSH_MS, 10).unwrap();
    let publisher = params![told[0].publisher.as_str()];
    let queued = Suspend::list(db, sql::GET_QUEUED_SUSPENSION, publisher);
    assert_eq!(queued.unwrap(), told);
    told[0].confirm(db).unwrap();
    let app = AppId::parse(app).unwrap();
    let shard = callback_sync::settings_of(db, app).unwrap()[0].shard;
    assert_eq!(claim::<callback_sync::QueuedSettings>(db, NOON, NOON + FIRST_PUSH_MS, 10).unwrap().len(), 1);
    crate::confirm(db, shard, &CallbackSettings::default()).unwrap();
    callback_sync::settings_of_publisher(db, &told[0].publisher).unwrap();
    let caps = claim::<cap_sync::QueuedCap>(db, NOON, NOON + FIRST_PUSH_MS, 10).unwrap();
    assert_eq!(cap_sync::queued_of(db, &caps[0].offer.offer).unwrap(), caps);
    caps[0].confirm(db).unwrap();
    revisions::set(db, revisions::DECIDED_IMPORT, 1).unwrap();
    import_claims::drop_line(db, Resource::Offer, "60240").unwrap();
    publication::publish_all(db, NOON).unwrap();
    import_steps::discard(db, 0, 1 << 40).unwrap();
    terms::sweep(db, 1 << 52).unwrap();
    let stats = OfferStats {
        offer: OfferId::parse("60240").unwrap(),
        clicks: 1,
        conversions: 1,
        payout_micro_usd: 1,
        clicks_taken: 1,
        conversions_taken: 1,
        apps: vec![(10_000_001, 1, 1)],
    };
    publication::store_stats(db, "counters-0", UtcDay::of_ms(NOON), &[stats]).unwrap();
    publication::delete_stale_stats(db, "counters-0", UtcDay::of_ms(NOON)).unwrap();
    // A body rendered by an older version.
    db.execute("UPDATE offer_bodies SET format = 0 WHERE id = '60240'", &[]).unwrap();
    let listing = prepare_listing(db, NOON).unwrap();
    for key in publication::chunks_to_write(db, 10_000).unwrap() {
        publication::chunk(db, &key).unwrap().unwrap();
        publication::record_chunk_written(db, &key, NOON).unwrap();
        publication::chunk_for_isolate(db, &key, NOON).unwrap();
    }
    publication::record_written(db, listing.version, NOON).unwrap();
    publication::record_in_pointer(db, &listing, crate::NOON).unwrap();
    publication::newest(db, listing.kind).unwrap().unwrap();
    publication::forget_version(db, 0).unwrap();
    track_everything(&catalog);
    publication::pointer(db).unwrap();
    publication::expired_versions(db, NOON).unwrap();
    publication::expired_chunks(db).unwrap();
    publication::record_chunk_absent(db, "none").unwrap();
    publication::forget_chunk(db, "none").unwrap();
    // Every listed offer has ended, so its chunks are unused.
    prepare_listing(db, 1 << 52).unwrap();
    schedule::next_alarm(db, NOON).unwrap();
    lookups(&catalog);
    let ran = db.statements();
    (catalog, ran)
}

/// Lists, sets up and changes apps as a member of their publisher, and changes one whose secret the operator does not know.
fn own_apps(catalog: &Catalog, app: &str) {
    let publisher_id = PublisherId::parse("lumen-arcade").unwrap();
    let list = ListOwnApps { publisher_id: publisher_id.clone(), cursor: None };
    body(&catalog.send(Command::ListOwnApps(list)).unwrap(), 200);
    let currency = json!({ "name": "Coins", "per_usd": 1 });
    let create = CreateOwnApp {
        publisher_id: publisher_id.clone(),
        key: "key".into(),
        body: json!({ "name": "New", "platform": "ios", "currency": currency }).to_string(),
    };
    body(&catalog.send(Command::CreateOwnApp(create)).unwrap(), 201);
    let renew = ChangeOwnApp {
        publisher_id,
        app_id: AppId::parse(app).unwrap(),
        change: OwnAppChange::Secret(SecretChange::RenewClick),
    };
    body(&catalog.send(Command::ChangeOwnApp(renew)).unwrap(), 201);
    let masked = json!({ "click_secret": "********" });
    catalog.put(Resource::App, app, &with(catalog_document(catalog, app), &masked));
}

/// Asks what the console asks.
fn lookups(catalog: &Catalog) {
    for (resource, owner) in [(Resource::App, "lumen-arcade"), (Resource::Offer, "mangrove-mobile")] {
        let list = List { owner: Some(owner.to_owned()), ..List::of(resource, 10, None) };
        body(&catalog.send(Command::List(list)).unwrap(), 200);
    }
    for resource in Resource::ALL {
        let list = List { by_name: true, ..List::of(resource, 10, None) };
        body(&catalog.send(Command::List(list)).unwrap(), 200);
    }
    let advertiser_id = "mangrove-mobile".to_owned();
    let issue = Command::IssueToken(IssueToken { advertiser_id });
    let token = body(&catalog.send(issue).unwrap(), 201)["token"].clone();
    let text = token.as_str().unwrap().to_owned();
    let offer_id = OfferId::parse("60240").unwrap();
    for command in [
        Command::Search(Search { text }),
        Command::Search(Search { text: "lum".into() }),
        Command::CountWaiting(CountWaiting {}),
        Command::Earning(ListEarning { limit: 500 }),
        Command::OfferNames(OfferNames { offer_ids: ["60240".to_owned()].into() }),
        Command::KnownPublishers(KnownPublishers { publisher_ids: vec![PublisherId::parse("lumen-arcade").unwrap()] }),
        Command::PublisherOutboxes(ListPublisherOutboxes {
            publisher_id: PublisherId::parse("lumen-arcade").unwrap(),
            from: None,
            to: None,
        }),
        Command::Search(Search { text: "60240-1".into() }),
        Command::Terms(ListTerms { offer_id: offer_id.clone() }),
        Command::OfferOutboxes(ListOfferOutboxes { offer_id: offer_id.clone() }),
        Command::OfferFigures(ReadOfferFigures { offer_ids: vec![offer_id] }),
    ] {
        body(&catalog.send(command).unwrap(), 200);
    }
    catalog.db.execute("UPDATE offers SET click_cap = 1, ever_capped = 1 WHERE id = '60240'", &[]).unwrap();
    let mut near = NearCaps::default();
    while near.step(&catalog.db, NOON).unwrap() {}
    near.finish(&catalog.db).unwrap();
    reseal_everything(catalog);
}

/// Seals all values again with another key.
fn reseal_everything(catalog: &Catalog) {
    let both = |old: &str| Vault::parse("KEYS", &format!("9:{},{old}", "ee".repeat(32))).unwrap();
    let (vault, edge_vault) = (both(crate::STORE_KEYS), both(crate::EDGE_KEYS));
    let mut app = catalog_document(catalog, "10000001");
    app["click_secret"] = json!("demo_click_secret_of_lumen_arcade");
    catalog.put(Resource::App, "10000001", &app);
    catalog.with_context(|context| {
        let context = Context { vault: &vault, edge_vault: &edge_vault, ..*context };
        resealing::begin(&catalog.db, &context).unwrap();
        let mut pass = Resealing::default();
        while pass.step(&catalog.db, &context).unwrap() {}
    });
}

/// An app's document without what an answer adds.
fn catalog_document(catalog: &Catalog, app: &str) -> Value {
    let mut document = catalog.get(Resource::App, app);
    for added in ["app_id", "terms_revision"] {
        document.as_object_mut().unwrap().remove(added);
    }
    document
}

/// Publishes the tracking snapshot: first all of it, then with more slots, and at last an old shard is deleted.
fn track_everything(catalog: &Catalog) {
    let (db, kv) = (&catalog.db, Kv::default());
    publish_tracking(catalog, &kv).unwrap();
    let long = format!("https://example.com/{}", "x".repeat(1_900));
    for n in 0..20 {
        let changed = json!({ "lp_url": long, "target_url": null });
        let goals = [format!("long-{n}")];
        let document = crate::offer(&goals.each_ref().map(String::as_str));
        let advertiser = json!({ "advertiser_id": "mangrove-mobile" });
        catalog.put(Resource::Offer, &format!("long-{n}"), &with(with(document, &changed), &advertiser));
    }
    publish_tracking(catalog, &kv).unwrap();
    tracking_slots::mark_next(db).unwrap();
    let slot = Slot::of(ShardKind::Advertisers, 0, 0);
    tracking_slots::for_isolate(db, slot, 1 << 52).unwrap();
    for key in tracking_slots::expired(db, 1 << 52).unwrap() {
        tracking_slots::forget(db, &key).unwrap();
    }
}

#[test]
fn every_listed_statement_is_run() {
    let (_, ran) = run_everything();
    let unused: Vec<_> = sql::ALL.iter().filter(|sql| !ran.contains(**sql)).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

/// Whether a parameter is an operand of arithmetic outside of a CAST, where it would be a double.
fn has_bare_arithmetic(sql: &str) -> bool {
    const OPERATORS: [char; 7] = ['+', '-', '*', '/', '%', '|', '&'];
    let parts: Vec<_> = sql.split('?').collect();
    parts.windows(2).any(|around| {
        let before = around[0].trim_end();
        let after = around[1].trim_start_matches(|c: char| c.is_ascii_digit());
        before.ends_with(OPERATORS) || after.trim_start().starts_with(OPERATORS)
    })
}

#[test]
fn no_parameter_is_an_operand_of_arithmetic() {
    for (sql, expected) in [
        ("SELECT ? + 1", true),
        ("SELECT 1 - ?", true),
        ("SELECT ?2 / 2", true),
        ("SELECT x || ?", true),
        ("SELECT CAST(? AS INTEGER) + 1", false),
        ("SELECT x + 1 FROM t WHERE y > ? LIMIT ?", false),
        ("INSERT INTO t (x) VALUES (?, ?)", false),
    ] {
        assert_eq!(has_bare_arithmetic(sql), expected, "{sql}");
    }
    let (_, ran) = run_everything();
    assert!(ran.len() > 60, "only {} ran", ran.len());
    let bare: Vec<_> = ran.iter().filter(|sql| has_bare_arithmetic(sql)).collect();
    assert!(bare.is_empty(), "{bare:#?}");
}

#[test]
fn every_table_is_strict_and_stores_bound_integers_as_integers() {
    let (catalog, _) = run_everything();
    let tables = catalog.rows("PRAGMA table_list");
    let own: Vec<_> = tables.iter().filter(|table| !table.text(1).unwrap().starts_with("sqlite_")).collect();
    assert!(own.len() > 10, "{own:?}");
    for table in own {
        assert!(table.boolean(5).unwrap(), "{table:?} is not STRICT");
    }
}
