//! Pub-Keys, tokens and callback secrets: which are valid, and what is shown of them.

use contract::catalog::{Command, GetPubKey, IssuePubKey, IssueToken, Resource, RevokeToken};
use domain::{
    conversions::token::Token,
    model::{AppId, credentials},
};
use serde_json::{Value, json};

use crate::{Catalog, app, app_with_url, body, offer, refused, under_every_fault};

const O: Resource = Resource::Offer;

fn pub_key(catalog: &Catalog, command: fn(String) -> Command, status: u16) -> Option<String> {
    let reply = catalog.send(command("acme".into())).ok()?;
    Some(body(&reply, status)["pub_key"].as_str().unwrap().to_owned())
}

fn issued(catalog: &Catalog) -> Option<String> {
    pub_key(catalog, |publisher_id| Command::IssuePubKey(IssuePubKey { publisher_id }), 201)
}

fn shown(catalog: &Catalog) -> Option<String> {
    pub_key(catalog, |publisher_id| Command::GetPubKey(GetPubKey { publisher_id }), 200)
}

/// The subset of these Pub-Keys that the edge accepts.
fn valid<'k>(catalog: &Catalog, keys: &[&'k String]) -> Vec<&'k String> {
    let tracking = catalog.tracking();
    let app = tracking.app(AppId::parse("10000001").unwrap()).unwrap();
    let hash = app.publisher.pub_key_hash;
    let is_valid = |key: &&&String| hash.is_some_and(|hash| *hash == credentials::hash(key));
    keys.iter().filter(is_valid).copied().collect()
}

#[test]
fn only_the_last_pub_key_is_valid() {
    let with_app = || {
        let catalog = Catalog::small();
        catalog.put(Resource::App, "10000001", &app("acme"));
        catalog
    };
    let catalog = with_app();
    assert_eq!(shown(&catalog), None);
    let [first, second] = [0; 2].map(|_| issued(&catalog).unwrap());
    assert_eq!(shown(&catalog), Some(second.clone()));
    assert_eq!(valid(&catalog, &[&first, &second]), [&second]);
    // A repeated PUT of the publisher keeps its key.
    catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": false }));
    assert_eq!(shown(&catalog), Some(second.clone()));
    assert_eq!(valid(&catalog, &[&second]), [&second]);
    let publisher_id = "nobody".to_owned();
    assert_eq!(refused(catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id }))).0, "not_found");

    // After any failed write the operator still reads the key that the edge accepts.
    let prepared = || {
        let catalog = with_app();
        issued(&catalog).unwrap();
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let answered = issued(catalog);
        let shown = shown(catalog).unwrap();
        assert!(answered.is_none_or(|key| key == shown), "{fault}");
        assert_eq!(valid(catalog, &[&shown]), [&shown], "{fault}");
    });
}

fn issue_token(catalog: &Catalog) -> Option<(String, String)> {
    let advertiser_id = "northwind".to_owned();
    let reply = catalog.send(Command::IssueToken(IssueToken { advertiser_id })).ok()?;
    let issued = body(&reply, 201);
    let text = |name: &str| issued[name].as_str().unwrap().to_owned();
    Some((text("token_id"), text("token")))
}

/// Whether the tracking snapshot accepts each of these tokens.
fn accepted(catalog: &Catalog, tokens: &[&(String, String)]) -> Vec<bool> {
    let tracking = catalog.tracking();
    tokens.iter().map(|(_, token)| tracking.accepts(&Token::verify(&catalog.token_mac, token).unwrap())).collect()
}

fn listed_tokens(catalog: &Catalog) -> Vec<String> {
    let advertiser = catalog.get(Resource::Advertiser, "northwind");
    let tokens = advertiser["tokens"].as_array().unwrap();
    tokens.iter().map(|token| token["token_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_advertisers_two_newest_tokens_are_valid_until_revoked() {
    let prepared = || {
        let catalog = Catalog::small();
        catalog.put(O, "o-1", &offer(&["g-1"]));
        catalog
    };
    let catalog = prepared();
    let [a, b, c] = [0; 3].map(|_| {
        catalog.wait(1_000);
        issue_token(&catalog).unwrap()
    });
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, true]);
    let advertiser = catalog.get(Resource::Advertiser, "northwind");
    let issued_at = crate::NOON / 1_000 + 2;
    assert_eq!(b.0, issued_at.to_string(), "a serial is at least the UNIX time");
    let expected = json!([
        { "token_id": b.0, "issued_at": issued_at }, { "token_id": c.0, "issued_at": issued_at + 1 },
    ]);
    assert_eq!(advertiser["tokens"], expected);
    // A PUT of the advertiser keeps its tokens.
    catalog.put(Resource::Advertiser, "northwind", &json!({ "name": "Northwind & Sons" }));
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, true]);

    let revoke = |id: &str| {
        let (advertiser_id, token_id) = ("northwind".into(), id.into());
        catalog.send(Command::RevokeToken(RevokeToken { advertiser_id, token_id }))
    };
    assert_eq!(refused(revoke(&a.0)).0, "not_found");
    assert_eq!(revoke(&c.0).unwrap().status, 204);
    assert_eq!(refused(revoke(&c.0)).0, "not_found");
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, false]);
    let before = catalog.tracking();
    let d = issue_token(&catalog).unwrap();
    assert_eq!(accepted(&catalog, &[&b, &c, &d]), [true, false, true]);
    // A snapshot from before its issue accepts it, too.
    assert!(before.accepts(&Token::verify(&catalog.token_mac, &d.1).unwrap()));
    let advertiser_id = "nobody".to_owned();
    assert_eq!(refused(catalog.send(Command::IssueToken(IssueToken { advertiser_id }))).0, "not_found");

    let with_two = || {
        let catalog = prepared();
        assert!(issue_token(&catalog).is_some() && issue_token(&catalog).is_some());
        catalog
    };
    under_every_fault(with_two, |catalog, fault| {
        let answered = issue_token(catalog);
        let listed = listed_tokens(catalog);
        assert_eq!(listed.len(), 2, "{fault}");
        assert!(answered.is_none_or(|(id, _)| listed[1] == id), "{fault}");
    });
}

#[test]
fn a_callbacks_secret_is_sealed_and_never_shown() {
    let catalog = Catalog::small();
    let document = app_with_url("https://acme.example.com/cb");
    let shown = catalog.put(Resource::App, "10000001", &document);
    assert_eq!(shown["callback"]["url"], "https://acme.example.com/cb");
    let stored = format!("{:?} {shown}", catalog.rows("SELECT * FROM apps"));
    assert!(!stored.contains("MfKQ9r8"), "{stored}");
    let rows = catalog.rows("SELECT callback_sealed FROM apps");
    let opened = catalog.vault.open("callback/10000001", rows[0].blob(0).unwrap()).unwrap();
    let opened: Value = serde_json::from_slice(&opened).unwrap();
    assert_eq!(opened, document["callback"]);
    catalog.put(Resource::App, "10000001", &app("acme"));
    assert!(catalog.rows("SELECT callback_sealed FROM apps")[0].is_null(0));
}
