//! Conversion caps are exact under concurrent conversions and after a crash. Refused conversions are paid once the cap
//! allows them.

use std::{collections::BTreeSet, sync::Mutex, thread};

use serde_json::{Value, json};

use crate::{
    conversions::expect_conversion_error,
    harness::{Answer, OfferWall, Receiver, Setup, away_from_midnight, demo, eventually, expect_accepted},
};

const THREADS: usize = 8;

fn cap(limit: u32) -> Value {
    json!({"conversion_cap": {"dur": "DAILY", "lim": limit}})
}

/// Sends a postback for each click, from several threads. Returns the newly paid transaction ids, and the clicks
/// that the cap refused.
fn send_all(wall: &OfferWall<'_>, clicks: &[String]) -> (BTreeSet<String>, Vec<String>) {
    let (paid, capped) = (Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    let sort = |click: &String, answer: Answer| {
        if answer.status == 409 {
            expect_conversion_error(answer, 409, "conversion_capped");
            capped.lock().unwrap().push(click.clone());
        } else {
            let body = answer.expect(200).json();
            assert_eq!(body["status"], "approved");
            if body["duplicate"] == false {
                let id = body["transaction_id"].as_str().unwrap().to_owned();
                assert!(paid.lock().unwrap().insert(id), "one id twice: {body}");
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for click in clicks.iter().skip(thread).step_by(THREADS) {
                    sort(click, wall.convert(click, ""));
                }
            });
        }
    });
    (paid.into_inner().unwrap(), capped.into_inner().unwrap())
}

#[test]
fn exactly_as_many_conversions_are_paid_as_the_cap_allows() {
    away_from_midnight();
    let signpost = Setup::new().start_with_fixtures().0;
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("conv-cap", "79000151", Some(&receiver));
    wall.put_offer(&cap(3));
    signpost.refresh();
    let clicks: Vec<_> = (0..20).map(|user| wall.click_id(&format!("u-{user}"))).collect();
    let (mut paid, capped) = send_all(&wall, &clicks);
    assert_eq!((paid.len(), capped.len()), (3, 17));
    // Paid conversions are duplicates and refused ones are refused again, also after a power cut.
    for _ in 0..2 {
        let (new, again) = send_all(&wall, &clicks);
        assert_eq!((new.len(), again.len()), (0, 17));
        signpost.restart();
    }

    // A higher cap pays exactly the difference, under the ids that the log already had.
    let logged = wall.entries("state=refused");
    assert_eq!(logged.len(), 17);
    assert!(logged.iter().all(|entry| entry["code"] == "conversion_capped"));
    let logged: BTreeSet<_> = logged.iter().map(|entry| entry["transaction_id"].as_str().unwrap().to_owned()).collect();
    for limit in [4, 6] {
        wall.put_offer(&cap(limit));
        signpost.refresh();
        let (new, _) = send_all(&wall, &clicks);
        assert!(new.is_subset(&logged), "{new:?}");
        paid.extend(new);
        assert_eq!(paid.len(), usize::try_from(limit).unwrap());
    }
    // Neither a lower cap nor a reversal gives conversions back to the cap.
    wall.put_offer(&cap(2));
    signpost.refresh();
    let first = clicks.iter().find(|click| !capped.contains(click)).unwrap();
    expect_accepted(wall.convert(first, "&status=reversed"), "reversed", false);
    wall.put_offer(&cap(6));
    signpost.refresh();
    assert_eq!(send_all(&wall, &capped).0, BTreeSet::new());
    // Without a cap all are paid.
    wall.put_offer(&json!({}));
    signpost.refresh();
    paid.extend(send_all(&wall, &capped).0);
    assert_eq!(paid.len(), 20);

    let called = receiver.wait_for_transactions(30_000, 21);
    assert!(called.values().all(|times| *times == 1), "{called:?}");
    assert!(paid.iter().all(|id| called.contains_key(id)));
}

#[test]
fn a_pending_conversion_takes_from_the_cap_when_it_is_approved() {
    away_from_midnight();
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.unpublished_offer_wall("conv-cap-pending", "79000152", Some(&receiver));
    wall.put_offer(&cap(1));
    signpost.refresh();
    let [one, other] = ["u-1", "u-2"].map(|user| wall.click_id(user));
    for click in [&one, &other] {
        expect_accepted(wall.convert(click, "&status=pending"), "pending", false);
    }
    let paid = expect_accepted(wall.convert(&one, ""), "approved", false);
    expect_conversion_error(wall.convert(&other, ""), 409, "conversion_capped");
    // The refused approval leaves the conversion pending.
    let pending = expect_accepted(wall.convert(&other, "&status=pending"), "pending", true);
    assert_eq!(wall.entry(&pending)["status"], "pending");
    expect_conversion_error(wall.convert(&other, ""), 409, "conversion_capped");
    wall.put_offer(&cap(2));
    signpost.refresh();
    assert_eq!(expect_accepted(wall.convert(&other, ""), "approved", false), pending);
    let both = BTreeSet::from([paid, pending]);
    eventually(&both, || receiver.transactions().into_keys().collect());
    // A rejected conversion takes nothing from the cap.
    let third = wall.click_id("u-3");
    expect_accepted(wall.convert(&third, "&status=rejected"), "rejected", false);
    wall.put_offer(&cap(3));
    signpost.refresh();
    wall.pay("u-4");
    expect_conversion_error(wall.convert(&wall.click_id("u-5"), ""), 409, "conversion_capped");
}
