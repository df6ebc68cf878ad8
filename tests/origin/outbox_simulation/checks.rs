//! Invariants of the outbox's tables: after each committed step, after each operation and at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    accounts::hex,
    catalog::OFFERS,
    model::{Callback, DELIVERED, Entry, WAITING},
    runtime::{CLAIM_MS, Event, Operation},
    world::World,
};
use contract::{
    operation::Bytes,
    outbox::{Answer, Conversion, Txn},
};
use domain::{
    conversions::reward::check_life,
    model::{
        AdvertiserId,
        time::{DAY_MS, UtcDay},
    },
};
use origin::objects::outbox::{
    NET_MS,
    endpoint::{self, OutboxState},
    next_alarm,
};
use platform::{database::Database, failure::Failure, object_shell::FAILED_ALARM_RETRY_MS};

impl World {
    /// The log with the entries that have left it: those 401 days old whose callback does not wait.
    pub fn entries(&mut self) -> Vec<Entry> {
        let stored = Entry::all(&self.env.db);
        let oldest = self.now_ms() - 401 * DAY_MS;
        for entry in &stored {
            self.seen.insert(entry.entry, entry.clone());
        }
        let kept: BTreeSet<_> = stored.iter().map(|entry| entry.entry).collect();
        for (number, entry) in &mut self.seen {
            if entry.notice.is_some() && !kept.contains(number) {
                // The notice left with its conversion and the user's identifiers, sent or not, and never changes again.
                (entry.delivery, entry.erase) = (None, false);
            }
        }
        for (number, entry) in self.seen.iter().filter(|(number, _)| !kept.contains(number)) {
            if entry.notice.is_some() {
                assert!(!kept.contains(&entry.after.unwrap()), "it left without its conversion");
                continue;
            }
            let reward = entry.after.map(|reward| self.seen[&reward].delivery);
            let reversal = self.seen.values().find(|other| other.after == Some(*number) && other.notice.is_none());
            let last = reversal.map_or(*number, |reversal| reversal.entry);
            assert!(last / 1_024 <= oldest, "{} left too early", entry.transaction_id);
            assert!(entry.delivery != Some(WAITING) && reward != Some(Some(WAITING)));
        }
        self.seen.values().cloned().collect()
    }

    fn number(&self, sql: &str) -> i64 {
        self.env.db.query_first(sql, &[]).unwrap().unwrap().integer(0).unwrap()
    }

    /// Checks what was committed in one step.
    pub fn after_step(&mut self) {
        let now_ms = self.now_ms();
        let mut journal = self.env.journal.take();
        // The service starts callbacks that an operation made due before it answers its caller.
        journal.sort_by_key(|event| !matches!(event, Event::Operated { .. }));
        let entries = self.entries();
        for entry in entries.iter().filter(|entry| entry.delivery.is_some()) {
            self.model.callbacks.entry(entry.entry).or_insert_with(|| Callback {
                transaction_id: entry.transaction_id.clone(),
                reward: entry.after.filter(|_| entry.notice.is_none()),
                is_notice: entry.notice.is_some(),
                delivery: WAITING,
                attempts_made: 0,
                not_before_ms: now_ms,
            });
        }
        let state = endpoint::read(&self.env.db).unwrap();
        let revision = state.as_ref().map(|state| state.callback.revision);
        if self.model.faults {
            self.adopt_table(&entries, state.as_ref());
        }
        let mut may_start = false;
        let mut released = revision > self.model.revision;
        if released {
            self.model.revision = revision;
            self.model.release(now_ms);
        }
        for event in journal {
            match event {
                Event::Answered { conversion, answer } => {
                    may_start = true;
                    // From 400 days on every postback is refused.
                    if check_life(conversion.click.clicked_at_ms, now_ms).is_ok() {
                        self.model.answered(&conversion, &answer);
                        self.check_refusal(&conversion, &answer);
                    } else {
                        assert!(answer.is_err());
                    }
                }
                Event::Settled { settle, answer } => {
                    may_start = true;
                    self.model.settled(&settle, &answer);
                }
                Event::Operated { operation, written } => {
                    may_start |= written;
                    if written || !self.model.faults {
                        assert!(
                            written
                                || matches!(
                                    operation,
                                    Operation::Replay(_) | Operation::ReplayMany(_) | Operation::SetOffer(_)
                                ),
                            "{operation:?}"
                        );
                    }
                    if written {
                        released |= matches!(operation, Operation::Enable(_));
                        let stored = Entry::all(&self.env.db);
                        self.model.operated(now_ms, &operation, &stored);
                    }
                }
                Event::Skipped { entry } => self.model.skipped(entry),
                Event::Claimed { claimed } => {
                    let until_ms = self.number(&format!("SELECT due_ms FROM entries WHERE entry = {}", claimed.entry));
                    self.model.claimed(now_ms, until_ms, &claimed);
                }
                Event::Concluded { claimed, judgement, http_status, written } => {
                    may_start |= written;
                    let id = &claimed.fields.transaction_id;
                    if let Some(status) = http_status {
                        assert!(self.receivers.answered(id, status) > 0, "{id} was never answered {status}");
                    }
                    // A notice may leave with its conversion during its attempt.
                    let sql = format!("SELECT COUNT(*) FROM entries WHERE entry = {}", claimed.entry);
                    let is_kept = self.number(&sql) > 0;
                    self.model.concluded(now_ms, &claimed, &judgement, written && is_kept);
                }
                Event::AlarmFailed => self.model.alarm_failed = true,
            }
        }
        self.model.end_unsendable(&entries, state.as_ref());
        if self.model.faults {
            self.adopt_table(&entries, state.as_ref());
        } else if may_start {
            self.check_started(state.as_ref());
        }
        if released {
            let latest_ms = now_ms + CLAIM_MS;
            let sql = format!("SELECT COUNT(*) FROM entries WHERE delivery = 0 AND due_ms > {latest_ms}");
            assert_eq!(self.number(&sql), 0, "waiting callbacks were not released");
        }
        self.check_alarm();
    }

    /// A failed write may have taken effect, so the state of callbacks is read from the table.
    fn adopt_table(&mut self, entries: &[Entry], state: Option<&OutboxState>) {
        self.model.disabled = state.is_some_and(|state| state.disabled_ms.is_some());
        self.model.enabled_ms = state.map_or(0, |state| state.enabled_ms);
        for entry in entries {
            if let (Some(callback), Some(delivery)) = (self.model.callbacks.get_mut(&entry.entry), entry.delivery) {
                callback.delivery = delivery;
                callback.attempts_made = u32::try_from(entry.attempts_made).unwrap();
                callback.not_before_ms = 0;
            }
        }
    }

    /// A refused conversion is not paid.
    fn check_refusal(&self, conversion: &Conversion, answer: &Result<Answer, Failure>) {
        if let Err(Failure::Refused(refusal)) = answer
            && matches!(refusal.status, 409 | 410)
        {
            let sql = format!(
                "SELECT COUNT(*) FROM conversions WHERE nonce = x'{}' AND state IN (1, 3)
                 AND EXISTS (SELECT 1 FROM json_each(names) WHERE value = '{}')",
                hex(&conversion.nonce.0),
                conversion.goal.as_deref().unwrap_or_default()
            );
            assert_eq!(self.number(&sql), 0, "{refusal:?} to a paid conversion");
        }
    }

    /// Due callbacks within the concurrency limit are in flight.
    fn check_started(&self, state: Option<&OutboxState>) {
        // A process that has not read its marks yet starts nothing; the alarm starts the callbacks.
        let Some(state) = state.filter(|state| state.has_endpoint() && self.service.is_ready()) else {
            return;
        };
        let now_ms = self.now_ms();
        if state.health.free_slots(3, self.service.in_flight(), now_ms) > 0 {
            let sql = format!("SELECT COUNT(*) FROM entries WHERE delivery = 0 AND due_ms <= {now_ms}");
            assert_eq!(self.number(&sql), 0, "due callbacks are not in flight");
            assert!(!self.service.has_ahead(), "claimed callbacks are not in flight");
        }
    }

    /// While work waits, the alarm is set in time for it.
    fn check_alarm(&mut self) {
        let now_ms = self.now_ms();
        let set_ms = self.env.alarm_ms.get();
        let alarm_failed = std::mem::take(&mut self.model.alarm_failed);
        let net_ms = if alarm_failed || self.model.faults { FAILED_ALARM_RETRY_MS } else { NET_MS };
        let due = [self.due_ms(), next_alarm(&self.env.db, now_ms).unwrap()];
        for due_ms in due.into_iter().flatten() {
            let latest_ms = due_ms.max(now_ms + net_ms);
            assert!(
                set_ms.is_some_and(|set_ms| set_ms <= latest_ms),
                "the alarm is at {set_ms:?} for work due at {due_ms}; now is {now_ms}"
            );
        }
    }

    /// The earliest due time, from the tables alone.
    fn due_ms(&self) -> Option<i64> {
        let db = &self.env.db;
        let state = endpoint::read(db).unwrap()?;
        let first = |sql: &str| db.query_first(sql, &[]).unwrap().unwrap().optional_integer(0).unwrap();
        let callbacks = first("SELECT MIN(due_ms) FROM entries WHERE delivery = 0");
        let opens_ms = state.health.opens_ms().unwrap_or(0);
        let dues = [
            callbacks.filter(|_| state.has_endpoint()).map(|due_ms| due_ms.max(opens_ms)),
            first("SELECT MIN(due_ms) FROM feed").filter(|_| self.has_to_report()),
            first("SELECT MIN(due_ms) FROM reservations"),
            first("SELECT MIN(due_ms) FROM txns_to_free"),
            first("SELECT MIN(value ->> '$.behind.due_ms') FROM positions, json_each(known)"),
            first(
                "SELECT MIN(0) FROM positions WHERE seen < (SELECT MAX(MAX(entry), MAX(COALESCE(movement, 0))) FROM entries)",
            ),
        ];
        dues.into_iter().flatten().min()
    }

    /// Checks the invariants after an operation.
    pub fn check(&mut self) {
        let entries = self.entries();
        self.check_log(&entries);
        self.check_users();
        self.check_caps(&entries);
        self.check_money(&entries);
        self.check_activity();
        self.check_attention();
        let sql = "SELECT nonce, goal FROM conversions WHERE state = 0";
        for row in self.env.db.query(sql, &[]).unwrap() {
            let key = (row.blob(0).unwrap().to_vec(), row.text(1).unwrap().to_owned());
            self.model.once_pending.insert(key);
        }
    }

    /// The offer that pays once pays one of a user's clicks for each goal, besides those that the operator approved.
    fn check_users(&self) {
        let sql = "SELECT nonce, goal FROM conversions WHERE state = 1";
        let mut paid = BTreeSet::new();
        for row in self.env.db.query(sql, &[]).unwrap() {
            let (nonce, goal) = (row.blob(0).unwrap(), row.text(1).unwrap());
            let click = &self.clicks[&nonce[0]];
            let key = (nonce.to_vec(), goal.to_owned());
            if click.offer == OFFERS[1] && !self.model.may_be_forced.contains(&key) {
                let is_first = paid.insert((click.user_id.clone(), goal.to_owned()));
                assert!(is_first, "{} is paid twice for {goal}", click.user_id);
            }
        }
    }

    fn check_log(&self, entries: &[Entry]) {
        let model = &self.model;
        let by_id: BTreeMap<_, _> = entries.iter().map(|entry| (&entry.transaction_id, entry)).collect();
        assert_eq!(by_id.len(), entries.len());
        for id in &model.approved_ids {
            assert!(by_id[id].delivery.is_some(), "{id} is missing");
        }
        let mut rewards = BTreeMap::new();
        let mut txns = BTreeMap::new();
        for entry in entries {
            let key = (&entry.nonce, &entry.goal, entry.after.is_some(), entry.notice);
            assert!(rewards.insert(key, entry).is_none(), "two ids of {key:?}");
            assert!(!entry.erase || entry.delivery == Some(WAITING), "{} is not erased", entry.entry);
            if let Some(delivery) = entry.delivery {
                let callback = &model.callbacks[&entry.entry];
                let found = (delivery, entry.attempts_made);
                assert_eq!(found, (callback.delivery, i64::from(callback.attempts_made)), "{}", entry.transaction_id);
                if delivery == DELIVERED {
                    assert!(self.receivers.has_accepted(&entry.transaction_id));
                }
            }
            if entry.user.is_none() {
                assert!(!entry.fields.contains("user "), "{}", entry.fields);
            }
            let is_paid = entry.delivery.is_some() && entry.after.is_none();
            let key = (entry.nonce.clone(), entry.goal.clone());
            if is_paid
                && let Some(txn) = &entry.txn
                && !model.once_pending.contains(&key)
                && !model.may_be_forced.contains(&key)
                // Older claims may be gone.
                && entry.day("click_ts") > UtcDay::of_ms(self.now_ms()).minus(400)
            {
                let another = txns.insert((&entry.goal, txn), entry.transaction_id.clone());
                assert_eq!(another, None, "{txn} is paid twice");
                let claimed = Txn {
                    advertiser: AdvertiserId::parse("adv").unwrap(),
                    goal: entry.goal.clone(),
                    txn: txn.clone(),
                    nonce: Bytes(entry.nonce.clone()),
                    number: 0,
                };
                assert_eq!(self.holder(&claimed).as_ref(), Some(&entry.nonce), "{txn} is paid unclaimed");
            }
            if let Some(reward) = entry.after {
                let reward = entries.iter().find(|other| other.entry == reward).unwrap();
                assert_eq!((&reward.nonce, &reward.goal), (&entry.nonce, &entry.goal));
                let payout = if entry.notice.is_some() { 0 } else { -reward.payout };
                assert_eq!(entry.payout, payout);
            }
        }
        let sql = "SELECT e.transaction_id, a.http_status, COUNT(*) FROM attempts a JOIN entries e USING (entry)
            WHERE a.http_status IS NOT NULL GROUP BY 1, 2";
        for row in self.env.db.query(sql, &[]).unwrap() {
            let (id, status, count) = (row.text(0).unwrap(), row.integer(1).unwrap(), row.integer(2).unwrap());
            let seen = self.receivers.answered(id, u16::try_from(status).unwrap());
            assert!(usize::try_from(count).unwrap() <= seen, "{id}: {count} answers {status} logged, {seen} given");
        }
        let named = "SELECT COUNT(*) FROM attempts a JOIN entries e USING (entry)
            WHERE e.user_id IS NULL AND a.body <> ''";
        assert_eq!(self.number(named), 0, "an attempt contains an erased user");
        if let Some(state) = endpoint::read(&self.env.db).unwrap()
            && state.disabled_ms.is_some()
        {
            let is_own = self.receivers.disabled_revisions.contains(&state.callback.revision);
            assert!(is_own, "an endpoint was disabled that did not ask for it");
        }
    }

    /// Whether any work is left except retention.
    pub fn waits(&self) -> bool {
        self.has_waiting_work().iter().any(|waits| *waits)
    }

    /// Whether callbacks, reservations, txns to free, a batch, the log and the feed wait.
    pub fn has_waiting_work(&self) -> [bool; 6] {
        let has = |sql| self.number(sql) == 1;
        [
            has("SELECT EXISTS (SELECT 1 FROM entries WHERE delivery = 0)"),
            has("SELECT EXISTS (SELECT 1 FROM reservations)"),
            has("SELECT EXISTS (SELECT 1 FROM txns_to_free)"),
            has("SELECT EXISTS (SELECT 1 FROM positions WHERE known LIKE '%behind%')"),
            has("SELECT EXISTS (SELECT 1 FROM positions
                WHERE seen < (SELECT MAX(MAX(entry), MAX(COALESCE(movement, 0))) FROM entries))"),
            self.has_to_report(),
        ]
    }
}
