//! Every concurrency limit of an isolate, filled by several owners while the object behind it hangs or bodies do not
//! arrive: one more request is refused at once, requests with another limit or without one are served, and all permits
//! are returned.

use std::{thread, time::Duration};

use serde_json::json;

use super::{
    expect_immediate_refusal, expect_refusal, fill_limit, metric, permits_taken, postback, send_without_reading,
};
use crate::{
    faults::inject_faults,
    harness::{
        ANDROID_APP, Answer, CONVERSION, IOS_APP, OPERATOR_TOKEN, PUBLISHER, REPORT, Raw, Setup, Signpost, WEB_APP,
        eventually, expect_accepted, timed,
    },
    reports::{csv, query},
};
use edge::limits::{Pool, QUERIES_OF_KEY};
use origin::http::limits::Pool as OriginPool;
use platform::concurrency_limit::Limit;

const BODIES: Limit = Pool::Bodies.limit();
const CLICKS: Limit = Pool::Clicks.limit();
const CONVERSIONS: Limit = Pool::Conversions.limit();
const DOCUMENTS: Limit = OriginPool::Documents.limit();
const FORMS: Limit = Pool::Forms.limit();
const OPERATOR: Limit = OriginPool::Operator.limit();
const PAGES: Limit = Pool::Pages.limit();
const QUERIES: Limit = Pool::Queries.limit();
const REPORTS: Limit = Pool::Reports.limit();
const STARTS: Limit = Pool::Starts.limit();
const UPLOADS: Limit = OriginPool::Uploads.limit();

const OFFERS: &str = "/v1/offer/api";

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const DAY: &str = "2026-01-05";
const FACT: &str = "2026-01-05,79110009,,DE,p,t,d,s,1,1,1,1,0.5";
/// Attempts to fill a limit before its first request times out, since a busy machine may be too slow.
const ATTEMPTS: usize = 10;
const POLLS: usize = 60;
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A whole HTTP request as text.
fn request(line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    format!("{line} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// A request to the operator's API.
fn operator_request(line: &str, content_type: &str, body: &str) -> String {
    let authorization = format!("Bearer {OPERATOR_TOKEN}");
    let headers = [("Authorization", &*authorization), ("Content-Type", content_type)];
    request(line, &headers, body)
}

/// After one owner took half of a limit, has a second owner take the rest, and a third owner refused at once.
#[track_caller]
fn fill_rest(signpost: &Signpost, kind: &str, rest: &[String], third: impl FnOnce() -> Answer) {
    let taken = permits_taken(signpost, kind);
    let _waits = send_without_reading(signpost, rest);
    eventually(&(taken + rest.len()), || permits_taken(signpost, kind));
    expect_immediate_refusal(third);
    is_served(signpost);
}

/// Fills a limit with requests that time out after a few seconds, and checks that one more is refused at once.
#[track_caller]
fn fill_before_timeouts(
    signpost: &Signpost,
    (kind, permits): (&str, usize),
    send: impl Fn() -> Vec<Raw>,
    one_more: impl Fn(usize) -> Answer,
    meanwhile: impl Fn(usize),
) {
    let is_refused = (0..ATTEMPTS).any(|attempt| {
        let waiting = send();
        let is_filled = (0..POLLS).any(|_| {
            let is_full = permits_taken(signpost, kind) == permits;
            if !is_full {
                thread::sleep(POLL_INTERVAL);
            }
            is_full
        });
        let shed = metric(signpost, "shed_total", kind);
        let answer = is_filled.then(|| timed(|| one_more(attempt)));
        // The limit refused it, and not a timeout of the object behind it.
        let is_shed = metric(signpost, "shed_total", kind) > shed;
        meanwhile(attempt);
        drop(waiting);
        eventually(&0, || permits_taken(signpost, kind));
        answer.filter(|_| is_shed).map(expect_refusal).is_some()
    });
    assert!(is_refused, "no {kind} was refused");
}

#[track_caller]
fn is_served(signpost: &Signpost) {
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
    signpost.operator("GET", "publishers", None).expect(200);
}

#[test]
fn a_publisher_with_a_hanging_ledger_has_its_share_of_reports() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let [own_key, other_key, third_key] =
        ["limits-1", "limits-2", "limits-3"].map(|id| signpost.publisher(id).create_key("a test's"));
    let query = query(&["app"], &["clicks"]).to_string();
    let headers = |key| [("X-Api-Key", key), ("Content-Type", "application/json")];
    let report = |key| request(&format!("POST {REPORT}"), &headers(key), &query);
    let statuses = fill_limit(
        &signpost,
        ("report", "ledger-hangs"),
        &vec![report(&own_key.api_key); REPORTS.per_owner],
        || signpost.report_with(&own_key.api_key, query.as_bytes()),
        || {
            let others = vec![report(&other_key.api_key); REPORTS.permits - REPORTS.per_owner];
            fill_rest(&signpost, "report", &others, || signpost.report_with(&third_key.api_key, query.as_bytes()));
        },
    );
    // The ledger allows a key one query in 2 seconds.
    let count = |status| statuses.iter().filter(|answered| **answered == status).count();
    assert!(count(204) >= 1, "{statuses:?}");
    assert_eq!(count(204) + count(429), REPORTS.per_owner, "{statuses:?}");
}

#[test]
fn an_offer_with_a_hanging_counter_has_its_share_of_clicks() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let cap = json!({"click_cap": {"dur": "DAILY", "lim": 1_000_000}});
    let offers = ["limits-1", "limits-2", "limits-3", "limits-4", "limits-5"];
    let (fifth, four) = offers.split_last().expect("offers");
    assert_eq!(four.len() * CLICKS.per_owner, CLICKS.permits);
    for offer in offers {
        signpost.put_offer(offer, &cap);
    }
    signpost.refresh();
    let target = |offer: &str| format!("/v2/tracking/click?rid={offer}-g&app={ANDROID_APP}&user_id=u-1");
    let click = |offer: &str| request(&format!("GET {}", target(offer)), &[], "");
    let statuses = fill_limit(
        &signpost,
        ("click", "counters-hangs"),
        &vec![click(four[0]); CLICKS.per_owner],
        || signpost.get(&target(four[0]), &[]),
        || {
            let _waits = send_without_reading(&signpost, &[click(four[1])]);
            eventually(&(CLICKS.per_owner + 1), || permits_taken(&signpost, "click"));
            is_served(&signpost);
        },
    );
    // A click waits for 5 seconds, in which a busy machine may not get to end the fault.
    assert!(statuses.iter().all(|status| [302, 503].contains(status)), "{statuses:?}");
    let all: Vec<_> = four.iter().flat_map(|offer| vec![click(offer); CLICKS.per_owner]).collect();
    fill_before_timeouts(
        &signpost,
        ("click", CLICKS.permits),
        || {
            inject_faults(&signpost, "counters-hangs");
            send_without_reading(&signpost, &all)
        },
        |_| signpost.get(&target(fifth), &[]),
        |_| {
            is_served(&signpost);
            inject_faults(&signpost, "");
        },
    );
    signpost.get(&target(fifth), &[]).expect(302);
}

#[test]
fn waiting_postbacks_of_all_apps_leave_the_operator_its_permits() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let ids = [("limits-1", "79110001"), ("limits-2", "79110002"), ("limits-3", "79110003")];
    let [one, two, third] = ids.map(|(id, app)| signpost.unpublished_offer_wall(id, app, None));
    let requests: Vec<_> = (0..CONVERSIONS.permits).map(|n| postback([&one, &two][n % 2], &format!("u-{n}"))).collect();
    let statuses = fill_limit(
        &signpost,
        ("conversion", "outboxes-hangs"),
        &requests,
        || third.convert(&third.click_id("u-1"), ""),
        || {
            is_served(&signpost);
            signpost.put("advertisers/limits-4", &json!({"name": "Limits"}));
            signpost.refresh();
        },
    );
    assert_eq!(statuses, [200; CONVERSIONS.permits]);
    third.pay("u-1");
}

#[test]
fn the_operators_documents_and_uploads_have_their_own_limits() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let publisher = signpost.publisher("limits-1");
    let label = json!({"label": "a test's"});
    let create = "POST /v1/operator/publishers/limits-1/report_keys";
    let statuses = fill_limit(
        &signpost,
        ("document", "ledger-hangs"),
        &vec![operator_request(create, "application/json", &label.to_string()); DOCUMENTS.permits],
        || publisher.operator("POST", "report_keys", Some(&label)),
        || is_served(&signpost),
    );
    assert_eq!(statuses, [201; DOCUMENTS.permits]);
    // The operator is told, by the isolate itself.
    eventually(&true, || signpost.reported("shed", Some("document")) > 0);

    let facts = csv(&[FACT]);
    let replace = format!("PUT /v1/operator/publishers/limits-1/facts/{DAY}");
    let statuses = fill_limit(
        &signpost,
        ("upload", "ledger-hangs"),
        &vec![operator_request(&replace, "text/csv", &facts); UPLOADS.permits],
        || publisher.put_facts(DAY, &facts),
        || {
            is_served(&signpost);
            signpost.put("advertisers/limits-2", &json!({"name": "Limits"}));
        },
    );
    assert_eq!(statuses, [200; UPLOADS.permits]);
}

#[test]
fn hanging_calls_of_the_operator_block_no_documents_and_no_other_clients() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let wall = signpost.unpublished_offer_wall("limits-1", "79110001", None);
    inject_faults(&signpost, "ledger-hangs");
    let list = operator_request("GET /v1/operator/publishers/limits-1/report_keys", "application/json", "");
    let mut waiting = send_without_reading(&signpost, &vec![list; OPERATOR.permits]);
    // The metrics need no permit of this limit.
    eventually(&OPERATOR.permits, || permits_taken(&signpost, "operator"));
    expect_immediate_refusal(|| signpost.operator("GET", "publishers", None));
    signpost.put("advertisers/limits-2", &json!({"name": "Limits"}));
    wall.pay("u-1");
    inject_faults(&signpost, "");
    for raw in &mut waiting {
        raw.receive().expect("an answer");
        raw.receive().expect("an answer").expect(200);
    }
    eventually(&0, || permits_taken(&signpost, "operator"));
}

#[test]
fn an_app_with_waiting_pages_has_its_share_of_pages() {
    let (signpost, pub_key) = Setup::new().config("faults.capnp").start_with_fixtures();
    signpost.restart();
    let body = |page: u32| json!({"page": page, "size": 3});
    let offers = |app: &str, page: u32| signpost.offers(app, &pub_key, &body(page));
    // Loads the listing and the shards of clicks and apps, but no body of an offer.
    is_served(&signpost);
    for app in [IOS_APP, WEB_APP] {
        offers(app, 1_000).expect(200);
    }
    let empty = offers(ANDROID_APP, 1_000).expect(200).json();
    assert_eq!(empty["offers"], json!([]));
    let page = |app| {
        let headers = [("App-Id", app), ("Pub-Key", &*pub_key), ("Content-Type", "application/json")];
        request(&format!("POST {OFFERS}"), &headers, &body(1).to_string())
    };
    let statuses = fill_limit(
        &signpost,
        ("page", "kv,catalog-reads-hang"),
        &vec![page(ANDROID_APP); PAGES.per_owner],
        || offers(ANDROID_APP, 1),
        || {
            let others = vec![page(IOS_APP); PAGES.permits - PAGES.per_owner];
            fill_rest(&signpost, "page", &others, || offers(WEB_APP, 1));
            assert_eq!(offers(ANDROID_APP, 1_000).expect(200).json(), empty);
        },
    );
    assert_eq!(statuses, [200; PAGES.per_owner]);
}

#[test]
fn requests_that_wait_for_the_first_snapshot_have_their_own_limit() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let publisher = signpost.publisher("limits-1");
    signpost.restart();
    let target = format!("/v2/tracking/click?rid=410271&app={ANDROID_APP}&user_id=u-1");
    let click = request(&format!("GET {target}"), &[("CF-IPCountry", "DE")], "");
    // Neither KV nor the catalog returns a snapshot; the catalog answers other requests.
    let statuses = fill_limit(
        &signpost,
        ("start", "kv,catalog-reads-hang"),
        &vec![click; STARTS.permits],
        || signpost.get(&target, &[("CF-IPCountry", "DE")]),
        || {
            signpost.operator("GET", "publishers", None).expect(200);
            publisher.report(&query(&["app"], &["clicks"])).expect(204);
        },
    );
    assert_eq!(statuses, [302; STARTS.permits]);
    is_served(&signpost);
}

#[test]
fn unfinished_bodies_fill_their_limits_and_block_no_other_requests() {
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let fill_with_halves = |kind, permits, whole: &[String], one_more: &dyn Fn() -> Answer| {
        let share = permits / whole.len();
        let halves: Vec<_> = whole.iter().flat_map(|whole| vec![whole[..whole.len() - 1].to_owned(); share]).collect();
        let waiting = send_without_reading(&signpost, &halves);
        eventually(&permits, || permits_taken(&signpost, kind));
        expect_immediate_refusal(one_more);
        is_served(&signpost);
        drop(waiting);
        eventually(&0, || permits_taken(&signpost, kind));
    };

    let apps = ["79110001", "79110002", "79110003", "79110004", "79110005"];
    for app in apps {
        let document = json!({
            "publisher_id": PUBLISHER, "name": app, "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"}
        });
        signpost.put(&format!("apps/{app}"), &document);
    }
    signpost.refresh();
    // Too long for the fast path.
    let body = format!("{{\"page\": 1, \"size\": 1{}}}", " ".repeat(9_000));
    let json = ("Content-Type", "application/json");
    let headers = |app| [("App-Id", app), ("Pub-Key", &*pub_key), json];
    let (fifth, four) = apps.split_last().expect("apps");
    assert_eq!(four.len() * BODIES.per_owner, BODIES.permits);
    let offers = || signpost.send("POST", OFFERS, &headers(fifth), body.as_bytes());
    let whole: Vec<_> = four.iter().map(|app| request(&format!("POST {OFFERS}"), &headers(app), &body)).collect();
    fill_with_halves("body", BODIES.permits, &whole, &offers);
    offers().expect(200);

    let query = query(&["app"], &["clicks"]).to_string();
    let [one, two, third] = ["limits-1", "limits-2", "limits-3"].map(|id| signpost.publisher(id));
    let keys: Vec<_> =
        (0..QUERIES.permits / QUERIES_OF_KEY).map(|n| [&one, &two][n % 2].create_key("a test's")).collect();
    let third_key = third.create_key("a test's");
    let headers = |key| [("X-Api-Key", key), json];
    let whole: Vec<_> =
        keys.iter().map(|key| request(&format!("POST {REPORT}"), &headers(&key.api_key), &query)).collect();
    let report = || signpost.report_with(&third_key.api_key, query.as_bytes());
    fill_with_halves("query", QUERIES.permits, &whole, &report);
    report().expect(204);
}

#[test]
fn unfinished_forms_block_other_forms_but_no_postback_without_a_form() {
    let signpost = Setup::new().start();
    let wall = signpost.unpublished_offer_wall("limits-1", "79110001", None);
    let half = request(&format!("POST {CONVERSION}"), &[FORM], "click_id=half");
    let half = &half[..half.len() - 1];
    let form = |user: &str| {
        let body = format!("click_id={}&token={}", wall.click_id(user), wall.token);
        signpost.send("POST", CONVERSION, &[FORM], body.as_bytes())
    };
    let open = |_| {
        let mut raw = signpost.raw();
        raw.send(half.as_bytes()).expect("half a form sent");
        raw
    };
    fill_before_timeouts(
        &signpost,
        ("form", FORMS.permits),
        || (0..FORMS.permits).map(open).collect(),
        |attempt| form(&format!("u-{attempt}")),
        |attempt| {
            wall.pay(&format!("u-other-{attempt}"));
        },
    );
    expect_accepted(form("u-last"), "approved", false);
}
