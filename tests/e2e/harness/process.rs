//! Starts workerd: its configuration, its ports, its state folder and its log file.

use std::{
    fs::OpenOptions,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
    thread,
    time::Duration,
};

use serde_json::Value;
use ureq::Agent;

use super::{PUBLISHER, Receiver, Signpost, root};

const INSPECTOR: &str = "--inspector-addr=127.0.0.1:0";
/// The folders of a state. Each is a disk service of every configuration.
const STATE: [&str; 2] = ["kv", "objects"];
/// The file of workerd's output, beside the state.
pub(super) const LOG: &str = "workerd.log";

/// How to start a Signpost.
pub struct Setup {
    pub(super) config: Mutex<PathBuf>,
    pub(super) vars: Vec<(String, String)>,
    /// More arguments of workerd's command line.
    arguments: Vec<String>,
    /// The state folder to start with a copy of.
    state: Option<PathBuf>,
    /// Where to make the state folder, if not among the temporary files.
    disk: Option<PathBuf>,
    /// A program and its arguments that executes workerd in its own process.
    launcher: Vec<String>,
    /// Whether Signpost itself answers, so that each answer is checked against `openapi.yaml`.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests look"))]
    pub(super) checks_api: bool,
}

impl Setup {
    pub fn new() -> Self {
        Self {
            config: Mutex::new(root().join("fixtures/local/workerd.capnp")),
            vars: Vec::new(),
            arguments: Vec::new(),
            state: None,
            disk: None,
            launcher: Vec::new(),
            checks_api: true,
        }
    }

    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// Uses another workerd configuration, relative to `tests/e2e`.
    pub fn config(self, path: &str) -> Self {
        self.set_config(path);
        self
    }

    pub(super) fn set_config(&self, path: &str) {
        *self.config.lock().expect("a path") = root().join("tests/e2e").join(path);
    }

    pub(super) fn has_config(&self, name: &str) -> bool {
        self.config.lock().expect("a path").ends_with(name)
    }

    /// Skips the check against `openapi.yaml`, for a server other than Signpost.
    pub fn without_api_check(mut self) -> Self {
        self.checks_api = false;
        self
    }

    /// Enables V8's inspector.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn with_inspector(mut self) -> Self {
        self.arguments.push(INSPECTOR.to_owned());
        self
    }

    /// Sends all that the Workers fetch to a receiver, with the URL's host in `Host`. The configuration's `internet` must
    /// be an external server.
    pub fn internet(mut self, receiver: &Receiver) -> Self {
        self.arguments.push(format!("--external-addr=internet=127.0.0.1:{}", receiver.port));
        self
    }

    /// Sets the settings of a file.
    pub fn settings(mut self, file: &Path) -> Self {
        self.vars.extend(settings(file));
        self
    }

    /// Starts with a copy of the state in this folder.
    #[allow(dead_code, reason = "the benches use it")]
    pub fn state(mut self, folder: &Path) -> Self {
        self.state = Some(folder.to_owned());
        self
    }

    /// Keeps the state in a new folder on this disk.
    pub fn on_disk(mut self, folder: &Path) -> Self {
        self.disk = Some(folder.to_owned());
        self
    }

    /// Lets a program start workerd; it must `exec`, so that the process id stays the same.
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
            // workerd may close an idle connection just as the client reuses it.
            .max_idle_connections(0)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        Signpost { setup: self, state, child: Mutex::new(child), ports: Mutex::new(ports), agent }
    }

    /// Starts with the demo catalog imported and published. Returns the demo publisher's Pub-Key, too.
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
pub(super) struct Ports {
    pub(super) http: u16,
    pub(super) control: u16,
    pub(super) inspector: u16,
}

/// The value of a setting in `fixtures/local/defaults.env`, which applies unless a test sets another.
pub fn default_setting(name: &str) -> String {
    let defaults = defaults();
    let mut found = defaults.iter().filter(|(known, _)| known == name);
    found.next().expect("a setting with a default").1.clone()
}

fn defaults() -> Vec<(String, String)> {
    settings(&root().join("fixtures/local/defaults.env"))
}

fn settings(file: &Path) -> Vec<(String, String)> {
    let settings = std::fs::read_to_string(file).expect("settings");
    settings
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Copies a state folder. The process that wrote it must have ended.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of state") {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("an entry of a folder");
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a file copied");
        }
    }
}

/// The workerd program that npm installed for this platform.
fn workerd() -> PathBuf {
    let packages = std::fs::read_dir(root().join("node_modules/@cloudflare")).expect("the npm packages");
    let programs = packages.filter_map(|package| {
        let program = package.ok()?.path().join("bin/workerd");
        program.is_file().then_some(program)
    });
    programs.last().expect("workerd, which `make build` installs")
}

pub(super) fn spawn(setup: &Setup, state: &Path) -> (Child, Ports) {
    let log = OpenOptions::new().create(true).append(true).open(state.join(LOG)).expect("a log");
    let mut console = log.try_clone().expect("a log");
    let workerd = workerd();
    let workerd = workerd.to_str().expect("a path of UTF-8");
    let mut program = setup.launcher.iter().map(String::as_str).chain([workerd]);
    let mut child = Command::new(program.next().expect("a program"))
        .args(program)
        .arg("serve")
        .arg(&*setup.config.lock().expect("a path"))
        .args(["--control-fd=1", "--socket-addr=http=127.0.0.1:0"])
        .args(&setup.arguments)
        .args(STATE.map(|folder| {
            format!("--directory-path={folder}={}", state.join(folder).to_str().expect("a path of UTF-8"))
        }))
        .envs(defaults())
        .env("TRACKING_URL", "https://t.signpost.example")
        .envs(setup.vars.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("workerd, which `make build` installs");
    // workerd reports its ports on the control descriptor, one line each.
    let mut ports = Ports::default();
    let has_control_socket =
        ["faults.capnp", "ordinary_path.capnp", "both_workers.capnp", "recovery.capnp", "billed_rows.capnp"]
            .iter()
            .any(|name| setup.has_config(name));
    let has_inspector = setup.arguments.iter().any(|argument| argument == INSPECTOR);
    let socket_count = 1 + usize::from(has_control_socket) + usize::from(has_inspector);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    for line in lines.by_ref().take(socket_count) {
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let port = u16::try_from(message["port"].as_u64().expect("a port")).expect("a port");
        match message["socket"].as_str() {
            Some("http") => ports.http = port,
            Some(_) => ports.control = port,
            None => ports.inspector = port,
        }
    }
    assert!(ports.http > 0, "workerd did not start");
    // The rest is the console without warnings, which have a descriptor of their own. It ends with workerd.
    thread::spawn(move || {
        for line in lines {
            // One write per line, so that no warning splits it.
            let _ = console.write_all(format!("{line}\n").as_bytes());
        }
    });
    (child, ports)
}
