//! Actions of the operator: the log's entry is enough to settle its conversion.

use super::*;
use domain::conversions::{state::Reason, table::Action};

/// Settles the conversion of a transaction id like the service.
pub fn settle(
    db: &Sqlite,
    world: &World,
    id: &str,
    action: Action,
    despite: &[Reason],
) -> Result<(&'static str, bool), &'static str> {
    let settle = Settle {
        transaction_id: id.into(),
        action,
        reason: "checked by hand".into(),
        despite: despite.to_vec(),
    };
    let settled = outbox::settlement::conversion(db, shard(), &settle).and_then(|conversion| {
        now(async {
            let terms = outbox::terms::of(db, world, shard(), &conversion).await?;
            commit::convert(db, world, &conversion, &terms).await
        })
    });
    match settled {
        Ok(answer) => Ok((answer.status.as_str(), answer.duplicate)),
        Err(Failure::Refused(refusal)) => Err(refusal.code),
        Err(Failure::Internal(cause)) => panic!("{cause}"),
    }
}

#[test]
fn an_approval_pays_what_the_postback_would_have_paid() {
    let full = || {
        let mut conversion = conversion(1).goal("purchase").txn("t");
        conversion.click.idfa = Some("idfa".into());
        conversion
    };
    let paid = |by_operator: bool| {
        let (db, world) = (outbox(), World::new());
        if by_operator {
            world.cap(Some(0));
            assert_eq!(send(&db, &world, &full()), Err("conversion_capped"));
            // What the operator changes meanwhile does not matter.
            world.change(|offer| offer.goals[1].payout_micro_usd = 1);
            world
                .catalog
                .borrow_mut()
                .change_app(|app| app.currency.name = "Gems".into());
            let id = id_of(1, "g-2", Movement::Reward);
            assert_eq!(
                settle(&db, &world, &id, Action::Approve, &[]),
                Ok(("approved", false))
            );
            assert_eq!(
                settle(&db, &world, &id, Action::Approve, &[]),
                Ok(("approved", true))
            );
        } else {
            send(&db, &world, &full()).unwrap();
        }
        let callbacks = claim(&db, NOW);
        assert_eq!(callbacks.len(), 1);
        (callbacks[0].fields.clone(), dump(&db, "traffic"))
    };
    let (approved, sums) = paid(true);
    let (mut sent, expected_sums) = paid(false);
    sent.reason = Some("checked by hand".into());
    assert_eq!(approved, sent);
    assert_eq!(sums, expected_sums);
}

#[test]
fn a_reversal_by_the_operator_takes_back_what_was_paid_and_frees_the_reward() {
    let (db, world) = (outbox(), World::new());
    let of_ann = |n| conversion(n).user("ann");
    send(&db, &world, &of_ann(1)).unwrap();
    assert_eq!(send(&db, &world, &of_ann(2)), Err("already_rewarded"));
    let callbacks = claim(&db, NOW);
    answer(&db, NOW, &callbacks[0], 200);
    assert_eq!(
        settle(&db, &world, &reward_id(1), Action::Reverse, &[]),
        Ok(("reversed", false))
    );
    let taken_back = claim(&db, NOW).pop().unwrap().fields;
    assert_eq!(taken_back.value, callbacks[0].fields.value.negated());
    assert_eq!(taken_back.reason.as_deref(), Some("checked by hand"));
    assert_eq!(entry(&db, &reversal_id(1))["reason"], "checked by hand");
    assert_eq!(
        settle(&db, &world, &reward_id(1), Action::Reverse, &[]),
        Ok(("reversed", true))
    );
    assert_eq!(send(&db, &world, &of_ann(2)), Ok(("approved", false)));
}

#[test]
fn a_rejection_keeps_the_entry_and_gives_it_a_reason() {
    let (db, world) = (outbox(), World::new());
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    let before = entry(&db, &reward_id(1));
    world.pass(DAY_MS);
    for repeat in [false, true] {
        let settled = settle(&db, &world, &reward_id(1), Action::Reject, &[]);
        assert_eq!(settled, Ok(("rejected", repeat)));
    }
    let after = entry(&db, &reward_id(1));
    assert_eq!(
        (&after["status"], &after["reason"]),
        (&"rejected".into(), &"checked by hand".into())
    );
    assert_eq!(after["conversion_ts"], before["conversion_ts"]);
    for reason in ["checked by hand", "other"] {
        let mut list = list(None, None, 10, None);
        list.reason = Some(reason.into());
        let (found, _) = shown(&written::list(&db, &list, written::WALK).unwrap());
        assert_eq!(found.len(), usize::from(reason == "checked by hand"), "{reason}");
    }
}

#[test]
fn refused_and_held_conversions_are_found_by_their_code() {
    let (db, world) = (outbox(), World::capped(0));
    send(&db, &world, &conversion(1)).unwrap_err();
    world.hold(|offer, _| offer.min_seconds_to_convert = Some(2 * 86_400));
    send(&db, &world, &conversion(2)).unwrap();
    for (reason, n, status) in [("conversion_capped", 1, "refused"), ("too_fast", 2, "held")] {
        let mut list = list(None, None, 10, None);
        list.reason = Some(reason.into());
        let (found, _) = shown(&written::list(&db, &list, written::WALK).unwrap());
        assert_eq!(found.len(), 1, "{reason}");
        assert_eq!(found[0]["transaction_id"], reward_id(n));
        assert_eq!(
            (&found[0]["status"], &found[0]["code"]),
            (&status.into(), &reason.into())
        );
        list.status = Some("pending".into());
        assert!(
            written::list(&db, &list, written::WALK)
                .unwrap()
                .entries
                .is_empty()
        );
    }
}

#[test]
fn an_erased_user_is_neither_paid_nor_charged() {
    let (db, world) = (outbox(), World::new());
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    send(&db, &world, &conversion(2)).unwrap();
    outbox::retention::erase(&db, "user-1").unwrap();
    assert_eq!(
        settle(&db, &world, &reward_id(1), Action::Approve, &[]),
        Err("user_erased")
    );
    assert_eq!(
        settle(&db, &world, &reward_id(1), Action::Reject, &[]),
        Ok(("rejected", false))
    );
    assert!(entry(&db, &reward_id(1))["user_id"].is_null());
    // A reward whose callback still waits has its user, and is taken back after it.
    outbox::retention::erase(&db, "user-2").unwrap();
    let reward = |n, action| settle(&db, &world, &reward_id(n), action, &[]);
    assert_eq!(reward(2, Action::Approve), Ok(("approved", true)));
    assert_eq!(reward(2, Action::Reverse), Ok(("reversed", false)));
    // Later it cannot be: the publisher has forgotten the user, too.
    send(&db, &world, &conversion(3)).unwrap();
    for callback in claim(&db, NOW) {
        answer(&db, NOW, &callback, 200);
    }
    outbox::retention::erase(&db, "user-3").unwrap();
    assert_eq!(reward(3, Action::Reverse), Err("user_erased"));
    // A postback names the user.
    let reversed = conversion(3).status(Status::Reversed);
    assert_eq!(send(&db, &world, &reversed), Ok(("reversed", false)));
}

#[test]
fn only_the_id_of_a_reward_is_settled() {
    let (db, world) = (outbox(), World::new());
    send(&db, &world, &conversion(1)).unwrap();
    send(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    for id in [reversal_id(1), reward_id(2), String::new()] {
        for action in Action::ALL {
            assert_eq!(settle(&db, &world, &id, action, &[]), Err("not_found"), "{id}");
        }
    }
}

#[test]
fn a_reason_that_nothing_may_override_is_named_first() {
    let (db, world) = (outbox(), World::new());
    world.hold(|offer, app| {
        offer.min_seconds_to_convert = Some(2 * 86_400);
        app.max_rewards_per_user_day = Some(1);
    });
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    let approve = |despite: &[Reason]| settle(&db, &world, &reward_id(1), Action::Approve, despite);
    assert_eq!(approve(&[]), Err("too_fast"));
    assert_eq!(approve(&[Reason::TooManyToday]), Err("too_fast"));
    assert_eq!(approve(&[Reason::TooFast]), Ok(("approved", false)));
}
