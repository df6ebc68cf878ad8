//! A catalog that is put back to any earlier copy makes its changes again, with the same revisions and terms.

use futures_util::FutureExt;
use proptest::prelude::*;

use crate::{Catalog, account_sync::World, app_with_url, goal, offer, with};
use contract::{
    catalog::{
        ChangeOwnApp, Command, CreateOwnApp, EnterTerms, GetAppTerms, GetOfferTerms, IssuePubKey, IssueToken,
        OwnAppChange, Put, Resource, RevokeToken, SecretChange,
    },
    operation::OperatorReply,
};
use domain::{
    model::{AppId, OfferId, PublisherId},
    tracking::signature,
};
use platform::{
    database::{Row, Value},
    failure::Failure,
};
use serde_json::{Value as Json, json};

const APP: &str = "10000001";

#[derive(Clone, Debug)]
enum Op {
    Approve(bool),
    App(u8),
    RenewSecret(bool),
    Token(bool),
    PubKey,
    /// Offer, payout, cap.
    Offer(u8, u8, Option<u8>),
    Import(u8),
    /// An outbox asks for the app, or for an offer.
    Ask(u8, Option<u8>),
    EnterTerms(u8),
}

fn ops() -> impl Strategy<Value = Vec<(Op, i64)>> {
    let op = prop_oneof![
        1 => any::<bool>().prop_map(Op::Approve),
        3 => (0..4_u8).prop_map(Op::App),
        1 => any::<bool>().prop_map(Op::RenewSecret),
        3 => any::<bool>().prop_map(Op::Token),
        1 => Just(Op::PubKey),
        4 => (0..3_u8, 0..3_u8, proptest::option::of(0..3_u8)).prop_map(|(id, payout, cap)| Op::Offer(id, payout, cap)),
        2 => (0..3_u8).prop_map(Op::Import),
        2 => (0..3_u8, proptest::option::of(0..3_u8)).prop_map(|(shard, offer)| Op::Ask(shard, offer)),
        1 => (0..3_u8).prop_map(Op::EnterTerms),
    ];
    proptest::collection::vec((op, prop_oneof![Just(0), Just(1), 0..5_000_i64]), 1..40)
}

fn document(payout: u8, cap: Option<u8>, id: &str) -> Json {
    let mut goal = goal(id);
    goal["payout_usd"] = json!(f64::from(payout) + 0.5);
    let cap = cap.map(|lim| json!({ "dur": "DAY", "lim": lim }));
    with(offer(&[]), &json!({ "goals": [goal], "conversion_cap": cap }))
}

fn send(world: &World, command: impl Into<Command>) -> Result<OperatorReply, Failure> {
    world.service().command(command.into()).now_or_never().unwrap()
}

fn put(world: &World, resource: Resource, id: &str, document: &Json) {
    let put = Put { resource, id: id.into(), body: document.to_string(), condition: None };
    // An outbox that does not answer is told later.
    if let Err(Failure::Internal(error)) = send(world, put) {
        panic!("{error}");
    }
}

fn newest(world: &World, table: &str, id: &str) -> i64 {
    let sql = format!("SELECT terms_revision FROM {table} WHERE id = '{id}'");
    world.catalog.rows(&sql).first().map_or(0, |row| row.integer(0).unwrap())
}

fn carry_out(world: &World, op: &Op) {
    let id = |offer: u8| format!("o-{offer}");
    match *op {
        Op::Approve(approved) => {
            let document = json!({ "name": "Acme", "approved": approved });
            put(world, Resource::Publisher, "acme", &document);
        }
        Op::App(n) => {
            let url = format!("https://acme.example.com/cb?u={{user_id}}&t={{transaction_id}}&v={{value}}&n={}", n % 2);
            let terms = json!({ "currency": { "name": "Coins", "per_usd": 1_000 * (i64::from(n) + 1), "decimals": 0, "rounding": "down" } });
            put(world, Resource::App, APP, &with(app_with_url(&url), &terms));
        }
        Op::RenewSecret(of_clicks) => {
            let change = match of_clicks {
                true => SecretChange::RenewClick,
                false => SecretChange::RenewCallback,
            };
            let change = ChangeOwnApp {
                publisher_id: PublisherId::parse("acme").unwrap(),
                app_id: AppId::parse(APP).unwrap(),
                change: OwnAppChange::Secret(change),
            };
            drop(send(world, change));
        }
        Op::Token(true) => {
            let advertiser_id = "northwind".into();
            send(world, IssueToken { advertiser_id }).unwrap();
        }
        Op::Token(false) => {
            let oldest = world.catalog.rows("SELECT MIN(serial) FROM advertiser_tokens");
            if let Some(serial) = oldest[0].optional_integer(0).unwrap() {
                let (advertiser_id, token_id) = ("northwind".into(), serial.to_string());
                send(world, RevokeToken { advertiser_id, token_id }).unwrap();
            }
        }
        Op::PubKey => {
            let publisher_id = "acme".into();
            send(world, IssuePubKey { publisher_id }).unwrap();
        }
        Op::Offer(n, payout, cap) => {
            let document = document(payout, cap, &format!("g-{n}"));
            put(world, Resource::Offer, &id(n), &document);
        }
        Op::Import(n) => {
            let offer = with(document(9, None, &format!("g-{n}")), &json!({ "kind": "offer", "id": id(n) }));
            let advertiser = json!({ "kind": "advertiser", "id": "imported", "name": format!("No. {n}") });
            drop(world.import_lines(&format!("{advertiser}\n{offer}\n"), false));
        }
        Op::Ask(shard, None) => {
            let question =
                GetAppTerms { app_id: AppId::parse(APP).unwrap(), shard, revision: newest(world, "apps", APP) };
            drop(send(world, question));
        }
        Op::Ask(shard, Some(offer)) => {
            let question = GetOfferTerms {
                offer_id: OfferId::parse(&id(offer)).unwrap(),
                revision: newest(world, "offers", &id(offer)),
                outbox: Some((AppId::parse(APP).unwrap(), shard)),
            };
            drop(send(world, question));
        }
        Op::EnterTerms(n) => {
            let terms = json!({ "advertiser_id": "northwind", "conversion_window_days": 30, "once_per": "click",
                "goals": [{ "id": "g-9", "gl_val": null, "payout_usd": 3 }] });
            let enter =
                EnterTerms { resource: Resource::Offer, id: id(n), revision: "7".into(), body: terms.to_string() };
            drop(send(world, enter));
        }
    }
}

/// All rows of the catalog, with secrets opened, but without the work that waits to be sent or published.
fn knowledge(catalog: &Catalog) -> Vec<Vec<Row>> {
    let tables = [
        "SELECT * FROM publishers",
        "SELECT publisher_id, revision FROM suspensions",
        "SELECT id, document, revision, terms_revision, terms_since, outbox_shards, callback_sealed, click_secrets_sealed FROM apps",
        "SELECT * FROM advertisers",
        "SELECT * FROM advertiser_tokens",
        "SELECT * FROM offers",
        "SELECT * FROM offer_documents",
        "SELECT * FROM offer_bodies",
        "SELECT id, offer_id, retired_at_ms, hash FROM goals",
        "SELECT * FROM terms",
        "SELECT app_id, shard FROM outboxes",
        "SELECT offer_id, app_id, shard FROM offer_outboxes",
        "SELECT value FROM state WHERE name IN ('change', 'listed_bytes') ORDER BY name",
    ];
    let mut known: Vec<_> = tables.iter().map(|sql| catalog.rows(sql)).collect();
    for app in &mut known[2] {
        let keys = [(6, &catalog.vault, format!("callback/{APP}")), (7, &catalog.edge_vault, signature::purpose(APP))];
        for (column, vault, purpose) in keys {
            if let Some(sealed) = app.optional_blob(column).unwrap() {
                app.0[column] = Value::Blob(vault.open(&purpose, sealed).unwrap());
            }
        }
    }
    known
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_catalog_that_is_put_back_makes_its_changes_again(ops in ops(), at in 0..40_usize) {
        let mut world = World::new();
        put(&world, Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": true }));
        put(&world, Resource::Advertiser, "northwind", &json!({ "name": "Northwind" }));
        let mut copy = world.catalog.db.copy();
        for (nth, (op, wait_ms)) in ops.iter().enumerate() {
            world.catalog.wait(*wait_ms);
            carry_out(&world, op);
            if nth == at {
                copy = world.catalog.db.copy();
            }
        }
        let before = knowledge(&world.catalog);
        let is_behind = knowledge(&Catalog { db: copy.copy(), ..Catalog::empty() }) != before;
        world.catalog.db = copy;
        world.catalog.wait(1_000);
        let status = send(&world, contract::catalog::GetStatus {}).unwrap();
        prop_assert_eq!(knowledge(&world.catalog), before);
        let dirty = serde_json::from_str::<Json>(&status.body).unwrap()["tracking_dirty_since_ms"].is_number();
        prop_assert!(dirty || !is_behind, "it publishes everything");
        let doubts = world.catalog.registers.doubts();
        prop_assert!(!is_behind || doubts == [("catalog".to_owned(), "catalog_restored".to_owned())], "{:?}", doubts);
    }
}

/// A member may set up an app again because it had no answer.
#[test]
fn a_request_that_set_up_an_app_finds_it_after_a_restore() {
    let mut world = World::new();
    put(&world, Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": true }));
    let copy = world.catalog.db.copy();
    let create = |world: &World| {
        let currency = json!({ "name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down" });
        let create = CreateOwnApp {
            publisher_id: PublisherId::parse("acme").unwrap(),
            key: "k".into(),
            body: json!({ "name": "Game", "platform": "android", "currency": currency }).to_string(),
        };
        let reply = send(world, create).unwrap();
        serde_json::from_str::<Json>(&reply.body).unwrap()["app_id"].clone()
    };
    let app = create(&world);
    world.catalog.db = copy;
    world.catalog.wait(1_000);
    assert_eq!(create(&world), app);
}

/// A token that nobody has seen would end an older one.
#[test]
fn no_token_is_issued_whose_answer_might_be_lost() {
    let world = World::new();
    put(&world, Resource::Advertiser, "northwind", &json!({ "name": "Northwind" }));
    world.catalog.registers.are_down.set(true);
    let issue = IssueToken { advertiser_id: "northwind".into() };
    assert!(matches!(send(&world, issue), Err(Failure::Refused(error)) if error.status == 503));
    assert_eq!(world.catalog.rows("SELECT * FROM advertiser_tokens"), []);
}
