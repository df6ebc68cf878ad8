//! A real callback is as `webhooks` of `openapi.yaml` says: its query or body, and its headers.

use serde_json::{Map, Value, json};

use crate::harness::{Received, Receiver, callback, demo, document, resolved, schema};

/// The headers of any HTTP request.
const OF_HTTP: [&str; 6] = ["accept", "accept-encoding", "connection", "content-length", "content-type", "host"];

#[track_caller]
fn assert_valid(document: &Value, at: &str, instance: &Value) {
    let problems: Vec<_> = schema(document, at).iter_errors(instance).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{instance}: {problems:?}");
}

/// Checks what a request has of one kind, `query` or `header`, by the operation's parameters of that kind.
#[track_caller]
fn check(document: &Value, method: &str, kind: &str, mut sent: Map<String, Value>) {
    let at = format!("/webhooks/callback/{method}");
    let parameters = document.pointer(&at).unwrap()["parameters"].as_array().unwrap().len();
    for number in 0..parameters {
        let (at, parameter) = resolved(document, &format!("{at}/parameters/{number}"));
        if parameter["in"] != kind {
            continue;
        }
        let name = parameter["name"].as_str().unwrap().to_lowercase();
        let Some(text) = sent.remove(&name) else {
            assert_ne!(parameter["required"], true, "{name} is missing in {sent:?}");
            continue;
        };
        let (_, described) = resolved(document, &format!("{at}/schema"));
        let is_number = ["integer", "number"].iter().any(|kind| described["type"] == *kind);
        let value = if is_number { serde_json::from_str(text.as_str().unwrap()).unwrap() } else { text };
        assert_valid(document, &format!("{at}/schema"), &value);
    }
    sent.retain(|name, _| kind == "query" || !OF_HTTP.contains(&name.as_str()));
    assert!(sent.is_empty(), "not documented: {sent:?}");
}

#[track_caller]
fn check_received(document: &Value, received: &Received) {
    let method = received.method.to_lowercase();
    let headers = received.headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str().to_owned(), json!(value.to_str().unwrap()))).collect();
    check(document, &method, "header", headers);
    let query = received.pairs().into_iter().filter(|(name, _)| !name.is_empty());
    let query = query.map(|(name, _)| (name.to_owned(), json!(received.parameter(name).unwrap()))).collect();
    check(document, &method, "query", query);
    if method == "post" {
        let body: Value = serde_json::from_str(&received.body).unwrap();
        assert_valid(document, "/webhooks/callback/post/requestBody/content/application~1json/schema", &body);
    }
}

#[test]
fn each_event_is_as_the_documents_webhook_says_by_get_and_by_post() {
    let document = document();
    let signpost = demo();
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let receiver = Receiver::start();
        let mut settings = callback(&format!("{}/cb", receiver.base()), method);
        settings["events"] = json!(["approved", "reversed", "pending", "rejected"]);
        let wall =
            signpost.unpublished_offer_wall(&format!("documented-{number}"), &format!("790009{number:02}"), None);
        wall.put_app(&json!({ "callback": settings }));
        signpost.refresh();
        // One is approved and reversed, another waits and is rejected.
        for (user, first, second) in [("user-1", "approved", "reversed"), ("user-2", "pending", "rejected")] {
            let click = wall.click_id(user);
            let told = receiver.count();
            wall.convert(&click, &format!("&status={first}&txn={user}")).expect(200);
            // A notice that is overtaken is not sent.
            receiver.wait(told + 1);
            wall.convert(&click, &format!("&status={second}&txn={user}")).expect(200);
            receiver.wait(told + 2);
        }
        let received = receiver.wait(4);
        for request in &received {
            check_received(&document, request);
        }
        let mut events: Vec<_> = received
            .iter()
            .map(|request| match method {
                "GET" => request.parameter("status").unwrap(),
                _ => serde_json::from_str::<Value>(&request.body).unwrap()["status"].as_str().unwrap().to_owned(),
            })
            .collect();
        events.sort();
        assert_eq!(events, ["approved", "pending", "rejected", "reversed"]);
    }
}
