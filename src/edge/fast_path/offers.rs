//! The fast path of a page of offers, `POST /v1/offer/api`: serves a cached page, or a page rendered from cached
//! bodies.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;

use super::enter;
use crate::{
    offers::{self, PageRequest, Prepared},
    routes, snapshots,
};
use domain::{
    model::{AppId, ascii_split::split_once},
    offers::request::OffersRequest,
    snapshot::tracking::{ShardKind, slots},
};
use platform::{
    faults,
    http::{answer::JSON, body::is_media_type, router::Interface},
    runtime::whole_ms,
};

/// The request as a string with one line for each part. A missing header is empty.
struct FastRequest<'r> {
    content_type: &'r str,
    app_id: &'r str,
    pub_key: &'r str,
    url: &'r str,
}

impl<'r> FastRequest<'r> {
    fn parse(text: &'r str) -> Option<Self> {
        let (content_type, rest) = split_once(text, b'\n')?;
        let (app_id, rest) = split_once(rest, b'\n')?;
        let (pub_key, url) = split_once(rest, b'\n')?;
        Some(Self { content_type, app_id, pub_key, url })
    }
}

/// Answers a `POST` request with this body, if its page need not wait. Returns the values of `Cache-Control`, `ETag`
/// and `Last-Modified`, and the page. `now_ms` is in milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn page(request: &str, body: &[u8], now_ms: f64) -> Option<Array> {
    answer(&FastRequest::parse(request)?, body, whole_ms(now_ms))
}

fn answer(request: &FastRequest<'_>, body: &[u8], now_ms: i64) -> Option<Array> {
    let (isolate, _) = enter(request.url, routes::OFFERS, Interface::Offers)?;
    // A read that was begun for another request may not have ended yet.
    if snapshots::is_due(&isolate, now_ms)
        || snapshots::must_read_first(&isolate, now_ms, snapshots::CREDENTIALS_IDLE_MS)
    {
        return None;
    }
    if !is_media_type(request.content_type, &[JSON]) {
        return None;
    }
    let (manifest, listing) = (isolate.manifest.get()?, isolate.listing.get()?);
    let app_id = AppId::parse(request.app_id).filter(|app| !app.is_test())?;
    let app_hash = slots::hash_of_app(app_id);
    let apps = isolate.shards(ShardKind::Apps).get(&manifest, app_hash)?;
    let app = offers::authorize(&apps, request.app_id, request.pub_key, now_ms).ok()?;
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
