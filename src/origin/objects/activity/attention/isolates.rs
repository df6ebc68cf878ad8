//! Figures for the service page: the figures of both Workers' isolates, and the rewards by app on the last day that all
//! outboxes have compared with the ledger.

use contract::{
    attention::AttentionBatch,
    isolates::{Figure, IsolateMetrics},
    operation::{Done, OperatorReply},
};
use domain::model::{AppId, DAY_MS, HOUR_MS, UtcDay};
use platform::{Database, DatabaseError, DbResult, Result, Row, database::json as as_json, params};
use serde::Serialize;

use super::sql;

/// How long an isolate's figures are kept after its newest figure, in milliseconds. Few isolates live longer.
const RETENTION_MS: i64 = DAY_MS;
/// Maximum stored figures, enough for thousands of isolates. The oldest figures make room for new ones.
pub const MAX_FIGURES: i64 = 20_000;
/// The time of day by which the outboxes have compared the previous day, in milliseconds. They begin at 01:00 UTC.
const COMPARED_MS: i64 = 2 * HOUR_MS;
/// The number of past days whose rewards are kept.
const MAX_DAYS: i32 = 3;
/// Maximum listed apps with rewards from old clicks or superseded terms.
const MAX_APPS: u32 = 25;

/// Stores the figures of an isolate. A figure only rises, so metrics that are older or arrive twice change nothing.
pub fn put_isolate(db: &impl Database, metrics: &IsolateMetrics, most: i64) -> DbResult<Done> {
    let figures: Vec<_> =
        metrics.figures.iter().map(|Figure { figure, kind, number }| (figure, kind, number)).collect();
    let figures = as_json(&figures)?;
    let kept_from_ms = metrics.at_ms.saturating_sub(RETENTION_MS);
    db.transaction(|| {
        db.execute(sql::MAKE_ROOM, params![most, kept_from_ms])?;
        let row = params![metrics.isolate.as_str(), metrics.at_ms, figures];
        db.execute(sql::PUT_FIGURES, row)
    })?;
    Ok(Done {})
}

/// Stores the rewards of an outbox's last compared day, within the transaction of its batch.
pub fn put_rewards(db: &impl Database, batch: &AttentionBatch) -> DbResult {
    let (Some(app), Some(rewards)) = (batch.app, batch.rewards) else {
        return Ok(());
    };
    let row = params![
        rewards.day.number(),
        app.number(),
        batch.source.as_str(),
        rewards.rewards,
        rewards.after_24_h,
        rewards.by_superseded_terms
    ];
    db.execute(sql::PUT_REWARDS, row)
}

/// Deletes expired figures and rewards.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::SWEEP_FIGURES, params![now_ms.saturating_sub(RETENTION_MS)])?;
    let first_day = UtcDay::of_ms(now_ms).minus(MAX_DAYS);
    db.execute(sql::SWEEP_REWARDS, params![first_day.number()])
}

#[derive(Serialize)]
struct ServiceFigures {
    isolates: Vec<FigureOfAll>,
    rewards: Rewards,
}

#[derive(Serialize)]
struct FigureOfAll {
    figure: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    number: i64,
    isolates: i64,
    last_ms: i64,
}

#[derive(Serialize)]
struct Rewards {
    date: String,
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
    apps: Vec<RewardsOfApp>,
}

#[derive(Serialize)]
struct RewardsOfApp {
    app_id: AppId,
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
}

/// Returns the part `reported` of the answer to `GET …/service`.
pub fn read(db: &impl Database, now_ms: i64) -> Result<OperatorReply> {
    let from_ms = now_ms.saturating_sub(RETENTION_MS);
    let parameters = params![from_ms, Figure::MEMORY_BYTES, Figure::SNAPSHOT_AGE_S];
    let day = UtcDay::of_ms(now_ms.saturating_sub(COMPARED_MS)).minus(1);
    let all = db.query_first(sql::ALL_REWARDS, params![day.number()])?;
    let all = all.unwrap_or(Row(vec![]));
    let reported = ServiceFigures {
        isolates: db.read_all(sql::FIGURES, parameters, figure)?,
        rewards: Rewards {
            date: day.to_string(),
            rewards: all.integer(0)?,
            rewards_after_24_h: all.integer(1)?,
            rewards_by_superseded_terms: all.integer(2)?,
            apps: db.read_all(sql::REWARDS_OF_APPS, params![day.number(), MAX_APPS], rewards_of_app)?,
        },
    };
    Ok(OperatorReply::new(200, as_json(&reported)?))
}

fn figure(row: &Row) -> DbResult<FigureOfAll> {
    Ok(FigureOfAll {
        figure: row.text(0)?.to_owned(),
        kind: row.text(1)?.to_owned(),
        number: row.integer(2)?,
        isolates: row.integer(3)?,
        last_ms: row.integer(4)?,
    })
}

fn rewards_of_app(row: &Row) -> DbResult<RewardsOfApp> {
    let damaged = || DatabaseError("a row of attention_rewards is damaged".into());
    Ok(RewardsOfApp {
        app_id: AppId::from_number(row.number(0)?).ok_or_else(damaged)?,
        rewards: row.integer(1)?,
        rewards_after_24_h: row.integer(2)?,
        rewards_by_superseded_terms: row.integer(3)?,
    })
}
