//! Tests of the verifiers in `fixtures/verifiers/`, in every installed language, and of the stock Standard Webhooks
//! libraries of three registries. Each accepts what Signpost signs and refuses every change. `signers` tests the
//! signers of clicks, and `spreadsheets` opens what is exported.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

mod cases;
#[path = "../support/random.rs"]
mod numbers;
mod random;
mod receiver;
#[path = "../../fixtures/signers/sign.rs"]
mod sign;
mod signers;
mod spreadsheets;
#[path = "../../fixtures/verifiers/verify.rs"]
mod verify;

use std::{
    env,
    fmt::Write as _,
    fs,
    io::{self, Seek, Write},
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use cases::{Case, Check};
use random::Random;
use serde::Serialize;
use standardwebhooks::Webhook;
use ureq::http::HeaderMap;

#[expect(clippy::disallowed_methods, reason = "a test runs where there is a clock")]
fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_1970.unwrap().as_secs().try_into().unwrap()
}

/// Cases for the verifiers of this repository: signed requests, changed ones and edge cases. Returns the seed first.
fn all_checks() -> (u64, Vec<Check>) {
    let now = now();
    let (seed, mut checks) = signed_and_changed(now);
    checks.extend(cases::edge_cases(&cases::plain_get(&mut Random(seed), now), now));
    checks.extend(cases::times(&mut Random(seed), now));
    (seed, checks)
}

/// Cases for stock libraries, which do not know a signature in the query.
fn by_headers() -> (u64, Vec<Check>) {
    let (seed, mut checks) = signed_and_changed(now());
    checks.retain(|check| matches!(check.case, Case::Headers { .. }));
    (seed, checks)
}

/// Draws a new seed in each run. A failure prints it, and `SEED=` repeats the run at the present time.
fn signed_and_changed(now: i64) -> (u64, Vec<Check>) {
    let seed = match env::var("SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => now.unsigned_abs(),
    };
    let random = &mut Random(seed);
    let signed = cases::signed(random, now);
    let mut checks = cases::as_signed(&signed, now);
    checks.extend(cases::changed(random, &signed, now));
    (seed, checks)
}

/// Fails unless a verifier's answers are the expected ones.
fn assert_answers(verifier: &str, seed: u64, checks: &[Check], answers: &[bool]) {
    assert_eq!(answers.len(), checks.len(), "{verifier}, SEED={seed}");
    let (good, bad): (Vec<_>, Vec<_>) = checks.iter().partition(|check| check.good);
    assert!(good.len() > 40 && bad.len() > 500, "too few cases");
    for (check, answer) in checks.iter().zip(answers) {
        assert_eq!(*answer, check.good, "{verifier}, SEED={seed}: {check:?}");
    }
}

/// Runs a program that reads one case per line as JSON and writes `ok` or `bad` per line.
fn run_verifier(command: &mut Command, checks: &[Check]) -> Vec<bool> {
    let cases: Vec<_> = checks.iter().map(|check| &check.case).collect();
    let answers = run_on_lines(command, &cases);
    let answer = |line: &String| match line.as_str() {
        "ok" => true,
        "bad" => false,
        other => panic!("{command:?} printed {other}"),
    };
    answers.iter().map(answer).collect()
}

/// Runs a program that reads one value per line as JSON. Returns the lines that it writes.
fn run_on_lines(command: &mut Command, values: &[impl Serialize]) -> Vec<String> {
    let mut input = tempfile::tempfile().unwrap();
    let mut lines = String::new();
    for value in values {
        writeln!(lines, "{}", serde_json::to_string(value).unwrap()).unwrap();
    }
    input.write_all(lines.as_bytes()).unwrap();
    input.rewind().unwrap();
    let ran = command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).stdin(Stdio::from(input)).output();
    let ran = ran.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ran.status.success(), "{command:?}\n{ran:?}");
    let written = String::from_utf8(ran.stdout).unwrap();
    written.lines().map(str::to_owned).collect()
}

fn is_installed(program: &str, version: &str) -> bool {
    let ran = Command::new(program).arg(version).output();
    ran.is_ok_and(|ran| ran.status.success())
}

/// Says that a program is not installed, directly, since the output of `eprintln!` is hidden when the test passes.
fn skipped(what: &str, program: &str) {
    let skipped = format!("verifiers: {program} is not installed, its {what} is skipped\n");
    io::stderr().write_all(skipped.as_bytes()).unwrap();
}

#[test]
fn the_python_verifier_accepts_only_signed_requests() {
    let (seed, checks) = all_checks();
    let mut command = Command::new("python3");
    let answers = run_verifier(command.args(["-B", "fixtures/verifiers/verify.py"]), &checks);
    assert_answers("verify.py", seed, &checks, &answers);
}

#[test]
fn the_signer_in_the_document_equals_the_tested_one() {
    let read =
        |path: &str| fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)).unwrap();
    let document = read("docs/INTEGRATING.md");
    let blocks: Vec<_> = document.split("```python\n").skip(1).collect();
    assert_eq!(blocks.len(), 1);
    let (shown, _) = blocks[0].split_once("```").unwrap();
    let (_, function) = shown.split_once("\n\n").unwrap();
    // The fixture has a description and comments besides.
    let tested = read("fixtures/signers/sign.py");
    let mut tested = tested.lines();
    for line in function.lines() {
        assert!(tested.any(|tested| tested == line), "{line}");
    }
}

#[test]
fn the_node_verifier_accepts_only_signed_requests() {
    let (seed, checks) = all_checks();
    let answers = run_verifier(Command::new("node").arg("fixtures/verifiers/verify.mjs"), &checks);
    assert_answers("verify.mjs", seed, &checks, &answers);
}

/// No comparison with `undefined` is true, so a receiver that passes no time must not skip the check of it.
#[test]
fn the_node_verifier_refuses_every_request_without_a_time() {
    let (_, checks) = all_checks();
    let untimed = checks.iter().filter(|check| check.good).map(|check| {
        let mut case = serde_json::to_value(&check.case).unwrap();
        case.as_object_mut().unwrap().remove("now").unwrap();
        case
    });
    let untimed: Vec<_> = untimed.collect();
    let answers = run_on_lines(Command::new("node").arg("fixtures/verifiers/verify.mjs"), &untimed);
    assert_eq!(answers, vec!["bad"; untimed.len()]);
}

#[test]
fn the_rust_verifier_accepts_only_signed_requests() {
    let (seed, checks) = all_checks();
    let answers: Vec<_> = checks.iter().map(|check| rust_accepts(&check.case)).collect();
    assert_answers("verify.rs", seed, &checks, &answers);
}

fn rust_accepts(case: &Case) -> bool {
    match case {
        Case::Headers { secret, id, timestamp, signature, payload, now } => {
            let header = |name: &str| match name {
                "webhook-id" => Some(id.as_str()),
                "webhook-timestamp" => Some(timestamp.as_str()),
                "webhook-signature" => Some(signature.as_str()),
                _ => None,
            };
            verify::verify(secret, header, payload.as_bytes(), *now)
        }
        Case::Query { secret, query, name, now } => verify::verify_query(secret, query, name, *now),
    }
}

#[test]
fn the_php_and_go_verifiers_accept_only_signed_requests() {
    for (program, version, arguments) in [
        ("php", "--version", &["fixtures/verifiers/verify.php"][..]),
        ("go", "version", &["run", "fixtures/verifiers/verify.go"]),
    ] {
        if !is_installed(program, version) {
            skipped("verifier", program);
            continue;
        }
        let (seed, checks) = all_checks();
        let answers = run_verifier(Command::new(program).args(arguments), &checks);
        assert_answers(program, seed, &checks, &answers);
    }
}

#[test]
fn the_stock_library_of_crates_io_accepts_only_signed_requests() {
    let (seed, checks) = by_headers();
    let accepts = |case: &Case| {
        let Case::Headers { secret, id, timestamp, signature, payload, .. } = case else { unreachable!() };
        let mut headers = HeaderMap::new();
        for (name, value) in [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)] {
            headers.insert(name, value.parse().unwrap());
        }
        let webhook = Webhook::new(secret).unwrap();
        webhook.verify(payload.as_bytes(), &headers).is_ok()
    };
    let answers: Vec<_> = checks.iter().map(|check| accepts(&check.case)).collect();
    assert_answers("standardwebhooks, crates.io", seed, &checks, &answers);
}

#[test]
fn the_stock_library_of_npm_accepts_only_signed_requests() {
    let (seed, checks) = by_headers();
    let answers = run_verifier(Command::new("node").arg("tests/verifiers/stock.mjs"), &checks);
    assert_answers("standardwebhooks, npm", seed, &checks, &answers);
}

/// This library compares decoded bytes, so it accepts another text for the same bytes, which forges nothing.
#[test]
fn the_stock_library_of_pypi_accepts_only_signed_requests() {
    let (seed, mut checks) = by_headers();
    checks.retain(|check| !check.same_bytes);
    let mut command = Command::new("python3");
    let command = command.args(["-B", "tests/verifiers/stock.py"]).env("PYTHONPATH", ".tools/python");
    assert_answers("standardwebhooks, PyPI", seed, &checks, &run_verifier(command, &checks));
}
