//! State changes of a conversion by further postbacks, and the callbacks that they cause.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{
    conversions::expect_conversion_error,
    harness::{Receiver, demo, eventually, expect_accepted, states},
};

#[test]
fn postbacks_change_the_state_and_each_reward_is_paid_once() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-states", "79000111", Some(&receiver));
    // For each postback of a click: status sent, status answered, whether it is new. Then the callbacks' statuses.
    type Row<'r> = (&'r [(&'r str, &'r str, bool)], &'r [&'r str]);
    let rows: [Row<'_>; 10] = [
        (
            &[
                ("approved", "approved", true),
                ("approved", "approved", false),
                ("pending", "approved", false),
                ("reversed", "reversed", true),
                ("approved", "reversed", false),
                ("reversed", "reversed", false),
                ("rejected", "reversed", false),
                ("pending", "reversed", false),
            ],
            &["approved", "reversed"],
        ),
        (&[("", "approved", true), ("rejected", "reversed", true)], &["approved", "reversed"]),
        (
            &[
                ("pending", "pending", true),
                ("pending", "pending", false),
                ("Approved", "approved", true),
                ("APPROVED", "approved", false),
            ],
            &["approved"],
        ),
        (
            &[("pending", "pending", true), ("approved", "approved", true), ("reversed", "reversed", true)],
            &["approved", "reversed"],
        ),
        (
            &[
                ("pending", "pending", true),
                ("rejected", "rejected", true),
                ("rejected", "rejected", false),
                ("approved", "rejected", false),
                ("reversed", "rejected", false),
            ],
            &[],
        ),
        (&[("pending", "pending", true), ("reversed", "rejected", true), ("approved", "rejected", false)], &[]),
        (
            &[
                ("rejected", "rejected", true),
                ("pending", "rejected", false),
                ("approved", "rejected", false),
                ("reversed", "rejected", false),
            ],
            &[],
        ),
        // Reversed before it was known: a late approval is not paid.
        (
            &[
                ("reversed", "reversed", true),
                ("reversed", "reversed", false),
                ("approved", "reversed", false),
                ("pending", "reversed", false),
                ("rejected", "reversed", false),
            ],
            &[],
        ),
        (&[("pending", "pending", true)], &[]),
        (&[("approved", "approved", true)], &["approved"]),
    ];
    let mut expected = BTreeMap::new();
    for (number, (postbacks, callbacks)) in rows.iter().enumerate() {
        let user = format!("row-{number}");
        let click = wall.click_id(&user);
        let mut ids = Vec::new();
        for (sent, answered, new) in *postbacks {
            let answer = wall.convert(&click, &format!("&status={sent}"));
            ids.push(expect_accepted(answer, answered, !new));
        }
        assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{user}: {ids:?}");
        let (_, last, _) = postbacks.last().unwrap();
        let (status, state) = states(&wall.entry(&ids[0]));
        assert_eq!(status, *last, "{user}");
        assert_eq!(state.is_none(), callbacks.is_empty(), "{user}: {state:?}");
        if !callbacks.is_empty() {
            let mut callbacks: Vec<_> = callbacks.iter().map(|status| (*status).to_owned()).collect();
            callbacks.sort();
            expected.insert(user, callbacks);
        }
    }
    let called = || {
        let mut called = BTreeMap::<_, Vec<_>>::new();
        for callback in receiver.received() {
            let user = callback.parameter("user_id").unwrap();
            called.entry(user).or_default().push(callback.parameter("status").unwrap());
        }
        called.values_mut().for_each(|statuses| statuses.sort());
        called
    };
    eventually(&expected, called);
    // One more callback gives an unexpected one time to arrive.
    wall.pay("the-last");
    receiver.wait(expected.values().map(Vec::len).sum::<usize>() + 1);
    let mut all = called();
    all.remove("the-last");
    assert_eq!(all, expected);
}

#[test]
fn each_goal_of_a_click_is_a_separate_conversion() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-goals", "79000112", None);
    let click = wall.click_id("u-1");
    let first = expect_accepted(wall.convert(&click, ""), "approved", false);
    assert_eq!(expect_accepted(wall.convert(&click, "&goal=install"), "approved", true), first);
    assert_eq!(expect_accepted(wall.convert(&click, "&goal=conv-goals-1"), "approved", true), first);
    let second = expect_accepted(wall.convert(&click, "&goal=level_10"), "approved", false);
    assert_ne!(second, first);
    expect_accepted(wall.convert(&click, "&goal=conv-goals-2&status=reversed"), "reversed", false);
    // The other goal of the click and the other click are unchanged.
    expect_accepted(wall.convert(&click, ""), "approved", true);
    let other = expect_accepted(wall.convert(&wall.click_id("u-1"), ""), "approved", false);
    assert_ne!(other, first);
}

#[test]
fn a_txn_identifies_one_conversion_of_a_goal() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("conv-txn", "79000113", None);
    let neighbour = signpost.unpublished_offer_wall("conv-txn-2", "79000114", None);
    signpost.refresh();
    let [one, other] = ["u-1", "u-2"].map(|user| wall.click_id(user));
    let paid = expect_accepted(wall.convert(&one, "&txn=order%2F17"), "approved", false);
    assert_eq!(wall.entry(&paid)["txn"], "order/17");
    assert_eq!(expect_accepted(wall.convert(&one, "&txn=order%2F17"), "approved", true), paid);
    // A repeat with another txn is still the same conversion.
    assert_eq!(expect_accepted(wall.convert(&one, "&txn=order%2F18"), "approved", true), paid);
    expect_conversion_error(wall.convert(&other, "&txn=order%2F17"), 409, "duplicate_txn");
    expect_conversion_error(wall.convert(&other, "&txn=order%2F17&status=pending"), 409, "duplicate_txn");
    // Another goal and another app may use the same txn.
    expect_accepted(wall.convert(&other, "&txn=order%2F17&goal=purchase"), "approved", false);
    expect_accepted(neighbour.convert(&neighbour.click_id("u-1"), "&txn=order%2F17"), "approved", false);
    // The refused conversion is paid under another txn.
    expect_accepted(wall.convert(&other, "&txn=order%2F19"), "approved", false);
    // The txn of a reversed conversion stays in use.
    expect_accepted(wall.convert(&one, "&status=reversed"), "reversed", false);
    expect_conversion_error(wall.convert(&wall.click_id("u-3"), "&txn=order%2F17"), 409, "duplicate_txn");
    // An unreplaced macro counts as no txn.
    for user in ["u-4", "u-5"] {
        let answer = wall.convert(&wall.click_id(user), "&txn=%7Btransaction_id%7D");
        let id = expect_accepted(answer, "approved", false);
        assert_eq!(wall.entry(&id).get("txn"), None);
    }
    assert_eq!(wall.entries("status=reversed").len(), 2, "the reward and its reversal: {}", json!(wall.entries("")));
}
