//! Report keys and their rate limit.

use contract::{
    ledger::{CreateKey, FindKey, KeyCreator, ListKeys, RevokeKey},
    operation::Bytes,
};
use serde_json::Value;

use super::*;
use contract::ledger::{Command, Reply};
use domain::{
    accounts::ids::MemberId,
    model::{PublisherId, credentials, mac::MacKeys},
    reporting::{keys::SETTING, rate::Admission},
};
use origin::objects::ledger::{Context, handle, keys::admit};
use platform::failure::Failure;

fn send(db: &Sqlite, now_ms: i64, random: u8, command: Command) -> Result<(u16, Value), Failure> {
    let publisher = PublisherId::parse("acme").unwrap();
    let context = Context {
        now_ms,
        random: &|| Ok([random; 32]),
        mac: &|| Ok(MacKeys::parse(SETTING, &"ab".repeat(32)).unwrap()),
        publisher: &publisher,
    };
    match handle(db, &context, command)? {
        Reply::Operator(reply) => {
            let body = if reply.body.is_empty() { Value::Null } else { serde_json::from_str(&reply.body).unwrap() };
            Ok((reply.status, body))
        }
        other => panic!("{other:?}"),
    }
}

fn create(db: &Sqlite, random: u8) -> (String, String) {
    let body = r#"{"label":"warehouse"}"#.into();
    let (status, body) = send(db, 5_000, random, Command::CreateKey(CreateKey { body, by: None })).unwrap();
    assert_eq!((status, body["scope"].as_str()), (201, Some("ia-reporting.READ")));
    (body["key_id"].as_str().unwrap().into(), body["api_key"].as_str().unwrap().into())
}

#[test]
fn a_key_is_shown_once_listed_without_its_secret_and_revoked_at_once() {
    let db = ledger();
    let (id, key) = create(&db, 1);
    assert!(key.starts_with("sk_acme_"), "{key}");
    assert_eq!(admit(&db, 10_000, &key).unwrap(), Admission::Accepted);
    let (_, listed) = send(&db, 10_000, 0, Command::ListKeys(ListKeys {})).unwrap();
    assert_eq!(
        listed["report_keys"][0],
        serde_json::json!({"key_id": id, "label": "warehouse", "scope": "ia-reporting.READ", "created_at": 5,
            "last_used_at": 10, "created_by": {"member_id": null, "name": "the operator"}})
    );
    let find = || {
        let hash = Bytes(credentials::hash(&key).to_vec());
        send(&db, 0, 0, Command::FindKey(FindKey { hash })).unwrap().1
    };
    assert_eq!(find(), serde_json::json!({"key_id": id, "label": "warehouse"}));
    let stored = format!("{:?}", super::super::dump(&db, "report_keys"));
    assert!(!stored.contains(&key), "{stored}");
    assert_eq!(send(&db, 0, 0, Command::RevokeKey(RevokeKey { key_id: id.clone() })).unwrap().0, 204);
    assert_eq!(find(), serde_json::json!({"key_id": null, "label": null}));
    for _ in 0..2 {
        let refused = admit(&db, 20_000, &key).unwrap_err();
        assert!(matches!(refused, Failure::Refused(refusal) if refusal.code == "invalid_api_key"));
    }
    let gone = send(&db, 0, 0, Command::RevokeKey(RevokeKey { key_id: id })).unwrap_err();
    assert!(matches!(gone, Failure::Refused(refusal) if refusal.status == 404));
}

#[test]
fn a_key_names_the_member_who_created_it() {
    let db = ledger();
    let member = MemberId([0xAB; 8]);
    let create =
        CreateKey { body: r#"{"label":"warehouse"}"#.into(), by: Some(KeyCreator { member, name: "Ada".into() }) };
    send(&db, 5_000, 1, Command::CreateKey(create)).unwrap();
    let (_, listed) = send(&db, 10_000, 0, Command::ListKeys(ListKeys {})).unwrap();
    assert_eq!(listed["report_keys"][0]["created_by"], serde_json::json!({ "member_id": member, "name": "Ada" }));
}

#[test]
fn each_key_has_its_own_rate_limit_and_a_refusal_does_not_extend_the_wait() {
    let db = ledger();
    let ((_, one), (_, two)) = (create(&db, 1), create(&db, 2));
    assert_eq!(admit(&db, 10_000, &one).unwrap(), Admission::Accepted);
    assert_eq!(admit(&db, 10_001, &two).unwrap(), Admission::Accepted);
    for at_ms in [10_500, 11_999] {
        assert!(matches!(admit(&db, at_ms, &one).unwrap(), Admission::Wait(_)));
    }
    assert_eq!(admit(&db, 12_000, &one).unwrap(), Admission::Accepted);
}

#[test]
fn a_key_needs_a_label_and_a_publisher_has_at_most_100_keys() {
    let db = ledger();
    for (body, code) in [("{}", "missing_field"), (r#"{"label":""}"#, "invalid_field"), ("[]", "invalid_json")] {
        let refused = send(&db, 0, 0, Command::CreateKey(CreateKey { body: body.into(), by: None })).unwrap_err();
        assert!(matches!(&refused, Failure::Refused(refusal) if refusal.code == code), "{body}: {refused:?}");
    }
    (0..100).for_each(|n| drop(create(&db, n)));
    let body = r#"{"label":"one more"}"#.into();
    let refused = send(&db, 0, 200, Command::CreateKey(CreateKey { body, by: None })).unwrap_err();
    assert!(matches!(refused, Failure::Refused(refusal) if refusal.status == 409));
}
