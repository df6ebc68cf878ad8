//! Clicks over HTTP: errors (`parameters`, `refusals`), kinds of answers (`answers`), redirect targets (`targets`), the
//! content of click ids (`click_ids`), counting (`counting`), signed clicks (`signatures`), real senders (`senders`).

mod answers;
mod click_ids;
mod counting;
mod parameters;
mod refusals;
mod senders;
mod signatures;
mod targets;

use url::{Url, form_urlencoded};

pub use signatures::sign::sign;

pub use crate::harness::click_keys as keys;
use crate::harness::{Answer, Signpost};
use domain::tracking::{
    click::Click,
    click_id::{self, Opened},
};

pub const CLICK: &str = "/v2/tracking/click";
/// A valid click: goal 410271 belongs to offer 23817, which is for Android in every country and has no cap.
const RIGHT: &str = "rid=410271&app=10000001&user_id=u-1";

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1";
const ANDROID: &str =
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36";
const DESKTOP: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

/// Requests that are redirected but not confirmed clicks: a method, and headers.
pub const MACHINES: &[(&str, &[(&str, &str)])] = &[
    ("HEAD", &[]),
    ("GET", &[("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")]),
    ("GET", &[("User-Agent", "facebookexternalhit/1.1")]),
    ("GET", &[("User-Agent", DESKTOP), ("Sec-Purpose", "prefetch;prerender")]),
    ("GET", &[("User-Agent", DESKTOP), ("Sec-Purpose", "prefetch")]),
    ("GET", &[("User-Agent", DESKTOP), ("Purpose", "prefetch")]),
    ("GET", &[("User-Agent", DESKTOP), ("X-Purpose", "preview")]),
    ("GET", &[("User-Agent", DESKTOP), ("X-Moz", "prefetch")]),
];

fn click(signpost: &Signpost, rid: &str, app: &str, headers: &[(&str, &str)]) -> Answer {
    signpost.get(&format!("{CLICK}?rid={rid}&app={app}&user_id=u-1"), headers)
}

/// Fails the test unless the click is redirected, with the headers that every redirect has.
#[track_caller]
pub fn expect_redirect(answer: Answer) -> Answer {
    let answer = answer.expect(302);
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert_eq!(answer.header("Referrer-Policy"), Some("no-referrer"), "{answer:?}");
    assert_eq!(answer.body, "", "{answer:?}");
    Url::parse(answer.location()).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    answer
}

/// Fails the test unless the click is refused with this status and code, as JSON and without a `Location`.
#[track_caller]
pub fn expect_click_error(answer: Answer, status: u16, code: &str) -> Answer {
    let answer = answer.expect_error(status, code);
    assert_eq!(answer.header("Location"), None, "{answer:?}");
    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    answer
}

/// The click id in a redirect's query, or in the `referrer` for Google Play.
#[track_caller]
pub fn click_id_at(answer: &Answer) -> String {
    let location = Url::parse(answer.location()).unwrap();
    let named = |names: &[&str], query: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let found = pairs.find(|(name, _)| names.contains(&&**name));
        found.map(|(_, value)| value.into_owned())
    };
    let query = location.query().unwrap_or_default();
    named(&["clickid", "click_id"], query)
        .or_else(|| named(&["click_id"], &named(&["referrer"], query)?))
        .unwrap_or_else(|| panic!("no click id in {answer:?}"))
}

/// The click in a redirect's sealed click id.
#[track_caller]
fn click_of(answer: &Answer) -> Click<'static> {
    match click_id::open(&keys(), &click_id_at(answer)) {
        Ok(Opened::Whole { click, .. }) => click,
        other => panic!("{other:?} in {answer:?}"),
    }
}

fn country(code: &str) -> [(&str, &str); 1] {
    [("CF-IPCountry", code)]
}
