//! The offers that the users of an app see, and a builder of tracking URLs.

use std::future::ready;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use worker::Request;

use super::{listing, own_app, visitor::Visit};
use crate::http::{
    HandlerResult, RequestContext,
    calls::{internal, read_document},
};
use contract::{accounts::AnnouncedChange, catalog::AppOffering, operation::CallError};
use domain::{
    accounts::permission::VERIFY_FIRST,
    model::{
        ApiError, AppId, Country, DAY_MS, Document, FieldError, OfferId, Platform, SECOND_MS, Vault,
        credentials::EDGE_KEYS,
    },
    offers::{
        page::AppListing,
        request::{Filter, OffersRequest},
    },
    tracking::{
        link,
        signature::{self, SigningKeys},
    },
};
use platform::http::Answer;

const MAX_BODY: usize = 8 << 10;
/// Number of offers on a page.
const PAGE: u32 = 20;
/// The lifetime of a signed link from the builder. Such a link is for trying an offer and not for publishing.
const LINK_LIFE_MS: i64 = DAY_MS;

const NOT_OFFERED: ApiError = ApiError::new(
    404,
    "offer_not_listed",
    "the app's users do not see this offer: it is not active, has reached a cap, is blocked or is for another platform",
);

#[derive(Deserialize)]
struct OffersBody {
    country: Option<String>,
    platform: Option<Platform>,
    cursor: Option<String>,
}

impl Document for OffersBody {}

impl OffersBody {
    fn request(&self) -> Result<OffersRequest, FieldError> {
        let mut filters = Vec::new();
        if let Some(platform) = self.platform {
            filters.push(Filter::Platform(vec![platform]));
        }
        if let Some(country) = &self.country {
            let country = Country::parse(country)
                .ok_or_else(|| FieldError::new("country", "must be an assigned ISO 3166 alpha-2 code"))?;
            filters.push(Filter::Country(vec![country]));
        }
        let page = match &self.cursor {
            Some(cursor) => cursor
                .parse()
                .ok()
                .filter(|page| *page > 0)
                .ok_or_else(|| FieldError::new("cursor", "must be the cursor of an earlier page"))?,
            None => 1,
        };
        Ok(OffersRequest { page, size: PAGE, filters })
    }
}

#[derive(Deserialize)]
struct LinkBody {
    offer_id: OfferId,
    user_id: String,
    gaid: Option<String>,
    idfa: Option<String>,
    c1: Option<String>,
    c2: Option<String>,
    c3: Option<String>,
    c4: Option<String>,
    c5: Option<String>,
    placement: Option<String>,
}

impl Document for LinkBody {}

/// `POST …/offers`: a page of offers as the API returns it, and the next page's cursor.
pub async fn list(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let (app, offering): (_, AppOffering) = own_app::read(visit.context, visit, visit.segments).await?;
    let body: OffersBody = read_document(&mut request, MAX_BODY).await?;
    let request = body.request().map_err(ApiError::from)?;
    let owner = visit.publisher.as_str();
    let page = listing::page(visit.context, owner, &offering.listing(app), &request).await?;
    let seen = u64::from(request.page).saturating_mul(u64::from(request.size));
    let cursor = (seen < u64::from(page.total)).then(|| request.page.saturating_add(1).to_string());
    let more = json!({ "cursor": cursor, "built_at": page.built_at_ms.div_euclid(SECOND_MS) }).to_string();
    // The page's bytes are not parsed again: the cursor is added to its JSON object.
    let mut body = page.body;
    body.pop();
    body.push(b',');
    body.extend_from_slice(more.as_bytes().get(1..).unwrap_or_default());
    Ok(Answer::json(200, body))
}

/// `POST …/tracking_url`: a link that makes a counted click, for an offer that the app's users see. A signed link needs
/// a fresh passkey, because opening the link clicks in a user's name.
pub async fn tracking_url(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let (app, offering): (_, AppOffering) = own_app::read(visit.context, visit, visit.segments).await?;
    if offering.click_secrets.is_some() && !visit.session.is_verified(visit.context.now_ms) {
        return Err(VERIFY_FIRST.into());
    }
    let body: LinkBody = read_document(&mut request, MAX_BODY).await?;
    let keys = match &offering.click_secrets {
        Some(sealed) => Some(signing_keys(visit.context, app, &sealed.0)?),
        None => None,
    };
    let expires_at = visit.context.now_ms.saturating_add(LINK_LIFE_MS).div_euclid(SECOND_MS);
    let signing = keys.as_ref().map(|keys| (keys, expires_at));
    let optional = [
        ("gaid", &body.gaid),
        ("idfa", &body.idfa),
        ("c1", &body.c1),
        ("c2", &body.c2),
        ("c3", &body.c3),
        ("c4", &body.c4),
        ("c5", &body.c5),
        ("placement", &body.placement),
    ];
    let optional = optional.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let parameters = [("user_id", body.user_id.as_str())].into_iter().chain(optional);
    let base = tracking_base(visit, &offering.listing(app), body.offer_id.clone()).await?;
    if signing.is_some() {
        let announced = AnnouncedChange::SignTrackingUrl { app_id: app, offer_id: body.offer_id.to_string() };
        visit.act(announced, ready(Ok::<_, CallError>(()))).await?;
    }
    let url = link::tracking_url(&base, parameters, signing)?;
    let body = json!({ "url": url, "expires_at": signing.map(|(_, expires_at)| expires_at) });
    Ok(Answer::json(200, body.to_string()))
}

fn signing_keys(context: &RequestContext, app: AppId, sealed: &[u8]) -> Result<SigningKeys, ApiError> {
    let keys = context.workers.setting(EDGE_KEYS).unwrap_or_default();
    let vault = Vault::parse(EDGE_KEYS, &keys).map_err(|error| internal("dashboard", error))?;
    let opened = vault.open(&signature::purpose(&app.to_string()), sealed);
    opened.and_then(|opened| SigningKeys::parse(&opened)).ok_or_else(|| {
        let problem = format_args!("no key in EDGE_KEYS decrypts the click secrets of app {app}");
        internal("dashboard", problem)
    })
}

/// Returns the `trk_url_base` of an offer as the app gets it.
async fn tracking_base(visit: &Visit<'_>, app: &AppListing, offer: OfferId) -> Result<String, ApiError> {
    let request = OffersRequest { page: 1, size: 1, filters: vec![Filter::OfferId(vec![offer])] };
    let page = listing::page(visit.context, visit.publisher.as_str(), app, &request).await?;
    let offers: Map<String, Value> =
        serde_json::from_slice(&page.body).map_err(|error| internal("dashboard", error))?;
    let base = offers.get("offers").and_then(|offers| offers.get(0)?.get("trk_url_base")?.as_str());
    base.map(str::to_owned).ok_or(NOT_OFFERED)
}
