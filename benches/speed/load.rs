//! The load generators: `wrk` measures the throughput of a saturated workerd, `oha` the latency at a bearable rate.
//! Both check every answer. Each result says how busy workerd and the generator were: if workerd's thread was not
//! saturated and the generator was, the generator was the limit.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;

use crate::{
    harness::{Signpost, root},
    threads::{Threads, children_ran_s},
    time::Stopwatch,
};

/// One thread of wrk saturates workerd, which runs requests on one thread.
const CONNECTIONS: u32 = 32;
/// More requests per second than workerd can answer, for requests that may be sent only once.
const MAX_PER_SECOND: f64 = 15_000.0;
/// The share of a run above which a thread is saturated.
const SATURATED: f64 = 0.9;

/// The result of a run of wrk.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub requests: u64,
    pub per_second: f64,
    /// The share of the run in which workerd's busiest thread ran or was ready to run.
    pub busy: f64,
    /// The share of the run in which the generator ran.
    pub generating: f64,
    /// The CPU time of all workerd threads for each request, in microseconds. If the requests say so, it includes the
    /// work that the run left behind.
    pub cpu_us: f64,
}

impl Load {
    /// Whether the generator could have sent more. Its connections always wait for an answer, because workerd's
    /// thread or the disk is busy.
    pub fn server_is_limit(&self) -> bool {
        self.busy >= SATURATED || self.generating < SATURATED
    }
}

/// The requests of a run.
#[derive(Clone)]
pub struct Requests {
    method: &'static str,
    path: String,
    /// The part of a request that a line of the file holds.
    line: &'static str,
    lines: Lines,
    headers: Vec<(String, String)>,
    connections: u32,
    /// Whether the CPU time goes on until workerd is idle.
    until_idle: bool,
}

#[derive(Clone)]
enum Lines {
    /// Sent repeatedly, in turn.
    Again(PathBuf),
    /// Sent once each; every run takes the next ones.
    Once(Vec<String>),
    /// Sent repeatedly, in turn, each time with another number at the end.
    Numbered(PathBuf),
}

impl Requests {
    /// `GET` of these paths, repeatedly.
    pub fn get(folder: &Path, paths: &[String]) -> Self {
        Self {
            method: "GET",
            path: "/".to_owned(),
            line: "path",
            lines: Lines::Again(write_lines(folder, paths)),
            headers: Vec::new(),
            connections: CONNECTIONS,
            until_idle: false,
        }
    }

    /// `POST` of these bodies, repeatedly.
    pub fn post(folder: &Path, path: &str, bodies: &[String]) -> Self {
        Self {
            method: "POST",
            path: path.to_owned(),
            line: "body",
            lines: Lines::Again(write_lines(folder, bodies)),
            headers: Vec::new(),
            connections: CONNECTIONS,
            until_idle: false,
        }
    }

    /// Includes the CPU time of work that the requests leave behind, such as counts that are sent a second later.
    pub fn until_idle(mut self) -> Self {
        self.until_idle = true;
        self
    }

    /// Sends each only once, over all runs.
    pub fn once(mut self, lines: Vec<String>) -> Self {
        self.lines = Lines::Once(lines);
        self
    }

    /// Ends each path with the number of its request in the run, so that no two requests are alike.
    pub fn numbered(mut self) -> Self {
        if let Lines::Again(file) = self.lines {
            self.lines = Lines::Numbered(file);
        }
        self
    }

    /// Sends over so many connections.
    pub fn over(mut self, connections: u32) -> Self {
        self.connections = connections;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.headers.iter();
        headers.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Loads a workerd as much as possible for some seconds.
    pub fn run(&mut self, folder: &Path, server: &Signpost, seconds: f64) -> Load {
        let (file, mode) = match &mut self.lines {
            Lines::Again(file) => (file.clone(), "again"),
            Lines::Numbered(file) => (file.clone(), "numbered"),
            Lines::Once(lines) => {
                let most = (MAX_PER_SECOND * seconds) as usize;
                let next = &lines[..most.min(lines.len())];
                (write_lines(folder, next), "once")
            }
        };
        let url = format!("{}{}", server.base(), self.path);
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", &format!("-c{}", self.connections), "--timeout", "10s"])
            .arg(format!("-d{:.0}s", seconds.ceil()))
            .arg("-s")
            .arg(root().join("benches/speed/requests.lua"))
            .args([&url, "--", self.method, self.line])
            .arg(mode)
            .arg(&file);
        for (name, value) in &self.headers {
            wrk.args([name, value]);
        }
        let before = Threads::of(server.process());
        let children_before_s = children_ran_s();
        let output = output_of(&mut wrk);
        let generating_s = children_ran_s() - children_before_s;
        let threads = Threads::of(server.process()).since(&before);
        let last = output.lines().rfind(|line| line.starts_with('{'));
        let last = last.unwrap_or_else(|| panic!("wrk printed no result: {output}"));
        let found: Value = serde_json::from_str(last).expect("JSON");
        let number = |name: &str| found[name].as_u64().unwrap_or_else(|| panic!("no {name}: {output}"));
        for error in ["connect", "read", "write", "status", "timeout"] {
            assert_eq!(number(error), 0, "{error} errors of {url}: {output}");
        }
        let requests = number("requests");
        if let Lines::Once(lines) = &mut self.lines {
            // Requests in flight at the end are used up too.
            let used = usize::try_from(requests).expect("a count") + self.connections as usize;
            assert!(used < lines.len(), "{used} requests were more than there are, {}", lines.len());
            lines.drain(..used);
        }
        let took_s = number("microseconds") as f64 / 1e6;
        let ran_s = if self.until_idle {
            wait_until_idle(server);
            Threads::of(server.process()).since(&before).ran_s()
        } else {
            threads.ran_s()
        };
        Load {
            requests,
            per_second: requests as f64 / took_s,
            busy: threads.busiest_s() / took_s,
            generating: generating_s / took_s,
            cpu_us: ran_s * 1e6 / requests as f64,
        }
    }
}

/// Waits until workerd has been idle for longer than any work is postponed.
fn wait_until_idle(server: &Signpost) {
    const STEP: Duration = Duration::from_millis(100);
    let mut idle = 0;
    while idle < 14 {
        let before = Threads::of(server.process());
        std::thread::sleep(STEP);
        let ran_s = Threads::of(server.process()).since(&before).ran_s();
        idle = if ran_s < 0.002 { idle + 1 } else { 0 };
    }
}

/// The result of a run of oha, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    pub p50: f64,
    pub p99: f64,
    pub slowest: f64,
}

/// Requests a path at a fixed rate and checks the status of all answers. A delayed request counts from its scheduled
/// time (latency correction), so a stall shows in every request that it delays.
pub fn latency(
    server: &Signpost,
    path: &str,
    headers: &[(&str, &str)],
    status: u16,
    per_second: u32,
    requests: u32,
) -> Latency {
    let mut oha = Command::new(std::env::var_os("OHA").unwrap_or_else(|| "oha".into()));
    oha.args(["--no-tui", "--output-format", "json", "--latency-correction", "--redirect", "0"]).args([
        "-c",
        "16",
        "-q",
        &per_second.to_string(),
        "-n",
        &requests.to_string(),
    ]);
    for (name, value) in headers {
        oha.arg("-H").arg(format!("{name}: {value}"));
    }
    let output = output_of(oha.arg(format!("{}{path}", server.base())));
    let found: Value = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error} in {output}"));
    let statuses = &found["statusCodeDistribution"];
    assert_eq!(
        statuses,
        &serde_json::json!({ status.to_string(): requests }),
        "{}: {}",
        path,
        found["errorDistribution"]
    );
    let percentile = |name: &str| {
        let seconds = found["latencyPercentiles"][name].as_f64();
        seconds.unwrap_or_else(|| panic!("no {name} in {output}")) * 1e3
    };
    Latency {
        p50: percentile("p50"),
        p99: percentile("p99"),
        slowest: found["summary"]["slowest"].as_f64().expect("the slowest") * 1e3,
    }
}

/// Writes the lines of a run to a new file.
fn write_lines(folder: &Path, lines: &[String]) -> PathBuf {
    let file = tempfile::NamedTempFile::new_in(folder).expect("a file");
    fs::write(file.path(), lines.join("\n") + "\n").expect("a file written");
    file.into_temp_path().keep().expect("a file kept")
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs all sides in each round, alternating their order, so that changes of the machine affect them alike. One
/// uncounted round before warms them up.
pub fn interleaved<T>(what: &str, rounds: usize, sides: &mut [&mut dyn FnMut() -> T]) -> Vec<Vec<T>> {
    let watch = Stopwatch::start();
    let mut found: Vec<Vec<T>> = sides.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..sides.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let figure = sides[side]();
            if round > 0 {
                found[side].push(figure);
            }
        }
    }
    eprintln!("  {what}: {rounds} rounds in {:.0} s", watch.seconds());
    found
}
