//! The publisher's receivers, one for each callback that was set: the callbacks that they got and their answers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{prelude::*, sample::select};

use domain::callbacks::{
    fields::{Fields, Status},
    request::Request,
};
use platform::http_call::HttpAnswer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    Working,
    Broken,
    Redirecting,
    /// It reads the request and does not answer.
    Silent,
    /// Its answer breaks off.
    Truncated,
    Gone,
    Disabling,
    Aborting,
    RetryAfter(u32),
}

pub fn behaviours() -> impl Strategy<Value = Behaviour> {
    use Behaviour as M;
    prop_oneof![
        6 => Just(M::Working),
        8 => select([M::Broken, M::Redirecting, M::Silent, M::Truncated].as_slice()),
        2 => select([M::Gone, M::Disabling, M::Aborting].as_slice()),
        2 => select([1, 100, 90_000, u32::MAX].as_slice()).prop_map(M::RetryAfter),
    ]
}

#[derive(Default)]
pub struct Receivers {
    /// The content of each transaction id.
    seen: BTreeMap<String, Fields>,
    /// The number of complete answers, by transaction id and status.
    answers: BTreeMap<(String, u16), usize>,
    /// The transaction id of each movement and notice, by click, goal and status.
    movement_ids: BTreeMap<(String, String, &'static str), String>,
    /// Revisions of callbacks whose receiver disabled them.
    pub disabled_revisions: BTreeSet<i64>,
    /// An outbox was put back, so it may remake a reward that its journal lacks, under the same id at another time.
    pub is_any_restored: bool,
}

impl Receivers {
    /// Receives a callback and returns the answer, which may still be lost.
    pub fn receive(&mut self, request: &Request, behaviour: Behaviour) -> Option<HttpAnswer> {
        let (_, revision) = request.url.rsplit_once('/').unwrap();
        let revision: i64 = revision.parse().unwrap();
        let mut body: serde_json::Value = serde_json::from_str(request.body.as_deref().unwrap()).unwrap();
        // Amounts are numbers in a callback and strings in `Fields`.
        for amount in ["value", "payout", "pending_value"] {
            if !body[amount].is_null() {
                body[amount] = body[amount].to_string().into();
            }
        }
        let fields: Fields = serde_json::from_value(body).unwrap();
        let id = &fields.transaction_id;
        assert!(!fields.user_id.is_empty());
        let first = self.seen.entry(id.clone()).or_insert_with(|| fields.clone());
        if self.is_any_restored {
            first.conversion_ts = fields.conversion_ts;
        }
        assert_eq!(*first, fields, "one transaction id has two contents");
        // `conversion` puts the click's identity into c1.
        let click = fields.c1.clone().unwrap();
        let first_id = self
            .movement_ids
            .entry((click, fields.goal_id.clone(), fields.status.as_str()))
            .or_insert_with(|| id.clone());
        assert_eq!(first_id, id, "one movement has two ids");
        let is_reward = fields.status == Status::Approved;
        assert_eq!(fields.original_transaction_id.is_some(), !is_reward);
        let is_notice = matches!(fields.status, Status::Pending | Status::Rejected);
        assert_eq!(fields.pending_value.is_some(), is_notice);
        if is_notice {
            // A receiver that ignores the status pays nothing for it.
            assert_eq!((fields.value.as_str(), fields.payout.as_str()), ("0", "0"));
        } else if let Some(original) = fields.original_transaction_id.as_ref().and_then(|id| self.seen.get(id)) {
            assert_eq!(fields.payout, original.payout.negated());
            assert_eq!(fields.value, original.value.negated());
            assert_eq!(fields.user_id, original.user_id);
        }

        let (status, retry_after, webhook_delivery) = match behaviour {
            Behaviour::Working => (200, None, None),
            Behaviour::Broken => (500, None, None),
            Behaviour::Redirecting => (302, None, None),
            Behaviour::Silent | Behaviour::Truncated => return None,
            Behaviour::Gone => (410, None, None),
            Behaviour::Disabling => (503, None, Some("disable")),
            Behaviour::Aborting => (400, None, Some("abort-message")),
            Behaviour::RetryAfter(seconds) => (429, Some(seconds.to_string()), None),
        };
        if matches!(behaviour, Behaviour::Gone | Behaviour::Disabling) {
            self.disabled_revisions.insert(revision);
        }
        *self.answers.entry((id.clone(), status)).or_default() += 1;
        Some(HttpAnswer {
            status,
            location: None,
            retry_after,
            webhook_delivery: webhook_delivery.map(str::to_owned),
            body: format!("{} thanks you", fields.user_id),
        })
    }

    pub fn answered(&self, transaction_id: &str, status: u16) -> usize {
        let key = (transaction_id.to_owned(), status);
        self.answers.get(&key).copied().unwrap_or(0)
    }

    pub fn has_accepted(&self, transaction_id: &str) -> bool {
        self.answered(transaction_id, 200) > 0
    }
}
