//! The publisher's receivers, one for each callback that was set: what they saw, and what they answered.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{prelude::*, sample::select};

use domain::callbacks::{
    fields::{Fields, Status},
    request::Request,
};
use platform::http_call::HttpAnswer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Well,
    Broken,
    Redirecting,
    /// It reads and does not answer.
    Silent,
    /// It answers, and the answer breaks off.
    Half,
    Gone,
    Disabling,
    Aborting,
    RetryAfter(u32),
}

pub fn manners() -> impl Strategy<Value = Manner> {
    use Manner as M;
    prop_oneof![
        6 => Just(M::Well),
        8 => select([M::Broken, M::Redirecting, M::Silent, M::Half].as_slice()),
        2 => select([M::Gone, M::Disabling, M::Aborting].as_slice()),
        2 => select([1, 100, 90_000, u32::MAX].as_slice()).prop_map(M::RetryAfter),
    ]
}

#[derive(Default)]
pub struct Receivers {
    /// What each transaction id says.
    seen: BTreeMap<String, Fields>,
    /// Whole answers given to each transaction id, by status.
    answers: BTreeMap<(String, u16), usize>,
    /// What a receiver was told to give, of a click that reached a goal.
    moved: BTreeMap<(String, String, bool), String>,
    /// Those that want no more, by the revision of the callback that leads to them.
    pub unwilling: BTreeSet<i64>,
}

impl Receivers {
    /// A callback arrives; the answer is what its sender gets if nothing is lost on the way.
    pub fn receive(&mut self, request: &Request, manner: Manner) -> Option<HttpAnswer> {
        let (_, revision) = request.url.rsplit_once('/').unwrap();
        let revision: i64 = revision.parse().unwrap();
        let mut body: serde_json::Value = serde_json::from_str(request.body.as_deref().unwrap()).unwrap();
        // Amounts are numbers in a callback, and texts in what it is made of.
        for amount in ["value", "payout"] {
            body[amount] = body[amount].to_string().into();
        }
        let fields: Fields = serde_json::from_value(body).unwrap();
        let id = &fields.transaction_id;
        assert!(!fields.user_id.is_empty());
        let first = self.seen.entry(id.clone()).or_insert_with(|| fields.clone());
        assert_eq!(*first, fields, "one transaction id says two things");
        let is_reversal = fields.status == Status::Reversed;
        // A click's identity, as the world puts it into c1.
        let click = fields.c1.clone().unwrap();
        let moved = self
            .moved
            .entry((click, fields.goal_id.clone(), is_reversal))
            .or_insert_with(|| id.clone());
        assert_eq!(moved, id, "one reward under two ids");
        assert_eq!(fields.original_transaction_id.is_some(), is_reversal);
        if let Some(original) = fields
            .original_transaction_id
            .as_ref()
            .and_then(|id| self.seen.get(id))
        {
            assert_eq!(fields.payout, original.payout.negated());
            assert_eq!(fields.value, original.value.negated());
            assert_eq!(fields.user_id, original.user_id);
        }

        let (status, retry_after, webhook_delivery) = match manner {
            Manner::Well => (200, None, None),
            Manner::Broken => (500, None, None),
            Manner::Redirecting => (302, None, None),
            Manner::Silent | Manner::Half => return None,
            Manner::Gone => (410, None, None),
            Manner::Disabling => (503, None, Some("disable")),
            Manner::Aborting => (400, None, Some("abort-message")),
            Manner::RetryAfter(seconds) => (429, Some(seconds.to_string()), None),
        };
        if matches!(manner, Manner::Gone | Manner::Disabling) {
            self.unwilling.insert(revision);
        }
        *self.answers.entry((id.clone(), status)).or_default() += 1;
        Some(HttpAnswer {
            status,
            retry_after,
            webhook_delivery: webhook_delivery.map(str::to_owned),
            body: format!("{} thanks you", fields.user_id),
        })
    }

    pub fn answered(&self, transaction_id: &str, status: u16) -> usize {
        let key = (transaction_id.to_owned(), status);
        self.answers.get(&key).copied().unwrap_or(0)
    }

    pub fn was_told(&self, transaction_id: &str) -> bool {
        self.answered(transaction_id, 200) > 0
    }
}
