//! Final days and what changes them, as readers see it; and pages of one version.

use std::{process::Command, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Publisher, Setup, Signpost, eventually_within, root},
    reports::{csv, query},
};

const CHANGES: &str = "/v1/core/reporting/public/signal/report/changes";

/// The changes after a cursor, with a new key, which may ask at once.
fn changes(signpost: &Signpost, publisher: &Publisher<'_>, parameters: &str) -> Answer {
    let key = publisher.create_key("copy").api_key;
    signpost.get(&format!("{CHANGES}?{parameters}"), &[("X-Api-Key", &key)])
}

fn report(signpost: &Signpost, publisher: &Publisher<'_>, if_match: &str) -> Answer {
    let key = publisher.create_key("pages").api_key;
    let mut headers = vec![("X-Api-Key", key.as_str()), ("Content-Type", "application/json")];
    if !if_match.is_empty() {
        headers.push(("If-Match", if_match));
    }
    signpost.report(&headers, query(&["date"], &["revenue"]).to_string().as_bytes())
}

fn row(date: &str, app: &str, clicks: u32, revenue: &str) -> String {
    format!("{date},{app},Quest,DE,p,t,d,s,10,9,8,{clicks},{revenue}")
}

#[test]
fn a_change_of_a_final_day_is_listed_with_its_difference_and_cause() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("day-changes");
    let empty = changes(&signpost, &publisher, "").expect(200).json();
    let nothing = json!({ "changes": [], "cursor": "0", "has_more": false, "final_through": null });
    assert_eq!(empty, nothing);
    assert_eq!(report(&signpost, &publisher, "").expect(204).header("X-Final-Through"), None);

    for date in ["2026-01-05", "2026-01-06", "2026-01-08"] {
        let facts = csv(&[&row(date, "74000001", 3, "0.5"), &row(date, "74000002", 1, "0.25")]);
        publisher.put_facts(date, &facts).expect(200);
    }
    // The day after is not loaded, so all days are final up to this one.
    let key = publisher.create_key("final").api_key;
    eventually_within(30_000, &Some("2026-01-06".to_owned()), || {
        thread::sleep(Duration::from_millis(2_100));
        let body = query(&["date"], &["revenue"]).to_string();
        let report = signpost.report_with(&key, body.as_bytes()).expect(200);
        report.header("X-Final-Through").map(str::to_owned)
    });
    let before = report(&signpost, &publisher, "").expect(200);
    let etag = before.header("ETag").expect("a version").to_owned();
    // A proxy that compresses answers makes tags weak.
    for matching in [etag.as_str(), "*", &format!("\"1\", {etag}"), &format!("W/{etag}")] {
        let page = report(&signpost, &publisher, matching).expect(200);
        assert_eq!((page.header("ETag"), &page.body), (Some(etag.as_str()), &before.body));
    }
    // A day that is not final changes without an entry, and its version is another.
    publisher.put_facts("2026-01-08", &csv(&[&row("2026-01-08", "74000001", 3, "0.5")])).expect(200);
    report(&signpost, &publisher, &etag).expect_error(412, "data_changed");
    assert_eq!(changes(&signpost, &publisher, "").expect(200).json()["changes"], json!([]));

    // The same facts once more are no change.
    let facts = |revenue: &str| {
        let date = "2026-01-05";
        csv(&[&row(date, "74000001", 3, "0.5"), &row(date, "74000002", 1, revenue)])
    };
    publisher.put_facts("2026-01-05", &facts("0.25")).expect(200);
    publisher.put_facts("2026-01-05", &facts("0.75")).expect(200);
    let headers = [("Content-Type", "text/csv"), ("Idempotency-Key", "more")];
    let more = csv(&[&row("2026-01-06", "74000003", 2, "1")]);
    publisher.send_facts("POST", "facts", &headers, more.as_bytes()).expect(200);
    publisher.send_facts("POST", "facts", &headers, more.as_bytes()).expect(200);
    let first = changes(&signpost, &publisher, "limit=1").expect(200).json();
    assert_eq!((&first["has_more"], &first["final_through"]), (&json!(true), &json!("2026-01-06")));
    let cursor = first["cursor"].as_str().expect("a cursor");
    let second = changes(&signpost, &publisher, &format!("after={cursor}")).expect(200).json();
    assert_eq!(second["has_more"], false);
    let listed = [&first, &second].map(|page| {
        let mut change = page["changes"][0].clone();
        let changed_ts = change["changed_ts"].take();
        assert!(changed_ts.as_i64() > Some(1_700_000_000), "{changed_ts}");
        change
    });
    let sums = |rows: i64, clicks: i64, revenue: Value| json!({ "ad_requests": 10 * rows, "ad_responses": 9 * rows, "impressions": 8 * rows, "clicks": clicks, "revenue": revenue });
    assert_eq!(
        json!(listed),
        json!([
            {
                "date": "2026-01-05", "app_id": "74000002", "cause": "facts_replaced", "author": "operator",
                "changed_ts": null, "before": sums(1, 1, json!(0.25)), "after": sums(1, 1, json!(0.75)),
            },
            {
                "date": "2026-01-06", "app_id": "74000003", "cause": "facts_added", "author": "operator",
                "changed_ts": null, "before": sums(0, 0, json!(0)), "after": sums(1, 2, json!(1)),
            },
        ])
    );
    // A dry run lists the changes that it would make, on any days, and makes none.
    let would = csv(&[&row("2026-01-05", "74000001", 3, "0.5")]);
    let csv_type = ("Content-Type", "text/csv");
    let dry = publisher.send_facts("PUT", "facts/2026-01-05?dry_run=true", &[csv_type], would.as_bytes());
    let gone = json!({ "date": "2026-01-05", "app_id": "74000002", "before": sums(1, 1, json!(0.75)), "after": sums(0, 0, json!(0)) });
    assert_eq!(dry.expect(200).json(), json!({ "rows": 1, "dry_run": true, "changed": 1, "changes": [gone] }));
    for (key, duplicate, changed) in [("more", true, 0), ("new", false, 1)] {
        let headers = [csv_type, ("Idempotency-Key", key)];
        let dry = publisher.send_facts("POST", "facts?dry_run=true", &headers, more.as_bytes());
        let dry = dry.expect(200).json();
        assert_eq!((&dry["duplicate"], &dry["changed"]), (&json!(duplicate), &json!(changed)), "{dry}");
    }
    assert_eq!(changes(&signpost, &publisher, "limit=1").expect(200).json(), first);
    // An entry that was read stays as it is.
    publisher.put_facts("2026-01-05", &facts("0.5")).expect(200);
    assert_eq!(changes(&signpost, &publisher, "limit=1").expect(200).json(), first);
    let cursor = second["cursor"].as_str().expect("a cursor");
    let third = changes(&signpost, &publisher, &format!("after={cursor}")).expect(200).json();
    assert_eq!(third["changes"][0]["before"]["revenue"], 0.75);
    for wrong in ["after=x", "after=-1", "after=12345678901234567", "limit=0", "limit=1001"] {
        changes(&signpost, &publisher, wrong).expect_error(400, "invalid_field");
    }
}

/// The script that INTEGRATING names, against a report of all days.
#[test]
fn a_copy_by_the_recipe_has_what_a_report_has() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("copied-reports");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reports.sqlite");
    let key = publisher.create_key("copy").api_key;
    let copy = || {
        let ran = Command::new("python3")
            .arg(root().join("fixtures/recipes/keep_reports.py"))
            .args([signpost.base().as_str(), "2026-01-01"])
            .arg(&path)
            .env("API_KEY", &key)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let said = String::from_utf8(ran.stdout).unwrap();
        let days: usize = said.split(' ').next().and_then(|days| days.parse().ok()).expect("days");
        let db = rusqlite::Connection::open(&path).unwrap();
        let mut rows = db.prepare("SELECT row FROM rows").unwrap();
        let rows = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let rows = rows.map(|row| serde_json::from_str(&row.unwrap()).unwrap());
        (days, sorted(rows.collect()))
    };
    let metrics = ["ad_requests", "impressions", "clicks", "revenue"];
    let all = || sorted(publisher.rows(&query(&["date", "app", "country", "demand_source"], &metrics)));
    let put = |date: &str, clicks: u32| {
        let facts = csv(&[&row(date, "74000001", clicks, "0.5"), &row(date, "74000002", 1, "0.25")]);
        publisher.put_facts(date, &facts).expect(200);
    };
    for date in ["2026-01-01", "2026-01-02", "2026-01-03"] {
        put(date, 2);
    }
    let (days_of_all, rows) = copy();
    assert_eq!(rows, all());
    eventually_within(30_000, &json!("2026-01-03"), || {
        thread::sleep(Duration::from_secs(1));
        changes(&signpost, &publisher, "").expect(200).json()["final_through"].clone()
    });
    copy();
    put("2026-01-02", 7);
    put("2026-01-04", 1);
    let (days, rows) = copy();
    assert_eq!(rows, all());
    assert_eq!(days, days_of_all - 2, "the first and the third were final and are as they were");
}

fn sorted(mut rows: Vec<Value>) -> Vec<String> {
    rows.sort_by_key(Value::to_string);
    rows.iter().map(Value::to_string).collect()
}
