//! Tests pages against a model that renders each offer from the rules.

use std::{borrow::Borrow, collections::HashMap};

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{
    page::{AppListing, MissingChunk, Page, parts},
    request::OffersRequest,
    selection::{Selection, Selector},
};
use crate::{
    catalog::{Offer, plain_text::plain_text},
    model::{
        AppId, CurrencyRate, MicroUsd, OfferId, Platform,
        money::{PerUsd, Rounding},
    },
    snapshot::{
        bodies::{Chunk, build_chunk, render_body},
        envelope::Kind,
        listing::{ListedOffer, Listing},
        sample::{Published, any_offer, damaged, goal, id, offer, publish},
    },
};

/// The keys of the chunks with the bodies of these rows, each once, in order.
fn chunks_needed<'a>(listing: &'a Listing, rows: &'a [u32]) -> Vec<&'a str> {
    parts(listing, rows).map(|part| part.key).collect()
}

/// Renders a page of rows. `chunk` looks up a chunk by its key.
fn render<C: Borrow<Chunk>>(
    listing: &Listing,
    mut chunk: impl FnMut(&str) -> Option<C>,
    app: &AppListing,
    tracking_url: &str,
    rows: &[u32],
    total: u32,
) -> Result<Vec<u8>, MissingChunk> {
    let mut page = Page::new(app, tracking_url);
    for part in parts(listing, rows) {
        let chunk = chunk(part.key).ok_or_else(|| MissingChunk { key: part.key.to_owned() })?;
        page.add(listing, part, chunk.borrow())?;
    }
    Ok(page.finish(total))
}

const TRACKING_URL: &str = "https://t.example";
const UPD_TS: i64 = 1_790_000_000;

pub fn app(platform: Platform, blocked: Vec<OfferId>) -> AppListing {
    let currency =
        CurrencyRate { name: "Coins".into(), per_usd: PerUsd(42_500_000), decimals: 2, rounding: Rounding::Nearest };
    AppListing { id: AppId::parse("00000042").unwrap(), platform, currency, blocked, signs_clicks: false }
}

pub fn request(page: u32, size: u32, filt: &Value) -> OffersRequest {
    OffersRequest::from_body(&json!({ "page": page, "size": size, "filt": filt }).to_string()).unwrap()
}

struct Shelf(HashMap<String, Chunk>);

impl Shelf {
    fn open(published: Published) -> (Selector, Self) {
        let chunks = published.chunks.into_iter().map(|(key, value)| (key, Chunk::open(value).unwrap())).collect();
        (Selector::new(Listing::open(published.index).unwrap()), Self(chunks))
    }

    fn page(&self, selector: &Selector, app: &AppListing, selection: &Selection) -> Result<String, MissingChunk> {
        let lookup = |key: &str| self.0.get(key);
        let page = render(selector.listing(), lookup, app, TRACKING_URL, &selection.rows, selection.total)?;
        Ok(String::from_utf8(page).unwrap())
    }
}

/// The values that a page shows in addition to the offer itself.
#[derive(Clone, Debug, Default)]
struct Now {
    conversion_left: Option<u32>,
    click_left: Option<u32>,
    clicks: u64,
    conversions: u64,
    payout: i64,
}

fn any_now() -> impl Strategy<Value = Now> {
    let left = || proptest::option::of(1..=u32::MAX);
    let clicks = prop_oneof![Just(0), 1..20_u64, 1..2_000_000_u64];
    (left(), left(), clicks, 0..1_000_000_u64, -1_000_000_000..1_000_000_000_i64).prop_map(
        |(conversion_left, click_left, clicks, conversions, payout)| Now {
            conversion_left,
            click_left,
            clicks,
            conversions,
            payout,
        },
    )
}

/// A decimal number as JSON.
fn number(digits: &str) -> Value {
    serde_json::from_str(digits).unwrap()
}

/// `units` of 10^-12, rounded to `decimals` by looking at the dropped digits.
fn rounded(units: u128, decimals: u8, rounding: Rounding) -> u128 {
    let digits = format!("{units:013}");
    let (whole, dropped) = digits.split_at(digits.len() - 12 + usize::from(decimals));
    let up = match rounding {
        Rounding::Down => false,
        Rounding::Up => dropped.bytes().any(|digit| digit != b'0'),
        Rounding::Nearest => dropped.as_bytes()[0] >= b'5',
    };
    whole.parse::<u128>().unwrap() + u128::from(up)
}

fn decimal(units: u128, decimals: u8) -> Value {
    let digits = format!("{units:0width$}", width = usize::from(decimals) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    if fraction.bytes().all(|digit| digit == b'0') { number(whole) } else { number(&format!("{whole}.{fraction}")) }
}

/// An offer of docs/SPEC.md, "Offers response", rendered directly by the rules of docs/DECISIONS.md, "Offers".
fn naive(app: &AppListing, id: &OfferId, offer: &Offer, now: &Now) -> Value {
    let rate = &app.currency;
    let usd = |micro_usd: i64| json!({ "cur": "USD", "amt": decimal(micro_usd.unsigned_abs().into(), 6) });
    let in_app = |units: u128| json!({ "cur": rate.name, "amt": decimal(units, rate.decimals) });
    let mut goals: Vec<_> = offer.goals.iter().collect();
    goals.sort_by_key(|goal| (goal.ord, goal.id.as_str()));
    let amounts: Vec<u128> = goals
        .iter()
        .map(|goal| goal.payout_usd.0.unsigned_abs() as u128 * rate.per_usd.0.unsigned_abs() as u128)
        .map(|exact| rounded(exact, rate.decimals, rate.rounding))
        .collect();
    let base = format!("{TRACKING_URL}/v2/tracking/click?rid={}&app={}", goals[0].id, app.id);
    let placeholders = "&user_id={your_user_id}&gaid={gaid_for_android}&idfa={idfa_for_ios}";
    let signature = if app.signs_clicks { "&sig={sig}" } else { "" };
    let mut shown = json!({
        "id": id,
        "upd_ts": UPD_TS,
        "off_type": offer.off_type.as_str(),
        "s_id": offer.s_id,
        "name": plain_text(&offer.name),
        "lp_url": offer.lp_url,
        "pyt": usd(goals.iter().map(|goal| goal.payout_usd.0).sum()),
        "inapp_pyt": in_app(amounts.iter().sum()),
        "crtvs": { "ic_url": offer.ic_url },
        "desc": { "raw": plain_text(&offer.desc) },
        "ctg": offer.ctg,
        "gls": goals.iter().zip(&amounts).map(|(goal, &amount)| json!({
            "id": goal.id,
            "gl_val": goal.gl_val,
            "ttl": plain_text(&goal.ttl),
            "instr": plain_text(&goal.instr),
            "pyt": usd(goal.payout_usd.0),
            "inapp_pyt": in_app(amount),
            "ord": goal.ord,
        })).collect::<Vec<_>>(),
        "trk_url": format!("{base}{placeholders}{signature}"),
        "trk_url_base": base,
        "geo_tgt": { "include": offer.geo_tgt.include, "exclude": offer.geo_tgt.exclude },
        "os": offer.os.as_str(),
    });
    let mut set = |name: &str, value: Value| shown.as_object_mut().unwrap().insert(name.to_owned(), value);
    if now.clicks > 0 {
        // Computed in integer millionths, because a division in floating point rounds too early.
        let six_decimals = |millionths: i128| {
            let clicks = i128::from(now.clicks);
            let half_up = (2 * millionths.abs() + clicks) / (2 * clicks);
            let rounded = half_up * millionths.signum();
            match rounded % 1_000_000 {
                0 => json!(i64::try_from(rounded / 1_000_000).unwrap()),
                _ => json!(rounded as f64 / 1e6),
            }
        };
        let cr = six_decimals(i128::from(now.conversions) * 1_000_000);
        let epc = six_decimals(i128::from(now.payout));
        set("metrics", json!([{ "m_type": "GLOBAL", "cr": cr, "epc": epc }]));
    }
    for (name, left) in [("conversion_cap", now.conversion_left), ("click_cap", now.click_left)] {
        if let Some(left) = left {
            set(name, json!({ "dur": "DAILY", "lim": left }));
        }
    }
    shown
}

fn indexed(id: &OfferId, offer: &Offer, now: &Now) -> (ListedOffer, Vec<u8>) {
    let body = render_body(id, offer, UPD_TS);
    let offer = ListedOffer {
        conversion_left: now.conversion_left,
        click_left: now.click_left,
        clicks: now.clicks,
        conversions: now.conversions,
        payout: MicroUsd(now.payout),
        ..ListedOffer::new(id, offer, &body)
    };
    (offer, body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_page_matches_the_model_for_each_of_its_offers(
        offers in proptest::collection::btree_map("[a-z0-9]{1,4}", (any_offer(), any_now()), 0..12),
        platform in select(Platform::ALL.as_slice()),
        currency in ("[ -~é]{1,5}", 1..=100_000_000_000_i64, 0..=6_u8),
        rounding in select(vec![Rounding::Down, Rounding::Up, Rounding::Nearest]),
        (page, size) in (1..3_u32, 1..13_u32),
        signs_clicks: bool,
    ) {
        let (name, per_usd, decimals) = currency;
        let app = AppListing {
            currency: CurrencyRate { name, per_usd: PerUsd(per_usd), decimals, rounding },
            signs_clicks,
            ..app(platform, vec![])
        };
        let offers: Vec<_> = offers.iter().map(|(text, (offer, now))| (id(text), offer, now)).collect();
        let (list, bodies): (Vec<_>, Vec<_>) = offers.iter().map(|(id, offer, now)| indexed(id, offer, now)).unzip();
        let (selector, shelf) = Shelf::open(publish(&list, &bodies));

        let visible: Vec<_> =
            offers.iter().filter(|(_, offer, _)| [platform, Platform::Web].contains(&offer.os)).collect();
        let shown = visible.iter().skip((page as usize - 1) * size as usize).take(size as usize);
        let expected = json!({
            "offers": shown.map(|(id, offer, now)| naive(&app, id, offer, now)).collect::<Vec<_>>(),
            "total": visible.len(),
        });
        let selection = selector.select(&app, &request(page, size, &Value::Null));
        let body = shelf.page(&selector, &app, &selection).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    }
}

proptest! {
    #[test]
    fn a_damaged_listing_or_chunk_never_panics(
        index in damaged(&two_published().index, Kind::Listing),
        chunk in damaged(&two_published().chunks[0].1, Kind::Bodies),
        platform in select(Platform::ALL.as_slice()),
    ) {
        let sound = two_published();
        let blocked = vec![id("1")];
        let filt = json!([{ "dim": "country", "match": { "type": "any", "value": ["US", "ZW"] } }]);
        for (index, chunk) in [(sound.index, chunk), (index, sound.chunks[0].1.clone())] {
            let (Ok(listing), Ok(chunk)) = (Listing::open(index), Chunk::open(chunk)) else { continue };
            let (selector, app) = (Selector::new(listing), app(platform, blocked.clone()));
            let selection = selector.select(&app, &request(1, 1_000, &filt));
            let _ = render(selector.listing(), |_| Some(&chunk), &app, TRACKING_URL, &selection.rows, 0);
            let _ = chunks_needed(selector.listing(), &[0, 1, 2, u32::MAX]);
        }
    }
}

fn two_offers() -> (Selector, Shelf) {
    Shelf::open(two_published())
}

fn two_published() -> Published {
    let busy = Now { conversion_left: Some(12), click_left: Some(3_456), clicks: 3, conversions: 2, payout: 1_000_000 };
    let android = offer(vec![goal("g1", 10_000, 1), goal("g2", 750_000, 2)]);
    let web = Offer { os: Platform::Web, ..offer(vec![goal("g3", 1_000_000, 1)]) };
    let one = indexed(&id("1"), &android, &busy);
    let two = indexed(&id("2"), &web, &Now::default());
    publish(&[one.0, two.0], &[one.1, two.1])
}

#[test]
fn a_page_has_the_members_of_the_contract_in_their_order() {
    let (selector, shelf) = two_offers();
    let app = app(Platform::Android, vec![]);
    let selection = selector.select(&app, &request(1, 1, &Value::Null));
    let expected = concat!(
        r#"{"offers":[{"id":"1","upd_ts":1790000000,"off_type":"CPE","s_id":"com.example.app","name":"App & Co","#,
        r#""lp_url":"https://store.example/app?a=1&b=2","pyt":{"cur":"USD","amt":0.76},"#,
        r#""inapp_pyt":{"cur":"Coins","amt":32.31},"crtvs":{"ic_url":"https://cdn.example/icon.png"},"#,
        r#""desc":{"raw":"Play\nand \"win\""},"ctg":["MULTI_REWARD","GAMING"],"#,
        r#""gls":[{"id":"g1","gl_val":null,"ttl":"Goal g1","instr":"1. Install\n2. Open","#,
        r#""pyt":{"cur":"USD","amt":0.01},"inapp_pyt":{"cur":"Coins","amt":0.43},"ord":1},"#,
        r#"{"id":"g2","gl_val":null,"ttl":"Goal g2","instr":"1. Install\n2. Open","#,
        r#""pyt":{"cur":"USD","amt":0.75},"inapp_pyt":{"cur":"Coins","amt":31.88},"ord":2}],"#,
        r#""trk_url":"https://t.example/v2/tracking/click?rid=g1&app=00000042"#,
        r#"&user_id={your_user_id}&gaid={gaid_for_android}&idfa={idfa_for_ios}","#,
        r#""trk_url_base":"https://t.example/v2/tracking/click?rid=g1&app=00000042","#,
        r#""geo_tgt":{"include":[],"exclude":[]},"os":"android","#,
        r#""metrics":[{"m_type":"GLOBAL","cr":0.666667,"epc":0.333333}],"#,
        r#""conversion_cap":{"dur":"DAILY","lim":12},"click_cap":{"dur":"DAILY","lim":3456}}],"total":2}"#,
    );
    assert_eq!(shelf.page(&selector, &app, &selection).as_deref(), Ok(expected));
}

#[test]
fn a_page_without_offers_has_an_empty_list_and_the_total() {
    let (selector, shelf) = two_offers();
    let app = app(Platform::Ios, vec![id("2"), id("unknown")]);
    let selection = selector.select(&app, &request(1, 20, &Value::Null));
    let page = shelf.page(&selector, &app, &selection);
    assert_eq!(page.as_deref(), Ok(r#"{"offers":[],"total":0}"#));
}

#[test]
fn a_missing_chunk_is_named() {
    let (selector, shelf) = two_offers();
    let app = app(Platform::Android, vec![]);
    let selection = selector.select(&app, &request(1, 20, &Value::Null));
    let needed = chunks_needed(selector.listing(), &selection.rows);
    assert_eq!(needed, shelf.0.keys().collect::<Vec<_>>());
    let key = needed[0].to_owned();
    let other = Chunk::open(build_chunk::<&[u8]>([]).unwrap()).unwrap();
    for (shelf, chunks) in
        [("no chunk", HashMap::new()), ("a chunk without the body", HashMap::from([(key.clone(), other)]))]
    {
        let page = Shelf(chunks).page(&selector, &app, &selection);
        assert_eq!(page, Err(MissingChunk { key: key.clone() }), "{shelf}");
    }
    assert!(chunks_needed(selector.listing(), &[]).is_empty());
}
