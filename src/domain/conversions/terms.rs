//! Terms: what an offer and an app promise for a click. Each change creates a revision that never changes. A click
//! seals the numbers of the current revisions of its offer and its app. So later changes do not affect its reward,
//! unless the operator applies them to earlier clicks ([`TermsInForce`]).

use serde::{Deserialize, Serialize};

use crate::{
    catalog::{Offer, app::App, offer::OncePer},
    model::{AdvertiserId, ApiError, CurrencyRate, PublisherId, SECOND_MS, placeholders::is_blank},
};

/// The answer to a postback whose goal is not in the terms.
pub const UNKNOWN_GOAL: ApiError =
    ApiError::new(400, "unknown_goal", "goal is neither the id nor the event code of a goal of the clicked offer");

/// A revision of an offer's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferTerms {
    /// The advertiser whose token must report the conversion.
    pub advertiser_id: AdvertiserId,
    /// Days after the click within which a conversion is paid.
    pub conversion_window_days: u16,
    /// How often a user is paid for a goal.
    #[serde(default)]
    pub once_per: OncePer,
    /// The goals in display order: by `ord`, then by id.
    pub goals: Vec<GoalTerms>,
}

/// The terms of one goal of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTerms {
    /// The goal's id. The offer may no longer have the goal.
    pub id: String,
    /// The advertiser's event code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gl_val: Option<String>,
    /// The payout in micro-USD.
    pub payout_micro_usd: i64,
}

impl GoalTerms {
    /// True if a text equals the goal's id or event code, ignoring letter case.
    pub fn is_alike(&self, name: &str) -> bool {
        let code = self.gl_val.as_deref();
        [Some(self.id.as_str()), code]
            .into_iter()
            .flatten()
            .any(|known| known.trim_matches(is_blank).eq_ignore_ascii_case(name))
    }
}

/// A revision of an app's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppTerms {
    /// The currency that converts the payout to the reward.
    pub currency: CurrencyRate,
}

impl OfferTerms {
    /// The terms that an offer currently promises.
    pub fn of(offer: &Offer) -> Self {
        let goal = |goal: &crate::catalog::Goal| GoalTerms {
            id: goal.id.as_str().to_owned(),
            gl_val: goal.gl_val.clone(),
            payout_micro_usd: goal.payout_usd.0,
        };
        Self {
            advertiser_id: offer.advertiser_id.clone(),
            conversion_window_days: offer.conversion_window_days(),
            once_per: offer.once_per.unwrap_or_default(),
            goals: offer.goals_in_order().into_iter().map(goal).collect(),
        }
    }

    /// The goal that a conversion pays: the goal whose id is `named`, or else the goal whose event code is `named`.
    /// Without a name, it is the offer's first goal. The `rid` of the click is ignored, because the user chooses it.
    pub fn goal(&self, named: Option<&str>) -> Option<&GoalTerms> {
        let Some(named) = named else {
            return self.goals.first();
        };
        let by_code = |goal: &&GoalTerms| goal.gl_val.as_deref() == Some(named);
        self.goal_by_id(named).or_else(|| self.goals.iter().find(by_code))
    }

    /// The goal with this id; `None` for an event code or an unknown id.
    pub fn goal_by_id(&self, id: &str) -> Option<&GoalTerms> {
        self.goals.iter().find(|goal| goal.id == id)
    }
}

impl AppTerms {
    /// The terms that an app currently promises.
    pub fn of(app: &App) -> Self {
        Self { currency: app.currency.clone() }
    }
}

/// The current values of an offer, which apply to every conversion, however old its click is. The edge sends them to
/// the outbox with each conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentOffer {
    /// The revision of the offer's last change. Of two copies, the one with the higher revision is newer.
    pub revision: i64,
    /// The offer's terms in force, which new clicks seal.
    pub terms: TermsInForce,
    /// Maximum conversions per UTC day; `None` for no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion_cap: Option<u32>,
    /// Minimum seconds from a click to its conversion. An earlier conversion is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_seconds_to_convert: Option<u32>,
}

/// The current values of an app, which apply to every conversion, however old its click is. The edge sends them to the
/// outbox with each conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentApp {
    /// The revision of the app's last change.
    pub revision: i64,
    /// The app's terms in force, which new clicks seal.
    pub terms: TermsInForce,
    /// The owner of the app.
    pub publisher_id: PublisherId,
    /// The revision of the app's callback settings.
    pub callback_revision: i64,
    /// The number of the app's outboxes.
    pub outbox_shards: u8,
    /// Once a user has this many rewards on a UTC day, the user's further conversions on that day are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rewards_per_user_day: Option<u32>,
}

/// Which revision of an offer's or an app's terms is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsInForce {
    /// The current revision.
    pub revision: i64,
    /// Clicks before this time are paid by the current terms instead of the terms that they sealed. In UNIX seconds; 0
    /// if the operator never set it.
    pub since: i64,
}

impl TermsInForce {
    /// The revision whose terms pay a click. `sealed` is the revision that the click sealed.
    pub fn paying(self, sealed: i64, clicked_at_ms: i64) -> i64 {
        if clicked_at_ms < self.since.saturating_mul(SECOND_MS) { self.revision } else { sealed }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snapshot::sample;

    /// Terms with goals by id, `ord` and event code.
    fn terms(goals: &[(&str, u32, &str)]) -> OfferTerms {
        let goals = goals.iter().map(|(id, ord, code)| crate::catalog::Goal {
            gl_val: Some((*code).to_owned()).filter(|code| !code.is_empty()),
            ..sample::goal(id, i64::from(*ord) * 1_000_000, *ord)
        });
        OfferTerms::of(&sample::offer(goals.collect()))
    }

    #[test]
    fn a_conversion_pays_the_named_goal_or_the_first() {
        let terms = terms(&[("last", 9, "purchase"), ("b", 1, "level-5"), ("a", 1, "level-5"), ("purchase", 5, "")]);
        let table = [
            (None, Some("a")),
            (Some("last"), Some("last")),
            (Some("a"), Some("a")),
            (Some("b"), Some("b")),
            (Some("level-5"), Some("a")),
            (Some("purchase"), Some("purchase")),
            (Some("Level-5"), None),
            (Some("LAST"), None),
            (Some(""), None),
            (Some("a "), None),
        ];
        for (named, expected) in table {
            let paid = terms.goal(named).map(|goal| goal.id.as_str());
            assert_eq!(paid, expected, "{named:?}");
        }
        let none = OfferTerms { goals: Vec::new(), ..terms };
        assert_eq!(none.goal(None), None);
    }

    #[test]
    fn clicks_made_before_terms_since_are_paid_by_the_current_terms() {
        let (sealed, current) = (5, 9);
        for (since, clicked_at_ms, paying) in [
            (0, 0, sealed),
            (0, 1_800_000_000_000, sealed),
            (1_800_000_000, 1_799_999_999_999, current),
            (1_800_000_000, 1_800_000_000_000, sealed),
            (i64::MAX, 1_800_000_000_000, current),
        ] {
            let terms = TermsInForce { revision: current, since };
            assert_eq!(terms.paying(sealed, clicked_at_ms), paying, "{since} {clicked_at_ms}");
        }
    }

    proptest! {
        /// Compares with a linear search over sorted goals.
        #[test]
        fn the_order_of_goals_in_the_document_does_not_change_the_paid_goal(
            goals in proptest::collection::vec(("[ab]{1,2}", 0..3_u32, "[abc]{0,2}"), 1..6).prop_shuffle(),
            named in proptest::option::of("[abc]{1,2}"),
        ) {
            let goals: Vec<_> = goals.iter().map(|(id, ord, code)| (id.as_str(), *ord, code.as_str())).collect();
            let mut sorted = goals.clone();
            sorted.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(b.0)));
            let mut expected = None;
            for (id, ..) in &sorted {
                if expected.is_none() && named.as_deref().is_none_or(|named| *id == named) {
                    expected = Some(*id);
                }
            }
            for (id, _, code) in &sorted {
                if expected.is_none() && Some(*code) == named.as_deref() {
                    expected = Some(*id);
                }
            }
            let paid = terms(&goals);
            prop_assert_eq!(paid.goal(named.as_deref()).map(|goal| goal.id.as_str()), expected);
        }
    }
}
