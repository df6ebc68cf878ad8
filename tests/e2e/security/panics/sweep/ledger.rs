//! Panics of ledgers: facts count once, and report keys match their answers.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::json;

use super::{Sweep, faulty};
use crate::{
    harness::{Publisher, REPORT, ReportKey, now_ms},
    reports,
};
use domain::model::time::UtcDay;

#[test]
fn wherever_a_ledger_panics_facts_count_once_and_report_keys_match_their_answers() {
    let signpost = faulty().start();
    let publisher = signpost.publisher("panics-facts");
    let sweep = Sweep::new(&signpost);
    let first = UtcDay::of_ms(now_ms()).minus(60);
    let (days, added) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
    let row = |date: &str, number: usize| {
        reports::csv(&[&format!("{date},70000001,,DE,p-{number},tag,alpha,1,{number},1,1,1,1")])
    };
    // Ten days are replaced repeatedly. Each number has its own placement, and the last one of a day stays.
    let date = |number: usize| first.minus(-i32::try_from(number % 10).unwrap()).to_string();
    sweep.run(
        "a day of facts",
        &[],
        |number| number,
        |&number| {
            let answer = publisher.put_facts(&date(number), &row(&date(number), number));
            if answer.status == 200 {
                days.borrow_mut().insert((date(number), number));
            }
            answer
        },
    );
    sweep.run(
        "an increment",
        &[],
        |number| number,
        |&number| {
            let date = first.minus(20).to_string();
            let answer = publisher.add_facts(&format!("key-{number}"), &row(&date, number));
            if answer.status == 200 {
                added.borrow_mut().insert(number);
            }
            answer
        },
    );
    let issued = RefCell::new(Vec::<ReportKey>::new());
    sweep.run(
        "a report key",
        &[],
        |_| {
            while let Some(key) = issued.borrow_mut().pop() {
                publisher.revoke_key(&key);
            }
            revoke_all(&publisher);
        },
        |()| {
            let answer = publisher.operator("POST", "report_keys", Some(&json!({"label": "panics"})));
            if answer.status == 201 {
                let text = |member: &str| answer.json()[member].as_str().unwrap().to_owned();
                issued.borrow_mut().push(ReportKey { id: text("key_id"), api_key: text("api_key") });
            }
            answer
        },
    );
    let query = json!({
        "date_range": {"start_date": first.minus(20).to_string(), "end_date": first.minus(-10).to_string()},
        "dimensions": ["date", "placement_id"], "metrics": ["ad_requests"],
    });
    let ask = |key: &ReportKey| {
        let headers = [("X-Api-Key", key.api_key.as_str()), ("Content-Type", "application/json")];
        signpost.send("POST", REPORT, &headers, query.to_string().as_bytes())
    };
    let new_key = |_| {
        revoke_all(&publisher);
        publisher.create_key("panics")
    };
    // 429: the key's rate was counted, but the report panicked.
    sweep.run("a report", &[429], new_key, ask);
    let revoked = RefCell::new(Vec::new());
    // 404: the key was revoked, but the answer was lost.
    sweep.run("a revocation", &[404], new_key, |key| {
        let answer = publisher.operator("DELETE", &format!("report_keys/{}", key.id), None);
        if [204, 404].contains(&answer.status) {
            revoked.borrow_mut().push(key.api_key.clone());
        }
        answer
    });
    for api_key in revoked.borrow().iter() {
        ask(&ReportKey { id: String::new(), api_key: api_key.clone() }).expect_error(401, "invalid_api_key");
    }

    let mut last = BTreeMap::new();
    for (date, number) in days.borrow().iter() {
        last.insert(date.clone(), *number);
    }
    let all = added.borrow().iter().map(|number| (first.minus(20).to_string(), *number)).collect::<Vec<_>>();
    let expected: BTreeSet<_> = last.into_iter().chain(all).collect();
    let stored: BTreeSet<_> = publisher
        .rows(&query)
        .iter()
        .map(|row| {
            let number = row["placement_id"].as_str().unwrap().trim_start_matches("p-").parse::<usize>().unwrap();
            assert_eq!(row["ad_requests"].as_u64().unwrap_or(0), number as u64, "counted once: {row}");
            (row["date"].as_str().unwrap().to_owned(), number)
        })
        .collect();
    assert_eq!(stored, expected);
    sweep.report(50);
}

/// Revokes all keys, also those whose answers were lost.
fn revoke_all(publisher: &Publisher<'_>) {
    let listed = publisher.operator("GET", "report_keys", None).expect(200).json();
    for key in listed["report_keys"].as_array().unwrap() {
        let path = format!("report_keys/{}", key["key_id"].as_str().unwrap());
        publisher.operator("DELETE", &path, None).expect(204);
    }
}
