//! The keys and values of the cache of rendered pages.

use domain::model::AppId;

/// A rendered page. It depends only on the app, the request and the listing.
pub struct RenderedPage {
    pub body: Vec<u8>,
    pub etag: String,
    /// The build time of the page's listing, as an HTTP date.
    pub last_modified: String,
    /// ETag, `Last-Modified` and body as the fast path returns them, converted once: copying the body for each answer
    /// would take as long as finding the page.
    #[cfg(target_arch = "wasm32")]
    pub in_javascript: std::cell::OnceCell<[wasm_bindgen::JsValue; 3]>,
}

/// The key of a rendered page.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// The version of the listing.
    pub listing: u64,
    pub app: AppId,
    pub app_revision: i64,
    /// A hash of the request, whose filters may have thousands of values.
    pub request: u128,
}
