//! Click caps are exact under concurrent clicks, after changes of the cap and after a crash.

use std::{collections::BTreeSet, sync::Barrier, thread};

use serde_json::{Value, json};
use url::Url;

use crate::{
    clicks::{MACHINES, click_id_at, expect_click_error, expect_redirect, keys},
    harness::{ANDROID_APP, Answer, IOS_APP, Setup, Signpost, WEB_APP, away_from_midnight, demo, eventually},
};
use domain::tracking::click_id::{self, Opened};

const THREADS: usize = 64;

fn cap(limit: u32) -> Value {
    json!({"dur": "DAILY", "lim": limit})
}

fn address(offer: &str, app: &str) -> String {
    format!("/v2/tracking/click?rid={offer}-g&app={app}&user_id=u-1")
}

/// Sends this many clicks for an offer from many threads at once.
fn send_clicks(signpost: &Signpost, offer: &str, times: usize) -> Vec<Answer> {
    let start = Barrier::new(THREADS);
    let send = |thread: usize| {
        start.wait();
        // The app of a click makes no difference; none of these has a fallback.
        let address = address(offer, [ANDROID_APP, IOS_APP][thread % 2]);
        let share = times / THREADS + usize::from(thread < times % THREADS);
        (0..share).map(|_| signpost.get(&address, &[])).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || send(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Counts the clicks that were redirected to the offer. Fails the test unless the others were refused for the cap.
#[track_caller]
fn count_redirected(answers: Vec<Answer>) -> usize {
    let mut ids = BTreeSet::new();
    for answer in answers {
        if answer.status == 410 {
            expect_click_error(answer, 410, "offer_capped");
            continue;
        }
        let answer = expect_redirect(answer);
        assert_eq!(Url::parse(answer.location()).unwrap().host_str(), Some("adv.example"), "{answer:?}");
        let Ok(Opened::Whole { nonce, .. }) = click_id::open(&keys(), &click_id_at(&answer)) else {
            panic!("{answer:?}");
        };
        assert!(ids.insert(nonce), "two clicks have one nonce: {answer:?}");
    }
    ids.len()
}

/// The listed `click_cap` of an offer: the clicks left. `None` if the offer is not listed, null if it has no cap.
fn listed_cap(signpost: &Signpost, pub_key: &str, offer: &str) -> Option<Value> {
    let filter = json!([{"dim": "offer_id", "match": {"type": "exact", "value": [offer]}}]);
    let mut listed = signpost.list(ANDROID_APP, pub_key, &filter).into_iter();
    listed.next().map(|offer| offer["click_cap"].clone())
}

/// The counted clicks of an offer, and the clicks taken from its cap. Different objects may have them.
fn counted_and_taken(signpost: &Signpost, offer: &str) -> (i64, i64) {
    let sql = format!(
        "SELECT clicks, (SELECT COUNT(*) FROM takes t WHERE t.day = d.day AND t.offer = d.offer) FROM daily d WHERE offer = '{offer}'"
    );
    let rows: Vec<(i64, i64)> = signpost.stored("signpost-counters", &sql, |row| Ok((row.get(0)?, row.get(1)?)));
    rows.into_iter().fold((0, 0), |(clicks, taken), row| (clicks + row.0, taken + row.1))
}

#[test]
fn exactly_as_many_clicks_pass_as_the_cap_allows() {
    away_from_midnight();
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    signpost.put_offer("rush", &json!({"click_cap": cap(1_000)}));
    signpost.refresh();
    assert_eq!(count_redirected(send_clicks(&signpost, "rush", 1_600)), 1_000);

    // A spent cap also refuses machines, which take nothing from it, and sends users of an app with a fallback there.
    for (method, headers) in MACHINES {
        let answer = signpost.send(method, &address("rush", ANDROID_APP), headers, b"").expect(410);
        assert_eq!(answer.header("Location"), None, "{answer:?}");
    }
    let answer = expect_redirect(signpost.get(&address("rush", WEB_APP), &[]));
    assert!(answer.location().starts_with("https://play.lumen-arcade.example/"), "{answer:?}");
    assert_eq!(listed_cap(&signpost, &pub_key, "rush"), Some(json!(cap(1_000))), "the listing before the refresh");
    signpost.refresh();
    assert_eq!(listed_cap(&signpost, &pub_key, "rush"), None);
    // Each refresh counts the clicks that have arrived.
    eventually(&(1_000, 1_000), || {
        signpost.refresh();
        counted_and_taken(&signpost, "rush")
    });

    // A power cut gives nothing back. A higher cap adds the difference.
    signpost.restart();
    assert_eq!(count_redirected(send_clicks(&signpost, "rush", 100)), 0);
    signpost.put_offer("rush", &json!({"click_cap": cap(1_010)}));
    signpost.refresh();
    assert_eq!(count_redirected(send_clicks(&signpost, "rush", 200)), 10);
    assert_eq!(counted_and_taken(&signpost, "rush").1, 1_010);
}

#[test]
fn a_changed_cap_applies_after_the_next_refresh() {
    away_from_midnight();
    let signpost = demo();
    let pub_key = signpost.pub_key();
    // The change; how many of 64 clicks pass; and the listed cap afterwards.
    let steps = [
        (json!({"click_cap": cap(50)}), 50, None),
        // Below the clicks taken, zero, and exactly the clicks taken.
        (json!({"click_cap": cap(20)}), 0, None),
        (json!({"click_cap": cap(0)}), 0, None),
        (json!({"click_cap": cap(50)}), 0, None),
        (json!({"click_cap": cap(57)}), 7, None),
        // Another change of the offer adds no clicks.
        (json!({"click_cap": cap(57), "name": "Another game"}), 0, None),
        (json!({"click_cap": cap(157)}), 64, Some(cap(36))),
        (json!({"click_cap": cap(130)}), 9, None),
        // Without a cap all clicks pass, and `click_cap` is not listed.
        (json!({}), 64, Some(Value::Null)),
        (json!({"click_cap": cap(10)}), 0, None),
    ];
    for (changes, expected, listed) in steps {
        signpost.put_offer("changing", &changes);
        signpost.refresh();
        let redirects = count_redirected(send_clicks(&signpost, "changing", 64));
        assert_eq!(redirects, expected, "{changes}");
        signpost.refresh();
        assert_eq!(listed_cap(&signpost, &pub_key, "changing"), listed, "{changes}");
    }
}

#[test]
fn the_listing_shows_the_cap_that_confirmed_clicks_leave() {
    away_from_midnight();
    let signpost = demo();
    let pub_key = signpost.pub_key();
    signpost.put_offer(
        "two-caps",
        &json!({"click_cap": cap(40), "conversion_cap": cap(7), "geo_tgt": {"include": [], "exclude": ["CN"]}}),
    );
    signpost.put_offer("no-cap", &json!({}));
    signpost.put_offer("machines", &json!({"click_cap": cap(3)}));
    signpost.put_offer("none", &json!({"click_cap": cap(0)}));
    signpost.refresh();
    for (offer, expected) in
        [("two-caps", Some(cap(40))), ("machines", Some(cap(3))), ("no-cap", Some(Value::Null)), ("none", None)]
    {
        assert_eq!(listed_cap(&signpost, &pub_key, offer), expected, "{offer}");
    }
    expect_click_error(signpost.get(&address("none", ANDROID_APP), &[]), 410, "offer_capped");

    for offer in ["two-caps", "no-cap"] {
        assert_eq!(count_redirected(send_clicks(&signpost, offer, 13)), 13);
    }
    for (method, headers) in MACHINES {
        for offer in ["two-caps", "no-cap", "machines"] {
            expect_redirect(signpost.send(method, &address(offer, ANDROID_APP), headers, b""));
        }
    }
    // A refused click takes nothing.
    for _ in 0..5 {
        signpost.get(&address("two-caps", ANDROID_APP), &[("CF-IPCountry", "CN")]).expect(403);
        signpost.get(&address("two-caps", "10000009"), &[]).expect(403);
        signpost.get(&(address("two-caps", ANDROID_APP) + "&c1=!"), &[]).expect(400);
    }
    signpost.refresh();
    for (offer, expected) in [("two-caps", Some(cap(27))), ("machines", Some(cap(3))), ("no-cap", Some(Value::Null))] {
        assert_eq!(listed_cap(&signpost, &pub_key, offer), expected, "{offer}");
    }
    eventually(&(13, 13), || counted_and_taken(&signpost, "two-caps"));
    eventually(&(13, 0), || counted_and_taken(&signpost, "no-cap"));
    assert_eq!(counted_and_taken(&signpost, "machines"), (0, 0));

    let listed = signpost.list(ANDROID_APP, &pub_key, &json!([]));
    let offer = |id: &str| listed.iter().find(|listed| listed["id"] == id).unwrap();
    assert_eq!(offer("two-caps")["conversion_cap"], cap(7));
    for member in ["click_cap", "conversion_cap"] {
        assert!(offer("no-cap").get(member).is_none() && offer("23817").get(member).is_none(), "{member}");
    }
    assert!(offer("machines").get("conversion_cap").is_none());

    // The three clicks are left for people; after them machines are refused, too.
    assert_eq!(count_redirected(send_clicks(&signpost, "machines", 9)), 3);
    for (method, headers) in MACHINES {
        signpost.send(method, &address("machines", ANDROID_APP), headers, b"").expect(410);
    }
}
