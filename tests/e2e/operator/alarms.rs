//! Alarms on workerd: a publisher and the operator hear of a failing receiver, even after a kill, and a misbehaving
//! address delays no callback.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    process::{Child, Command},
    sync::mpsc::{self, Receiver as Inbox},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    dashboard::signed_in,
    harness::{Behaviour, Received, Receiver, Setup, eventually, root},
};

/// How long an alarm may take after its cause, in milliseconds.
const WITHIN_MS: i64 = 60_000;

fn body(received: &Received) -> Value {
    serde_json::from_str(&received.body).expect("JSON")
}

/// The alarms of a type among the messages, a digest's entries too.
fn alarms(messages: &[Received], kind: &str) -> Vec<Value> {
    let of = |received: &Received| match body(received)["data"]["alarms"].as_array() {
        Some(alarms) => alarms.clone(),
        None => vec![body(received)["data"].clone()],
    };
    let all = messages.iter().flat_map(of);
    all.filter(|alarm| alarm["type"] == kind).collect()
}

/// The first alarm of a type, as soon as the address has it.
#[track_caller]
fn first(address: &Receiver, kind: &str) -> Value {
    let came = address.wait_until(WITHIN_MS, |messages| !alarms(messages, kind).is_empty());
    assert!(came, "no {kind} in {:?}", address.received());
    alarms(&address.received(), kind).remove(0)
}

fn verifies(received: &Received, secret: &str) -> bool {
    let webhook = Webhook::new(secret).expect("a secret");
    webhook.verify(received.body.as_bytes(), &received.headers).is_ok()
}

#[test]
fn a_failing_receiver_is_told_to_the_publisher_and_the_operator_also_after_a_kill() {
    let signpost = Setup::new().var("CALLBACK_SCHEDULE", "0,1,1,1,1,1").start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("alarm-wall", "79000881", Some(&receiver));
    let publisher = signpost.existing_publisher(&wall.id);
    let owner = signed_in(&signpost, &publisher, "owner");
    let (own, operators) = (Receiver::start(), Receiver::start());
    let url = |address: &Receiver| json!({ "url": format!("{}/hook?key=0123456789abcdef", address.base()) });

    // Without an address there is nothing to test, and a wrong one is refused.
    assert_eq!(owner.get("alarms").expect(200).json(), json!({ "address": null }));
    owner.post("alarms/test", &json!({})).expect_error(409, "no_address");
    for wrong in ["nonsense", "ftp://x.example/", "https://x.example/{user_id}"] {
        let body = json!({ "url": wrong });
        owner.send("PUT", "/v1/dashboard/alarms", Some(&body)).expect_error(400, "invalid_field");
    }
    let set = owner.send("PUT", "/v1/dashboard/alarms", Some(&url(&own))).expect(200);
    let secret = set.json()["secret"].as_str().expect("a secret").to_owned();
    signpost.operator("PUT", "alarms", Some(&url(&operators))).expect(200);
    thread::sleep(Duration::from_secs(5));
    let tested = owner.post("alarms/test", &json!({})).expect(200).json();
    assert_eq!(tested["http_status"], 200, "{tested}");
    let test = &own.received()[0];
    assert!(test.header("webhook-id").starts_with("test-"), "{test:?}");
    assert!(verifies(test, &secret), "{test:?}");
    let shown = owner.get("alarms").expect(200).json();
    assert_eq!(shown["address"]["url"], format!("{}/hook?key=********", own.base()));
    assert_eq!(shown["address"]["last_try"]["http_status"], 200);

    // The receiver fails. The address of the operator hangs, and workerd is killed meanwhile.
    receiver.set(Behaviour::status(500));
    operators.set(Behaviour::Hang);
    let paid = wall.pay("user-1");
    first(&own, "endpoint.failing");
    assert!(operators.wait_until(WITHIN_MS, |requests| !requests.is_empty()));
    signpost.restart_after(|| {});
    operators.set(Behaviour::status(204));
    for (address, publisher_id) in [(&own, Value::Null), (&operators, json!("alarm-wall"))] {
        let given_up = first(address, "reward.given_up");
        let failing = first(address, "endpoint.failing");
        assert_eq!((&failing["subject"], &failing["publisher_id"]), (&json!("79000881"), &publisher_id));
        assert!(failing["page"].as_str().is_some_and(|page| page.ends_with("/apps/79000881")), "{failing}");
        assert_eq!(given_up["count"], 1, "{given_up}");
        // A repeat has the id of the first attempt.
        let mut by_body = BTreeMap::new();
        for received in address.received() {
            let id = received.header("webhook-id").to_owned();
            assert_eq!(by_body.entry(received.body.clone()).or_insert_with(|| id.clone()), &id);
        }
    }
    assert!(own.received().iter().all(|received| verifies(received, &secret)));

    // It recovers, and the reward is paid after all.
    receiver.set(Behaviour::status(200));
    wall.replay(&paid).expect(200);
    first(&own, "endpoint.recovered");
    assert!(receiver.transactions()[&paid] > 0);

    owner.send("DELETE", "/v1/dashboard/alarms", None).expect(204);
    assert_eq!(owner.get("alarms").expect(200).json(), json!({ "address": null }));
    signpost.operator("DELETE", "alarms", None).expect(204);
    assert_eq!(signpost.operator("GET", "alarms", None).expect(200).json(), json!({ "address": null }));
    let audit = owner.get("audit").expect(200).json();
    let actions: Vec<_> = audit["entries"].as_array().expect("rows").iter().map(|row| row["action"].clone()).collect();
    for action in ["alarm_address_set", "alarms_tested", "alarm_address_ended"] {
        assert!(actions.contains(&json!(action)), "{actions:?}");
    }
    for wrong in [json!({}), json!({ "url": 1 }), json!({ "url": "https://x.example", "secret": "s" })] {
        let refused = signpost.operator("PUT", "alarms", Some(&wrong));
        assert_eq!(refused.status, 400, "{refused:?}");
    }
}

#[test]
fn the_operator_hears_of_publishers_that_wait_and_of_caps_also_after_a_kill() {
    let signpost = Setup::new().start();
    let address = Receiver::start();
    signpost.operator("PUT", "alarms", Some(&json!({ "url": address.base() }))).expect(200);
    let wall = signpost.unpublished_offer_wall("alarm-cap", "79000882", None);
    wall.put_offer(&json!({ "conversion_cap": { "dur": "DAILY", "lim": 5 } }));
    signpost.refresh();
    for user in ["u-1", "u-2", "u-3"] {
        wall.pay(user);
    }
    let waiting = json!({ "name": "Waiting", "approved": false });
    signpost.put("publishers/alarm-waits", &waiting);
    wall.pay("u-4");
    signpost.restart();
    let told = first(&address, "publisher.waiting");
    assert_eq!((&told["subject"], &told["publisher_id"]), (&json!("alarm-waits"), &json!("alarm-waits")));
    let near = first(&address, "conversion_cap.near");
    assert_eq!(near["subject"], wall.id);
    wall.pay("u-5");
    assert_eq!(first(&address, "conversion_cap.spent")["subject"], wall.id);
    for kind in ["publisher.waiting", "conversion_cap.near", "conversion_cap.spent"] {
        let ids: std::collections::BTreeSet<_> = address
            .received()
            .iter()
            .filter(|received| !alarms(std::slice::from_ref(received), kind).is_empty())
            .map(|received| received.header("webhook-id").to_owned())
            .collect();
        assert_eq!(ids.len(), 1, "{kind}: {ids:?}");
    }
}

/// A mail server that takes one mail.
fn mailbox() -> (u16, Inbox<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (mails, inbox) = mpsc::channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let say = |answer: &str| write!(&stream, "{answer}\r\n").expect("a client");
        say("220 mailbox");
        while let Some(Ok(command)) = lines.next() {
            if command.eq_ignore_ascii_case("QUIT") {
                return say("221 bye");
            }
            if !command.eq_ignore_ascii_case("DATA") {
                say("250 ok");
                continue;
            }
            say("354 go on");
            let mail: Vec<_> =
                lines.by_ref().map(|line| line.expect("a line")).take_while(|line| line != ".").collect();
            mails.send(mail.join("\n")).expect("the test waits");
            say("250 ok");
        }
    });
    (port, inbox)
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_relay_of_the_recipes_sends_alarms_to_a_chat_and_by_mail() {
    let signpost = Setup::new().start();
    let (chat, (smtp, inbox)) = (Receiver::start(), mailbox());
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let url = json!({ "url": format!("http://127.0.0.1:{port}/") });
    let set = signpost.operator("PUT", "alarms", Some(&url)).expect(200).json();
    let _relay = Running(
        Command::new("python3")
            .arg(root().join("fixtures/recipes/relay_alarms.py"))
            .env("PYTHONPATH", root().join("clients/python/src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("SECRET", set["secret"].as_str().expect("a secret"))
            .env("PORT", port.to_string())
            .env("CHAT_URL", chat.base())
            .env("SMTP_HOST", format!("127.0.0.1:{smtp}"))
            .env("MAIL_FROM", "signpost@example.com")
            .env("MAIL_TO", "on-call@example.com")
            .spawn()
            .expect("python3"),
    );
    eventually(&json!(204), || {
        let tested = signpost.operator("POST", "alarms/test", Some(&json!({})));
        tested.expect(200).json()["http_status"].clone()
    });
    let text = "This is a test. Alarms will come to this address.";
    let said = body(&chat.received()[0]);
    assert!(said["text"].as_str().is_some_and(|said| said.starts_with(text)), "{said}");
    let mail = inbox.recv_timeout(Duration::from_secs(5)).expect("a mail");
    assert!(mail.starts_with(&format!("Subject: Signpost\n\n{text}")), "{mail}");
    // Anybody else is refused.
    let forged = signpost.try_send("POST", &format!("http://127.0.0.1:{port}/"), &[], b"{}");
    assert!(forged.is_err(), "{forged:?}");
    assert_eq!(chat.received().len(), 1);
}
