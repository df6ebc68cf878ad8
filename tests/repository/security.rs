//! The tests, files and commands that docs/TESTING.md names exist.

use std::fs;

use crate::{read, root};

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn each_test_that_security_names_is_there() {
    let testing = read("docs/TESTING.md");
    let section = testing.split("\n## Security tests\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut tests = 0;
    for name in quoted(section) {
        if let Some((module, test)) = name.split_once("::").filter(|(module, _)| is_name(module)) {
            let file = format!("tests/e2e/security/{module}.rs");
            assert!(read(&file).contains(&format!("fn {test}()")), "{name}");
            tests += 1;
        }
        if name.starts_with("src/") || name.starts_with("tests/") {
            assert!(root().join(name).exists(), "{name}");
        }
    }
    assert!(tests > 30, "{tests}");
}

/// `cargo test` with a filter that matches nothing succeeds.
#[test]
fn each_command_that_shows_a_figure_again_runs_tests() {
    let testing = read("docs/TESTING.md");
    let mut commands = 0;
    for command in quoted(&testing) {
        let Some(filter) = command.split("cargo test --workspace --test e2e ").nth(1) else {
            continue;
        };
        let filter = filter.split(' ').next().unwrap().trim_end_matches("::");
        let (module, test) = filter.rsplit_once("::").unwrap_or(("main", filter));
        let file = |module: &str| root().join(format!("tests/e2e/{}.rs", module.replace("::", "/")));
        let is_module = file(filter).exists();
        let is_test = || fs::read_to_string(file(module)).is_ok_and(|text| text.contains(&format!("fn {test}")));
        assert!(is_module || is_test(), "{command}");
        commands += 1;
    }
    assert!(commands > 6, "{commands}");
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}
