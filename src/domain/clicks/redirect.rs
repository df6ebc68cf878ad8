//! Builds the redirect of an allowed click: seals the click, fills its offer's target, and returns the key under which
//! it is counted.

use crate::{
    callbacks::shards,
    clicks::decision::{Allowed, Visitor},
    model::{Country, UtcDay},
    tracking::{
        Click, Nonce, Sealed,
        click_counts::ClickKind,
        click_id,
        keys::KeyRing,
        target::{self, Macros},
    },
};

/// Capacity for the macros' values, in addition to the template and the click id, so that building a usual `Location`
/// allocates only once.
const MACROS_LEN: usize = 256;

/// A click id and the URL to redirect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The click id. The record of a short id must be stored before the redirect is sent.
    pub sealed: Sealed,
    /// The header `Location`.
    pub location: String,
}

/// Seals a click and inserts its click id into the offer's target. Each click needs its own nonce.
pub fn redirect(allowed: &Allowed<'_>, visitor: Visitor, keys: &KeyRing, nonce: Nonce) -> Redirect {
    let offer = &allowed.goal.offer;
    let parameters = &allowed.parameters;
    let custom = parameters.custom.each_ref();
    let click = Click {
        offer: offer.id.into(),
        goal: allowed.goal.id.into(),
        app: allowed.app.id,
        shard: shards::of_user(&parameters.user_id, allowed.app.outbox_shards),
        offer_terms: offer.terms.revision,
        app_terms: allowed.app.terms.revision,
        user_id: parameters.user_id.as_ref().into(),
        gaid: parameters.gaid.as_deref().map(Into::into),
        idfa: parameters.idfa.as_deref().map(Into::into),
        custom: custom.map(|custom| custom.as_deref().map(Into::into)),
        placement: parameters.placement.as_deref().map(Into::into),
        country: visitor.country,
        clicked_at_ms: visitor.now_ms,
    };
    let longest = offer.click_id_max.and_then(|max| usize::try_from(max).ok()).unwrap_or(click_id::DEFAULT_MAX);
    let sealed = click_id::seal(keys, &click, nonce, longest);
    let macros = Macros {
        click_id: sealed.id(),
        goal_id: allowed.goal.id,
        offer_id: offer.id,
        // The parameter has eight digits, so it equals the text of the app's id.
        app_id: &parameters.app,
        user_id: &parameters.user_id,
        gaid: parameters.gaid.as_deref().unwrap_or_default(),
        idfa: parameters.idfa.as_deref().unwrap_or_default(),
        custom: custom.map(|custom| custom.as_deref().unwrap_or_default()),
        country: visitor.country.map_or("", Country::as_str),
    };
    let mut location = String::with_capacity(offer.target.len() + sealed.id().len() + MACROS_LEN);
    target::fill(offer.target, &macros, &mut location);
    Redirect { sealed, location }
}

/// The kind under which a click is counted.
pub fn click_kind<'a>(allowed: &'a Allowed<'_>, visitor: Visitor) -> ClickKind<'a> {
    ClickKind {
        publisher: allowed.app.publisher.id,
        day: UtcDay::of_ms(visitor.now_ms),
        offer: allowed.goal.offer.id,
        app: allowed.app.id,
        country: visitor.country,
        placement: allowed.parameters.placement.as_deref(),
    }
}
