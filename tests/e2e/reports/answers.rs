//! Compares complete responses of reports over a small set of facts, byte for byte.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Publisher, Signpost, demo, with},
    reports::{csv, model::METRICS, query},
};

/// A publisher with facts of four apps. Their names come from the catalog, from facts, from both, or from nowhere.
fn publisher_with_facts<'s>(signpost: &'s Signpost, id: &str, apps: [&str; 4]) -> Publisher<'s> {
    let publisher = signpost.publisher(id);
    let [quest, catalog, unknown, renamed] = apps;
    for (app, name) in [(catalog, "From the catalog"), (renamed, "In the catalog")] {
        signpost.put(
            &format!("apps/{app}"),
            &json!({
                "publisher_id": id, "name": name, "platform": "web",
                "currency": {"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"}
            }),
        );
    }
    let rows = [
        format!("2026-01-05,{quest},\"Tile, \"\"Quest\"\"\",DE,home,tag-a,alpha,1.0,1000,800,600,30,4.56"),
        // The same key again is added up. A missing name does not remove a known one.
        format!("2026-01-05,{quest},,de,home,tag-a,alpha,1.0,200,100,0,0,0"),
        format!("2026-01-05,{catalog},,us,,,beta,,0,0,0,7,-1.25"),
        format!("2026-01-06,{unknown},,,banner,tag-b,beta,2.0,3,2,3,1,0.000001"),
        format!("2026-01-06,{quest},,DE,home,tag-a,alpha,1.0,0,0,0,0,0"),
        format!("2026-02-01,{renamed},In facts,FR,x,x,x,x,0,0,3000000,1,-0.000001"),
        format!("2026-02-02,{renamed},,FR,x,x,x,x,0,0,2000000,1,1.000000"),
    ];
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    assert_eq!(publisher.add_facts("all", &csv(&rows)).expect(200).json(), json!({"rows": 7, "duplicate": false}));
    publisher
}

fn january(query: Value) -> Value {
    let range = json!({"start_date": "2026-01-01", "end_date": "2026-01-31"});
    with(query, &json!({ "date_range": range }))
}

#[track_caller]
fn assert_report(answer: Answer, content_type: &str, body: &str, total: &str) {
    let answer = answer.expect(200);
    assert_eq!(answer.body, body, "{answer:?}");
    for (name, value) in [
        ("X-Total-Count", total),
        ("X-Page", "1"),
        ("X-Page-Size", "10000"),
        ("X-Data-Through", "2026-02-03T00:00:00Z"),
        ("Cache-Control", "no-store"),
        ("RateLimit-Policy", "\"report\";q=1;w=2"),
        ("RateLimit", "\"report\";r=0;t=2"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name} of {answer:?}");
    }
    let found = answer.header("Content-Type").unwrap_or_default();
    assert!(found.starts_with(content_type), "{answer:?}");
}

/// The rows as the JSON of an answer.
fn body(rows: &[&str]) -> String {
    format!("{{\"rows\":[{}]}}", rows.join(","))
}

#[test]
fn the_same_rows_are_returned_in_three_formats() {
    let signpost = demo();
    let apps = ["70000001", "70000002", "70000003", "70000004"];
    let publisher = publisher_with_facts(&signpost, "answers-formats", apps);
    let all = january(query(&["date", "app", "country"], &METRICS));

    let rows = [
        concat!(
            r#"{"date":"2026-01-05","app_id":"70000001","app":{"name":"Tile, \"Quest\""},"country":"DE","#,
            r#""ad_requests":1200,"ad_responses":900,"impressions":600,"clicks":30,"revenue":4.56,"#,
            r#""ecpm":7.6,"fill_rate":0.75,"show_rate":0.666667,"click_rate":0.05}"#
        ),
        concat!(
            r#"{"date":"2026-01-05","app_id":"70000002","app":{"name":"From the catalog"},"country":"US","#,
            r#""clicks":7,"revenue":-1.25}"#
        ),
        r#"{"date":"2026-01-06","app_id":"70000001","app":{"name":"Tile, \"Quest\""},"country":"DE"}"#,
        concat!(
            r#"{"date":"2026-01-06","app_id":"70000003","app":{"name":"unknown"},"country":"ZZ","#,
            r#""ad_requests":3,"ad_responses":2,"impressions":3,"clicks":1,"revenue":0.000001,"#,
            r#""ecpm":0.000333,"fill_rate":0.666667,"show_rate":1.5,"click_rate":0.333333}"#
        ),
    ];
    for accept in ["application/json", "*/*"] {
        assert_report(publisher.report_as(accept, &all), "application/json", &body(&rows), "4");
    }
    let lines = rows.join("\n") + "\n";
    let answer = publisher.report_as("application/x-ndjson", &all);
    assert_report(answer, "application/x-ndjson", &lines, "4");
    let lines = [
        "date,app_id,app_name,country,ad_requests,ad_responses,impressions,clicks,revenue,ecpm,fill_rate,show_rate,click_rate",
        "2026-01-05,70000001,\"Tile, \"\"Quest\"\"\",DE,1200,900,600,30,4.56,7.6,0.75,0.666667,0.05",
        "2026-01-05,70000002,From the catalog,US,0,0,0,7,-1.25,0,0,0,0",
        "2026-01-06,70000001,\"Tile, \"\"Quest\"\"\",DE,0,0,0,0,0,0,0,0,0",
        "2026-01-06,70000003,unknown,ZZ,3,2,3,1,0.000001,0.000333,0.666667,1.5,0.333333",
    ]
    .map(|line| line.to_owned() + "\r\n")
    .concat();
    assert_report(publisher.report_as("text/csv", &all), "text/csv", &lines, "4");

    // Columns come in the order of the request.
    let mixed = january(query(&["country", "date"], &["revenue", "ad_requests"]));
    let lines = "country,date,revenue,ad_requests\r\nDE,2026-01-05,4.56,1200\r\nUS,2026-01-05,-1.25,0\r\n\
        DE,2026-01-06,0,0\r\nZZ,2026-01-06,0.000001,3\r\n";
    assert_report(publisher.report_as("text/csv", &mixed), "text/csv", lines, "4");
}

#[test]
fn without_a_date_rows_are_ordered_by_the_first_metric_and_ties_by_the_dimensions() {
    let signpost = demo();
    let apps = ["70000011", "70000012", "70000013", "70000014"];
    let publisher = publisher_with_facts(&signpost, "answers-order", apps);
    let dimensions = ["placement_id", "ad_tag", "demand_source", "sdk_v"];
    let by_clicks = january(query(&dimensions, &["clicks", "revenue"]));
    let rows = [
        r#"{"placement_id":"home","ad_tag":"tag-a","demand_source":"alpha","sdk_v":"1.0","clicks":30,"revenue":4.56}"#,
        r#"{"placement_id":"unknown","ad_tag":"unknown","demand_source":"beta","sdk_v":"unknown","clicks":7,"revenue":-1.25}"#,
        r#"{"placement_id":"banner","ad_tag":"tag-b","demand_source":"beta","sdk_v":"2.0","clicks":1,"revenue":0.000001}"#,
    ];
    assert_report(publisher.report(&by_clicks), "application/json", &body(&rows), "3");

    // A column that is not requested can still order the rows, and -1.25 is below 0.
    let order = json!({"order_by": [{"column": "revenue", "ascending": true}]});
    let by_revenue = with(january(query(&["country"], &["clicks"])), &order);
    let rows = [r#"{"country":"US","clicks":7}"#, r#"{"country":"ZZ","clicks":1}"#, r#"{"country":"DE","clicks":30}"#];
    assert_report(publisher.report(&by_revenue), "application/json", &body(&rows), "3");

    let order = json!({"order_by": [{"column": "ad_responses", "ascending": false}]});
    let ties = with(query(&["sdk_v", "demand_source"], &["ad_responses"]), &order);
    let rows = [
        r#"{"sdk_v":"1.0","demand_source":"alpha","ad_responses":900}"#,
        r#"{"sdk_v":"2.0","demand_source":"beta","ad_responses":2}"#,
        r#"{"sdk_v":"unknown","demand_source":"beta"}"#,
        r#"{"sdk_v":"x","demand_source":"x"}"#,
    ];
    assert_report(publisher.report(&ties), "application/json", &body(&rows), "4");
}

#[test]
fn a_number_that_rounds_to_zero_at_six_decimals_is_left_out() {
    let signpost = demo();
    let apps = ["70000021", "70000022", "70000023", "70000024"];
    let publisher = publisher_with_facts(&signpost, "answers-zeros", apps);
    let metrics = ["impressions", "clicks", "revenue", "ecpm", "click_rate"];
    let range = json!({"date_range": {"start_date": "2026-02-01", "end_date": "2026-02-02"}});
    let rows = [
        concat!(
            r#"{"date":"2026-02-01","app_id":"70000024","app":{"name":"In facts"},"#,
            r#""impressions":3000000,"clicks":1,"revenue":-0.000001}"#
        ),
        concat!(
            r#"{"date":"2026-02-02","app_id":"70000024","app":{"name":"In facts"},"#,
            r#""impressions":2000000,"clicks":1,"revenue":1,"ecpm":0.0005,"click_rate":0.000001}"#
        ),
    ];
    let answer = publisher.report(&with(query(&["date", "app"], &metrics), &range));
    assert_report(answer, "application/json", &body(&rows), "2");
}

#[track_caller]
fn assert_empty(answer: Answer, through: Option<&str>) {
    let answer = answer.expect(204);
    assert_eq!(answer.body, "", "{answer:?}");
    for (name, value) in [
        ("X-Total-Count", Some("0")),
        ("X-Page", Some("1")),
        ("X-Page-Size", Some("10000")),
        ("X-Data-Through", through),
        ("Cache-Control", Some("no-store")),
    ] {
        assert_eq!(answer.header(name), value, "{name} of {answer:?}");
    }
}

#[test]
fn an_empty_report_is_204_in_every_format() {
    let signpost = demo();
    let publisher = signpost.publisher("answers-empty");
    let formats = ["application/json", "text/csv", "application/x-ndjson"];
    let anything = query(&["date", "app"], &["clicks"]);
    for format in formats {
        // Without any data, X-Data-Through is absent.
        assert_empty(publisher.report_as(format, &anything), None);
    }
    let fact = csv(&["2026-01-05,70000031,,DE,p,t,d,s,0,0,0,1,0"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let elsewhere = json!({"filters": [{"dimension": "country", "values": ["FR"]}]});
    let elsewhen = json!({"date_range": {"start_date": "2026-01-06", "end_date": "2026-04-06"}});
    for format in formats {
        for members in [&elsewhere, &elsewhen] {
            let answer = publisher.report_as(format, &with(anything.clone(), members));
            assert_empty(answer, Some("2026-01-06T00:00:00Z"));
        }
        // A page past the last one is 200, because other pages have rows.
        let past = with(anything.clone(), &json!({"pagination": {"page": 2}}));
        let answer = publisher.report_as(format, &past).expect(200);
        let body = match format {
            "application/json" => "{\"rows\":[]}",
            "text/csv" => "date,app_id,app_name,clicks\r\n",
            _ => "",
        };
        assert_eq!(answer.body, body, "{answer:?}");
        assert_eq!(answer.header("X-Total-Count"), Some("1"), "{answer:?}");
        assert_eq!(answer.header("X-Page"), Some("2"), "{answer:?}");
    }
}
