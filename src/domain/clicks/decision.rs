//! Decides from the request and the tracking snapshot whether a click is redirected (docs/DECISIONS.md, "Clicks"). The
//! order of checks is: the parameters are valid, app and goal are known, the publisher is approved, the offer is live,
//! and the country and the device's platform are allowed. The caller then checks the signature, since it caches the
//! app's decrypted keys, and last the cap, which may need a request to the counters.

use crate::{
    catalog::publisher::PUBLISHER_NOT_APPROVED,
    model::{ApiError, Country, Platform},
    snapshot::tracking::{
        apps::AppView,
        goals::{GoalView, OfferView},
    },
    tracking::parameters::ClickParameters,
};

/// The answer to a `rid` that names no goal.
pub const UNKNOWN_GOAL: ApiError = ApiError::new(404, "unknown_goal", "rid does not name a known goal");
/// The answer to an `app` that names no app.
pub const UNKNOWN_APP: ApiError = ApiError::new(404, "unknown_app", "app does not name a known app");
/// The answer to a visitor from a country that the offer does not target.
pub const NOT_AVAILABLE_IN_COUNTRY: ApiError =
    ApiError::new(403, "not_available_in_country", "this offer is not available in your country");
/// The answer to an Android device that clicks an iOS offer, or the reverse.
pub const NOT_AVAILABLE_ON_PLATFORM: ApiError =
    ApiError::new(403, "not_available_on_platform", "this offer is not available on your device");
/// The answer if the offer is not live, the app blocks the offer, or the goal is retired.
pub const OFFER_ENDED: ApiError = ApiError::new(410, "offer_ended", "this offer has ended");
/// The answer if the offer's click cap for this UTC day is used up.
pub const OFFER_CAPPED: ApiError = ApiError::new(410, "offer_capped", "this offer has reached its limit for today");

/// The inputs of a decision in addition to the query.
#[derive(Clone, Copy, Debug)]
pub struct Visitor {
    /// The visitor's country; `None` if the network does not report one.
    pub country: Option<Country>,
    /// The device's platform. `None` for a desktop or an unrecognised device.
    pub platform: Option<Platform>,
    /// Milliseconds since the Unix epoch.
    pub now_ms: i64,
}

/// A click that may be redirected.
#[derive(Clone)]
pub struct Allowed<'a> {
    /// The parameters, whose form is valid.
    pub parameters: ClickParameters<'a>,
    /// The app of the link.
    pub app: AppView<'a>,
    /// The goal of the link, with its offer.
    pub goal: GoalView<'a>,
}

/// A refused click, and the app's fallback URL if the visitor is redirected there.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused<'a> {
    /// The answer if there is no redirect.
    pub refusal: ApiError,
    /// The redirect's target; `None` if the visitor gets the refusal.
    pub fallback_url: Option<&'a str>,
}

impl Refused<'_> {
    /// A refusal without a redirect to a fallback URL.
    pub fn plain(refusal: ApiError) -> Self {
        Self { refusal, fallback_url: None }
    }
}

/// Refuses a click for an app. With status 403 or 410, the visitor is redirected to the app's fallback URL if it has
/// one.
pub fn refuse<'a>(app: &AppView<'a>, refusal: ApiError) -> Refused<'a> {
    let to_fallback = matches!(refusal.status, 403 | 410);
    Refused { refusal, fallback_url: app.fallback_url.filter(|_| to_fallback) }
}

/// Decides whether a click may be redirected. `app` and `goal` are `None` if unknown.
pub fn decide<'a>(
    parameters: ClickParameters<'a>,
    app: Option<AppView<'a>>,
    goal: Option<GoalView<'a>>,
    visitor: Visitor,
) -> Result<Allowed<'a>, Refused<'a>> {
    let app = app.ok_or_else(|| Refused::plain(UNKNOWN_APP))?;
    let goal = goal.ok_or_else(|| Refused::plain(UNKNOWN_GOAL))?;
    match refusal_for(&app, &goal, visitor) {
        Some(refusal) => Err(refuse(&app, refusal)),
        None => Ok(Allowed { parameters, app, goal }),
    }
}

fn refusal_for(app: &AppView<'_>, goal: &GoalView<'_>, visitor: Visitor) -> Option<ApiError> {
    let offer = &goal.offer;
    if !app.publisher.approved {
        Some(PUBLISHER_NOT_APPROVED)
    } else if goal.retired || !offer.is_live(visitor.now_ms) || app.blocks(offer) {
        // A blocked offer counts as ended: a stale link must not lead users to an offer that the publisher hides.
        Some(OFFER_ENDED)
    } else if !allows_country(offer, visitor.country) {
        Some(NOT_AVAILABLE_IN_COUNTRY)
    } else if !allows_platform(offer, visitor.platform) {
        Some(NOT_AVAILABLE_ON_PLATFORM)
    } else {
        None
    }
}

/// An unknown country is refused only if the offer's `include` is not empty.
fn allows_country(offer: &OfferView<'_>, country: Option<Country>) -> bool {
    match country {
        Some(country) => offer.countries.contains(country),
        None => !offer.includes_countries,
    }
}

/// Refuses only a known mismatch: an Android device on an iOS offer, or the reverse.
fn allows_platform(offer: &OfferView<'_>, device: Option<Platform>) -> bool {
    !matches!((device, offer.os), (Some(Platform::Android), Platform::Ios) | (Some(Platform::Ios), Platform::Android))
}

#[cfg(test)]
mod tests;
