//! `GET /v1/operator/callbacks`: the state of the callback endpoints of all apps.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    faults::inject_faults,
    harness::{Behaviour, Receiver, Setup, callback, eventually_within, timed},
};

/// The longest that a page may take while outboxes hang, on a busy machine: they are waited for in parallel, for 2 s.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn one_list_shows_the_callback_state_of_every_app() {
    let (healthy, failing) = (Receiver::start(), Receiver::start());
    let signpost = Setup::new().config("faults.capnp").var("CALLBACK_SCHEDULE", "0,60").start();
    let walls = [
        signpost.unpublished_offer_wall("seen-a", "70000003", Some(&healthy)),
        signpost.unpublished_offer_wall("seen-b", "70000004", Some(&failing)),
        signpost.unpublished_offer_wall("seen-c", "70000005", None),
    ];
    failing.set(Behaviour::status(410));
    for wall in &walls {
        wall.pay("u-1");
    }
    let page = |query: &str| -> Value {
        let path = format!("callbacks?{query}");
        signpost.operator("GET", &path, None).expect(200).json()
    };
    let states = || -> Vec<(String, String)> {
        let page = page("");
        let text = |entry: &Value, member: &str| entry[member].as_str().expect("a text").to_owned();
        page["callbacks"]
            .as_array()
            .expect("callbacks")
            .iter()
            .map(|entry| (text(entry, "app_id"), text(entry, "state")))
            .collect()
    };
    let expected =
        |a: &str, b: &str| vec![("70000003".to_owned(), a.to_owned()), ("70000004".to_owned(), b.to_owned())];
    eventually_within(10_000, &expected("healthy", "disabled"), states);
    let first = page("limit=1");
    assert_eq!(first["cursor"], "70000003");
    let entry = &first["callbacks"][0];
    assert_eq!(
        *entry,
        json!({"app_id": "70000003", "publisher_id": "seen-a", "state": "healthy", "consecutive_failures": 0,
            "next_try_ts": null, "waiting": 0, "dead": 0, "reserving": 0})
    );
    assert_eq!(page("limit=2&cursor=70000003")["callbacks"][0]["waiting"], 1);
    signpost.operator("GET", "callbacks?limit=101", None).expect_error(400, "invalid_field");
    inject_faults(&signpost, "outboxes");
    assert_eq!(states(), expected("unknown", "unknown"));
    inject_faults(&signpost, "");
    walls[1].put_app(&json!({"callback": callback(&format!("{}/cb", healthy.base()), "GET")}));
    eventually_within(10_000, &expected("healthy", "healthy"), states);
}

#[test]
fn hanging_outboxes_are_listed_as_unknown_within_a_time_limit() {
    let signpost = Setup::new().config("faults.capnp").start();
    let receiver = Receiver::start();
    let apps = ["70000006", "70000007"];
    for app in apps {
        signpost.offer_wall("hanging", app, Some(&receiver)).pay("u-1");
    }
    inject_faults(&signpost, "outboxes-hangs");
    let (answer, took) = timed(|| signpost.operator("GET", "callbacks", None));
    let unknown = apps.map(|app| json!({"app_id": app, "publisher_id": "hanging", "state": "unknown"}));
    assert_eq!(answer.expect(200).json(), json!({"callbacks": unknown, "cursor": null}));
    assert!(took < SOON, "{took:?}");
}
