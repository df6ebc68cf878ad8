//! A publisher of a test's own: its facts, its report keys and what it asks. It has a ledger to itself, so that tests may
//! share a Signpost.

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

/// How long a key rests after its answer; its request was accepted before that.
const REST_MS: i64 = 2_010;
/// Several uploads at once, as a backfill would come.
const CLIENTS: usize = 3;
/// Keys that rest, of the 100 that a publisher may have.
const RESTING: usize = 60;

/// A report key, as it is shown once.
pub struct ReportKey {
    pub id: String,
    pub api_key: String,
}

pub struct Publisher<'s> {
    signpost: &'s Signpost,
    pub id: String,
    /// Keys that asked, the longest rested first, and from when on each may ask again.
    resting: Mutex<VecDeque<(i64, ReportKey)>>,
}

impl Signpost {
    /// Puts a publisher that no other test has.
    pub fn publisher(&self, id: &str) -> Publisher<'_> {
        self.put(
            &format!("publishers/{id}"),
            &json!({"name": format!("Publisher {id}"), "approved": true}),
        );
        self.known_publisher(id)
    }

    /// One that is there already, with report keys of the test's own.
    pub fn known_publisher(&self, id: &str) -> Publisher<'_> {
        Publisher {
            signpost: self,
            id: id.to_owned(),
            resting: Mutex::default(),
        }
    }

    /// Asks for a report with a body that need not be JSON.
    pub fn report(&self, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send("POST", REPORT, headers, body)
    }

    /// The same with a key, which may be none, and nothing else that is out of the ordinary.
    pub fn report_with(&self, api_key: &str, body: &[u8]) -> Answer {
        let headers = [("X-Api-Key", api_key), ("Content-Type", "application/json")];
        self.report(&headers, body)
    }

    /// The most memory that the module has needed so far, in bytes.
    pub fn wasm_memory(&self) -> u64 {
        self.metric("signpost_isolate_wasm_memory_bytes")
    }

    /// What the kernel says of workerd's memory: now, and at most.
    pub fn process_memory(&self) -> String {
        let process = self.process();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
        let lines = status
            .lines()
            .filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
        lines.collect::<Vec<_>>().join(", ").replace('\t', " ")
    }
}

impl Publisher<'_> {
    /// A call of the operator's interface about this publisher.
    pub fn operator(&self, method: &str, rest: &str, body: Option<&Value>) -> Answer {
        self.signpost
            .operator(method, &format!("publishers/{}/{rest}", self.id), body)
    }

    #[track_caller]
    pub fn create_key(&self, label: &str) -> ReportKey {
        let answer = self.operator("POST", "report_keys", Some(&json!({ "label": label })));
        let answer = answer.expect(201).json();
        let text = |member: &str| answer[member].as_str().expect("a text").to_owned();
        ReportKey {
            id: text("key_id"),
            api_key: text("api_key"),
        }
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

    /// Replaces a day by CSV.
    pub fn put_facts(&self, date: &str, csv: &str) -> Answer {
        let headers = [("Content-Type", "text/csv")];
        self.send_facts("PUT", &format!("facts/{date}"), &headers, csv.as_bytes())
    }

    /// Puts so many days of CSV, several at a time, and checks that all of their rows were counted.
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

    /// Adds CSV.
    pub fn add_facts(&self, key: &str, csv: &str) -> Answer {
        let headers = [("Content-Type", "text/csv"), ("Idempotency-Key", key)];
        self.send_facts("POST", "facts", &headers, csv.as_bytes())
    }

    /// Sends the head of a PUT of CSV and half of its body. What becomes of the rest is up to the test.
    pub fn begin_facts(&self, date: &str, csv: &str) -> TcpStream {
        let port = self.signpost.ports.lock().expect("ports").http;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("workerd listens");
        let head = format!(
            "PUT /v1/operator/publishers/{}/facts/{date} HTTP/1.1\r\nHost: operator.signpost.example\r\n\
             Authorization: Bearer {OPERATOR_TOKEN}\r\nContent-Type: text/csv\r\nContent-Length: {}\r\n\r\n",
            self.id,
            csv.len()
        );
        stream.write_all(head.as_bytes()).expect("a head sent");
        let half = csv.len() / 2;
        stream
            .write_all(&csv.as_bytes()[..half])
            .expect("half a body sent");
        stream
    }

    /// What is kept of each day, the newest first.
    #[track_caller]
    pub fn days(&self) -> Vec<Value> {
        let answer = self.operator("GET", "facts?limit=1000", None).expect(200).json();
        assert!(answer["cursor"].is_null(), "{answer}");
        answer["days"].as_array().expect("days").clone()
    }

    /// Asks with a key that is not held up by its rate.
    #[track_caller]
    pub fn ask(&self, query: &Value) -> Answer {
        self.ask_as("application/json", query)
    }

    /// The same in another format.
    #[track_caller]
    pub fn ask_as(&self, accept: &str, query: &Value) -> Answer {
        self.prepare(accept, query)()
    }

    /// The same when it is called: a key that may ask is there before.
    #[track_caller]
    pub fn prepare(&self, accept: &str, query: &Value) -> impl FnOnce() -> Answer {
        let key = self.rested_key();
        move || {
            let headers = [
                ("X-Api-Key", key.api_key.as_str()),
                ("Content-Type", "application/json"),
                ("Accept", accept),
            ];
            let answer = self.signpost.report(&headers, query.to_string().as_bytes());
            let mut resting = self.resting.lock().expect("keys");
            resting.push_back((now_ms() + REST_MS, key));
            answer
        }
    }

    /// The rows of a report, none if there are none.
    #[track_caller]
    pub fn rows(&self, query: &Value) -> Vec<Value> {
        let answer = self.ask(query);
        if answer.status == 204 {
            return Vec::new();
        }
        let body = answer.expect(200).json();
        body["rows"].as_array().expect("rows").clone()
    }

    /// The clicks of its offers, of today and of yesterday, as far as they were counted.
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

    /// A new key costs less than to wait for one, and another one has to go for it in the end.
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

/// Packs with the program that an operator would use.
pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut program = Command::new("gzip")
        .args(["-1", "-n", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip");
    let mut input = program.stdin.take().expect("a pipe");
    let mut output = program.stdout.take().expect("a pipe");
    let mut packed = Vec::new();
    // Both at once, or both would wait for the other when the pipes are full.
    thread::scope(|scope| {
        scope.spawn(move || input.write_all(body).expect("gzip reads"));
        output.read_to_end(&mut packed).expect("gzip writes");
    });
    assert!(program.wait().expect("gzip ended").success());
    packed
}
