//! A reward as its publisher reads it, without its callbacks.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::objects::outbox::{feed::reward_state, log::states::state_of};
use contract::rewards::RewardState;
use domain::{
    callbacks::fields::{Decimal, Status},
    conversions::state::Reason,
    model::{AppId, SECOND_MS},
};
use platform::{DbResult, Row};

/// The fields of a reward that every member sees.
#[derive(Serialize)]
pub struct RewardSummary<'r> {
    app_id: String,
    /// The reward's transaction id, even if the request named its reversal or a notice.
    transaction_id: &'r str,
    state: RewardState,
    offer_id: String,
    goal_id: String,
    value: Option<Box<RawValue>>,
    payout: Option<Box<RawValue>>,
    currency: String,
    click_ts: i64,
    /// When the first postback arrived. `conversion_ts` is when the reward reached its state or was paid.
    received_ts: i64,
    conversion_ts: i64,
}

/// All fields of a reward that a publisher reads.
#[derive(Serialize)]
pub struct Reward<'r> {
    #[serde(flatten)]
    pub summary: RewardSummary<'r>,
    /// The code of the reason for which the reward is held or was refused. `reason` is the text of the advertiser or
    /// the operator.
    code: Option<&'static str>,
    reason: Option<&'r str>,
    /// `None` for an erased user, whose other identifiers are also missing.
    user_id: Option<&'r str>,
    is_erased: bool,
    goal_value: Option<String>,
    txn: Option<&'r str>,
    click: Click,
    terms: Terms,
}

/// The click's part of the frozen fields, and the click's placement, which has a column of its own.
#[derive(Serialize, Deserialize)]
struct Click {
    country: Option<String>,
    #[serde(skip_deserializing)]
    placement: Option<String>,
    gaid: Option<String>,
    idfa: Option<String>,
    c1: Option<String>,
    c2: Option<String>,
    c3: Option<String>,
    c4: Option<String>,
    c5: Option<String>,
}

/// Revisions of terms: the revisions in force at the click, and the revision of the offer's terms under which the
/// reward is paid.
#[derive(Serialize)]
struct Terms {
    offer_at_click: i64,
    app_at_click: i64,
    offer_paying: i64,
    /// True if the terms under which the reward is paid had been superseded by newer terms of the offer or the app when
    /// the conversion was decided.
    is_superseded: bool,
}

/// The frozen fields of a callback. The user's fields are missing once the user is erased.
#[derive(Deserialize)]
pub struct Fields {
    offer_id: String,
    goal_id: String,
    goal_value: Option<String>,
    pub value: Decimal,
    pub payout: Decimal,
    currency: String,
    #[serde(flatten)]
    click: Click,
    click_ts: i64,
    pub conversion_ts: i64,
    pub status: Status,
}

impl<'r> Reward<'r> {
    /// Reads the columns of a story.
    pub fn read(row: &'r Row, app: AppId) -> DbResult<Self> {
        let fields: Fields = row.json(5)?;
        let conversion = state_of(row.integer(2)?)?;
        let user_id = row.optional_text(6)?;
        Ok(Self {
            summary: RewardSummary {
                app_id: app.to_string(),
                transaction_id: row.text(1)?,
                state: reward_state(conversion),
                offer_id: fields.offer_id,
                goal_id: fields.goal_id,
                value: number(&fields.value),
                payout: number(&fields.payout),
                currency: fields.currency,
                click_ts: fields.click_ts,
                received_ts: row.integer(9)?.div_euclid(SECOND_MS),
                conversion_ts: fields.conversion_ts,
            },
            code: conversion.reason().map(Reason::code),
            reason: row.optional_text(8)?,
            user_id,
            is_erased: user_id.is_none(),
            goal_value: fields.goal_value,
            txn: row.optional_text(7)?,
            click: Click { placement: row.optional_text(13)?.map(str::to_owned), ..fields.click },
            terms: Terms {
                offer_at_click: row.integer(10)?,
                app_at_click: row.integer(11)?,
                offer_paying: row.integer(12)?,
                is_superseded: row.boolean(14)?,
            },
        })
    }
}

/// Returns the digits exactly as they were sent.
pub fn number(amount: &Decimal) -> Option<Box<RawValue>> {
    RawValue::from_string(amount.as_str().to_owned()).ok()
}
