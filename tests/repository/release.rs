//! The release: its version is the same everywhere, and `.ci/release` tags only a commit that has all that a release
//! needs.

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    process::{Command, Output},
    time::{SystemTime, UNIX_EPOCH},
};

use chrono::DateTime;

use crate::{read, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn every_file_that_names_the_version_has_that_of_the_workspace() {
    for (path, line) in [
        ("Cargo.toml", format!("version = \"{VERSION}\"")),
        ("openapi.yaml", format!("  version: {VERSION}")),
        ("openapi-dashboard.yaml", format!("  version: {VERSION}")),
        ("clients/python/pyproject.toml", format!("version = \"{VERSION}\"")),
        ("clients/python/src/signpost_client/version.py", format!("__version__ = \"{VERSION}\"")),
        ("clients/typescript/package.json", format!("  \"version\": \"{VERSION}\",")),
        ("clients/typescript/src/version.ts", format!("export const VERSION = \"{VERSION}\";")),
    ] {
        assert!(read(path).lines().any(|found| found == line), "{path} has no line `{line}`");
    }
}

/// A command that sees neither the repository nor the `make` in which the tests may run.
fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "MAKEFLAGS", "MAKELEVEL"] {
        command.env_remove(variable);
    }
    command
}

/// A repository with only the files that `.ci/release` reads.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new() -> Self {
        let checkout = Self(tempfile::tempdir().unwrap());
        checkout.git(&["init", "--quiet", "--initial-branch=main"]);
        checkout.write(".gitignore", "/build\n/target\n");
        checkout.write("Cargo.toml", "[workspace.package]\nversion = \"0.3.0\"\n");
        checkout.write("Cargo.lock", "");
        checkout.write("Makefile", "pass:\n\t@echo passed\nfail:\n\t@false\nchange:\n\t@echo >>src/lib.rs\n");
        checkout.write("src/lib.rs", "");
        checkout.write("build/edge/index.js", "1");
        checkout.write("build/origin/index.js", "1");
        fs::create_dir(checkout.path().join(".ci")).unwrap();
        fs::copy(root().join(".ci/release"), checkout.path().join(".ci/release")).unwrap();
        checkout.commit();
        checkout
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
        let output = command("git").current_dir(self.path()).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]);
    }

    fn release(&self, goals: &str) -> Output {
        command(self.path().join(".ci/release"))
            .env("CHECKS", goals)
            .env("GIT_COMMITTER_NAME", "test")
            .env("GIT_COMMITTER_EMAIL", "test@example.com")
            .output()
            .unwrap()
    }

    /// Fails the test unless the release is refused with exactly these lines after the first, and without a tag.
    #[track_caller]
    fn refuses(&self, goals: &str, lines: &[&str]) {
        let output = self.release(goals);
        assert!(!output.status.success(), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        let found: Vec<&str> =
            errors.lines().filter(|line| !line.starts_with("make") && !line.ends_with("cannot be released:")).collect();
        assert_eq!(found, lines);
        assert_eq!(self.git(&["tag", "--list"]), "");
    }
}

/// The UTC date of today.
#[expect(clippy::disallowed_methods, reason = "this test runs natively only")]
fn today() -> String {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let now = DateTime::from_timestamp_secs(now_s.cast_signed()).unwrap();
    now.format("%F").to_string()
}

#[test]
fn a_release_needs_its_entry_its_state_and_a_clean_main_and_is_tagged_after_its_checks() {
    let checkout = Checkout::new();
    let today = today();
    let no_entry = format!("CHANGELOG.md has no \"## 0.3.0 - {today}\".");
    let no_state = "fixtures/releases/0.3.0 is missing: make it, see CONTRIBUTING.md (\"Make a release\").";
    checkout.write("CHANGELOG.md", "## 0.2.0 - 2026-01-01\n\nold\n");
    checkout.git(&["checkout", "--quiet", "-b", "other"]);
    let dirty = "Uncommitted changes: commit them or remove them.";
    checkout.refuses("pass", &[dirty, "This branch is not main.", &no_entry, no_state]);

    checkout.git(&["checkout", "--quiet", "main"]);
    checkout.write("fixtures/releases/0.3.0/state.tar.gz", "1");
    checkout.commit();
    checkout.write("src/lib.rs", "// later\n");
    checkout.commit();
    let stale = "The code changed after fixtures/releases/0.3.0 was made: make it again, see CONTRIBUTING.md (\"Make \
                 a release\").";
    checkout.refuses("pass", &[&no_entry, stale]);

    checkout.write("fixtures/releases/0.3.0/promises.json", "[]");
    checkout.commit();
    checkout.refuses("pass", &[&no_entry, stale]);

    checkout.write("fixtures/releases/0.3.0/state.tar.gz", "2");
    let entry = format!("## 0.3.0 - {today}\n\n### Added\n\n- A sign.\n\n## 0.2.0 - 2026-01-01\n\nold\n");
    checkout.write("CHANGELOG.md", &entry);
    checkout.commit();
    checkout.refuses("pass fail", &[]);
    checkout.refuses("change", &["The sources changed while the checks ran: start again."]);
    checkout.git(&["checkout", "--quiet", "src"]);

    let output = checkout.release("pass");
    assert!(output.status.success(), "{output:?}");
    let notes = checkout.git(&["tag", "--list", "--format=%(contents)", "v0.3.0"]);
    let start =
        "Signpost 0.3.0\n\n### Added\n\n- A sign.\n\n### Sizes\n\nCompressed with gzip -9, the edge has 0.0 KiB";
    assert!(notes.starts_with(start), "{notes}");
    let again = checkout.release("pass");
    assert!(String::from_utf8(again.stderr).unwrap().contains("v0.3.0 exists: raise the version in Cargo.toml."));
}
