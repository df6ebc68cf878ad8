//! `GET /v2/tracking/click`: the redirect of a click (docs/DECISIONS.md, "Clicks"). It is decided from memory and
//! counted after the answer. A click waits for the origin only if its offer has a click cap or needs a short click id.

use std::{fmt::Display, rc::Rc, time::Duration};

use futures_util::future::{LocalBoxFuture, join};
use worker::Request;

use crate::{
    click_flush,
    isolate::{Isolate, RequestContext},
    limits::Pool,
    shard_store::CachedShard,
    shards::{self, ShardQuery},
    snapshots,
};
use contract::{
    clicks,
    counters::{self, CapKind, Take},
    operation::Bytes,
};
use domain::{
    clicks::{
        decision::{self, Allowed, OFFER_CAPPED, Refused, UNKNOWN_APP, Visitor},
        redirect::{self, Redirect},
    },
    conversions::reward::CLICK_LIFE_DAYS,
    model::{ApiError, AppId, Country, DAY_MS, OfferId, UtcDay, common},
    offers::test_offers,
    snapshot::tracking::{Manifest, ShardKind, slots},
    tracking::{
        Nonce, Sealed, click_counts::ClickKind, parameters::ClickParameters, signature::INVALID_SIGNATURE, user_agent,
    },
};
use platform::{
    ObjectCall,
    concurrency_limit::Permit,
    http::{Answer, header},
    log,
};

/// The timeout of a click's call to an object.
const ORIGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The lifetime of the record of a short click id, in milliseconds: one day longer than the time for which postbacks of
/// the click are accepted.
const RECORD_KEPT_MS: i64 = (CLICK_LIFE_DAYS + 1) * DAY_MS;

/// The parts of a request on which a click's answer depends. A missing header is empty.
pub struct ClickRequest<'r> {
    pub is_head: bool,
    /// From `CF-IPCountry` if that header is trusted, otherwise from `request.cf`. `entry.js` applies the same rule.
    pub country: &'r str,
    /// The values of the headers [`user_agent::PURPOSES`], separated by spaces.
    pub purposes: &'r str,
    pub user_agent: &'r str,
    pub query: &'r str,
}

/// An allowed click.
pub struct Prepared<'t> {
    allowed: Allowed<'t>,
    visitor: Visitor,
    /// True if a person made the click. Only then does the click take from a cap.
    is_confirmed: bool,
    is_counted: bool,
    /// The daily click cap of the offer, if any. The click takes from it on the ordinary path.
    pub click_cap: Option<u32>,
}

/// The shards in which a click's app and goal belong. If an id is unknown, its shard lacks it.
pub struct ClickShards {
    app_id: AppId,
    apps: Rc<CachedShard>,
    goals: Rc<CachedShard>,
}

impl ClickShards {
    /// Returns a click's shards if the isolate holds both.
    pub fn held(isolate: &Isolate, parameters: &ClickParameters<'_>) -> Option<Self> {
        let manifest = isolate.manifest.get()?;
        let app_id = AppId::parse(&parameters.app)?;
        Some(Self {
            app_id,
            apps: isolate.shards(ShardKind::Apps).get(&manifest, slots::hash_of_app(app_id))?,
            goals: isolate.shards(ShardKind::Goals).get(&manifest, slots::hash(&parameters.rid))?,
        })
    }

    /// Returns a click's shards. Loads them in parallel if the isolate does not hold them.
    async fn load(context: &RequestContext, parameters: &ClickParameters<'_>) -> Result<Self, ApiError> {
        let app_id = AppId::parse(&parameters.app).ok_or(UNKNOWN_APP)?;
        snapshots::current::<Manifest>(context).await?;
        let goal = &*parameters.rid;
        let (apps, goals) = join(
            shards::find_or_check(context, ShardQuery::App(app_id)),
            shards::find_or_check(context, ShardQuery::Goal(goal)),
        )
        .await;
        Ok(Self { app_id, apps: apps?, goals: goals? })
    }
}

/// Decides a click from memory. Both paths begin here. If the offer has a click cap, the fast path stops here and the
/// ordinary path takes from the cap first.
///
/// # Errors
/// The click is refused.
pub fn prepare<'t>(
    isolate: &Isolate,
    shards: &'t ClickShards,
    parameters: ClickParameters<'t>,
    request: &ClickRequest<'t>,
    now_ms: i64,
) -> Result<Prepared<'t>, Refused<'t>> {
    let visitor = Visitor {
        country: Country::parse(request.country),
        platform: user_agent::device_platform(request.user_agent),
        now_ms,
    };
    let app = shards.apps.shard.app(shards.app_id);
    let goal = if shards.app_id.is_test() {
        test_offers::goal_of_click(&parameters.rid)
    } else {
        shards.goals.shard.goal(&parameters.rid)
    };
    let allowed = decision::decide(parameters, app, goal, visitor)?;
    check_signature(isolate, &allowed, request.query, now_ms).map_err(|error| decision::refuse(&allowed.app, error))?;
    let is_confirmed = user_agent::is_confirmed_click(request.is_head, request.user_agent, request.purposes);
    #[cfg(feature = "bench")]
    let is_counted = is_confirmed && crate::bench::counts_clicks();
    #[cfg(not(feature = "bench"))]
    let is_counted = is_confirmed;
    let is_counted = is_counted && !shards.app_id.is_test();
    let click_cap = allowed.goal.offer.click_cap;
    Ok(Prepared { allowed, visitor, is_confirmed, is_counted, click_cap })
}

/// Checks the signature of a click, if the app signs its clicks.
fn check_signature(isolate: &Isolate, allowed: &Allowed<'_>, query: &str, now_ms: i64) -> Result<(), ApiError> {
    let Some(sealed) = allowed.app.click_secrets else {
        return Ok(());
    };
    let vault = &isolate.config.vault;
    let keys = isolate.signing_keys.get(vault, &allowed.app, sealed);
    let keys = keys.ok_or(common::UNAVAILABLE)?;
    keys.check(query, &allowed.parameters, now_ms)
}

impl Prepared<'_> {
    /// Seals the click and inserts its click id into the target URL.
    pub fn seal(&self, isolate: &Isolate, nonce: Nonce) -> Redirect {
        let mut redirect = redirect::redirect(&self.allowed, self.visitor, &isolate.config.click_keys, nonce);
        if self.allowed.app.id.is_test() {
            // The target of a test offer is a path of this host.
            redirect.location.insert_str(0, &isolate.config.tracking_url);
        }
        redirect
    }

    /// Returns the kind under which the click is counted; `None` if it does not count.
    pub fn counted(&self) -> Option<ClickKind<'_>> {
        self.is_counted.then(|| redirect::click_kind(&self.allowed, self.visitor))
    }
}

/// The ordinary path of a click.
pub async fn click(context: &RequestContext, request: Request, query: &str) -> Answer {
    let request = &request;
    let found = async {
        let parameters = ClickParameters::parse(query)?;
        let shards = ClickShards::load(context, &parameters).await?;
        Ok((parameters, shards))
    };
    let (parameters, shards) = match found.await {
        Ok(found) => found,
        Err(error) => return refuse(request, &error, None),
    };
    let header = |name| header(request, name).unwrap_or_default();
    let network_country = request.cf().and_then(worker::Cf::country).unwrap_or_default();
    let header_country = header("CF-IPCountry");
    let trusts_header = context.isolate.config.trust_country_header && !header_country.is_empty();
    let click = ClickRequest {
        is_head: request.method() == worker::Method::Head,
        country: if trusts_header { &header_country } else { &network_country },
        purposes: &user_agent::PURPOSES.map(header).join(" "),
        user_agent: &header("User-Agent"),
        query,
    };
    let refused = match prepare(&context.isolate, &shards, parameters, &click, context.now_ms) {
        Ok(prepared) => match satisfy(context, &prepared).await {
            Ok(location) => {
                context.isolate.traffic.redirect();
                return redirect_to(location);
            }
            Err(error) => decision::refuse(&prepared.allowed.app, error),
        },
        Err(refused) => refused,
    };
    refuse(request, &refused.refusal, refused.fallback_url)
}

/// Takes from the click cap, stores the record of a long click, and counts the click. Returns the click's redirect URL.
/// The rare steps are trait objects, so that V8 does not compile them for the first click.
async fn satisfy(context: &RequestContext, prepared: &Prepared<'_>) -> Result<String, ApiError> {
    let isolate = &context.isolate;
    let offer = &prepared.allowed.goal.offer;
    let nonce = isolate.nonce().map_err(unavailable)?;
    let permit = match prepared.click_cap {
        Some(limit) => {
            let take: LocalBoxFuture<'_, _> = Box::pin(take_from_cap(context, prepared, limit, nonce));
            take.await?
        }
        None => None,
    };
    let Redirect { sealed, location } = prepared.seal(isolate, nonce);
    if let Sealed::Short { record, .. } = &sealed {
        let clicks = isolate.pools.get(Pool::Clicks);
        // A click that took from the cap already has a permit, so it is not rejected here.
        let _permit = match permit {
            Some(permit) => permit,
            None => clicks.acquire(offer.id, context.now_ms)?,
        };
        let store: LocalBoxFuture<'_, _> = Box::pin(store_record(context, nonce, record));
        store.await?;
    }
    if let Some(kind) = prepared.counted() {
        click_flush::count(context, kind);
    }
    Ok(location)
}

/// Takes one click from the offer's cap of today, and returns the permit that the call held. A click that no person
/// made takes nothing, and is refused only if the cap is known to be used up.
async fn take_from_cap(
    context: &RequestContext,
    prepared: &Prepared<'_>,
    limit: u32,
    nonce: Nonce,
) -> Result<Option<Permit>, ApiError> {
    let isolate = &context.isolate;
    let offer = &prepared.allowed.goal.offer;
    let day = UtcDay::of_ms(context.now_ms);
    // A change of the cap has a new revision, so the counters are asked again.
    let spent = (day.number(), offer.revision);
    if isolate.spent.borrow().get(offer.id) == Some(&spent) {
        return Err(OFFER_CAPPED);
    }
    if !prepared.is_confirmed {
        return Ok(None);
    }
    let clicks = isolate.pools.get(Pool::Clicks);
    let permit = clicks.acquire(offer.id, context.now_ms)?;
    let offer_id = OfferId::parse(offer.id).ok_or(common::UNAVAILABLE)?;
    let counters = counters::address(counters::object_name(&offer_id));
    let take = Take {
        kind: CapKind::Click,
        key: hex::encode(nonce),
        offer: offer_id,
        day,
        limit,
        revision: offer.revision,
        by_force: false,
        asker: None,
    };
    let taken = context.workers.call(&counters, take, ORIGIN_TIMEOUT).await;
    if taken.map_err(unavailable)?.taken {
        return Ok(Some(permit));
    }
    let mut known = isolate.spent.borrow_mut();
    known.retain(|_, (known_day, _)| *known_day == day.number());
    known.insert(offer.id.to_owned(), spent);
    Err(OFFER_CAPPED)
}

/// Stores the record of a short click id before the redirect is sent, since a conversion may follow at once.
async fn store_record(context: &RequestContext, nonce: Nonce, record: &[u8]) -> Result<(), ApiError> {
    let put = clicks::Put {
        nonce: Bytes(nonce.to_vec()),
        record: Bytes(record.to_vec()),
        expires_at_ms: context.now_ms.saturating_add(RECORD_KEPT_MS),
    };
    let stored = context.workers.call(&clicks::address(&nonce), put, ORIGIN_TIMEOUT).await;
    stored.map(drop).map_err(unavailable)
}

fn unavailable(error: impl Display) -> ApiError {
    log::error("click", error);
    common::UNAVAILABLE
}

fn redirect_to(location: impl Into<String>) -> Answer {
    Answer::new(302)
        .header("Location", location)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
}

/// The answer to a refused click: a redirect to the app's fallback URL if it has one, otherwise a page for a browser,
/// otherwise JSON.
#[inline(never)]
fn refuse(request: &Request, error: &ApiError, fallback_url: Option<&str>) -> Answer {
    if let Some(url) = fallback_url {
        return redirect_to(url).coded(error.code);
    }
    if !header(request, "Accept").is_some_and(|accept| accept.contains("text/html")) {
        return error.clone().into();
    }
    // The page contains no input. The policy is a second defence, in case that changes.
    Answer::new(error.status)
        .body("text/html; charset=utf-8", page(error))
        .header("Cache-Control", "no-store")
        .header("X-Content-Type-Options", "nosniff")
        .header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .coded(error.code)
        .retry_after(error.retry_after_s)
}

/// A short HTML page. Messages contain no input; they are escaped in case that changes.
fn page(error: &ApiError) -> String {
    let title = match error.status {
        400 | 404 => "This link is not complete",
        _ if error.code == INVALID_SIGNATURE.code => "This link is not complete",
        503 => "Please try again in a moment",
        _ => "Offer not available",
    };
    let message = error.message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <body style=\"font:1.1rem/1.5 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem\">\
         <h1>{title}</h1><p>{message}</p></body></html>\n"
    )
}
