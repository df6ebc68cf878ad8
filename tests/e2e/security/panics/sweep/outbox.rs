//! Panics of outboxes and counters: each conversion is paid once and called back once.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use serde_json::json;

use super::{DRAINED_MS, Sweep, faulty};
use crate::{
    clicks::{click_id_at, keys},
    conversions::revenue::revenue,
    harness::{Answer, OfferWall, Receiver, eventually_within, now_ms, seal},
};

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
    fn check(&self, wall: &OfferWall<'_>, receiver: &Receiver) {
        let by_user = self.by_user.borrow();
        let reversed = by_user.values().filter(|(_, reversed)| *reversed).count();
        let own_callbacks = || {
            let received = receiver.received().into_iter();
            received.filter(|callback| callback.parameter("app_id").as_deref() == Some(wall.app.as_str()))
        };
        let ids = || own_callbacks().map(|callback| callback.transaction_id().to_owned()).collect::<BTreeSet<_>>();
        let expected = by_user.len() + reversed;
        eventually_within(DRAINED_MS, &expected, || ids().len());
        for callback in own_callbacks() {
            let user = callback.parameter("user_id").unwrap();
            let paid = callback.parameter("original_transaction_id");
            let paid = paid.unwrap_or_else(|| callback.transaction_id().to_owned());
            assert_eq!(by_user[&user].0, paid, "{callback:?}");
        }
        let mut logged = BTreeSet::new();
        for entry in wall.all_entries(1_000) {
            assert!(logged.insert(entry["transaction_id"].as_str().unwrap().to_owned()), "{entry}");
        }
        assert_eq!(logged, ids());
        let earned = 1.25 * f64::from(u32::try_from(by_user.len() - reversed).unwrap());
        let publisher = wall.signpost.existing_publisher(&wall.id);
        eventually_within(DRAINED_MS, &earned, || revenue(&publisher));
    }
}

#[test]
fn wherever_an_outbox_or_a_counter_panics_each_conversion_is_paid_and_called_back_once() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("panics-paid", "79000721", Some(&receiver));
    let capped = "panics-paid-cap";
    wall.put_offer_as(
        capped,
        &json!({"conversion_cap": {"dur": "DAILY", "lim": 10_000}, "click_cap": {"dur": "DAILY", "lim": 10_000}}),
    );
    wall.put_offer_as("panics-paid-short", &json!({"click_id_max": 50}));
    signpost.refresh();
    let sweep = Sweep::new(&signpost);
    let (paid, redirected) = (Paid::default(), Cell::new(0));

    let user = |number: usize| format!("u-{number}");
    let clicked = |offer: &str, number: usize| {
        let user = user(number);
        let click = wall.click_on(offer, &user, now_ms());
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
    sweep.run("a short click id", &[], user, |user| click("panics-paid-short", user));
    let short = |number: usize| {
        let user = user(number);
        (click_id_at(&click("panics-paid-short", &user).expect(302)), user)
    };
    sweep.run("a conversion of one", &[], short, pay);
    sweep.run("the log", &[], |_| (), |()| wall.operator("GET", "conversions?limit=5", None));

    paid.check(&wall, &receiver);
    let publisher = signpost.existing_publisher(&wall.id);
    eventually_within(DRAINED_MS, &redirected.get(), || publisher.clicks());
    sweep.report(30);
}
