//! Sets up a publisher for a test: its facts, its report keys and its reports. Each test has its own publisher with its
//! own ledger, so that tests can share a Signpost.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use serde_json::{Value, json};

use super::{Answer, OPERATOR_TOKEN, Signpost, now_ms};
use domain::model::time::UtcDay;

pub const REPORT: &str = "/v1/core/reporting/public/signal/report/generate";

/// How long a key rests after an answer, in milliseconds, to stay within its rate of one request in 2 s.
const REST_MS: i64 = 2_010;
/// Concurrent uploads, as in a backfill.
const CLIENTS: usize = 3;
/// The most keys that rest at a time. A publisher may have 100 keys.
const RESTING: usize = 60;

/// A report key with its secret, which is shown only at creation.
pub struct ReportKey {
    pub id: String,
    pub api_key: String,
}

pub struct Publisher<'s> {
    signpost: &'s Signpost,
    pub id: String,
    /// Used keys, oldest first, with the time in milliseconds from which each may be used again.
    resting: Mutex<VecDeque<(i64, ReportKey)>>,
}

impl Signpost {
    /// Puts a publisher. No other test may use its id.
    pub fn publisher(&self, id: &str) -> Publisher<'_> {
        self.put(&format!("publishers/{id}"), &json!({"name": format!("Publisher {id}"), "approved": true}));
        self.existing_publisher(id)
    }

    /// Uses an existing publisher, with new report keys.
    pub fn existing_publisher(&self, id: &str) -> Publisher<'_> {
        Publisher { signpost: self, id: id.to_owned(), resting: Mutex::default() }
    }

    /// Requests a report with any headers and body.
    pub fn report(&self, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send("POST", REPORT, headers, body)
    }

    /// Requests a report with this key, which may be invalid, and otherwise usual headers.
    pub fn report_with(&self, api_key: &str, body: &[u8]) -> Answer {
        let headers = [("X-Api-Key", api_key), ("Content-Type", "application/json")];
        self.report(&headers, body)
    }

    /// The peak WebAssembly memory of an isolate so far, in bytes.
    pub fn wasm_memory(&self) -> u64 {
        self.metric("signpost_isolate_wasm_memory_bytes")
    }

    /// workerd's resident memory from `/proc`, now and at most.
    pub fn process_memory(&self) -> String {
        let process = self.process();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
        let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
        lines.collect::<Vec<_>>().join(", ").replace('\t', " ")
    }
}

impl Publisher<'_> {
    /// Calls the operator's interface for this publisher.
    pub fn operator(&self, method: &str, rest: &str, body: Option<&Value>) -> Answer {
        self.signpost.operator(method, &format!("publishers/{}/{rest}", self.id), body)
    }

    #[track_caller]
    pub fn create_key(&self, label: &str) -> ReportKey {
        self.create_key_for("ia-reporting.READ", label)
    }

    #[track_caller]
    pub fn create_key_for(&self, scope: &str, label: &str) -> ReportKey {
        let answer = self.operator("POST", "report_keys", Some(&json!({ "label": label, "scope": scope })));
        let answer = answer.expect(201).json();
        assert_eq!(answer["scope"], scope);
        let text = |member: &str| answer[member].as_str().expect("a text").to_owned();
        ReportKey { id: text("key_id"), api_key: text("api_key") }
    }

    #[track_caller]
    pub fn revoke_key(&self, key: &ReportKey) {
        let path = format!("report_keys/{}", key.id);
        self.operator("DELETE", &path, None).expect(204);
    }

    /// Sends facts to `facts` or `facts/{date}`.
    pub fn send_facts(&self, method: &str, rest: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let path = format!("publishers/{}/{rest}", self.id);
        self.signpost.operate(method, &path, headers, body)
    }

    /// Replaces the facts of a day with CSV.
    pub fn put_facts(&self, date: &str, csv: &str) -> Answer {
        let headers = [("Content-Type", "text/csv")];
        self.send_facts("PUT", &format!("facts/{date}"), &headers, csv.as_bytes())
    }

    /// Puts this many days of CSV, several at a time, and checks that all rows were counted.
    pub fn put_days(
        &self,
        days: usize,
        date: impl Fn(usize) -> String + Sync,
        csv: impl Fn(usize) -> String + Sync,
        rows: impl Fn(usize) -> usize + Sync,
    ) {
        let (date, csv, rows) = (&date, &csv, &rows);
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || {
                    for day in (client..days).step_by(CLIENTS) {
                        let answer = self.put_facts(&date(day), &csv(day)).expect(200);
                        assert_eq!(answer.json(), json!({"rows": rows(day)}), "{answer:?}");
                    }
                });
            }
        });
    }

    /// Adds facts from CSV under an idempotency key.
    pub fn add_facts(&self, key: &str, csv: &str) -> Answer {
        let headers = [("Content-Type", "text/csv"), ("Idempotency-Key", key)];
        self.send_facts("POST", "facts", &headers, csv.as_bytes())
    }

    /// Sends the head of a PUT of CSV and half of its body. The test may send the rest.
    pub fn begin_facts(&self, date: &str, csv: &str) -> TcpStream {
        let port = self.signpost.ports.lock().expect("ports").http;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("workerd listens");
        let head = format!(
            "PUT /v1/operator/publishers/{}/facts/{date} HTTP/1.1\r\nHost: localhost\r\n\
             Authorization: Bearer {OPERATOR_TOKEN}\r\nContent-Type: text/csv\r\nContent-Length: {}\r\n\r\n",
            self.id,
            csv.len()
        );
        stream.write_all(head.as_bytes()).expect("a head sent");
        let half = csv.len() / 2;
        stream.write_all(&csv.as_bytes()[..half]).expect("half a body sent");
        stream
    }

    /// The stored days, newest first.
    #[track_caller]
    pub fn days(&self) -> Vec<Value> {
        let answer = self.operator("GET", "facts?limit=1000", None).expect(200).json();
        assert!(answer["cursor"].is_null(), "{answer}");
        let mut days = answer["days"].as_array().expect("days").clone();
        // A day may become final at any time.
        for day in &mut days {
            day.as_object_mut().expect("a day").remove("state");
        }
        days
    }

    /// Requests a report as JSON with a key that is within its rate.
    #[track_caller]
    pub fn report(&self, query: &Value) -> Answer {
        self.report_as("application/json", query)
    }

    /// Requests a report in another format with a key that is within its rate.
    #[track_caller]
    pub fn report_as(&self, accept: &str, query: &Value) -> Answer {
        self.prepare(accept, query)()
    }

    /// Makes a key ready that is within its rate, and returns a function that requests the report.
    #[track_caller]
    pub fn prepare(&self, accept: &str, query: &Value) -> impl FnOnce() -> Answer {
        let key = self.rested_key();
        move || {
            let headers =
                [("X-Api-Key", key.api_key.as_str()), ("Content-Type", "application/json"), ("Accept", accept)];
            let answer = self.signpost.report(&headers, query.to_string().as_bytes());
            let mut resting = self.resting.lock().expect("keys");
            resting.push_back((now_ms() + REST_MS, key));
            answer
        }
    }

    /// The rows of a report. A 204 has none.
    #[track_caller]
    pub fn rows(&self, query: &Value) -> Vec<Value> {
        let answer = self.report(query);
        if answer.status == 204 {
            return Vec::new();
        }
        let body = answer.expect(200).json();
        body["rows"].as_array().expect("rows").clone()
    }

    /// The offerwall clicks of today and yesterday that reports count so far.
    #[track_caller]
    pub fn clicks(&self) -> u64 {
        let today = UtcDay::of_ms(now_ms());
        let rows = self.rows(&json!({
            "date_range": {"start_date": today.minus(1).to_string(), "end_date": today.to_string()},
            "dimensions": ["demand_source"], "metrics": ["clicks"],
            "filters": [{"dimension": "demand_source", "values": ["offerwall"]}],
        }));
        rows.iter().map(|row| row["clicks"].as_u64().unwrap_or(0)).sum()
    }

    /// Takes a key that may be used now. Creating one is faster than waiting; beyond [`RESTING`], the oldest is
    /// revoked.
    fn rested_key(&self) -> ReportKey {
        let mut oldest = None;
        {
            let mut resting = self.resting.lock().expect("keys");
            let rested = resting.front().is_some_and(|(from_ms, _)| *from_ms <= now_ms());
            if rested || resting.len() >= RESTING {
                oldest = resting.pop_front();
            }
        }
        match oldest {
            Some((from_ms, key)) if from_ms <= now_ms() => return key,
            Some((_, key)) => self.revoke_key(&key),
            None => {}
        }
        self.create_key("a test's")
    }
}

/// Compresses with the `gzip` program, as an operator would.
pub fn gzip(body: &[u8]) -> Vec<u8> {
    pass_through_gzip(&["-1", "-n", "-c"], body)
}

pub fn gunzip(body: &[u8]) -> Vec<u8> {
    pass_through_gzip(&["-d", "-c"], body)
}

fn pass_through_gzip(arguments: &[&str], body: &[u8]) -> Vec<u8> {
    let mut program =
        Command::new("gzip").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("gzip");
    let mut input = program.stdin.take().expect("a pipe");
    let mut output = program.stdout.take().expect("a pipe");
    let mut packed = Vec::new();
    // Write and read concurrently: with full pipes, each would wait for the other.
    thread::scope(|scope| {
        scope.spawn(move || input.write_all(body).expect("gzip reads"));
        output.read_to_end(&mut packed).expect("gzip writes");
    });
    assert!(program.wait().expect("gzip ended").success());
    packed
}
