//! Renders a page of offers for an app (docs/SPEC.md, "Offers response"). Bodies are copied from their chunks. Amounts
//! in the app's currency, the app's tracking URLs, remaining caps and metrics are spliced in.

use std::io::Write;

use xxhash_rust::xxh3::xxh3_128;

use crate::{
    model::{AppId, CurrencyRate, MINUTE_MS, MicroUsd, OfferId, Platform, SECOND_MS, money::InAppAmount},
    snapshot::{
        bodies::{Body, Chunk, Cut},
        listing::{Figures, Listing},
    },
};

/// The interval of listing rebuilds, in milliseconds: every fifth minute of the hour (docs/SPEC.md, "Limits").
pub const REFRESH_MS: i64 = 5 * MINUTE_MS;
/// The `max-age` of a page while a rebuild is overdue, in seconds.
const OVERDUE_S: u32 = 5;

/// The data of the requesting app that a page needs.
#[derive(Clone, Debug)]
pub struct AppListing {
    /// The app in tracking URLs.
    pub id: AppId,
    /// The app sees offers of this platform and of the web.
    pub platform: Platform,
    /// The currency of `inapp_pyt`.
    pub currency: CurrencyRate,
    /// Offers that the app does not show, in any order.
    pub blocked: Vec<OfferId>,
    /// True if the app's clicks must be signed.
    pub signs_clicks: bool,
}

/// A chunk of bodies is missing, or lacks a body that the listing refers to. `key` is as in [`Part`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingChunk {
    /// The chunk to load.
    pub key: String,
}

/// Consecutive rows of a page whose bodies are in one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The chunk's key; empty if the listing is damaged.
    pub key: &'a str,
    /// Rows of the listing.
    pub rows: &'a [u32],
}

/// The parts of a page, in page order. A large page with a rare filter may need most of the chunks, which together may
/// exceed an isolate's memory. So load the chunks one after the other, and [`Page::add`] each part.
pub fn parts<'a>(listing: &'a Listing, rows: &'a [u32]) -> impl Iterator<Item = Part<'a>> {
    let chunk = |row: &u32| listing.figures(*row).map(|figures| figures.chunk);
    rows.chunk_by(move |a, b| chunk(a) == chunk(b)).map(move |rows| {
        let key = rows.first().and_then(chunk).and_then(|chunk| listing.chunk_key(chunk));
        Part { key: key.unwrap_or_default(), rows }
    })
}

/// A strong validator for a rendered page, with its quotes.
pub fn etag(page: &[u8]) -> String {
    format!("\"{:032x}\"", xxh3_128(page))
}

/// The `max-age` of a page, in seconds: until the next rebuild of the listing is due.
pub fn max_age_s(now_ms: i64, built_at_ms: i64) -> u32 {
    let next_ms = built_at_ms.div_euclid(REFRESH_MS).saturating_add(1).saturating_mul(REFRESH_MS);
    let left_ms = next_ms.saturating_sub(now_ms);
    if left_ms <= 0 {
        return OVERDUE_S;
    }
    // If this clock is behind the catalog's, a page still lives no longer than one interval.
    let left_s = (left_ms.min(REFRESH_MS) + SECOND_MS - 1) / SECOND_MS;
    u32::try_from(left_s).unwrap_or(OVERDUE_S)
}

/// A page that is being rendered: the text that all its offers share, and buffers.
#[derive(Debug)]
pub struct Page<'a> {
    currency: &'a CurrencyRate,
    /// `,"inapp_pyt":{"cur":"Coins","amt":`
    inapp_pyt: String,
    /// `https://…/v2/tracking/click?rid=`, escaped as inside a JSON string.
    click_url: String,
    /// `&app=10000001`
    app_parameter: String,
    /// The placeholders at the end of `trk_url`.
    placeholders: String,
    amounts: Vec<InAppAmount>,
    number: String,
    out: Vec<u8>,
}

impl<'a> Page<'a> {
    /// `tracking_url` is the setting `TRACKING_URL`, without a slash at its end.
    pub fn new(app: &'a AppListing, tracking_url: &str) -> Self {
        let name = serde_json::Value::from(app.currency.name.as_str());
        let url = serde_json::Value::from(format!("{tracking_url}/v2/tracking/click?rid=")).to_string();
        Self {
            currency: &app.currency,
            inapp_pyt: format!(",\"inapp_pyt\":{{\"cur\":{name},\"amt\":"),
            click_url: url.trim_matches('"').to_owned(),
            app_parameter: format!("&app={}", app.id),
            placeholders: [USER_DATA, if app.signs_clicks { SIGNATURE } else { "" }].concat(),
            amounts: Vec::new(),
            number: String::new(),
            out: b"{\"offers\":[".to_vec(),
        }
    }

    /// Appends the next part of the page from its chunk. After an error the page must be discarded.
    pub fn add(&mut self, listing: &Listing, part: Part<'_>, chunk: &Chunk) -> Result<(), MissingChunk> {
        for &row in part.rows {
            let figures = listing.figures(row);
            let offer = figures.and_then(|figures| Some((chunk.body(figures.slot)?, figures)));
            let added = offer.and_then(|(body, figures)| self.offer(&body, &figures));
            added.ok_or_else(|| MissingChunk { key: part.key.to_owned() })?;
        }
        Ok(())
    }

    /// The body of the answer; `total` counts the offers on all pages.
    pub fn finish(mut self, total: u32) -> Vec<u8> {
        // Writing to a Vec cannot fail.
        let _ = write!(self.out, "],\"total\":{total}}}");
        // The page cache keeps the page for minutes, so spare capacity would be wasted.
        self.out.shrink_to_fit();
        self.out
    }

    fn offer(&mut self, body: &Body<'_>, figures: &Figures) -> Option<()> {
        if !self.out.ends_with(b"[") {
            self.out.push(b',');
        }
        let Self { currency, inapp_pyt, click_url, app_parameter, placeholders, amounts, number, out } = self;
        amounts.clear();
        amounts.extend(body.payouts().map(|payout| currency.convert(payout)));
        // An offer's amount is the sum of its goals' amounts, each rounded separately, so that they add up as shown.
        let sum = InAppAmount(amounts.iter().fold(0, |sum, amount| sum.saturating_add(amount.0)));
        let mut amount = |out: &mut Vec<u8>, amount: InAppAmount| {
            number.clear();
            currency.write_amount(number, amount);
            extend(out, &[inapp_pyt, number, "}"]);
        };
        body.splice(out, |out, cut| match cut {
            Cut::OfferAmount => amount(out, sum),
            Cut::GoalAmount(place) => amount(out, amounts.get(place).copied().unwrap_or_default()),
            Cut::Tracking(goal) => {
                extend(out, &[",\"trk_url\":\"", click_url]);
                out.extend_from_slice(goal);
                extend(out, &[app_parameter, placeholders, "\",\"trk_url_base\":\"", click_url]);
                out.extend_from_slice(goal);
                extend(out, &[app_parameter, "\""]);
            }
        })?;
        self.metrics(figures);
        self.cap("conversion_cap", figures.conversion_left);
        self.cap("click_cap", figures.click_left);
        self.out.push(b'}');
        Some(())
    }

    /// Appends the metrics of the last 30 days, unless there are no clicks to divide by.
    fn metrics(&mut self, figures: &Figures) {
        if figures.clicks == 0 {
            return;
        }
        let conversions = i128::from(figures.conversions).saturating_mul(1_000_000);
        extend(&mut self.out, &[",\"metrics\":[{\"m_type\":\"GLOBAL\",\"cr\":"]);
        self.micros(per_click(conversions, figures.clicks));
        extend(&mut self.out, &[",\"epc\":"]);
        self.micros(per_click(i128::from(figures.payout.0), figures.clicks));
        extend(&mut self.out, &["}]"]);
    }

    fn cap(&mut self, name: &str, left: Option<u32>) {
        if let Some(left) = left {
            extend(&mut self.out, &[",\"", name, "\":{\"dur\":\"DAILY\",\"lim\":"]);
            let _ = write!(self.out, "{left}}}");
        }
    }

    /// Appends a number of millionths as a decimal.
    fn micros(&mut self, millionths: i64) {
        self.number.clear();
        MicroUsd(millionths).write_usd(&mut self.number);
        self.out.extend_from_slice(self.number.as_bytes());
    }
}

/// The placeholders of `trk_url`, which the app replaces (docs/SPEC.md, "Offers response").
const USER_DATA: &str = "&user_id={your_user_id}&gaid={gaid_for_android}&idfa={idfa_for_ios}";
/// The placeholder of the signature, which the app's backend replaces.
const SIGNATURE: &str = "&sig={sig}";

/// Divides and rounds to the nearest integer, halves away from zero. Reversals may make a sum negative.
fn per_click(sum: i128, clicks: u64) -> i64 {
    let clicks = u128::from(clicks);
    let size = (sum.unsigned_abs() + clicks / 2) / clicks;
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    if sum < 0 { -size } else { size }
}

fn extend(out: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_be_cached_until_the_next_rebuild() {
        let noon_ms = 1_800_000_000_000;
        for (now_ms, built_at_ms, expected_s) in [
            (noon_ms, noon_ms, 300),
            (noon_ms + 1, noon_ms, 300),
            (noon_ms + 1_000, noon_ms, 299),
            (noon_ms + 299_001, noon_ms, 1),
            // After a manual rebuild in between, the next boundary is the same.
            (noon_ms + 200_000, noon_ms + 120_000, 100),
            // The rebuild is overdue.
            (noon_ms + 300_000, noon_ms, 5),
            (noon_ms + 86_400_000, noon_ms, 5),
            // Clocks that differ, and clocks that are wrong by any amount.
            (noon_ms - 10_000, noon_ms, 300),
            (i64::MIN, i64::MAX, 300),
            (i64::MAX, i64::MIN, 5),
        ] {
            let max_age_s = max_age_s(now_ms, built_at_ms);
            assert_eq!(max_age_s, expected_s, "{now_ms} {built_at_ms}");
        }
    }

    #[test]
    fn an_etag_is_strong_and_depends_on_every_byte() {
        let tag = etag(b"{}");
        let is_quoted = tag.starts_with('"') && tag.ends_with('"');
        assert!(tag.len() == 34 && is_quoted, "{tag}");
        assert_eq!(tag, etag(b"{}"));
        assert_ne!(tag, etag(b"{} "));
    }

    #[test]
    fn a_rate_is_rounded_to_the_nearest_millionth() {
        for (sum, clicks, expected) in [
            (0, 7, 0),
            (2_000_000, 3, 666_667),
            (1_000_000, 3, 333_333),
            (1, 2, 1),
            (-1, 2, -1),
            (-1_000_000, 3, -333_333),
            (i128::from(u64::MAX) * 1_000_000, 1, i64::MAX),
            (1, u64::MAX, 0),
        ] {
            assert_eq!(per_click(sum, clicks), expected, "{sum} / {clicks}");
        }
    }
}
