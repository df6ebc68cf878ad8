//! Test apps that a key sets up.

use super::*;

#[test]
fn a_key_of_tests_does_nothing_else_and_finds_its_app_again_by_the_name() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("test-keys", "79000973", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let key = publisher.create_key_for("ia-test.WRITE", "ci").api_key;
    let first = put(&signpost, &key, &request("ci", &receiver)).expect(201).json();
    let again = put(&signpost, &key, &request("ci", &receiver)).expect(201).json();
    assert_eq!(first["app_id"], again["app_id"]);
    assert_ne!(first["callback_secret"], again["callback_secret"]);
    let other = put(&signpost, &key, &request("nightly", &receiver)).expect(201).json();
    assert_ne!(first["app_id"], other["app_id"]);
    let headers = [("X-Api-Key", key.as_str()), ("Content-Type", "application/json")];
    for path in ["/v1/core/users/export", "/v1/core/users/erase"] {
        let sent = signpost.send("POST", path, &headers, br#"{"user_id":"u"}"#);
        sent.expect_error(403, "insufficient_scope");
    }
    signpost.send("GET", "/v1/core/rewards", &headers, &[]).expect_error(403, "insufficient_scope");
    let report = json!({"start": "2026-01-01", "end": "2026-01-01"});
    signpost.report_with(&key, report.to_string().as_bytes()).expect_error(401, "invalid_api_key");
    let reporting = publisher.create_key("reports").api_key;
    put(&signpost, &reporting, &request("ci", &receiver)).expect_error(403, "insufficient_scope");
    // The repeated request has set up no third test app.
    let owner = dashboard::signed_in(&signpost, &publisher, "owner");
    let apps = owner.get("apps").expect(200).json();
    let tests = apps["apps"].as_array().unwrap().iter().filter(|app| app["test"] == true).count();
    assert_eq!(tests, 2);
}

/// Each run of a pipeline has a receiver of its own.
#[test]
fn an_app_that_is_set_up_again_calls_the_new_receiver_with_the_new_secret_at_once() {
    let signpost = demo();
    let receivers = [Receiver::start(), Receiver::start()];
    let wall = signpost.offer_wall("test-again", "79000976", None);
    let pub_key = signpost.issue_pub_key(&wall.id);
    let goal = "signpost-test-one-goal-1";
    for receiver in &receivers {
        let app = TestApp::named(&wall, receiver, "ci", &pub_key);
        signpost.refresh();
        let click = app.click(goal, "tester");
        app.report(&click, goal, "approved").expect(200);
        let [called] = receiver.wait(1).try_into().unwrap();
        let webhook = Webhook::new(&app.secret).unwrap();
        webhook.verify(called.body.as_bytes(), &called.headers).unwrap();
    }
    assert_eq!(receivers.each_ref().map(Receiver::count), [1, 1]);
}
