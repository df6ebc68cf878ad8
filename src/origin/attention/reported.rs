//! Figures that the service's page shows: what the isolates of both Workers told, and the rewards of the last compared day, by
//! app.

use contract::{
    attention::AttentionReport,
    isolates::{Figure, IsolateReport},
    operation::{Done, Reply},
};
use domain::model::{
    AppId,
    time::{DAY_MS, UtcDay},
};
use platform::{
    database::{Database, DatabaseError, Row, json as as_json},
    failure::Failure,
    params,
};
use serde::Serialize;

use super::sql;

/// An isolate that told nothing new for this long is forgotten. Few isolates live longer.
const RETENTION_MS: i64 = DAY_MS;
/// Figures of isolates at most: those of some thousand.
pub const MOST_FIGURES: i64 = 20_000;
/// How old the last compared day of an outbox may be: yesterday's, or the day before until the night's work is done.
const MOST_DAYS: i32 = 2;
/// The most apps with rewards from old clicks or superseded terms that are listed.
const MOST_APPS: u32 = 25;

/// Stores the figures of an isolate. Each only rises, so that an older report, or one that comes twice, changes nothing.
pub fn put_isolate(db: &impl Database, report: &IsolateReport) -> Result<Done, DatabaseError> {
    let isolate = report.isolate.as_str();
    db.transaction(|| {
        for Figure { figure, kind, number } in &report.figures {
            let row = params![
                isolate,
                figure.as_str(),
                kind.as_str(),
                *number,
                report.at_ms,
                MOST_FIGURES
            ];
            db.execute(sql::PUT_FIGURE, row)?;
        }
        Ok(())
    })?;
    Ok(Done {})
}

/// Stores the rewards of an outbox's last compared day, within the transaction of its report.
pub fn put_rewards(db: &impl Database, report: &AttentionReport) -> Result<(), DatabaseError> {
    let (Some(app), Some(rewards)) = (report.app, report.rewards) else {
        return Ok(());
    };
    let row = params![
        report.source.as_str(),
        app.number(),
        rewards.day.number(),
        rewards.rewards,
        rewards.after_24_h,
        rewards.by_superseded_terms
    ];
    db.execute(sql::PUT_REWARDS, row)
}

/// Deletes what has expired.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SWEEP_FIGURES, params![now_ms.saturating_sub(RETENTION_MS)])?;
    db.execute(sql::SWEEP_REWARDS, params![first_day(now_ms)])
}

fn first_day(now_ms: i64) -> i64 {
    UtcDay::of_ms(now_ms).minus(MOST_DAYS).number()
}

#[derive(Serialize)]
struct Reported {
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
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
    apps: Vec<RewardsOfApp>,
}

#[derive(Serialize)]
struct RewardsOfApp {
    app_id: AppId,
    date: String,
    rewards: i64,
    rewards_after_24_h: i64,
    rewards_by_superseded_terms: i64,
}

/// The part `reported` of `GET …/service`.
pub fn read(db: &impl Database, now_ms: i64) -> Result<Reply, Failure> {
    let from_ms = now_ms.saturating_sub(RETENTION_MS);
    let isolates = db.query(sql::FIGURES, params![from_ms, Figure::MEMORY_BYTES])?;
    let first_day = first_day(now_ms);
    let all = db.query_first(sql::ALL_REWARDS, params![first_day])?;
    let all = all.unwrap_or(Row(vec![]));
    let apps = db.query(sql::REWARDS_OF_APPS, params![first_day, MOST_APPS])?;
    let reported = Reported {
        isolates: isolates.iter().map(figure).collect::<Result<_, _>>()?,
        rewards: Rewards {
            rewards: all.integer(0)?,
            rewards_after_24_h: all.integer(1)?,
            rewards_by_superseded_terms: all.integer(2)?,
            apps: apps.iter().map(rewards_of_app).collect::<Result<_, _>>()?,
        },
    };
    Ok(Reply {
        status: 200,
        body: as_json(&reported)?,
    })
}

fn figure(row: &Row) -> Result<FigureOfAll, DatabaseError> {
    Ok(FigureOfAll {
        figure: row.text(0)?.to_owned(),
        kind: row.text(1)?.to_owned(),
        number: row.integer(2)?,
        isolates: row.integer(3)?,
        last_ms: row.integer(4)?,
    })
}

fn rewards_of_app(row: &Row) -> Result<RewardsOfApp, DatabaseError> {
    let damaged = || DatabaseError("a row of attention_rewards is damaged".into());
    Ok(RewardsOfApp {
        app_id: AppId::from_number(row.number(0)?).ok_or_else(damaged)?,
        date: UtcDay::from_number(row.integer(1)?)
            .ok_or_else(damaged)?
            .to_string(),
        rewards: row.integer(2)?,
        rewards_after_24_h: row.integer(3)?,
        rewards_by_superseded_terms: row.integer(4)?,
    })
}
