//! The fast path of a page of offers, `POST /v1/offer/api`: serves a cached page, or a page rendered from cached
//! bodies.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{enter, parts};
use crate::{
    offers::{self, PageRequest, Prepared},
    routes, snapshots,
};
use domain::{
    model::AppId,
    offers::request::OffersRequest,
    snapshot::tracking::{ShardKind, slots},
};
use platform::{
    faults,
    http::{answer::JSON, body::is_media_type, router::Interface},
    runtime::whole_ms,
};

/// Answers a `POST` request with this body, if its page need not wait. Returns the values of `Cache-Control`, `ETag`
/// and `Last-Modified`, and the page. The parts of the request are its Content-Type, App-Id, Pub-Key and URL. `now_ms`
/// is in milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn page(request: &str, body: &[u8], now_ms: f64) -> Option<Array> {
    let now_ms = whole_ms(now_ms);
    let [content_type, app_id, pub_key, url] = parts(request)?;
    let (isolate, _) = enter(url, routes::OFFERS, Interface::Offers)?;
    // A read that was begun for another request may not have ended yet.
    if snapshots::is_due(&isolate, now_ms)
        || snapshots::must_read_first(&isolate, now_ms, snapshots::CREDENTIALS_IDLE_MS)
    {
        return None;
    }
    if !is_media_type(content_type, &[JSON]) {
        return None;
    }
    let (manifest, listing) = (isolate.manifest.get()?, isolate.listing.get()?);
    let known_id = AppId::parse(app_id).filter(|app| !app.is_test())?;
    let app_hash = slots::hash_of_app(known_id);
    let apps = isolate.shards(ShardKind::Apps).get(&manifest, app_hash)?;
    let app = offers::authorize(&apps, app_id, pub_key, now_ms).ok()?;
    if !offers::would_admit(&isolate, app.id, now_ms) {
        return None;
    }
    let offers_request = OffersRequest::from_body(std::str::from_utf8(body).ok()?).ok()?;
    let Prepared::Ready(page) = PageRequest::new(&listing, &app, &offers_request).prepare(&isolate) else {
        return None;
    };
    // This step comes last: if a later step failed, the ordinary path would take a second token.
    offers::admit(&isolate, app.id, now_ms).ok()?;
    faults::inject("fast_path", "offers");
    isolate.traffic.fast_offers();
    let [etag, last_modified, body] = page.in_javascript.get_or_init(|| {
        [page.etag.as_str().into(), page.last_modified.as_str().into(), Uint8Array::from(page.body.as_slice()).into()]
    });
    let cache_control = offers::cache_control(&listing, now_ms).into();
    Some(Array::of4(&cache_control, etag, last_modified, body))
}
