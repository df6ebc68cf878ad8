//! The rooms of an isolate one by one, each filled while what is behind it hangs: one more is refused at once, what has
//! another room or waits for nothing goes on, and all places come back. Not here is the room of a cold isolate without a
//! snapshot: nobody can look into it while the catalog hangs.

use std::{thread, time::Duration};

use serde_json::json;
use signpost::edge::admission::{CLICKS, CONVERSIONS, DOCUMENTS, FORMS, OPERATOR, PAGES, REPORTS, UPLOADS};

use super::{at_once, filled, postback, refused_at_once, sent, under_way};
use crate::{
    faults::break_down,
    harness::{
        ANDROID_APP, CONVERSION, IOS_APP, OPERATOR_TOKEN, REPORT, Setup, Signpost, accepted, eventually,
        timed,
    },
    reports::{csv, query},
};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const DAY: &str = "2026-01-05";
const FACT: &str = "2026-01-05,79110009,,DE,p,t,d,s,1,1,1,1,0.5";
/// How often a busy machine may be too slow to send all forms before the first of them has taken too long.
const ATTEMPTS: usize = 10;
const LOOKS: usize = 60;
const LOOK: Duration = Duration::from_millis(50);

/// A whole request as bytes of a connection.
fn request(line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    format!("{line} HTTP/1.1\r\nHost: signpost.example\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// A call of the operator's interface.
fn operators(line: &str, content_type: &str, body: &str) -> String {
    let authorization = format!("Bearer {OPERATOR_TOKEN}");
    let headers = [("Authorization", &*authorization), ("Content-Type", content_type)];
    request(line, &headers, body)
}

#[track_caller]
fn is_served(signpost: &Signpost) {
    signpost
        .click("rid=410271&app=10000001&user_id=u-1", "DE")
        .expect(302);
    signpost.operator("GET", "publishers", None).expect(200);
}

#[test]
fn a_publisher_whose_ledger_hangs_has_its_share_of_reports() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let [own, other] = ["rooms-1", "rooms-2"].map(|id| signpost.publisher(id));
    let (own_key, other_key) = (own.create_key("a test's"), other.create_key("a test's"));
    let query = query(&["app"], &["clicks"]).to_string();
    let headers = |key| [("X-Api-Key", key), ("Content-Type", "application/json")];
    let report = |key| request(&format!("POST {REPORT}"), &headers(key), &query);
    let statuses = filled(
        &signpost,
        ("report", "ledger-hangs"),
        &vec![report(&own_key.api_key); REPORTS.share],
        || signpost.report(&headers(&own_key.api_key), query.as_bytes()),
        || {
            let _waits = sent(&signpost, &[report(&other_key.api_key)]);
            eventually(&(REPORTS.share + 1), || under_way(&signpost, "report"));
            is_served(&signpost);
        },
    );
    // A key has one request in two seconds, which is for the ledger to say.
    let told = |status| statuses.iter().filter(|told| **told == status).count();
    assert!(told(204) >= 1, "{statuses:?}");
    assert_eq!(told(204) + told(429), REPORTS.share, "{statuses:?}");
}

#[test]
fn an_offer_whose_counter_hangs_has_its_share_of_clicks() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let cap = json!({"click_cap": {"dur": "DAILY", "lim": 1_000}});
    signpost.put_offer("rooms-capped", &cap);
    signpost.put_offer("rooms-other", &cap);
    signpost.refresh();
    let target = |offer: &str| format!("/v2/tracking/click?rid={offer}-g&app={ANDROID_APP}&user_id=u-1");
    let click = |offer: &str| request(&format!("GET {}", target(offer)), &[], "");
    let statuses = filled(
        &signpost,
        ("click", "counters-hangs"),
        &vec![click("rooms-capped"); CLICKS.share],
        || signpost.get(&target("rooms-capped"), &[]),
        || {
            let _waits = sent(&signpost, &[click("rooms-other")]);
            eventually(&(CLICKS.share + 1), || under_way(&signpost, "click"));
            is_served(&signpost);
        },
    );
    // A click waits for 5 seconds, in which a busy machine may not come to mend the counter.
    assert!(
        statuses.iter().all(|status| [302, 503].contains(status)),
        "{statuses:?}"
    );
}

#[test]
fn postbacks_of_all_apps_together_leave_the_operator_its_room() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let ids = [
        ("rooms-1", "79110001"),
        ("rooms-2", "79110002"),
        ("rooms-3", "79110003"),
    ];
    let [one, two, third] = ids.map(|(id, app)| signpost.unpublished_wall(id, app, None));
    let requests: Vec<_> = (0..CONVERSIONS.places)
        .map(|n| postback([&one, &two][n % 2], &format!("u-{n}")))
        .collect();
    let statuses = filled(
        &signpost,
        ("conversion", "outboxes-hangs"),
        &requests,
        || third.convert(&third.click_id("u-1"), ""),
        || {
            is_served(&signpost);
            signpost.put("advertisers/rooms-4", &json!({"name": "Rooms"}));
            signpost.refresh();
        },
    );
    assert_eq!(statuses, [200; CONVERSIONS.places]);
    third.pay("u-1");
}

#[test]
fn the_operators_documents_and_uploads_have_rooms_of_their_own() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let publisher = signpost.publisher("rooms-1");
    let label = json!({"label": "a test's"});
    let create = "POST /v1/operator/publishers/rooms-1/report_keys";
    let statuses = filled(
        &signpost,
        ("document", "ledger-hangs"),
        &vec![operators(create, "application/json", &label.to_string()); DOCUMENTS.share],
        || publisher.operator("POST", "report_keys", Some(&label)),
        || is_served(&signpost),
    );
    assert_eq!(statuses, [201; DOCUMENTS.share]);

    let facts = csv(&[FACT]);
    let replace = format!("PUT /v1/operator/publishers/rooms-1/facts/{DAY}");
    let statuses = filled(
        &signpost,
        ("upload", "ledger-hangs"),
        &vec![operators(&replace, "text/csv", &facts); UPLOADS.share],
        || publisher.put_facts(DAY, &facts),
        || {
            is_served(&signpost);
            signpost.put("advertisers/rooms-2", &json!({"name": "Rooms"}));
        },
    );
    assert_eq!(statuses, [200; UPLOADS.share]);
}

#[test]
fn calls_of_the_operator_that_hang_hold_up_no_document_and_nobody_else() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let wall = signpost.unpublished_wall("rooms-1", "79110001", None);
    break_down(&signpost, "ledger-hangs");
    let list = operators(
        "GET /v1/operator/publishers/rooms-1/report_keys",
        "application/json",
        "",
    );
    let mut waiting = sent(&signpost, &vec![list; OPERATOR.share]);
    // What tells so takes no place itself.
    eventually(&OPERATOR.share, || under_way(&signpost, "operator"));
    refused_at_once(|| signpost.operator("GET", "publishers", None));
    signpost.put("advertisers/rooms-2", &json!({"name": "Rooms"}));
    wall.pay("u-1");
    break_down(&signpost, "");
    for raw in &mut waiting {
        raw.receive().expect("an answer");
        raw.receive().expect("an answer").expect(200);
    }
    eventually(&0, || under_way(&signpost, "operator"));
}

#[test]
fn an_app_whose_pages_wait_for_kv_has_its_share() {
    let (signpost, pub_key) = Setup::new().config("faults.capnp").start_with_fixtures();
    signpost.restart();
    let body = |page: u32| json!({"page": page, "size": 3});
    let offers = |app: &str, page: u32| signpost.offers(app, &pub_key, &body(page));
    // Brings the snapshots without any body of an offer.
    let empty = offers(ANDROID_APP, 1_000).expect(200).json();
    assert_eq!(empty["offers"], json!([]));
    let page = |app| {
        let headers = [
            ("App-Id", app),
            ("Pub-Key", &*pub_key),
            ("Content-Type", "application/json"),
        ];
        request("POST /v1/offer/api", &headers, &body(1).to_string())
    };
    let statuses = filled(
        &signpost,
        ("page", "kv-hangs"),
        &vec![page(ANDROID_APP); PAGES.share],
        || offers(ANDROID_APP, 1),
        || {
            let _waits = sent(&signpost, &[page(IOS_APP)]);
            eventually(&(PAGES.share + 1), || under_way(&signpost, "page"));
            is_served(&signpost);
            assert_eq!(offers(ANDROID_APP, 1_000).expect(200).json(), empty);
        },
    );
    // KV is waited for, and then the catalog has them.
    assert_eq!(statuses, [200; PAGES.share]);
}

#[test]
fn forms_that_never_end_hold_up_other_forms_and_no_postback_without_one() {
    let signpost = Setup::new().start();
    let wall = signpost.unpublished_wall("rooms-1", "79110001", None);
    let half = request(&format!("POST {CONVERSION}"), &[FORM], "click_id=half");
    let half = &half[..half.len() - 1];
    let form = |user: &str| {
        let body = format!("click_id={}&token={}", wall.click_id(user), wall.token);
        signpost.send("POST", CONVERSION, &[FORM], body.as_bytes())
    };
    let was_refused = (0..ATTEMPTS).any(|attempt| {
        let open = |_| {
            let mut raw = signpost.raw();
            raw.send(half.as_bytes()).expect("half a form sent");
            raw
        };
        let waiting: Vec<_> = (0..FORMS.share).map(open).collect();
        let is_filled = (0..LOOKS).any(|_| {
            let is_full = under_way(&signpost, "form") == FORMS.share;
            if !is_full {
                thread::sleep(LOOK);
            }
            is_full
        });
        let answer = is_filled.then(|| timed(|| form(&format!("u-{attempt}"))));
        wall.pay(&format!("u-other-{attempt}"));
        drop(waiting);
        eventually(&0, || under_way(&signpost, "form"));
        let refused = answer.filter(|(answer, _)| answer.status == 503);
        refused.map(at_once).is_some()
    });
    assert!(was_refused, "there was room for every form");
    accepted(form("u-last"), "approved", false);
}
