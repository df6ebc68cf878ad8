//! DuckDB as a child process that is queried line by line, see `benches/duckdb_report.py`.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use crate::harness::root;

pub struct DuckDb {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl DuckDb {
    /// Starts it with these facts. It writes its answers to the file `answer`.
    pub fn start(facts: &Path, answer: &Path) -> Self {
        let mut child = Command::new("python3")
            .arg(root().join("benches/duckdb_report.py"))
            .args([facts, answer])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3, which the Makefile installs");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut started = Self { child, to, from };
        assert_eq!(started.line(), "ready");
        started
    }

    /// The answer to the n-th query.
    pub fn answer(&mut self, query: usize) -> Value {
        self.ask(&format!("answer {query}"))
    }

    /// The mean time of the n-th query over so many runs, in milliseconds.
    pub fn ms(&mut self, query: usize, runs: usize) -> f64 {
        let took = self.ask(&format!("time {query} {runs}"));
        let took = took.as_array().expect("runs");
        let seconds = took.iter().map(|run| run[1].as_f64().expect("seconds"));
        seconds.sum::<f64>() * 1e3 / took.len() as f64
    }

    fn ask(&mut self, what: &str) -> Value {
        writeln!(self.to, "{what}").expect("DuckDB listens");
        serde_json::from_str(&self.line()).expect("JSON")
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("DuckDB answers");
        line.trim_end().to_owned()
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
