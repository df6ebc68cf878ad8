//! The rows that each command writes, which Cloudflare bills, by the runtime's own count. It includes index entries and
//! the alarms that are set. docs/PERFORMANCE.md has the figures.

use std::{collections::BTreeMap, thread, time::Duration};

use serde_json::json;

use crate::{
    conversions::accepted_id,
    harness::{OfferWall, Receiver, Setup, Signpost, now_ms},
};

/// How long each measurement lasts.
const SECONDS: u32 = 40;
/// How long background work goes on afterwards: batches, feeds, reports of postbacks and their alarms.
const AFTERWARDS: Duration = Duration::from_secs(12);

/// The rows since the last call, by object and statement.
fn rows(signpost: &Signpost) -> BTreeMap<String, BTreeMap<String, u64>> {
    let counted = signpost.get(&format!("{}/", signpost.control()), &[]).expect(200);
    serde_json::from_value(counted.json()).unwrap()
}

/// The rows of a publication. The catalog checks a part of the published values each minute, even without changes.
const PUBLICATION: u64 = 40;

/// Calls `one` `a_second` times a second for [`SECONDS`]. Returns the rows that each call wrote, and a list of the
/// statements. One publication may fall into the measurement: it is listed and not counted.
fn measure(signpost: &Signpost, a_second: u32, one: impl FnMut(u32)) -> (f64, String) {
    measure_times(signpost, a_second, SECONDS * a_second, one)
}

fn measure_times(signpost: &Signpost, a_second: u32, times: u32, mut one: impl FnMut(u32)) -> (f64, String) {
    rows(signpost);
    let began_ms = now_ms();
    for n in 0..times {
        let due_ms = began_ms + i64::from(n) * 1_000 / i64::from(a_second);
        thread::sleep(Duration::from_millis(u64::try_from(due_ms - now_ms()).unwrap_or(0)));
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
                (*rows, format!("{:.3} {object}: {:.80}", each(*rows), words.join(" ")))
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

/// Fails the test if one call writes more rows than its budget.
#[track_caller]
fn expect_at_most(most: f64, what: &str, (found, list): (f64, String)) {
    println!("{what}: {found:.3} rows of at most {most:.3}");
    assert!(found <= most, "{what}: {found:.3} rows\n{list}");
}

fn counting() -> Signpost {
    Setup::new().config("billed_rows.capnp").start_with_fixtures().0
}

/// A conversion and its callback, at this rate over so many outboxes.
fn measure_conversions(outboxes: u8, a_second: u32, cap: Option<u64>) -> (f64, String) {
    let signpost = counting();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("rows", "79500010", Some(&receiver), outboxes);
    if let Some(limit) = cap {
        wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": limit}}));
    }
    signpost.refresh();
    for n in 0..32 {
        wall.pay(&format!("warm-{n}"));
    }
    thread::sleep(AFTERWARDS);
    measure(&signpost, a_second, |n| drop(wall.pay(&format!("user-{n}"))))
}

#[test]
fn a_conversion_writes_few_rows() {
    expect_at_most(13.5, "a conversion", measure_conversions(1, 10, None));
}

#[test]
fn a_conversion_with_a_cap_writes_few_rows() {
    expect_at_most(16.5, "a conversion with a cap", measure_conversions(1, 10, Some(1_000_000)));
}

#[test]
fn conversions_over_eight_quiet_outboxes_write_few_rows() {
    expect_at_most(18.5, "a conversion over 8", measure_conversions(8, 10, None));
}

#[test]
fn conversions_over_eight_busy_outboxes_write_few_rows() {
    expect_at_most(13.5, "a conversion over 8", measure_conversions(8, 100, None));
}

/// Clicks at this rate over so many placements.
fn measure_clicks(a_second: u32, placements: u32) -> (f64, String) {
    let signpost = counting();
    let wall = signpost.offer_wall("rows-clicks", "79500003", None);
    let click = |n: u32| {
        let placement = n % placements;
        let query = format!("rid={}-1&app={}&user_id=u{n}&placement=p{placement}", wall.id, wall.app);
        signpost.click(&query, "DE").expect(302);
    };
    (0..placements).for_each(click);
    thread::sleep(AFTERWARDS);
    measure(&signpost, a_second, click)
}

#[test]
fn a_click_writes_few_rows() {
    expect_at_most(0.35, "a click", measure_clicks(10, 1));
}

#[test]
fn many_clicks_write_fewer_rows_each() {
    expect_at_most(0.05, "a click of 100 a second", measure_clicks(100, 1));
}

#[test]
fn clicks_of_many_placements_write_few_rows() {
    expect_at_most(0.35, "a click of 40 placements", measure_clicks(10, 40));
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

/// How often each command is sent: one a second, so that no two are gathered. Its batches and feeds count. The limits
/// leave a quarter for a busy machine.
const TIMES: u32 = 20;

/// The clicks of as many users, at a wall with one outbox.
fn clicked<'a>(signpost: &'a Signpost, receiver: &Receiver) -> (OfferWall<'a>, Vec<String>) {
    let wall = signpost.sharded_offer_wall("rows-commands", "79500020", Some(receiver), 1);
    signpost.refresh();
    let clicks = (0..TIMES).map(|n| wall.click_id(&user(n))).collect();
    wall.pay("warm");
    thread::sleep(AFTERWARDS);
    (wall, clicks)
}

fn user(n: u32) -> String {
    format!("u-{n}")
}

#[test]
fn each_postback_keeps_its_budget() {
    let (signpost, receiver) = (counting(), Receiver::start());
    let (wall, clicks) = clicked(&signpost, &receiver);
    for (most, what, more, status) in [
        (18.0, "a pending conversion", "&status=pending", 200),
        (4.0, "a repeat", "&status=pending", 200),
        (4.0, "a refusal", "&goal=none", 400),
        (40.0, "an approval", "", 200),
    ] {
        let one = |n: u32| drop(wall.convert(&clicks[n as usize], more).expect(status));
        expect_at_most(most, what, measure_times(&signpost, 1, TIMES, one));
    }
}

#[test]
fn the_steps_after_a_reward_keep_their_budgets() {
    let (signpost, receiver) = (counting(), Receiver::start());
    let (wall, clicks) = clicked(&signpost, &receiver);
    let ids: Vec<_> = clicks.iter().map(|click| accepted_id(wall.convert(click, ""))).collect();
    thread::sleep(AFTERWARDS);
    let expect = |most: f64, what: &str, one: &dyn Fn(u32)| {
        expect_at_most(most, what, measure_times(&signpost, 1, TIMES, one));
    };
    expect(22.0, "a replay", &|n| drop(wall.replay(&ids[n as usize]).expect(200)));
    expect(34.0, "a reversal", &|n| {
        drop(wall.convert(&clicks[n as usize], "&status=reversed").expect(200));
    });
    // Seven rows hide waiting callbacks and store the user's hash.
    expect(35.0, "an erasure", &|n| drop(wall.erase(&user(n))));
}

#[track_caller]
fn expect_operator(most: f64, status: &str, verb: &str) {
    let (signpost, receiver) = (counting(), Receiver::start());
    let (wall, clicks) = clicked(&signpost, &receiver);
    let convert = |click: &String| {
        let answer = wall.convert(click, &format!("&status={status}"));
        answer.expect(200).json()["transaction_id"].as_str().unwrap().to_owned()
    };
    let ids: Vec<_> = clicks.iter().map(convert).collect();
    thread::sleep(AFTERWARDS);
    let reason = json!({ "reason": "tried" });
    let one = |n: u32| {
        let path = format!("conversions/{}/{verb}", ids[n as usize]);
        wall.operator("POST", &path, Some(&reason)).expect(200);
    };
    expect_at_most(most, verb, measure_times(&signpost, 1, TIMES, one));
}

#[test]
fn the_operators_approval_keeps_its_budget() {
    expect_operator(37.0, "pending", "approve");
}

#[test]
fn the_operators_rejection_keeps_its_budget() {
    expect_operator(18.0, "pending", "reject");
}

#[test]
fn the_operators_reversal_keeps_its_budget() {
    expect_operator(31.0, "approved", "reverse");
}
