//! A client that issues and revokes report keys: an issued key works, and a revoked key never works again.

use serde_json::json;

use super::world::{Client, Outcome, Sent, World};
use crate::{harness::ReportKey, random::Random};

/// The most keys in use. A publisher may have 100.
const MAX: usize = 30;

pub struct ReportKeys<'w> {
    world: &'w World<'w>,
    publisher: String,
    random: Random,
    issued: Vec<ReportKey>,
    revoked: Vec<(ReportKey, String)>,
}

impl<'w> ReportKeys<'w> {
    pub fn new(world: &'w World<'w>, publisher: &str, seed: u64) -> Self {
        world.signpost.publisher(publisher);
        Self { world, publisher: publisher.to_owned(), random: Random(seed), issued: Vec::new(), revoked: Vec::new() }
    }

    fn path(&self) -> String {
        format!("/v1/operator/publishers/{}/report_keys", self.publisher)
    }

    fn issue(&mut self) {
        let sent = Sent { media_type: Some("application/json"), body: br#"{"label": "chaos"}"#, ..Sent::default() };
        match self.world.attempt("report keys issued", "POST", &self.path(), &sent) {
            Outcome::Done(answer) => {
                let answer = answer.json();
                let text = |member: &str| answer[member].as_str().unwrap().to_owned();
                self.issued.push(ReportKey { id: text("key_id"), api_key: text("api_key") });
            }
            Outcome::Refused(answer) => panic!("{answer:?}"),
            Outcome::Doubt(_) => self.revoke_unknown(),
        }
    }

    /// Revokes keys that were issued but whose answers were lost.
    fn revoke_unknown(&mut self) {
        let listed = self.world.until_answered("read back", "GET", &self.path(), &Sent::default()).json();
        let listed: Vec<_> = listed["report_keys"]
            .as_array()
            .unwrap_or_else(|| panic!("{listed}"))
            .iter()
            .map(|key| key["key_id"].clone())
            .collect();
        for key in &self.issued {
            assert!(listed.contains(&json!(key.id)), "{} is not listed: {listed:?}", key.id);
        }
        for id in listed.iter().filter_map(|id| id.as_str()) {
            if !self.issued.iter().any(|key| key.id == id) {
                let path = format!("{}/{id}", self.path());
                self.world.until_answered("report keys revoked", "DELETE", &path, &Sent::default());
            }
        }
    }

    fn revoke(&mut self) {
        let key = self.issued.swap_remove(self.random.below(self.issued.len()));
        let path = format!("{}/{}", self.path(), key.id);
        let answer = self.world.until_answered("report keys revoked", "DELETE", &path, &Sent::default());
        assert!([204, 404].contains(&answer.status), "{answer:?}");
        self.revoked.push((key, format!("{answer:?}")));
    }

    /// Whether a key is accepted, or `None` without an answer.
    fn works(&self, key: &ReportKey) -> Option<bool> {
        let query = json!({
            "date_range": {"start_date": "2026-01-01", "end_date": "2026-01-02"},
            "dimensions": ["date"], "metrics": ["clicks"],
        });
        let answer = self.world.report(&key.api_key, &query)?;
        match answer.status {
            200 | 204 | 429 => Some(true),
            401 => Some(false),
            _ => panic!("{answer:?}"),
        }
    }

    /// Fails the test if an issued key is refused or a revoked one is accepted, as far as `works` has an answer.
    fn check(issued: &[ReportKey], revoked: &[(ReportKey, String)], works: impl Fn(&ReportKey) -> Option<bool>) {
        for key in issued {
            assert_ne!(works(key), Some(false), "{} was issued and does not work", key.id);
        }
        for (key, answer) in revoked {
            assert_ne!(works(key), Some(true), "{} was revoked and works: {answer}", key.id);
        }
    }
}

impl Client for ReportKeys<'_> {
    fn step(&mut self) {
        if self.issued.is_empty() || (self.issued.len() < MAX && self.random.below(2) == 0) {
            self.issue();
        } else {
            self.revoke();
        }
    }

    fn look(&mut self) {
        let one = |keys: usize, random: &mut Random| match keys {
            0 => 0..0,
            keys => {
                let at = random.below(keys);
                at..at + 1
            }
        };
        let issued = one(self.issued.len(), &mut self.random);
        let revoked = one(self.revoked.len(), &mut self.random);
        Self::check(&self.issued[issued], &self.revoked[revoked], |key| self.works(key));
    }

    fn verify(&mut self) -> usize {
        // Try each key until there is an answer.
        Self::check(&self.issued, &self.revoked, |key| Some(self.world.until_known(|| self.works(key))));
        self.issued.len() + self.revoked.len()
    }
}
