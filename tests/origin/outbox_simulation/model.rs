//! Expected state, derived without the tables: answers, claimed and concluded attempts, and what other objects received
//! and took. Each event is checked against the events before it.

use std::collections::{BTreeMap, BTreeSet};

use super::runtime::{ATTEMPT_MS, CLAIM_MS, Operation};
use contract::{
    counters::{SetCap, Take},
    outbox::{Answer, Conversion, Settle},
};
use domain::{
    callbacks::delivery::{Judgement, Next},
    conversions::{state::Status, table::Action},
    model::{
        OfferId,
        time::{SECOND_MS, UtcDay},
    },
};
use origin::objects::outbox::{callbacks::deliveries::ClaimedCallback, endpoint::OutboxState};
use platform::{database::Database, failure::Failure};

/// The state of a callback as the table stores it.
pub const WAITING: i64 = 0;
pub const DELIVERED: i64 = 1;
pub const DEAD: i64 = 2;
pub const NOT_WANTED: i64 = 3;

#[derive(Default)]
pub struct Model {
    pub callbacks: BTreeMap<i64, Callback>,
    /// Claimed attempts in flight: the callback's entry and its number of earlier attempts.
    pub in_flight: Vec<(i64, u32)>,
    pub revision: Option<i64>,
    /// The endpoint disabled itself and was not enabled since.
    pub disabled: bool,
    /// When somebody enabled it last.
    pub enabled_ms: i64,
    /// Writes fail, so a change may exist without its event.
    pub faults: bool,
    pub alarm_failed: bool,
    /// The transaction id in the answer, by click and the sender's name of the goal.
    pub ids: BTreeMap<(Vec<u8>, Option<String>), String>,
    pub approved: BTreeSet<(Vec<u8>, Option<String>)>,
    pub approved_ids: BTreeSet<String>,
    pub first_answers: BTreeSet<String>,
    /// Whether copies of a conversion wait for each other. Otherwise each may settle a reservation of its own.
    pub locks: bool,
    /// Rejected or reversed conversions. Both states are final.
    pub final_ids: BTreeSet<String>,
    pub once_pending: BTreeSet<(Vec<u8>, String)>,
    /// Conversions that the operator may have approved, against whatever stood against them.
    pub may_be_forced: BTreeSet<(Vec<u8>, String)>,
    /// Keys that were taken by force, by offer and day.
    pub forced: BTreeMap<(OfferId, UtcDay), BTreeSet<String>>,
    /// The caps that the counters know, with revisions; and the highest cap of each day.
    pub limits: BTreeMap<OfferId, (i64, Option<u32>)>,
    pub highest: BTreeMap<(OfferId, UtcDay), u32>,
    /// Taken keys, and keys of takes that a copy was refused or that arrived after the sender gave up.
    pub taken: BTreeMap<OfferId, BTreeSet<String>>,
    pub stray: BTreeSet<String>,
    /// By destination: the last applied batch, and the total of conversions and micro-USD.
    pub applied_batches: BTreeMap<String, (i64, i64, i64)>,
}

/// The expected state of a callback.
pub struct Callback {
    pub transaction_id: String,
    pub reward: Option<i64>,
    pub is_notice: bool,
    pub delivery: i64,
    pub attempts_made: u32,
    pub not_before_ms: i64,
}

/// An entry of the conversion log.
#[derive(Clone)]
pub struct Entry {
    pub entry: i64,
    pub transaction_id: String,
    pub nonce: Vec<u8>,
    pub goal: String,
    pub after: Option<i64>,
    pub notice: Option<i64>,
    pub payout: i64,
    pub movement: Option<i64>,
    pub delivery: Option<i64>,
    pub attempts_made: i64,
    pub erase: bool,
    pub user: Option<String>,
    pub txn: Option<String>,
    pub fields: String,
}

impl Entry {
    /// The whole log.
    pub fn all(db: &impl Database) -> Vec<Self> {
        let sql = "SELECT entry, transaction_id, nonce, goal, after, payout_micro_usd, delivery, attempts_made, erase,
            user_id, txn, fields, notice, movement FROM entries ORDER BY entry";
        let rows = db.query(sql, &[]).unwrap();
        rows.iter()
            .map(|row| Self {
                entry: row.integer(0).unwrap(),
                movement: row.optional_integer(13).unwrap(),
                transaction_id: row.text(1).unwrap().to_owned(),
                nonce: row.blob(2).unwrap().to_vec(),
                goal: row.text(3).unwrap().to_owned(),
                after: row.optional_integer(4).unwrap(),
                payout: row.integer(5).unwrap(),
                delivery: row.optional_integer(6).unwrap(),
                attempts_made: row.integer(7).unwrap(),
                erase: row.boolean(8).unwrap(),
                user: row.optional_text(9).unwrap().map(str::to_owned),
                txn: row.optional_text(10).unwrap().map(str::to_owned),
                fields: row.text(11).unwrap().to_owned(),
                notice: row.optional_integer(12).unwrap(),
            })
            .collect()
    }

    /// Whether money moved, and it has a callback for that.
    pub fn is_payment(&self) -> bool {
        self.delivery.is_some() && self.notice.is_none()
    }

    /// The UTC day on which it was paid.
    pub fn paid_on(&self) -> UtcDay {
        self.day("conversion_ts")
    }

    /// The UTC day of one of its times.
    pub fn day(&self, field: &str) -> UtcDay {
        let fields: serde_json::Value = serde_json::from_str(&self.fields).unwrap();
        UtcDay::of_ms(fields[field].as_i64().unwrap() * SECOND_MS)
    }
}

impl Model {
    pub fn ids(&self) -> Vec<String> {
        let callbacks = self.callbacks.values();
        callbacks.map(|callback| callback.transaction_id.clone()).collect()
    }

    pub fn clear_flights(&mut self) {
        self.in_flight.clear();
    }

    pub fn apply_limit(&mut self, offer: &OfferId, revision: i64, limit: Option<u32>) {
        let known = self.limits.entry(offer.clone()).or_insert((revision, limit));
        if revision > known.0 {
            *known = (revision, limit);
        }
    }

    pub fn set_cap(&mut self, cap: &SetCap) {
        self.apply_limit(&cap.offer, cap.revision, cap.limit);
    }

    pub fn record_take(&mut self, take: &Take, taken: bool, late: bool) {
        self.apply_limit(&take.offer, take.revision, Some(take.limit));
        let limit = self.limits[&take.offer].1.unwrap_or(u32::MAX);
        let highest = self.highest.entry((take.offer.clone(), take.day)).or_default();
        *highest = limit.max(*highest);
        if take.by_force {
            let key = (take.offer.clone(), take.day);
            self.forced.entry(key).or_default().insert(take.key.clone());
        }
        if taken {
            self.taken.entry(take.offer.clone()).or_default().insert(take.key.clone());
        }
        if late || !taken {
            self.stray.insert(take.key.clone());
        }
    }

    /// A batch of so many conversions and micro-USD was applied.
    pub fn apply_batch(&mut self, destination: &str, after: i64, number: i64, sums: (i64, i64)) {
        let totals = self.applied_batches.entry(destination.to_owned()).or_default();
        assert_eq!(after, totals.0, "{destination} skipped a batch");
        *totals = (number, totals.1 + sums.0, totals.2 + sums.1);
    }

    pub fn release(&mut self, now_ms: i64) {
        self.disabled = false;
        let claims = now_ms + 1..=now_ms + CLAIM_MS;
        for callback in self.callbacks.values_mut() {
            if !claims.contains(&callback.not_before_ms) && callback.delivery == WAITING {
                callback.attempts_made = 0;
                callback.not_before_ms = callback.not_before_ms.min(now_ms);
            }
        }
    }

    /// The callbacks of an erased user end without an attempt where the app has none any more.
    pub fn end_unsendable(&mut self, entries: &[Entry], state: Option<&OutboxState>) {
        let sends_nothing =
            state.is_some_and(|state| state.callback.revision >= 0 && !state.has_callback() && !state.is_behind());
        for entry in entries.iter().filter(|entry| entry.user.is_none()) {
            let callback = self.callbacks.get_mut(&entry.entry);
            if let Some(callback) = callback.filter(|callback| callback.delivery == WAITING)
                && entry.delivery == Some(NOT_WANTED)
            {
                let ends = callback.is_notice || sends_nothing;
                assert!(ends, "{} ends", entry.transaction_id);
                callback.delivery = NOT_WANTED;
            }
        }
    }

    pub fn answered(&mut self, conversion: &Conversion, answer: &Result<Answer, Failure>) {
        let name = (conversion.nonce.0.clone(), conversion.goal.clone());
        match answer {
            Ok(answer) => {
                let id = self.ids.entry(name.clone()).or_insert_with(|| answer.transaction_id.clone());
                assert_eq!(*id, answer.transaction_id, "a repeated conversion got another id");
                if self.approved.contains(&name) {
                    let is_consistent = matches!(answer.status, Status::Approved | Status::Reversed);
                    assert!(is_consistent, "{answer:?} after the approval");
                }
                let id = &answer.transaction_id;
                if matches!(answer.status, Status::Rejected | Status::Reversed) {
                    self.final_ids.insert(id.clone());
                } else {
                    assert!(!self.final_ids.contains(id), "{answer:?} after a final status");
                }
                if answer.status == Status::Approved {
                    self.approved.insert(name);
                    self.approved_ids.insert(answer.transaction_id.clone());
                    let is_first = answer.duplicate || self.first_answers.insert(answer.transaction_id.clone());
                    assert!(is_first || !self.locks, "two answers that are not duplicates: {answer:?}");
                }
            }
            Err(Failure::Refused(refusal)) if matches!(refusal.status, 409 | 410) => {
                assert!(!self.approved.contains(&name), "{refusal:?} after the approval");
            }
            Err(_) => {}
        }
    }

    pub fn settled(&mut self, settle: &Settle, answer: &Result<Answer, Failure>) {
        let id = &settle.transaction_id;
        let Ok(answer) = answer else {
            return;
        };
        assert_eq!(answer.transaction_id, *id);
        match settle.action {
            // While it waited for the cap, the alarm paid the reward, and its sender took it back.
            Action::Approve if answer.status == Status::Reversed => assert!(self.final_ids.contains(id)),
            Action::Approve => {
                assert_eq!(answer.status, Status::Approved);
                assert!(!self.final_ids.contains(id), "approved after a final status");
                self.approved_ids.insert(id.clone());
                let is_first = answer.duplicate || self.first_answers.insert(id.clone());
                assert!(is_first, "two answers that are not duplicates: {answer:?}");
            }
            Action::Reject => {
                assert_eq!(answer.status, Status::Rejected);
                assert!(!self.approved_ids.contains(id), "rejected after the approval");
                self.final_ids.insert(id.clone());
            }
            Action::Reverse => {
                assert_eq!(answer.status, Status::Reversed);
                self.final_ids.insert(id.clone());
            }
        }
    }

    pub fn claimed(&mut self, now_ms: i64, until_ms: i64, claimed: &ClaimedCallback) {
        assert!(!self.disabled, "a disabled endpoint was called");
        assert_eq!(Some(claimed.revision), self.revision);
        assert_eq!(claimed.enabled_ms, self.enabled_ms);
        let callback = &self.callbacks[&claimed.entry];
        if let Some(reward) = callback.reward {
            assert_ne!(self.callbacks[&reward].delivery, WAITING, "a reversal was sent before its reward");
        }
        let callback = self.callbacks.get_mut(&claimed.entry).unwrap();
        assert_eq!(callback.delivery, WAITING, "{} was sent after its end", callback.transaction_id);
        assert_eq!(callback.attempts_made, claimed.attempts_made);
        assert!(callback.not_before_ms <= now_ms, "{} was sent too early", callback.transaction_id);
        // It was claimed now, or ahead with its conversion's commit.
        let lasts = now_ms + ATTEMPT_MS..=now_ms + CLAIM_MS;
        assert!(lasts.contains(&until_ms), "a claim until {until_ms}");
        callback.not_before_ms = until_ms;
        self.in_flight.push((claimed.entry, claimed.attempts_made));
    }

    /// It ends without an attempt: a notice that was overtaken, or one that the publisher no longer wants.
    pub fn skipped(&mut self, entry: i64) {
        let callback = self.callbacks.get_mut(&entry).unwrap();
        assert!(callback.is_notice, "{} is not sent", callback.transaction_id);
        callback.delivery = NOT_WANTED;
    }

    pub fn concluded(&mut self, now_ms: i64, claimed: &ClaimedCallback, judgement: &Judgement, written: bool) {
        let flight = self.in_flight.iter().position(|flight| *flight == (claimed.entry, claimed.attempts_made));
        self.in_flight.remove(flight.unwrap());
        if !written {
            return;
        }
        if judgement.disables && Some(claimed.revision) == self.revision && claimed.enabled_ms == self.enabled_ms {
            self.disabled = true;
        }
        let callback = self.callbacks.get_mut(&claimed.entry).unwrap();
        let is_delivered = judgement.next == Next::Delivered;
        if callback.delivery != WAITING || (callback.attempts_made != claimed.attempts_made && !is_delivered) {
            return;
        }
        callback.attempts_made = claimed.attempts_made + 1;
        (callback.delivery, callback.not_before_ms) = match judgement.next {
            Next::Delivered => (DELIVERED, now_ms),
            Next::Dead => (DEAD, now_ms),
            Next::Kept => (WAITING, now_ms),
            Next::At(due_ms) => {
                assert!(due_ms > now_ms);
                (WAITING, due_ms)
            }
        };
    }

    pub fn operated(&mut self, now_ms: i64, operation: &Operation, entries: &[Entry]) {
        let claims = now_ms + 1..=now_ms + CLAIM_MS;
        let mut replay = |selects: &dyn Fn(&Callback) -> bool| {
            let known: BTreeSet<_> =
                entries.iter().filter(|entry| entry.user.is_some()).map(|entry| entry.entry).collect();
            let mut replayed = Vec::new();
            for (entry, callback) in &mut self.callbacks {
                if known.contains(entry) && selects(callback) {
                    let is_claimed = callback.delivery == WAITING && claims.contains(&callback.not_before_ms);
                    callback.delivery = WAITING;
                    callback.attempts_made = 0;
                    if !is_claimed {
                        callback.not_before_ms = now_ms;
                        replayed.push(*entry);
                    }
                }
            }
            // A reversal is replayed with its reward.
            for (entry, callback) in &mut self.callbacks {
                let reward_is_replayed = callback.reward.is_some_and(|reward| replayed.contains(&reward));
                if reward_is_replayed && known.contains(entry) && callback.delivery != WAITING {
                    callback.delivery = WAITING;
                    callback.attempts_made = 0;
                    callback.not_before_ms = now_ms;
                }
            }
        };
        match operation {
            Operation::Replay(id) => replay(&|callback| callback.transaction_id == *id),
            Operation::ReplayMany(step) => {
                let meant = i64::from(step.filter.delivery.unwrap().number());
                replay(&|callback| callback.delivery == meant);
            }
            Operation::Enable(at_ms) => {
                // Without a conversion or settings there is nothing to switch on.
                if self.revision.is_some() {
                    self.enabled_ms = self.enabled_ms.max(*at_ms);
                }
                self.release(now_ms);
            }
            Operation::Settings(_) | Operation::Erase(_) | Operation::SetOffer(_) => {}
        }
    }
}
