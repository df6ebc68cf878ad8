//! The log: an entry for each transaction id, and the money that moves with it. A reward's entry is written with its
//! conversion; its reversal has one of its own.

use serde::Deserialize;

use super::{conversions::Approval, retention, sql};
use crate::batches::{self, BatchRow};
use contract::counters;
use domain::{
    callbacks::fields::{Decimal, Fields, Status},
    conversions::{
        reward::Amounts,
        state::{Movement, State},
    },
    model::{
        MicroUsd,
        time::{SECOND_MS, UtcDay},
    },
};
use platform::{
    database::{Database, DatabaseError, Row, json},
    failure::Failure,
    params,
};

/// Where sums for the publisher's ledger go, in the book of [`forward`]. Those for counters go by their objects' names.
pub const TO_LEDGER: &str = "ledger";

/// How a callback stands, as the table has it.
pub const WAITING: i64 = 0;
pub const DELIVERED: i64 = 1;
pub const DEAD: i64 = 2;

/// Enters a conversion. Returns its entry, and, if it is `paid`, has it paid as [`move_money`] pays one that has an entry.
pub fn enter(db: &impl Database, now_ms: i64, approval: &Approval, paid: bool) -> Result<i64, Failure> {
    let fields = fields(approval, now_ms)?;
    let owed = paid.then_some(Owed {
        after: None,
        payout: approval.payout_micro_usd,
        due_ms: Some(now_ms),
        erase: false,
    });
    insert(db, now_ms, approval, &fields, owed)
}

/// The same of one that has an entry, and comes into `state`. If its user was forgotten, it is forgotten again: at once,
/// or, if there is a callback that cannot go without, when that has ended.
pub fn amend(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    entry: i64,
    state: State,
) -> Result<i64, Failure> {
    let fields = fields(approval, now_ms)?;
    let conversion = &approval.conversion;
    db.execute(
        sql::AMEND,
        params![
            entry,
            &*conversion.click.user_id,
            conversion.txn.as_deref(),
            json(&fields)?
        ],
    )?;
    if state != State::Approved {
        retention::ended(db, entry)?;
    }
    Ok(entry)
}

/// Pays, or takes back what was paid: the callback that says so, and the money for the ledger and the offer's figures.
/// The caller's transaction holds it. `entered` says that a reward's callback was entered with its conversion.
pub fn move_money(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    movement: Movement,
    entered: bool,
) -> Result<(), Failure> {
    let payout_micro_usd = match movement {
        Movement::Reward => {
            let payout = approval.payout_micro_usd;
            if !entered {
                let id = approval.transaction_id(Movement::Reward)?;
                db.execute(sql::PAY, params![payout, now_ms, id])?;
            }
            payout
        }
        Movement::Reversal => reverse(db, now_ms, approval)?,
    };
    let click = &approval.conversion.click;
    let earned = BatchRow {
        destination: TO_LEDGER.into(),
        day: UtcDay::of_ms(now_ms),
        app: click.app,
        offer: approval.offer.clone(),
        country: click.country,
        placement: click.placement.as_deref().map(str::to_owned),
        clicks: 0,
        conversions: match movement {
            Movement::Reward => 1,
            Movement::Reversal => -1,
        },
        revenue_micro_usd: payout_micro_usd,
    };
    // The offer's figures know neither country nor placement.
    let of_offer = counters::object_name(&approval.offer);
    Ok(batches::add_to(db, &earned, Some(&of_offer))?)
}

/// Enters the reversal of what was paid, which waits until the reward has been sent: a receiver that was told to take
/// back what it had not given could not. Returns what is taken back, negative.
fn reverse(db: &impl Database, now_ms: i64, approval: &Approval) -> Result<i64, Failure> {
    let reward_id = approval.transaction_id(Movement::Reward)?;
    let paid = Paid::find(db, &reward_id)?;
    let mut fields = fields(approval, now_ms)?;
    fields.value = paid.said.value.negated();
    fields.payout = paid.said.payout.negated();
    fields.currency = paid.said.currency;
    fields.goal_value = paid.said.goal_value;
    fields.transaction_id = approval.transaction_id(Movement::Reversal)?;
    fields.status = Status::Reversed;
    fields.original_transaction_id = Some(reward_id);
    let payout = paid.payout_micro_usd.saturating_neg();
    let due_ms = (!paid.is_waiting).then_some(now_ms);
    let reversal = Owed {
        after: Some(paid.entry),
        payout,
        due_ms,
        erase: paid.erase,
    };
    insert(db, now_ms, approval, &fields, Some(reversal))?;
    Ok(payout)
}

/// What an entry is owed from the start: its callback, and the money that it tells of.
struct Owed {
    /// Of a reversal, the reward's entry.
    after: Option<i64>,
    payout: i64,
    due_ms: Option<i64>,
    /// Whether the reward's user was forgotten, or is to be.
    erase: bool,
}

fn insert(
    db: &impl Database,
    now_ms: i64,
    approval: &Approval,
    fields: &Fields,
    owed: Option<Owed>,
) -> Result<i64, Failure> {
    let conversion = &approval.conversion;
    let entered = db.query_first(
        sql::ENTER,
        params![
            fields.transaction_id.as_str(),
            conversion.nonce.0.clone(),
            approval.goal.as_str(),
            owed.as_ref().and_then(|owed| owed.after),
            now_ms,
            owed.as_ref().map_or(0, |owed| owed.payout),
            owed.as_ref().map(|_| WAITING),
            owed.as_ref().and_then(|owed| owed.due_ms),
            owed.as_ref().is_some_and(|owed| owed.erase),
            &*conversion.click.user_id,
            conversion.txn.as_deref(),
            json(fields)?
        ],
    )?;
    let entered = entered.ok_or_else(|| Failure::Internal("RETURNING gave no row".into()))?;
    Ok(entered.integer(0)?)
}

/// A reward as it was paid.
struct Paid {
    entry: i64,
    payout_micro_usd: i64,
    is_waiting: bool,
    erase: bool,
    said: Said,
}

/// Of what was said of it, that which a reversal repeats. (The rest may have been erased.)
#[derive(Deserialize)]
struct Said {
    value: Decimal,
    payout: Decimal,
    currency: String,
    #[serde(default)]
    goal_value: Option<String>,
}

impl Paid {
    fn find(db: &impl Database, transaction_id: &str) -> Result<Self, Failure> {
        let row = db
            .query_first(sql::GET_PAID, params![transaction_id])?
            .ok_or_else(|| Failure::Internal(format!("{transaction_id} was paid and is not in the log")))?;
        Ok(Self {
            entry: row.integer(0)?,
            payout_micro_usd: row.integer(1)?,
            is_waiting: row.optional_integer(2)? == Some(WAITING),
            said: parse(&row, 3)?,
            erase: row.boolean(4)?,
        })
    }
}

/// The JSON of a column that the outbox has written itself.
pub(super) fn parse<'r, T: Deserialize<'r>>(row: &'r Row, column: usize) -> Result<T, DatabaseError> {
    serde_json::from_str(row.text(column)?)
        .map_err(|error| DatabaseError(format!("column {column} holds other JSON: {error}")))
}

/// What the callback of a reward says.
fn fields(approval: &Approval, now_ms: i64) -> Result<Fields, Failure> {
    let click = &approval.conversion.click;
    let amounts = Amounts::of(MicroUsd(approval.payout_micro_usd), &approval.currency);
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
    })
}
