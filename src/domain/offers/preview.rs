//! Previews an offer: the API's answer to a sample app, and the target of a click. Nothing is published.

use serde_json::{Value, json};

use super::page::{AppListing, Page, parts};
use crate::{
    catalog::{Offer, offer::Cap},
    model::{AppId, CurrencyRate, OfferId, SECOND_MS},
    snapshot::{
        bodies::{Chunk, build_chunk, chunk_key, render_body},
        listing::{ChunkPlan, ListedOffer, Listing, build_index},
    },
    tracking::target::{self, Macros},
};

/// The sample app: 1,000 coins per USD.
const APP: &str = "10000001";
const CURRENCY: &str = r#"{"name":"Coins","per_usd":1000,"decimals":0,"rounding":"down"}"#;

/// The remaining cap that a preview shows. A cap of 0 shows as 1, because a listing never has an offer whose cap is
/// used up.
fn left(cap: Cap) -> u32 {
    cap.lim.max(1)
}

/// Previews an offer. Returns `None` if it cannot be rendered, which never happens to a checked offer.
pub fn preview(id: &OfferId, offer: &Offer, tracking_url: &str, now_ms: i64) -> Option<Value> {
    let (listing, chunk) = build(&[(id.clone(), offer.clone())], now_ms.div_euclid(SECOND_MS))?;
    let currency: CurrencyRate = serde_json::from_str(CURRENCY).ok()?;
    let app =
        AppListing { id: AppId::parse(APP)?, platform: offer.os, currency, blocked: Vec::new(), signs_clicks: false };
    let mut page = Page::new(&app, tracking_url.trim_end_matches('/'));
    for part in parts(&listing, &[0]) {
        page.add(&listing, part, &chunk).ok()?;
    }
    let page: Value = serde_json::from_slice(&page.finish(1)).ok()?;
    let goal = offer.goals_in_order().first()?.id.clone();
    let macros = Macros {
        click_id: "CLICK-ID",
        goal_id: goal.as_str(),
        offer_id: id.as_str(),
        app_id: APP,
        user_id: "sample-user",
        gaid: "",
        idfa: "",
        custom: [""; 5],
        country: "DE",
    };
    let mut location = String::new();
    target::fill(offer.target().ok()?.as_str(), &macros, &mut location);
    Some(json!({ "offer": page.get("offers")?.get(0)?, "redirect_url": location }))
}

/// Builds a listing of a few offers in the order of their ids, and the chunk with their bodies. `upd_ts_s` is shown as
/// the time of each offer's last change, in UNIX seconds.
pub(super) fn build(offers: &[(OfferId, Offer)], upd_ts_s: i64) -> Option<(Listing, Chunk)> {
    let render = |(id, offer): &(OfferId, Offer)| render_body(id, offer, upd_ts_s);
    let bodies: Vec<_> = offers.iter().map(render).collect();
    let listed = offers.iter().zip(&bodies).map(|((id, offer), body)| {
        let [conversion_left, click_left] = [offer.conversion_cap, offer.click_cap].map(|cap| cap.map(left));
        ListedOffer { conversion_left, click_left, ..ListedOffer::new(id, offer, body) }
    });
    let listed: Vec<_> = listed.collect();
    let only = ChunkPlan { key: chunk_key(listed.iter().map(|offer| &offer.body_hash)), range: 0..listed.len() };
    let index = build_index(1, upd_ts_s.saturating_mul(SECOND_MS), &listed, &[only]);
    let chunk = Chunk::open(build_chunk(&bodies).ok()?).ok()?;
    Some((Listing::open(index).ok()?, chunk))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        catalog::offer::CapPeriod,
        snapshot::sample::{any_offer, goal, id, offer},
    };

    const NOW_MS: i64 = 1_795_000_000_000;

    #[test]
    fn an_offer_is_shown_as_the_api_gives_it_with_its_redirect() {
        let sample = Offer {
            target_url: Some("https://t.example.com/c?id={click_id}&u={user_id}&g={goal_id}".into()),
            ..offer(vec![goal("g-2", 500_000, 2), goal("g-1", 1_250_000, 1)])
        };
        let shown = preview(&id("90001"), &sample, "https://track.example.com/", NOW_MS).unwrap();
        assert_eq!(shown["offer"]["id"], "90001");
        assert_eq!(shown["offer"]["gls"][0]["id"], "g-1");
        assert_eq!(shown["offer"]["gls"][0]["inapp_pyt"]["amt"], 1250);
        assert_eq!(shown["redirect_url"], "https://t.example.com/c?id=CLICK-ID&u=sample-user&g=g-1");
    }

    fn cap() -> impl Strategy<Value = Option<Cap>> {
        proptest::option::of((0..2_u32).prop_map(|lim| Cap { dur: CapPeriod::Daily, lim }))
    }

    proptest! {
        #[test]
        fn any_offer_has_a_preview(sample in any_offer(), caps in [cap(), cap()]) {
            let [conversion_cap, click_cap] = caps;
            let target_url = Some("https://t.example.com/c?id={click_id}&u={user_id}".into());
            let sample = Offer { target_url, conversion_cap, click_cap, ..sample };
            prop_assert!(preview(&id("90001"), &sample, "https://track.example.com", NOW_MS).is_some());
        }
    }
}
