//! A receiver that was written from docs/INTEGRATING.md alone ("Callbacks") pays each reward once and nothing else, whatever
//! URL saving accepts.

mod receiver;

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use proptest::{
    prelude::*,
    sample::{Index, select, subsequence},
};

use super::{settlement::settle, *};
use domain::{
    callbacks::{
        fields::{Fields, Status as Told, TABLE},
        request::{Endpoint, Request},
        settings::CallbackMethod,
    },
    catalog::app::App,
    conversions::{state::Reason, table::Action},
    model::{document::Document, time::HOUR_MS},
};
use receiver::{Ledger, Place, Receiver, Repeats, Settings, add, millionths};

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Delivered,
    /// It arrives, and its answer is lost.
    Unanswered,
    Lost,
    /// It is given up, and arrives later.
    Late,
    /// Nothing is known of it when the next attempt is made, and it arrives later.
    Overlapping,
    /// It does not arrive, and something before the receiver ends the callback.
    Dead,
}

#[derive(Clone, Debug)]
enum Step {
    /// A postback of a click, numbered from 1.
    Postback(u8, &'static str, Status),
    Settled(u8, &'static str, Action),
    /// Every attempt that is due is made.
    Attempts(Vec<Fate>),
    /// A request that was under way arrives at last.
    Arrives(Index),
    Passes(i64),
}

/// An outbox and its receivers. Each receiver gets every request in its own form.
struct Network {
    db: Sqlite,
    world: World,
    events: Events,
    receivers: Vec<(Endpoint, Receiver)>,
    /// Requests that will arrive, with their times in seconds.
    travelling: Vec<(Fields, i64)>,
}

impl Network {
    /// For receivers of the same events.
    fn new(receivers: impl IntoIterator<Item = Receiver>) -> Self {
        let with_endpoint = |receiver: Receiver| (receiver.settings.endpoint(), receiver);
        let receivers: Vec<_> = receivers.into_iter().map(with_endpoint).collect();
        let world = World::paying_each_click();
        let events = receivers[0].0.events;
        world.events.set(events);
        Self { db: outbox(), world, events, receivers, travelling: Vec::new() }
    }

    fn arrive(&mut self, fields: &Fields, timestamp: i64) {
        for (endpoint, receiver) in &mut self.receivers {
            receiver.receive(&endpoint.request(fields, timestamp));
        }
    }

    fn attempt(&mut self, fates: &[Fate]) {
        let now_ms = self.world.now_ms.get();
        let callbacks = claim_of(&self.db, now_ms, self.events);
        for (callback, fate) in callbacks.iter().zip(fates.iter().cycle()) {
            match fate {
                Fate::Delivered | Fate::Unanswered => self.arrive(&callback.fields, now_ms / SECOND_MS),
                Fate::Late | Fate::Overlapping => self.travelling.push((callback.fields.clone(), now_ms / SECOND_MS)),
                Fate::Lost | Fate::Dead => {}
            }
            match fate {
                Fate::Delivered => answer(&self.db, now_ms, callback, 200),
                Fate::Unanswered | Fate::Lost | Fate::Late => answer(&self.db, now_ms, callback, 500),
                Fate::Dead => abort(&self.db, now_ms, callback),
                Fate::Overlapping => {}
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Postback(click, goal, status) => {
                let user = if *click < 4 { "ann" } else { "bob" };
                let postback = conversion(*click).user(user).goal(goal).status(*status);
                let _ = send(&self.db, &self.world, &postback);
            }
            Step::Settled(click, goal, action) => {
                let id = id_of(*click, goal, Movement::Reward);
                let _ = settle(&self.db, &self.world, &id, *action, &[Reason::TooFast]);
            }
            Step::Attempts(fates) => self.attempt(fates),
            Step::Arrives(_) if self.travelling.is_empty() => {}
            Step::Arrives(index) => {
                let (fields, timestamp) = self.travelling.swap_remove(index.index(self.travelling.len()));
                self.arrive(&fields, timestamp);
            }
            Step::Passes(ms) => self.world.pass(*ms),
        }
    }

    /// Makes attempts until no callback waits.
    fn deliver(&mut self) {
        let due = "SELECT MIN(due_ms) FROM entries WHERE delivery = 0";
        for _ in 0..100 {
            let Some(due_ms) = self.db.query_integer(due, &[]).unwrap() else {
                return;
            };
            self.world.now_ms.set(due_ms.max(self.world.now_ms.get()));
            self.attempt(&[Fate::Delivered]);
        }
        panic!("a callback is never delivered");
    }

    /// The payments and reversals that the receiver should know, in the fields that it reads.
    fn paid(&self, settings: &Settings) -> Ledger {
        let db = &self.db;
        let mut ledger = Ledger::new();
        let sql = "SELECT after IS NULL, fields ->> '$.user_id', fields ->> '$.value', payout_micro_usd FROM entries
            WHERE delivery IS NOT NULL AND notice IS NULL";
        let mut revenue = 0;
        for row in db.query(sql, &[]).unwrap() {
            let (value, payout) = (millionths(row.text(2).unwrap()), row.integer(3).unwrap());
            revenue += payout;
            let (status, rewards) = if row.boolean(0).unwrap() { (Told::Approved, 1) } else { (Told::Reversed, -1) };
            if settings.is_told_of(status) {
                let user = if settings.has("user_id") { row.text(1).unwrap() } else { "" };
                let read = |field, amount| if settings.has(field) { amount } else { 0 };
                add(&mut ledger, user, [rewards, read("value", value), read("payout", payout)]);
            }
        }
        // The same money went to the publisher's revenue.
        let told: i64 = payments(db).iter().map(|row| row.integer(4).unwrap()).sum();
        assert_eq!(told, revenue);
        ledger
    }
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    // Fields that a receiver needs are drawn more often. The last two spellings are foreign, so saving refuses them.
    const NEEDED: [&str; 6] = ["transaction_id", "status", "value", "user_id", "payout", "original_transaction_id"];
    const SPELLINGS: [&str; 14] =
        ["{x}", "{x}", "{x}", "{x}", "{x}", "{x}", "{x}", "{x}", "%7Bx%7D", "%7bx%7d", "{x%7D", "%7Bx}", "[X]", "${x}"];
    let fields = TABLE.map(|(name, _)| name).to_vec();
    let others = subsequence([fields.clone(), vec!["ts"]].concat(), 0..5);
    let named = (subsequence(NEEDED.as_slice(), 2..=6), others)
        .prop_map(|(needed, others)| BTreeSet::from_iter([needed, others].concat()).into_iter().collect())
        .prop_shuffle();
    // A parameter may have the name of another field.
    let names = Just(fields).prop_shuffle();
    let texts = select([("", ""), ("", ""), ("u-", ""), ("~", ".json")].as_slice());
    let style = (any::<bool>(), 0..4_u8, texts, select(SPELLINGS.as_slice()));
    let styles = prop::collection::vec(style, TABLE.len());
    (named, names, styles).prop_map(|(named, names, styles): (Vec<_>, _, _)| {
        let mut styles = styles.into_iter().zip(names).enumerate();
        let place = |field| {
            let (number, ((is_fields, place, around, spelling), name)) = styles.next().unwrap();
            let name = if is_fields { name.to_owned() } else { format!("p{number}") };
            let parameter = (place > 0).then_some(name);
            Place { field, parameter, around, spelling }
        };
        named.into_iter().map(place).collect()
    })
}

/// Settings with the same events, some of them those that saving takes.
fn settings(is_kept: fn(&Settings) -> bool) -> impl Strategy<Value = Vec<Settings>> {
    let events = prop::option::of(subsequence(Told::ALL.as_slice(), 1..=4));
    let shape = prop_oneof![
        1 => Just((CallbackMethod::Post, Vec::new())),
        1 => Just((CallbackMethod::Get, Vec::new())),
        8 => places().prop_map(|places| (CallbackMethod::Get, places)),
    ];
    let settings = prop::collection::vec((shape, prop::bool::weighted(0.2)), 24);
    (events, settings).prop_filter_map("none of these settings is kept", move |(events, settings)| {
        let one = |((method, places), has_md5)| Settings { places, method, events: events.clone(), has_md5 };
        let kept: Vec<_> = settings.into_iter().map(one).filter(is_kept).collect();
        (!kept.is_empty()).then_some(kept)
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use {Fate as F, Step as S};
    let fates = [F::Delivered, F::Delivered, F::Unanswered, F::Lost, F::Late, F::Overlapping, F::Dead];
    let fates = prop::collection::vec(select(fates.to_vec()), 1..5);
    let of_goal = || (1..=5_u8, select(["g-1", "g-2"].as_slice()));
    let status = select(Status::ALL.as_slice());
    let action = select(Action::ALL.as_slice());
    let step = prop_oneof![
        6 => (of_goal(), status).prop_map(|((click, goal), status)| S::Postback(click, goal, status)),
        1 => (of_goal(), action).prop_map(|((click, goal), action)| S::Settled(click, goal, action)),
        6 => fates.prop_map(S::Attempts),
        2 => any::<Index>().prop_map(S::Arrives),
        3 => select([SECOND_MS, 20 * SECOND_MS, HOUR_MS, DAY_MS].as_slice()).prop_map(S::Passes),
    ];
    prop::collection::vec(step, 5..40)
}

/// Whether saving refuses the settings because they do not tell rewards apart.
fn is_refused(settings: &Settings) -> bool {
    let is_refused = settings.problem().is_some_and(|problem| problem.starts_with("must have {"));
    // A receiver without a transaction id cannot pay twice if it is told of no rewards.
    is_refused && (settings.has("transaction_id") || settings.is_told_of(Told::Approved))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_receiver_that_follows_the_manual_pays_each_reward_once_and_nothing_else(
        settings in settings(|settings| settings.problem().is_none()),
        steps in steps(),
        is_held in any::<bool>(),
        // At the last rate each reward is less than the smallest amount.
        per_usd in select([100_000_000, 1_500_000, 1].as_slice()),
    ) {
        let receivers = settings.iter().map(|settings| Receiver::new(settings, Repeats::ByTransaction));
        let mut network = Network::new(receivers);
        network.world.catalog.borrow_mut().first_app(|app| app.currency.per_usd = PerUsd(per_usd));
        if is_held {
            network.world.hold(|offer, _| offer.min_seconds_to_convert = Some(25 * 3_600));
        }
        for step in &steps {
            network.step(step);
        }
        network.deliver();
        // "After an outage of more than 4 days, send the dead letters again."
        replay_many(&network.db, network.world.now_ms.get(), RewardDelivery::Dead);
        network.deliver();
        for (fields, timestamp) in std::mem::take(&mut network.travelling) {
            network.arrive(&fields, timestamp);
        }
        for (_, Receiver { settings, ledger, .. }) in &network.receivers {
            let mut paid = network.paid(settings);
            if per_usd == 1 && !settings.has("status") && settings.has("value") && !settings.has("payout") {
                paid.clear();
            }
            prop_assert_eq!(ledger, &paid, "{:?}", settings);
        }
    }

    /// Six rewards, one reversal and one rejected conversion. Each callback comes twice.
    #[test]
    fn a_url_that_is_refused_when_saved_would_pay_wrong_rewards(settings in settings(is_refused)) {
        let receivers = settings.iter().flat_map(|settings| {
            let without = [Repeats::ByContent, Repeats::Never].as_slice();
            let repeats = if settings.has("transaction_id") { &[Repeats::ByTransaction] } else { without };
            repeats.iter().map(|repeats| Receiver::new(settings, *repeats))
        });
        let mut network = Network::new(receivers);
        for (clicks, status) in [
            (1..=7, Status::Pending),
            (1..=6, Status::Approved),
            (6..=6, Status::Reversed),
            (7..=7, Status::Rejected),
        ] {
            clicks.for_each(|click| network.step(&Step::Postback(click, "g-1", status)));
            network.attempt(&[Fate::Unanswered]);
        }
        network.deliver();
        for (_, Receiver { settings, ledger, repeats, .. }) in &network.receivers {
            prop_assert_ne!(ledger, &network.paid(settings), "{:?} {:?}", repeats, settings);
        }
    }
}
