//! An action of the operator on a conversion: it is decided like a postback of its click, which is made from the log's entry.

use serde::Deserialize;

use contract::{
    operation::Bytes,
    outbox::{Conversion, Current, Settle, Shard},
};
use domain::{
    conversions::{
        parameters::check_reason,
        state::Reason,
        table::{Action, Event, Step, UNKNOWN_CONVERSION, step},
    },
    model::{
        Country,
        api_error::ApiError,
        document::{Document, FieldError},
        time::SECOND_MS,
    },
    tracking::click::Click,
};
use platform::{database::Database, failure::Failure, params};

use super::{rows::state_of, sql};

/// The body of an action of the operator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    reason: String,
    #[serde(default)]
    despite: Vec<Reason>,
}

impl Document for Order {
    fn check(&self) -> Result<(), FieldError> {
        if self.reason.is_empty() {
            return Err(FieldError::new("reason", "must not be empty"));
        }
        check_reason(&self.reason).map_err(|problem| FieldError::new("reason", problem))
    }
}

impl Order {
    pub fn into_settle(self, transaction_id: String, action: Action) -> Settle {
        Settle {
            transaction_id,
            action,
            reason: self.reason,
            despite: self.despite,
        }
    }
}

/// The parts of an entry's fields that the click had. After the user's erasure some are gone.
#[derive(Deserialize)]
struct Entered {
    offer_id: String,
    goal_id: String,
    click_ts: i64,
    gaid: Option<String>,
    idfa: Option<String>,
    c1: Option<String>,
    c2: Option<String>,
    c3: Option<String>,
    c4: Option<String>,
    c5: Option<String>,
    country: Option<String>,
}

pub const USER_ERASED: ApiError = ApiError::new(
    409,
    "user_erased",
    "the user's identifiers are gone, so the publisher could not be told whose reward it is",
);

/// The conversion that an action settles, with the action as its event.
///
/// # Errors
/// `not_found` for a transaction id that is no reward's; `user_erased` if the publisher would have to be told of a user whose
/// identifiers are gone.
pub fn conversion(db: &impl Database, shard: Shard, settle: &Settle) -> Result<Conversion, Failure> {
    let row = db.query_first(sql::GET_TO_SETTLE, params![settle.transaction_id.as_str()])?;
    let row = row.ok_or(UNKNOWN_CONVERSION)?;
    let event = Event::Action(settle.action);
    let user = row.optional_text(2)?;
    let is_erased = match step(Some(state_of(row.integer(9)?)?), event) {
        Step::Force => user.is_none() || row.boolean(3)?,
        // A reward whose callback waits still has its user, also if the user is to be erased.
        Step::TakeBack => user.is_none(),
        _ => false,
    };
    if is_erased {
        return Err(USER_ERASED.into());
    }
    let names: Vec<String> = row.json(1)?;
    let fields: Entered = row.json(8)?;
    Ok(Conversion {
        nonce: Bytes(row.blob(0)?.to_vec()),
        click: Click {
            offer: fields.offer_id.into(),
            goal: fields.goal_id.into(),
            app: shard.app,
            shard: shard.number,
            offer_terms: row.integer(5)?,
            app_terms: row.integer(6)?,
            user_id: user.unwrap_or_default().to_owned().into(),
            gaid: fields.gaid.map(Into::into),
            idfa: fields.idfa.map(Into::into),
            custom: [fields.c1, fields.c2, fields.c3, fields.c4, fields.c5]
                .map(|value| value.map(Into::into)),
            placement: row.optional_text(7)?.map(|placement| placement.to_owned().into()),
            country: fields.country.as_deref().and_then(Country::parse),
            clicked_at_ms: fields.click_ts.saturating_mul(SECOND_MS),
        },
        advertiser: None,
        goal: names.into_iter().next().filter(|name| !name.is_empty()),
        txn: row.optional_text(4)?.map(str::to_owned),
        event,
        reason: Some(settle.reason.clone()),
        despite: settle.despite.clone(),
        current: Current {
            offer: None,
            app: None,
            is_recent: false,
        },
    })
}
