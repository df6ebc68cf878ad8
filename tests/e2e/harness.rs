//! Starts the built Workers on plain workerd for one test: on a free loopback port, with the state in a temporary
//! folder. Dropping the [`Signpost`] kills the process by its id.

mod answer;
#[cfg(test)]
mod contract;
mod conversions;
mod disk;
#[cfg(test)]
#[path = "../support/document.rs"]
mod document;
mod log;
mod process;
mod raw;
mod receiver;
mod reports;
mod time;

use std::{
    path::PathBuf,
    process::Child,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::{Agent, http};

pub use answer::Answer;
pub use conversions::{
    CONVERSION, GOALS, OfferWall, SECRET, callback, click_keys, expect_accepted, nonce, seal, states,
};
#[cfg(test)]
pub use document::{dashboard_document, document, escaped, methods, resolved, schema};
#[allow(unused_imports, reason = "the benches use it")]
pub use process::copy_folder;
use process::{LOG, Ports, spawn};
pub use process::{Setup, default_setting};
pub use raw::{Raw, answer_to};
pub use receiver::{Behaviour, Received, Receiver};
pub use reports::{Publisher, REPORT, ReportKey, gunzip, gzip};
pub use time::{away_from_midnight, away_from_publication, eventually, eventually_within, now_ms, timed};

pub const OPERATOR_TOKEN: &str = "local-operator-token";
pub const METRICS_TOKEN: &str = "local-metrics-token";
/// The demo publisher of `fixtures/` and its apps.
pub const PUBLISHER: &str = "lumen-arcade";
pub const ANDROID_APP: &str = "10000001";
pub const IOS_APP: &str = "10000002";
pub const WEB_APP: &str = "10000003";

pub struct Signpost {
    setup: Setup,
    pub state: TempDir,
    child: Mutex<Child>,
    ports: Mutex<Ports>,
    agent: Agent,
}

impl Drop for Signpost {
    fn drop(&mut self) {
        let child = self.child.get_mut().expect("no test thread panicked with it");
        let ended = child.try_wait();
        let _ = child.kill();
        let _ = child.wait();
        if std::thread::panicking() {
            if let Ok(Some(status)) = ended {
                eprintln!("workerd had ended before the test: {status}");
            }
            eprintln!("end of workerd's log:\n{}", self.log_end(4_000));
        }
    }
}

impl Signpost {
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.lock().expect("ports").http)
    }

    /// The base URL of the second socket, in configurations that have one.
    pub fn control(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.lock().expect("ports").control)
    }

    /// The port of V8's inspector, if the setup was `inspected`.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn inspector(&self) -> u16 {
        self.ports.lock().expect("ports").inspector
    }

    /// The process id of workerd.
    pub fn process(&self) -> u32 {
        self.child.lock().expect("the process").id()
    }

    /// Kills workerd with SIGKILL, as a power cut would, and starts it again on the same state.
    pub fn restart(&self) {
        self.restart_after(|| {});
    }

    /// Kills workerd for good.
    pub fn stop(&self) {
        let mut child = self.child.lock().expect("the process");
        child.kill().expect("workerd ran");
        child.wait().expect("workerd ended");
    }

    /// Restarts as [`restart`](Self::restart) does, with one setting changed from then on.
    pub fn restart_with(&mut self, name: &str, value: &str) {
        self.setup.vars.push((name.into(), value.into()));
        self.restart();
    }

    /// Uses another configuration, relative to `tests/e2e`, from the next start on.
    pub fn set_config(&self, path: &str) {
        self.setup.set_config(path);
    }

    /// Restarts as [`restart`](Self::restart) does, and calls `meanwhile` while workerd is down.
    pub fn restart_after(&self, meanwhile: impl FnOnce()) {
        self.stop();
        meanwhile();
        let (new, ports) = spawn(&self.setup, self.state.path());
        *self.child.lock().expect("the process") = new;
        *self.ports.lock().expect("ports") = ports;
    }

    /// Sends a request to a URL, or to this Signpost if `address` begins with a slash.
    pub fn send(&self, method: &str, address: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, address, headers, body)
            .unwrap_or_else(|problem| panic!("{problem}\nworkerd's log ends with:\n{}", self.log_end(2_000)))
    }

    /// The last lines of workerd's log, of about so many bytes.
    fn log_end(&self, bytes: usize) -> String {
        let log = std::fs::read_to_string(self.state.path().join(LOG)).unwrap_or_default();
        let start = log.ceil_char_boundary(log.len().saturating_sub(bytes));
        log.get(start..).unwrap_or_default().to_owned()
    }

    /// Sends a request while workerd may be down. The error text contains the request and its failure.
    pub fn try_send(
        &self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, String> {
        let address = if address.starts_with('/') { self.base() + address } else { address.to_owned() };
        let mut request = http::Request::builder().method(method).uri(&address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let shown: String = String::from_utf8_lossy(body).chars().take(500).collect();
        let request_text = format!("{method} {address} {headers:?} {shown}");
        let mut answer = if body.is_empty() {
            self.agent.run(request.body(()).unwrap_or_else(|error| panic!("{request_text}: {error}")))
        } else {
            self.agent.run(request.body(body).unwrap_or_else(|error| panic!("{request_text}: {error}")))
        }
        .map_err(|error| format!("{request_text}: {error}"))?;
        let bytes = answer.body_mut().with_config().limit(100 << 20).read_to_vec();
        let bytes = bytes.map_err(|error| format!("{request_text}: {error}"))?;
        let is_packed = answer.headers().get("Content-Encoding").is_some_and(|encoding| encoding == "gzip");
        let body = String::from_utf8(if is_packed { gunzip(&bytes) } else { bytes });
        let answer = Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: body.map_err(|error| format!("{request_text}: {error}"))?,
            request: request_text,
        };
        #[cfg(test)]
        self.check_contract(method, &address, &answer);
        Ok(answer)
    }

    /// Fails the test unless the answer conforms to the document of its interface.
    #[cfg(test)]
    fn check_contract(&self, method: &str, address: &str, answer: &Answer) {
        let is = |name: &str| self.setup.has_config(name);
        // Both sockets of this configuration lead to the same Signpost.
        let bases = [Some(self.base()), is("ordinary_path.capnp").then(|| self.control())];
        let mut targets = bases.iter().flatten().filter_map(|base| address.strip_prefix(base.as_str()));
        if let Some(target) = targets.find(|target| target.starts_with('/'))
            // This route exists only in the bundle with fault injection.
            && !target.starts_with("/v1/signpost-faults")
            && self.setup.checks_api
        {
            let has_hosts = self.setup.vars.iter().any(|(name, _)| name.ends_with("_HOST"));
            let checked = contract::check(method, target, has_hosts, answer);
            checked.unwrap_or_else(|problem| panic!("{problem}{answer:?}"));
        }
    }

    pub fn get(&self, address: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", address, headers, &[])
    }

    /// Calls the operator's interface with a JSON body, or with none.
    pub fn operator(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let json = [("Content-Type", "application/json")];
        self.operate(method, path, &json, body.as_bytes())
    }

    /// A figure that isolates have reported to the operator; 0 if none has.
    #[track_caller]
    pub fn reported(&self, figure: &str, kind: Option<&str>) -> i64 {
        let service = self.operator("GET", "service", None).expect(200).json();
        let figures = service["reported"]["isolates"].as_array().expect("figures");
        let is_it = |reported: &&Value| reported["figure"] == figure && reported["kind"].as_str() == kind;
        let found = figures.iter().find(is_it);
        found.map_or(0, |reported| reported["number"].as_i64().expect("a number"))
    }

    /// Calls the operator's interface with the given headers and body.
    pub fn operate(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let headers = [&[("Authorization", authorization.as_str())], headers].concat();
        self.send(method, &format!("/v1/operator/{path}"), &headers, body)
    }

    /// Scrapes the metrics of both Workers: the edge's isolate, then the catalog and the origin's isolate.
    #[track_caller]
    pub fn metrics_at(&self, base: &str) -> [String; 2] {
        let authorization = format!("Bearer {METRICS_TOKEN}");
        let headers = [("Authorization", authorization.as_str())];
        ["/metrics", "/v1/operator/metrics"].map(|path| self.get(&format!("{base}{path}"), &headers).expect(200).body)
    }

    /// Reads a metric by its name and labels, as written in the exposition. If both Workers have it, returns the sum,
    /// or for memory (`_bytes`) the larger value.
    #[track_caller]
    pub fn metric(&self, series: &str) -> u64 {
        self.metric_at("", series)
    }

    /// Reads a metric through another base URL.
    #[track_caller]
    pub fn metric_at(&self, base: &str, series: &str) -> u64 {
        let texts = self.metrics_at(base);
        let found = texts.iter().filter_map(|text| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))
        });
        let found: Vec<u64> = found.map(|value| value.parse().expect("a whole number")).collect();
        assert!(!found.is_empty(), "no {series} in {texts:?}");
        if series.ends_with("_bytes") { found.into_iter().max().unwrap_or(0) } else { found.into_iter().sum() }
    }

    #[track_caller]
    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.operator("PUT", path, Some(body)).expect(200)
    }

    pub fn import(&self, lines: &str) -> Answer {
        let ndjson = [("Content-Type", "application/x-ndjson")];
        self.operate("POST", "import", &ndjson, lines.as_bytes())
    }

    pub fn issue_pub_key(&self, publisher: &str) -> String {
        let answer = self.operator("POST", &format!("publishers/{publisher}/pub_key"), None).expect(201);
        answer.json()["pub_key"].as_str().expect("a Pub-Key").to_owned()
    }

    /// The demo publisher's Pub-Key.
    #[track_caller]
    pub fn pub_key(&self) -> String {
        let path = format!("publishers/{PUBLISHER}/pub_key");
        let answer = self.operator("GET", &path, None).expect(200);
        answer.json()["pub_key"].as_str().expect("a Pub-Key").to_owned()
    }

    #[track_caller]
    pub fn refresh(&self) -> Answer {
        self.operator("POST", "refresh", None).expect(200)
    }

    /// Requests offers with a JSON body.
    pub fn offers(&self, app: &str, pub_key: &str, body: &Value) -> Answer {
        let headers = [("App-Id", app), ("Pub-Key", pub_key), ("Content-Type", "application/json")];
        self.send("POST", "/v1/offer/api", &headers, body.to_string().as_bytes())
    }

    /// Lists the first 1,000 offers that pass the filters.
    #[track_caller]
    pub fn list(&self, app: &str, pub_key: &str, filters: &Value) -> Vec<Value> {
        let body = json!({ "page": 1, "size": 1000, "filt": filters });
        let answer = self.offers(app, pub_key, &body).expect(200).json();
        answer["offers"].as_array().expect("offers").clone()
    }

    /// Puts an offer for every country and platform with one goal, `{id}-g`, and with `changes` applied to the
    /// document. It is served after the next refresh.
    #[track_caller]
    pub fn put_offer(&self, id: &str, changes: &Value) -> Value {
        let offer = json!({
            "advertiser_id": "brindlefox-games", "off_type": "CPI", "s_id": "com.example.game", "name": "A game",
            "lp_url": "https://adv.example/about", "target_url": "https://adv.example/t/{offer_id}?clickid={click_id}",
            "ic_url": "https://adv.example/icon.png", "desc": "Play it", "ctg": ["GAMING"], "os": "web",
            "geo_tgt": {"include": [], "exclude": []}, "active": true,
            "goals": [{"id": format!("{id}-g"), "ttl": "Play", "instr": "1. Play", "payout_usd": 1, "ord": 1}]
        });
        self.put(&format!("offers/{id}"), &with(offer, changes)).json()
    }

    /// Sends a click from a country.
    pub fn click(&self, query: &str, country: &str) -> Answer {
        self.get(&format!("/v2/tracking/click?{query}"), &[("CF-IPCountry", country)])
    }
}

/// Ends the threads that go on until this flag is set, also when their test fails.
#[allow(dead_code, reason = "the benches use less of the harness than the tests")]
pub struct End<'e>(pub &'e AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A Signpost with the demo catalog, shared by tests that run at the same time. Each may add to the catalog and
/// refresh, but must not change anything that another may depend on. It ends with the last of them.
pub fn demo() -> Arc<Signpost> {
    static DEMO: Mutex<Weak<Signpost>> = Mutex::new(Weak::new());
    let mut demo = DEMO.lock().unwrap_or_else(PoisonError::into_inner);
    demo.upgrade().unwrap_or_else(|| {
        let started = Arc::new(Setup::new().start_with_fixtures().0);
        *demo = Arc::downgrade(&started);
        started
    })
}

/// Sets members of a JSON document.
pub fn with(mut document: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().expect("members") {
        document[name] = value.clone();
    }
    document
}

/// Percent-encodes a value of a query.
pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder in the repository").to_owned()
}
