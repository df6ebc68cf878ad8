//! The invariants once everything has settled, against a model of the flushed clicks and the payments in the outboxes'
//! logs.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    edge::OUTBOXES,
    world::{COUNTERS, LEDGER, World},
};
use crate::{
    ask_counters,
    outbox_simulation::{
        accounts::hex,
        catalog::OFFERS,
        model::{DEAD, DELIVERED, Entry},
        world::app,
    },
};
use contract::{
    attention::{self, Kind},
    counters::{Command, OfferStats, Reply, Stats},
    ledger::DayState,
    outbox::OutboxShard,
};
use domain::{
    conversions::state::Status,
    model::time::UtcDay,
    reporting::{Measure, metric::get},
};
use origin::objects::ledger::segments::{self, Layer};
use platform::database::Database;

/// The conversion cap of the first offer.
pub const CAP: usize = 3;

/// Clicks or conversions, and revenue.
pub type Sums = (i64, i64);

pub fn add(to: &mut Sums, more: Sums) {
    *to = (to.0 + more.0, to.1 + more.1);
}

/// The payments of an outbox.
pub struct Paid {
    pub outbox: String,
    pub entry: Entry,
}

impl Paid {
    pub fn offer(&self) -> String {
        let fields: serde_json::Value = serde_json::from_str(&self.entry.fields).unwrap();
        fields["offer_id"].as_str().unwrap().to_owned()
    }

    pub fn is_reward(&self) -> bool {
        self.entry.after.is_none()
    }
}

/// An open item for the operator's attention.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: Kind,
    pub source: String,
    pub subject: String,
    pub reason: String,
    pub app: Option<i64>,
}

impl World {
    fn entries(&self, outbox: usize) -> Vec<Entry> {
        Entry::all(&self.actors[outbox].env.db)
    }

    pub fn paid(&self) -> Vec<Paid> {
        let outboxes = 0..OUTBOXES.len();
        outboxes
            .flat_map(|nth| {
                let outbox = self.name(nth);
                let paid = self.entries(nth).into_iter().filter(Entry::is_payment);
                paid.map(move |entry| Paid { outbox: outbox.clone(), entry })
            })
            .collect()
    }

    /// The open items, as the operator's attention lists them.
    pub fn items(&self) -> Vec<Item> {
        let Some(db) = self.activities.get(attention::OBJECT_NAME) else {
            return vec![];
        };
        let sql = "SELECT kind, source, subject, reason, app FROM attention_items";
        let rows = db.query(sql, &[]).unwrap();
        rows.iter()
            .map(|row| Item {
                kind: row.decode(0, Kind::from_number).unwrap(),
                source: row.text(1).unwrap().to_owned(),
                subject: row.text(2).unwrap().to_owned(),
                reason: row.text(3).unwrap().to_owned(),
                app: row.optional_integer(4).unwrap(),
            })
            .collect()
    }

    /// Checks that sums agree and days are final. Nothing was put back.
    pub fn check_sums(&self) -> BTreeSet<UtcDay> {
        let paid = self.paid();
        self.check_conversions(&paid);
        self.check_counters(&paid);
        let days = self.check_ledger(&paid);
        self.check_days(&days);
        self.check_items();
        days
    }

    /// The same once callbacks have had the time for their last attempts, and a restatement would change nothing.
    pub fn check(&mut self) {
        let days = self.check_sums();
        self.check_callbacks(&self.paid());
        self.check_restatements(&days);
    }

    /// Each click and goal has one reward, and one reversal at most, of the amount; as the answers said.
    fn check_conversions(&self, paid: &[Paid]) {
        let told = &self.edge.told;
        let mut rewards: BTreeMap<(&[u8], &str), &Paid> = BTreeMap::new();
        let mut reversed: BTreeSet<&str> = BTreeSet::new();
        for paid in paid.iter().filter(|paid| paid.is_reward()) {
            let entry = &paid.entry;
            let another = rewards.insert((&entry.nonce, &entry.goal), paid);
            assert!(another.is_none(), "{:?} is paid twice", entry.nonce);
            assert!(told.was_sent(entry.nonce[0], Status::Approved));
        }
        for reversal in paid.iter().filter(|paid| !paid.is_reward()) {
            let entry = &reversal.entry;
            let reward = rewards[&(entry.nonce.as_slice(), entry.goal.as_str())];
            assert_eq!(entry.payout, -reward.entry.payout);
            let is_first = reversed.insert(&reward.entry.transaction_id);
            assert!(is_first, "{} is reversed twice", reward.entry.transaction_id);
            let ends = [Status::Reversed, Status::Rejected];
            assert!(ends.iter().any(|status| told.was_sent(entry.nonce[0], *status)));
        }
        let paid_ids: BTreeSet<_> = rewards.values().map(|reward| reward.entry.transaction_id.as_str()).collect();
        let mut ids = BTreeMap::new();
        for (converted, answer) in told.answers.borrow().iter() {
            let id = answer.transaction_id.as_str();
            let first = ids.entry(converted.clone()).or_insert_with(|| id.to_owned());
            assert_eq!(first, id, "{converted:?} has two ids");
            match answer.status {
                Status::Approved => assert!(paid_ids.contains(id), "{id} was approved, and is not paid"),
                Status::Reversed => assert!(!paid_ids.contains(id) || reversed.contains(id), "{id} stands"),
                _ => {}
            }
        }
        let standing = rewards.values().filter(|reward| !reversed.contains(reward.entry.transaction_id.as_str()));
        let mut once = BTreeSet::new();
        for reward in standing.filter(|reward| reward.offer() == OFFERS[1]) {
            let key = (reward.entry.user.clone(), reward.entry.goal.clone());
            assert!(once.insert(key.clone()), "{key:?} has two rewards");
        }
        let capped = rewards.values().filter(|reward| reward.offer() == OFFERS[0]);
        self.check_cap(&capped.map(|reward| &reward.entry).collect::<Vec<_>>());
    }

    /// Each reward of the capped offer was taken from the cap of the day on which it was received, once.
    fn check_cap(&self, rewards: &[&Entry]) {
        let mut taken: BTreeMap<String, UtcDay> = BTreeMap::new();
        let mut of_day: BTreeMap<UtcDay, usize> = BTreeMap::new();
        let sql = "SELECT key, day FROM takes WHERE offer = ?";
        let db = &self.actors[COUNTERS].env.db;
        for row in db.query(sql, platform::params![OFFERS[0]]).unwrap() {
            let day = UtcDay::from_number(row.integer(1).unwrap()).unwrap();
            *of_day.entry(day).or_default() += 1;
            taken.insert(row.text(0).unwrap().to_owned(), day);
        }
        assert!(of_day.values().all(|taken| *taken <= CAP), "{of_day:?}");
        for reward in rewards {
            let key = format!("{}/{}", hex(&reward.nonce), reward.goal);
            let day = taken.remove(&key);
            // A reservation may wait for the counters past midnight.
            assert!(day.is_some_and(|day| day <= reward.paid_on()), "{key} is paid without a take");
        }
    }

    /// Each payment was delivered, or the operator knows that it was not.
    fn check_callbacks(&self, paid: &[Paid]) {
        let items = self.items();
        for Paid { entry, .. } in paid {
            let id = &entry.transaction_id;
            match entry.delivery {
                Some(DELIVERED) => assert!(self.receivers.has_accepted(id)),
                Some(DEAD) => {
                    let is_item = |item: &Item| item.kind == Kind::Dead && item.subject == *id;
                    assert!(items.iter().any(is_item), "nobody knows that {id} is dead");
                }
                other => panic!("{id}: {other:?}"),
            }
        }
    }

    /// The ledger has what the model has. Returns the days with sums.
    fn check_ledger(&self, paid: &[Paid]) -> BTreeSet<UtcDay> {
        let db = &self.actors[LEDGER].env.db;
        let mut by_offer: BTreeMap<(UtcDay, String), Sums> = BTreeMap::new();
        let mut by_source: BTreeMap<(UtcDay, String), Sums> = BTreeMap::new();
        for ((source, day, offer), clicks) in self.edge.told.flushed.borrow().iter() {
            add(by_offer.entry((*day, offer.clone())).or_default(), (*clicks, 0));
            add(by_source.entry((*day, source.clone())).or_default(), (*clicks, 0));
        }
        for paid in paid {
            let (day, revenue) = (paid.entry.paid_on(), (0, paid.entry.payout));
            add(by_offer.entry((day, paid.offer())).or_default(), revenue);
            add(by_source.entry((day, paid.outbox.clone())).or_default(), revenue);
        }
        let days: BTreeSet<UtcDay> = by_source.keys().map(|(day, _)| *day).collect();
        let day = |row: &platform::database::Row, column| UtcDay::from_number(row.integer(column).unwrap()).unwrap();
        let mut shown: BTreeMap<(UtcDay, String), Sums> = BTreeMap::new();
        for row in db.query("SELECT DISTINCT day FROM segments", &[]).unwrap() {
            let day = day(&row, 0);
            segments::each_row(db, day, Layer::Offers, |key, sums| {
                let [of_app, _, _, offer, _, _] = *key;
                assert_eq!(of_app, app().to_string());
                let more = (get(sums, Measure::Clicks), get(sums, Measure::Revenue));
                add(shown.entry((day, offer.to_owned())).or_default(), more);
            })
            .unwrap();
        }
        let mut totals: BTreeMap<(UtcDay, String), Sums> = BTreeMap::new();
        let sql = "SELECT day, source, clicks, revenue_micro_usd FROM totals";
        for row in db.query(sql, &[]).unwrap() {
            let key = (day(&row, 0), row.text(1).unwrap().to_owned());
            totals.insert(key, (row.integer(2).unwrap(), row.integer(3).unwrap()));
        }
        for sums in [&mut by_offer, &mut by_source, &mut shown, &mut totals] {
            sums.retain(|_, sums| *sums != (0, 0));
        }
        assert_eq!(shown, by_offer, "the ledger by day and offer");
        assert_eq!(totals, by_source, "the ledger by day and source");
        days
    }

    /// The offers' figures, which cover 30 days, are those of the outboxes and of the flushes.
    fn check_counters(&self, paid: &[Paid]) {
        let today = UtcDay::of_ms(self.now_ms());
        let is_covered = |day: UtcDay| day > today.minus(30);
        // Clicks; conversions and payout.
        let mut expected: BTreeMap<String, (i64, Sums)> = BTreeMap::new();
        for ((_, day, offer), clicks) in self.edge.told.flushed.borrow().iter() {
            if is_covered(*day) {
                expected.entry(offer.clone()).or_default().0 += clicks;
            }
        }
        for paid in paid.iter().filter(|paid| is_covered(paid.entry.paid_on())) {
            let conversions = if paid.is_reward() { 1 } else { -1 };
            add(&mut expected.entry(paid.offer()).or_default().1, (conversions, paid.entry.payout));
        }
        let mut shown: BTreeMap<String, (i64, Sums)> = BTreeMap::new();
        for nth in COUNTERS..LEDGER {
            let command = Command::Stats(Stats { today, after: None });
            let reply = ask_counters(&self.actors[nth].env.db, self.now_ms(), command).unwrap();
            let Reply::Stats(stats) = reply else {
                panic!("{reply:?}");
            };
            for stats in serde_json::from_str::<Vec<OfferStats>>(stats.get()).unwrap() {
                let sums = shown.entry(stats.offer.to_string()).or_default();
                sums.0 += i64::try_from(stats.clicks).unwrap();
                add(&mut sums.1, (i64::try_from(stats.conversions).unwrap(), stats.payout_micro_usd));
            }
        }
        for offers in [&mut expected, &mut shown] {
            for (_, (conversions, payout)) in offers.values_mut() {
                (*conversions, *payout) = ((*conversions).max(0), (*payout).max(0));
            }
            offers.retain(|_, sums| *sums != (0, (0, 0)));
        }
        assert_eq!(shown, expected, "the offers' figures");
    }

    /// Each day with sums is final, and each source that has some has vouched for it.
    fn check_days(&self, days: &BTreeSet<UtcDay>) {
        let db = &self.actors[LEDGER].env.db;
        for day in days {
            let sql = "SELECT t.source FROM totals t LEFT JOIN marks m ON m.source = t.source
                WHERE t.day = ?1 AND (m.vouched IS NULL OR m.vouched < ?1 OR t.differs > 0)";
            let silent = db.query(sql, platform::params![day.number()]).unwrap();
            assert!(silent.is_empty(), "{day}: {silent:?}");
            let sql = "SELECT state FROM loads WHERE day = ?";
            let state = db.query_first(sql, platform::params![day.number()]).unwrap();
            let state = state.map(|row| row.decode(0, DayState::from_number).unwrap());
            assert_eq!(state, Some(DayState::Final), "{day}");
        }
    }

    /// Nothing differs, is unconfirmed, late or refused.
    fn check_items(&self) {
        let is_about_sums =
            |item: &Item| matches!(item.kind, Kind::Differs | Kind::Unconfirmed | Kind::BatchLate | Kind::BatchRefused);
        let items: Vec<_> = self.items().into_iter().filter(is_about_sums).collect();
        for item in items.iter().filter(|item| item.kind == Kind::Differs) {
            self.check_differing(item);
        }
        assert!(items.is_empty(), "{items:?}");
    }

    /// An item about a difference names the day, the app or the publisher, the source and the side that is behind.
    pub fn check_differing(&self, item: &Item) {
        let sides = ["ledger_behind", "log_behind"];
        assert!(sides.contains(&item.reason.as_str()), "{item:?}");
        assert!((0..LEDGER).any(|nth| self.name(nth) == item.source), "{item:?}");
        let (publisher, day) = item.subject.split_once(": ").unzip();
        assert!(UtcDay::parse(day.unwrap_or(&item.subject)).is_some(), "{item:?}");
        match OutboxShard::of_object(&item.source) {
            Some(shard) => assert_eq!(item.app, Some(i64::from(shard.app.number())), "{item:?}"),
            None => assert_eq!(publisher, Some("acme"), "{item:?}"),
        }
    }

    /// A restatement of a day would change nothing.
    fn check_restatements(&mut self, days: &BTreeSet<UtcDay>) {
        for day in days {
            self.send([self.edge.restate(*day)]);
            self.resolve_all();
            let told = self.edge.told.restated.borrow_mut().remove(day).unwrap();
            let reply: serde_json::Value = serde_json::from_str(&told.unwrap()).unwrap();
            assert_eq!(reply["before"], reply["after"], "{reply}");
            for list in ["apps", "not_kept"] {
                assert_eq!(reply[list], serde_json::json!([]), "{reply}");
            }
        }
    }
}
