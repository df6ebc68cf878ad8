//! The rows that Signpost writes, for which Cloudflare bills: of each command, by the runtime's own count. The alarms that are
//! set and the entries of indexes are among them. docs/PERFORMANCE.md has the figures.

use std::{collections::BTreeMap, thread, time::Duration};

use serde_json::json;

use crate::{
    conversions::accepted_id,
    harness::{Receiver, Setup, Signpost, now_ms},
};

/// How long each thing is done.
const SECONDS: u32 = 40;
/// How long its work goes on afterwards: batches, feeds, reports of postbacks and their alarms.
const AFTERWARDS: Duration = Duration::from_secs(12);

/// The rows since the last call, by object and statement.
fn rows(signpost: &Signpost) -> BTreeMap<String, BTreeMap<String, u64>> {
    let counted = signpost.get(&format!("{}/", signpost.control()), &[]).expect(200);
    serde_json::from_value(counted.json()).unwrap()
}

/// The rows of a publication. The catalog checks a part of what it published each minute, whatever anybody does.
const PUBLICATION: u64 = 40;

/// Does something for [`SECONDS`], so many times a second. Returns the rows that each time wrote, and a list of the statements. At most one
/// publication, which may fall into the measurement or not, is listed and not counted.
fn measure(signpost: &Signpost, a_second: u32, one: impl FnMut(u32)) -> (f64, String) {
    measure_times(signpost, a_second, SECONDS * a_second, one)
}

fn measure_times(signpost: &Signpost, a_second: u32, times: u32, mut one: impl FnMut(u32)) -> (f64, String) {
    rows(signpost);
    let began_ms = now_ms();
    for n in 0..times {
        let due_ms = began_ms + i64::from(n) * 1_000 / i64::from(a_second);
        thread::sleep(Duration::from_millis(
            u64::try_from(due_ms - now_ms()).unwrap_or(0),
        ));
        one(n);
    }
    thread::sleep(AFTERWARDS);
    let counted = rows(signpost);
    let each = |rows: u64| f64::from(u32::try_from(rows).unwrap()) / f64::from(times);
    let mut lines: Vec<_> = counted
        .iter()
        .flat_map(|(object, statements)| {
            let line = move |(statement, rows): (&String, &u64)| {
                let words: Vec<_> = statement.split_whitespace().collect();
                (
                    *rows,
                    format!("{:.3} {object}: {:.80}", each(*rows), words.join(" ")),
                )
            };
            statements.iter().map(line)
        })
        .collect();
    lines.sort_by(|a, b| b.cmp(a));
    let list: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    let sum: u64 = counted.values().flat_map(BTreeMap::values).sum();
    let published: u64 = counted.get("Catalog").map_or(0, |rows| rows.values().sum());
    (each(sum - published.min(PUBLICATION)), list.join("\n"))
}

/// What a thing writes stays within its budget.
#[track_caller]
fn expect_at_most(most: f64, what: &str, (found, list): (f64, String)) {
    println!("{what}: {found:.3} rows of at most {most:.3}");
    assert!(found <= most, "{what}: {found:.3} rows\n{list}");
}

fn counting() -> Signpost {
    Setup::new().config("rows.capnp").start_with_fixtures().0
}

#[test]
fn a_conversion_that_is_delivered_at_once_writes_few_rows() {
    let signpost = counting();
    let receiver = Receiver::start();
    for (number, (outboxes, a_second, cap, most)) in [
        (8, 10, None, 18.5),
        (8, 100, None, 13.5),
        (1, 10, None, 13.5),
        (1, 10, Some(1_000_000), 16.5),
    ]
    .into_iter()
    .enumerate()
    {
        let (app, id) = (format!("7950001{number}"), format!("rows-{number}"));
        let wall = signpost.sharded_offer_wall(&id, &app, Some(&receiver), outboxes);
        if let Some(limit) = cap {
            wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": limit}}));
        }
        signpost.refresh();
        for n in 0..32 {
            wall.pay(&format!("warm-{n}"));
        }
        thread::sleep(AFTERWARDS);
        let measured = measure(&signpost, a_second, |n| drop(wall.pay(&format!("user-{n}"))));
        expect_at_most(
            most,
            &format!("a conversion, {a_second} a second over {outboxes}, cap {cap:?}"),
            measured,
        );
    }
}

#[test]
fn a_click_writes_few_rows() {
    let signpost = counting();
    let wall = signpost.offer_wall("rows-clicks", "79500003", None);
    let click = |n: u32, placements: u32| {
        let placement = n % placements;
        let query = format!(
            "rid={}-1&app={}&user_id=u{n}&placement=p{placement}",
            wall.id, wall.app
        );
        signpost.click(&query, "DE").expect(302);
    };
    (0..40).for_each(|n| click(n, 40));
    thread::sleep(AFTERWARDS);
    for (a_second, placements, most) in [(10, 1, 0.35), (100, 1, 0.05), (10, 40, 0.35)] {
        let measured = measure(&signpost, a_second, |n| click(n, placements));
        expect_at_most(
            most,
            &format!("a click, {a_second} a second, {placements} placements"),
            measured,
        );
    }
}

#[test]
fn a_report_writes_one_row() {
    let signpost = counting();
    // A key may send one query in 2 s.
    let publishers = [1, 2, 3].map(|n| signpost.publisher(&format!("rows-report-{n}")));
    let query = json!({
        "date_range": {"start_date": "2026-01-01", "end_date": "2026-01-02"},
        "dimensions": ["app"], "metrics": ["clicks"],
    });
    let report = |n: u32| drop(publishers[n as usize % 3].rows(&query));
    (0..3).for_each(report);
    thread::sleep(AFTERWARDS);
    expect_at_most(1.2, "a report, 1 a second", measure(&signpost, 1, report));
}

/// One command a second, so that nothing gathers it with others; its batches and feeds count. Limits leave a quarter for a busy
/// machine.
#[test]
fn each_command_keeps_its_budget() {
    const TIMES: u32 = 20;
    let signpost = counting();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("rows-commands", "79500020", Some(&receiver), 1);
    signpost.refresh();
    let users: Vec<_> = (0..TIMES).map(|n| format!("u-{n}")).collect();
    let clicks: Vec<_> = users.iter().map(|user| wall.click_id(user)).collect();
    wall.pay("warm");
    thread::sleep(AFTERWARDS);
    let postback = |n: u32, more: &str| wall.convert(&clicks[n as usize], more);
    let mut ids = vec![];
    let expect = |most: f64, what: &str, one: &mut dyn FnMut(u32)| {
        expect_at_most(most, what, measure_times(&signpost, 1, TIMES, one));
    };
    expect(18.0, "a pending conversion", &mut |n| {
        drop(postback(n, "&status=pending").expect(200))
    });
    expect(4.0, "a repeat", &mut |n| {
        drop(postback(n, "&status=pending").expect(200))
    });
    expect(4.0, "a refusal", &mut |n| {
        drop(postback(n, "&goal=none").expect(400))
    });
    expect(40.0, "its approval", &mut |n| {
        ids.push(accepted_id(postback(n, "")))
    });
    expect(22.0, "a replay", &mut |n| {
        drop(wall.replay(&ids[n as usize]).expect(200))
    });
    expect(34.0, "a reversal", &mut |n| {
        drop(postback(n, "&status=reversed").expect(200))
    });
    // Seven rows hide waiting callbacks and store the user's hash.
    expect(35.0, "an erasure", &mut |n| drop(wall.erase(&users[n as usize])));
    for (most, status, verb) in [
        (37.0, "pending", "approve"),
        (18.0, "pending", "reject"),
        (31.0, "approved", "reverse"),
    ] {
        let convert = |n: u32| {
            let click = wall.click_id(&format!("{verb}-{n}"));
            let answer = wall
                .convert(&click, &format!("&status={status}"))
                .expect(200)
                .json();
            answer["transaction_id"].as_str().unwrap().to_owned()
        };
        let ids: Vec<_> = (0..TIMES).map(convert).collect();
        thread::sleep(AFTERWARDS);
        let reason = json!({ "reason": "tried" });
        expect(most, &format!("the operator's {verb}"), &mut |n| {
            let path = format!("conversions/{}/{verb}", ids[n as usize]);
            wall.operator("POST", &path, Some(&reason)).expect(200);
        });
    }
}
