//! Each kind of object is put back to an earlier copy of its files, one after the other, while the traffic goes on.

use std::{
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use super::{
    conversions::Conversions,
    operator::Operator,
    report_keys::ReportKeys,
    setting,
    visitors::Visitors,
    world::{Client, World},
};
use crate::{
    dashboard::signed_in,
    harness::{End, Receiver, Setup, Signpost, away_from_midnight, eventually_within, now_ms},
    restored::{OUTBOXES, announced, copy, doubts, put_back},
};
use contract::{clicks, counters};
use domain::model::{OfferId, time::MINUTE_MS};
use rusqlite::Connection;
use serde_json::json;

/// How long the traffic runs before the copies, and after each restore.
const TRAFFIC: Duration = Duration::from_secs(2);
const APPS: [&str; 2] = ["79000755", "79000757"];
const CLICKS: &str = "signpost-clicks";
/// Finds the counters that add up the clicks of the offer `files-3`.
const CLICKED: &str = r#"SELECT 1 FROM flushes WHERE sums LIKE '%,"files-3",%'"#;

/// An object that is put back.
struct Object {
    name: String,
    namespace: &'static str,
    /// Finds the object's database.
    sql: String,
    /// The reason of the item that says that the object was put back.
    reason: Option<&'static str>,
    /// True if the apps rest until their outboxes have sent everything, because nobody else has it yet.
    rests: bool,
}

impl Object {
    fn new(name: &str, kind: &'static str, sql: &str) -> Self {
        Self { name: name.to_owned(), namespace: kind, sql: sql.to_owned(), reason: None, rests: false }
    }

    fn told(self, reason: &'static str) -> Self {
        let reason = Some(reason);
        Self { reason, ..self }
    }

    fn resting(self) -> Self {
        Self { rests: true, ..self }
    }

    /// Names the object by one of its records of clicks.
    fn choose_record(&mut self, signpost: &Signpost) {
        let database = Connection::open(signpost.database(self.namespace, &self.sql)).unwrap();
        let nonce: Vec<u8> = database.query_row("SELECT nonce FROM records", [], |row| row.get(0)).unwrap();
        self.name = clicks::object_name(&nonce);
        self.sql = format!("SELECT 1 FROM records WHERE nonce = x'{}'", hex::encode(&nonce));
    }
}

/// Runs a client, which rests while somebody else holds the lock.
fn run(client: &mut dyn Client, rests: &RwLock<()>, is_done: &AtomicBool) {
    while !is_done.load(Ordering::SeqCst) {
        let _goes_on = rests.read().unwrap();
        client.step();
    }
}

/// Waits until the receivers have everything that the outboxes of the apps wrote.
fn wait_for_outboxes(signpost: &Signpost) {
    let last = "SELECT MAX(number) FROM (SELECT MAX(entry) AS number FROM entries
        UNION ALL SELECT MAX(movement) FROM entries UNION ALL SELECT MAX(number) FROM changes)";
    let open = format!(
        "SELECT 1 FROM outbox, positions WHERE publisher IS NOT NULL AND app IN ({}, {})
           AND (seen < ({last}) OR known LIKE '%\"behind\"%')",
        APPS[0], APPS[1]
    );
    eventually_within(MINUTE_MS, &None, || signpost.find_database(OUTBOXES, &open));
}

fn counters_of(offer: &str) -> String {
    counters::object_name(&OfferId::parse(offer).unwrap())
}

#[test]
fn acknowledged_writes_survive_earlier_files_of_each_object_under_mixed_traffic() {
    away_from_midnight();
    let seed = setting("SEED", now_ms().unsigned_abs());
    println!("SEED={seed}");
    let signpost = Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").start();
    let receiver = Receiver::start();
    let world = World::new(&signpost, &receiver);
    let mut paid = Conversions::new(&world, "files-1", APPS[0], seed ^ 1);
    let mut elsewhere = Conversions::new(&world, "elsewhere", "79000756", seed ^ 2);
    let mut visitors = Visitors::new(&world, "files-3", APPS[1], seed ^ 3);
    let mut operator = Operator::new(&world, seed ^ 4);
    let mut keys = ReportKeys::new(&world, "files-keys", seed ^ 5);
    signpost.refresh();
    let owner = signed_in(&signpost, &signpost.existing_publisher("files-3"), "owner");
    let folder = tempfile::tempdir().unwrap();
    let of_clicks = counters::name(counters::click_object("files-3"));
    assert_ne!(counters_of("files-1-cap"), of_clicks);
    assert_ne!(counters_of("files-1-cap"), counters_of("elsewhere-cap"));

    let outbox = |app: &str| {
        let sql = format!("SELECT 1 FROM outbox WHERE app = {app} AND shard = 0");
        Object::new(&format!("outbox-{app}-0"), OUTBOXES, &sql).told("outbox_restored").resting()
    };
    let mut objects = [
        Object::new(
            &counters_of("files-1-cap"),
            "signpost-counters",
            "SELECT 1 FROM takes WHERE offer = 'files-1-cap'",
        )
        .told("counters_restored")
        .resting(),
        outbox(APPS[0]),
        outbox(APPS[1]),
        Object::new(&of_clicks, "signpost-counters", CLICKED).told("counters_restored"),
        Object::new("ledger-files-1", "signpost-ledger", "SELECT 1 FROM marks WHERE source = 'outbox-79000755-0'")
            .told("ledger_restored"),
        Object::new("catalog", "signpost-catalog", "SELECT 1 FROM apps WHERE id = '79000755'").told("catalog_restored"),
        Object::new("accounts-files-3", "signpost-accounts", "SELECT 1 FROM account WHERE owner = 'files-3'")
            .told("account_restored"),
        Object::new("activity-files-3", "signpost-activity", "SELECT 1 FROM outboxes WHERE app = 79000757"),
        Object::new("postbacks", "signpost-postbacks", "SELECT 1 FROM counts"),
        // Nobody else knows which clicks have records, so only an announced restore is noticed.
        Object::new("clicks", CLICKS, "SELECT 1 FROM records"),
    ];
    let (rests, goes_on, is_done) = (RwLock::new(()), RwLock::new(()), AtomicBool::new(false));
    thread::scope(|scope| {
        let _end = End(&is_done);
        scope.spawn(|| run(&mut paid, &rests, &is_done));
        scope.spawn(|| run(&mut visitors, &rests, &is_done));
        scope.spawn(|| run(&mut elsewhere, &goes_on, &is_done));
        scope.spawn(|| run(&mut operator, &goes_on, &is_done));
        scope.spawn(|| run(&mut keys, &goes_on, &is_done));
        thread::sleep(TRAFFIC);
        eventually_within(MINUTE_MS, &Vec::<String>::new(), || {
            let lacks = |object: &&Object| signpost.find_database(object.namespace, &object.sql).is_none();
            objects.iter().filter(lacks).map(|object| object.name.clone()).collect()
        });
        let mut copies = Vec::new();
        signpost.restart_after(|| {
            let clicks = objects.last_mut().unwrap();
            clicks.choose_record(&signpost);
            announced::keep(&signpost, clicks.namespace, &clicks.sql, folder.path());
            copies.extend(objects.iter().map(|object| copy(&signpost, object.namespace, &object.sql)));
        });
        owner.post("sign_out", &json!({})).expect(204);
        for (object, copied) in objects.iter().zip(&copies) {
            thread::sleep(TRAFFIC);
            let began_ms = now_ms();
            let _rest = object.rests.then(|| rests.write().unwrap());
            if object.rests {
                wait_for_outboxes(&signpost);
            }
            signpost.restart_after(|| {
                if object.namespace == CLICKS {
                    let (is_done, text) = announced::restore(&signpost, &object.name, folder.path());
                    assert!(is_done, "{text}");
                } else {
                    put_back(copied);
                }
            });
            println!("{} was put back after {} ms", object.name, now_ms() - began_ms);
        }
        thread::sleep(TRAFFIC);
    });
    let clients: [&mut dyn Client; 5] = [&mut paid, &mut elsewhere, &mut visitors, &mut operator, &mut keys];
    let promises: usize = clients.into_iter().map(Client::verify).sum();
    owner.get("overview").expect_error(401, "not_signed_in");
    let doubts = doubts(&signpost);
    println!("{}", world.summary());
    println!("SEED={seed}: {promises} promises checked, lost 0; {doubts:?}");
    for object in &objects {
        let is_listed = doubts.iter().any(|(_, reason)| Some(reason.as_str()) == object.reason);
        assert!(object.reason.is_none() || is_listed, "{}: {doubts:?}", object.name);
    }
    let counters_restored = (of_clicks, "counters_restored".to_owned());
    assert!(!visitors.lacks_clicks() || doubts.contains(&counters_restored), "{doubts:?}");
}
