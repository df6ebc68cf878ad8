//! The script that fills a spreadsheet with a report, in Node.js with stand-ins for the services of Apps Script.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    harness::{ReportKey, Setup, Signpost, away_from_midnight, now_ms, root},
    reports::csv,
};
use domain::model::time::UtcDay;

/// Runs the script. Returns the statuses of its requests and the sheet's cells.
fn fill(signpost: &Signpost, key: &ReportKey) -> (Value, Value) {
    let ran = Command::new("node")
        .arg(root().join("tests/e2e/reports/spreadsheet.mjs"))
        .arg(root().join("fixtures/recipes/spreadsheet.gs"))
        .arg(signpost.base())
        .env("API_KEY", &key.api_key)
        .output()
        .expect("node");
    assert!(ran.status.success(), "{ran:?}");
    let found: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    (found["codes"].clone(), found["cells"].clone())
}

#[test]
fn a_spreadsheet_by_the_recipe_has_the_rows_of_a_report() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("spreadsheet");
    let key = publisher.create_key("sheet");
    assert_eq!(fill(&signpost, &key), (json!([204]), json!([])));

    let today = UtcDay::of_ms(now_ms());
    for ago in [1, 2, 40] {
        let day = today.minus(ago);
        let facts = [
            format!("{day},74000001,\"Tile, \"\"Quest\"\"\",DE,p,00042,d,s,10,9,8,7,0.5"),
            format!("{day},74000002,=1+1,DE,p,=A1,d,s,10,9,8,7,-1.25"),
        ];
        let facts = csv(&facts.each_ref().map(String::as_str));
        publisher.put_facts(&day.to_string(), &facts).expect(200);
    }
    // The key asked a moment ago.
    let (codes, cells) = fill(&signpost, &key);
    assert_eq!(codes, json!([429, 200]));
    let mut expected =
        vec![json!(["date", "app_id", "app_name", "country", "ad_tag", "impressions", "clicks", "revenue"])];
    let report = json!({
        "date_range": {"start_date": today.minus(30).to_string(), "end_date": today.minus(1).to_string()},
        "dimensions": ["date", "app", "country", "ad_tag"], "metrics": ["impressions", "clicks", "revenue"],
    });
    let rows = publisher.rows(&report);
    assert_eq!(rows.len(), 4);
    expected.extend(rows.iter().map(|row| {
        json!([{ "date": row["date"] }, row["app_id"], row["app"]["name"], row["country"], row["ad_tag"],
            row["impressions"], row["clicks"], row["revenue"]])
    }));
    assert_eq!(cells, json!(expected));
}
