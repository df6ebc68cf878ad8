//! Requests for a new Pub-Key: one for each publisher, which the next key closes.

use serde_json::{Value, json};

use crate::{Catalog, body, refused, under_every_fault};
use contract::catalog::{
    Command, GetPubKey, GetPubKeyRequest, GetStatus, IssuePubKey, ListPubKeyRequests, RequestPubKey,
};

const ACME: &str = "acme";

fn issue(catalog: &Catalog) -> bool {
    let publisher_id = ACME.to_owned();
    catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).is_ok()
}

fn with_key() -> Catalog {
    let catalog = Catalog::small();
    assert!(issue(&catalog));
    catalog
}

fn ask(publisher: &str, by: &str) -> Command {
    Command::RequestPubKey(RequestPubKey {
        publisher_id: publisher.into(),
        by: by.into(),
        reason: format!("{by} lost it"),
    })
}

fn open_request(catalog: &Catalog) -> Value {
    let publisher_id = ACME.to_owned();
    let get = Command::GetPubKeyRequest(GetPubKeyRequest { publisher_id });
    body(&catalog.send(get).unwrap(), 200)["request"].clone()
}

#[test]
fn a_publisher_has_one_open_request_until_a_new_key_closes_it() {
    let catalog = with_key();
    assert_eq!(open_request(&catalog), Value::Null);
    let first = body(&catalog.send(ask(ACME, "Ada")).unwrap(), 201)["request"].clone();
    let requested_at = catalog.now().div_euclid(1_000);
    assert_eq!(first, json!({ "requested_at": requested_at, "requested_by": "Ada", "reason": "Ada lost it" }));
    catalog.wait(60_000);
    let again = body(&catalog.send(ask(ACME, "Bob")).unwrap(), 200)["request"].clone();
    assert_eq!(again, first);

    let publisher_id = ACME.to_owned();
    let shown = body(&catalog.send(Command::GetPubKey(GetPubKey { publisher_id })).unwrap(), 200);
    assert_eq!(shown["request"], first);
    let list = || body(&catalog.send(Command::ListPubKeyRequests(ListPubKeyRequests {})).unwrap(), 200);
    let counted = || {
        let status = body(&catalog.send(Command::Status(GetStatus {})).unwrap(), 200);
        status["pub_key_requests"].as_i64().unwrap()
    };
    let mut listed = first;
    listed["publisher_id"] = json!(ACME);
    assert_eq!((list(), counted()), (json!({ "requests": [listed] }), 1));

    assert!(issue(&catalog));
    assert_eq!(open_request(&catalog), Value::Null);
    assert_eq!((list(), counted()), (json!({ "requests": [] }), 0));
    body(&catalog.send(ask(ACME, "Bob")).unwrap(), 201);
}

#[test]
fn nobody_asks_for_a_new_key_where_there_is_none() {
    let catalog = Catalog::small();
    for publisher in [ACME, "nobody"] {
        assert_eq!(refused(catalog.send(ask(publisher, "Ada"))).0, "no_pub_key");
    }
}

#[test]
fn a_new_key_and_the_end_of_its_request_are_one_commit() {
    let key = |catalog: &Catalog| {
        let publisher_id = ACME.to_owned();
        let shown = catalog.send(Command::GetPubKey(GetPubKey { publisher_id })).unwrap();
        body(&shown, 200)["pub_key"].clone()
    };
    let prepared = || {
        let catalog = with_key();
        catalog.send(ask(ACME, "Ada")).unwrap();
        catalog
    };
    let former = key(&prepared());
    under_every_fault(prepared, |catalog, fault| {
        issue(catalog);
        assert_eq!(key(catalog) == former, !open_request(catalog).is_null(), "{fault}");
    });
}
