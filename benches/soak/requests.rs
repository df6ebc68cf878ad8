//! Requests of each kind, generated when they are sent.

use serde_json::json;

use crate::{
    book::{Paid, Sums},
    harness::{CONVERSION, GOALS, OPERATOR_TOKEN, REPORT, encoded, now_ms, seal},
    large_catalog,
    mix::{About, Kind, Request, operator, text},
    random::Random,
    world::{APPS, DAYS, EDITED, OFFERS, Seller, WALLS, World, csv, date},
};
use domain::model::time::DAY_MS;

const OFFERS_PATH: &str = "/v1/offer/api";
const PHONE: &str =
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36";
const COUNTRIES: [&str; 6] = ["DE", "FR", "US", "GB", "BR", "JP"];
const CONVERTED: &[(u16, &str)] = &[(200, "")];
const JSON: (&str, &str) = ("Content-Type", "application/json");
const CSV: (&str, &str) = ("Content-Type", "text/csv");

/// A request of a kind that depends on no earlier answer; `None` for the other kinds.
pub fn request(world: &World, kind: Kind, random: &mut Random) -> Option<Request> {
    Some(match kind {
        Kind::Click => click(world, random),
        Kind::CappedClick => {
            let seller = seller(world, random);
            let goal = format!("{}-1", seller.click_capped());
            let path = click_path(&goal, &seller.app.to_string(), random);
            redirecting(&seller.id, &path, "DE", &[(302, ""), (410, "offer_capped")])
        }
        Kind::KnownPage => page(world, random.below(4), &known_page(random)),
        Kind::NewPage => page(world, random.below(APPS), &new_page(random)),
        Kind::Conversion => {
            let seller = random.below(WALLS);
            conversion(world, seller, &world.sellers[seller].id, random, CONVERTED)
        }
        Kind::CappedConversion => {
            let seller = random.below(WALLS);
            let offer = world.sellers[seller].capped();
            conversion(world, seller, &offer, random, &[(200, ""), (409, "conversion_capped")])
        }
        Kind::Repeat => repeat(world, random)?,
        Kind::Refused => refused(world, random),
        Kind::Operator => operated(world, random),
        Kind::Malformed => malformed(world, random),
        Kind::Refresh => {
            Request { text: operator("POST", "refresh", JSON, b""), stated: &[(200, "")], about: About::Nothing }
        }
        Kind::Report | Kind::Facts => return None,
    })
}

fn seller<'w>(world: &'w World, random: &mut Random) -> &'w Seller {
    &world.sellers[random.below(WALLS)]
}

fn click_path(goal: &str, app: &str, random: &mut Random) -> String {
    format!(
        "/v2/tracking/click?rid={goal}&app={app}&user_id=player-{}&gaid=fa072672-d432-11c4-885a-{:012x}&c1=level-{}",
        random.below(1_000_000),
        random.next() & 0xffff_ffff_ffff,
        random.below(50)
    )
}

fn redirecting(publisher: &str, path: &str, country: &str, stated: &'static [(u16, &'static str)]) -> Request {
    let headers = [("CF-IPCountry", country), ("User-Agent", PHONE), ("Accept-Language", "de-DE,de;q=0.9")];
    Request { text: text("GET", path, &headers, b""), stated, about: About::Click(publisher.to_owned()) }
}

/// Two thirds are for offers of every country and one third for any offer, from any country, so some are refused.
fn click(world: &World, random: &mut Random) -> Request {
    let country = COUNTRIES[random.below(COUNTRIES.len())];
    match random.below(100) {
        0 => redirecting(
            large_catalog::PUBLISHER,
            "/v2/tracking/click?rid=1000000&app=20000000",
            country,
            &[(400, "missing_field")],
        ),
        1 => {
            let path = click_path("no-such-goal", &large_catalog::app(0), random);
            redirecting(large_catalog::PUBLISHER, &path, country, &[(404, "unknown_goal")])
        }
        2..=19 => {
            let seller = seller(world, random);
            let path = click_path(&format!("{}-2", seller.id), &seller.app.to_string(), random);
            redirecting(&seller.id, &path, country, &[(302, "")])
        }
        _ => {
            let goal = large_catalog::goal(random.below(OFFERS * large_catalog::GOALS));
            let app = large_catalog::app(random.below(APPS));
            let stated = &[(302, ""), (403, "not_available_in_country"), (403, "not_available_on_platform")];
            redirecting(large_catalog::PUBLISHER, &click_path(&goal, &app, random), country, stated)
        }
    }
}

fn known_page(random: &mut Random) -> String {
    json!({"page": 1 + random.below(5), "size": 20}).to_string()
}

fn new_page(random: &mut Random) -> String {
    let countries: Vec<_> = (0..3).map(|_| COUNTRIES[random.below(COUNTRIES.len())]).collect();
    let ids: Vec<_> = (0..5).map(|_| random.below(1_000_000_000).to_string()).collect();
    let filters = json!([
        {"dim": "country", "match": {"type": "any", "value": countries}},
        {"dim": "offer_id", "match": {"type": "any", "value": (0..200).map(|n| ((n * 7 + random.below(7)) % OFFERS).to_string()).chain(ids).collect::<Vec<_>>()}}
    ]);
    json!({"page": 1, "size": 20, "filt": filters}).to_string()
}

fn page(world: &World, app: usize, body: &str) -> Request {
    let app = large_catalog::app(app);
    let headers = [("App-Id", app.as_str()), ("Pub-Key", &world.pub_key), JSON];
    Request {
        text: text("POST", OFFERS_PATH, &headers, body.as_bytes()),
        stated: &[(200, ""), (429, "rate_limit_exceeded")],
        about: About::Nothing,
    }
}

fn conversion(
    world: &World,
    seller: usize,
    offer: &str,
    random: &mut Random,
    stated: &'static [(u16, &'static str)],
) -> Request {
    let (goal, _, usd, _) = GOALS[random.below(GOALS.len())];
    let user = format!("player-{}", random.below(1_000_000));
    let of = &world.sellers[seller];
    let click_id = seal(&world.keys, &world.click(of, offer, &user, now_ms()));
    let path = format!("{CONVERSION}?click_id={click_id}&token={}&goal={offer}-{goal}", of.token);
    let micros = (usd * 1e6).round() as i64;
    Request { text: text("GET", &path, &[], b""), stated, about: About::Conversion(Paid { wall: seller, micros }) }
}

fn repeat(world: &World, random: &mut Random) -> Option<Request> {
    let recent = world.book.recent.lock().expect("a book");
    let (sent, transaction) = (!recent.is_empty()).then(|| recent[random.below(recent.len())].clone())?;
    Some(Request { text: sent.into_bytes(), stated: CONVERTED, about: About::Repeat(transaction) })
}

fn refused(world: &World, random: &mut Random) -> Request {
    let seller = seller(world, random);
    let user = format!("player-{}", random.below(1_000_000));
    let click = |days: i64| seal(&world.keys, &world.click(seller, &seller.id, &user, now_ms() - days * DAY_MS));
    let (query, stated): (_, &[(u16, &str)]) = match random.below(5) {
        0 => (format!("click_id={}&token=not-the-token", click(0)), &[(401, "invalid_token")]),
        1 => (format!("click_id=nonsense&token={}", seller.token), &[(400, "invalid_click_id")]),
        2 => (format!("click_id={}&token={}&goal=none", click(0), seller.token), &[(400, "unknown_goal")]),
        3 => (format!("click_id={}&token={}", click(40), seller.token), &[(410, "conversion_window_closed")]),
        _ => (format!("token={}", seller.token), &[(400, "missing_field")]),
    };
    Request { text: text("GET", &format!("{CONVERSION}?{query}"), &[], b""), stated, about: About::Nothing }
}

fn operated(world: &World, random: &mut Random) -> Request {
    let seller = seller(world, random);
    let text = match random.below(8) {
        0 => operator("GET", "offers?limit=100", JSON, b""),
        1 => operator("GET", &format!("publishers/{}/facts?limit=20", seller.id), JSON, b""),
        2 => operator("GET", &format!("apps/{}/conversions?limit=20", seller.app), JSON, b""),
        3 => operator("GET", &format!("apps/{}/callback", seller.app), JSON, b""),
        4 => operator("GET", "metrics", JSON, b""),
        5 => operator("GET", &format!("apps/{}", seller.app), JSON, b""),
        6 => operator("GET", &format!("publishers/{}/report_keys", seller.id), JSON, b""),
        _ => {
            let (id, mut offer) = world.edited[random.below(EDITED)].clone();
            offer["name"] = json!(format!("A game of version {}", random.below(1_000_000)));
            operator("PUT", &format!("offers/{id}"), JSON, offer.to_string().as_bytes())
        }
    };
    Request { text, stated: &[(200, "")], about: About::Nothing }
}

fn malformed(world: &World, random: &mut Random) -> Request {
    let credentials = [("App-Id", "20000000"), ("Pub-Key", world.pub_key.as_str())];
    let with = |header| [credentials[0], credentials[1], header];
    let long = format!("{CONVERSION}?click_id={}", encoded(&"%".repeat(500)));
    let (text, stated): (_, &[(u16, &str)]) = match random.below(9) {
        0 => (text("POST", OFFERS_PATH, &with(JSON), b"{\"page\": 1, "), &[(400, "invalid_json")]),
        1 => (text("POST", OFFERS_PATH, &with(JSON), b"{\"page\": 0, \"size\": 5}"), &[(400, "invalid_page")]),
        2 => (text("POST", OFFERS_PATH, &with(CSV), b"page,size"), &[(415, "unsupported_media_type")]),
        3 => (text("POST", OFFERS_PATH, &[JSON], b"{\"page\": 1, \"size\": 5}"), &[(401, "invalid_credentials")]),
        4 => (text("GET", "/v2/tracking/nothing?here=%ff", &[], b""), &[(404, "not_found")]),
        5 => (text("DELETE", "/v2/tracking/click?rid=1", &[], b""), &[(405, "method_not_allowed")]),
        6 => (text("GET", "/v1/operator/publishers", &[], b""), &[(401, "invalid_operator_token")]),
        7 => (text("POST", REPORT, &[("X-Api-Key", "sk_nobody_at_all"), JSON], b"{}"), &[(401, "invalid_api_key")]),
        _ => (text("GET", &long, &[], b""), &[(400, "missing_field"), (400, "invalid_click_id")]),
    };
    Request { text, stated, about: About::Nothing }
}

/// A seller's report, or one of its offers as a dashboard requests it.
pub fn report(world: &World, api_key: &str, random: &mut Random) -> Request {
    let dimensions = [&["date"][..], &["app", "country"], &["date", "app", "country"], &["demand_source"]];
    let body = json!({
        "date_range": {"start_date": date(world.today, DAYS).to_string(), "end_date": world.today.to_string()},
        "dimensions": dimensions[random.below(4)], "metrics": ["impressions", "clicks", "revenue", "ecpm"],
    });
    Request {
        text: text("POST", REPORT, &[("X-Api-Key", api_key), JSON], body.to_string().as_bytes()),
        stated: &[(200, ""), (204, ""), (429, "rate_limit_exceeded")],
        about: About::Nothing,
    }
}

/// Facts for a day that only this client loads, replacing or adding; and their sums.
pub fn facts(world: &World, seller: usize, day: usize, replaces: bool, seed: usize) -> (Request, Sums) {
    let path = format!("publishers/{}/facts", world.sellers[seller].id);
    let of = date(world.today, day);
    let (text, sums) = if replaces {
        let (body, sums) = csv(None, seed, 200);
        (operator("PUT", &format!("{path}/{of}"), CSV, body.as_bytes()), sums)
    } else {
        let (body, sums) = csv(Some(of), seed, 20);
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let key = format!("soak-{seed}");
        let headers = [("Authorization", authorization.as_str()), CSV, ("Idempotency-Key", &key)];
        (text("POST", &format!("/v1/operator/{path}"), &headers, body.as_bytes()), sums)
    };
    let request = Request { text, stated: &[(200, "")], about: About::Nothing };
    (request, sums)
}
