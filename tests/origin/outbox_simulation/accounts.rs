//! Invariants of caps and money: compares the outbox with the counters and the ledger.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt;

use super::{
    catalog::OFFERS,
    model::{DEAD, Entry, NOT_WANTED},
    world::{World, app, shard},
};
use contract::{counters::OfferStats, ledger::ReadOffers, outbox::OutboxDay};
use domain::model::{OfferId, time::UtcDay};
use origin::{
    delivery::batches,
    http::comparison::{Comparison, read_day},
    objects::outbox::sums::day,
};
use platform::database::Database;

impl World {
    pub fn check_caps(&self, entries: &[Entry]) {
        let reserved = self.env.db.query("SELECT nonce, goal FROM reservations", &[]).unwrap();
        let key = |nonce: &[u8], goal: &str| format!("{}/{goal}", hex(nonce));
        let mut known: BTreeSet<_> =
            reserved.iter().map(|row| key(row.blob(0).unwrap(), row.text(1).unwrap())).collect();
        let paid = entries.iter().filter(|entry| entry.is_payment());
        for entry in paid {
            let key = key(&entry.nonce, &entry.goal);
            if entry.fields.contains(r#""offer_id":"capped""#) {
                let capped = OfferId::parse(OFFERS[0]).unwrap();
                let taken = self.model.taken.get(&capped).is_some_and(|taken| taken.contains(&key));
                assert!(taken, "{key} is paid without a take");
            }
            known.insert(key);
        }
        for key in self.model.taken.values().flatten() {
            let is_used = known.contains(key) || self.model.stray.contains(key);
            assert!(is_used || self.model.faults, "the take {key} is unused");
        }
        for db in self.counters.values() {
            let sql = "SELECT day, offer, COUNT(*) FROM takes GROUP BY day, offer";
            for row in db.query(sql, &[]).unwrap() {
                let day = UtcDay::from_number(row.integer(0).unwrap()).unwrap();
                let offer = OfferId::parse(row.text(1).unwrap()).unwrap();
                let key = (offer, day);
                let forced = self.model.forced.get(&key).map_or(0, BTreeSet::len);
                let highest = self.model.highest[&key];
                let taken = row.integer(2).unwrap();
                assert!(
                    taken <= i64::from(highest) + forced as i64,
                    "{taken} of {highest} taken on {day}, {forced} by force"
                );
            }
        }
    }

    /// The payments in the log up to the last batch of each receiver equal the sums that it has applied.
    pub fn check_money(&self, entries: &[Entry]) {
        let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.is_payment()) {
            let offer = OFFERS.into_iter().find(|offer| entry.fields.contains(&format!(r#""offer_id":"{offer}""#)));
            let counters = contract::counters::object_name(&OfferId::parse(offer.unwrap()).unwrap());
            for destination in ["ledger".to_owned(), counters] {
                let applied = self.model.applied_batches.get(&destination);
                if applied.is_some_and(|applied| entry.movement <= Some(applied.0)) {
                    let sum = expected.entry(destination).or_default();
                    sum.0 += if entry.after.is_none() { 1 } else { -1 };
                    sum.1 += entry.payout;
                }
            }
        }
        for (name, (_, conversions, revenue)) in &self.model.applied_batches {
            let expected = expected[name];
            // A ledger gets no count of conversions.
            let conversions = if name == "ledger" { expected.0 } else { *conversions };
            assert_eq!((conversions, *revenue), expected, "{name}");
        }
    }

    fn read_day(&self, day: UtcDay) -> OutboxDay {
        let step = async |step| day::read(&self.env.db, step, 3);
        let mark = batches::mark_of(&self.env.db, "ledger").unwrap();
        read_day(day, mark, step).now_or_never().unwrap().unwrap()
    }

    /// At the end the ledger's facts equal the logs, too.
    fn check_ledger_of_days(&self, entries: &[Entry]) {
        let paid = entries.iter().filter(|entry| entry.is_payment());
        for of in paid.map(Entry::paid_on).collect::<BTreeSet<_>>() {
            let found = self.read_day(of);
            if of > UtcDay::of_ms(self.now_ms()).minus(400) {
                let read = ReadOffers { app: app(), day: of, sources: vec![shard().object_name()] };
                let counted = origin::objects::ledger::offers::counted(&self.ledger, &read).unwrap();
                let compared = Comparison::new(app(), of, &[(3, found)], counted);
                let json = serde_json::to_value(&compared).unwrap();
                assert_eq!(json["outboxes"][0]["difference_micro_usd"], 0, "{json}");
                assert_eq!(compared.difference_micro_usd, 0, "{compared:?}");
            }
        }
    }

    pub fn check_end(&mut self) {
        let entries = self.entries();
        self.check_ledger_of_days(&entries);
        let paid = || entries.iter().filter(|entry| entry.is_payment());
        for entry in paid() {
            let has_accepted = self.receivers.has_accepted(&entry.transaction_id);
            assert!(
                has_accepted || matches!(entry.delivery, Some(DEAD | NOT_WANTED)),
                "{} was never delivered",
                entry.transaction_id
            );
        }
        let mut by_day: BTreeMap<UtcDay, i64> = BTreeMap::new();
        let mut by_offer: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        let today = UtcDay::of_ms(self.now_ms());
        for entry in paid() {
            let fields: serde_json::Value = serde_json::from_str(&entry.fields).unwrap();
            let day = entry.paid_on();
            *by_day.entry(day).or_default() += entry.payout;
            if day > today.minus(30) {
                let sum = by_offer.entry(fields["offer_id"].as_str().unwrap().to_owned()).or_default();
                sum.0 += if entry.after.is_none() { 1 } else { -1 };
                sum.1 += entry.payout;
            }
        }
        let sql = "SELECT day, SUM(revenue) FROM segments WHERE upload = 0 GROUP BY day";
        let rows = self.ledger.query(sql, &[]).unwrap();
        let mut ledger: BTreeMap<_, _> = rows
            .iter()
            .map(|row| (UtcDay::from_number(row.integer(0).unwrap()).unwrap(), row.integer(1).unwrap()))
            .collect();
        ledger.retain(|_, revenue| *revenue != 0);
        by_day.retain(|_, revenue| *revenue != 0);
        assert_eq!(ledger, by_day, "the ledger's days");

        let mut shown: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for db in self.counters.values() {
            let command = contract::counters::Command::Stats(contract::counters::Stats { today, after: None });
            let contract::counters::Reply::Stats(stats) = crate::ask_counters(db, self.now_ms(), command).unwrap()
            else {
                panic!("no statistics");
            };
            for sum in serde_json::from_str::<Vec<OfferStats>>(stats.get()).unwrap() {
                let conversions = i64::try_from(sum.conversions).unwrap();
                shown.insert(sum.offer.to_string(), (conversions, sum.payout_micro_usd));
            }
        }
        for offer in OFFERS {
            let expected = by_offer.get(offer).map_or((0, 0), |sum| (sum.0.max(0), sum.1.max(0)));
            assert_eq!(shown.get(offer).copied().unwrap_or_default(), expected, "statistics of {offer}");
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
