//! The published listing, from which the dashboard shows what an app's users see. The edge's code reads and filters it,
//! so that the dashboard shows the same offers as the API.
//!
//! No listing is kept in memory. A listing takes about 60 bytes per offer: 1.2 MB for 20,000 offers and 12 MB for
//! 200,000. It takes twice that while it is copied from KV. The pool [`Listings`](Pool::Listings) limits how many
//! listings are held at a time.

use std::{fmt::Display, time::Duration};

use futures_util::future::try_join_all;
use worker::Delay;

use crate::http::{RequestContext, calls::internal, limits::Pool};
use contract::{
    catalog,
    kv::{self, SnapshotKind},
};
use domain::{
    model::{ApiError, common},
    offers::{
        page::{self, AppListing, Page},
        request::OffersRequest,
        selection::{Selection, Selector},
        test_offers,
    },
    snapshot::{bodies::Chunk, listing::Listing},
};
use platform::{
    concurrency_limit::Permit,
    log,
    published::{self, VALUE_TTL_S},
    runtime,
};

/// Maximum chunks of bodies that are held at a time, of up to 1.8 MB each.
const CHUNKS: usize = 2;

/// Maximum wait for a permit in milliseconds, and the time between two attempts to take one.
const WAIT_MS: i64 = 3_000;
const POLL: Duration = Duration::from_millis(100);

/// A page of offers as the API writes it, `{"offers": […], "total": …}`.
pub struct OffersPage {
    pub body: Vec<u8>,
    pub total: u32,
    /// When the listing was built, in milliseconds.
    pub built_at_ms: i64,
}

/// Returns the page that an app would get.
///
/// # Errors
/// Neither KV nor the catalog has the listing, or too many are held.
pub async fn page(
    context: &RequestContext,
    owner: &str,
    app: &AppListing,
    request: &OffersRequest,
) -> Result<OffersPage, ApiError> {
    let tracking_url = context.workers.setting("TRACKING_URL");
    let tracking_url = tracking_url.ok_or_else(|| internal("dashboard", "TRACKING_URL is not set"))?;
    if app.id.is_test() {
        let page = test_offers::page(app, request, tracking_url.trim_end_matches('/'));
        let (body, total) = page.ok_or_else(|| internal("dashboard", "the test offers could not be rendered"))?;
        return Ok(OffersPage { body, total, built_at_ms: context.now_ms });
    }
    let _permit = permit(context, owner).await?;
    let selector = Selector::new(open(context).await?);
    let listing = selector.listing();
    let Selection { rows, total } = selector.select(app, request);
    let mut page = Page::new(app, tracking_url.trim_end_matches('/'));
    let parts: Vec<_> = page::parts(listing, &rows).collect();
    for parts in parts.chunks(CHUNKS) {
        let loads = parts.iter().map(|part| chunk(context, part.key));
        for (part, chunk) in parts.iter().zip(try_join_all(loads).await?) {
            page.add(listing, *part, &chunk)
                .map_err(|missing| unavailable(format_args!("chunk {} does not match the listing", missing.key)))?;
        }
    }
    Ok(OffersPage { body: page.finish(total), total, built_at_ms: listing.built_at_ms() })
}

/// Takes a permit to hold a listing. Each holder keeps its permit for about 100 ms, so the call waits for a free one
/// instead of failing at once.
async fn permit(context: &RequestContext, owner: &str) -> Result<Permit, ApiError> {
    let listings = context.isolate.pools.get(Pool::Listings);
    let until_ms = context.now_ms.saturating_add(WAIT_MS);
    loop {
        match listings.acquire(owner, runtime::now_ms()) {
            Err(_) if runtime::now_ms() < until_ms => Delay::from(POLL).await,
            acquired => return acquired,
        }
    }
}

/// Opens the newest readable listing that the pointer names. If none is readable, opens the catalog's.
async fn open(context: &RequestContext) -> Result<Listing, ApiError> {
    let workers = &context.workers;
    let versions = match published::read_pointer(workers).await {
        Ok(pointer) => pointer.map(|pointer| pointer.listing).unwrap_or_default(),
        Err(error) => {
            log::warn("kv", format_args!("the pointer was not read: {error}"));
            Vec::new()
        }
    };
    for version in versions {
        let read = published::read_value(workers, &kv::listing_key(version), VALUE_TTL_S).await;
        match read.map(|bytes| bytes.map(Listing::open)) {
            Ok(Some(Ok(listing))) => return Ok(listing),
            Ok(Some(Err(damage))) => log::error("snapshots", format_args!("listing {version} is not used: {damage}")),
            Ok(None) => log::warn("snapshots", format_args!("listing {version} is not in KV")),
            Err(error) => log::warn("snapshots", format_args!("listing {version} was not loaded from KV: {error}")),
        }
    }
    let path = catalog::snapshot_path(SnapshotKind::Listing);
    let read = published::read_object(workers, &path).await;
    let opened = read.and_then(|bytes| {
        Listing::open(bytes.ok_or("the catalog does not have it")?).map_err(|damage| damage.to_string())
    });
    opened.map_err(|error| unavailable(format_args!("no listing was loaded: {error}")))
}

/// Logs what is wrong with the snapshots, and returns the refusal.
fn unavailable(what: impl Display) -> ApiError {
    log::error("snapshots", what);
    common::UNAVAILABLE
}

/// Reads a chunk of bodies from KV. If that fails, reads it from the catalog.
async fn chunk(context: &RequestContext, key: &str) -> Result<Chunk, ApiError> {
    let workers = &context.workers;
    let open =
        |bytes: Option<Vec<u8>>| Chunk::open(bytes.ok_or("it does not exist")?).map_err(|damage| damage.to_string());
    let from_kv = published::read_value(workers, &kv::bodies_key(key), VALUE_TTL_S).await;
    match from_kv.and_then(open) {
        Ok(chunk) => Ok(chunk),
        Err(error) => {
            log::warn("snapshots", format_args!("chunk {key} was not loaded from KV: {error}"));
            let from_catalog = published::read_object(workers, &catalog::chunk_path(key)).await;
            from_catalog
                .and_then(open)
                .map_err(|error| unavailable(format_args!("chunk {key} was not loaded: {error}")))
        }
    }
}
