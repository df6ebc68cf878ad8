//! The rooms of an isolate one by one, each filled to its last place, by as many owners as have a share of it, while what is
//! behind it hangs or bodies do not come whole: one more is refused at once, what has another room or waits for nothing
//! goes on, and all places come back.

use std::{thread, time::Duration};

use serde_json::json;

use super::{at_once, filled, metric, postback, refused_at_once, sent, under_way};
use crate::{
    faults::break_down,
    harness::{
        ANDROID_APP, Answer, CONVERSION, IOS_APP, OPERATOR_TOKEN, PUBLISHER, REPORT, Raw, Setup, Signpost,
        WEB_APP, accepted, eventually, timed,
    },
    reports::{csv, query},
};
use edge::limits::{Pool, QUERIES_OF_KEY};
use origin::limits::Pool as OriginPool;
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
/// How often a busy machine may be too slow to fill a room before the first of those in it has waited too long.
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

/// Where half of a room is taken, has another owner take the rest, and a third be refused at once.
#[track_caller]
fn filled_by_another(signpost: &Signpost, kind: &str, rest: &[String], third: impl FnOnce() -> Answer) {
    let taken = under_way(signpost, kind);
    let _waits = sent(signpost, rest);
    eventually(&(taken + rest.len()), || under_way(signpost, kind));
    refused_at_once(third);
    is_served(signpost);
}

/// Has a room filled by so many requests, and one more be refused at once, where those in it wait but for a few seconds.
#[track_caller]
fn filled_in_time(
    signpost: &Signpost,
    (kind, places): (&str, usize),
    send: impl Fn() -> Vec<Raw>,
    one_more: impl Fn(usize) -> Answer,
    meanwhile: impl Fn(usize),
) {
    let is_refused = (0..ATTEMPTS).any(|attempt| {
        let waiting = send();
        let is_filled = (0..LOOKS).any(|_| {
            let is_full = under_way(signpost, kind) == places;
            if !is_full {
                thread::sleep(LOOK);
            }
            is_full
        });
        let shed = metric(signpost, "shed_total", kind);
        let answer = is_filled.then(|| timed(|| one_more(attempt)));
        // Refused for want of a place, and not for what it would have waited for.
        let is_shed = metric(signpost, "shed_total", kind) > shed;
        meanwhile(attempt);
        drop(waiting);
        eventually(&0, || under_way(signpost, kind));
        answer.filter(|_| is_shed).map(at_once).is_some()
    });
    assert!(is_refused, "there was room for every {kind}");
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
    let [own_key, other_key, third_key] =
        ["rooms-1", "rooms-2", "rooms-3"].map(|id| signpost.publisher(id).create_key("a test's"));
    let query = query(&["app"], &["clicks"]).to_string();
    let headers = |key| [("X-Api-Key", key), ("Content-Type", "application/json")];
    let report = |key| request(&format!("POST {REPORT}"), &headers(key), &query);
    let statuses = filled(
        &signpost,
        ("report", "ledger-hangs"),
        &vec![report(&own_key.api_key); REPORTS.per_owner],
        || signpost.report_with(&own_key.api_key, query.as_bytes()),
        || {
            let others = vec![report(&other_key.api_key); REPORTS.permits - REPORTS.per_owner];
            filled_by_another(&signpost, "report", &others, || {
                signpost.report_with(&third_key.api_key, query.as_bytes())
            });
        },
    );
    // A key has one request in two seconds, which is for the ledger to say.
    let told = |status| statuses.iter().filter(|told| **told == status).count();
    assert!(told(204) >= 1, "{statuses:?}");
    assert_eq!(told(204) + told(429), REPORTS.per_owner, "{statuses:?}");
}

#[test]
fn an_offer_whose_counter_hangs_has_its_share_of_clicks() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let cap = json!({"click_cap": {"dur": "DAILY", "lim": 1_000_000}});
    let offers = ["rooms-1", "rooms-2", "rooms-3", "rooms-4", "rooms-5"];
    let (fifth, four) = offers.split_last().expect("offers");
    assert_eq!(four.len() * CLICKS.per_owner, CLICKS.permits);
    for offer in offers {
        signpost.put_offer(offer, &cap);
    }
    signpost.refresh();
    let target = |offer: &str| format!("/v2/tracking/click?rid={offer}-g&app={ANDROID_APP}&user_id=u-1");
    let click = |offer: &str| request(&format!("GET {}", target(offer)), &[], "");
    let statuses = filled(
        &signpost,
        ("click", "counters-hangs"),
        &vec![click(four[0]); CLICKS.per_owner],
        || signpost.get(&target(four[0]), &[]),
        || {
            let _waits = sent(&signpost, &[click(four[1])]);
            eventually(&(CLICKS.per_owner + 1), || under_way(&signpost, "click"));
            is_served(&signpost);
        },
    );
    // A click waits for 5 seconds, in which a busy machine may not come to mend the counter.
    assert!(
        statuses.iter().all(|status| [302, 503].contains(status)),
        "{statuses:?}"
    );
    let all: Vec<_> = four
        .iter()
        .flat_map(|offer| vec![click(offer); CLICKS.per_owner])
        .collect();
    filled_in_time(
        &signpost,
        ("click", CLICKS.permits),
        || {
            break_down(&signpost, "counters-hangs");
            sent(&signpost, &all)
        },
        |_| signpost.get(&target(fifth), &[]),
        |_| {
            is_served(&signpost);
            break_down(&signpost, "");
        },
    );
    signpost.get(&target(fifth), &[]).expect(302);
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
    let requests: Vec<_> = (0..CONVERSIONS.permits)
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
    assert_eq!(statuses, [200; CONVERSIONS.permits]);
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
        &vec![operators(create, "application/json", &label.to_string()); DOCUMENTS.per_owner],
        || publisher.operator("POST", "report_keys", Some(&label)),
        || is_served(&signpost),
    );
    assert_eq!(statuses, [201; DOCUMENTS.per_owner]);

    let facts = csv(&[FACT]);
    let replace = format!("PUT /v1/operator/publishers/rooms-1/facts/{DAY}");
    let statuses = filled(
        &signpost,
        ("upload", "ledger-hangs"),
        &vec![operators(&replace, "text/csv", &facts); UPLOADS.per_owner],
        || publisher.put_facts(DAY, &facts),
        || {
            is_served(&signpost);
            signpost.put("advertisers/rooms-2", &json!({"name": "Rooms"}));
        },
    );
    assert_eq!(statuses, [200; UPLOADS.per_owner]);
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
    let mut waiting = sent(&signpost, &vec![list; OPERATOR.per_owner]);
    // What tells so takes no place itself.
    eventually(&OPERATOR.per_owner, || under_way(&signpost, "operator"));
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
fn an_app_whose_pages_wait_for_their_bodies_has_its_share() {
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
        request(&format!("POST {OFFERS}"), &headers, &body(1).to_string())
    };
    let statuses = filled(
        &signpost,
        ("page", "kv,catalog-reads-hang"),
        &vec![page(ANDROID_APP); PAGES.per_owner],
        || offers(ANDROID_APP, 1),
        || {
            let others = vec![page(IOS_APP); PAGES.permits - PAGES.per_owner];
            filled_by_another(&signpost, "page", &others, || offers(WEB_APP, 1));
            assert_eq!(offers(ANDROID_APP, 1_000).expect(200).json(), empty);
        },
    );
    assert_eq!(statuses, [200; PAGES.per_owner]);
}

#[test]
fn requests_of_a_cold_isolate_wait_for_its_first_snapshot_in_a_room_of_their_own() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let publisher = signpost.publisher("rooms-1");
    signpost.restart();
    let target = format!("/v2/tracking/click?rid=410271&app={ANDROID_APP}&user_id=u-1");
    let click = request(&format!("GET {target}"), &[("CF-IPCountry", "DE")], "");
    // Neither KV nor the catalog brings a snapshot; the catalog answers all else.
    let statuses = filled(
        &signpost,
        ("start", "kv,catalog-reads-hang"),
        &vec![click; STARTS.permits],
        || signpost.get(&target, &[("CF-IPCountry", "DE")]),
        || {
            signpost.operator("GET", "publishers", None).expect(200);
            publisher.ask(&query(&["app"], &["clicks"])).expect(204);
        },
    );
    assert_eq!(statuses, [302; STARTS.permits]);
    is_served(&signpost);
}

#[test]
fn bodies_that_never_come_whole_fill_their_rooms_and_hold_up_nobody_else() {
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let filled_by = |kind, places, whole: &[String], one_more: &dyn Fn() -> Answer| {
        let share = places / whole.len();
        let halves: Vec<_> = whole
            .iter()
            .flat_map(|whole| vec![whole[..whole.len() - 1].to_owned(); share])
            .collect();
        let waiting = sent(&signpost, &halves);
        eventually(&places, || under_way(&signpost, kind));
        refused_at_once(one_more);
        is_served(&signpost);
        drop(waiting);
        eventually(&0, || under_way(&signpost, kind));
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
    // Longer than what takes the express way.
    let body = format!("{{\"page\": 1, \"size\": 1{}}}", " ".repeat(9_000));
    let json = ("Content-Type", "application/json");
    let headers = |app| [("App-Id", app), ("Pub-Key", &*pub_key), json];
    let (fifth, four) = apps.split_last().expect("apps");
    assert_eq!(four.len() * BODIES.per_owner, BODIES.permits);
    let offers = || signpost.send("POST", OFFERS, &headers(fifth), body.as_bytes());
    let whole: Vec<_> = four
        .iter()
        .map(|app| request(&format!("POST {OFFERS}"), &headers(app), &body))
        .collect();
    filled_by("body", BODIES.permits, &whole, &offers);
    offers().expect(200);

    let query = query(&["app"], &["clicks"]).to_string();
    let [one, two, third] = ["rooms-1", "rooms-2", "rooms-3"].map(|id| signpost.publisher(id));
    let keys: Vec<_> = (0..QUERIES.permits / QUERIES_OF_KEY)
        .map(|n| [&one, &two][n % 2].create_key("a test's"))
        .collect();
    let third_key = third.create_key("a test's");
    let headers = |key| [("X-Api-Key", key), json];
    let whole: Vec<_> = keys
        .iter()
        .map(|key| request(&format!("POST {REPORT}"), &headers(&key.api_key), &query))
        .collect();
    let report = || signpost.report_with(&third_key.api_key, query.as_bytes());
    filled_by("query", QUERIES.permits, &whole, &report);
    report().expect(204);
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
    let open = |_| {
        let mut raw = signpost.raw();
        raw.send(half.as_bytes()).expect("half a form sent");
        raw
    };
    filled_in_time(
        &signpost,
        ("form", FORMS.permits),
        || (0..FORMS.permits).map(open).collect(),
        |attempt| form(&format!("u-{attempt}")),
        |attempt| {
            wall.pay(&format!("u-other-{attempt}"));
        },
    );
    accepted(form("u-last"), "approved", false);
}
