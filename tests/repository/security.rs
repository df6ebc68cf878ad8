//! What SECURITY.md and the README say is tried is tried: the tests and files that they name are there.

use std::{fs, path::Path};

use crate::read;

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn each_test_that_security_names_is_there() {
    let security = read("SECURITY.md");
    let tried = security.split("## What has been tried").nth(1).unwrap();
    let mut tests = 0;
    for name in quoted(tried) {
        if let Some((module, test)) = name.split_once("::").filter(|(module, _)| is_name(module)) {
            let file = format!("tests/e2e/trust/{module}.rs");
            assert!(read(&file).contains(&format!("fn {test}()")), "{name}");
            tests += 1;
        }
        if name.starts_with("src/") || name.starts_with("tests/") {
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
            assert!(fs::exists(path).unwrap(), "{name}");
        }
    }
    assert!(tests > 40, "{tests}");
}

/// `cargo test` with a filter that matches nothing succeeds.
#[test]
fn each_command_that_shows_a_figure_again_runs_tests() {
    let readme = read("README.md");
    let mut commands = 0;
    for command in quoted(&readme) {
        let Some(filter) = command.split("cargo test --test e2e ").nth(1) else {
            continue;
        };
        let filter = filter.split(' ').next().unwrap().trim_end_matches("::");
        let path = format!("tests/e2e/{}", filter.replace("::", "/"));
        let (folder, _) = path.rsplit_once('/').unwrap();
        let module = |path: &str| [format!("{path}.rs"), format!("{path}/mod.rs")];
        let is_module = module(&path).iter().any(|file| fs::exists(file).unwrap());
        let is_test = || {
            let test = format!("fn {}", filter.rsplit("::").next().unwrap());
            let files = module(folder);
            let mut found = files.iter().filter(|file| fs::exists(file).unwrap());
            found.any(|file| read(file).contains(&test))
        };
        assert!(is_module || is_test(), "{command}");
        commands += 1;
    }
    assert!(commands > 10, "{commands}");
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}
