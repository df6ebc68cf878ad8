//! The load generators: `wrk` for how much a workerd answers when it has all it can take, `oha` for how long it takes at
//! a rate that it can stand. Both check that every answer was one that was wanted, and what is said of a workerd comes
//! with how busy it and the generator were: where its thread was not, and the generator was, that was the limit.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    harness::{Signpost, root},
    threads::{Threads, children_ran_s},
    time::Stopwatch,
};

/// One thread of wrk keeps a core's worth of workerd busy, and workerd runs requests on one thread.
const CONNECTIONS: u32 = 32;
/// More than can be answered of what may be sent only once.
const MOST_PER_SECOND: f64 = 15_000.0;
/// Above this share of a run a thread has all it can do.
const SATURATED: f64 = 0.9;

/// What a run of wrk found.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub requests: u64,
    pub per_second: f64,
    /// The share of the run in which workerd's busiest thread ran, or was ready to.
    pub busy: f64,
    /// The share of the run in which the generator ran.
    pub generating: f64,
    /// Of workerd, all threads, for each request.
    pub cpu_us: f64,
}

impl Load {
    /// Whether the generator could have sent more: its connections always wait for an answer each, be it that workerd's
    /// thread is busy or that the disk is.
    pub fn is_the_servers(&self) -> bool {
        self.busy >= SATURATED || self.generating < SATURATED
    }
}

/// The requests of a run.
#[derive(Clone)]
pub struct Requests {
    method: &'static str,
    path: String,
    /// Which part of a request a line of the file is.
    line: &'static str,
    lines: Lines,
    headers: Vec<(String, String)>,
}

#[derive(Clone)]
enum Lines {
    /// Sent again and again, in turn.
    Again(PathBuf),
    /// Sent once each, by runs that take the next so many.
    Once(Vec<String>),
}

impl Requests {
    /// `GET` of these paths, again and again.
    pub fn get(folder: &Path, paths: &[String]) -> Self {
        Self {
            method: "GET",
            path: "/".to_owned(),
            line: "path",
            lines: Lines::Again(written(folder, paths)),
            headers: Vec::new(),
        }
    }

    /// `POST` of these bodies, again and again.
    pub fn post(folder: &Path, path: &str, bodies: &[String]) -> Self {
        Self {
            method: "POST",
            path: path.to_owned(),
            line: "body",
            lines: Lines::Again(written(folder, bodies)),
            headers: Vec::new(),
        }
    }

    /// Each only once, over all runs.
    pub fn once(mut self, lines: Vec<String>) -> Self {
        self.lines = Lines::Once(lines);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.headers.iter();
        headers
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// Loads a workerd for so many seconds with all that it can take.
    pub fn run(&mut self, folder: &Path, server: &Signpost, seconds: f64) -> Load {
        let (file, enough) = match &mut self.lines {
            Lines::Again(file) => (file.clone(), None),
            Lines::Once(lines) => {
                let most = (MOST_PER_SECOND * seconds) as usize;
                let next = &lines[..most.min(lines.len())];
                (written(folder, next), Some(next.len()))
            }
        };
        let url = format!("{}{}", server.base(), self.path);
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", &format!("-c{CONNECTIONS}"), "--timeout", "10s"])
            .arg(format!("-d{:.0}s", seconds.ceil()))
            .arg("-s")
            .arg(root().join("benches/speed/requests.lua"))
            .args([&url, "--", self.method, self.line])
            .arg(if enough.is_some() { "once" } else { "again" })
            .arg(&file);
        for (name, value) in &self.headers {
            wrk.args([name, value]);
        }
        let before = Threads::of(server.process());
        let children_before_s = children_ran_s();
        let told = said(&mut wrk);
        let generating_s = children_ran_s() - children_before_s;
        let threads = Threads::of(server.process()).since(&before);
        let last = told.lines().rfind(|line| line.starts_with('{'));
        let last = last.unwrap_or_else(|| panic!("wrk said nothing of its run: {told}"));
        let found: Value = serde_json::from_str(last).expect("JSON");
        let number = |name: &str| {
            found[name]
                .as_u64()
                .unwrap_or_else(|| panic!("no {name}: {told}"))
        };
        for error in ["connect", "read", "write", "status", "timeout"] {
            assert_eq!(number(error), 0, "{error} errors of {url}: {told}");
        }
        let requests = number("requests");
        if let Lines::Once(lines) = &mut self.lines {
            // What was under way at the end is spent too.
            let used = usize::try_from(requests).expect("a count") + CONNECTIONS as usize;
            assert!(
                used < lines.len(),
                "{used} requests were more than there are, {}",
                lines.len()
            );
            lines.drain(..used);
        }
        let took_s = number("microseconds") as f64 / 1e6;
        Load {
            requests,
            per_second: requests as f64 / took_s,
            busy: threads.busiest_s() / took_s,
            generating: generating_s / took_s,
            cpu_us: threads.ran_s() * 1e6 / requests as f64,
        }
    }
}

/// What a run of oha found, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    pub p50: f64,
    pub p99: f64,
}

/// Asks for a path so many times at a fixed rate. A request that could not be sent in time counts from when it should
/// have been (latency correction): a stall is felt by all whom it holds up. All answers have this status.
pub fn latency(
    server: &Signpost,
    path: &str,
    headers: &[(&str, &str)],
    status: u16,
    per_second: u32,
    requests: u32,
) -> Latency {
    let mut oha = Command::new(std::env::var_os("OHA").unwrap_or_else(|| "oha".into()));
    oha.args([
        "--no-tui",
        "--output-format",
        "json",
        "--latency-correction",
        "--redirect",
        "0",
    ])
    .args([
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
    let told = said(oha.arg(format!("{}{path}", server.base())));
    let found: Value = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error} in {told}"));
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
        seconds.unwrap_or_else(|| panic!("no {name} in {told}")) * 1e3
    };
    Latency {
        p50: percentile("p50"),
        p99: percentile("p99"),
    }
}

/// Writes the lines of a run to a file of its own.
fn written(folder: &Path, lines: &[String]) -> PathBuf {
    let file = tempfile::NamedTempFile::new_in(folder).expect("a file");
    fs::write(file.path(), lines.join("\n") + "\n").expect("a file written");
    file.into_temp_path().keep().expect("a file kept")
}

fn said(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// One after the other in each round, the order turned round from one to the next, so that what changes on the machine
/// meanwhile meets both alike. One round before, not counted, warms them up.
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
