//! The dashboard's permits by publisher: one whose calls hang, or that sends slowly, leaves permits to the others.

use serde_json::json;

use super::{fill_limit, permits_taken, send_without_reading};
use crate::{
    dashboard::{Browser, signed_in},
    harness::{Raw, Setup, eventually},
};
use origin::http::limits::Pool;
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
    let (hanging, other) = (
        signed_in(&signpost, &hanging, "owner"),
        signed_in(&signpost, &other, "owner"),
    );
    let statuses = fill_limit(
        &signpost,
        ("dashboard", "ledger-hangs"),
        &vec![report(&hanging); PUBLISHERS.per_owner],
        || hanging.get("members"),
        || {
            other.get("members").expect(200);
            let mut waiting = send_without_reading(&signpost, &[report(&other)]);
            eventually(&(PUBLISHERS.per_owner + 1), || {
                permits_taken(&signpost, "dashboard")
            });
            crate::faults::inject_faults(&signpost, "");
            for raw in &mut waiting {
                raw.receive().expect("an answer");
                raw.receive().expect("an answer").expect(200);
            }
        },
    );
    // A ledger answers 429 beyond its share of reports at a time.
    assert!(statuses.contains(&200), "{statuses:?}");
    eventually(&0, || permits_taken(&signpost, "dashboard"));
    hanging.get("members").expect(200);
}

#[test]
fn slow_bodies_of_one_publisher_leave_dashboard_and_console_to_the_others() {
    let signpost = Setup::new().start();
    let [slow, other] = ["slow-bodies", "fast-bodies"].map(|id| signpost.publisher(id));
    let analysts = [
        signed_in(&signpost, &slow, "analyst"),
        signed_in(&signpost, &slow, "analyst"),
    ];
    let other = signed_in(&signpost, &other, "owner");
    let admin = crate::console::signed_in(&signpost, "Ada", "admin");
    for length in [200, 200_000] {
        let heads: Vec<_> = (0..34)
            .flat_map(|_| {
                analysts
                    .each_ref()
                    .map(|analyst| analyst.post_head("exports", length))
            })
            .collect();
        let mut waiting = send_without_reading(&signpost, &heads);
        eventually(&PUBLISHERS.per_owner, || permits_taken(&signpost, "dashboard"));
        analysts[0].get("members").expect(503);
        other.get("overview").expect(200);
        admin.get("/v1/console/session").expect(200);
        if length == 200 {
            // A small body has 3 seconds.
            eventually(&0, || permits_taken(&signpost, "dashboard"));
            let answer = |raw: &mut Raw| {
                raw.receive().expect("that of the health check");
                raw.receive().expect("an answer").status
            };
            let refused: Vec<_> = waiting.iter_mut().map(answer).collect();
            assert_eq!(
                refused.iter().filter(|status| **status == 400).count(),
                PUBLISHERS.per_owner,
                "{refused:?}"
            );
            assert_eq!(
                refused.iter().filter(|status| **status == 503).count(),
                68 - PUBLISHERS.per_owner
            );
        }
    }
}
