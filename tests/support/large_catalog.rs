//! Generates a catalog of any size for tests and benches: the apps of one publisher, and offers of three goals each.
//! Signpost is planned for 200,000 offers and 50,000 apps (docs/DECISIONS.md, "Storage and snapshots").

#![allow(dead_code, reason = "no binary uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

use std::fmt::Write;

use serde_json::{Value, json};

pub const PUBLISHER: &str = "big";
const PLATFORMS: [&str; 3] = ["android", "ios", "web"];
const COUNTRIES: [&str; 10] = ["DE", "FR", "US", "GB", "BR", "IN", "JP", "MX", "TR", "ID"];
/// Goals of each offer.
pub const GOALS: usize = 3;

/// The id of the n-th app. Platforms take turns: Android, iOS, web.
pub fn app(n: usize) -> String {
    format!("{:08}", 20_000_000 + n)
}

/// The id of the n-th goal, which belongs to the offer `n / GOALS`.
pub fn goal(n: usize) -> String {
    format!("{}", 1_000_000 + n)
}

/// The countries that the n-th offer targets; none means every country. Its platform is that of the n-th app.
pub fn countries(offer: usize) -> impl Iterator<Item = &'static str> {
    (0..offer % 4).map(move |n| COUNTRIES[(offer / 4 + n) % COUNTRIES.len()])
}

/// The text of the import.
pub fn catalog(offers: usize, apps: usize) -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, id: String, mut body: Value| {
        body["kind"] = json!(kind);
        body["id"] = json!(id);
        writeln!(lines, "{body}").unwrap();
    };
    line("publisher", PUBLISHER.into(), json!({"name": "Big", "approved": true}));
    line("advertiser", "adv".into(), json!({"name": "Adv"}));
    for n in 0..apps {
        let currency = json!({"name": "Coins", "per_usd": 1000, "decimals": 0, "rounding": "down"});
        let body = json!({
            "publisher_id": PUBLISHER, "name": format!("App {n}"), "platform": PLATFORMS[n % 3], "currency": currency
        });
        line("app", app(n), body);
    }
    for offer in 0..offers {
        let goals: Vec<_> = (0..GOALS)
            .map(|at| {
                json!({
                    "id": goal(offer * GOALS + at), "ttl": format!("Reach level {}", 10 * (at + 1)),
                    "instr": "1. Install the app\n2. Open it and finish the tutorial\n3. Play until the level is reached",
                    "payout_usd": 0.25 * (at + 1) as f64, "ord": at + 1, "gl_val": format!("level_{at}"),
                })
            })
            .collect();
        let include: Vec<_> = countries(offer).collect();
        let body = json!({
            "advertiser_id": "adv", "off_type": "CPE", "s_id": format!("com.example.game{offer}"),
            "name": format!("The long and winding game number {offer}"),
            "lp_url": format!("https://play.google.com/store/apps/details?id=com.example.game{offer}"),
            "target_url": format!("https://go.example.com/c/{offer}?click={{click_id}}&app={{app_id}}&sub={{user_id}}"),
            "ic_url": format!("https://cdn.example.com/icons/{offer}.png"),
            "desc": "A game of many levels. ".repeat(20), "ctg": ["GAMING", "MULTI_REWARD"],
            "os": PLATFORMS[offer % 3], "geo_tgt": {"include": include, "exclude": []},
            "goals": goals, "active": true,
        });
        line("offer", format!("{offer}"), body);
    }
    lines
}
