//! Shards of goals, each with its offer: a click names a goal and finds the complete offer in the same shard.

use super::{BuiltShard, NO_LIMIT, Shard, ShardKind, Slot, check_slot, limit, opened_shard, terms_in_force};
use crate::{
    catalog::offer::is_live,
    conversions::terms::{CurrentOffer, TermsInForce},
    model::{CountrySet, GoalId, OfferId, Platform, parts::Span},
    snapshot::{
        columns::{Fields, HashIndex, Rows, Strings, columns},
        envelope::{Damage, Kind},
    },
    tracking::click_id,
};

/// Bytes of an offer's row, in this order. Three `u8`: active, platform, whether countries are included by name. 32
/// bytes: the targeted countries. Two `i64`: start and end in UNIX seconds. Four `u32`: click cap, maximum length of a
/// click id, conversion cap, minimum seconds to convert. Three `i64`: the offer's revision, the revision of its terms,
/// the UNIX second before which clicks are paid by these terms.
const OFFER_ROW: usize = 1 + 1 + 1 + 32 + 8 + 8 + 4 * 4 + 3 * 8;
/// Bytes of a goal's row: the row of its offer `u32`, whether the goal is retired `u8`.
const GOAL_ROW: usize = 4 + 1;

columns! {
    GoalColumns {
        slot,
        goals,
        goal_ids,
        goal_index,
        /// The offers of these goals, ascending by id.
        offers,
        offer_ids,
        targets,
    }
}

opened_shard! {
    /// An opened shard of goals.
    GoalShard: Goals, GoalColumns
}

impl GoalShard {
    /// A goal by its id, the `rid` of a click. Also finds retired goals.
    pub fn goal(&self, id: &str) -> Option<GoalView<'_>> {
        let ids = self.strings(self.columns.goal_ids);
        let index = HashIndex::new(self.columns.goal_index.of(&self.bytes));
        let row = index.lookup(id.as_bytes(), |row| ids.bytes(row) == Some(id.as_bytes()))?;
        let mut fields = Fields(Rows::<GOAL_ROW>::new(self.columns.goals.of(&self.bytes)).get(row)?);
        let offer = self.offer_at(fields.u32()?)?;
        let retired = fields.u8()? != 0;
        Some(GoalView { id: ids.get(row)?, offer, retired })
    }

    pub(super) fn offer_at(&self, row: u32) -> Option<OfferView<'_>> {
        let mut fields = Fields(Rows::<OFFER_ROW>::new(self.columns.offers.of(&self.bytes)).get(row)?);
        Some(OfferView {
            id: self.strings(self.columns.offer_ids).get(row)?,
            target: self.strings(self.columns.targets).get(row)?,
            active: fields.u8()? != 0,
            os: Platform::from_code(fields.u8()?)?,
            includes_countries: fields.u8()? != 0,
            countries: CountrySet::from_bits(*fields.bytes::<32>()?),
            starts_at: Some(fields.i64()?).filter(|at| *at != i64::MIN),
            ends_at: Some(fields.i64()?).filter(|at| *at != i64::MAX),
            click_cap: limit(fields.u32()?),
            click_id_max: limit(fields.u32()?),
            conversion_cap: limit(fields.u32()?),
            min_seconds_to_convert: limit(fields.u32()?),
            revision: fields.i64()?,
            terms: terms_in_force(&mut fields)?,
        })
    }
}

/// A goal with its offer: `G`, `O` and `T` are the types of the goal's id, the offer's id and the redirect's template.
#[derive(Clone, Copy, Debug)]
pub struct GoalData<G, O, T> {
    /// The `rid` of a tracking URL.
    pub id: G,
    /// The offer that has the goal. To build a shard, it is copied for each of its goals.
    pub offer: OfferData<O, T>,
    /// True for a goal that was removed from its offer: it takes no new clicks, but earlier clicks still convert.
    pub retired: bool,
}

/// A goal, read in place. Its ids are unparsed.
pub type GoalView<'a> = GoalData<&'a str, &'a str, &'a str>;
/// A goal to build a shard from.
pub type SourceGoal = GoalData<GoalId, OfferId, String>;

impl<'a> GoalView<'a> {
    /// The view of a goal that is in no shard. Its offer has no caps and is live for everybody.
    pub fn everywhere(id: &'a str, offer: &'a str, target: &'a str, terms: TermsInForce) -> Self {
        let offer = OfferView {
            id: offer,
            target,
            active: true,
            os: Platform::Web,
            includes_countries: false,
            countries: CountrySet::from_bits([u8::MAX; 32]),
            starts_at: None,
            ends_at: None,
            click_cap: None,
            click_id_max: u32::try_from(click_id::MAX_LENGTH).ok(),
            conversion_cap: None,
            min_seconds_to_convert: None,
            revision: terms.revision,
            terms,
        };
        Self { id, offer, retired: false }
    }
}

/// An offer: `O` and `T` are the types of its id and of its redirect's template.
#[derive(Clone, Copy, Debug)]
pub struct OfferData<O, T> {
    /// The id, by which the offers of a shard are ordered.
    pub id: O,
    /// The redirect's template, in canonical form.
    pub target: T,
    /// False if the operator switched the offer off.
    pub active: bool,
    /// The platform of the promoted app.
    pub os: Platform,
    /// True if the offer includes countries by name. A click from an unknown country is then refused.
    pub includes_countries: bool,
    /// The targeted countries.
    pub countries: CountrySet,
    /// Time from which the offer is live, in UNIX seconds; `None` for always.
    pub starts_at: Option<i64>,
    /// Time from which the offer is no longer live, in UNIX seconds; `None` for never.
    pub ends_at: Option<i64>,
    /// Maximum clicks per UTC day; `None` for no cap.
    pub click_cap: Option<u32>,
    /// The maximum length of a click id that the advertiser's side can return, in characters; `None` for the default.
    pub click_id_max: Option<u32>,
    /// Maximum conversions per UTC day; `None` for no cap.
    pub conversion_cap: Option<u32>,
    /// Minimum seconds from a click to its conversion. An earlier conversion is held.
    pub min_seconds_to_convert: Option<u32>,
    /// The revision of the offer's last change.
    pub revision: i64,
    /// The terms that new clicks seal.
    pub terms: TermsInForce,
}

/// An offer, read in place. Its id is unparsed.
pub type OfferView<'a> = OfferData<&'a str, &'a str>;
/// An offer to build a shard from.
pub type SourceOffer = OfferData<OfferId, String>;

impl OfferView<'_> {
    /// The offer's current values for conversions.
    pub fn current(&self) -> CurrentOffer {
        CurrentOffer {
            revision: self.revision,
            terms: self.terms,
            conversion_cap: self.conversion_cap,
            min_seconds_to_convert: self.min_seconds_to_convert,
        }
    }

    /// True if the offer is live at an instant. Ignores its caps.
    pub fn is_live(&self, now_ms: i64) -> bool {
        is_live(self.active, self.starts_at, self.ends_at, now_ms)
    }
}

/// Builds the shard of a slot from its goals, in any order. An offer of several goals is stored once.
pub fn build(slot: Slot, mut goals: Vec<SourceGoal>) -> BuiltShard {
    goals.sort_by(|one, other| (&one.offer.id, &one.id).cmp(&(&other.offer.id, &other.id)));
    let mut offers: Vec<&SourceOffer> = Vec::new();
    let mut goal_rows = Vec::with_capacity(goals.len() * GOAL_ROW);
    for goal in &goals {
        if offers.last().is_none_or(|last| last.id != goal.offer.id) {
            offers.push(&goal.offer);
        }
        let row = u32::try_from(offers.len()).unwrap_or_default().saturating_sub(1);
        goal_rows.extend(row.to_le_bytes());
        goal_rows.push(u8::from(goal.retired));
    }
    let goal_ids: Vec<_> = goals.iter().map(|goal| goal.id.as_str()).collect();
    let columns = GoalColumns {
        slot: slot.to_bytes().to_vec(),
        goals: goal_rows,
        goal_index: HashIndex::column(&goal_ids),
        goal_ids: Strings::column(goal_ids),
        offers: offers.iter().copied().flat_map(offer_row).collect(),
        offer_ids: Strings::column(offers.iter().map(|offer| offer.id.as_str())),
        targets: Strings::column(offers.iter().map(|offer| &offer.target)),
    };
    BuiltShard { bytes: columns.into_value(Kind::Goals), rows: goals.len() }
}

fn offer_row(offer: &SourceOffer) -> Vec<u8> {
    let mut row = Vec::with_capacity(OFFER_ROW);
    row.extend([u8::from(offer.active), offer.os.code(), u8::from(offer.includes_countries)]);
    row.extend(offer.countries.bits());
    row.extend(offer.starts_at.unwrap_or(i64::MIN).to_le_bytes());
    row.extend(offer.ends_at.unwrap_or(i64::MAX).to_le_bytes());
    for limit in [offer.click_cap, offer.click_id_max, offer.conversion_cap, offer.min_seconds_to_convert] {
        row.extend(limit.unwrap_or(NO_LIMIT).to_le_bytes());
    }
    for number in [offer.revision, offer.terms.revision, offer.terms.since] {
        row.extend(number.to_le_bytes());
    }
    row
}
