//! `GET /v2/tracking/click`: the redirect (`design.md` section 5). It is decided from memory and answered; what is
//! counted is counted after. Only an offer with a click cap, and a click too long for its offer's click id, wait for
//! the origin.

use std::time::Duration;

use worker::Request;

use super::{answer::Answer, body::header, config::Config, counting, isolate::Visit, snapshots};
use crate::{
    catalog::{Country, OfferId, snapshot::tracking::Tracking},
    log,
    origin::{
        call::call,
        clicks,
        command::Bytes,
        counters::{self, Take, Taken},
    },
    refusal::{Refusal, common},
    room::Place,
    time::{DAY_MS, UtcDay},
    tracking::{
        agent,
        click_id::{Nonce, Sealed},
        decision::{self, Allowed, OFFER_CAPPED, Refused, Visitor},
        redirect::{self, Redirect},
    },
};

/// How long a click that has to ask the origin waits for it.
const ORIGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// A record of a short click id is kept as long as its conversion could be paid, and a week more.
const RECORD_KEPT_MS: i64 = 97 * DAY_MS;

pub async fn click(visit: &Visit, request: &Request, query: &str) -> Answer {
    let tracking = match snapshots::current::<Tracking>(visit).await {
        Ok(tracking) => tracking,
        Err(refusal) => {
            return refused(
                request,
                &Refused {
                    refusal,
                    fallback_url: None,
                },
            );
        }
    };
    let header = |name| header(request, name).unwrap_or_default();
    let network_country = request.cf().and_then(worker::Cf::country).unwrap_or_default();
    let user_agent = header("User-Agent");
    let visitor = Visitor {
        country: country(&visit.isolate.config, &header("CF-IPCountry"), &network_country),
        platform: agent::device_platform(&user_agent),
        now_ms: visit.now_ms,
    };
    let is_head = request.method() == worker::Method::Head;
    let counts = agent::counts(is_head, &user_agent, &header("Purpose"), &header("Sec-Purpose"));
    match decision::decide(&tracking, query, visitor) {
        Ok(allowed) => match send_on(visit, &allowed, visitor, counts).await {
            Ok(location) => {
                visit.isolate.traffic.redirect();
                redirect_to(location)
            }
            Err(refusal) => refused(request, &decision::refuse(&allowed.app, refusal)),
        },
        Err(refusal) => refused(request, &refusal),
    }
}

/// The country a request comes from, by its `CF-IPCountry` header where that is trusted, else as the network says:
/// `entry.js` has the same rule for the express way.
/// `XX` and `T1` (Tor) are not countries, and neither is anything else that is not assigned.
fn country(config: &Config, header: &str, network: &str) -> Option<Country> {
    let trusted = config.trust_country_header && !header.is_empty();
    Country::parse(if trusted { header } else { network })
}

async fn send_on(
    visit: &Visit,
    allowed: &Allowed<'_>,
    visitor: Visitor,
    counts: bool,
) -> Result<String, Refusal> {
    let offer = &allowed.goal.offer;
    let nonce = visit.isolate.nonce().map_err(unavailable)?;
    let place = match offer.click_cap {
        Some(limit) => take_of_cap(visit, allowed, limit, nonce, counts).await?,
        None => None,
    };
    let Redirect { sealed, location } =
        redirect::redirect(allowed, visitor, &visit.isolate.config.click_keys, nonce);
    if let Sealed::Short { record, .. } = &sealed {
        // What took of the cap is not refused any more for want of a place.
        let _place = match place {
            Some(place) => place,
            None => visit.isolate.rooms.clicks.enter(offer.id, visit.now_ms)?,
        };
        keep_record(visit, nonce, record).await?;
    }
    if counts && let Some(kind) = redirect::kind(allowed, visitor) {
        counting::count(visit, kind);
    }
    Ok(location)
}

/// Takes one of the offer's clicks of today, and the place that it waited in. What does not count takes nothing, and is
/// refused only where the cap is known to be spent.
async fn take_of_cap(
    visit: &Visit,
    allowed: &Allowed<'_>,
    limit: u32,
    nonce: Nonce,
    counts: bool,
) -> Result<Option<Place>, Refusal> {
    let offer = &allowed.goal.offer;
    let day = UtcDay::of_ms(visit.now_ms);
    // A cap that the operator changes comes with a new revision, and is asked for again.
    let spent = (day.number(), offer.revision);
    if visit.isolate.spent.borrow().get(offer.id) == Some(&spent) {
        return Err(OFFER_CAPPED);
    }
    if !counts {
        return Ok(None);
    }
    let place = visit.isolate.rooms.clicks.enter(offer.id, visit.now_ms)?;
    let offer_id = OfferId::parse(offer.id).ok_or(common::UNAVAILABLE)?;
    let object = counters::object_name(&offer_id);
    let take = counters::Command::Take(Take {
        kind: counters::Kind::Click,
        key: hex::encode(nonce),
        offer: offer_id,
        day,
        limit,
        revision: offer.revision,
    });
    let namespace = visit.env.durable_object(counters::BINDING).map_err(unavailable)?;
    let taken: Taken = call(&namespace, &object, &take, ORIGIN_TIMEOUT)
        .await
        .map_err(unavailable)?;
    if taken.taken {
        return Ok(Some(place));
    }
    let mut known = visit.isolate.spent.borrow_mut();
    known.retain(|_, (of_day, _)| *of_day == day.number());
    known.insert(offer.id.to_owned(), spent);
    Err(OFFER_CAPPED)
}

/// Keeps the record of a short click id before the redirect goes out: a conversion may come back at once.
async fn keep_record(visit: &Visit, nonce: Nonce, record: &[u8]) -> Result<(), Refusal> {
    let put = clicks::Command::Put {
        nonce: Bytes(nonce.to_vec()),
        record: Bytes(record.to_vec()),
        expires_at_ms: visit.now_ms.saturating_add(RECORD_KEPT_MS),
    };
    let namespace = visit.env.durable_object(clicks::BINDING).map_err(unavailable)?;
    let kept: Result<serde_json::Value, _> =
        call(&namespace, &clicks::object_name(&nonce), &put, ORIGIN_TIMEOUT).await;
    kept.map(drop).map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> Refusal {
    log::error("click", error);
    common::UNAVAILABLE
}

fn redirect_to(location: impl Into<String>) -> Answer {
    Answer::new(302)
        .header("Location", location)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
}

/// A refused click: to the app's fallback, or as a page for a browser, or as JSON for anything else.
fn refused(request: &Request, refused: &Refused<'_>) -> Answer {
    let refusal = &refused.refusal;
    if let Some(url) = refused.fallback_url {
        return redirect_to(url).coded(refusal.code);
    }
    if !header(request, "Accept").is_some_and(|accept| accept.contains("text/html")) {
        return refusal.clone().into();
    }
    // Nothing of a request is in the page; were it ever, nothing of it would run.
    Answer::new(refusal.status)
        .body("text/html; charset=utf-8", page(refusal))
        .header("Cache-Control", "no-store")
        .header("X-Content-Type-Options", "nosniff")
        .header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        )
        .coded(refusal.code)
        .retry_after(refusal.retry_after_s)
}

/// A short readable page. Messages hold nothing of a request; they are escaped should one ever.
fn page(refusal: &Refusal) -> String {
    let title = match refusal.status {
        400 | 404 => "This link is not complete",
        503 => "Please try again in a moment",
        _ => "Offer not available",
    };
    let message = refusal
        .message
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <body style=\"font:1.1rem/1.5 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem\">\
         <h1>{title}</h1><p>{message}</p></body></html>\n"
    )
}
