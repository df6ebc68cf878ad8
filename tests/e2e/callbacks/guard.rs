//! Forbidden callback URLs: refused when they are configured, and checked again when a callback is sent.

use serde_json::json;

use crate::harness::{Answer, OfferWall, Receiver, Setup, callback, demo};

fn put(wall: &OfferWall<'_>, url: &str, method: &str) -> Answer {
    wall.try_put_app(&json!({ "callback": callback(url, method) }))
}

#[track_caller]
fn is_refused(wall: &OfferWall<'_>, url: &str, method: &str) {
    let answer = put(wall, url, method);
    assert_eq!(answer.status, 400, "{url}: {answer:?}");
    let answer = answer.expect_error(400, "invalid_field");
    let message = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(message.starts_with("callback.url: "), "{url}: {message}");
}

#[test]
fn in_production_callbacks_go_only_to_the_public_internet_over_https() {
    let signpost = Setup::new().var("ALLOW_PRIVATE_CALLBACKS", "false").start();
    let wall = signpost.offer_wall("cb-guard", "79000271", None);
    for url in [
        "http://publisher.example/cb",
        "ftp://publisher.example/cb",
        "https:publisher.example/cb",
        "https://user:password@publisher.example/cb",
        "https://@publisher.example/cb",
        "https://localhost/cb",
        "https://localhost:8443/cb",
        "https://api.localhost/cb",
        "https://printer.local/cb",
        "https://metadata.google.internal/computeMetadata/v1/",
        "https://intranet/cb",
        "https://127.0.0.1/cb",
        "https://127.1/cb",
        "https://2130706433/cb",
        "https://0x7f000001/cb",
        "https://0177.0.0.1/cb",
        "https://0/cb",
        "https://10.0.0.1/cb",
        "https://172.16.3.4/cb",
        "https://192.168.1.1/cb",
        "https://100.64.0.1/cb",
        "https://169.254.169.254/latest/meta-data/",
        "https://0xa9fea9fe/latest/meta-data/",
        "https://224.0.0.1/cb",
        "https://[::1]/cb",
        "https://[::]/cb",
        "https://[::ffff:127.0.0.1]/cb",
        "https://[::ffff:7f00:1]/cb",
        "https://[fe80::1]/cb",
        "https://[fe80::1%25eth0]/cb",
        "https://[fd00::1]/cb",
        "https://[64:ff9b::7f00:1]/cb",
        "https://１２７.0.0.1/cb",
        "https://%31%32%37.0.0.1/cb",
        "https://publisher.example:22/cb",
        "https://publisher.example:6667/cb",
        // Signpost's own host, in any spelling.
        "https://t.signpost.example/v2/tracking/conversion",
        "https://T.Signpost.Example./cb",
        "https://{user_id}.publisher.example/cb",
    ] {
        is_refused(&wall, url, "GET");
        assert_eq!(wall.endpoint()["state"], "none", "{url}");
    }
    for url in [
        "https://publisher.example/cb",
        "https://publisher.example:8443/cb?user={user_id}&t={transaction_id}&v={value}",
        "https://münchen.example/cb",
        "https://1.1.1.1/cb",
        "https://[2606:4700:4700::1111]/cb",
    ] {
        put(&wall, url, "GET").expect(200);
    }
    // An import has the same rules.
    let line = json!({
        "kind": "app", "id": "79000271", "publisher_id": "cb-guard", "name": "Imported", "platform": "android",
        "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
        "callback": callback("https://10.0.0.1/cb", "GET")
    });
    signpost.import(&line.to_string()).expect(400);
}

#[test]
fn a_local_run_allows_loopback_but_not_every_address() {
    let signpost = demo();
    let wall = signpost.offer_wall("cb-guard-local", "79000272", None);
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/cb",
        "http://printer.local/cb",
        "http://user:password@127.0.0.1:9000/cb",
        "http://127.0.0.1:25/cb",
        "file:///etc/passwd",
        "http://127.0.0.1:9000/cb?signature=mine",
        "http://127.0.0.1:9000/cb?x={unknown}",
        // Three tries would look like three rewards, or a reversal like a reward.
        "http://127.0.0.1:9000/cb?uid={user_id}&coins={value}",
        "http://127.0.0.1:9000/cb?uid={user_id}&tx={transaction_id}",
        "http://127.0.0.1:9000/cb?x={user_id",
    ] {
        is_refused(&wall, url, "GET");
    }
    // Only the URL of a GET may contain macros.
    is_refused(&wall, "http://127.0.0.1:9000/cb?x={user_id}", "POST");
    is_refused(&wall, "http://127.0.0.1:9000/{app_id}", "POST");
    put(&wall, "http://localhost:9000/cb?x={user_id}&t={transaction_id}&s={status}", "GET").expect(200);
    put(&wall, "http://127.0.0.1:9000/cb?x=1", "POST").expect(200);
}

#[test]
fn a_callback_url_is_checked_again_before_each_request() {
    let mut signpost = Setup::new().var("CALLBACK_SCHEDULE", "0,1").start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-guard-later", "79000273", Some(&receiver));
    let before = wall.pay("u-1");
    let OfferWall { terms, .. } = wall;
    receiver.wait(1);
    signpost.restart_with("ALLOW_PRIVATE_CALLBACKS", "false");
    let wall = OfferWall {
        signpost: &signpost,
        app: "79000273".to_owned(),
        id: "cb-guard-later".to_owned(),
        token: String::new(),
        token_id: String::new(),
        terms,
        shards: 8,
    };
    let (token_id, token) = wall.issue_token();
    let wall = OfferWall { token, token_id, ..wall };
    let id = wall.pay("u-2");
    wall.replay(&before).expect(200);
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(receiver.count(), 1, "it was called: {:?}", receiver.received());
    assert_ne!(wall.state(&id), "delivered");
    let test = wall.operator("POST", "callback_test", None);
    assert_eq!(receiver.count(), 1, "it was called: {test:?}");
}
