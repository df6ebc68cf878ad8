//! Writes the log's entries, one for each transaction id, and their payments. A reward's entry is written with its
//! conversion; a reversal has an entry of its own.

use serde::Deserialize;

use super::states::state_number;
use crate::objects::outbox::{approval::Approval, erasure, sql};
use domain::{
    callbacks::fields::{Decimal, Fields, Status},
    conversions::{
        ids::Kind,
        log_number::{SHARDS, lowest_number},
        reward::Amounts,
        state::{Movement, State},
    },
    model::{MicroUsd, SECOND_MS},
};
use platform::{Database, Failure, Result, Value, database::json, params};

/// The stored numbers of a callback's delivery state.
pub const WAITING: i64 = 0;
pub const DELIVERED: i64 = 1;
pub const DEAD: i64 = 2;
pub const NOT_WANTED: i64 = 3;

/// Creates the entry of a conversion, and returns its number. If the conversion is paid, the entry includes the payout
/// and the callback, which is due at `paid_due_ms`, and [`move_money`] must be called with `entered`.
pub fn create(db: &impl Database, now_ms: i64, approval: &Approval, paid_due_ms: Option<i64>) -> Result<i64> {
    let fields = fields(approval, now_ms)?;
    let callback = paid_due_ms.map(|due_ms| NewCallback {
        after: None,
        notice: None,
        payout: approval.payout_micro_usd,
        due_ms: Some(due_ms),
    });
    let erase = erasure::is_of_erased(db, &approval.conversion.click)?;
    insert(db, now_ms, approval, &fields, callback, erase)
}

/// Updates the entry of a conversion that changes its state. If its user was erased, the user is erased again: at once or,
/// if a callback needs the user, once the callback has ended. A `txn` stays unless it was refused with the conversion.
pub fn amend(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    entry: i64,
    (from, to): (State, State),
) -> Result<i64> {
    let fields = fields(approval, now_ms)?;
    let conversion = &approval.conversion;
    db.execute(
        sql::AMEND,
        params![
            entry,
            &*conversion.click.user_id,
            conversion.txn.as_deref(),
            json(&fields)?,
            conversion.reason.as_deref(),
            !matches!(from, State::Refused(_))
        ],
    )?;
    if to != State::Approved {
        erasure::erase_if_marked(db, entry)?;
        note_change(db, now_ms, approval, entry)?;
    }
    Ok(entry)
}

/// Adds a change that moves no money to the log's numbering, so that the journal includes the change.
pub fn note_change(db: &impl Database, now_ms: i64, approval: &Approval, entry: i64) -> Result {
    let change = params![lowest_number(now_ms, approval.conversion.click.shard), SHARDS, entry, Value::Null];
    Ok(db.execute(sql::CHANGE, change)?)
}

/// Pays a reward or reverses it, within the caller's transaction. Writes the callback, and the amount and its number in
/// the log, from which batches for the ledger and the counters are made. `entered` means that [`create`] has written
/// all of these.
pub fn move_money(db: &impl Database, now_ms: i64, approval: &Approval, movement: Movement, entered: bool) -> Result {
    match movement {
        Movement::Reward if entered => Ok(()),
        Movement::Reward => {
            let paid = params![
                approval.payout_micro_usd,
                now_ms,
                approval.transaction_id(Movement::Reward)?,
                approval.superseded,
                approval.uncapped,
                lowest_number(now_ms, approval.conversion.click.shard),
                SHARDS
            ];
            let entry = db.query_integer(sql::PAY, paid)?;
            Ok(entry.map_or(Ok(()), |entry| erasure::erase_if_marked(db, entry))?)
        }
        Movement::Reversal => reverse(db, now_ms, approval),
    }
}

/// Creates the entry of a reversal. Its callback waits until the callback of the reward has ended, because a receiver
/// cannot reverse a reward that it has not received.
fn reverse(db: &impl Database, now_ms: i64, approval: &Approval) -> Result {
    let reward_id = approval.transaction_id(Movement::Reward)?;
    let missing = || Failure::Internal(format!("{reward_id} was paid but is not in the log"));
    let paid = db.query_first(sql::GET_PAID, params![reward_id.as_str()])?.ok_or_else(missing)?;
    let (entry, delivery, sent) = (paid.integer(0)?, paid.optional_integer(2)?, paid.json::<LoggedFields>(3)?);
    let payout = match delivery {
        Some(_) => paid.integer(1)?,
        // A restore has lost the payment, so this is the amount that the terms promise.
        None => approval.payout_micro_usd,
    };
    let mut fields = fields(approval, now_ms)?;
    fields.value = sent.value.negated();
    fields.payout = sent.payout.negated();
    fields.currency = sent.currency;
    fields.goal_value = sent.goal_value;
    fields.transaction_id = approval.transaction_id(Movement::Reversal)?;
    fields.status = Status::Reversed;
    fields.original_transaction_id = Some(reward_id);
    let due_ms = (delivery != Some(WAITING)).then_some(now_ms);
    let reversal = NewCallback { after: Some(entry), notice: None, payout: payout.saturating_neg(), due_ms };
    insert(db, now_ms, approval, &fields, Some(reversal), paid.boolean(4)?).map(drop)
}

/// Creates a notice, which tells the publisher about a pending or rejected conversion and its possible payout. A notice
/// has its own transaction id and pays 0, so a receiver that ignores the status pays nothing. Each is created once.
pub fn notify(db: &impl Database, now_ms: i64, approval: &Approval, entry: i64, status: Status) -> Result {
    let mut fields = fields(approval, now_ms)?;
    fields.original_transaction_id = Some(fields.transaction_id);
    let (kind, state) = match status {
        Status::Rejected => (Kind::Rejected, State::Rejected),
        _ => (Kind::Pending, State::Pending),
    };
    fields.transaction_id = approval.transaction_id(kind)?;
    // A conversion may be refused and wait again.
    if db.query_first(sql::GET_PAID, params![fields.transaction_id.as_str()])?.is_some() {
        return Ok(());
    }
    fields.status = status;
    let nothing = Amounts::new(MicroUsd(0), &approval.currency);
    let value = std::mem::replace(&mut fields.value, Decimal::in_app(&approval.currency, nothing.value));
    fields.pending_value = Some(value);
    fields.payout = Decimal::usd(nothing.payout);
    let notice = NewCallback { after: Some(entry), notice: Some(state_number(state)), payout: 0, due_ms: Some(now_ms) };
    let erase = db.query_boolean(sql::IS_ERASED, params![entry])?;
    insert(db, now_ms, approval, &fields, Some(notice), erase).map(drop)
}

struct NewCallback {
    /// For a reversal or a notice, the reward's entry.
    after: Option<i64>,
    /// The number of a notice's state; `None` for a payment.
    notice: Option<i64>,
    /// In micro-USD.
    payout: i64,
    /// `None` for a reversal that waits for the callback of its reward.
    due_ms: Option<i64>,
}

/// Writes an entry. With `erase`, the user is erased at once or, if the entry has a callback, once the callback has
/// ended.
fn insert(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    fields: &Fields,
    callback: Option<NewCallback>,
    erase: bool,
) -> Result<i64> {
    let conversion = &approval.conversion;
    let is_reward = callback.as_ref().is_some_and(|callback| callback.after.is_none());
    let row = db.query_first(
        sql::ENTER,
        params![
            lowest_number(now_ms, approval.conversion.click.shard),
            SHARDS,
            fields.transaction_id.as_str(),
            conversion.nonce.0.clone(),
            approval.goal.as_str(),
            callback.as_ref().and_then(|callback| callback.after),
            now_ms,
            callback.as_ref().map_or(0, |callback| callback.payout),
            callback.as_ref().map(|_| WAITING),
            callback.as_ref().and_then(|callback| callback.due_ms),
            erase,
            is_reward && approval.superseded,
            is_reward && approval.uncapped,
            callback.and_then(|callback| callback.notice),
            conversion.reason.as_deref(),
            conversion.click.offer_terms,
            conversion.click.app_terms,
            conversion.click.placement.as_deref(),
            &*conversion.click.user_id,
            conversion.txn.as_deref(),
            json(fields)?
        ],
    )?;
    let row = row.ok_or_else(|| Failure::Internal("RETURNING returned no row".into()))?;
    let entry = row.integer(0)?;
    if erase {
        erasure::erase_if_marked(db, entry)?;
    }
    Ok(entry)
}

/// The fields of a callback that the log shows, the publisher's feed has, and a reversal repeats. Other fields may have
/// been erased.
#[derive(Deserialize)]
pub struct LoggedFields {
    pub offer_id: String,
    pub goal_id: String,
    pub goal_value: Option<String>,
    pub value: Decimal,
    pub payout: Decimal,
    pub currency: String,
    pub click_ts: i64,
    pub conversion_ts: i64,
}

/// Returns the fields of a reward's callback.
fn fields(approval: &Approval, now_ms: i64) -> Result<Fields> {
    let click = &approval.conversion.click;
    let amounts = Amounts::new(MicroUsd(approval.payout_micro_usd), &approval.currency);
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    let [c1, c2, c3, c4, c5] = click.custom.each_ref().map(owned);
    Ok(Fields {
        user_id: click.user_id.as_ref().to_owned(),
        value: Decimal::in_app(&approval.currency, amounts.value),
        payout: Decimal::usd(amounts.payout),
        currency: approval.currency.name.clone(),
        transaction_id: approval.transaction_id(Movement::Reward)?,
        offer_id: approval.offer.as_str().to_owned(),
        goal_id: approval.goal.clone(),
        goal_value: approval.goal_value.clone(),
        app_id: click.app.to_string(),
        gaid: owned(&click.gaid),
        idfa: owned(&click.idfa),
        c1,
        c2,
        c3,
        c4,
        c5,
        country: click.country.map(|country| country.as_str().to_owned()),
        click_ts: click.clicked_at_ms.div_euclid(SECOND_MS),
        conversion_ts: now_ms.div_euclid(SECOND_MS),
        status: Status::Approved,
        original_transaction_id: None,
        pending_value: None,
        reason: approval.conversion.reason.clone(),
    })
}
