//! The demo catalog of `fixtures/`, read the naive way: line by line, nothing prepared. What the service says of it is
//! held against this.

#![allow(dead_code, reason = "no test binary uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

use std::collections::BTreeMap;

use serde_json::Value;

/// Resources by id, in the bytewise order of the ids, each as its line has it.
pub type Resources = BTreeMap<String, Value>;

#[derive(Clone)]
pub struct Demo {
    pub publishers: Resources,
    pub apps: Resources,
    pub advertisers: Resources,
    pub offers: Resources,
}

/// The lines as they are imported.
pub fn text() -> String {
    std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/..",
        "/fixtures/catalog.ndjson"
    ))
    .unwrap()
}

impl Demo {
    pub fn read() -> Self {
        let mut kinds: BTreeMap<String, Resources> = BTreeMap::new();
        for line in text().lines() {
            let mut resource: Value = serde_json::from_str(line).unwrap();
            let members = resource.as_object_mut().unwrap();
            let [kind, id] = ["kind", "id"].map(|name| members.remove(name).unwrap());
            let of_kind = kinds.entry(kind.as_str().unwrap().into()).or_default();
            let before = of_kind.insert(id.as_str().unwrap().into(), resource);
            assert!(before.is_none(), "{kind} {id} is there twice");
        }
        let mut take = |kind| kinds.remove(kind).unwrap();
        Self {
            publishers: take("publisher"),
            apps: take("app"),
            advertisers: take("advertiser"),
            offers: take("offer"),
        }
    }

    /// The offers that an app may show at an instant in UNIX seconds, while no cap is spent.
    pub fn visible(&self, app: &str, now_s: i64) -> impl Iterator<Item = (&String, &Value)> {
        let app = &self.apps[app];
        self.offers.iter().filter(move |(id, offer)| {
            let blocked = strings(&app["blocked_offers"]).any(|blocked| blocked == id.as_str());
            let for_platform = offer["os"] == app["platform"] || offer["os"] == "web";
            is_live(offer, now_s) && for_platform && !blocked
        })
    }
}

/// Active, and within its dates: live from `starts_at` on, and no longer from `ends_at` on.
pub fn is_live(offer: &Value, now_s: i64) -> bool {
    let starts_at = offer["starts_at"].as_i64().unwrap_or(i64::MIN);
    let ends_at = offer["ends_at"].as_i64().unwrap_or(i64::MAX);
    offer["active"] == true && starts_at <= now_s && now_s < ends_at
}

/// (include is empty or has the country) and exclude has it not.
pub fn is_for(offer: &Value, country: &str) -> bool {
    let names = |list: &str| strings(&offer["geo_tgt"][list]).any(|code| code == country);
    let anywhere = strings(&offer["geo_tgt"]["include"]).next().is_none();
    (anywhere || names("include")) && !names("exclude")
}

/// The strings of an array; none if it is absent.
pub fn strings(array: &Value) -> impl Iterator<Item = &str> {
    let values = array.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().map(|value| value.as_str().unwrap())
}
