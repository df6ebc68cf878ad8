//! Full disks: writes are refused at once with 503, acknowledged data is kept, and requests served from memory go on.
//! With free space everything works again, without and with a restart.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    process::Command,
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    conversions::revenue::revenue,
    harness::{ANDROID_APP, Answer, Publisher, Receiver, Setup, Signpost, eventually_within, now_ms, timed},
    reports,
};
use domain::model::time::SECOND_MS;

/// No caller may wait for an answer until a timeout ends it. A refresh takes up to two seconds by itself.
const AT_ONCE: Duration = Duration::from_secs(8);
const DRAINED_MS: i64 = 90 * SECOND_MS;
/// The size of the small file system in MiB: more than one and a half times the state of these tests.
const SMALL_MIB: usize = 32;
/// Starts workerd with SIGXFSZ ignored: a write beyond the limit returns an error instead of ending the process.
const NO_SIGNAL: [&str; 3] = ["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];

/// A disk that a test can fill.
trait Disk {
    fn setup(&self) -> Setup;
    fn fill(&self, signpost: &Signpost);
    /// Makes the disk full for a restarted process, too.
    fn stays_full(&self, signpost: &Signpost);
    fn free(&self, signpost: &Signpost);
}

/// Sets workerd's file size limit to 0, which needs no privileges. SQLite gets a disk error rather than "disk full".
struct Limited;

impl Limited {
    fn limit(signpost: &Signpost, limit: &str) {
        let process = signpost.process().to_string();
        let set = Command::new("prlimit").args(["--pid", &process, limit]).status();
        assert!(set.expect("prlimit, which util-linux brings").success());
    }
}

impl Disk for Limited {
    fn setup(&self) -> Setup {
        Setup::new().launched_by(&NO_SIGNAL)
    }

    fn fill(&self, signpost: &Signpost) {
        Self::limit(signpost, "--fsize=0:unlimited");
    }

    /// The limit belongs to a process, and cannot be set earlier, because workerd does not start under it.
    fn stays_full(&self, signpost: &Signpost) {
        self.fill(signpost);
    }

    fn free(&self, signpost: &Signpost) {
        Self::limit(signpost, "--fsize=unlimited:unlimited");
    }
}

/// A small file system, and a file that fills it.
struct Small {
    mounted: TempDir,
}

impl Small {
    /// Mounts a tmpfs. Returns `None` without the right to mount.
    fn mount() -> Option<Self> {
        let mounted = tempfile::tempdir().expect("a temporary folder");
        let size = format!("size={SMALL_MIB}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(mounted.path()).output();
        mount.is_ok_and(|done| done.status.success()).then_some(Self { mounted })
    }

    fn ballast(&self) -> PathBuf {
        self.mounted.path().join("ballast")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.mounted.path()).status();
    }
}

impl Disk for Small {
    fn setup(&self) -> Setup {
        Setup::new().on_disk(self.mounted.path())
    }

    fn fill(&self, _: &Signpost) {
        let mut ballast = OpenOptions::new().create(true).append(true).open(self.ballast()).expect("a file");
        for size in [1 << 20, 4 << 10] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn stays_full(&self, _: &Signpost) {}

    fn free(&self, _: &Signpost) {
        fs::remove_file(self.ballast()).expect("a file");
    }
}

/// Acknowledged writes, and writes in doubt.
#[derive(Default)]
struct Promised {
    /// The last acknowledged value of the day, and later ones in doubt.
    day: Vec<usize>,
    increments: BTreeSet<usize>,
    doubtful_increments: BTreeSet<usize>,
    paid: BTreeMap<String, String>,
    /// The last acknowledged name, and later ones in doubt.
    names: Vec<usize>,
    issued: Vec<String>,
    next: usize,
    acknowledged: usize,
    /// Counts of refused requests by name and status.
    refused: BTreeMap<(String, u16), usize>,
    slowest: Duration,
}

impl Promised {
    /// Sends a request. Returns its answer if acknowledged. Any other answer must be a prompt 503 with `Retry-After`.
    fn attempt(&mut self, what: &str, ask: impl FnOnce() -> Answer) -> Option<Answer> {
        let (answer, took) = timed(ask);
        self.slowest = self.slowest.max(took);
        assert!(took < AT_ONCE, "{what}: {took:?}: {answer:?}");
        if answer.status < 400 {
            self.acknowledged += 1;
            return Some(answer);
        }
        assert!(answer.header("Retry-After").is_some(), "{what}: {answer:?}");
        let status = answer.status;
        answer.expect_error(503, "unavailable");
        *self.refused.entry((what.to_owned(), status)).or_default() += 1;
        None
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }
}

fn check_acknowledged_on(disk: &impl Disk) {
    let (signpost, pub_key) = disk.setup().var("CALLBACK_TIMEOUT_MS", "1000").start_with_fixtures();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("disk", "79000741", Some(&receiver));
    wall.put_offer_as("disk-short", &json!({"click_id_max": 50}));
    signpost.refresh();
    let publisher = signpost.publisher("disk-facts");
    let mut promised = Promised { day: vec![0], names: vec![0], ..Promised::default() };
    signpost.put("publishers/disk-name", &json!({"name": "n-0", "approved": true}));
    publisher.put_facts("2026-01-01", &row("2026-01-01", 0)).expect(200);

    let began_ms = now_ms();
    let phase = |name: &str| println!("{name}: {} ms", now_ms() - began_ms);
    let mut traffic = |rounds: usize| {
        for _ in 0..rounds {
            let number = promised.number();
            let name = json!({"name": format!("n-{number}"), "approved": true});
            match promised.attempt("a document", || signpost.operator("PUT", "publishers/disk-name", Some(&name))) {
                Some(_) => promised.names = vec![number],
                None => promised.names.push(number),
            }
            match promised.attempt("a day of facts", || publisher.put_facts("2026-01-01", &row("2026-01-01", number))) {
                Some(_) => promised.day = vec![number],
                None => promised.day.push(number),
            }
            let key = format!("key-{number}");
            match promised.attempt("an increment", || publisher.add_facts(&key, &row("2026-01-02", number))) {
                Some(_) => promised.increments.insert(number),
                None => promised.doubtful_increments.insert(number),
            };
            let user = format!("u-{number}");
            let click = wall.click_id(&user);
            if let Some(answer) = promised.attempt("a conversion", || wall.convert(&click, "")) {
                promised.paid.insert(user, answer.json()["transaction_id"].as_str().unwrap().to_owned());
            }
            let label = json!({"label": "disk"});
            if let Some(answer) =
                promised.attempt("a report key", || publisher.operator("POST", "report_keys", Some(&label)))
            {
                promised.issued.push(answer.json()["api_key"].as_str().unwrap().to_owned());
            }
            promised.attempt("a refresh", || signpost.operator("POST", "refresh", None));
            promised.attempt("a short click id", || {
                signpost.click(&format!("rid=disk-short-1&app={}&user_id=u", wall.app), "DE")
            });
            // An object restarts after a failed write, and SQLite cannot open a database without space, even to read.
            promised.attempt("reading a document", || signpost.operator("GET", "publishers/disk-name", None));
            promised.attempt("reading facts", || publisher.operator("GET", "facts", None));
            // Requests served from memory go on.
            signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
            signpost.offers(ANDROID_APP, &pub_key, &json!({"page": 1, "size": 3})).expect(200);
            signpost.get("/healthz", &[]).expect(200);
        }
        (promised.acknowledged, promised.refused.values().sum::<usize>())
    };

    let (before, none) = traffic(5);
    assert_eq!((before, none), (45, 0));
    phase("before");
    disk.fill(&signpost);
    let (while_full, refused) = traffic(6);
    assert!(refused >= 12, "{refused} were refused on a full disk");
    phase("full");
    // Alarms run meanwhile and fail.
    thread::sleep(Duration::from_secs(2));
    disk.free(&signpost);
    let (after, still_refused) = traffic(3);
    assert_eq!(after - while_full, 27, "{} refused with free space: {:?}", still_refused - refused, promised.refused);
    phase("free again");
    promised.check(&signpost, &publisher);
    eventually_within(DRAINED_MS, &promised.paid.len(), || receiver.transactions().len());
    phase("callbacks");

    disk.fill(&signpost);
    thread::sleep(Duration::from_millis(300));
    signpost.restart();
    disk.stays_full(&signpost);
    // Snapshots are read from the full disk into memory, and writes are refused as before.
    signpost.get("/healthz", &[]).expect(200);
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
    let name = json!({"name": "n-0", "approved": true});
    let unwritten =
        promised.attempt("a document, restarted", || signpost.operator("PUT", "publishers/disk-other", Some(&name)));
    assert!(unwritten.is_none(), "a write on a full disk, restarted");
    disk.free(&signpost);
    promised.check(&signpost, &publisher);
    phase("restarted");
    let received = receiver.transactions();
    let known: BTreeSet<_> = promised.paid.values().cloned().collect();
    assert_eq!(received.into_keys().collect::<BTreeSet<_>>(), known, "callbacks");
    let wall_publisher = signpost.existing_publisher(&wall.id);
    let earned = 1.25 * f64::from(u32::try_from(known.len()).unwrap());
    eventually_within(DRAINED_MS, &earned, || revenue(&wall_publisher));
    println!(
        "{} acknowledged, refused {:?}, the slowest in {:?}",
        promised.acknowledged, promised.refused, promised.slowest
    );
}

impl Promised {
    fn check(&mut self, signpost: &Signpost, publisher: &Publisher<'_>) {
        let name = signpost.operator("GET", "publishers/disk-name", None).expect(200).json()["name"].clone();
        let names: Vec<_> = self.names.iter().map(|number| json!(format!("n-{number}"))).collect();
        assert!(names.contains(&name), "{name} is not in {names:?}");
        let (mut day, mut increments) = (Vec::new(), BTreeSet::new());
        for row in publisher.rows(&reports::query(&["date", "placement_id"], &["ad_requests", "impressions"])) {
            let number: usize = row["placement_id"].as_str().unwrap().trim_start_matches("p-").parse().unwrap();
            assert_eq!(row["ad_requests"].as_u64().unwrap_or(0), number as u64, "counted once: {row}");
            if row["date"] == "2026-01-01" {
                day.push(number);
            } else {
                increments.insert(number);
            }
        }
        assert_eq!(day.len(), 1, "a day has one upload: {day:?}");
        assert!(self.day.contains(&day[0]), "{day:?} is not in {:?}", self.day);
        assert!(increments.is_superset(&self.increments), "lost: {:?}", self.increments.difference(&increments));
        let all: BTreeSet<_> = self.increments.union(&self.doubtful_increments).copied().collect();
        assert!(increments.is_subset(&all), "{increments:?} of {all:?}");
        for key in self.issued.split_off(0) {
            let query: Value = reports::query(&["date"], &["clicks"]);
            let answer = signpost.report_with(&key, query.to_string().as_bytes());
            assert!([200, 204, 429].contains(&answer.status), "a key that was issued: {answer:?}");
        }
    }
}

/// A fact whose placement and ad requests identify its upload.
fn row(date: &str, number: usize) -> String {
    reports::csv(&[&format!("{date},70000001,,DE,p-{number},tag,alpha,1,{number},1,1,1,1")])
}

#[test]
fn acknowledged_writes_survive_a_disk_that_takes_no_writes() {
    check_acknowledged_on(&Limited);
}

#[test]
fn acknowledged_writes_survive_a_full_file_system() {
    // Without the right to mount, only the other test runs.
    if let Some(small) = Small::mount() {
        check_acknowledged_on(&small);
    } else {
        println!("NOT TRIED: a file system that is full. This user may not mount a tmpfs; root may.");
    }
}
