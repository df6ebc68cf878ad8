//! Figures of offers for the console: the last 30 days, and the use of today's caps. They are read from the counters
//! when the listing is built, so they are as old as the listing.

use serde_json::{Map, Value as Json, json};

use super::{
    revisions::{self, LISTING_BUILT_AT},
    sql,
};
use contract::{catalog::FIGURES_PAGE, operation::OperatorReply};
use domain::model::{ApiError, FieldError, MicroUsd, OfferId, SECOND_MS, UtcDay};
use platform::{Database, DatabaseError, DbResult, Result, database::json, params};

/// How long the count of nearly used up caps is reused, in milliseconds.
pub const COUNT_CAPS_MS: i64 = 30 * SECOND_MS;
/// A cap is nearly used up at this percentage or higher.
const NEAR: u64 = 80;
/// Maximum offers that one step of [`NearCaps`] reads. A step takes about 10 ms.
const STEP: u32 = 2_000;
/// Maximum caps in an answer.
const MAX: usize = 100;

/// Returns when the figures were read from the counters, in UNIX seconds; none before the first time.
fn as_of(db: &impl Database) -> DbResult<Option<i64>> {
    Ok(revisions::get(db, LISTING_BUILT_AT)?.map(|ms| ms.div_euclid(SECOND_MS)))
}

/// Returns the figures of these offers; unknown offers are left out.
///
/// # Errors
/// `invalid_field` for too many offers.
pub fn read(db: &impl Database, now_ms: i64, offers: &[OfferId]) -> Result<OperatorReply> {
    if offers.len() > FIGURES_PAGE {
        let problem = format!("must have at most {FIGURES_PAGE} ids");
        return Err(ApiError::from(FieldError::new("offer_ids", problem)).into());
    }
    let ids: Vec<_> = offers.iter().map(OfferId::as_str).collect();
    let today = UtcDay::of_ms(now_ms).number();
    let rows = db.query(sql::LIST_FIGURES, params![json(&ids)?, today])?;
    let mut figures = Map::new();
    for row in &rows {
        let cap = |limit, used| {
            let limit: Option<u32> = row.optional_number(limit)?;
            let used = row.integer(used)?;
            Ok::<_, DatabaseError>(limit.map(|limit| json!({ "dur": "DAILY", "lim": limit, "used": used })))
        };
        let offer = json!({
            "clicks": row.integer(1)?,
            "conversions": row.integer(2)?,
            "payout_usd": MicroUsd(row.integer(3)?),
            "caps": { "click": cap(6, 4)?, "conversion": cap(7, 5)? },
        });
        figures.insert(row.text(0)?.to_owned(), offer);
    }
    Ok(OperatorReply::ok(&json!({ "figures": figures, "as_of": as_of(db)? })))
}

struct NearCap {
    offer: String,
    kind: &'static str,
    limit: u32,
    used: u32,
}

impl NearCap {
    /// Returns the used percentage. A cap of 0, which ends an offer on purpose, counts as unused.
    fn used_part(&self) -> u64 {
        let hundredths = u64::from(self.used).saturating_mul(100);
        hundredths.checked_div(u64::from(self.limit)).unwrap_or(0)
    }
}

/// The search for caps that are nearly used up. The catalog answers other callers between its steps.
#[derive(Default)]
pub struct NearCaps {
    after: i64,
    found: Vec<NearCap>,
}

impl NearCaps {
    /// Reads the next offers with caps. Returns whether there were any.
    pub fn step(&mut self, db: &impl Database, now_ms: i64) -> Result<bool> {
        let today = UtcDay::of_ms(now_ms).number();
        let rows = db.query(sql::LIST_CAP_USE, params![self.after, STEP, today])?;
        for row in &rows {
            self.after = row.integer(1)?;
            for (kind, limit, used) in [("click", 2, 4), ("conversion", 3, 5)] {
                let Some(limit) = row.optional_number(limit)? else {
                    continue;
                };
                let near = NearCap { offer: row.text(0)?.to_owned(), kind, limit, used: row.number(used)? };
                if near.used_part() >= NEAR {
                    self.found.push(near);
                }
            }
        }
        self.found.sort_by_key(|near| std::cmp::Reverse(near.used_part()));
        self.found.truncate(MAX);
        Ok(!rows.is_empty())
    }

    /// Returns the number of caps that were found, at most 100.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    pub fn finish(self, db: &impl Database) -> Result<OperatorReply> {
        let caps = self.found.into_iter().map(|near| {
            let name = db.query_first(sql::GET_OFFER_NAME, params![near.offer.as_str()])?;
            let name = name.as_ref().map(|row| row.text(0)).transpose()?;
            Ok(json!({
                "offer_id": near.offer, "name": name, "kind": near.kind,
                "dur": "DAILY", "lim": near.limit, "used": near.used,
            }))
        });
        let caps = caps.collect::<Result<Vec<Json>>>()?;
        Ok(OperatorReply::ok(&json!({ "caps": caps, "as_of": as_of(db)? })))
    }
}
