//! An offer and its goals, as documents of the operator's API (docs/OPERATING.md, "Resources").

use serde::{Deserialize, Serialize};

use super::plain_text::check_line;
use crate::{
    model::{
        AdvertiserId, Category, Country, CountrySet, Document, FieldError, GoalId, MicroUsd, OfferState, OfferType,
        Platform, SECOND_MS,
        document::{check_length, check_text, check_web_url},
        placeholders::{is_blank, is_macro, is_nobody},
        time::LATEST_S,
    },
    tracking::{
        click_id,
        target::{self, Template},
    },
};

/// Days after a click within which a conversion is paid, if the offer does not set its own window.
pub const DEFAULT_CONVERSION_WINDOW_DAYS: u16 = 30;
/// The longest window that an offer may set, in days.
pub const MAX_CONVERSION_WINDOW_DAYS: u16 = 90;
/// Maximum goals of an offer.
const MAX_GOALS: usize = 50;
const MAX_CAP: u32 = 1_000_000_000;
/// Maximum `min_seconds_to_convert`: one day. A longer minimum would hold the conversions of many real users.
const MAX_SECONDS_TO_CONVERT: u32 = 86_400;

/// An offer, as a document of the operator's API. Most field names are those of docs/SPEC.md, "Offers response".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The advertiser that pays, and whose token reports conversions.
    pub advertiser_id: AdvertiserId,
    /// The event that the offer pays for.
    pub off_type: OfferType,
    /// The identifier of the promoted app.
    pub s_id: String,
    /// Name of the app or of the offer, 1 to 200 characters.
    pub name: String,
    /// The landing page, usually a link to a store.
    pub lp_url: String,
    /// The redirect target of a click, with macros; `lp_url` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_url: Option<String>,
    /// The maximum length of a click id that the advertiser's side can return, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_id_max: Option<u16>,
    /// URL of the icon.
    pub ic_url: String,
    /// Plain text or HTML, shown as plain text.
    pub desc: String,
    /// Categories, in the order shown.
    pub ctg: Vec<Category>,
    /// The platform of the promoted app.
    pub os: Platform,
    /// The countries in which the offer may be clicked.
    pub geo_tgt: GeoTarget,
    /// 1 to 50 goals, in any order; see [`Self::goals_in_order`].
    pub goals: Vec<Goal>,
    /// Maximum conversions that are paid per UTC day; `None` for no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion_cap: Option<Cap>,
    /// Maximum clicks that are redirected per UTC day; `None` for no cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_cap: Option<Cap>,
    /// The time from which the offer is live, in UNIX seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<i64>,
    /// The time from which the offer is no longer live, in UNIX seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<i64>,
    /// Days after a click within which a conversion is paid, 1 to 90; [`DEFAULT_CONVERSION_WINDOW_DAYS`] if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion_window_days: Option<u16>,
    /// How often a user is paid for a goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once_per: Option<OncePer>,
    /// Minimum seconds from a click to its conversion. An earlier conversion is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_seconds_to_convert: Option<u32>,
    /// Clicks before this time are paid by the current terms instead of the terms that they sealed. In UNIX seconds;
    /// never decreases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_since: Option<i64>,
    /// False switches the offer off even within its start and end.
    pub active: bool,
}

/// How often a user is paid for a goal of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OncePer {
    /// Once, however many clicks the user makes.
    #[default]
    User,
    /// Once for each click.
    Click,
}

/// The countries of an offer: `geo_tgt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeoTarget {
    /// The included countries; every country if empty.
    #[serde(default)]
    pub include: Vec<Country>,
    /// The excluded countries, even if `include` has them.
    #[serde(default)]
    pub exclude: Vec<Country>,
}

impl GeoTarget {
    /// The targeted countries as a set.
    pub fn countries(&self) -> CountrySet {
        CountrySet::targeted(&self.include, &self.exclude)
    }
}

/// A paid step of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// The `rid` of a tracking URL, unique over the whole service.
    pub id: GoalId,
    /// Title, 1 to 500 characters.
    pub ttl: String,
    /// Numbered steps separated by line breaks, as plain text or HTML, shown as plain text.
    pub instr: String,
    /// The payout in micro-USD; USD in JSON.
    pub payout_usd: MicroUsd,
    /// Position among the goals. Goals with the same position are ordered by id.
    pub ord: u32,
    /// The advertiser's event code.
    pub gl_val: Option<String>,
}

/// A limit for each UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    /// The period after which the cap resets.
    pub dur: CapPeriod,
    /// Maximum per period, at most 10^9; 0 lets nothing through.
    pub lim: u32,
}

/// The only period in docs/SPEC.md, "Offers response".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapPeriod {
    /// From 00:00 UTC to 00:00 UTC.
    #[serde(rename = "DAILY")]
    Daily,
}

impl Offer {
    /// The goals in display order: by `ord`, then by id.
    pub fn goals_in_order(&self) -> Vec<&Goal> {
        let mut goals: Vec<_> = self.goals.iter().collect();
        goals.sort_by(|a, b| a.ord.cmp(&b.ord).then_with(|| a.id.cmp(&b.id)));
        goals
    }

    /// The offer's conversion window in days, or the default.
    pub fn conversion_window_days(&self) -> u16 {
        self.conversion_window_days.unwrap_or(DEFAULT_CONVERSION_WINDOW_DAYS)
    }

    /// The template of the redirect target.
    pub fn target(&self) -> Result<Template, FieldError> {
        let (path, url) = match &self.target_url {
            Some(target_url) => ("target_url", target_url),
            None => ("lp_url", &self.lp_url),
        };
        Template::parse(url).map_err(|problem| FieldError::new(path, problem))
    }
}

/// The state of an offer. `starts_at` and `ends_at` are in UNIX seconds.
pub fn state(active: bool, starts_at: Option<i64>, ends_at: Option<i64>, now_ms: i64) -> OfferState {
    let is_reached = |at: i64| now_ms >= at.saturating_mul(SECOND_MS);
    if !active {
        OfferState::Off
    } else if ends_at.is_some_and(is_reached) {
        OfferState::Ended
    } else if starts_at.is_none_or(is_reached) {
        OfferState::Active
    } else {
        OfferState::NotStarted
    }
}

/// True if an offer is live: active, started and not ended.
pub fn is_live(active: bool, starts_at: Option<i64>, ends_at: Option<i64>, now_ms: i64) -> bool {
    state(active, starts_at, ends_at, now_ms) == OfferState::Active
}

impl Document for Offer {
    fn check(&self) -> Result<(), FieldError> {
        check_text("s_id", &self.s_id, 200)?;
        check_line("name", &self.name, 200)?;
        check_text("lp_url", &self.lp_url, 2_048)?;
        if !target::is_openable(&self.lp_url) {
            return Err(FieldError::new("lp_url", "must be an http, https or app store URL"));
        }
        self.target()?;
        if let Some(max) = self.click_id_max
            && !(click_id::SHORT_MAX..=click_id::MAX_LENGTH).contains(&usize::from(max))
        {
            return Err(FieldError::new("click_id_max", "must be from 50 to 1000 characters"));
        }
        check_web_url("ic_url", &self.ic_url)?;
        check_length("desc", &self.desc, 10_000)?;
        check_goal_count(self.goals.len())?;
        for (index, goal) in self.goals.iter().enumerate() {
            goal.check(index)?;
            if self.goals.iter().take(index).any(|earlier| earlier.id == goal.id) {
                return Err(FieldError::new(format!("goals[{index}].id"), "is used twice in this offer"));
            }
        }
        for (path, at) in [("starts_at", self.starts_at), ("ends_at", self.ends_at)] {
            if at.is_some_and(|at| !(0..=LATEST_S).contains(&at)) {
                return Err(FieldError::new(path, "must be UNIX seconds from 1970 to 9999"));
            }
        }
        for (path, cap) in [("conversion_cap.lim", self.conversion_cap), ("click_cap.lim", self.click_cap)] {
            if cap.is_some_and(|cap| cap.lim > MAX_CAP) {
                return Err(FieldError::new(path, "must be at most 1000000000"));
            }
        }
        if let (Some(starts_at), Some(ends_at)) = (self.starts_at, self.ends_at)
            && ends_at <= starts_at
        {
            return Err(FieldError::new("ends_at", "must be after starts_at"));
        }
        self.conversion_window_days.map_or(Ok(()), check_window)?;
        if self.min_seconds_to_convert.is_some_and(|seconds| !(1..=MAX_SECONDS_TO_CONVERT).contains(&seconds)) {
            return Err(FieldError::new("min_seconds_to_convert", "must be from 1 to 86400"));
        }
        Ok(())
    }
}

impl Goal {
    fn check(&self, index: usize) -> Result<(), FieldError> {
        check_line(&format!("goals[{index}].ttl"), &self.ttl, 500)?;
        check_length(&format!("goals[{index}].instr"), &self.instr, 10_000)?;
        check_event_code(index, self.gl_val.as_deref())
    }
}

/// Checks a conversion window, in days.
pub fn check_window(days: u16) -> Result<(), FieldError> {
    if (1..=MAX_CONVERSION_WINDOW_DAYS).contains(&days) {
        Ok(())
    } else {
        Err(FieldError::new("conversion_window_days", "must be from 1 to 90"))
    }
}

/// Checks the number of goals of an offer.
pub fn check_goal_count(count: usize) -> Result<(), FieldError> {
    if (1..=MAX_GOALS).contains(&count) { Ok(()) } else { Err(FieldError::new("goals", "must be 1 to 50 goals")) }
}

/// Checks the event code of the goal at this index.
pub fn check_event_code(index: usize, code: Option<&str>) -> Result<(), FieldError> {
    let Some(code) = code else {
        return Ok(());
    };
    let path = format!("goals[{index}].gl_val");
    check_text(&path, code, 200)?;
    let code = code.trim_matches(is_blank);
    if is_macro(code) || is_nobody(code) {
        let problem = "must not be a placeholder or a word such as null, because no postback can name it";
        return Err(FieldError::new(path, problem));
    }
    Ok(())
}
