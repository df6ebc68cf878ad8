//! Makes the state of this release through its interfaces, once: see CONTRIBUTING.md ("Keep the state of a release").

mod accounts;
mod documents;
mod keys;
mod restored;
mod rewards;

use std::{cell::RefCell, fs, path::Path, process::Command, thread, time::Duration};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{PROMISES, SETTINGS, STATE, THIS, Unpacked, folder, promises::Promise};
use crate::{
    clicks::click_id_at,
    harness::{
        Behaviour, OfferWall, Received, Receiver, SECRET, Setup, Signpost, away_from_midnight, now_ms, root, with,
    },
};
use domain::model::time::DAY_MS;

const PUBLISHER: &str = "orbit-games";
const SUSPENDED: &str = "paused-studio";
const CLOSED: &str = "closed-studio";
/// Apps of the publisher: with a callback and 8 outboxes, without a callback, one that signs its clicks, one whose
/// endpoint has switched itself off, one whose endpoint fails.
const APP: &str = "81000001";
const WITHOUT_CALLBACK: &str = "81000002";
const SIGNED: &str = "81000003";
const DISABLED: &str = "81000004";
const FAILING: &str = "81000005";
/// Of the suspended and of the closed publisher.
const OF_SUSPENDED: &str = "81000011";
const OF_CLOSED: &str = "81000021";

/// Receivers of callbacks, and how they answer: 200, 410, and 503 or for some users "never again".
const WELL_HOST: &str = "rewards.orbit-games.example";
const GONE_HOST: &str = "gone.orbit-games.example";
const DOWN_HOST: &str = "down.orbit-games.example";

/// The secret of an app that rotates its secrets: its callbacks are signed with `SECRET`, too.
const NEW_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// See docs/DECISIONS.md ("Times").
const WINDOW_DAYS: i64 = 90;
const CLICK_DAYS: i64 = 400;
const TERMS_DAYS: i64 = 431;
const ENDED_DAYS: i64 = 97;
const FACTS_DAYS: i64 = 3_650;

/// A state in the making, and what it promises.
struct Maker<'s> {
    signpost: &'s Signpost,
    receiver: &'s Receiver,
    wall: OfferWall<'s>,
    began_ms: i64,
    promises: RefCell<Vec<Promise>>,
}

impl<'s> Maker<'s> {
    fn promise(&self, promise: Promise) {
        self.promises.borrow_mut().push(promise);
    }

    /// Promises for so many days from now on, and one less, because the state was being made for a while.
    fn promise_for(&self, days: i64, promise: Promise) {
        self.promise(promise.until(self.began_ms + (days - 1) * DAY_MS));
    }

    /// Sends a click on an offer's first goal, and returns its click id.
    fn click(&self, offer: &str, app: &str, user: &str) -> String {
        let query = format!("rid={offer}-1&app={app}&user_id={user}&c1=level-7");
        click_id_at(&self.signpost.click(&query, "DE").expect(302))
    }

    /// Puts another app of a publisher.
    fn put_app(&self, publisher: &str, app: &str, changes: &Value) {
        let document = json!({
            "publisher_id": publisher, "name": format!("App {app}"), "platform": "android", "outbox_shards": 1,
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
        });
        self.signpost.put(&format!("apps/{app}"), &with(document, changes));
    }

    /// Until the ledger and the counters have what the outboxes know.
    fn settle() {
        thread::sleep(Duration::from_secs(15));
    }
}

fn callback(host: &str, method: &str) -> Value {
    json!({"url": format!("https://{host}/cb"), "method": method, "secret": SECRET})
}

/// The answers of the receivers.
fn answer(received: &Received) -> Behaviour {
    let says = |text: &str| received.target.contains(text) || received.body.contains(text);
    match received.header("host") {
        GONE_HOST => Behaviour::status(410),
        DOWN_HOST if says("never-again") => Behaviour::answer(400, &[("webhook-delivery", "abort-message")], "who?"),
        DOWN_HOST => Behaviour::status(503),
        _ => Behaviour::status(200),
    }
}

/// The settings of the state: those of local runs, and facts that are kept as long as possible.
fn settings() -> String {
    let defaults = fs::read_to_string(root().join("fixtures/local/defaults.env")).expect("the defaults");
    let settings = defaults.lines().filter(|line| !line.starts_with('#'));
    let settings: String = settings.map(|line| format!("{line}\n")).collect();
    format!(
        "# The settings that the state was made with. Its keys and tokens are valid only with these secrets, which are \
         public.\n{settings}TRACKING_URL=https://t.signpost.example\nFACTS_DAYS={FACTS_DAYS}\n"
    )
}

/// Moves the logs of all databases into their files. workerd must be down.
fn checkpoint(objects: &Path) {
    for namespace in fs::read_dir(objects).expect("folders") {
        for file in fs::read_dir(namespace.expect("a folder").path()).expect("files") {
            let file = file.expect("a file").path();
            if file.extension().is_some_and(|extension| extension == "sqlite") {
                let database = Connection::open(&file).expect("a database");
                // The last one to close a database removes its log.
                let moved = database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
                assert_eq!(moved, Ok(0), "{}", file.display());
            }
        }
    }
}

fn pack(state: &Path, to: &Path) {
    checkpoint(&state.join("objects"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"]);
    let tar = tar.arg("-I").arg("gzip -9n").arg("-cf").arg(to).arg("-C").arg(state);
    assert!(tar.args(["kv", "objects"]).status().expect("tar").success());
}

#[test]
#[ignore = "makes the fixture of a release, once"]
fn the_state_of_this_release_is_made() {
    let folder = folder().join(env!("CARGO_PKG_VERSION"));
    assert!(!folder.exists(), "{} exists; a release's state never changes", folder.display());
    // The figures of a day must not be those of two.
    away_from_midnight();
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let made = scratch.path().join(env!("CARGO_PKG_VERSION"));
    fs::create_dir(&made).expect("a folder");
    fs::write(made.join(SETTINGS), settings()).expect("settings written");

    let receiver = Receiver::start();
    receiver.set(Behaviour::decide(answer));
    let setup = Setup::new().config(THIS).internet(&receiver);
    let signpost = setup.settings(&made.join(SETTINGS)).start();
    let maker = Maker {
        wall: signpost.sharded_offer_wall(PUBLISHER, APP, None, 8),
        signpost: &signpost,
        receiver: &receiver,
        began_ms: now_ms(),
        promises: RefCell::default(),
    };
    documents::make(&maker);
    accounts::make(&maker);
    keys::make(&maker);
    rewards::make(&maker);
    restored::make(&maker);
    rewards::fail(&maker);
    documents::promise(&maker);
    signpost.stop();

    pack(signpost.state.path(), &made.join(STATE));
    let promises = serde_json::to_string_pretty(&*maker.promises.borrow()).expect("JSON");
    fs::write(made.join(PROMISES), promises + "\n").expect("promises written");
    // A promise that does not hold now was never one.
    let receiver = Receiver::start();
    let unpacked = Unpacked::new(&made);
    unpacked.check(&unpacked.start(THIS, &receiver), &receiver);
    crate::harness::copy_folder(&made, &folder);
}
