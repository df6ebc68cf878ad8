//! After objects were put back, the ledger agrees with its sources, or an open item says what differs.

use std::collections::BTreeMap;

use super::{
    checks::{CAP, Item, Paid, Sums, add},
    world::{COUNTERS, LEDGER, World},
};
use crate::outbox_simulation::{catalog::OFFERS, world::NOON};
use contract::{attention::Kind, ledger::DayState};
use domain::model::time::UtcDay;
use origin::objects::counters::log;
use platform::database::Database;

/// Clicks and revenue of a source on a day.
type OfSources = BTreeMap<(String, UtcDay), Sums>;

impl World {
    /// The sums in the sources' logs now.
    fn in_logs(&self) -> OfSources {
        let mut sums = OfSources::new();
        for paid in self.paid() {
            let key = (paid.outbox.clone(), paid.entry.paid_on());
            add(sums.entry(key).or_default(), (0, paid.entry.payout));
        }
        for nth in COUNTERS..LEDGER {
            log::each(&self.actors[nth].env.db, 0, None, &mut |sum| {
                let key = (self.name(nth), sum.key.day);
                add(sums.entry(key).or_default(), (sum.clicks, 0));
            })
            .unwrap();
        }
        sums
    }

    /// The clicks that the counters were told.
    fn told(&self) -> OfSources {
        let mut sums = OfSources::new();
        for ((source, day, _), clicks) in self.edge.told.flushed.borrow().iter() {
            add(sums.entry((source.clone(), *day)).or_default(), (*clicks, 0));
        }
        sums
    }

    fn in_ledger(&self) -> OfSources {
        let sql = "SELECT source, day, clicks, revenue_micro_usd FROM totals";
        let rows = self.actors[LEDGER].env.db.query(sql, &[]).unwrap();
        let sums = rows.iter().map(|row| {
            let day = UtcDay::from_number(row.integer(1).unwrap()).unwrap();
            let sums = (row.integer(2).unwrap(), row.integer(3).unwrap());
            ((row.text(0).unwrap().to_owned(), day), sums)
        });
        sums.collect()
    }

    fn state_of(&self, day: UtcDay) -> Option<DayState> {
        let sql = "SELECT state FROM loads WHERE day = ?";
        let db = &self.actors[LEDGER].env.db;
        let row = db.query_first(sql, platform::params![day.number()]).unwrap()?;
        Some(row.decode(0, DayState::from_number).unwrap())
    }

    /// No cap is exceeded, unless its counters were put back and not told: the loss of takes is noticed only later.
    fn check_caps(&self) {
        let mut of_day: BTreeMap<UtcDay, usize> = BTreeMap::new();
        let capped = |paid: &Paid| paid.is_reward() && paid.offer() == OFFERS[0];
        for paid in self.paid().iter().filter(|paid| capped(paid)) {
            *of_day.entry(paid.entry.paid_on()).or_default() += 1;
        }
        // A reservation may wait past midnight. It is taken from the cap of its day.
        let (mut rewards, mut is_kept) = (0, true);
        for (day, more) in &of_day {
            rewards += more;
            let days = day.number() - UtcDay::of_ms(NOON).number() + 1;
            is_kept &= rewards <= CAP * usize::try_from(days).unwrap();
        }
        assert!(is_kept || self.actors[COUNTERS].was_put_back_silently, "{of_day:?}");
    }

    /// Checks the caps and the items, and that there is one for each difference.
    pub fn check_restored(&self) {
        self.check_caps();
        let items = self.items();
        let (told, logs, ledger) = (self.told(), self.in_logs(), self.in_ledger());
        for item in items.iter().filter(|item| item.kind == Kind::Differs) {
            self.check_differing(item);
        }
        let keys: std::collections::BTreeSet<_> = logs.keys().chain(ledger.keys()).collect();
        for key in keys {
            let [log, stored] = [&logs, &ledger].map(|sums| sums.get(key).copied().unwrap_or_default());
            if log == stored {
                continue;
            }
            let (source, day) = key;
            let is_final = self.state_of(*day) == Some(DayState::Final);
            let told = told.get(key).copied().unwrap_or_default();
            if is_final && (log.0..=told.0).contains(&stored.0) {
                // The counters lost clicks that they had vouched for, or that they had sent nobody.
                continue;
            }
            let item = items.iter().find(|item| is_of(item, source, *day));
            let is_unconfirmed = self.state_of(*day) == Some(DayState::Unconfirmed)
                && items.iter().any(|item| item.kind == Kind::Unconfirmed && item.subject == day.to_string());
            assert!(
                item.is_some() || is_unconfirmed,
                "{source} has {log:?} of {day}, and the ledger {stored:?}: {:?} {items:?}",
                self.state_of(*day)
            );
            if let Some(item) = item {
                let missing = (log.0 - stored.0, log.1 - stored.1);
                let side =
                    if missing.1 > 0 || missing.1 == 0 && missing.0 > 0 { "ledger_behind" } else { "log_behind" };
                assert_eq!(item.reason, side, "{item:?}: {missing:?}");
            }
        }
    }
}

/// Whether an item says that a day of a source differs.
fn is_of(item: &Item, source: &str, day: UtcDay) -> bool {
    let is_day = item.subject.ends_with(&day.to_string());
    item.kind == Kind::Differs && item.source == source && is_day
}
