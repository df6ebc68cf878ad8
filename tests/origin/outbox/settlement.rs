//! Actions of the operator: the log's entry is enough to settle its conversion.

use super::*;
use contract::outbox::{SettleFilter, SettleMany, Settled};
use domain::conversions::{state::Reason, table::Action};
use origin::objects::outbox::conversions::{settlement, steps};

/// Settles the conversion of a transaction id like the service.
pub fn settle(
    db: &Sqlite,
    world: &World,
    id: &str,
    action: Action,
    despite: &[Reason],
) -> Result<(&'static str, bool), &'static str> {
    let settle =
        Settle { transaction_id: id.into(), action, reason: "checked by hand".into(), despite: despite.to_vec() };
    let settled = settlement::conversion(db, world.now_ms.get(), shard(), &settle).and_then(|conversion| {
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
            // A change that the operator makes meanwhile has no effect.
            world.change(|offer| offer.goals[1].payout_micro_usd = 1);
            world.catalog.borrow_mut().change_app(|app| app.currency.name = "Gems".into());
            let id = id_of(1, "g-2", Movement::Reward);
            assert_eq!(settle(&db, &world, &id, Action::Approve, &[]), Ok(("approved", false)));
            assert_eq!(settle(&db, &world, &id, Action::Approve, &[]), Ok(("approved", true)));
        } else {
            send(&db, &world, &full()).unwrap();
        }
        let callbacks = claim(&db, NOW);
        assert_eq!(callbacks.len(), 1);
        (callbacks[0].fields.clone(), payments(&db))
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
    assert_eq!(settle(&db, &world, &reward_id(1), Action::Reverse, &[]), Ok(("reversed", false)));
    let taken_back = claim(&db, NOW).pop().unwrap().fields;
    assert_eq!(taken_back.value, callbacks[0].fields.value.negated());
    assert_eq!(taken_back.reason.as_deref(), Some("checked by hand"));
    assert_eq!(entry(&db, &reversal_id(1))["reason"], "checked by hand");
    assert_eq!(settle(&db, &world, &reward_id(1), Action::Reverse, &[]), Ok(("reversed", true)));
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
    assert_eq!((&after["status"], &after["reason"]), (&"rejected".into(), &"checked by hand".into()));
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
        assert_eq!((&found[0]["status"], &found[0]["code"]), (&status.into(), &reason.into()));
        list.status = Some("pending".into());
        assert!(written::list(&db, &list, written::WALK).unwrap().entries.is_empty());
    }
}

#[test]
fn an_erased_user_is_neither_paid_nor_charged() {
    let (db, world) = (outbox(), World::new());
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    send(&db, &world, &conversion(2)).unwrap();
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert_eq!(settle(&db, &world, &reward_id(1), Action::Approve, &[]), Err("user_erased"));
    assert_eq!(settle(&db, &world, &reward_id(1), Action::Reject, &[]), Ok(("rejected", false)));
    assert!(entry(&db, &reward_id(1))["user_id"].is_null());
    // A reward with a waiting callback still has its user, and is taken back after that callback.
    outbox::erasure::erase(&db, NOW, shard(), "user-2").unwrap();
    let reward = |n, action| settle(&db, &world, &reward_id(n), action, &[]);
    assert_eq!(reward(2, Action::Approve), Ok(("approved", true)));
    assert_eq!(reward(2, Action::Reverse), Ok(("reversed", false)));
    // After the callback the reward cannot be taken back, because the publisher has forgotten the user, too.
    send(&db, &world, &conversion(3)).unwrap();
    for callback in claim(&db, NOW) {
        answer(&db, NOW, &callback, 200);
    }
    outbox::erasure::erase(&db, NOW, shard(), "user-3").unwrap();
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

/// Settles all that match like the service, in as many steps as needed. Returns what was settled, and the steps.
fn settle_many(db: &Sqlite, world: &World, many: &SettleMany) -> (Settled, usize) {
    settle_while(db, world, many, || true)
}

/// The same, for as long as there is time.
fn settle_while(db: &Sqlite, world: &World, many: &SettleMany, has_time: impl Fn() -> bool) -> (Settled, usize) {
    let steps = Cell::new(0);
    let step = async |many: SettleMany| {
        steps.set(steps.get() + 1);
        let convert = async |conversion: &Conversion| send_postback(db, world, conversion).await;
        steps::settle_step(db, world, shard(), &many, convert).await
    };
    let all = now(settlement::settle_in_steps(many, has_time, step)).unwrap();
    (all, steps.get())
}

fn many(filter: SettleFilter, action: Action) -> SettleMany {
    SettleMany { filter, action, reason: "checked by hand".into(), despite: vec![], dry_run: false, after: 0 }
}

fn filter(status: &str) -> SettleFilter {
    SettleFilter { status: status.into(), reason: None, user_id: None, offer_id: None, since: None, until: None }
}

/// How many conversions have a status.
pub fn count(db: &Sqlite, status: &str) -> u32 {
    let (ids, _) = settlement::matching(db, &many(filter(status), Action::Approve)).unwrap();
    u32::try_from(ids.len()).unwrap()
}

#[test]
fn many_conversions_are_counted_first_and_then_settled_in_steps() {
    let (db, world) = (outbox(), World::paying_each_click());
    world.hold(|offer, _| offer.min_seconds_to_convert = Some(2 * 86_400));
    for n in 1..=230 {
        send(&db, &world, &conversion(n).user(&format!("user-{}", n % 7))).unwrap();
        world.pass(SECOND_MS);
    }
    let held = SettleFilter { reason: Some("too_fast".into()), ..filter("held") };
    let dry_run = SettleMany { dry_run: true, ..many(held.clone(), Action::Approve) };
    let (counted, steps) = settle_many(&db, &world, &dry_run);
    assert_eq!((counted.count, counted.settled, steps), (230, 0, 1));
    // Conversions of one user, within a time.
    let from_s = NOW / SECOND_MS;
    let some = SettleFilter {
        user_id: Some("user-3".into()),
        offer_id: Some(OFFER.into()),
        since: Some(from_s + 9),
        until: Some(from_s + 23),
        ..held.clone()
    };
    let (rejected, _) = settle_many(&db, &world, &many(some, Action::Reject));
    assert_eq!((rejected.count, rejected.settled), (2, 2));
    // Without time for more than one step it says where to go on.
    let mut approve = many(held.clone(), Action::Approve);
    let mut parts = Vec::new();
    loop {
        let (part, steps) = settle_while(&db, &world, &approve, || false);
        assert_eq!(steps, 1);
        parts.push((part.count, part.settled));
        match part.next {
            Some(next) => approve.after = next,
            None => break,
        }
    }
    assert_eq!(parts, [(100, 100), (100, 100), (28, 28)]);
    let (again, _) = settle_many(&db, &world, &many(held, Action::Approve));
    assert_eq!(again, Settled::default());
    let of_others = SettleFilter { offer_id: Some("other".into()), ..filter("approved") };
    let (none, _) = settle_many(&db, &world, &many(of_others, Action::Reverse));
    assert_eq!(none, Settled::default());
}

#[test]
fn refusals_among_many_are_counted_by_code() {
    let (db, world) = (outbox(), World::new());
    let of_ann = |n| conversion(n).user("ann");
    send(&db, &world, &of_ann(1).status(Status::Pending)).unwrap();
    send(&db, &world, &of_ann(2).status(Status::Pending)).unwrap();
    send(&db, &world, &conversion(3).status(Status::Pending)).unwrap();
    let (settled, _) = settle_many(&db, &world, &many(filter("pending"), Action::Approve));
    assert_eq!((settled.count, settled.settled), (3, 2));
    assert_eq!(settled.refused, [("already_rewarded".to_owned(), 1)].into());
    let wrong = many(filter("rejected"), Action::Approve);
    assert_eq!(settle_many(&db, &world, &wrong).0, Settled::default());
    let unknown = settlement::matching(&db, &many(filter("paid"), Action::Approve));
    assert_eq!(refusal(unknown).code, "invalid_field");
}

#[test]
fn an_approval_despite_its_txn_claims_it_if_nobody_has() {
    let (db, world) = (outbox(), World::capped(0));
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), Err("conversion_capped"));
    settle(&db, &world, &reward_id(1), Action::Approve, &[Reason::DuplicateTxn]).unwrap();
    world.cap(None);
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    // The operator's approval counts even if another conversion has the txn.
    assert_eq!(send(&db, &world, &conversion(3).txn("t")), Err("duplicate_txn"));
    settle(&db, &world, &reward_id(3), Action::Approve, &[Reason::DuplicateTxn]).unwrap();
    assert_eq!(entry(&db, &reward_id(3))["value"], entry(&db, &reward_id(1))["value"]);
}

#[test]
fn an_approval_pays_by_the_terms_of_the_app_that_are_in_force_now() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1).status(Status::Pending)), Ok(("pending", false)));
    // No postback tells this outbox of the mistyped rate.
    let mut catalog = world.catalog.borrow_mut();
    catalog.change_app(|app| app.currency.per_usd = PerUsd(200_000_000));
    catalog.app_since(NOW / SECOND_MS + 1);
    drop(catalog);
    settle(&db, &world, &reward_id(1), Action::Approve, &[]).unwrap();
    let value = |n| entry(&db, &reward_id(n))["value"].clone();
    send(&db, &world, &conversion(2)).unwrap();
    assert_eq!(value(1), value(2));
}
