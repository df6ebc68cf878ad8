//! The verifiers that publishers paste from `fixtures/verifiers/`, in every language that is on the machine, and the
//! stock Standard Webhooks libraries of three registries: all take what Signpost signs, and nothing that was changed.

#![expect(
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

use cases::{Asked, Case};
use random::Random;
use standardwebhooks::Webhook;
use ureq::http::HeaderMap;

#[expect(clippy::disallowed_methods, reason = "a test runs where there is a clock")]
fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_1970.unwrap().as_secs().try_into().unwrap()
}

/// What a verifier of ours is asked: what is signed, what was changed, and what is odd.
fn asked() -> (u64, Vec<Asked>) {
    let now = now();
    let (seed, mut asked) = signed_and_changed(now);
    asked.extend(cases::odd(&cases::plain_get(&mut Random(seed), now), now));
    (seed, asked)
}

/// What stock libraries are asked, which know nothing of a signature in the query.
fn by_headers() -> (u64, Vec<Asked>) {
    let (seed, mut asked) = signed_and_changed(now());
    asked.retain(|asked| matches!(asked.case, Case::Headers { .. }));
    (seed, asked)
}

/// Another seed each time: what fails says it, and SEED= runs the same again, at the present time.
fn signed_and_changed(now: i64) -> (u64, Vec<Asked>) {
    let seed = match env::var("SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => now.unsigned_abs(),
    };
    let random = &mut Random(seed);
    let signed = cases::signed(random, now);
    let mut asked = cases::as_signed(&signed, now);
    asked.extend(cases::changed(random, &signed, now));
    (seed, asked)
}

/// Fails unless a verifier's answers are the expected ones.
fn judge(who: &str, seed: u64, asked: &[Asked], answers: &[bool]) {
    assert_eq!(answers.len(), asked.len(), "{who}, SEED={seed}");
    let (good, bad): (Vec<_>, Vec<_>) = asked.iter().partition(|asked| asked.good);
    assert!(good.len() > 40 && bad.len() > 500, "too little is asked");
    for (asked, answer) in asked.iter().zip(answers) {
        assert_eq!(*answer, asked.good, "{who}, SEED={seed}: {asked:?}");
    }
}

/// What a program says of each case: a line of JSON in, a line out.
fn ask(command: &mut Command, asked: &[Asked]) -> Vec<bool> {
    let mut input = tempfile::tempfile().unwrap();
    let mut lines = String::new();
    for asked in asked {
        writeln!(lines, "{}", serde_json::to_string(&asked.case).unwrap()).unwrap();
    }
    input.write_all(lines.as_bytes()).unwrap();
    input.rewind().unwrap();
    let ran = command
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stdin(Stdio::from(input))
        .output();
    let ran = ran.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ran.status.success(), "{command:?}\n{ran:?}");
    let answer = |line: &str| match line {
        "ok" => true,
        "bad" => false,
        other => panic!("{command:?} says {other}"),
    };
    String::from_utf8(ran.stdout)
        .unwrap()
        .lines()
        .map(answer)
        .collect()
}

fn is_on_the_machine(program: &str, version: &str) -> bool {
    let ran = Command::new(program).arg(version).output();
    ran.is_ok_and(|ran| ran.status.success())
}

#[test]
fn the_python_verifier_takes_what_is_signed_and_nothing_else() {
    let (seed, asked) = asked();
    let mut command = Command::new("python3");
    let answers = ask(command.args(["-B", "fixtures/verifiers/verify.py"]), &asked);
    judge("verify.py", seed, &asked, &answers);
}

#[test]
fn the_verifier_in_the_readme_is_the_one_that_is_tested() {
    let read = |path: &str| {
        fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)).unwrap()
    };
    let readme = read("README.md");
    let (_, shown) = readme.split_once("```python\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let (_, function) = shown.split_once("\n\n").unwrap();
    // It has a description and comments besides.
    let tested = read("fixtures/verifiers/verify.py");
    let mut tested = tested.lines();
    for line in function.lines() {
        assert!(tested.any(|tested| tested == line), "{line}");
    }
}

#[test]
fn the_node_verifier_takes_what_is_signed_and_nothing_else() {
    let (seed, asked) = asked();
    let answers = ask(Command::new("node").arg("fixtures/verifiers/verify.mjs"), &asked);
    judge("verify.mjs", seed, &asked, &answers);
}

#[test]
fn the_rust_verifier_takes_what_is_signed_and_nothing_else() {
    let (seed, asked) = asked();
    let answers: Vec<_> = asked.iter().map(|asked| rust_says(&asked.case)).collect();
    judge("verify.rs", seed, &asked, &answers);
}

fn rust_says(case: &Case) -> bool {
    match case {
        Case::Headers {
            secret,
            id,
            timestamp,
            signature,
            payload,
            now,
        } => {
            let header = |name: &str| match name {
                "webhook-id" => Some(id.as_str()),
                "webhook-timestamp" => Some(timestamp.as_str()),
                "webhook-signature" => Some(signature.as_str()),
                _ => None,
            };
            verify::verify(secret, header, payload.as_bytes(), *now)
        }
        Case::Query { secret, query, name } => verify::verify_query(secret, query, name),
    }
}

#[test]
fn the_verifiers_of_languages_on_the_machine_take_what_is_signed_and_nothing_else() {
    for (program, version, arguments) in [
        ("php", "--version", &["fixtures/verifiers/verify.php"][..]),
        ("go", "version", &["run", "fixtures/verifiers/verify.go"]),
    ] {
        if !is_on_the_machine(program, version) {
            // Not by a macro: what those print is kept back where a test passes.
            let skipped = format!("verifiers: {program} is not on this machine, its verifier is skipped\n");
            io::stderr().write_all(skipped.as_bytes()).unwrap();
            continue;
        }
        let (seed, asked) = asked();
        let answers = ask(Command::new(program).args(arguments), &asked);
        judge(program, seed, &asked, &answers);
    }
}

#[test]
fn the_stock_library_of_crates_io_takes_what_is_signed_and_nothing_else() {
    let (seed, asked) = by_headers();
    let says = |case: &Case| {
        let Case::Headers {
            secret,
            id,
            timestamp,
            signature,
            payload,
            ..
        } = case
        else {
            unreachable!()
        };
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("webhook-id", id),
            ("webhook-timestamp", timestamp),
            ("webhook-signature", signature),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let webhook = Webhook::new(secret).unwrap();
        webhook.verify(payload.as_bytes(), &headers).is_ok()
    };
    let answers: Vec<_> = asked.iter().map(|asked| says(&asked.case)).collect();
    judge("standardwebhooks, crates.io", seed, &asked, &answers);
}

#[test]
fn the_stock_library_of_npm_takes_what_is_signed_and_nothing_else() {
    let (seed, asked) = by_headers();
    let answers = ask(Command::new("node").arg("tests/verifiers/stock.mjs"), &asked);
    judge("standardwebhooks, npm", seed, &asked, &answers);
}

/// It compares bytes and not texts, so it also takes another text for the same bytes, which forges nothing.
#[test]
fn the_stock_library_of_pypi_takes_what_is_signed_and_nothing_else() {
    let (seed, mut asked) = by_headers();
    asked.retain(|asked| !asked.same_bytes);
    let mut command = Command::new("python3");
    let command = command
        .args(["-B", "tests/verifiers/stock.py"])
        .env("PYTHONPATH", ".tools/python");
    judge("standardwebhooks, PyPI", seed, &asked, &ask(command, &asked));
}
