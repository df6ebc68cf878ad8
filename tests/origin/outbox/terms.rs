//! The terms by which a conversion is paid: those of its click, whatever has changed since.

use super::*;
use contract::outbox::{ClaimApp, Current};
use proptest::prelude::*;

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));

/// The questions that the catalog was asked.
fn questions(world: &World) -> Vec<(String, i64)> {
    world.catalog.borrow().questions.clone()
}

/// The payout in micro-USD of a paid conversion, and the currency's name.
fn paid(db: &Sqlite, transaction_id: &str) -> (i64, String) {
    let sql = "SELECT payout_micro_usd, fields ->> '$.currency' FROM entries WHERE transaction_id = ?";
    let row = db.query_first(sql, params![transaction_id]).unwrap().unwrap();
    (row.integer(0).unwrap(), row.text(1).unwrap().to_owned())
}

#[test]
fn the_catalog_is_asked_once_for_each_revision() {
    let (db, world) = (outbox(), World::new());
    for n in 1..=20 {
        assert_eq!(send(&db, &world, &conversion(n)), APPROVED);
    }
    assert_eq!(questions(&world), [("app".to_owned(), 1), (OFFER.to_owned(), 1)]);
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    for n in 21..=40 {
        assert_eq!(send(&db, &world, &conversion(n)), APPROVED);
        assert_eq!(send(&db, &world, &conversion(n + 100).under_current(&world)), APPROVED);
    }
    assert_eq!(questions(&world)[2..], [(OFFER.to_owned(), 2)]);
    // With the catalog gone, all of these go on.
    world.catalog_answers.set(false);
    for n in 41..=60 {
        assert_eq!(send(&db, &world, &conversion(n)), APPROVED);
        assert_eq!(send(&db, &world, &conversion(n + 100).under_current(&world)), APPROVED);
    }
    world.change(|offer| offer.goals[0].payout_micro_usd = 6);
    assert_eq!(send(&db, &world, &conversion(61)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(161).under_current(&world)), Err("unavailable"));
}

/// More offers than a process keeps in memory, each converted again and again.
#[test]
fn each_outbox_asks_once_for_each_of_a_thousand_offers() {
    const OFFERS: u16 = 1_000;
    for number in [0, 7] {
        let (db, world) = (outbox(), World::new());
        let mut catalog = world.catalog.borrow_mut();
        let offer = catalog.offer(OFFER).clone();
        let ids: Vec<_> = (0..OFFERS).map(|nth| format!("offer-{nth}")).collect();
        for id in &ids {
            catalog.offers.insert(OfferId::parse(id).unwrap(), offer.clone());
        }
        drop(catalog);
        for round in 0..3_u8 {
            for (nth, id) in (0..OFFERS).zip(&ids) {
                let mut postback = conversion(number);
                postback.nonce = Bytes([&[round; 10], &nth.to_be_bytes()[..]].concat());
                postback.click.offer = id.clone().into();
                postback.click.shard = number;
                postback.click.user_id = format!("{round} {nth}").into();
                assert_eq!(send(&db, &world, &postback), APPROVED);
            }
        }
        let mut asked = questions(&world);
        asked.sort();
        asked.dedup();
        assert_eq!((asked.len(), questions(&world).len()), (1_001, 1_001));
    }
}

#[test]
fn conversions_that_wait_for_a_revision_share_one_question() {
    let (db, world) = (outbox(), World::new());
    world.hold_catalog.set(true);
    let postbacks: Vec<_> = (1..=64).map(conversion).collect();
    let mut waiting: Vec<_> = postbacks.iter().map(|postback| Box::pin(send_postback(&db, &world, postback))).collect();
    let mut context = Context::from_waker(Waker::noop());
    for conversion in &mut waiting {
        assert!(conversion.as_mut().poll(&mut context).is_pending());
    }
    world.hold_catalog.set(false);
    while !waiting.is_empty() {
        waiting.retain_mut(|conversion| match conversion.as_mut().poll(&mut context) {
            Poll::Ready(answer) => answer.map(|_| false).unwrap(),
            Poll::Pending => true,
        });
    }
    assert_eq!(questions(&world), [("app".to_owned(), 1), (OFFER.to_owned(), 1)]);
}

#[test]
fn a_goal_that_came_after_the_click_is_paid_by_the_current_terms() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.goals.push(goal("g-3", "level", 3_000_000)));
    let late = |n: u8| conversion(n).goal("level");
    let id = convert(&db, &world, &late(1)).unwrap().transaction_id;
    assert_eq!(id, id_of(1, "g-3", Movement::Reward));
    assert_eq!(paid(&db, &id).0, 3_000_000);
    assert_eq!(send(&db, &world, &late(2).status(Status::Pending)), Ok(("pending", false)));
    // The goal is removed: a pending conversion can still be approved, a paid one reversed, and no new one begins.
    world.change(|offer| offer.goals.truncate(2));
    assert_eq!(send(&db, &world, &late(2)), APPROVED);
    assert_eq!(paid(&db, &id_of(2, "g-3", Movement::Reward)).0, 3_000_000);
    assert_eq!(send(&db, &world, &late(1).status(Status::Reversed)), Ok(("reversed", false)));
    assert_eq!(paid(&db, &id_of(1, "g-3", Movement::Reversal)).0, -3_000_000);
    assert_eq!(send(&db, &world, &late(3)), Err("unknown_goal"));
}

#[test]
fn an_unknown_goal_is_refused_permanently_only_on_a_recent_snapshot() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    world.has_snapshot.set(false);
    let current = world.catalog.borrow().current(OFFER);
    let answer = |current: Current| {
        let postback = Conversion { current, ..conversion(2).goal("g-9") };
        send(&db, &world, &postback)
    };
    let stale = Current { is_recent: false, ..current.clone() };
    let without_offer = Current { offer: None, ..current.clone() };
    assert_eq!(answer(current), Err("unknown_goal"));
    assert_eq!(answer(stale), Err("unavailable"));
    // The catalog is asked for an offer that has left the snapshots.
    world.catalog_answers.set(false);
    assert_eq!(answer(without_offer.clone()), Err("unavailable"));
    world.catalog_answers.set(true);
    assert_eq!(answer(without_offer), Err("unknown_goal"));
}

#[test]
fn an_outbox_pays_nothing_for_an_app_that_had_another_count_of_outboxes() {
    let claim = |outbox_shards| ClaimApp { outbox_shards, is_final: true };
    for known in [1, 64] {
        // Either the app's first outbox knows the number, or the outbox itself.
        let (db, world) = (outbox(), World::new());
        endpoint::claim_app(&world.keeper, shard(), claim(known)).unwrap();
        assert_eq!(send(&db, &world, &conversion(1)), Err("unavailable"));
        assert_eq!(dump(&db, "entries"), []);
        let (db, world) = (outbox(), World::new());
        endpoint::claim_app(&db, shard(), claim(known)).unwrap();
        assert_eq!(send(&db, &world, &conversion(1)), Err("unavailable"));
        assert_eq!(dump(&db, "entries"), []);
    }
    let (db, world) = (outbox(), World::new());
    endpoint::claim_app(&world.keeper, shard(), claim(8)).unwrap();
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    // A first outbox that does not answer is asked again.
    let (db, world) = (outbox(), World::new());
    world.keeper_answers.set(false);
    assert_eq!(send(&db, &world, &conversion(1)), Err("unavailable"));
    world.keeper_answers.set(true);
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
}

#[test]
fn an_outbox_never_goes_back_to_older_values() {
    let (db, world) = (outbox(), World::capped(5));
    let old = world.catalog.borrow().current(OFFER);
    world.cap(Some(7));
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    world.has_snapshot.set(false);
    for current in [old, conversion(1).current] {
        let n = u8::try_from(world.takes.borrow().len()).unwrap() + 1;
        let postback = Conversion { current, ..conversion(n) };
        assert_eq!(send(&db, &world, &postback), APPROVED);
    }
    let limits: Vec<_> = world.takes.borrow().iter().map(|take| (take.limit, take.revision)).collect();
    assert_eq!(limits, [(7, 3); 3]);
}

#[test]
fn the_first_conversion_knows_the_cap_although_its_snapshot_does_not() {
    let (db, world) = (outbox(), World::capped(1));
    world.has_snapshot.set(false);
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(2)), Err("conversion_capped"));
}

#[derive(Clone, Debug)]
enum Step {
    Payout(usize, i64),
    Rate,
    /// Which of three goals the offer has, as bits.
    Goals(u8),
    OfferSince(i64),
    AppSince(i64),
    Click(u8),
    /// A postback for a goal, approved or pending.
    Convert(u8, Option<usize>, bool),
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back_s = || prop_oneof![Just(0), 0..200_000_i64];
    let step = prop_oneof![
        3 => (0..3_usize, 1..9_000_000_i64).prop_map(|(goal, payout)| Step::Payout(goal, payout)),
        2 => Just(Step::Rate),
        2 => (1..8_u8).prop_map(Step::Goals),
        1 => back_s().prop_map(Step::OfferSince),
        1 => back_s().prop_map(Step::AppSince),
        4 => (0..20_u8).prop_map(Step::Click),
        8 => ((0..20_u8), proptest::option::of(0..3_usize), any::<bool>())
            .prop_map(|(n, goal, pending)| Step::Convert(n, goal, pending)),
        2 => (0..DAY_MS).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..80)
}

const GOALS: [&str; 3] = ["g-1", "g-2", "g-3"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The naive model remembers the whole offer at each click, and the offer of now.
    #[test]
    fn a_click_pays_what_it_promised_unless_terms_since_is_after_it(steps in steps()) {
        let (db, world) = (outbox(), World::new());
        world.first(|offer| offer.conversion_window_days = 90);
        let mut payouts = [750_000, 2_000_000, 1];
        let (mut mask, mut rate) = (0b011_u8, 0_usize);
        let (mut offer_since, mut app_since) = (0, 0);
        let mut clicks = std::collections::BTreeMap::new();
        // By click and name: the goal of the name since its first postback. By click and goal: the payout then, and
        // whether it was paid.
        let mut meanings = std::collections::BTreeMap::new();
        let mut known = std::collections::BTreeMap::new();
        let offered = |mask: u8, payouts: [i64; 3]| -> Vec<(&str, i64)> {
            let all = GOALS.into_iter().zip(payouts).enumerate();
            all.filter(|(nth, _)| mask >> nth & 1 == 1).map(|(_, goal)| goal).collect()
        };
        for step in steps {
            let now_s = world.now_ms.get() / SECOND_MS;
            match step {
                Step::Payout(nth, payout) => {
                    payouts[nth] = payout;
                    let goals = offered(mask, payouts).into_iter().map(|(id, payout)| goal(id, "", payout));
                    world.change(|offer| offer.goals = goals.collect());
                }
                Step::Goals(goals) => {
                    mask = goals;
                    let goals = offered(mask, payouts).into_iter().map(|(id, payout)| goal(id, "", payout));
                    world.change(|offer| offer.goals = goals.collect());
                }
                Step::Rate => {
                    rate += 1;
                    world.catalog.borrow_mut().change_app(|app| app.currency.name = format!("Coins {rate}"));
                }
                Step::OfferSince(back_s) => {
                    offer_since = offer_since.max(now_s - back_s);
                    world.catalog.borrow_mut().offer_since(OFFER, offer_since);
                }
                Step::AppSince(back_s) => {
                    app_since = app_since.max(now_s - back_s);
                    world.catalog.borrow_mut().app_since(app_since);
                }
                Step::Click(n) => {
                    let mut click = conversion(n).under_current(&world).click;
                    click.clicked_at_ms = world.now_ms.get();
                    clicks.entry(n).or_insert((click, offered(mask, payouts), rate));
                }
                Step::Convert(n, named, pending) => {
                    let Some((click, promised, promised_rate)) = clicks.get(&n) else { continue };
                    let status = if pending { Status::Pending } else { Status::Approved };
                    let postback = Conversion {
                        click: click.clone(),
                        goal: named.map(|nth| GOALS[nth].to_owned()),
                        ..conversion(n).status(status)
                    };
                    let now = offered(mask, payouts);
                    let terms = if click.clicked_at_ms < offer_since * SECOND_MS { &now } else { promised };
                    let meaning = meanings.get(&(n, named)).copied();
                    let find = |terms: &[(&'static str, i64)]| match (meaning, named) {
                        (Some(goal), _) => terms.iter().find(|(id, _)| *id == goal).copied(),
                        (None, None) => terms.first().copied(),
                        (None, Some(nth)) => terms.iter().find(|(id, _)| *id == GOALS[nth]).copied(),
                    };
                    let earlier = meaning.map(|goal| (goal, known[&(n, goal)]));
                    let expected = find(terms).or_else(|| find(&now)).or(earlier.map(|(goal, (payout, _))| (goal, payout)));
                    let name = match if click.clicked_at_ms < app_since * SECOND_MS { rate } else { *promised_rate } {
                        0 => "Coins".to_owned(),
                        rate => format!("Coins {rate}"),
                    };
                    let Some((goal, payout)) = expected else {
                        prop_assert!(convert(&db, &world, &postback).is_err());
                        continue;
                    };
                    let answer = convert(&db, &world, &postback).unwrap();
                    prop_assert_eq!(&answer.transaction_id, &id_of(n, goal, Movement::Reward));
                    let before = known.get(&(n, goal)).copied();
                    let was_paid = before.is_some_and(|(_, is_paid)| is_paid);
                    // A paid goal stays as it is; a pending one is a repeat of itself.
                    prop_assert_eq!(answer.duplicate, was_paid || (pending && before.is_some()));
                    if !pending && !was_paid {
                        prop_assert_eq!(paid(&db, &answer.transaction_id), (payout, name));
                    }
                    if !answer.duplicate || meaning.is_none() {
                        meanings.insert((n, named), goal);
                        known.insert((n, goal), (payout, was_paid || !pending));
                    }
                }
                Step::Pass(ms) => world.pass(ms),
            }
        }
        let mut asked = questions(&world);
        asked.sort();
        let all = asked.len();
        asked.dedup();
        prop_assert_eq!(asked.len(), all, "a revision was asked for twice");
    }
}
