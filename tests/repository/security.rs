//! What SECURITY.md says is tried is tried: the tests and files that it names are there.

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
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            assert!(fs::exists(path).unwrap(), "{name}");
        }
    }
    assert!(tests > 40, "{tests}");
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}
