//! Reads the demo catalog of `fixtures/` in the simplest way, line by line. Tests compare the service's answers with
//! it.

#![allow(dead_code, reason = "no test binary uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

use std::collections::BTreeMap;

use serde_json::Value;

/// Resources by id, in bytewise order of the ids, each as in its line without `kind` and `id`.
pub type Resources = BTreeMap<String, Value>;

#[derive(Clone)]
pub struct Demo {
    pub publishers: Resources,
    pub apps: Resources,
    pub advertisers: Resources,
    pub offers: Resources,
}

/// The text of the import.
pub fn text() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/..", "/fixtures/catalog.ndjson")).unwrap()
}

impl Demo {
    pub fn read() -> Self {
        let mut kinds: BTreeMap<String, Resources> = BTreeMap::new();
        for line in text().lines() {
            let mut resource: Value = serde_json::from_str(line).unwrap();
            let members = resource.as_object_mut().unwrap();
            let [kind, id] = ["kind", "id"].map(|name| members.remove(name).unwrap());
            let resources = kinds.entry(kind.as_str().unwrap().into()).or_default();
            let before = resources.insert(id.as_str().unwrap().into(), resource);
            assert!(before.is_none(), "{kind} {id} is duplicated");
        }
        let mut take = |kind| kinds.remove(kind).unwrap();
        Self {
            publishers: take("publisher"),
            apps: take("app"),
            advertisers: take("advertiser"),
            offers: take("offer"),
        }
    }

    /// The offers that an app may show at a time in UNIX seconds, while no cap is used up.
    pub fn visible(&self, app: &str, now_s: i64) -> impl Iterator<Item = (&String, &Value)> {
        let app = &self.apps[app];
        self.offers.iter().filter(move |(id, offer)| {
            let blocked = strings(&app["blocked_offers"]).any(|blocked| blocked == id.as_str());
            let for_platform = offer["os"] == app["platform"] || offer["os"] == "web";
            is_live(offer, now_s) && for_platform && !blocked
        })
    }
}

/// Whether an offer is active and `starts_at <= now < ends_at`, in UNIX seconds.
pub fn is_live(offer: &Value, now_s: i64) -> bool {
    let starts_at = offer["starts_at"].as_i64().unwrap_or(i64::MIN);
    let ends_at = offer["ends_at"].as_i64().unwrap_or(i64::MAX);
    offer["active"] == true && starts_at <= now_s && now_s < ends_at
}

/// Whether an offer targets a country: `include` is empty or has it, and `exclude` does not have it.
pub fn is_for(offer: &Value, country: &str) -> bool {
    let names = |list: &str| strings(&offer["geo_tgt"][list]).any(|code| code == country);
    let anywhere = strings(&offer["geo_tgt"]["include"]).next().is_none();
    (anywhere || names("include")) && !names("exclude")
}

/// The strings of an array, or none if it is absent.
pub fn strings(array: &Value) -> impl Iterator<Item = &str> {
    let values = array.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().map(|value| value.as_str().unwrap())
}
