//! `POST /v1/offer/api`, and the equivalent `GET` for clients that revalidate (docs/DECISIONS.md, "Offers").

use std::{cell::OnceCell, hash::Hash, rc::Rc, time::Duration};

use futures_util::future::try_join_all;
use worker::Request;
use xxhash_rust::xxh3::Xxh3;

use crate::{
    isolate::{Isolate, RequestContext},
    limits::Pool,
    page_cache::{PageKey, RenderedPage},
    shard_store::CachedShard,
    shards::{self, ShardQuery},
    snapshots,
};
use contract::catalog::{self, ListTestOffers};
use domain::{
    catalog::publisher::PUBLISHER_NOT_APPROVED,
    model::{ApiError, AppId, OfferId, common, credentials, time::http_date},
    offers::{
        page::{self, AppListing, Page},
        request::{MAX_BODY, OffersRequest},
        selection::{Selection, Selector},
    },
    snapshot::tracking::{AppView, Manifest},
};
use platform::{
    CONNECTIONS, ObjectCall,
    http::{Answer, answer::JSON, body, etag},
    log,
};

/// One error for all causes, so that it does not reveal whether an app exists.
const INVALID_CREDENTIALS: ApiError =
    ApiError::new(401, "invalid_credentials", "App-Id and Pub-Key are missing or do not match");

/// The timeout of the catalog for a page of test offers.
const TEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The header with the app's id.
const APP_ID: &str = "App-Id";

/// The overhead of a cached page in bytes. The estimate is generous.
const ENTRY_OVERHEAD: usize = 512;

pub async fn post(context: &RequestContext, mut request: Request) -> Result<Answer, ApiError> {
    body::check_media_type(&request, &[JSON], false)?;
    let apps = asking_shard(context, &request).await?;
    let app = asking_app(&apps, &request, context.now_ms)?;
    admit(&context.isolate, app.id, context.now_ms)?;
    // The body is read after authentication, so an unknown sender's body takes no memory.
    let text = {
        let bodies = context.isolate.pools.get(Pool::Bodies);
        let _permit = bodies.acquire(&app.id.to_string(), context.now_ms)?;
        body::read_text(&mut request, MAX_BODY).await?
    };
    serve(context, &request, &app, &text, false).await
}

pub async fn get(context: &RequestContext, request: Request, query: &str) -> Result<Answer, ApiError> {
    let apps = asking_shard(context, &request).await?;
    let app = asking_app(&apps, &request, context.now_ms)?;
    admit(&context.isolate, app.id, context.now_ms)?;
    serve(context, &request, &app, query, true).await
}

/// Serves a page of offers to a test app. Only the catalog can make the page.
async fn serve_test_offers(
    context: &RequestContext,
    request: &Request,
    app_id: AppId,
    text: &str,
    is_query: bool,
) -> Result<Answer, ApiError> {
    let _permit = context.isolate.pools.get(Pool::Pages).acquire(&app_id.to_string(), context.now_ms)?;
    let list = ListTestOffers {
        app_id,
        request: text.to_owned(),
        is_query,
        tracking_url: context.isolate.config.tracking_url.clone(),
    };
    let catalog = catalog::address(catalog::COMMAND_PATH);
    let page = match context.workers.call(&catalog, list, TEST_TIMEOUT).await {
        Ok(page) => page.body.into_bytes(),
        Err(error) => return Ok(error.into()),
    };
    let page = RenderedPage {
        etag: page::etag(&page),
        last_modified: http_date(context.now_ms),
        body: page,
        in_javascript: OnceCell::new(),
    };
    Ok(answer(request, &page, "private, max-age=0".into()))
}

/// Returns the shard of the app that a request names.
async fn asking_shard(context: &RequestContext, request: &Request) -> Result<Rc<CachedShard>, ApiError> {
    let app_id = body::header(request, APP_ID).unwrap_or_default();
    let app_id = AppId::parse(&app_id).ok_or(INVALID_CREDENTIALS)?;
    snapshots::recent::<Manifest>(context, snapshots::CREDENTIALS_IDLE_MS).await?;
    let query = ShardQuery::App(app_id);
    // Developers use a test app as soon as it is set up, before its shard is published.
    if app_id.is_test() { shards::find_or_check(context, query).await } else { shards::find(context, query).await }
}

/// Returns the app of a request, from its headers.
fn asking_app<'t>(apps: &'t CachedShard, request: &Request, now_ms: i64) -> Result<AppView<'t>, ApiError> {
    let header = |name| body::header(request, name).unwrap_or_default();
    authorize(apps, &header(APP_ID), &header("Pub-Key"), now_ms)
}

async fn serve(
    context: &RequestContext,
    request: &Request,
    app: &AppView<'_>,
    text: &str,
    is_query: bool,
) -> Result<Answer, ApiError> {
    if app.id.is_test() {
        return serve_test_offers(context, request, app.id, text, is_query).await;
    }
    let isolate = &context.isolate;
    let request_body = OffersRequest::parse(text, is_query)?;
    let listing = snapshots::recent::<Selector>(context, snapshots::BODIES_IDLE_MS).await?;
    let page = match PageRequest::new(&listing, app, &request_body).prepare(isolate) {
        Prepared::Ready(page) => page,
        Prepared::NeedsBodies(page_request) => page_request.load(context).await?,
    };
    Ok(answer(request, &page, cache_control(&listing, context.now_ms)))
}

/// Returns the page, or 304 to a `GET` whose sender already has the page.
fn answer(request: &Request, page: &RenderedPage, cache_control: String) -> Answer {
    let known = body::header(request, "If-None-Match").unwrap_or_default();
    let answer = if request.method() != worker::Method::Post && etag::lists(&known, &page.etag) {
        Answer::new(304)
    } else {
        Answer::json(200, page.body.clone())
    };
    answer
        .header("Cache-Control", cache_control)
        .header("ETag", page.etag.clone())
        .header("Last-Modified", page.last_modified.clone())
        .header("Vary", "App-Id, Pub-Key")
}

pub fn cache_control(listing: &Selector, now_ms: i64) -> String {
    let max_age_s = page::max_age_s(now_ms, listing.listing().built_at_ms());
    format!("private, max-age={max_age_s}")
}

/// True if the rate limit would admit a request now. Takes no token.
pub fn would_admit(isolate: &Isolate, app: AppId, now_ms: i64) -> bool {
    let rate = isolate.config.offers_rate;
    rate.is_none_or(|rate| isolate.rate_limiter.would_admit(rate, app, now_ms))
}

/// Takes a token of the app's rate limit in this isolate.
pub fn admit(isolate: &Isolate, app: AppId, now_ms: i64) -> Result<(), ApiError> {
    match isolate.config.offers_rate {
        Some(rate) => isolate.rate_limiter.admit(rate, app, now_ms),
        None => Ok(()),
    }
}

fn digest(request: &OffersRequest) -> u128 {
    let mut hasher = Xxh3::new();
    request.hash(&mut hasher);
    hasher.digest128()
}

/// Returns the app of a request from that app's shard, if the credentials are valid. A missing header is empty.
pub fn authorize<'t>(apps: &'t CachedShard, app_id: &str, pub_key: &str, now_ms: i64) -> Result<AppView<'t>, ApiError> {
    if !apps.is_confirmed_within(now_ms, snapshots::CREDENTIALS_VALID_MS) {
        return Err(common::UNAVAILABLE.with_message("credentials cannot be checked at the moment"));
    }
    let app = AppId::parse(app_id).and_then(|id| apps.shard.app(id));
    let presented = credentials::hash(pub_key);
    match app {
        Some(app) if app.publisher.pub_key_hash.is_some_and(|hash| credentials::matches(&presented, hash)) => {
            if app.publisher.approved { Ok(app) } else { Err(PUBLISHER_NOT_APPROVED) }
        }
        _ => Err(INVALID_CREDENTIALS),
    }
}

pub struct PageRequest<'a> {
    key: PageKey,
    listing: &'a Selector,
    app: &'a AppView<'a>,
    request: &'a OffersRequest,
}

/// A page from memory, or the request of a page that must wait.
pub enum Prepared<'a> {
    Ready(Rc<RenderedPage>),
    /// Some bodies of the page are not cached.
    NeedsBodies(PageRequest<'a>),
}

impl<'a> PageRequest<'a> {
    pub fn new(listing: &'a Selector, app: &'a AppView<'a>, request: &'a OffersRequest) -> Self {
        let key = PageKey {
            listing: listing.listing().version(),
            app: app.id,
            app_revision: app.revision,
            request: digest(request),
        };
        Self { key, listing, app, request }
    }

    /// Returns the page from memory: from the cache, or rendered from cached bodies. Both paths begin here.
    pub fn prepare(self, isolate: &Isolate) -> Prepared<'a> {
        let page = isolate.pages.get(&self.key).or_else(|| self.render(isolate));
        page.map_or(Prepared::NeedsBodies(self), Prepared::Ready)
    }

    fn render(&self, isolate: &Isolate) -> Option<Rc<RenderedPage>> {
        let (app, listing) = (self.app_listing(), self.listing.listing());
        let Selection { rows, total } = self.listing.select(&app, self.request);
        // Collects all bodies first, so that nothing is rendered if a body is missing.
        let parts: Option<Vec<_>> =
            page::parts(listing, &rows).map(|part| Some((part, isolate.chunks.get(&part.key.to_owned())?))).collect();
        let mut page = Page::new(&app, &isolate.config.tracking_url);
        for (part, chunk) in parts? {
            page.add(listing, part, &chunk).ok()?;
        }
        Some(self.cache(isolate, page.finish(total)))
    }

    /// Loads the missing bodies and renders the page.
    async fn load(&self, context: &RequestContext) -> Result<Rc<RenderedPage>, ApiError> {
        let isolate = &context.isolate;
        let app_id = self.app.id.to_string();
        let _permit = isolate.pools.get(Pool::Pages).acquire(&app_id, context.now_ms)?;
        let (app, listing) = (self.app_listing(), self.listing.listing());
        let Selection { rows, total } = self.listing.select(&app, self.request);
        let mut page = Page::new(&app, &isolate.config.tracking_url);
        // A page of 1,000 offers with a rare filter may need more chunks than fit an isolate's memory, so a few chunks
        // are loaded at a time. A page of usual size needs one or two chunks.
        let parts: Vec<_> = page::parts(listing, &rows).collect();
        for parts in parts.chunks(CONNECTIONS) {
            let loads = parts.iter().map(|part| snapshots::chunk(&context.workers, isolate, part.key));
            for (part, chunk) in parts.iter().zip(try_join_all(loads).await?) {
                page.add(listing, *part, &chunk).map_err(|missing| {
                    log::error("snapshots", format_args!("chunk {} does not match the listing", missing.key));
                    common::UNAVAILABLE
                })?;
            }
        }
        Ok(self.cache(isolate, page.finish(total)))
    }

    fn app_listing(&self) -> AppListing {
        AppListing {
            id: self.app.id,
            platform: self.app.platform,
            currency: self.app.currency(),
            blocked: self.app.blocked_offers().filter_map(OfferId::parse).collect(),
            signs_clicks: self.app.click_secrets.is_some(),
        }
    }

    fn cache(&self, isolate: &Isolate, body: Vec<u8>) -> Rc<RenderedPage> {
        // The body is counted twice: the ordinary path keeps it in WebAssembly, and the fast path keeps a copy in
        // JavaScript.
        let size = 2 * body.len() + ENTRY_OVERHEAD;
        let page = RenderedPage {
            etag: page::etag(&body),
            last_modified: http_date(self.listing.listing().built_at_ms()),
            body,
            in_javascript: OnceCell::new(),
        };
        isolate.pages.insert(self.key, page, size)
    }
}
