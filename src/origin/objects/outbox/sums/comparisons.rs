//! Counts the results of the nightly comparisons in this isolate's outboxes, for the metrics.

use std::{cell::RefCell, collections::BTreeMap};

use contract::outbox::OutboxDay;
use domain::model::AppId;

thread_local! {
    static COUNTS: RefCell<Counts> = const { RefCell::new(Counts { equal: 0, different: 0, rewards: BTreeMap::new() }) };
}

/// Counts since the isolate started.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The number of comparisons, over all outboxes and days, in which the log agreed with the ledger.
    pub equal: u64,
    pub different: u64,
    /// The rewards of the days that were added up, by app. An isolate has few apps.
    pub rewards: BTreeMap<AppId, Rewards>,
}

/// Rewards of an app. They show an operator whether the app's users save up clicks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewards {
    pub all: i64,
    pub after_24_h: i64,
    pub by_superseded_terms: i64,
}

pub fn counts() -> Counts {
    COUNTS.with_borrow(Clone::clone)
}

/// Counts the rewards of a part of a day that is being added up.
pub fn count_rewards(app: AppId, part: &OutboxDay) {
    COUNTS.with_borrow_mut(|counts| {
        let rewards = counts.rewards.entry(app).or_default();
        rewards.all += part.sum(|offer| offer.rewards);
        rewards.after_24_h += part.sum(|offer| offer.rewards_after_24_h);
        rewards.by_superseded_terms += part.sum(|offer| offer.rewards_by_superseded_terms);
    });
}

/// Counts a comparison of a day with the ledger.
pub fn count_day(differs: bool) {
    COUNTS.with_borrow_mut(|counts| match differs {
        true => counts.different += 1,
        false => counts.equal += 1,
    });
}
