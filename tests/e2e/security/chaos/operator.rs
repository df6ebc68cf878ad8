//! A client that changes the catalog as the operator: single documents, imports, and a publisher's Pub-Key.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    facts::tail,
    world::{Client, Outcome, Sent, World},
};
use crate::random::Random;

/// Documents of each kind.
const EACH: usize = 4;

struct Document {
    kind: &'static str,
    id: String,
    /// The possible versions: the last acknowledged one, and later ones in doubt.
    candidates: Vec<usize>,
    history: Vec<String>,
}

impl Document {
    fn body(&self, version: usize) -> Value {
        let name = format!("version {version}");
        match self.kind {
            "publisher" => json!({"name": name, "approved": true}),
            "advertiser" => json!({ "name": name }),
            "app" => json!({
                "publisher_id": "chaos-operator", "name": name, "platform": "web",
                "currency": {"name": "Coins", "per_usd": 10 + version, "decimals": 0, "rounding": "down"},
            }),
            _ => json!({
                "advertiser_id": "chaos-operator", "off_type": "CPI", "s_id": "com.example.game", "name": name,
                "lp_url": "https://adv.example/about", "ic_url": "https://adv.example/icon.png", "desc": "Play it",
                "ctg": ["GAMING"], "os": "web", "geo_tgt": {"include": [], "exclude": []}, "active": true,
                // One goal that stays, and one of this version. Those of earlier versions are retired.
                "goals": [
                    {"id": format!("{}-g", self.id), "ttl": name, "instr": "1. Play", "payout_usd": 1 + version, "ord": 1},
                    {"id": format!("{}-g{version}", self.id), "ttl": name, "instr": "1. Play", "payout_usd": 1, "ord": 2},
                ],
            }),
        }
    }

    fn path(&self) -> String {
        format!("/v1/operator/{}s/{}", self.kind, self.id)
    }
}

pub struct Operator<'w> {
    world: &'w World<'w>,
    random: Random,
    version: usize,
    documents: Vec<Document>,
    /// The publisher's current Pub-Key, if it is known, and the former ones.
    pub_keys: (Option<String>, Vec<String>),
}

impl<'w> Operator<'w> {
    pub fn new(world: &'w World<'w>, seed: u64) -> Self {
        let signpost = world.signpost;
        signpost.put("publishers/chaos-operator", &json!({"name": "Chaos", "approved": true}));
        signpost.put("advertisers/chaos-operator", &json!({"name": "Chaos"}));
        let mut documents = Vec::new();
        for number in 0..EACH {
            for kind in ["publisher", "advertiser", "app", "offer"] {
                let id = if kind == "app" { format!("7770000{number}") } else { format!("chaos-{kind}-{number}") };
                let document = Document { kind, id, candidates: vec![0], history: Vec::new() };
                let path = format!("{kind}s/{}", document.id);
                signpost.put(&path, &document.body(0));
                documents.push(document);
            }
        }
        let pub_keys = (Some(signpost.issue_pub_key("chaos-operator")), Vec::new());
        Self { world, random: Random(seed), version: 0, documents, pub_keys }
    }

    fn put(&mut self) {
        self.version += 1;
        let document = &mut self.documents[self.random.below(4 * EACH)];
        let body = document.body(self.version).to_string();
        let sent = Sent { media_type: Some("application/json"), body: body.as_bytes(), ..Sent::default() };
        match self.world.attempt("catalog documents", "PUT", &document.path(), &sent) {
            Outcome::Done(_) => {
                document.history.push(format!("version {} acknowledged", self.version));
                document.candidates = vec![self.version];
            }
            Outcome::Refused(answer) => panic!("{answer:?}"),
            Outcome::Doubt(problem) => {
                document.history.push(format!("version {} in doubt: {}", self.version, tail(&problem)));
                document.candidates.push(self.version);
            }
        }
    }

    /// Imports several documents, of which all or none must be applied.
    fn import(&mut self) {
        self.version += 1;
        let version = self.version;
        let first = self.random.below(4 * EACH - 8);
        let chosen = first..first + 8;
        let mut lines = String::new();
        for document in &self.documents[chosen.clone()] {
            let mut line = document.body(version);
            line["kind"] = json!(document.kind);
            line["id"] = json!(document.id);
            lines += &format!("{line}\n");
        }
        let sent = Sent { media_type: Some("application/x-ndjson"), body: lines.as_bytes(), ..Sent::default() };
        let doubt = match self.world.attempt("imports", "POST", "/v1/operator/import", &sent) {
            Outcome::Done(answer) => {
                assert_eq!(answer.json(), json!({"imported": 8}), "{answer:?}");
                None
            }
            Outcome::Refused(answer) => panic!("{answer:?}"),
            Outcome::Doubt(problem) => Some(problem),
        };
        for document in &mut self.documents[chosen.clone()] {
            match &doubt {
                None => {
                    document.history.push(format!("version {version} imported"));
                    document.candidates = vec![version];
                }
                Some(problem) => {
                    document.history.push(format!("version {version} imported, in doubt: {}", tail(problem)));
                    document.candidates.push(version);
                }
            }
        }
        if doubt.is_some() {
            self.check_import(chosen, version);
        }
    }

    /// Reads the documents of an import in doubt at once: all or none must be applied.
    fn check_import(&mut self, chosen: std::ops::Range<usize>, version: usize) {
        let mut applied = BTreeMap::new();
        for at in chosen {
            let answer = self.world.until_answered("read back", "GET", &self.documents[at].path(), &Sent::default());
            let document = &mut self.documents[at];
            document.observe(&answer.expect(200).json());
            applied.insert(document.id.clone(), document.candidates == [version]);
        }
        let count = applied.values().filter(|applied| **applied).count();
        assert!(count == 0 || count == applied.len(), "half of an import was applied: {applied:?}");
    }

    fn issue_pub_key(&mut self) {
        let path = "/v1/operator/publishers/chaos-operator/pub_key";
        let outcome = self.world.attempt("Pub-Keys issued", "POST", path, &Sent::default());
        let issued = match outcome {
            Outcome::Done(answer) => Some(answer.json()["pub_key"].as_str().unwrap().to_owned()),
            Outcome::Refused(answer) => panic!("{answer:?}"),
            // The key is the former one, or a new one whose answer was lost.
            Outcome::Doubt(_) => None,
        };
        let (newest, former) = &mut self.pub_keys;
        match (newest.take(), &issued) {
            (Some(before), Some(_)) => former.push(before),
            (Some(before), None) => {
                let shown = self.world.until_answered("read back", "GET", path, &Sent::default()).json();
                let shown = shown["pub_key"].as_str().unwrap();
                assert!(!former.iter().any(|known| known == shown), "a former Pub-Key is the newest again");
                if shown != before {
                    former.push(before);
                }
                *newest = Some(shown.to_owned());
                return;
            }
            (None, _) => {}
        }
        *newest = issued;
    }

    /// The current Pub-Key lists offers, and no former one does.
    fn check_pub_keys(&mut self) -> usize {
        let path = "/v1/operator/publishers/chaos-operator/pub_key";
        let (newest, former) = &self.pub_keys;
        let newest = newest.as_ref().expect("a Pub-Key is read back when its answer is lost");
        let shown = self.world.until_answered("read back", "GET", path, &Sent::default()).json();
        assert_eq!(shown["pub_key"].as_str(), Some(newest.as_str()), "the newest Pub-Key");
        self.world.signpost.refresh();
        let body = json!({"page": 1, "size": 1});
        let ask = |key: &str| self.world.signpost.offers("77700000", key, &body);
        self.restore_app();
        self.world.signpost.refresh();
        ask(newest).expect(200);
        for key in former.iter().rev().take(20) {
            ask(key).expect_error(401, "invalid_credentials");
        }
        former.len() + 1
    }

    fn restore_app(&self) {
        let app = self.documents.iter().find(|document| document.kind == "app").unwrap();
        let body = app.body(*app.candidates.last().unwrap());
        self.world.signpost.put(app.path().trim_start_matches("/v1/operator/"), &body);
    }
}

impl Document {
    /// Checks that a stored document is one of the candidates, which then is the only one.
    fn observe(&mut self, stored: &Value) {
        let name = stored["name"].as_str().unwrap_or_default();
        let version: usize = name.trim_start_matches("version ").parse().unwrap_or(usize::MAX);
        let what = format!("{} {}: {stored}\n{:#?}", self.kind, self.id, self.history);
        assert!(self.candidates.contains(&version), "not one of {:?}: {what}", self.candidates);
        // All members must be of that version.
        for (member, value) in self.body(version).as_object().unwrap() {
            if member == "goals" {
                let payouts = |goals: &Value| -> Vec<(Value, Value)> {
                    goals.as_array().unwrap().iter().map(|goal| (goal["id"].clone(), goal["ttl"].clone())).collect()
                };
                assert_eq!(payouts(&stored["goals"]), payouts(value), "mixed: {what}");
            } else {
                assert_eq!(&stored[member], value, "{member} comes from another version: {what}");
            }
        }
        self.history.push(format!("read back as version {version}"));
        self.candidates = vec![version];
    }
}

impl Client for Operator<'_> {
    fn step(&mut self) {
        match self.random.below(20) {
            0 => self.issue_pub_key(),
            1 => {
                let _ = self.world.attempt("refreshes", "POST", "/v1/operator/refresh", &Sent::default());
            }
            2..5 => self.import(),
            _ => self.put(),
        }
    }

    fn look(&mut self) {
        let document = &mut self.documents[self.random.below(4 * EACH)];
        if let Some(answer) = self.world.read(&document.path()) {
            document.observe(&answer.expect(200).json());
        }
    }

    fn verify(&mut self) -> usize {
        for document in &mut self.documents {
            let answer = self.world.until_answered("read back", "GET", &document.path(), &Sent::default());
            document.observe(&answer.expect(200).json());
        }
        self.documents.len() + self.check_pub_keys()
    }
}
