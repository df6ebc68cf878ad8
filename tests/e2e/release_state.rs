//! The stored state of each release in `fixtures/releases/`, with its promises. Present code starts on it and keeps
//! them. `generator` makes the state of this release.

mod generator;
pub mod promises;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::harness::{Receiver, Setup, Signpost, root};
use promises::Promise;

/// Both Workers of this release.
pub const THIS: &str = "release_state.capnp";
/// The files of a release's folder: what kv/ and objects/ had, the promises, and the settings that both need.
const STATE: &str = "state.tar.gz";
const PROMISES: &str = "promises.json";
const SETTINGS: &str = "settings.env";

fn folder() -> PathBuf {
    root().join("fixtures/releases")
}

/// A release's state, unpacked.
pub struct Unpacked {
    name: String,
    folder: PathBuf,
    state: TempDir,
    promises: Vec<Promise>,
}

/// The states of all releases.
pub fn all() -> Vec<Unpacked> {
    let folders = fs::read_dir(folder()).expect("the folder of releases");
    let mut folders: Vec<_> = folders.map(|folder| folder.expect("a folder").path()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "no release has a state");
    folders.iter().map(|folder| Unpacked::new(folder)).collect()
}

impl Unpacked {
    fn new(folder: &Path) -> Self {
        let state = tempfile::tempdir().expect("a temporary folder");
        let mut tar = Command::new("tar");
        let tar = tar.arg("-xzf").arg(folder.join(STATE)).arg("-C").arg(state.path());
        assert!(tar.status().expect("tar").success());
        let promises = fs::read_to_string(folder.join(PROMISES)).expect("the promises");
        Self {
            name: folder.file_name().expect("a name").to_string_lossy().into_owned(),
            folder: folder.to_owned(),
            state,
            promises: serde_json::from_str(&promises).expect("a list of promises"),
        }
    }

    /// Starts a pair of Workers on the state.
    pub fn start(&self, pair: &str, receiver: &Receiver) -> Signpost {
        let setup = Setup::new().config(pair).internet(receiver);
        let setup = setup.settings(&self.folder.join(SETTINGS)).state(self.state.path());
        // The next release adds a value to answers.
        let setup = if pair == THIS { setup } else { setup.without_api_check() };
        setup.start()
    }

    /// Checks all promises, some seconds after the start at the latest.
    pub fn check(&self, signpost: &Signpost, receiver: &Receiver) {
        promises::check(&self.name, &self.promises, signpost, receiver);
    }
}

#[test]
fn present_code_keeps_the_promises_of_every_release() {
    for release in all() {
        let receiver = Receiver::start();
        release.check(&release.start(THIS, &receiver), &receiver);
    }
}
