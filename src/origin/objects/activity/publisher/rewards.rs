//! The list of rewards. An analyst's list omits users and codes.

use contract::{
    activity::{ListRewards, ListedReward, Place, RewardDetails, RewardPage},
    rewards::{RewardDelivery, RewardState},
};
use domain::model::INVALID_FIELD;
use platform::{
    Database, DbResult, Result, Row,
    database::{MAX_INTEGER, Value},
    params,
};

use super::{
    overview::{app_id, behind_ms},
    sql,
};

const NO_SEARCH_BY_USER: &str = "user_id: analysts cannot search by user";

/// Maximum rewards on a page.
pub const MAX: u32 = 200;

/// # Errors
/// `invalid_field` if an analyst searches by user; or the database failed.
pub fn list(db: &impl Database, now_ms: i64, list: &ListRewards) -> Result<RewardPage> {
    if list.is_analyst && list.filter.user_id.is_some() {
        return Err(INVALID_FIELD.with_message(NO_SEARCH_BY_USER).into());
    }
    let limit = usize::try_from(list.limit.clamp(1, MAX)).unwrap_or(1);
    let version = db.query_integer(sql::GET_VERSION, &[])?.unwrap_or(0);
    let mut page = RewardPage {
        behind_ms: behind_ms(db, now_ms)?,
        rewards: Vec::new(),
        unmatched: Vec::new(),
        next: None,
        version,
        has_more_changes: false,
    };
    // One row beyond the limit shows whether there are more rows.
    let most = limit.saturating_add(1);
    if let Some(after) = list.after {
        let rows = db.query(sql::LIST_CHANGES, &with(list, params![after, most]))?;
        page.has_more_changes = rows.len() > limit;
        for row in rows.iter().take(limit) {
            if row.boolean(11)? {
                page.rewards.push(listed(row, list.is_analyst)?);
            } else {
                page.unmatched.push(row.text(3)?.to_owned());
            }
            if page.has_more_changes {
                page.version = row.integer(2)?;
            }
        }
        return Ok(page);
    }
    let (entry, app) = match list.before {
        Some(place) => (place.entry.min(MAX_INTEGER), place.app.number()),
        None => (MAX_INTEGER, 0),
    };
    let rows = db.query(sql::LIST, &with(list, params![entry, app, most]))?;
    let shown = rows.iter().take(limit);
    page.rewards = shown.map(|row| listed(row, list.is_analyst)).collect::<Result<_, _>>()?;
    if let Some(last) = rows.get(limit.saturating_sub(1)).filter(|_| rows.len() > limit) {
        page.next = Some(Place { entry: last.integer(0)?, app: app_id(last, 1)? });
    }
    Ok(page)
}

/// Returns the parameters of a list's conditions, followed by `further`.
fn with(list: &ListRewards, further: &[Value]) -> Vec<Value> {
    let filter = &list.filter;
    let conditions: &[Value] = params![
        list.app.map(|app| app.number()),
        filter.state.map(|state| state.number()),
        filter.delivery.map(|delivery| delivery.number()),
        filter.http_status.map(u32::from),
        filter.from,
        filter.until,
        filter.transaction_id.as_deref(),
        filter.user_id.as_deref()
    ];
    [conditions, further].concat()
}

fn listed(row: &Row, is_analyst: bool) -> DbResult<ListedReward> {
    let details: RewardDetails = row.json(10)?;
    let user_id = row.optional_text(7)?.map(str::to_owned);
    let delivery = row.optional_integer(5)?;
    Ok(ListedReward {
        app: app_id(row, 1)?,
        transaction_id: row.text(3)?.to_owned(),
        state: row.decode(4, RewardState::from_number)?,
        delivery: delivery.map(|_| row.decode(5, RewardDelivery::from_number)).transpose()?,
        http_status: row.optional_number(6)?,
        user_id: user_id.filter(|_| !is_analyst),
        conversion_ts: row.integer(8)?,
        delivered_ms: row.optional_integer(9)?,
        details: RewardDetails { code: details.code.filter(|_| !is_analyst), ..details },
    })
}
