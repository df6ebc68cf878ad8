//! A check returns the answer that a postback would get, in every state, and writes nothing.

use super::*;
use contract::{
    catalog::GetOfferTerms,
    counters::{Command as CountersCommand, ReadTaken, Reply as CountersReply},
    outbox::{CheckPostback, NumberedTerms},
};
use domain::{conversions::state::Reason, model::time::UtcDay};
use origin::objects::outbox::conversions::{
    Claim,
    check::{PartialVerdict, judge},
};

fn known(world: &World, revision: i64) -> contract::catalog::KnownOffer {
    let question = GetOfferTerms { offer_id: OfferId::parse(OFFER).unwrap(), revision, outbox: None };
    now(world.ask_offer(question)).unwrap()
}

/// The check as the operator's interface makes it.
fn check_of(world: &World, conversion: &Conversion) -> CheckPostback {
    let sealed = known(world, conversion.click.offer_terms);
    let in_force = sealed.current.terms;
    let paying = in_force.paying(conversion.click.offer_terms, conversion.click.clicked_at_ms);
    let numbered = |revision| NumberedTerms { revision, terms: known(world, revision).terms };
    let mut conversion = conversion.clone();
    conversion.current.offer = Some(sealed.current);
    CheckPostback {
        conversion,
        paying: numbered(paying),
        current: (in_force.revision != paying).then(|| numbered(in_force.revision)),
        currency: CurrencyRate { name: "Coins".into(), per_usd: PerUsd(1), decimals: 0, rounding: Default::default() },
        outbox_shards: 8,
    }
}

/// The result of a check: the answer, and the reason why the conversion would be held.
fn checked(
    db: &Sqlite,
    world: &World,
    conversion: &Conversion,
) -> Result<(&'static str, bool, Option<Reason>), &'static str> {
    let check = check_of(world, conversion);
    let now_ms = world.now_ms.get();
    let mut claim = Claim::Open;
    loop {
        let answered = match judge(db, world, &check, &claim) {
            Ok(PartialVerdict::Unclaimed(txn)) => {
                let is_free = txns::is_free(&world.keeper, &txn).unwrap();
                claim = if is_free { Claim::Made(txn) } else { Claim::Refused };
                continue;
            }
            Ok(PartialVerdict::Answered(answered)) => answered,
            Ok(PartialVerdict::Takes { answered, cap, offer }) => {
                let day = UtcDay::of_ms(now_ms);
                let read = CountersCommand::ReadTaken(ReadTaken { offer, day });
                match crate::ask_counters(&world.counters, now_ms, read) {
                    Ok(CountersReply::TakenOfDay(taken)) if taken.conversions < cap => answered,
                    Ok(CountersReply::TakenOfDay(_)) => return Err("conversion_capped"),
                    other => panic!("{other:?}"),
                }
            }
            Err(Failure::Refused(refusal)) => return Err(refusal.code),
            Err(Failure::Internal(cause)) => panic!("{cause}"),
        };
        return Ok((answered.answer.status.as_str(), answered.answer.duplicate, answered.reason));
    }
}

/// A sequence of numbers without a pattern.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn a_check_says_what_the_postback_is_then_answered_and_writes_nothing() {
    let (mut seed, mut seen) = (7, std::collections::BTreeMap::<String, u32>::new());
    for round in 0..60 {
        let (db, world) = (outbox(), World::capped(3));
        world.hold(|offer, app| {
            offer.min_seconds_to_convert = (round % 3 == 0).then_some(3_600);
            app.max_rewards_per_user_day = (round % 4 == 0).then_some(2);
        });
        if round % 5 == 0 {
            world.first(|offer| offer.once_per = domain::catalog::offer::OncePer::Click);
        }
        for _ in 0..25 {
            let click = u8::try_from(draw(&mut seed, 5)).unwrap();
            let status = Status::ALL[usize::try_from(draw(&mut seed, 4)).unwrap()];
            let mut postback = conversion(click).user(if click < 3 { "user-a" } else { "user-b" });
            if draw(&mut seed, 3) > 0 {
                postback = postback.status(Status::Approved);
            } else {
                postback = postback.status(status);
            }
            match draw(&mut seed, 6) {
                0 => postback = postback.goal("purchase"),
                1 => postback = postback.goal("nothing"),
                2 => postback = postback.txn("t-1"),
                3 => postback.click.clicked_at_ms = NOW - 31 * DAY_MS,
                4 => postback.click.clicked_at_ms = NOW - SECOND_MS,
                _ => {}
            }
            if draw(&mut seed, 20) == 0 {
                postback.advertiser = Some(advertiser("other"));
            }
            let tables =
                || ["outbox", "conversions", "entries", "reservations", "txns"].map(|table| crate::dump(&db, table));
            let before = tables();
            let says = checked(&db, &world, &postback);
            assert_eq!(tables(), before, "a check has written");
            let answered = send(&db, &world, &postback);
            let plain = says.map(|(status, duplicate, _)| (status, duplicate));
            assert_eq!(plain, answered, "{postback:?}");
            *seen.entry(format!("{says:?}")).or_default() += 1;
        }
        world.change(|offer| offer.conversion_window_days = 20);
    }
    // All kinds of answers came.
    for kind in [
        "approved",
        "pending",
        "rejected",
        "reversed",
        "TooFast",
        "TooManyToday",
        "unknown_goal",
        "invalid_token",
        "duplicate_txn",
        "already_rewarded",
        "conversion_capped",
        "conversion_window_closed",
    ] {
        assert!(seen.keys().any(|says| says.contains(kind)), "no {kind}: {seen:?}");
    }
}

#[test]
fn a_check_of_an_outbox_that_never_had_a_conversion_is_answered() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(checked(&db, &world, &conversion(1)), Ok(("approved", false, None)));
    assert_eq!(checked(&db, &world, &conversion(1).status(Status::Reversed)), Ok(("reversed", false, None)));
    let mut old = conversion(1);
    old.click.clicked_at_ms = NOW - 401 * DAY_MS;
    assert_eq!(checked(&db, &world, &old), Err("conversion_window_closed"));
}
