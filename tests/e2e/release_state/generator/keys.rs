//! Report keys of every scope, the facts that they read, the Pub-Key's listing, and a test app.

use serde_json::{Value, json};

use super::{APP, CLICK_DAYS, FACTS_DAYS, Maker, PUBLISHER, WELL_HOST};
use crate::{
    harness::{REPORT, ReportKey, eventually_within},
    release_state::promises::Promise,
    reports::{csv, query},
};
use domain::model::time::{DAY_MS, MINUTE_MS};

const CHANGES: &str = "/v1/core/reporting/public/signal/report/changes";
const REWARDS: &str = "/v1/core/rewards";
const EXPORT: &str = "/v1/core/users/export";
const TEST_APPS: &str = "/v1/core/test_apps";
const TEST_PAGE: &str = "/v2/tracking/test";
const TEST_GOAL: &str = "signpost-test-one-goal-1";

fn keyed(promise: Promise, method: &str, path: &str, key: &ReportKey, body: &Value) -> Promise {
    promise.ask(method, path, &[("X-Api-Key", &key.api_key)], body)
}

/// Two days of facts that are final, with an increment; then one of them is replaced. The day after them is missing, so
/// the last one stays open.
fn facts(maker: &Maker<'_>) {
    let publisher = maker.signpost.existing_publisher(PUBLISHER);
    let row = |date: &str, revenue: &str| format!("{date},{APP},Quest,DE,p,t,d,s,10,9,8,3,{revenue}");
    for date in ["2026-01-05", "2026-01-06", "2026-01-08"] {
        publisher.put_facts(date, &csv(&[&row(date, "0.5")])).expect(200);
    }
    publisher.add_facts("increment-1", &csv(&[&row("2026-01-06", "0.25")])).expect(200);
    let key = publisher.create_key("of the changes");
    let changes = || maker.signpost.get(CHANGES, &[("X-Api-Key", &key.api_key)]);
    eventually_within(MINUTE_MS, &json!("2026-01-06"), || {
        std::thread::sleep(std::time::Duration::from_millis(2_100));
        changes().expect(200).json()["final_through"].clone()
    });
    publisher.put_facts("2026-01-05", &csv(&[&row("2026-01-05", "0.75")])).expect(200);

    publisher.operator("POST", "days/2026-01-05/restate", None).expect(200);

    // 2026-01-05, the oldest day.
    let facts_until = 1_767_571_200_000 + FACTS_DAYS * DAY_MS;
    let rows = json!({"rows": [
        {"date": "2026-01-05", "revenue": 0.75, "clicks": 3}, {"date": "2026-01-06", "revenue": 0.75, "clicks": 6},
        {"date": "2026-01-08", "revenue": 0.5, "clicks": 3},
    ]});
    let report = Promise::new("facts", "A report has the facts that were uploaded, and the increments.");
    let asked = query(&["date"], &["revenue", "clicks"]);
    let report = keyed(report, "POST", REPORT, &publisher.create_key("of the report"), &asked);
    maker.promise(report.answers(200, &rows).header("X-Final-Through", "2026-01-06").until(facts_until));
    let days = Promise::new("final days", "A final day stays final.");
    let days = days.operator("GET", &format!("publishers/{PUBLISHER}/facts?limit=1000"), &Value::Null);
    let listed = maker.signpost.operator("GET", &format!("publishers/{PUBLISHER}/facts?limit=1000"), None);
    let listed = listed.expect(200).json();
    let listed = listed["days"].as_array().expect("days").iter();
    let state = |day: &Value| json!({"date": day["date"], "state": day["state"]});
    let states: Vec<_> = listed.map(state).filter(|day| day["date"].as_str() <= Some("2026-01-07")).collect();
    maker.promise(days.answers(200, &json!({ "days": states })).until(facts_until));
    let changed = json!({"final_through": "2026-01-06", "changes": [{
        "date": "2026-01-05", "app_id": APP, "cause": "facts_replaced",
        "before": {"revenue": 0.5}, "after": {"revenue": 0.75},
    }]});
    let change = Promise::new("final days", "A change of a final day is listed, with its difference.");
    maker.promise_for(CLICK_DAYS, keyed(change, "GET", CHANGES, &key, &Value::Null).answers(200, &changed));
}

/// A reward of a test app, whose callback has arrived.
fn reward_of_a_test(maker: &Maker<'_>, app: &str) {
    let click = format!("/v2/tracking/click?rid={TEST_GOAL}&app={app}&user_id=u-test");
    let location = maker.signpost.get(&click, &[]).expect(302).location().to_owned();
    let (_, click) = location.split_once("?click_id=").expect("a click id");
    let form = format!("click_id={click}&goal={TEST_GOAL}&status=approved");
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    let arrived = maker.receiver.count() + 1;
    let reported = maker.signpost.send("POST", TEST_PAGE, &headers, form.as_bytes()).expect(200).json();
    maker.receiver.wait(arrived);
    let shown = Promise::new("test apps", "The test page shows what was reported.");
    let shown = shown.ask("GET", &format!("{TEST_PAGE}?click_id={click}"), &[], &Value::Null);
    let goals = json!({"goals": [{"state": "approved"}]});
    maker.promise_for(CLICK_DAYS, shown.answers(200, &goals));
    let id = reported["transaction_id"].as_str().expect("an id");
    let what = "A test app's callback that arrived is not sent again.";
    maker.promise(maker.callback(what, id, WELL_HOST, false));
}

pub fn make(maker: &Maker<'_>) {
    facts(maker);
    let signpost = maker.signpost;
    let publisher = signpost.existing_publisher(PUBLISHER);
    let create = |scope: &str| publisher.create_key_for(scope, scope);
    let kept = |what: &str| Promise::new("report keys", what);

    let reporting = kept("A key for reports is valid: a wrong request gets 400 and not 401.");
    let reporting = keyed(reporting, "POST", REPORT, &create("ia-reporting.READ"), &json!({}));
    maker.promise(reporting.answers(400, &Value::Null));
    let rewards = keyed(kept("A key for rewards is valid."), "GET", REWARDS, &create("ia-rewards.READ"), &Value::Null);
    maker.promise(rewards.answers(200, &json!({"rewards": []})));
    let user = json!({"user_id": "u-nobody"});
    let privacy = kept("A key for users' data is valid.");
    let privacy = keyed(privacy, "POST", EXPORT, &create("ia-privacy.WRITE"), &user);
    maker.promise(privacy.answers(200, &json!({"conversions": []})));
    let revoked = create("ia-reporting.READ");
    publisher.revoke_key(&revoked);
    let revoked = keyed(kept("A revoked key stays revoked."), "POST", REPORT, &revoked, &json!({}));
    maker.promise(revoked.answers(401, &json!({"code": "invalid_api_key"})));
    let listed = publisher.operator("GET", "report_keys", None).expect(200).json();
    let keys: Vec<_> = listed["report_keys"].as_array().expect("keys").iter().collect();
    let named = |key: &&Value| json!({"key_id": key["key_id"], "label": key["label"], "scope": key["scope"]});
    let keys: Vec<_> = keys.iter().map(named).collect();
    let path = format!("publishers/{PUBLISHER}/report_keys");
    let list = kept("Keys keep their labels and scopes.").operator("GET", &path, &Value::Null);
    maker.promise(list.answers(200, &json!({ "report_keys": keys })));

    let test = create("ia-test.WRITE");
    let url = format!("https://{WELL_HOST}/ci");
    let app = json!({"name": "ci", "callback": {"url": url, "method": "POST", "events": ["approved"]}});
    let send = || {
        let headers = [("X-Api-Key", test.api_key.as_str()), ("Content-Type", "application/json")];
        signpost.send("POST", TEST_APPS, &headers, app.to_string().as_bytes())
    };
    let set_up = send().expect(201).json();
    let made = set_up["app_id"].clone();
    let same = kept("A key for test apps sets up the same test app again.");
    maker.promise(keyed(same, "POST", TEST_APPS, &test, &app).answers(201, &json!({ "app_id": made })));

    let pub_key = publisher.operator("GET", "pub_key", None).expect(200).json()["pub_key"].clone();
    let pub_key = pub_key.as_str().expect("a Pub-Key");
    let page = json!({"page": 1, "size": 100});
    let list = |what: &str, app: &str, offer: &str| {
        let promise = Promise::new("pub keys", what);
        let promise = promise.ask("POST", "/v1/offer/api", &[("App-Id", app), ("Pub-Key", pub_key)], &page);
        maker.promise(promise.answers(200, &json!({"offers": [{ "id": offer }]})));
    };
    list("The Pub-Key lists the offers.", APP, PUBLISHER);
    let test_app = made.as_str().expect("an app");
    reward_of_a_test(maker, test_app);
    list("The Pub-Key lists the test offers of a test app.", test_app, "signpost-test-one-goal");
}
