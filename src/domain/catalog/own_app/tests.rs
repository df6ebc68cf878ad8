use serde_json::{Value, json};

use super::*;
use crate::model::ApiError;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn app(callback: bool) -> App {
    let mut app = json!({
        "publisher_id": "lumen-arcade",
        "name": "Lumen",
        "platform": "ios",
        "currency": { "name": "Coins", "per_usd": 100, "decimals": 0 },
        "fallback_url": "https://lumen.example/more",
    });
    if callback {
        app["callback"] = json!({
            "url": "https://lumen.example:8443/cb?user={user_id}&coins={value}",
            "method": "GET",
            "secret": SECRET,
            "legacy_md5": { "secret": "old" },
        });
    }
    App::from_json(&app.to_string()).unwrap()
}

fn change(app: &App, body: &Value) -> Result<App, String> {
    change_of("10000001", app, body)
}

fn change_of(app_id: &str, app: &App, body: &Value) -> Result<App, String> {
    let mut changed = app.clone();
    let change = AppChange::from_json(&body.to_string()).map_err(|error| error.message.to_string())?;
    change
        .apply(AppId::parse(app_id).unwrap(), &mut changed, NEW_SECRET.into())
        .map(|()| changed)
        .map_err(|error| ApiError::from(error).message.into_owned())
}

#[test]
fn fields_that_a_change_does_not_name_stay() {
    let before = app(true);
    let after = change(&before, &json!({ "name": "Lumen 2" })).unwrap();
    let expected = App { name: "Lumen 2".into(), ..before.clone() };
    assert_eq!(after, expected);
    let callback = json!({ "url": "https://lumen.example:8443/new", "method": "GET", "events": ["approved"] });
    let after = change(&before, &json!({ "callback": callback })).unwrap().callback.unwrap();
    assert_eq!(after.url, "https://lumen.example:8443/new");
    assert_eq!((after.secret.as_str(), after.legacy_md5.is_some()), (SECRET, true));
}

#[test]
fn a_url_from_before_a_rule_stays_until_its_callback_is_saved() {
    let mut before = app(true);
    let stored = "https://lumen.example/cb?user=[USER_ID]&coins={value}";
    before.callback.as_mut().unwrap().url = stored.into();
    let after = change(&before, &json!({ "name": "Lumen 2", "fallback_url": null })).unwrap();
    assert_eq!(after.callback.unwrap().url, stored);
    let same = json!({ "callback": { "url": stored, "method": "GET", "events": ["approved"] } });
    let refused = change(&before, &same).unwrap_err();
    assert!(refused.ends_with("write {user_id} instead of [USER_ID]"), "{refused}");
}

#[test]
fn null_removes_and_a_first_callback_has_a_new_secret() {
    let after = change(&app(true), &json!({ "callback": null, "fallback_url": null })).unwrap();
    assert_eq!((&after.callback, &after.fallback_url), (&None, &None));
    let callback = json!({ "url": "https://lumen.example/cb", "method": "POST", "events": ["approved", "reversed"] });
    let after = change(&app(false), &json!({ "callback": callback })).unwrap();
    assert_eq!(after.callback.unwrap().secret, NEW_SECRET);
}

#[test]
fn a_test_app_may_call_any_port_of_its_own_machine_and_of_no_other() {
    for (app_id, host, is_taken) in [
        ("99000001", "localhost", true),
        ("99000001", "127.0.0.1", true),
        ("99000001", "[::1]", true),
        ("99000001", "x.example", false),
        ("99000001", "127.0.0.1.example", false),
        ("10000001", "localhost", false),
    ] {
        let url = format!("http://{host}:9000/cb");
        let callback = json!({ "url": url, "method": "POST", "events": ["approved"] });
        let changed = change_of(app_id, &app(false), &json!({ "callback": callback }));
        assert_eq!(changed.is_ok(), is_taken, "{app_id} {host}: {changed:?}");
    }
}

#[test]
fn a_member_cannot_set_the_fields_of_the_operator() {
    for (body, problem) in [
        (json!({}), "body: must have at least one field to change"),
        (json!({ "publisher_id": "other" }), "publisher_id"),
        (json!({ "outbox_shards": 8 }), "outbox_shards"),
        (json!({ "terms_since": 1 }), "terms_since"),
        (json!({ "click_secret": "a".repeat(40) }), "click_secret"),
        (
            json!({ "callback": { "url": "https://x.example/", "method": "GET", "events": ["approved"], "secret": SECRET } }),
            "secret",
        ),
        (
            json!({ "callback": { "url": "https://x.example:8444/", "method": "GET", "events": ["approved"] } }),
            "callback.url: must be on port 443",
        ),
        (
            json!({ "callback": { "url": "https://x.example/?a={nothing}", "method": "GET", "events": ["approved"] } }),
            "callback.url",
        ),
        (
            json!({ "callback": { "url": "https://x.example/", "method": "GET", "events": [] } }),
            "callback.events: must not be empty",
        ),
        (json!({ "fallback_url": "https://other.example/" }), "other.example is new for this app"),
        (json!({ "fallback_url": "ftp://lumen.example/" }), "fallback_url: must be an http or https URL"),
        (json!({ "name": " " }), "name: must not be empty"),
        (json!({ "name": null, "currency": null }), "body: must have at least one field to change"),
    ] {
        let refused = change(&app(true), &body).unwrap_err();
        assert!(refused.contains(problem), "{body}: {refused}");
    }
}

#[test]
fn a_previous_secret_signs_until_it_is_ended() {
    let mut callback = app(true).callback.unwrap();
    renew_callback_secret(&mut callback, NEW_SECRET.into());
    assert_eq!(callback.previous_secret.as_deref(), Some(SECRET));
    renew_callback_secret(&mut callback, format!("{NEW_SECRET}AAAA"));
    assert_eq!(callback.previous_secret.as_deref(), Some(SECRET));
    assert_eq!(callback.secret, format!("{NEW_SECRET}AAAA"));

    let secret = |letter: &str| ClickSecret(letter.repeat(40));
    let mut app = app(true);
    renew_click_secret(&mut app, secret("a"));
    assert_eq!(app.previous_click_secret, None);
    renew_click_secret(&mut app, secret("b"));
    renew_click_secret(&mut app, secret("c"));
    assert_eq!((app.click_secret, app.previous_click_secret), (Some(secret("c")), Some(secret("a"))));
}

#[test]
fn the_operator_allows_ports_and_hosts_once() {
    let before = App { callback_ports: vec![9443], fallback_hosts: vec!["other.example".into()], ..app(true) };
    let body = json!({
        "callback": { "url": "https://x.example:9443/", "method": "GET", "events": ["approved"] },
        "fallback_url": "https://other.example/more",
    });
    let after = change(&before, &body).unwrap();
    assert_eq!(after.fallback_url.as_deref(), Some("https://other.example/more"));
}
