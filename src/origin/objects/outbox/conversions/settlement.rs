//! An action of the operator on a conversion. The conversion's click is read from the log, and the action is decided
//! like a postback of this click.

use serde::Deserialize;

use contract::{
    operation::Bytes,
    outbox::{Conversion, Current, OutboxShard, Settle, SettleFilter, SettleMany, Settled},
};
use domain::{
    conversions::{
        parameters::check_reason,
        reward::check_action_life,
        state::{Reason, State},
        table::{Action, Event, UNKNOWN_CONVERSION},
    },
    model::{Country, Document, FieldError, INVALID_FIELD, SECOND_MS, time::LATEST_S},
    tracking::Click,
};
use platform::{Database, DbResult, Result, database::MAX_INTEGER, params};

use crate::objects::outbox::{
    log::{self, states::state_of},
    sql,
};

/// The body of an action of the operator.
#[derive(Deserialize)]
pub struct SettleBody {
    reason: String,
    #[serde(default)]
    despite: Vec<Reason>,
}

impl Document for SettleBody {
    fn check(&self) -> Result<(), FieldError> {
        check_words(&self.reason)
    }
}

fn check_words(reason: &str) -> Result<(), FieldError> {
    if reason.is_empty() {
        return Err(FieldError::new("reason", "must not be empty"));
    }
    check_reason(reason).map_err(|problem| FieldError::new("reason", problem))
}

impl SettleBody {
    pub fn into_settle(self, transaction_id: String, action: Action) -> Settle {
        Settle { transaction_id, action, reason: self.reason, despite: self.despite }
    }
}

/// The body of an action on many conversions.
#[derive(Deserialize)]
pub struct SettleManyBody {
    filter: SettleFilter,
    reason: String,
    #[serde(default)]
    despite: Vec<Reason>,
    /// Counts the conversions and settles none.
    #[serde(default)]
    dry_run: bool,
    /// `next` of the previous answer.
    #[serde(default)]
    after: Option<String>,
}

impl Document for SettleManyBody {
    fn check(&self) -> Result<(), FieldError> {
        if self.after.as_deref().is_some_and(|after| Place::parse(after).is_none()) {
            return Err(FieldError::new("after", "must be the `next` of an earlier answer"));
        }
        log::status_number(&self.filter.status).map_err(|problem| FieldError::new("filter.status", problem))?;
        for (path, at) in [("filter.since", self.filter.since), ("filter.until", self.filter.until)] {
            if at.is_some_and(|at| !(0..=LATEST_S).contains(&at)) {
                return Err(FieldError::new(path, "must be UNIX seconds"));
            }
        }
        if !self.dry_run && self.filter.until.is_none() {
            return Err(FieldError::new(
                "filter.until",
                "is required: a dry run returns it, so that no later conversion is settled",
            ));
        }
        check_words(&self.reason)
    }
}

/// Where an action on many conversions, or a list, continues: an outbox of the app, and an entry of its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub outbox: u8,
    pub after: i64,
}

impl Place {
    pub fn parse(text: &str) -> Option<Self> {
        let (outbox, after) = text.split_once('.')?;
        let place = Self { outbox: outbox.parse().ok()?, after: after.parse().ok()? };
        ((0..=MAX_INTEGER).contains(&place.after) && place.to_text() == text).then_some(place)
    }

    pub fn to_text(self) -> String {
        format!("{}.{}", self.outbox, self.after)
    }
}

impl SettleManyBody {
    /// Checks that the filter fits the action. The approval of refused conversions overrides the reason for their
    /// refusal. Some reasons mean that the user was already paid, so the filter of such an approval must name the
    /// reason.
    pub fn check_action(&self, action: Action) -> Result<(), FieldError> {
        let SettleFilter { status, reason, .. } = &self.filter;
        if action == Action::Approve && status == "refused" && reason.is_none() {
            return Err(FieldError::new("filter.reason", "is missing: name the reason that the approval overrides"));
        }
        Ok(())
    }

    /// Returns where the action continues.
    pub fn place(&self) -> Place {
        self.after.as_deref().and_then(Place::parse).unwrap_or_default()
    }

    /// Returns the first step. If the filter has no end, the step covers only conversions before `until`.
    pub fn into_first_step(self, action: Action, until: i64) -> SettleMany {
        let filter = SettleFilter { until: self.filter.until.or(Some(until)), ..self.filter };
        SettleMany { filter, action, reason: self.reason, despite: self.despite, dry_run: self.dry_run, after: 0 }
    }
}

/// Settles all matching conversions of an outbox in steps, between which the outbox answers other requests. The result
/// has a `next` if `has_time` returned false before the end.
///
/// # Errors
/// The error of `ask`. Earlier steps were carried out, and the call may be retried.
pub async fn settle_in_steps<E>(
    first: &SettleMany,
    has_time: impl Fn() -> bool,
    ask: impl AsyncFn(SettleMany) -> Result<Settled, E>,
) -> Result<Settled, E> {
    let (mut step, mut all) = (first.clone(), Settled::default());
    loop {
        let settled = ask(step.clone()).await?;
        let next = settled.next;
        add(&mut all, settled);
        match next {
            Some(next) if has_time() => step.after = next,
            next => return Ok(Settled { next, ..all }),
        }
    }
}

/// Adds the counts of a step or an outbox.
pub fn add(all: &mut Settled, more: Settled) {
    all.count = all.count.saturating_add(more.count);
    all.settled = all.settled.saturating_add(more.settled);
    all.payout_micro_usd = all.payout_micro_usd.saturating_add(more.payout_micro_usd);
    all.settled_micro_usd = all.settled_micro_usd.saturating_add(more.settled_micro_usd);
    for (code, count) in more.refused {
        let sum = all.refused.entry(code).or_default();
        *sum = sum.saturating_add(count);
    }
}

/// Maximum conversions that one step settles. A step takes a few seconds.
const SETTLED: u32 = 100;
/// Maximum conversions that one step counts, and maximum entries that it examines.
const COUNTED: u32 = 20_000;

/// A conversion's transaction id and its payout in micro-USD: the paid amount, or the amount that the terms of the last
/// decision would pay.
type Payable = (String, i64);

/// Returns the conversions of a step, and the step's last entry if more entries follow.
///
/// # Errors
/// `invalid_field` for an unknown status. Or the database failed.
pub fn matching(db: &impl Database, many: &SettleMany) -> Result<(Vec<Payable>, Option<i64>)> {
    let filter = &many.filter;
    let status = log::status_number(&filter.status).map_err(|problem| INVALID_FIELD.with_message(problem))?;
    let end = db.query_integer(sql::ENTRY_AFTER, params![many.after, COUNTED])?;
    let last = end.unwrap_or(MAX_INTEGER).saturating_sub(1);
    let most = if many.dry_run { COUNTED } else { SETTLED };
    let [refused, held] = log::numbers_of(filter.reason.as_deref());
    let rows = db.query(
        sql::LIST_TO_SETTLE,
        params![
            many.after,
            last,
            status,
            most,
            filter.reason.as_deref(),
            refused,
            held,
            filter.user_id.as_deref(),
            filter.offer_id.as_deref(),
            filter.since.unwrap_or(0),
            filter.until.unwrap_or(LATEST_S)
        ],
    )?;
    let next = match rows.last() {
        Some(row) if rows.len() >= usize::try_from(most).unwrap_or(usize::MAX) => Some(row.integer(0)?),
        _ => end.map(|_| last),
    };
    let matching = rows.iter().map(|row| Ok((row.text(1)?.to_owned(), row.integer(2)?)));
    Ok((matching.collect::<DbResult<_>>()?, next))
}

/// The fields of an entry that come from the click. After the user's erasure some fields are missing.
#[derive(Deserialize)]
struct EntryClick {
    offer_id: String,
    goal_id: String,
    click_ts: i64,
    /// For a reward, the time of its payment.
    conversion_ts: i64,
    gaid: Option<String>,
    idfa: Option<String>,
    c1: Option<String>,
    c2: Option<String>,
    c3: Option<String>,
    c4: Option<String>,
    c5: Option<String>,
    country: Option<String>,
}

/// Returns the conversion that an action settles, with the action as its event. If the user was erased, the user id is
/// empty.
///
/// # Errors
/// `not_found` if no reward has the transaction id; `conversion_window_closed` for a click that is too old for the
/// action.
pub fn conversion(db: &impl Database, now_ms: i64, shard: OutboxShard, settle: &Settle) -> Result<Conversion> {
    let (state, at_ms, logged) = of_entry(db, shard, &settle.transaction_id)?;
    let was_paid = matches!(state, State::Approved | State::Reversed);
    let (action, clicked_at_ms) = (settle.action, logged.click.clicked_at_ms);
    check_action_life(action, clicked_at_ms, was_paid.then_some(at_ms), now_ms)?;
    Ok(Conversion {
        event: Event::Action(action),
        reason: Some(settle.reason.clone()),
        despite: settle.despite.clone(),
        ..logged
    })
}

/// Reads a conversion from the log, with [`Event::Release`] as its event. Also returns the conversion's state, and the
/// time of its entry or payment.
pub fn of_entry(db: &impl Database, shard: OutboxShard, transaction_id: &str) -> Result<(State, i64, Conversion)> {
    let row = db.query_first(sql::GET_TO_SETTLE, params![transaction_id])?;
    let row = row.ok_or(UNKNOWN_CONVERSION)?;
    let names: Vec<String> = row.json(1)?;
    let fields: EntryClick = row.json(7)?;
    let conversion = Conversion {
        nonce: Bytes(row.blob(0)?.to_vec()),
        click: Click {
            offer: fields.offer_id.into(),
            goal: fields.goal_id.into(),
            app: shard.app,
            shard: shard.number,
            offer_terms: row.integer(4)?,
            app_terms: row.integer(5)?,
            user_id: row.optional_text(2)?.unwrap_or_default().to_owned().into(),
            gaid: fields.gaid.map(Into::into),
            idfa: fields.idfa.map(Into::into),
            custom: [fields.c1, fields.c2, fields.c3, fields.c4, fields.c5].map(|value| value.map(Into::into)),
            placement: row.optional_text(6)?.map(|placement| placement.to_owned().into()),
            country: fields.country.as_deref().and_then(Country::parse),
            clicked_at_ms: fields.click_ts.saturating_mul(SECOND_MS),
        },
        advertiser: None,
        goal: names.into_iter().next().filter(|name| !name.is_empty()),
        txn: row.optional_text(3)?.map(str::to_owned),
        event: Event::Release,
        reason: row.optional_text(9)?.map(str::to_owned),
        despite: Vec::new(),
        received_ms: None,
        is_to_be_held: false,
        current: Current { offer: None, app: None, is_recent: false },
    };
    let at_ms = fields.conversion_ts.saturating_mul(SECOND_MS);
    Ok((state_of(row.integer(8)?)?, at_ms, conversion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is() {
        let place = Place { outbox: 63, after: 1_810_921_882_759_173 };
        assert_eq!(Place::parse(&place.to_text()), Some(place));
        for other in ["", "1", "1.", ".1", "01.2", "+1.2", "1.-2", "256.1", "1.9007199254740993"] {
            assert_eq!(Place::parse(other), None, "{other}");
        }
    }
}
