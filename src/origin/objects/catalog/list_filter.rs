//! Compares resources with the conditions of a list.

use serde_json::Value as Json;

use contract::catalog::ListFilter;
use domain::{catalog::offer, model::OfferState};

/// The conditions of a list, prepared for comparison.
pub struct Conditions<'f> {
    filter: &'f ListFilter,
    text: Option<String>,
    now_ms: i64,
}

impl<'f> Conditions<'f> {
    pub fn new(filter: &'f ListFilter, now_ms: i64) -> Self {
        let text = filter.text.as_deref().map(str::to_lowercase);
        Self { filter, text, now_ms }
    }

    /// True if a resource meets all conditions.
    pub fn match_document(&self, id: &str, document: &Json) -> bool {
        let ListFilter { text: _, approved, off_type, offer_state } = self.filter;
        let member = |name: &str| document.get(name);
        self.text.as_ref().is_none_or(|text| texts(id, document).any(|found| found.to_lowercase().contains(text)))
            && approved.is_none_or(|approved| member("approved").and_then(Json::as_bool) == Some(approved))
            && off_type.is_none_or(|wanted| member("off_type").and_then(Json::as_str) == Some(wanted.as_str()))
            && offer_state.is_none_or(|wanted| self.state(document) == wanted)
    }

    fn state(&self, offer: &Json) -> OfferState {
        let is_active = offer.get("active").and_then(Json::as_bool).unwrap_or_default();
        let second = |name: &str| offer.get(name).and_then(Json::as_i64);
        offer::state(is_active, second("starts_at"), second("ends_at"), self.now_ms)
    }
}

/// Returns the texts of a resource that a search compares.
fn texts<'d>(id: &'d str, document: &'d Json) -> impl Iterator<Item = &'d str> {
    let goals = document.get("goals").and_then(Json::as_array);
    let goals = goals.into_iter().flatten().filter_map(|goal| goal.get("id"));
    let members = ["name", "s_id"].into_iter().filter_map(|name| document.get(name));
    let values = members.chain(goals).filter_map(Json::as_str);
    std::iter::once(id).chain(values)
}
