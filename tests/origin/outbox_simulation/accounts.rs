//! What must hold of caps and money: what the outbox holds against what the counters and the ledger have.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    catalog::OFFERS,
    model::{DEAD, Entry, sums},
    world::{World, day_of},
};
use contract::counters::OfferStats;
use domain::model::{OfferId, time::UtcDay};
use origin::{batches, counters};
use platform::database::Database;

impl World {
    pub fn check_caps(&self, entries: &[Entry]) {
        let reserved = self
            .out
            .db
            .query("SELECT nonce, goal FROM reservations", &[])
            .unwrap();
        let key = |nonce: &[u8], goal: &str| format!("{}/{goal}", hex(nonce));
        let mut known: BTreeSet<_> = reserved
            .iter()
            .map(|row| key(row.blob(0).unwrap(), row.text(1).unwrap()))
            .collect();
        let paid = entries.iter().filter(|entry| entry.delivery.is_some());
        for entry in paid {
            let key = key(&entry.nonce, &entry.goal);
            if entry.fields.contains(r#""offer_id":"capped""#) {
                let capped = OfferId::parse(OFFERS[0]).unwrap();
                let taken = self
                    .model
                    .taken
                    .get(&capped)
                    .is_some_and(|taken| taken.contains(&key));
                assert!(taken, "{key} is paid and not taken");
            }
            known.insert(key);
        }
        for key in self.model.taken.values().flatten() {
            let is_used = known.contains(key) || self.model.stray.contains(key);
            assert!(is_used || self.model.faults, "{key} is taken for nothing");
        }
        for db in self.counters.values() {
            let sql = "SELECT day, offer, conversions_taken FROM daily WHERE conversions_taken > 0";
            for row in db.query(sql, &[]).unwrap() {
                let day = UtcDay::from_number(row.integer(0).unwrap()).unwrap();
                let offer = OfferId::parse(row.text(1).unwrap()).unwrap();
                let highest = self.model.highest[&(offer, day)];
                assert!(
                    row.integer(2).unwrap() <= i64::from(highest),
                    "beyond the cap on {day}"
                );
            }
        }
    }

    /// What the log says that was paid is what the others were told and still have to be.
    pub fn check_money(&self, entries: &[Entry]) {
        let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.delivery.is_some()) {
            let offer = OFFERS
                .into_iter()
                .find(|offer| entry.fields.contains(&format!(r#""offer_id":"{offer}""#)));
            let counters = contract::counters::object_name(&OfferId::parse(offer.unwrap()).unwrap());
            for destination in ["ledger".to_owned(), counters] {
                let sum = expected.entry(destination).or_default();
                sum.0 += if entry.after.is_none() { 1 } else { -1 };
                sum.1 += entry.payout;
            }
        }
        let told = self.model.told.iter();
        let mut found: BTreeMap<_, _> = told
            .map(|(name, told)| (name.clone(), (told.1, told.2)))
            .collect();
        let sql = "SELECT destination, SUM(conversions), SUM(revenue_micro_usd) FROM traffic GROUP BY 1";
        for row in self.out.db.query(sql, &[]).unwrap() {
            let sum: &mut (i64, i64) = found.entry(row.text(0).unwrap().to_owned()).or_default();
            sum.0 += row.integer(1).unwrap();
            sum.1 += row.integer(2).unwrap();
        }
        for batch in batches::outstanding(&self.out.db, i64::MAX >> 11).unwrap() {
            if batch.sequence > self.model.told.get(&batch.destination).map_or(0, |told| told.0) {
                let (conversions, revenue) = sums(&batch);
                let sum = found.entry(batch.destination).or_default();
                sum.0 += conversions;
                sum.1 += revenue;
            }
        }
        found.retain(|destination, _| expected.contains_key(destination));
        assert_eq!(found, expected);
    }

    pub fn check_end(&self) {
        let entries = self.entries();
        let paid = || entries.iter().filter(|entry| entry.delivery.is_some());
        for entry in paid() {
            let was_told = self.receivers.was_told(&entry.transaction_id);
            assert!(
                was_told || entry.delivery == Some(DEAD),
                "{} is lost",
                entry.transaction_id
            );
        }
        let mut by_day: BTreeMap<UtcDay, i64> = BTreeMap::new();
        let mut of_offers: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        let today = UtcDay::of_ms(self.now_ms());
        for entry in paid() {
            let said: serde_json::Value = serde_json::from_str(&entry.fields).unwrap();
            let day = day_of(said["conversion_ts"].as_i64().unwrap());
            *by_day.entry(day).or_default() += entry.payout;
            if day > today.minus(30) {
                let of_offer = of_offers
                    .entry(said["offer_id"].as_str().unwrap().to_owned())
                    .or_default();
                of_offer.0 += if entry.after.is_none() { 1 } else { -1 };
                of_offer.1 += entry.payout;
            }
        }
        let sql = "SELECT day, SUM(revenue) FROM segments WHERE upload = 0 GROUP BY day";
        let rows = self.ledger.query(sql, &[]).unwrap();
        let mut ledger: BTreeMap<_, _> = rows
            .iter()
            .map(|row| {
                (
                    UtcDay::from_number(row.integer(0).unwrap()).unwrap(),
                    row.integer(1).unwrap(),
                )
            })
            .collect();
        ledger.retain(|_, revenue| *revenue != 0);
        by_day.retain(|_, revenue| *revenue != 0);
        assert_eq!(ledger, by_day, "the ledger's days");

        let mut figures: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for db in self.counters.values() {
            let command = contract::counters::Command::Stats(contract::counters::Stats { today });
            let contract::counters::Reply::Stats(stats) =
                counters::handle(db, self.now_ms(), command).unwrap()
            else {
                panic!("no figures");
            };
            for of_offer in serde_json::from_str::<Vec<OfferStats>>(stats.get()).unwrap() {
                let conversions = i64::try_from(of_offer.conversions).unwrap();
                figures.insert(
                    of_offer.offer.to_string(),
                    (conversions, of_offer.payout_micro_usd),
                );
            }
        }
        for offer in OFFERS {
            let expected = of_offers
                .get(offer)
                .map_or((0, 0), |sum| (sum.0.max(0), sum.1.max(0)));
            assert_eq!(
                figures.get(offer).copied().unwrap_or_default(),
                expected,
                "figures of {offer}"
            );
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
