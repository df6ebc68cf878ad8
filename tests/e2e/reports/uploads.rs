//! Formats of uploaded facts, and failed uploads: damaged gzip, too large, aborted, or cut off by a power failure.

use serde_json::{Value, json};

use crate::{
    harness::{Publisher, Setup, Signpost, demo, eventually, eventually_within, gzip, with},
    reports::{csv, model::DIMENSIONS, query},
};

type Headers<'h> = &'h [(&'h str, &'h str)];

const CSV: (&str, &str) = ("Content-Type", "text/csv");
const GZIP: (&str, &str) = ("Content-Encoding", "gzip");

fn clicks(publisher: &Publisher<'_>) -> Vec<Value> {
    publisher.rows(&query(&["date", "app"], &["clicks", "revenue"]))
}

#[test]
fn facts_may_be_quoted_compressed_start_with_a_bom_and_have_columns_in_any_order() {
    let signpost = demo();
    let publisher = signpost.publisher("uploads-forms");
    let plain = csv(&["2026-01-05,74000001,\"Quest, the game\",DE,p,\"t \"\"1\"\"\",d,s,1,1,1,1,0.5"]);
    let windows = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    let no_last_end = plain.trim_end().to_owned();
    let reordered = "\"revenue\",clicks,impressions,ad_responses,ad_requests,sdk_v,demand_source,ad_tag,\
        placement_id,country,app_name,app_id,date\n\
        0.500000,\"1\",1,1,1,s,d,\"t \"\"1\"\"\",p,de,\"Quest, the game\",\"74000001\",2026-01-05\n";
    let ndjson = json!({
        "date": "2026-01-05", "app_id": "74000001", "app_name": "Quest, the game", "country": "DE", "placement_id": "p",
        "ad_tag": "t \"1\"", "demand_source": "d", "sdk_v": "s", "ad_requests": 1, "ad_responses": 1, "impressions": 1,
        "clicks": 1, "revenue": 0.5,
    })
    .to_string();
    let ndjson_type = ("Content-Type", "application/x-ndjson");
    let parameters = ("Content-Type", "Text/CSV; charset=utf-8; header=present");
    let forms: [(Headers<'_>, Vec<u8>); 9] = [
        (&[CSV], plain.clone().into()),
        (&[CSV], windows.clone().into()),
        (&[CSV], no_last_end.into()),
        (&[CSV], reordered.into()),
        (&[parameters], plain.clone().into()),
        (&[CSV, GZIP], gzip(windows.as_bytes())),
        (&[CSV, ("Content-Encoding", "GZIP")], gzip(plain.as_bytes())),
        (&[ndjson_type], format!("\u{feff}{ndjson}\r\n\r\n").into()),
        (&[ndjson_type, GZIP], gzip(ndjson.as_bytes())),
    ];
    let all = query(&DIMENSIONS, &["clicks", "revenue"]);
    for (place, (headers, body)) in forms.iter().enumerate() {
        let key = format!("form-{place}");
        let mut headers = headers.to_vec();
        let put = publisher.send_facts("PUT", "facts/2026-01-05", &headers, body);
        assert_eq!(put.expect(200).json(), json!({"rows": 1}), "form {place}");
        headers.push(("Idempotency-Key", &key));
        let added = publisher.send_facts("POST", "facts", &headers, body);
        assert_eq!(added.expect(200).json()["rows"], 1, "form {place}");
        assert_eq!(
            json!(publisher.rows(&all)),
            json!([{
                "date": "2026-01-05", "app_id": "74000001", "app": {"name": "Quest, the game"}, "country": "DE",
                "placement_id": "p", "ad_tag": "t \"1\"", "demand_source": "d", "sdk_v": "s", "clicks": 2, "revenue": 1,
            }]),
            "form {place}"
        );
    }
    // In a PUT of one day, the date may be left out. A day may have no rows.
    let without = plain.replacen("date,", "", 1).replace("2026-01-05,", "");
    assert_eq!(publisher.put_facts("2026-01-05", &without).expect(200).json(), json!({"rows": 1}));
    assert_eq!(publisher.put_facts("2026-01-05", &csv(&[])).expect(200).json(), json!({"rows": 0}));
    publisher.report(&all).expect(204);
    assert_eq!(publisher.days()[0]["loaded"]["rows"], 0);
}

#[test]
fn a_body_that_does_not_decompress_is_refused_and_changes_nothing() {
    let signpost = demo();
    let publisher = signpost.publisher("uploads-packed");
    let fact = csv(&["2026-01-05,74000011,,DE,p,t,d,s,1,1,1,1,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let before = clicks(&publisher);
    let rows: Vec<_> = (0..2_000).map(|n| format!("2026-01-05,74000012,,DE,p{n},t,d,s,1,1,1,1,0.5")).collect();
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    let many = csv(&rows);
    let packed = gzip(many.as_bytes());
    let mut damaged = packed.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let broken = [
        many.clone().into_bytes(),
        b"\x1f\x8b".to_vec(),
        packed[..packed.len() / 2].to_vec(),
        // All facts, with the checksum cut off.
        packed[..packed.len() - 4].to_vec(),
        damaged,
    ];
    for body in &broken {
        for (method, rest) in [("PUT", "facts/2026-01-05"), ("POST", "facts")] {
            let headers = [CSV, GZIP, ("Idempotency-Key", "packed")];
            publisher.send_facts(method, rest, &headers, body).expect_error(400, "invalid_facts");
            assert_eq!(clicks(&publisher), before);
        }
    }
    let headers = [CSV, GZIP, ("Idempotency-Key", "packed")];
    let answer = publisher.send_facts("POST", "facts", &headers, &packed).expect(200);
    assert_eq!(answer.json(), json!({"rows": 2_000, "duplicate": false}));
    for encoding in ["br", "deflate", "zstd", "gzip, gzip"] {
        let headers = [CSV, ("Content-Encoding", encoding), ("Idempotency-Key", "other")];
        publisher.send_facts("POST", "facts", &headers, &packed).expect_error(415, "unsupported_media_type");
    }
}

#[test]
fn a_decompression_bomb_is_refused_at_the_size_limit() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("uploads-bomb");
    let fact = csv(&["2026-01-05,74000021,,DE,p,t,d,s,1,1,1,1,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let before = (clicks(&publisher), publisher.days());
    let row = "2026-01-05,74000021,,DE,p,t,d,s,1,1,1,1,0.5\n";
    // Valid facts that are too many, and one endless line.
    let facts = csv(&[]) + &row.repeat((64 << 20) / row.len() + 1);
    for bomb in [gzip(facts.as_bytes()), gzip(&vec![b'x'; 100 << 20])] {
        assert!(bomb.len() < 2 << 20);
        for (method, rest) in [("PUT", "facts/2026-01-05"), ("POST", "facts")] {
            let headers = [CSV, GZIP, ("Idempotency-Key", "bomb")];
            publisher.send_facts(method, rest, &headers, &bomb).expect_error(413, "payload_too_large");
        }
        assert_eq!((clicks(&publisher), publisher.days()), before);
    }
    assert_eq!(staged(&signpost), 0);
    let memory = signpost.wasm_memory();
    assert!(memory < 100_000_000, "{memory} bytes");
    // Facts below the limit are accepted under the same key, which the refused uploads did not use up.
    let facts = csv(&[]) + &row.repeat(50_000);
    let headers = [CSV, GZIP, ("Idempotency-Key", "bomb")];
    let answer = publisher.send_facts("POST", "facts", &headers, &gzip(facts.as_bytes()));
    assert_eq!(answer.expect(200).json(), json!({"rows": 50_000, "duplicate": false}));
    assert_eq!(
        json!(clicks(&publisher)),
        json!([{"date": "2026-01-05", "app_id": "74000021", "app": {"name": "unknown"}, "clicks": 50_001, "revenue": 25_000.5}])
    );
}

/// The number of staged segments, of uploads that are not committed yet, in all ledgers.
fn staged(signpost: &Signpost) -> i64 {
    let sql = "SELECT COUNT(*) FROM segments WHERE upload > 0";
    let counts = signpost.stored("signpost-ledger", sql, |row| row.get::<_, i64>(0));
    counts.into_iter().sum()
}

/// Rows of an upload of which even the first half is more than a ledger holds in memory before it stages segments.
const ROWS: usize = 260_000;

fn large() -> String {
    let rows: Vec<_> =
        (0..ROWS).map(|n| format!("2026-01-05,74000031,,DE,p{},t{},d,s,1,1,1,1,0.5", n % 50, n % 1_001)).collect();
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    csv(&rows)
}

#[test]
fn an_upload_cut_off_by_a_power_failure_leaves_its_day_unchanged() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("uploads-power");
    let fact = csv(&["2026-01-05,74000032,,DE,p,t,d,s,1,1,1,1,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let before = (clicks(&publisher), publisher.days());
    let large = large();
    let half_sent = publisher.begin_facts("2026-01-05", &large);
    eventually(&true, || staged(&signpost) > 0);
    assert_eq!((clicks(&publisher), publisher.days()), before, "half an upload does not count");
    signpost.restart();
    drop(half_sent);
    assert_eq!((clicks(&publisher), publisher.days()), before);

    assert_eq!(publisher.put_facts("2026-01-05", &large).expect(200).json(), json!({"rows": ROWS}));
    let all = json!([{"date": "2026-01-05", "app_id": "74000031", "app": {"name": "unknown"}, "clicks": ROWS, "revenue": ROWS / 2}]);
    assert_eq!(json!(clicks(&publisher)), all);
    let days = publisher.days();
    assert_eq!(days.len(), 1, "{days:?}");
    assert_eq!(days[0]["loaded"]["clicks"], ROWS, "{days:?}");
    assert_eq!(staged(&signpost), 0, "segments of the dead upload are deleted");
    signpost.restart();
    assert_eq!(json!(clicks(&publisher)), all);
}

#[test]
fn an_upload_aborted_by_its_sender_changes_nothing() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("uploads-cut");
    let fact = csv(&["2026-01-05,74000042,,DE,p,t,d,s,1,1,1,1,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let before = (clicks(&publisher), publisher.days());
    let large = large();
    for _ in 0..2 {
        let half_sent = publisher.begin_facts("2026-01-05", &large);
        eventually(&true, || staged(&signpost) > 0);
        drop(half_sent);
        assert_eq!((clicks(&publisher), publisher.days()), before);
    }
    // Another upload is accepted as usual.
    let fact = csv(&["2026-01-05,74000042,,DE,p,t,d,s,1,1,1,2,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    assert_eq!(
        json!(clicks(&publisher)),
        json!([{"date": "2026-01-05", "app_id": "74000042", "app": {"name": "unknown"}, "clicks": 2, "revenue": 0.5}])
    );
}

#[test]
fn damaged_facts_are_an_error_and_other_days_are_still_reported() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("uploads-damaged");
    let row = |date: &str| csv(&[&format!("{date},74000001,Quest,DE,p,t,d,s,1,1,1,1,0.5")]);
    publisher.put_facts("2026-01-05", &row("2026-01-05")).expect(200);
    publisher.put_facts("2026-01-06", &row("2026-01-06")).expect(200);
    signpost.restart_after(|| {
        signpost.damage(
            "signpost-ledger",
            "UPDATE columns SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'ff' AS BLOB)
             WHERE id = (SELECT MIN(id) FROM columns)",
        );
    });
    let report_from = |start: &str| {
        let range = json!({ "start_date": start, "end_date": "2026-01-06" });
        publisher.report(&with(query(&["date", "sdk_v"], &["revenue"]), &json!({ "date_range": range })))
    };
    report_from("2026-01-05").expect_error(500, "damaged_facts");
    let whole = report_from("2026-01-06").expect(200);
    assert_eq!(whole.json(), json!({"rows": [{"date": "2026-01-06", "sdk_v": "s", "revenue": 0.5}]}));
    // Uploading the day again repairs it.
    publisher.put_facts("2026-01-05", &row("2026-01-05")).expect(200);
    assert_eq!(report_from("2026-01-05").expect(200).json()["rows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_day_with_nothing_to_load_becomes_final_and_a_restated_one_keeps_what_is_loaded() {
    let signpost = demo();
    let publisher = signpost.publisher("uploads-nothing");
    publisher.put_facts("2026-01-05", &csv(&[])).expect(200);
    publisher.put_facts("2026-01-06", &csv(&["2026-01-06,74000001,,DE,p,t,d,s,1,1,1,1,0.5"])).expect(200);
    let states = || {
        let days = publisher.operator("GET", "facts", None).expect(200).json()["days"].clone();
        let days = days.as_array().unwrap().iter();
        days.map(|day| json!([day["date"], day["state"], day["loaded"]["rows"], day["loaded"]["loaded_by"]]))
            .collect::<Vec<_>>()
    };
    let expected =
        [json!(["2026-01-06", "final", 1, "the operator"]), json!(["2026-01-05", "final", 0, "the operator"])];
    eventually_within(30_000, &expected.to_vec(), states);

    let restate = |rest: &str| publisher.operator("POST", &format!("days/{rest}"), None);
    let none = json!({"clicks": 0, "revenue": 0});
    for (query, is_dry_run) in [("?dry_run=true", true), ("", false)] {
        let restated = restate(&format!("2026-01-06/restate{query}")).expect(200).json();
        let expected = json!({
            "date": "2026-01-06", "dry_run": is_dry_run, "before": none, "after": none, "apps": [],
            "damaged_segments": 0, "not_kept": [],
        });
        assert_eq!(restated, expected);
    }
    assert_eq!(clicks(&publisher)[0]["clicks"], 1);
    restate("2026-01-06/restate?dry_run=yes").expect_error(400, "invalid_field");
    restate("2026-02-30/restate").expect_error(400, "invalid_field");
    restate("2999-01-01/restate").expect_error(400, "invalid_field");
    restate("2098-01-01/restate").expect_error(409, "day_not_over");
    signpost.operator("POST", "publishers/nobody/days/2026-01-06/restate", None).expect_error(404, "not_found");
}
