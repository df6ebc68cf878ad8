//! Objects that are put back to an earlier copy of their files, as somebody would on a server: stop, copy, start.

pub mod announced;
mod objects;
mod recovery;

use std::{fs, path::PathBuf, thread, time::Duration};

use crate::{
    conversions::revenue::revenue,
    harness::{OfferWall, Receiver, Setup, Signpost, eventually_within, expect_accepted},
};
use domain::model::time::SECOND_MS;

pub const OUTBOXES: &str = "signpost-outbox";
/// Batches leave within 10 s; and half a minute of a busy machine.
const SENT_MS: i64 = 40 * SECOND_MS;

/// The files of an object: its database and the database's logs.
fn files(database: &std::path::Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = database.file_name().expect("a name").to_owned();
        name.push(end);
        database.with_file_name(name)
    })
}

/// The content of an object's files: `None` for a file that did not exist.
pub type Copy = Vec<(PathBuf, Option<Vec<u8>>)>;

/// Copies the object of a namespace that has a row. workerd must be down.
pub fn copy(signpost: &Signpost, namespace: &str, sql: &str) -> Copy {
    let database = signpost.database(namespace, sql);
    files(&database).map(|file| (file.clone(), fs::read(file).ok())).to_vec()
}

pub fn put_back(copy: &Copy) {
    for (file, content) in copy {
        match content {
            Some(content) => fs::write(file, content).expect("a file written"),
            None => drop(fs::remove_file(file)),
        }
    }
}

/// The entries in the journal of the app's first outbox for which a condition holds.
fn journaled(wall: &OfferWall<'_>, condition: &str) -> usize {
    let sql = format!(
        "SELECT COUNT(*) FROM journal, json_each(entries) WHERE source = 'outbox-{}-0' AND {condition}",
        wall.app
    );
    let counts = wall.signpost.stored(OUTBOXES, &sql, |row| row.get::<_, u32>(0));
    counts.into_iter().sum::<u32>() as usize
}

/// Lists the items about objects that were put back, by subject and reason, the oldest first. Then ends these items.
pub fn doubts(signpost: &Signpost) -> Vec<(String, String)> {
    let list = signpost.operator("GET", "attention?kind=restored", None).expect(200).json();
    let items = list["items"].as_array().expect("items").clone();
    let text = |item: &serde_json::Value, name: &str| item[name].as_str().expect("a text").to_owned();
    for item in &items {
        let path = format!("attention/{}", text(item, "item_id"));
        signpost.operator("DELETE", &path, None).expect(204);
        signpost.operator("DELETE", &path, None).expect_error(404, "not_found");
    }
    items.iter().map(|item| (text(item, "subject"), text(item, "reason"))).collect()
}

/// Fails the test if an object that was put back lacks something that a person must replace. Ends all items about such
/// objects.
#[track_caller]
pub fn expect_all_recovered(signpost: &Signpost) {
    let reasons: Vec<_> = doubts(signpost).into_iter().map(|(_, reason)| reason).collect();
    println!("{reasons:?}");
    for never in ["after_restore", "paid_unknowing", "terms_lost", "load_again", "not_made_again"] {
        assert!(!reasons.iter().any(|reason| reason == never), "{reasons:?}");
    }
}

/// Waits until all that the app's first outbox wrote is at its receivers.
fn settle(wall: &OfferWall<'_>, entries: usize) {
    eventually_within(SENT_MS, &entries, || journaled(wall, "TRUE"));
}

#[test]
fn an_outbox_that_is_put_back_pays_what_it_has_paid_and_nothing_again() {
    let signpost = Setup::new().start();
    for (number, outboxes) in [1_u8, 8].into_iter().enumerate() {
        let receiver = Receiver::start();
        let (id, app) = (format!("restored-{outboxes}"), format!("7900071{number}"));
        let wall = signpost.sharded_offer_wall(&id, &app, Some(&receiver), outboxes);
        signpost.refresh();
        let publisher = signpost.existing_publisher(&wall.id);
        // All users of the first outbox.
        let users: Vec<_> = (0..)
            .map(|n| format!("u-{n}"))
            .filter(|user| domain::callbacks::shards::of_user(user, outboxes) == 0)
            .take(7)
            .collect();
        let clicks: Vec<_> = users.iter().map(|user| wall.click_id(user)).collect();
        let pay = |n: usize, duplicate| expect_accepted(wall.convert(&clicks[n], ""), "approved", duplicate);
        let mut ids: Vec<_> = (0..3).map(|n| pay(n, false)).collect();
        receiver.wait(3);
        settle(&wall, 3);
        let mut before = Vec::new();
        let of_first = format!("SELECT 1 FROM outbox WHERE app = {} AND shard = 0", wall.app);
        signpost.restart_after(|| before = copy(&signpost, OUTBOXES, &of_first));

        ids.extend((3..7).map(|n| pay(n, false)));
        expect_accepted(wall.convert(&clicks[0], "&status=reversed"), "reversed", false);
        receiver.wait(8);
        settle(&wall, 8);
        let reported = revenue(&publisher);
        // A callback is sent again if it was under way when its journal batch was made.
        let under_way = journaled(&wall, "value ->> '$.delivery' = 0");
        signpost.restart_after(|| put_back(&before));

        for (n, id) in ids.iter().enumerate().skip(1) {
            assert_eq!(pay(n, true), *id, "user {n} is paid again");
        }
        expect_accepted(wall.convert(&clicks[0], ""), "reversed", true);
        assert_eq!(wall.all_entries(100).len(), 8);
        thread::sleep(Duration::from_secs(12));
        assert!((revenue(&publisher) - reported).abs() < 1e-9, "{reported}");
        // Callbacks that had arrived are not sent again.
        assert_eq!(receiver.transactions().len(), 8);
        assert!((8..=8 + under_way).contains(&receiver.count()), "{under_way} under way");
    }
}
