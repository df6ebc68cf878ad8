//! Fuzz target for the operator's documents in import lines.

use serde_json::Value;

use super::{callbacks::MAX_LENGTH_AS_WRITTEN, clicks::is_header_value, offers::any_app, world::publish};
use contract::catalog::Resource;
use domain::{
    callbacks::{request::Endpoint, settings::MASKED_SECRET},
    catalog::{Offer, advertiser::Advertiser, app::App, publisher::Publisher},
    model::{OfferId, document::Document},
    offers::page::{Page, parts},
    snapshot::{bodies::Chunk, listing::Listing},
    tracking::target::Template,
};
use origin::objects::catalog::import::{self, Line};

/// Input: an import line with a resource, its kind and its id.
///
/// An accepted document reads the same after it was stored. A read app shows no secret, and its fallback URL fits into
/// a header. An offer's listing JSON equals its document, and its target is canonical.
pub fn line(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Line { resource, id, document, .. } = match import::read(text) {
        Ok(line) => line,
        Err(refusal) => {
            assert_eq!(refusal.status, 400);
            assert!(serde_json::from_str::<Value>(&refusal.body()).is_ok());
            return;
        }
    };
    match resource {
        Resource::Publisher => drop(reparsed::<Publisher>(&document)),
        Resource::Advertiser => drop(reparsed::<Advertiser>(&document)),
        Resource::App => app(&reparsed(&document)),
        Resource::Offer => offer(&id, &reparsed(&document)),
    }
}

fn reparsed<D: Document + PartialEq + std::fmt::Debug + serde::Serialize>(document: &str) -> D {
    let read = D::from_json(document).unwrap();
    let again = D::from_json(&serde_json::to_string(&read).unwrap());
    assert_eq!(again.as_ref(), Ok(&read));
    read
}

fn app(app: &App) {
    if let Some(fallback) = app.fallback() {
        assert!(is_header_value(&fallback) && fallback.starts_with("http"), "{fallback}");
    }
    let shown = app.masked();
    if let Some(callback) = &app.callback {
        assert!(Endpoint::parse(callback).is_ok());
        // Checks only the secret fields: a name may contain any text, even a secret's.
        let shown = shown.callback.as_ref().unwrap();
        assert_eq!(shown.secret, MASKED_SECRET);
        assert!(shown.previous_secret.as_ref().is_none_or(|secret| secret == MASKED_SECRET));
        assert!(shown.legacy_md5.as_ref().is_none_or(|legacy| legacy.secret == MASKED_SECRET));
    }
    for secret in [&shown.click_secret, &shown.previous_click_secret] {
        assert!(secret.as_ref().is_none_or(|secret| secret.0 == MASKED_SECRET));
    }
    if app.callback.is_some() || app.click_secret.is_some() {
        // A masked document must not be accepted, since its secrets would be lost.
        assert!(App::from_json(&serde_json::to_string(&shown).unwrap()).is_err());
    }
}

fn offer(id: &str, offer: &Offer) {
    let target = offer.target().unwrap();
    if target.as_str().len() <= MAX_LENGTH_AS_WRITTEN {
        assert_eq!(Template::parse(target.as_str()).as_ref(), Ok(&target));
    }
    let Some(id) = OfferId::parse(id) else { return };
    let published = publish([(&id, offer)].into_iter());
    let listing = Listing::open(published.index).unwrap();
    let (app, rows) = (any_app(), [0]);
    // An offer with a cap of zero is not listed.
    if listing.is_empty() {
        return;
    }
    let mut page = Page::new(&app, "https://track.example.com");
    for part in parts(&listing, &rows) {
        let (_, chunk) = published.chunks.iter().find(|(key, _)| key == part.key).unwrap();
        page.add(&listing, part, &Chunk::open(chunk.clone()).unwrap()).unwrap();
    }
    let page: Value = serde_json::from_slice(&page.finish(1)).unwrap();
    let shown = &page["offers"][0];
    assert_eq!(shown["id"], id.as_str());
    assert_eq!(shown["s_id"], offer.s_id.as_str());
    assert_eq!(shown["lp_url"], offer.lp_url.as_str());
    assert_eq!(shown["off_type"], offer.off_type.as_str());
    let goals = shown["gls"].as_array().unwrap();
    assert_eq!(goals.len(), offer.goals.len());
    for (shown, goal) in goals.iter().zip(offer.goals_in_order()) {
        assert_eq!(shown["id"], goal.id.as_str());
        assert_eq!(shown["gl_val"].as_str(), goal.gl_val.as_deref());
        assert_eq!(micros(&shown["pyt"]["amt"]), goal.payout_usd.0);
    }
    let sum = offer.goals.iter().map(|goal| goal.payout_usd.0).sum::<i64>();
    assert_eq!(micros(&shown["pyt"]["amt"]), sum);
    let in_app = |of: &Value| of["inapp_pyt"]["amt"].as_f64().unwrap();
    let sum = goals.iter().map(in_app).sum::<f64>();
    assert!((in_app(shown) - sum).abs() <= sum.abs() * 1e-9 + 1e-9);
}

/// A JSON amount in micro-USD.
fn micros(amount: &Value) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "amounts stay far below 2^53")]
    let micros = (amount.as_f64().unwrap() * 1e6).round() as i64;
    micros
}
