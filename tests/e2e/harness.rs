//! A Signpost of a test's own: the built module on plain workerd, on a free port of loopback, with its state in a
//! temporary folder. It ends, by its process id, when the test does.

mod answer;
#[cfg(test)]
mod contract;
mod conversions;
mod disk;
#[cfg(test)]
#[path = "../support/document.rs"]
mod document;
mod log;
mod raw;
mod receiver;
mod reports;
mod time;

use std::{
    fs::OpenOptions,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::{Agent, http};

pub use answer::Answer;
pub use conversions::{CONVERSION, GOALS, SECRET, Wall, accepted, callback, nonce, seal, states};
pub use raw::{Raw, answer_to};
pub use receiver::{Behaviour, Received, Receiver};
pub use reports::{Publisher, REPORT, ReportKey, gzip};
pub use time::{away_from_midnight, eventually, in_time, now_ms, timed};

const INSPECTOR: &str = "--inspector-addr=127.0.0.1:0";
/// The folders of a state, which are the disk services of each configuration.
const STATE: [&str; 2] = ["kv", "objects"];
/// Where workerd's own words go, beside the state.
const LOG: &str = "workerd.log";

pub const OPERATOR_TOKEN: &str = "local-operator-token";
/// The demo publisher of `fixtures/` and its apps.
pub const PUBLISHER: &str = "lumen-arcade";
pub const ANDROID_APP: &str = "10000001";
pub const IOS_APP: &str = "10000002";
pub const WEB_APP: &str = "10000003";

/// How a Signpost is to be started.
pub struct Setup {
    config: PathBuf,
    vars: Vec<(String, String)>,
    /// For workerd's command line.
    arguments: Vec<String>,
    /// A folder of state to start with a copy of.
    state: Option<PathBuf>,
    /// Where the state's own folder is made; that of temporary files if none.
    disk: Option<PathBuf>,
    /// A program that becomes workerd, with its arguments.
    launcher: Vec<String>,
}

impl Setup {
    pub fn new() -> Self {
        Self {
            config: root().join("fixtures/local/workerd.capnp"),
            vars: Vec::new(),
            arguments: Vec::new(),
            state: None,
            disk: None,
            launcher: Vec::new(),
        }
    }

    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// Another configuration of workerd, relative to `tests/e2e`.
    pub fn config(mut self, path: &str) -> Self {
        self.config = root().join("tests/e2e").join(path);
        self
    }

    /// With V8's inspector listening, too.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn inspected(mut self) -> Self {
        self.arguments.push(INSPECTOR.to_owned());
        self
    }

    /// Starts with a copy of the state that another one left in this folder.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn state(mut self, folder: &Path) -> Self {
        self.state = Some(folder.to_owned());
        self
    }

    /// Keeps the state in a folder of its own on this disk.
    pub fn on_disk(mut self, folder: &Path) -> Self {
        self.disk = Some(folder.to_owned());
        self
    }

    /// Has a program start workerd, in a process of the same id.
    pub fn launched_by(mut self, launcher: &[&str]) -> Self {
        self.launcher = launcher.iter().map(|part| (*part).to_owned()).collect();
        self
    }

    pub fn start(self) -> Signpost {
        let state = match &self.disk {
            Some(disk) => tempfile::tempdir_in(disk),
            None => tempfile::tempdir(),
        };
        let state = state.expect("a temporary folder");
        for folder in STATE {
            let to = state.path().join(folder);
            match &self.state {
                Some(from) => copy_folder(&from.join(folder), &to),
                None => std::fs::create_dir(to).expect("a folder for state"),
            }
        }
        let (child, ports) = spawn(&self, state.path());
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // A kept connection may be closed by workerd just as it is used again.
            .max_idle_connections(0)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        Signpost {
            setup: self,
            state,
            child: Mutex::new(child),
            ports: Mutex::new(ports),
            agent,
        }
    }

    /// With the demo catalog loaded and published.
    pub fn start_with_fixtures(self) -> (Signpost, String) {
        let signpost = self.start();
        let catalog = std::fs::read_to_string(root().join("fixtures/catalog.ndjson")).expect("the fixtures");
        signpost.import(&catalog).expect(200);
        let pub_key = signpost.issue_pub_key(PUBLISHER);
        signpost.refresh();
        (signpost, pub_key)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    http: u16,
    control: u16,
    inspector: u16,
}

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
        let _ = child.kill();
        let _ = child.wait();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.state.path().join(LOG)).unwrap_or_default();
            let tail = log.len().saturating_sub(4_000);
            eprintln!("workerd said, at the end:\n{}", log.get(tail..).unwrap_or(&log));
        }
    }
}

impl Signpost {
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.lock().expect("ports").http)
    }

    /// The socket of a configuration that has a second one.
    pub fn control(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.lock().expect("ports").control)
    }

    /// The port of V8's inspector, of a Signpost that is inspected.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn inspector(&self) -> u16 {
        self.ports.lock().expect("ports").inspector
    }

    /// The process id of workerd.
    pub fn process(&self) -> u32 {
        self.child.lock().expect("the process").id()
    }

    /// Ends workerd as a power cut would, and starts it again on the same state.
    pub fn restart(&self) {
        self.restart_after(|| {});
    }

    /// The same with another configuration from then on.
    pub fn restart_with(&mut self, name: &str, value: &str) {
        self.setup.vars.push((name.into(), value.into()));
        self.restart();
    }

    /// The same, with something done to the state meanwhile.
    pub fn restart_after(&self, meanwhile: impl FnOnce()) {
        let mut child = self.child.lock().expect("the process");
        child.kill().expect("workerd ran");
        child.wait().expect("workerd ended");
        meanwhile();
        let (new, ports) = spawn(&self.setup, self.state.path());
        *child = new;
        *self.ports.lock().expect("ports") = ports;
    }

    /// Sends a request to an address or, if it begins with a slash, to this Signpost.
    pub fn send(&self, method: &str, address: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, address, headers, body)
            .unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// The same where workerd may be down; `Err` says what was asked and what became of it.
    pub fn try_send(
        &self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, String> {
        let address = if address.starts_with('/') {
            self.base() + address
        } else {
            address.to_owned()
        };
        let mut request = http::Request::builder().method(method).uri(&address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let shown: String = String::from_utf8_lossy(body).chars().take(500).collect();
        let asked = format!("{method} {address} {headers:?} {shown}");
        let mut answer = if body.is_empty() {
            self.agent.run(
                request
                    .body(())
                    .unwrap_or_else(|error| panic!("{asked}: {error}")),
            )
        } else {
            self.agent.run(
                request
                    .body(body)
                    .unwrap_or_else(|error| panic!("{asked}: {error}")),
            )
        }
        .map_err(|error| format!("{asked}: {error}"))?;
        let body = answer.body_mut().with_config().limit(100 << 20).read_to_string();
        let answer = Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: body.map_err(|error| format!("{asked}: {error}"))?,
            asked,
        };
        #[cfg(test)]
        self.hold(method, &address, &answer);
        Ok(answer)
    }

    /// Fails the test unless an answer is as the document says. What is no Signpost's has no document.
    #[cfg(test)]
    fn hold(&self, method: &str, address: &str, answer: &Answer) {
        let is = |name: &str| self.setup.config.ends_with(name);
        // Of two ways into one Signpost, the control socket is the other.
        let bases = [Some(self.base()), is("ways.capnp").then(|| self.control())];
        let mut targets = bases
            .iter()
            .flatten()
            .filter_map(|base| address.strip_prefix(base.as_str()));
        if let Some(target) = targets.find(|target| target.starts_with('/'))
            // What only the bundle that panics has.
            && !target.starts_with("/v1/signpost-faults")
            && !is("conformance.capnp")
        {
            let has_hosts = self.setup.vars.iter().any(|(name, _)| name.ends_with("_HOST"));
            let held = contract::check(method, target, has_hosts, answer);
            held.unwrap_or_else(|problem| panic!("openapi.yaml: {problem}{answer:?}"));
        }
    }

    pub fn get(&self, address: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", address, headers, &[])
    }

    /// A call of the operator's interface with a JSON body, or none.
    pub fn operator(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
        ];
        let body = body.map(Value::to_string).unwrap_or_default();
        self.send(method, &format!("/v1/operator/{path}"), &headers, body.as_bytes())
    }

    /// A series of the operator's metrics, by its name and labels as they are written there.
    #[track_caller]
    pub fn metric(&self, series: &str) -> u64 {
        self.metric_at("", series)
    }

    /// The same where another address leads to it.
    #[track_caller]
    pub fn metric_at(&self, base: &str, series: &str) -> u64 {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let address = format!("{base}/v1/operator/metrics");
        let metrics = self
            .get(&address, &[("Authorization", &authorization)])
            .expect(200)
            .body;
        let found = metrics
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        let value = found.unwrap_or_else(|| panic!("no {series} in {metrics}"));
        value.parse().expect("a whole number")
    }

    #[track_caller]
    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.operator("PUT", path, Some(body)).expect(200)
    }

    pub fn import(&self, lines: &str) -> Answer {
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/x-ndjson"),
        ];
        self.send("POST", "/v1/operator/import", &headers, lines.as_bytes())
    }

    pub fn issue_pub_key(&self, publisher: &str) -> String {
        let answer = self
            .operator("POST", &format!("publishers/{publisher}/pub_key"), None)
            .expect(201);
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

    /// Asks for offers with a body.
    pub fn offers(&self, app: &str, pub_key: &str, body: &Value) -> Answer {
        let headers = [
            ("App-Id", app),
            ("Pub-Key", pub_key),
            ("Content-Type", "application/json"),
        ];
        self.send("POST", "/v1/offer/api", &headers, body.to_string().as_bytes())
    }

    /// The offers of the first thousand that pass these filters.
    #[track_caller]
    pub fn list(&self, app: &str, pub_key: &str, filters: &Value) -> Vec<Value> {
        let body = json!({ "page": 1, "size": 1000, "filt": filters });
        let answer = self.offers(app, pub_key, &body).expect(200).json();
        answer["offers"].as_array().expect("offers").clone()
    }

    /// Puts an offer for every country and platform with a goal of its own, `{id}-g`, and with some members changed.
    /// It is served after the next refresh.
    #[track_caller]
    pub fn put_offer(&self, id: &str, changes: &Value) {
        let mut offer = json!({
            "advertiser_id": "brindlefox-games", "off_type": "CPI", "s_id": "com.example.game", "name": "A game",
            "lp_url": "https://adv.example/about", "target_url": "https://adv.example/t/{offer_id}?clickid={click_id}",
            "ic_url": "https://adv.example/icon.png", "desc": "Play it", "ctg": ["GAMING"], "os": "web",
            "geo_tgt": {"include": [], "exclude": []}, "active": true,
            "goals": [{"id": format!("{id}-g"), "ttl": "Play", "instr": "1. Play", "payout_usd": 1, "ord": 1}]
        });
        for (member, value) in changes.as_object().expect("members") {
            offer[member] = value.clone();
        }
        self.put(&format!("offers/{id}"), &offer);
    }

    /// Sends a click from a country.
    pub fn click(&self, query: &str, country: &str) -> Answer {
        self.get(
            &format!("/v2/tracking/click?{query}"),
            &[("CF-IPCountry", country)],
        )
    }
}

/// A Signpost with the demo catalog for tests that run at the same time: each may add to the catalog and refresh, and
/// changes nothing that another may rest on. It ends with the last of them.
pub fn demo() -> Arc<Signpost> {
    static DEMO: Mutex<Weak<Signpost>> = Mutex::new(Weak::new());
    let mut demo = DEMO.lock().unwrap_or_else(PoisonError::into_inner);
    demo.upgrade().unwrap_or_else(|| {
        let started = Arc::new(Setup::new().start_with_fixtures().0);
        *demo = Arc::downgrade(&started);
        started
    })
}

/// As a value of a query.
pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A setting of `fixtures/local/defaults.env`, which every Signpost has unless its test sets another.
pub fn default_setting(name: &str) -> String {
    let defaults = defaults();
    let mut found = defaults.iter().filter(|(known, _)| known == name);
    found.next().expect("a setting with a default").1.clone()
}

fn defaults() -> Vec<(String, String)> {
    let defaults = std::fs::read_to_string(root().join("fixtures/local/defaults.env")).expect("the defaults");
    defaults
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Copies a folder of state; the one that wrote it must have ended.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of state") {
        let (from, to) = entry
            .map(|entry| (entry.path(), to.join(entry.file_name())))
            .expect("an entry of a folder");
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a file copied");
        }
    }
}

fn spawn(setup: &Setup, state: &Path) -> (Child, Ports) {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(state.join(LOG))
        .expect("a log");
    let mut console = log.try_clone().expect("a log");
    let workerd = root().join("node_modules/@cloudflare/workerd-linux-64/bin/workerd");
    let workerd = workerd.to_str().expect("a path of UTF-8");
    let mut program = setup.launcher.iter().map(String::as_str).chain([workerd]);
    let mut child = Command::new(program.next().expect("a program"))
        .args(program)
        .arg("serve")
        .arg(&setup.config)
        .args(["--control-fd=1", "--socket-addr=http=127.0.0.1:0"])
        .args(&setup.arguments)
        .args(STATE.map(|folder| {
            format!(
                "--directory-path={folder}={}",
                state.join(folder).to_str().expect("a path of UTF-8")
            )
        }))
        .envs(defaults())
        .env("TRACKING_URL", "https://t.signpost.example")
        .envs(setup.vars.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("workerd, which `make setup` installs");
    // workerd tells on the control descriptor where it listens.
    let mut ports = Ports::default();
    let two = ["faults.capnp", "ways.capnp"]
        .iter()
        .any(|name| setup.config.ends_with(name));
    let inspected = setup.arguments.iter().any(|argument| argument == INSPECTOR);
    let listening = 1 + usize::from(two) + usize::from(inspected);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map_while(Result::ok);
    for line in lines.by_ref().take(listening) {
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let port = u16::try_from(told["port"].as_u64().expect("a port")).expect("a port");
        match told["socket"].as_str() {
            Some("http") => ports.http = port,
            Some(_) => ports.control = port,
            None => ports.inspector = port,
        }
    }
    assert!(ports.http > 0, "workerd did not start");
    // What comes after that is the console, up to its warnings, which have a descriptor of their own. It ends with workerd.
    thread::spawn(move || {
        for line in lines {
            // In one piece, or a warning might come in between.
            let _ = console.write_all(format!("{line}\n").as_bytes());
        }
    });
    (child, ports)
}
