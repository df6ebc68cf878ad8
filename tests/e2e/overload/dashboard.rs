//! Permits of members: a publisher whose calls hang leaves permits to others, and a slow sender shuts out nobody else.

use serde_json::json;

use super::{fill_limit, metric, permits_taken, send_without_reading};
use crate::{
    dashboard::{Browser, signed_in},
    faults::inject_faults,
    harness::{Raw, Setup, eventually},
};
use origin::http::limits::{PER_MEMBER, Pool};
use platform::concurrency_limit::Limit;

const PUBLISHERS: Limit = Pool::Publishers.limit();

/// A call whose answer waits for the publisher's ledger.
fn report(browser: &Browser<'_>) -> String {
    let query = json!({
        "date_range": { "start_date": "2026-01-01", "end_date": "2026-01-31" },
        "dimensions": ["date"], "metrics": ["revenue"],
    });
    let body = json!({ "queries": [query] }).to_string();
    browser.post_head("reports", body.len()) + &body
}

#[test]
fn a_publisher_whose_calls_hang_leaves_the_dashboard_to_the_others() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let [hanging, other] = ["limits-1", "limits-2"].map(|id| signpost.publisher(id));
    let members = [(); 3].map(|()| signed_in(&signpost, &hanging, "owner"));
    let other = signed_in(&signpost, &other, "owner");
    let reports = members.each_ref().map(report);
    let requests: Vec<_> = reports.iter().cycle().take(PUBLISHERS.per_owner).cloned().collect();
    let statuses = fill_limit(
        &signpost,
        ("dashboard", "ledger-hangs"),
        &requests,
        || members[2].get("members"),
        || {
            other.get("members").expect(200);
            let mut waiting = send_without_reading(&signpost, &[report(&other)]);
            eventually(&(PUBLISHERS.per_owner + 1), || permits_taken(&signpost, "dashboard"));
            inject_faults(&signpost, "");
            for raw in &mut waiting {
                raw.receive().expect("an answer");
                raw.receive().expect("an answer").expect(200);
            }
        },
    );
    // A ledger answers 429 beyond its share of reports at a time.
    assert!(statuses.contains(&200), "{statuses:?}");
    eventually(&0, || permits_taken(&signpost, "dashboard"));
    members[2].get("members").expect(200);
}

/// Until the account has answered which member a session belongs to, the session itself has a member's share.
#[test]
fn a_session_that_is_asked_for_again_and_again_leaves_permits_to_other_members() {
    let (signpost, _) = Setup::new().config("faults.capnp").start_with_fixtures();
    let publisher = signpost.publisher("limits-1");
    let [hostile, honest] = ["analyst", "owner"].map(|role| signed_in(&signpost, &publisher, role));
    let request = hostile.post_head("reports", 2) + "{}";
    let shed = metric(&signpost, "shed_total", "dashboard");
    inject_faults(&signpost, "accounts-hangs");
    let _waiting = send_without_reading(&signpost, &vec![request; 2 * PUBLISHERS.per_owner]);
    eventually(&(2 * PUBLISHERS.per_owner - PER_MEMBER), || metric(&signpost, "shed_total", "dashboard") - shed);
    let mut asked = send_without_reading(&signpost, &[report(&honest)]);
    eventually(&(PER_MEMBER + 1), || permits_taken(&signpost, "dashboard"));
    inject_faults(&signpost, "");
    asked[0].receive().expect("that of the health check");
    asked[0].receive().expect("an answer").expect(200);
}

/// A call's body is read before the call takes a permit, and a member has few permits for bodies.
#[test]
fn members_who_send_slowly_shut_out_only_themselves() {
    let signpost = Setup::new().start();
    let [slow, other] = ["slow-bodies", "fast-bodies"].map(|id| signpost.publisher(id));
    let analysts = [(); 2].map(|()| signed_in(&signpost, &slow, "analyst"));
    let owner = signed_in(&signpost, &slow, "owner");
    let other = signed_in(&signpost, &other, "owner");
    let [support, admin] =
        [("Sam", "support"), ("Ada", "admin")].map(|(name, role)| crate::console::signed_in(&signpost, name, role));
    let key = slow.create_key_for("ia-privacy.WRITE", "backend").api_key;
    let arriving = || permits_taken(&signpost, "member_body");
    for length in [200, 200_000] {
        let exports = analysts.each_ref().map(|analyst| analyst.post_head("exports", length));
        let search = support.post_head("/v1/operator/search", length.min(8_000));
        let all = [&exports[0], &exports[1], &search];
        let heads: Vec<_> = all.into_iter().cycle().take(102).cloned().collect();
        let mut waiting = send_without_reading(&signpost, &heads);
        eventually(&(3 * PER_MEMBER), arriving);
        // The calls themselves take no permit before their bodies are there.
        for kind in ["dashboard", "console", "document"] {
            assert_eq!(permits_taken(&signpost, kind), 0, "{kind}");
        }
        analysts[0].get("overview").expect(200);
        analysts[0].post("exports", &json!({})).expect_error(503, "unavailable");
        support.get("/v1/console/session").expect(200);
        owner.post("users/erase", &json!({ "user_id": "u" })).expect(200);
        other.get("overview").expect(200);
        admin.post("/v1/operator/search", &json!({ "text": "slow" })).expect(200);
        if length == 200 {
            let headers = [("X-Api-Key", key.as_str()), ("Content-Type", "application/json")];
            let erased = signpost.send("POST", "/v1/core/users/erase", &headers, br#"{"user_id":"u"}"#);
            erased.expect(200);
            // A small body has 3 seconds.
            eventually(&0, arriving);
            let answer = |raw: &mut Raw| {
                raw.receive().expect("that of the health check");
                raw.receive().expect("an answer").status
            };
            let refused: Vec<_> = waiting.iter_mut().map(answer).collect();
            let of = |status| refused.iter().filter(|refused| **refused == status).count();
            assert_eq!((of(400), of(503)), (3 * PER_MEMBER, 102 - 3 * PER_MEMBER), "{refused:?}");
        } else {
            let members = owner.get("members").expect(200).json();
            let members = members["members"].as_array().expect("a list").clone();
            for analyst in members.iter().filter(|member| member["role"] == "analyst") {
                let id = analyst["member_id"].as_str().expect("an id");
                owner.send("DELETE", &format!("/v1/dashboard/members/{id}"), None).expect(204);
            }
            analysts[0].get("overview").expect_error(401, "not_signed_in");
        }
    }
}
