//! A page of offers, `POST /v1/offer/api`, that is in memory or can be made of what is.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;

use super::enter;
use crate::{
    edge::{
        answer::JSON,
        body::is_media_type,
        offers::{self, Wanted},
        routes::Handler,
    },
    faults,
    offers::request::OffersRequest,
    short::split,
};

/// The parts of the string, a line each. Empty: there is none.
struct Asked<'r> {
    content_type: &'r str,
    app_id: &'r str,
    pub_key: &'r str,
    url: &'r str,
}

impl<'r> Asked<'r> {
    fn parse(text: &'r str) -> Option<Self> {
        let (content_type, rest) = split(text, b'\n')?;
        let (app_id, rest) = split(rest, b'\n')?;
        let (pub_key, url) = split(rest, b'\n')?;
        Some(Self {
            content_type,
            app_id,
            pub_key,
            url,
        })
    }
}

/// The answer to a `POST` request with this body, if it is for a page that can be given at once: the values of
/// `Cache-Control`, `ETag` and `Last-Modified`, and the page. `now_ms` is milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn page(asked: &str, body: &[u8], now_ms: f64) -> Option<Array> {
    answer(&Asked::parse(asked)?, body, crate::runtime::whole_ms(now_ms))
}

fn answer(asked: &Asked<'_>, body: &[u8], now_ms: i64) -> Option<Array> {
    let (isolate, _) = enter("POST", asked.url, Handler::OffersPost, now_ms)?;
    if !is_media_type(asked.content_type, &[JSON]) {
        return None;
    }
    let (tracking, listing) = (isolate.tracking.get()?, isolate.listing.get()?);
    let app = offers::authorize(&isolate, &tracking, asked.app_id, asked.pub_key, now_ms).ok()?;
    if !offers::would_admit(&isolate, app.id, now_ms) {
        return None;
    }
    let request = OffersRequest::from_body(std::str::from_utf8(body).ok()?).ok()?;
    let page = Wanted::new(&tracking, &listing, &app, &request).at_once(&isolate)?;
    // Taken last, since what is taken here must not be taken again on the ordinary way.
    offers::admit(&isolate, app.id, now_ms).ok()?;
    faults::pass("express", "offers");
    isolate.traffic.express_offers();
    Some(Array::of4(
        &offers::cache_control(&listing, now_ms).into(),
        &page.etag.as_str().into(),
        &page.last_modified.as_str().into(),
        &Uint8Array::from(page.body.as_slice()),
    ))
}
