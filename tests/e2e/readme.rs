//! Runs the README and the documents as a new user would: `make run`, every command pasted, every answer as printed.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::{PUBLISHER, away_from_midnight, eventually, root};
use contract::rewards::{RewardDelivery, RewardState};

/// The documents with commands. `docs/OPERATING.md` is the first: it reads an advertiser that has no token yet, and
/// `docs/INTEGRATING.md` gives it one.
const DOCUMENTS: [&str; 3] = ["docs/OPERATING.md", "docs/INTEGRATING.md", "README.md"];

/// A document's blocks of code: language and text.
fn blocks(document: &str) -> Vec<(String, String)> {
    let document = std::fs::read_to_string(root().join(document)).unwrap();
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language.to_owned(), text.join("\n")));
        }
    }
    blocks
}

/// Whether an answer is as shown, where `…` stands for anything.
fn is_as_shown(answer: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = answer.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// `make run`, which ends with the test even if the test fails.
struct Make(Child);

impl Make {
    /// Waits until Signpost answers, and returns the invite from the line for the dashboard.
    fn run(port: u16, state: &Path) -> (Self, String) {
        let make = Command::new("make")
            .args(["run", &format!("PORT={port}"), &format!("STATE={}", state.display())])
            .current_dir(root())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut make = Self(make);
        let mut told = BufReader::new(make.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let started = told.find(|line| line.starts_with("Signpost is at "));
        let started = started.expect("make run starts");
        assert!(started.contains(&format!("http://localhost:{port}")), "{started}");
        let link = format!("dashboard  http://localhost:{port}/dashboard#invite=");
        let invite = told.find_map(|line| line.strip_prefix(&link).map(str::to_owned));
        (make, invite.expect("an invite is printed"))
    }
}

/// Posts to the dashboard as its page does.
fn post(port: u16, path: &str, cookie: &str, body: &Value) -> ureq::http::Response<ureq::Body> {
    let origin = format!("http://localhost:{port}");
    ureq::post(format!("{origin}/v1/dashboard/{path}"))
        .config()
        .http_status_as_error(false)
        .build()
        .header("Origin", origin)
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/json")
        .header("Cookie", cookie)
        .header("X-Publisher", PUBLISHER)
        .send(body.to_string())
        .unwrap()
}

/// Signs in as the page does, with the text of an invite, which works once. Returns the session's cookie.
fn accept(port: u16, invite: &str) -> String {
    let sign_in = || post(port, "sign_in", "", &json!({ "invite": invite }));
    let signed_in = sign_in();
    assert_eq!(signed_in.status(), 204);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap();
    let (cookie, _) = cookie.split_once(';').unwrap();
    assert_eq!(sign_in().status(), 404);
    cookie.to_owned()
}

impl Drop for Make {
    fn drop(&mut self) {
        // SIGTERM, which `make` passes on; SIGKILL would leave workerd behind.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// Times of updates are of the moment the catalog was loaded.
fn without_times(mut value: Value) -> Value {
    for offer in value["offers"].as_array_mut().into_iter().flatten() {
        offer["upd_ts"].take();
    }
    value
}

/// Puts the documents of an example, each after a comment `// PUT path`; `…` is left to the reader.
fn put_examples(text: &str, base: &str) {
    let text = text
        .replace("whsec_…", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .replace("cs_…", "a-click-secret-of-thirty-two-or-more")
        .replace("https://…", "https://x.example/");
    let documents: Vec<_> = text.split("// PUT ").skip(1).collect();
    assert_eq!(documents.len(), 2);
    for document in documents {
        let (head, body) = document.split_once('\n').unwrap();
        let path = head.split([' ', ',']).next().unwrap();
        // A comment begins after a space; the slashes of a URL do not.
        let body: String = body.lines().filter_map(|line| line.split(" //").next()).collect();
        let put = Command::new("curl")
            .args(["-sS", "--fail-with-body", "-X", "PUT", "-H", "Content-Type: application/json"])
            .args(["-H", "Authorization: Bearer local-operator-token", "-d", &body, &format!("{base}{path}")])
            .output()
            .unwrap();
        assert!(put.status.success(), "{path} {body}\n{put:?}");
    }
}

/// The demo has conversions and callbacks in every state, so that the operator's lists have something to show.
fn check_demo_rewards(port: u16) {
    let list = |app: &str| -> Vec<Value> {
        let url = format!("http://127.0.0.1:{port}/v1/operator/apps/{app}/conversions?limit=1000");
        let mut answer = ureq::get(url).header("Authorization", "Bearer local-operator-token").call().unwrap();
        let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        page["conversions"].as_array().unwrap().clone()
    };
    let entries = [list("10000002"), list("10000003")].concat();
    let values = |member: &str| -> BTreeSet<_> {
        let values = entries.iter().filter_map(|entry| entry[member].as_str());
        values.collect()
    };
    let statuses = ["approved", "held", "pending", "refused", "rejected", "reversed"];
    assert_eq!(values("status"), statuses.into());
    let states = ["dead", "delivered", "no_endpoint", "not_wanted", "refused", "waiting"];
    assert_eq!(values("state"), states.into());
    let codes = ["already_rewarded", "conversion_capped", "duplicate_txn", "too_fast", "too_many_today"];
    assert_eq!(values("code"), codes.into());
}

/// The demo has rewards, callbacks and endpoints in every state, so that each page of the dashboard has something to show.
fn check_demo_dashboard(port: u16, cookie: &str) {
    let activity = || -> Value {
        let mut answer = ureq::get(format!("http://localhost:{port}/v1/dashboard/activity"))
            .header("Sec-Fetch-Site", "same-origin")
            .header("Cookie", cookie)
            .header("X-Publisher", PUBLISHER)
            .call()
            .unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    };
    let rows = || -> Vec<Value> {
        let mut answer = post(port, "rewards", cookie, &json!({ "limit": 200 }));
        let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        page["rows"].as_array().unwrap().clone()
    };
    let texts = |values: Vec<&Value>| -> BTreeSet<String> {
        values.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    // An app without a callback, two receivers that accept callbacks, one that answered 410, and one that is down.
    let endpoints = [
        ("10000002", "none"),
        ("10000003", "healthy"),
        ("10000004", "healthy"),
        ("10000005", "disabled"),
        ("10000006", "failing"),
    ];
    let endpoints: BTreeSet<_> = endpoints.map(|(app, state)| (app.to_owned(), state.to_owned())).into();
    eventually(&endpoints, || {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let activity = activity();
        let apps = activity["apps"].as_array().unwrap().iter();
        apps.map(|app| (text(&app["app_id"]), text(&app["endpoint"]["state"]))).collect()
    });
    let states: BTreeSet<_> = RewardState::ALL.iter().map(|state| state.as_str().to_owned()).collect();
    let deliveries: BTreeSet<_> = RewardDelivery::ALL.iter().map(|delivery| delivery.as_str().to_owned()).collect();
    eventually(&(states, deliveries), || {
        let rows = rows();
        let member = |name: &str| texts(rows.iter().map(|row| &row[name]).collect());
        (member("state"), member("delivery"))
    });
    // Clicks of one app are signed, and are paid.
    let signed = BTreeSet::from(["delivered".to_owned()]);
    eventually(&signed, || {
        let rows = rows();
        let of_app = rows.iter().filter(|row| row["app_id"] == "10000004");
        texts(of_app.map(|row| &row["delivery"]).collect())
    });
    let unsigned = format!("http://localhost:{port}/v2/tracking/click?rid=606477&app=10000004&user_id=demo-signed");
    let answer =
        ureq::get(unsigned).config().http_status_as_error(false).build().header("CF-IPCountry", "US").call().unwrap();
    assert_eq!(answer.status(), 403);
}

#[test]
fn every_command_of_the_documents_answers_as_they_show() {
    // The demo's users reach a limit of a day.
    away_from_midnight();
    let state = tempfile::tempdir().unwrap();
    // The ports of Signpost and of the receiver of callbacks.
    let [port, receiver] = [(); 2]
        .map(|()| TcpListener::bind("127.0.0.1:0").unwrap())
        .map(|listener| listener.local_addr().unwrap().port());
    let (make, invite) = Make::run(port, state.path());
    let cookie = accept(port, &invite);
    for host in ["localhost", "127.0.0.1"] {
        let health = ureq::get(format!("http://{host}:{port}/healthz")).call().unwrap();
        assert_eq!(health.status(), 200, "{host}");
    }

    check_demo_rewards(port);
    check_demo_dashboard(port, &cookie);
    let documented = blocks("docs/guides/RECIPES.md").into_iter();
    for (_, text) in documented.filter(|(language, _)| language == "jsonc") {
        put_examples(&text, &format!("http://127.0.0.1:{port}"));
    }
    let mut answer = String::new();
    let mut commands = 0;
    for (language, text) in DOCUMENTS.into_iter().flat_map(blocks) {
        match language.as_str() {
            "sh" => {
                let command =
                    text.replace("localhost:8787", &format!("localhost:{port}")).replace("8790", &receiver.to_string());
                let ran = Command::new("bash")
                    .args(["-euo", "pipefail", "-c", &command])
                    .current_dir(root())
                    .output()
                    .unwrap();
                assert!(ran.status.success(), "{command}\n{ran:?}");
                answer = String::from_utf8(ran.stdout).unwrap().replace(&format!(":{port}"), ":8787");
                commands += 1;
            }
            "json" => {
                let shown: Value = serde_json::from_str(&text).unwrap();
                let answered: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
                assert_eq!(without_times(answered), without_times(shown));
            }
            "http" | "csv" | "console" => {
                let answered = answer.replace("\r\n", "\n");
                assert!(is_as_shown(answered.trim(), &text), "\n{answered}\nis not as shown:\n{text}");
            }
            _ => {}
        }
    }
    assert!(commands >= 5);

    // SIGTERM to make ends everything it started.
    let workerd_is_there = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(workerd_is_there());
    drop(make);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!workerd_is_there(), "workerd outlived make");

    let (_make, further) = Make::run(port, state.path());
    assert_ne!(further, invite);
    accept(port, &further);
}
