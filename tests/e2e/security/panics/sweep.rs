//! Each place where an object asks its database panics in turn, before it has asked and after: inside transactions and
//! outside of them, in requests and in what goes on beside them. Whoever asked is told at once, may ask again, and then
//! all is as if nothing had been.

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

/// One place in so many is tried in a run of the tests, drawn by `SEED`; `PANICS=1` in the environment tries all.
const SHARE: u64 = 6;
/// How long what goes on beside a request may take to come to its place.
const BESIDE_MS: i64 = 60;
/// How often a caller asks again.
const TRIES: usize = 5;
const DRAINED_MS: i64 = 60 * SECOND_MS;

struct Sweep<'s> {
    signpost: &'s Signpost,
    /// Which places are tried: of each `share` of them one, another one of each kind of work.
    seed: u64,
    share: u64,
    kinds: Cell<u64>,
    /// Numbers whatever is made.
    next: Cell<usize>,
    places: Cell<u64>,
    panics: Cell<u64>,
    told: Cell<usize>,
    slowest: Cell<Duration>,
}

impl<'s> Sweep<'s> {
    fn of(signpost: &'s Signpost) -> Self {
        let seed = setting("SEED", now_ms().unsigned_abs());
        let share = setting("PANICS", SHARE).max(1);
        // Also for a run that fails before it tells.
        println!("SEED={seed} PANICS={share}");
        Self {
            signpost,
            seed,
            share,
            kinds: Cell::new(0),
            next: Cell::new(1),
            places: Cell::new(0),
            panics: Cell::new(0),
            told: Cell::new(0),
            slowest: Cell::new(Duration::ZERO),
        }
    }

    /// Says what was tried, and fails the test unless so many of a hundred places panicked. All do not: what went on beside
    /// a request when its places were found, such as an alarm's work, need not come by again.
    fn tell(&self, least: u64) {
        let (places, panics) = (self.places.get(), self.panics.get());
        let tried = format!(
            "SEED={} PANICS={}: {places} places, {panics} panics",
            self.seed, self.share
        );
        println!(
            "{tried}, {} told to callers, the slowest in {:?}",
            self.told.get(),
            self.slowest.get()
        );
        assert!(
            panics > 0 && panics * 100 >= places * least,
            "{tried}: fewer than {least} %"
        );
    }

    /// Has `act` meet a panic at each place that it passes. `prepare` makes what it acts on, by number. What is asked
    /// again, by the caller or on its behalf, may be refused by an `excused` status, for what was done unheard before.
    fn over<T>(&self, name: &str, excused: &[u16], prepare: impl Fn(usize) -> T, act: impl Fn(&T) -> Answer) {
        let number = || self.next.replace(self.next.get() + 1);
        // The first of its kind may pass what none passes after it: an object makes its tables once.
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
        for (number_of, place) in (0..).zip(passed) {
            if number_of % self.share != first {
                continue;
            }
            let Some((when @ ("before" | "after"), what)) = place.split_once(' ') else {
                continue;
            };
            let subject = prepare(number());
            arm(self.signpost, when, what, 1);
            self.places.set(self.places.get() + 1);
            self.until_served(&format!("{name}, {place}"), excused, || act(&subject));
            let until_ms = now_ms() + BESIDE_MS;
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
            // A refresh may have waited before, since KV takes one write of a key a second.
            let waits = if place.starts_with("a refresh") { 2 } else { 1 };
            assert!(took < AT_ONCE * waits, "{took:?}: {place}: {answer:?}");
            self.told.set(self.told.get() + 1);
            self.slowest.set(self.slowest.get().max(took));
        }
        panic!("{place}: still not served");
    }
}

/// The conversions that were answered, by their users: what they pay, and under which id.
#[derive(Default)]
struct Paid {
    by_user: RefCell<BTreeMap<String, (String, bool)>>,
}

impl Paid {
    /// Takes an answer down, which must be of the same transaction as the one before.
    fn note(&self, user: &str, answer: &Answer, reversed: bool) {
        if answer.status != 200 {
            return;
        }
        let id = answer.json()["transaction_id"].as_str().unwrap().to_owned();
        let mut by_user = self.by_user.borrow_mut();
        let known = by_user.entry(user.to_owned()).or_insert((id.clone(), false));
        assert_eq!(known.0, id, "{user} is paid twice: {answer:?}");
        known.1 |= reversed;
    }

    /// Every reward, and every reversal, is one entry of the log and one callback identity, and is revenue once.
    fn check(&self, wall: &Wall<'_>, receiver: &Receiver) {
        let by_user = self.by_user.borrow();
        let reversed = by_user.values().filter(|(_, reversed)| *reversed).count();
        let of_wall = || {
            let received = receiver.received().into_iter();
            received.filter(|callback| callback.parameter("app_id").as_deref() == Some(wall.app.as_str()))
        };
        let ids = || {
            of_wall()
                .map(|callback| callback.transaction_id().to_owned())
                .collect::<BTreeSet<_>>()
        };
        let expected = by_user.len() + reversed;
        in_time(DRAINED_MS, &expected, || ids().len());
        for callback in of_wall() {
            let user = callback.parameter("user_id").unwrap();
            let of = callback.parameter("original_transaction_id");
            let of = of.unwrap_or_else(|| callback.transaction_id().to_owned());
            assert_eq!(by_user[&user].0, of, "{callback:?}");
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
fn wherever_an_outbox_or_a_counter_panics_each_conversion_is_paid_and_told_once() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_wall("panics-paid", "79000721", Some(&receiver));
    let capped = "panics-paid-cap";
    wall.put_offer_as(capped, &json!({"conversion_cap": {"dur": "DAILY", "lim": 10_000}, "click_cap": {"dur": "DAILY", "lim": 10_000}}));
    wall.put_offer_as("panics-paid-short", &json!({"click_id_max": 50}));
    signpost.refresh();
    let sweep = Sweep::of(&signpost);
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
        paid.note(user, &answer, false);
        answer
    };
    sweep.over("a conversion", &[], |number| clicked(&wall.id, number), pay);
    sweep.over("a capped conversion", &[], |number| clicked(capped, number), pay);
    let approved = |number: usize| {
        let subject = clicked(&wall.id, number);
        pay(&subject).expect(200);
        subject
    };
    sweep.over("a reversal", &[], approved, |(click_id, user)| {
        let answer = wall.convert(click_id, "&status=reversed");
        paid.note(user, &answer, true);
        answer
    });
    let click = |offer: &str, user: &str| {
        let answer = signpost.click(&format!("rid={offer}-1&app={}&user_id={user}", wall.app), "DE");
        redirected.set(redirected.get() + u64::from(answer.status == 302));
        answer
    };
    sweep.over("a capped click", &[], user, |user| click(capped, user));
    // A short click id is a record, which its conversion reads.
    sweep.over("a short click id", &[], user, |user| {
        click("panics-paid-short", user)
    });
    let short = |number: usize| {
        let user = user(number);
        (click_id_of(&click("panics-paid-short", &user).expect(302)), user)
    };
    sweep.over("a conversion of one", &[], short, pay);
    sweep.over(
        "the log",
        &[],
        |_| (),
        |()| wall.operator("GET", "conversions?limit=5", None),
    );

    paid.check(&wall, &receiver);
    let publisher = signpost.known_publisher(&wall.id);
    in_time(DRAINED_MS, &redirected.get(), || publisher.clicks());
    sweep.tell(30);
}

#[test]
fn wherever_a_ledger_panics_facts_count_once_and_keys_are_what_they_were_answered_to_be() {
    let signpost = faulty().start();
    let publisher = signpost.publisher("panics-facts");
    let sweep = Sweep::of(&signpost);
    let first = UtcDay::of_ms(now_ms()).minus(60);
    let (days, added) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
    let row = |date: &str, number: usize| {
        reports::csv(&[&format!(
            "{date},70000001,,DE,p-{number},tag,alpha,1,{number},1,1,1,1"
        )])
    };
    // A day may be replaced as often as one likes: each number has its own placement, and the last stays.
    let date = |number: usize| first.minus(-i32::try_from(number % 10).unwrap()).to_string();
    sweep.over(
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
    sweep.over(
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
    sweep.over(
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
    // One that was counted and not made.
    sweep.over("a report", &[429], new_key, ask);
    let revoked = RefCell::new(Vec::new());
    // One that was revoked unheard.
    sweep.over("a revocation", &[404], new_key, |key| {
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
    sweep.tell(50);
}

/// Keys whose answers were lost are of no use.
fn revoke_all(publisher: &Publisher<'_>) {
    let listed = publisher.operator("GET", "report_keys", None).expect(200).json();
    for key in listed["report_keys"].as_array().unwrap() {
        let path = format!("report_keys/{}", key["key_id"].as_str().unwrap());
        publisher.operator("DELETE", &path, None).expect(204);
    }
}

#[test]
fn wherever_the_catalog_panics_its_documents_are_whole_and_what_it_issued_works() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.wall("panics-catalog", "79000731", Some(&receiver));
    let sweep = Sweep::of(&signpost);
    let read = |path: &str| signpost.operator("GET", path, None).expect(200).json();
    let put = |path: &str, document: &Value| {
        let answer = signpost.operator("PUT", path, Some(document));
        if answer.status == 200 {
            assert_eq!(read(path)["name"], document["name"], "{answer:?}");
        }
        answer
    };
    sweep.over(
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
    sweep.over(
        "an app",
        &[],
        |number| {
            last.set(number);
            app(number)
        },
        |document| put("apps/79000731", document),
    );
    sweep.over(
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
    sweep.over("an import", &[], |number| {
        let of = |kind: &str| json!({"kind": kind, "id": "panics-import", "name": format!("n-{number}"), "approved": true});
        let mut advertiser = of("advertiser");
        advertiser.as_object_mut().unwrap().remove("approved");
        (number, format!("{}\n{advertiser}\n", of("publisher")))
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
    sweep.over(
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
    sweep.over(
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
    sweep.over("a refresh", &[], renamed, |()| {
        signpost.operator("POST", "refresh", None)
    });
    // The newest of each works, and rewards go by the last settings.
    signpost.refresh();
    let body = json!({"page": 1, "size": 1});
    signpost.offers("79000731", &pub_key.borrow(), &body).expect(200);
    let click = wall.click_id("u-1");
    signpost
        .convert(&format!("click_id={click}&token={}", token.borrow()))
        .expect(200);
    let received = receiver.wait(1);
    assert_eq!(received[0].path(), format!("/cb-{}", last.get()));
    sweep.tell(70);
}
