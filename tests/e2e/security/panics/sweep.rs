//! Makes each database call of an object panic in turn, before and after the call: inside and outside transactions, in
//! requests and in background work. The caller gets an error at once, and a retry has the same result as without a panic.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{super::chaos::setting, AT_ONCE, arm, arm_count, faulty};
use crate::{
    clicks::{click_id_of, keys},
    conversions::revenue::revenue,
    harness::{
        Answer, Publisher, REPORT, Receiver, ReportKey, Signpost, Wall, callback, in_time, now_ms, seal,
        timed,
    },
    reports,
};
use domain::model::time::{SECOND_MS, UtcDay};

/// One in this many places is tried in a run, chosen by `SEED`. `PANICS=1` in the environment tries all.
const SHARE: u64 = 6;
/// How long background work may take to reach its place, in milliseconds.
const BACKGROUND_MS: i64 = 60;
/// The most attempts of a caller.
const TRIES: usize = 5;
const DRAINED_MS: i64 = 60 * SECOND_MS;

struct Sweep<'s> {
    signpost: &'s Signpost,
    /// Chooses one in `share` places, a different one for each kind of work.
    seed: u64,
    share: u64,
    kinds: Cell<u64>,
    /// Numbers the subjects.
    next: Cell<usize>,
    places: Cell<u64>,
    panics: Cell<u64>,
    errors: Cell<usize>,
    slowest: Cell<Duration>,
}

impl<'s> Sweep<'s> {
    fn new(signpost: &'s Signpost) -> Self {
        let seed = setting("SEED", now_ms().unsigned_abs());
        let share = setting("PANICS", SHARE).max(1);
        // Printed first, for runs that fail before `report`.
        println!("SEED={seed} PANICS={share}");
        Self {
            signpost,
            seed,
            share,
            kinds: Cell::new(0),
            next: Cell::new(1),
            places: Cell::new(0),
            panics: Cell::new(0),
            errors: Cell::new(0),
            slowest: Cell::new(Duration::ZERO),
        }
    }

    /// Prints the results, and fails the test unless at least `least` % of the places panicked. Not all do: background
    /// work seen when the places were found, such as an alarm, need not run again.
    fn report(&self, least: u64) {
        let (places, panics) = (self.places.get(), self.panics.get());
        let tried = format!(
            "SEED={} PANICS={}: {places} places, {panics} panics",
            self.seed, self.share
        );
        println!(
            "{tried}, {} errors answered, the slowest in {:?}",
            self.errors.get(),
            self.slowest.get()
        );
        assert!(
            panics > 0 && panics * 100 >= places * least,
            "{tried}: fewer than {least} %"
        );
    }

    /// Runs `act` with a panic at each place that it passes. `prepare` makes its subject from a number. A retry may be
    /// refused with an `excused` status, because an attempt whose answer was lost had succeeded.
    fn run<T>(&self, name: &str, excused: &[u16], prepare: impl Fn(usize) -> T, act: impl Fn(&T) -> Answer) {
        let number = || self.next.replace(self.next.get() + 1);
        // The first run may pass places that later ones do not: an object creates its tables once.
        for _ in 0..2 {
            let subject = prepare(number());
            arm(self.signpost, "", "", 0);
            let answer = act(&subject);
            assert!(answer.status < 400, "{name}: {answer:?}");
            thread::sleep(Duration::from_millis(300));
        }
        let (_, passed) = arm(self.signpost, "", "", 0);
        assert!(!passed.is_empty(), "{name} passes nothing");
        let first = self.seed.wrapping_add(self.kinds.replace(self.kinds.get() + 1)) % self.share;
        for (index, place) in (0..).zip(passed) {
            if index % self.share != first {
                continue;
            }
            let Some((when @ ("before" | "after"), what)) = place.split_once(' ') else {
                continue;
            };
            let subject = prepare(number());
            arm(self.signpost, when, what, 1);
            self.places.set(self.places.get() + 1);
            self.until_served(&format!("{name}, {place}"), excused, || act(&subject));
            let until_ms = now_ms() + BACKGROUND_MS;
            while arm_count(self.signpost) == 0 && now_ms() < until_ms {
                thread::sleep(Duration::from_millis(10));
            }
            let fired = arm(self.signpost, "", "", 0).0;
            self.panics.set(self.panics.get() + fired);
        }
    }

    fn until_served(&self, place: &str, excused: &[u16], act: impl Fn() -> Answer) {
        for _ in 0..TRIES {
            let (answer, took) = timed(&act);
            if answer.status < 400 || excused.contains(&answer.status) {
                return;
            }
            let expected = match answer.status {
                500 => "internal_error",
                _ => "unavailable",
            };
            assert!([500, 503].contains(&answer.status), "{place}: {answer:?}");
            assert_eq!(answer.code(), expected, "{place}: {answer:?}");
            // A refresh may wait before it panics, since KV takes one write of a key in a second.
            let waits = if place.starts_with("a refresh") { 2 } else { 1 };
            assert!(took < AT_ONCE * waits, "{took:?}: {place}: {answer:?}");
            self.errors.set(self.errors.get() + 1);
            self.slowest.set(self.slowest.get().max(took));
        }
        panic!("{place}: still not served");
    }
}

/// Answered conversions by user: the transaction id, and whether it was reversed.
#[derive(Default)]
struct Paid {
    by_user: RefCell<BTreeMap<String, (String, bool)>>,
}

impl Paid {
    /// Records an answer. Its transaction id must equal that of earlier answers.
    fn record(&self, user: &str, answer: &Answer, reversed: bool) {
        if answer.status != 200 {
            return;
        }
        let id = answer.json()["transaction_id"].as_str().unwrap().to_owned();
        let mut by_user = self.by_user.borrow_mut();
        let known = by_user.entry(user.to_owned()).or_insert((id.clone(), false));
        assert_eq!(known.0, id, "{user} is paid twice: {answer:?}");
        known.1 |= reversed;
    }

    /// Every reward and every reversal has one log entry and one callback id, and counts once in revenue.
    fn check(&self, wall: &Wall<'_>, receiver: &Receiver) {
        let by_user = self.by_user.borrow();
        let reversed = by_user.values().filter(|(_, reversed)| *reversed).count();
        let own_callbacks = || {
            let received = receiver.received().into_iter();
            received.filter(|callback| callback.parameter("app_id").as_deref() == Some(wall.app.as_str()))
        };
        let ids = || {
            own_callbacks()
                .map(|callback| callback.transaction_id().to_owned())
                .collect::<BTreeSet<_>>()
        };
        let expected = by_user.len() + reversed;
        in_time(DRAINED_MS, &expected, || ids().len());
        for callback in own_callbacks() {
            let user = callback.parameter("user_id").unwrap();
            let paid = callback.parameter("original_transaction_id");
            let paid = paid.unwrap_or_else(|| callback.transaction_id().to_owned());
            assert_eq!(by_user[&user].0, paid, "{callback:?}");
        }
        let mut logged = BTreeSet::new();
        for entry in wall.all_entries(1_000) {
            assert!(
                logged.insert(entry["transaction_id"].as_str().unwrap().to_owned()),
                "{entry}"
            );
        }
        assert_eq!(logged, ids());
        let earned = 1.25 * f64::from(u32::try_from(by_user.len() - reversed).unwrap());
        let publisher = wall.signpost.known_publisher(&wall.id);
        in_time(DRAINED_MS, &earned, || revenue(&publisher));
    }
}

#[test]
fn wherever_an_outbox_or_a_counter_panics_each_conversion_is_paid_and_called_back_once() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_wall("panics-paid", "79000721", Some(&receiver));
    let capped = "panics-paid-cap";
    wall.put_offer_as(capped, &json!({"conversion_cap": {"dur": "DAILY", "lim": 10_000}, "click_cap": {"dur": "DAILY", "lim": 10_000}}));
    wall.put_offer_as("panics-paid-short", &json!({"click_id_max": 50}));
    signpost.refresh();
    let sweep = Sweep::new(&signpost);
    let (paid, redirected) = (Paid::default(), Cell::new(0));

    let user = |number: usize| format!("u-{number}");
    let clicked = |offer: &str, number: usize| {
        let user = user(number);
        let mut click = wall.click(&user, now_ms());
        click.offer = offer.into();
        (seal(&keys(), &click), user)
    };
    let pay = |(click_id, user): &(String, String)| {
        let answer = wall.convert(click_id, "");
        paid.record(user, &answer, false);
        answer
    };
    sweep.run("a conversion", &[], |number| clicked(&wall.id, number), pay);
    sweep.run("a capped conversion", &[], |number| clicked(capped, number), pay);
    let approved = |number: usize| {
        let subject = clicked(&wall.id, number);
        pay(&subject).expect(200);
        subject
    };
    sweep.run("a reversal", &[], approved, |(click_id, user)| {
        let answer = wall.convert(click_id, "&status=reversed");
        paid.record(user, &answer, true);
        answer
    });
    let click = |offer: &str, user: &str| {
        let answer = signpost.click(&format!("rid={offer}-1&app={}&user_id={user}", wall.app), "DE");
        redirected.set(redirected.get() + u64::from(answer.status == 302));
        answer
    };
    sweep.run("a capped click", &[], user, |user| click(capped, user));
    // A short click id has a stored record, which its conversion reads.
    sweep.run("a short click id", &[], user, |user| {
        click("panics-paid-short", user)
    });
    let short = |number: usize| {
        let user = user(number);
        (click_id_of(&click("panics-paid-short", &user).expect(302)), user)
    };
    sweep.run("a conversion of one", &[], short, pay);
    sweep.run(
        "the log",
        &[],
        |_| (),
        |()| wall.operator("GET", "conversions?limit=5", None),
    );

    paid.check(&wall, &receiver);
    let publisher = signpost.known_publisher(&wall.id);
    in_time(DRAINED_MS, &redirected.get(), || publisher.clicks());
    sweep.report(30);
}

#[test]
fn wherever_a_ledger_panics_facts_count_once_and_report_keys_match_their_answers() {
    let signpost = faulty().start();
    let publisher = signpost.publisher("panics-facts");
    let sweep = Sweep::new(&signpost);
    let first = UtcDay::of_ms(now_ms()).minus(60);
    let (days, added) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
    let row = |date: &str, number: usize| {
        reports::csv(&[&format!(
            "{date},70000001,,DE,p-{number},tag,alpha,1,{number},1,1,1,1"
        )])
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
                issued.borrow_mut().push(ReportKey {
                    id: text("key_id"),
                    api_key: text("api_key"),
                });
            }
            answer
        },
    );
    let query = json!({
        "date_range": {"start_date": first.minus(20).to_string(), "end_date": first.minus(-10).to_string()},
        "dimensions": ["date", "placement_id"], "metrics": ["ad_requests"],
    });
    let ask = |key: &ReportKey| {
        let headers = [
            ("X-Api-Key", key.api_key.as_str()),
            ("Content-Type", "application/json"),
        ];
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
        ask(&ReportKey {
            id: String::new(),
            api_key: api_key.clone(),
        })
        .refused(401, "invalid_api_key");
    }

    let mut last = BTreeMap::new();
    for (date, number) in days.borrow().iter() {
        last.insert(date.clone(), *number);
    }
    let all = added
        .borrow()
        .iter()
        .map(|number| (first.minus(20).to_string(), *number))
        .collect::<Vec<_>>();
    let expected: BTreeSet<_> = last.into_iter().chain(all).collect();
    let stored: BTreeSet<_> = publisher
        .rows(&query)
        .iter()
        .map(|row| {
            let number = row["placement_id"]
                .as_str()
                .unwrap()
                .trim_start_matches("p-")
                .parse::<usize>()
                .unwrap();
            assert_eq!(
                row["ad_requests"].as_u64().unwrap_or(0),
                number as u64,
                "counted once: {row}"
            );
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

#[test]
fn wherever_the_catalog_panics_documents_are_complete_and_issued_credentials_work() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.wall("panics-catalog", "79000731", Some(&receiver));
    let sweep = Sweep::new(&signpost);
    let read = |path: &str| signpost.operator("GET", path, None).expect(200).json();
    let put = |path: &str, document: &Value| {
        let answer = signpost.operator("PUT", path, Some(document));
        if answer.status == 200 {
            assert_eq!(read(path)["name"], document["name"], "{answer:?}");
        }
        answer
    };
    sweep.run(
        "a publisher",
        &[],
        |number| json!({"name": format!("n-{number}"), "approved": true}),
        |document| put("publishers/panics-catalog", document),
    );
    let app = |number: usize| {
        let url = format!("{}/cb-{number}", receiver.base());
        json!({
            "publisher_id": "panics-catalog", "name": format!("n-{number}"), "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
            "callback": callback(&url, "GET")
        })
    };
    let last = Cell::new(0);
    sweep.run(
        "an app",
        &[],
        |number| {
            last.set(number);
            app(number)
        },
        |document| put("apps/79000731", document),
    );
    sweep.run(
        "an offer",
        &[],
        |number| {
            let mut offer = read("offers/panics-catalog");
            offer
                .as_object_mut()
                .unwrap()
                .retain(|member, _| !["offer_id", "updated_at"].contains(&member.as_str()));
            offer["name"] = json!(format!("n-{number}"));
            offer
        },
        |document| put("offers/panics-catalog", document),
    );
    sweep.run("an import", &[], |number| {
        let line = |kind: &str| json!({"kind": kind, "id": "panics-import", "name": format!("n-{number}"), "approved": true});
        let mut advertiser = line("advertiser");
        advertiser.as_object_mut().unwrap().remove("approved");
        (number, format!("{}\n{advertiser}\n", line("publisher")))
    }, |(number, lines)| {
        let answer = signpost.import(lines);
        if answer.status == 200 {
            for path in ["publishers/panics-import", "advertisers/panics-import"] {
                assert_eq!(read(path)["name"], format!("n-{number}"));
            }
        }
        answer
    });
    let (pub_key, token) = (RefCell::new(String::new()), RefCell::new(String::new()));
    sweep.run(
        "a Pub-Key",
        &[],
        |_| (),
        |()| {
            let answer = signpost.operator("POST", "publishers/panics-catalog/pub_key", None);
            if answer.status == 201 {
                pub_key.replace(answer.json()["pub_key"].as_str().unwrap().to_owned());
            }
            answer
        },
    );
    sweep.run(
        "a token",
        &[],
        |_| (),
        |()| {
            let answer = signpost.operator("POST", "advertisers/panics-catalog/token", None);
            if answer.status == 201 {
                token.replace(answer.json()["token"].as_str().unwrap().to_owned());
            }
            answer
        },
    );
    let renamed = |number: usize| {
        put(
            "advertisers/panics-catalog",
            &json!({"name": format!("n-{number}")}),
        )
        .expect(200);
    };
    sweep.run("a refresh", &[], renamed, |()| {
        signpost.operator("POST", "refresh", None)
    });
    // The newest Pub-Key and token work, and rewards use the last callback settings.
    signpost.refresh();
    let body = json!({"page": 1, "size": 1});
    signpost.offers("79000731", &pub_key.borrow(), &body).expect(200);
    let click = wall.click_id("u-1");
    signpost
        .convert(&format!("click_id={click}&token={}", token.borrow()))
        .expect(200);
    let received = receiver.wait(1);
    assert_eq!(received[0].path(), format!("/cb-{}", last.get()));
    sweep.report(70);
}
