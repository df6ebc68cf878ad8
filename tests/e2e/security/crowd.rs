//! Hostile members, publishers and an advertiser, and a crowd of strangers, all at once. Everybody else gets the usual
//! answers, and figures and caps stay within their bounds.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::figures::rates;
use crate::{
    clicks::{click_id_at, expect_redirect},
    dashboard::{Browser, HOST, ORIGIN, signed_in},
    harness::{
        ANDROID_APP, Answer, End, OfferWall, Publisher, Setup, Signpost, away_from_midnight, eventually, now_ms,
    },
};

/// How long the attack lasts, in seconds.
const SECONDS: i64 = 60;
/// The same before it, to compare with.
const SECONDS_BEFORE: i64 = 15;
/// The conversion cap that is attacked.
const CAP: usize = 40;

/// The durations of the calls of honest people in milliseconds, by kind.
type Durations = BTreeMap<&'static str, Vec<i64>>;

/// Somebody who uses everything, one call after another.
struct Honest<'s> {
    wall: &'s OfferWall<'s>,
    pub_key: &'s str,
    key: String,
    owner: Browser<'s>,
}

impl Honest<'_> {
    /// Makes each call again and again, for so long, and notes how long each took. None may fail.
    fn live(&self, seconds: i64, name: &str) -> Durations {
        let (signpost, until) = (self.wall.signpost, now_ms() + seconds * 1_000);
        let mut durations = Durations::new();
        let mut n = 0;
        while now_ms() < until {
            n += 1;
            let mut timed = |kind, status: &[u16], call: &mut dyn FnMut() -> Answer| {
                let begun_ms = now_ms();
                let answer = call();
                durations.entry(kind).or_default().push(now_ms() - begun_ms);
                assert!(status.contains(&answer.status), "{kind}: {answer:?}");
                answer
            };
            let query = format!("rid={}&app={}&user_id={name}-{n}", self.wall.goal("1"), self.wall.app);
            let click = timed("click", &[302], &mut || signpost.click(&query, "DE"));
            let id = click_id_at(&click);
            timed("conversion", &[200], &mut || self.wall.convert(&id, ""));
            timed("offers", &[200], &mut || {
                signpost.offers(ANDROID_APP, self.pub_key, &json!({ "page": 1, "size": 10 }))
            });
            timed("overview", &[200], &mut || self.owner.get("overview"));
            timed("rewards", &[200], &mut || self.owner.post("rewards", &json!({})));
            // A key has one report in 2 s.
            timed("report", &[204, 200, 429], &mut || signpost.report_with(&self.key, REPORT.as_bytes()));
            timed("operator", &[200], &mut || signpost.operator("GET", "publishers", None));
            thread::sleep(Duration::from_millis(50));
        }
        durations
    }
}

const REPORT: &str =
    r#"{"date_range":{"start_date":"2026-11-01","end_date":"2026-11-07"},"dimensions":["date"],"metrics":["revenue"]}"#;

fn p99(durations: &mut [i64]) -> i64 {
    durations.sort_unstable();
    durations[(durations.len() * 99).div_ceil(100) - 1]
}

/// Calls something again and again, with a pause, until the attack is over.
fn again(is_over: &AtomicBool, pause_ms: u64, call: impl Fn(u64)) {
    let mut n = 0;
    while !is_over.load(Ordering::Relaxed) {
        call(n);
        n += 1;
        thread::sleep(Duration::from_millis(pause_ms));
    }
}

/// Everybody who means harm.
struct Hostile<'s> {
    signpost: &'s Signpost,
    members: [Browser<'s>; 3],
    publishers: [(Publisher<'s>, String); 2],
    advertiser: &'s OfferWall<'s>,
    /// The offer and the app that are attacked.
    victim: &'s OfferWall<'s>,
}

impl Hostile<'_> {
    fn attack<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>, is_over: &'scope AtomicBool) {
        let Self { signpost, members, publishers, advertiser, victim } = self;
        for member in members {
            // Slow bodies, and changes that are refused.
            scope.spawn(move || {
                again(is_over, 3_000, |n| {
                    let length = if n % 2 == 0 { 200 } else { 200_000 };
                    let send = |_| {
                        let mut raw = signpost.raw();
                        let begun = member.post_head("exports", length) + "{";
                        raw.send(begun.as_bytes()).map(|()| raw)
                    };
                    let _slow: Vec<_> = (0..34).map(send).collect();
                    thread::sleep(Duration::from_secs(1));
                });
            });
            scope.spawn(move || {
                again(is_over, 100, |n| {
                    let label = json!({ "label": format!("key {n}") });
                    member.post("report_keys", &label);
                    member.post("users/erase", &json!({ "user_id": "honest-1" }));
                });
            });
        }
        for (publisher, key) in publishers {
            // Reports beyond the rate, and clicks of their own users on the capped offer.
            scope.spawn(move || {
                again(is_over, 100, |_| {
                    signpost.report_with(key, REPORT.as_bytes());
                    signpost.report_with(key, "[".repeat(100_000).as_bytes());
                });
            });
            scope.spawn(move || {
                again(is_over, 40, |n| {
                    let query = format!("rid={}&app={}&user_id={}-{n}", advertiser.goal("1"), victim.app, publisher.id);
                    signpost.click(&query, "DE");
                });
            });
        }
        // An advertiser that reports what it may, twice, and what it may not.
        scope.spawn(move || {
            again(is_over, 40, |n| {
                let query = format!("rid={}&app={}&user_id=cap-{n}", advertiser.goal("1"), advertiser.app);
                let click = signpost.click(&query, "DE");
                if click.status == 302 {
                    let id = click_id_at(&click);
                    advertiser.convert(&id, "");
                    advertiser.convert(&id, "&goal=2");
                }
                let foreign = format!("click_id={}&token={}", victim.click_id("x"), advertiser.token);
                signpost.convert(&foreign);
            });
        });
        // Strangers: made-up clicks of one app, made-up tokens, keys, sessions and paths.
        for stranger in 0..3 {
            scope.spawn(move || {
                again(is_over, 40, |n| {
                    let user = format!("nobody-{stranger}-{n}");
                    let query = format!("rid={}&app={}&user_id={user}", victim.goal("1"), victim.app);
                    signpost.click(&query, "DE");
                    let id = victim.click_id(&user);
                    signpost.convert(&format!("click_id={id}&token=at_x_1_00_00"));
                    match n % 4 {
                        0 => drop(signpost.report_with("sk_victim_0", REPORT.as_bytes())),
                        1 => drop(signpost.get("/v1/operator/publishers", &[("Authorization", "Bearer x")])),
                        2 => drop(signpost.offers(&victim.app, "0123", &json!({ "page": 1, "size": 1_000 }))),
                        _ => {
                            let body = json!({ "invite": "inv_p_victim_00_00" }).to_string();
                            let headers = [
                                ("Host", HOST),
                                ("Origin", ORIGIN),
                                ("Sec-Fetch-Site", "same-origin"),
                                ("Content-Type", "application/json"),
                            ];
                            signpost.send("POST", "/v1/dashboard/sign_in", &headers, body.as_bytes());
                        }
                    }
                });
            });
        }
    }
}

#[test]
fn a_hostile_crowd_keeps_nobody_from_anything() {
    away_from_midnight();
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let signpost = &signpost;
    // The first offer's figures come from ten apps, and strangers click in one of them.
    let walls: Vec<OfferWall<'_>> =
        (0..10).map(|n| signpost.unpublished_offer_wall(&format!("crowd-{n}"), &format!("7900093{n}"), None)).collect();
    let (honest, victim, advertiser) = (&walls[0], &walls[3], &walls[5]);
    advertiser.put_offer(&json!({ "conversion_cap": { "dur": "DAILY", "lim": CAP } }));
    signpost.refresh();
    for wall in &walls {
        let click = format!("rid={}&app={}&user_id=first", victim.goal("1"), wall.app);
        let id = click_id_at(&expect_redirect(signpost.click(&click, "DE")));
        victim.convert(&id, "").expect(200);
    }
    eventually(&[Some(1.0), Some(1.25)], || rates(signpost, &pub_key, &victim.id));

    let publisher = |id: &str| signpost.existing_publisher(id);
    let own = publisher(&honest.id);
    let honest = Honest {
        wall: honest,
        pub_key: &pub_key,
        key: own.create_key("honest").api_key,
        owner: signed_in(signpost, &own, "owner"),
    };
    let before = honest.live(SECONDS_BEFORE, "before");
    let [first, second] = ["crowd-7", "crowd-8"].map(publisher);
    let hostile = Hostile {
        signpost,
        // One of them in the account of the honest owner.
        members: [(&first, "owner"), (&second, "owner"), (&own, "analyst")]
            .map(|(publisher, role)| signed_in(signpost, publisher, role)),
        publishers: [first, second].map(|publisher| {
            let key = publisher.create_key("hostile").api_key;
            (publisher, key)
        }),
        advertiser,
        victim,
    };
    let is_over = AtomicBool::new(false);
    let during = thread::scope(|scope| {
        hostile.attack(scope, &is_over);
        // Also when a call fails: otherwise the attack would never end.
        let _end = End(&is_over);
        honest.live(SECONDS, "during")
    });
    for ((kind, mut before), (_, mut during)) in before.into_iter().zip(during) {
        let [p99_before, p99_during] = [&mut before, &mut during].map(|durations| p99(durations));
        let times = p99_during as f64 / p99_before.max(1) as f64;
        println!("{kind}: {} calls, p99 {p99_during} ms, {times:.1} times that of before", during.len());
    }
    // Made-up clicks move no figure by a tenth.
    let after = rates(signpost, &pub_key, &victim.id);
    for (after, before) in after.into_iter().zip([1.0, 1.25]) {
        assert!((after.expect("a figure") / before - 1.0).abs() < 0.1, "{after:?}");
    }
    let log = advertiser.all_entries(1_000);
    let is_paid = |entry: &&Value| entry["status"] == "approved" && entry["offer_id"] == advertiser.id;
    assert_eq!(log.iter().filter(is_paid).count(), CAP);
}
