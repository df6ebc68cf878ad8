//! `POST /v1/offer/api`, and its `GET` twin for clients that revalidate (`design.md` section 4).

use std::hash::Hash;

use futures_util::future::try_join_all;
use worker::Request;
use xxhash_rust::xxh3::Xxh3;

use super::{
    answer::{Answer, JSON},
    body,
    isolate::Visit,
    snapshots,
};
use crate::{
    catalog::{
        AppId, OfferId, credentials,
        publisher::PUBLISHER_NOT_APPROVED,
        snapshot::tracking::{AppView, Tracking},
    },
    offers::{
        page::{self, AppListing, Page},
        request::{MAX_BODY, OffersRequest},
        selection::{Selection, Selector},
    },
    refusal::{Refusal, common},
    time::{self, DAY_MS},
};

/// One message for whatever is wrong: which part of a pair of credentials exists is nobody's business.
const INVALID_CREDENTIALS: Refusal = Refusal::new(
    401,
    "invalid_credentials",
    "App-Id and Pub-Key are missing or do not match",
);

/// A Pub-Key that was regenerated must stop working; a snapshot that has not been confirmed for this long cannot say.
const CREDENTIALS_VALID_MS: i64 = DAY_MS;

/// Chunks loaded at a time: an invocation has six connections.
const CONNECTIONS: usize = 6;

/// A rendered page. It is the same for everyone who sends this request for this app while the snapshots are the same.
pub struct Rendered {
    body: Vec<u8>,
    etag: String,
}

#[derive(PartialEq, Eq, Hash)]
pub struct PageKey {
    listing: u64,
    tracking: u64,
    app: AppId,
    /// A hash of the request: the request itself may hold thousands of values, and a key is kept as long as its page.
    request: u128,
}

/// What an entry of the cache costs besides its page, in bytes, generously.
const ENTRY: usize = 512;

pub async fn post(visit: &Visit, mut request: Request) -> Result<Answer, Refusal> {
    body::check_media_type(&request, &[JSON], false)?;
    let text = body::read_text(&mut request, MAX_BODY).await?;
    serve(visit, &request, || OffersRequest::from_body(&text)).await
}

pub async fn get(visit: &Visit, request: Request, query: &str) -> Result<Answer, Refusal> {
    serve(visit, &request, || OffersRequest::from_query(query)).await
}

async fn serve(
    visit: &Visit,
    request: &Request,
    parse: impl FnOnce() -> Result<OffersRequest, Refusal>,
) -> Result<Answer, Refusal> {
    let tracking = snapshots::current::<Tracking>(visit).await?;
    let app = authorize(visit, request, &tracking)?;
    if let Some(rate) = visit.isolate.config.offers_rate {
        visit.isolate.shield.admit(rate, app.id, visit.now_ms)?;
    }
    let asked = parse()?;
    let listing = snapshots::recent::<Selector>(visit).await?;
    let built_at_ms = listing.listing().built_at_ms();
    let key = PageKey {
        listing: listing.listing().version(),
        tracking: tracking.version(),
        app: app.id,
        request: digest(&asked),
    };
    let page = match visit.isolate.pages.get(&key) {
        Some(page) => page,
        None => {
            let page = render(visit, &listing, &app, &asked).await?;
            let size = page.body.len() + ENTRY;
            visit.isolate.pages.insert(key, page, size)
        }
    };
    visit
        .isolate
        .traffic
        .offers
        .set(visit.isolate.traffic.offers.get() + 1);

    let revalidates = request.method() != worker::Method::Post
        && body::header(request, "If-None-Match").is_some_and(|etags| lists(&etags, &page.etag));
    let answer = if revalidates {
        Answer::new(304)
    } else {
        Answer::json(200, page.body.clone())
    };
    let max_age_s = page::max_age_s(visit.now_ms, built_at_ms);
    Ok(answer
        .header("Cache-Control", format!("private, max-age={max_age_s}"))
        .header("ETag", page.etag.clone())
        .header("Last-Modified", time::http_date(built_at_ms))
        .header("Vary", "App-Id, Pub-Key"))
}

fn digest(request: &OffersRequest) -> u128 {
    let mut hasher = Xxh3::new();
    request.hash(&mut hasher);
    hasher.digest128()
}

fn authorize<'t>(visit: &Visit, request: &Request, tracking: &'t Tracking) -> Result<AppView<'t>, Refusal> {
    let confirmed_at_ms = visit.isolate.tracking.confirmed_at_ms.get();
    if visit.now_ms.saturating_sub(confirmed_at_ms) > CREDENTIALS_VALID_MS {
        return Err(common::UNAVAILABLE.because("credentials cannot be checked at the moment"));
    }
    let app = body::header(request, "App-Id")
        .and_then(|id| AppId::parse(&id))
        .and_then(|id| tracking.app(id));
    let presented = credentials::hash(&body::header(request, "Pub-Key").unwrap_or_default());
    match app {
        Some(app)
            if app
                .publisher
                .pub_key_hash
                .is_some_and(|hash| credentials::matches(&presented, hash)) =>
        {
            if app.publisher.approved {
                Ok(app)
            } else {
                Err(PUBLISHER_NOT_APPROVED)
            }
        }
        _ => Err(INVALID_CREDENTIALS),
    }
}

async fn render(
    visit: &Visit,
    listing: &Selector,
    app: &AppView<'_>,
    request: &OffersRequest,
) -> Result<Rendered, Refusal> {
    let app = AppListing {
        id: app.id,
        platform: app.platform,
        currency: app.currency(),
        blocked: app.blocked_offers().filter_map(OfferId::parse).collect(),
    };
    let Selection { rows, total } = listing.select(&app, request);
    let listing = listing.listing();
    let mut page = Page::new(&app, &visit.isolate.config.tracking_url);
    // A page of a thousand with a rare filter may need more chunks than an isolate has room for, so they are taken a few
    // at a time; a page of the usual size lies in one or two.
    let parts: Vec<_> = page::parts(listing, &rows).collect();
    for parts in parts.chunks(CONNECTIONS) {
        let loads = parts
            .iter()
            .map(|part| snapshots::chunk(&visit.env, &visit.isolate, part.key));
        for (part, chunk) in parts.iter().zip(try_join_all(loads).await?) {
            page.add(listing, *part, &chunk).map_err(|missing| {
                worker::console_error!("the chunk {} does not hold what its listing says", missing.key);
                common::UNAVAILABLE
            })?;
        }
    }
    let body = page.finish(total);
    Ok(Rendered {
        etag: page::etag(&body),
        body,
    })
}

/// Whether an `If-None-Match` header lists this validator (RFC 9110 section 13.1.2, weak comparison).
fn lists(header: &str, etag: &str) -> bool {
    header
        .split(',')
        .map(str::trim)
        .any(|listed| listed == "*" || listed.trim_start_matches("W/") == etag)
}
