//! Reads the rows of a slot of the tracking snapshot and builds its shard.

use super::{
    revisions::in_force,
    snapshots::{RETENTION_MS, readable},
    sql,
};
use domain::{
    conversions::token::Serial,
    model::{AdvertiserId, AppId, CountrySet, GoalId, OfferId, Platform, SECOND_MS},
    snapshot::tracking::{
        BuiltShard, ShardKind, Slot,
        advertisers::{self, SourceAdvertiser},
        apps::{self, SourceApp},
        goals::{self, SourceGoal, SourceOffer},
    },
};
use platform::{Database, Result, Row, params};

/// Maximum rows of a slot, which limits the memory of a build. Shards are split by size long before they have so many
/// rows.
const MAX_ROWS: usize = 512;

/// Builds the shard of a slot; `None` if it has too many rows.
pub fn build(db: &impl Database, slot: Slot, now_ms: i64) -> Result<Option<BuiltShard>> {
    let sql = match slot.kind {
        ShardKind::Advertisers => sql::LIST_SLOT_ADVERTISERS,
        ShardKind::Apps => sql::LIST_SLOT_APPS,
        ShardKind::Goals => sql::LIST_SLOT_GOALS,
    };
    let (first, last) = slot.hashes();
    let rows = db.query(sql, params![first, last, MAX_ROWS + 1])?;
    if rows.len() > MAX_ROWS {
        return Ok(None);
    }
    Ok(Some(match slot.kind {
        ShardKind::Advertisers => {
            let read = rows.iter().map(|row| advertiser(db, row));
            advertisers::build(slot, read.collect::<Result<_>>()?)
        }
        ShardKind::Apps => apps::build(slot, read(&rows, app)),
        ShardKind::Goals => {
            let kept_since_ms = now_ms.saturating_sub(RETENTION_MS);
            let goals = read(&rows, |row| goal(row, kept_since_ms));
            goals::build(slot, goals.into_iter().flatten().collect())
        }
    }))
}

fn read<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Vec<T> {
    rows.iter().filter_map(|row| readable(read(row), row)).collect()
}

fn advertiser(db: &impl Database, row: &Row) -> Result<SourceAdvertiser> {
    let id = row.parse(0, AdvertiserId::parse)?;
    let valid_serials = db.read_all(sql::LIST_TOKENS, params![id.as_str()], |token| token.integer(0).map(Serial))?;
    Ok(SourceAdvertiser { id, newest_serial: Serial(row.integer(1)?), valid_serials })
}

fn app(row: &Row) -> Result<SourceApp> {
    Ok(SourceApp {
        id: row.parse(0, AppId::parse)?,
        document: row.json(1)?,
        revision: row.integer(2)?,
        terms: in_force(row, 3)?,
        callback_revision: row.integer(5)?,
        outbox_shards: row.number(6)?,
        click_secrets: row.optional_blob(7)?.map(<[u8]>::to_vec),
        approved: row.boolean(8)?,
        pub_key_hash: if row.is_null(9) { None } else { Some(row.bytes(9)?) },
    })
}

/// Returns a goal; none if it was retired, or its offer ended, so long ago that no click can convert.
fn goal(row: &Row, kept_since_ms: i64) -> Result<Option<SourceGoal>> {
    let retired_at_ms = row.optional_integer(1)?;
    let offer = offer(row)?;
    let is_past = retired_at_ms.is_some_and(|retired_ms| retired_ms < kept_since_ms);
    if is_past || !is_kept(&offer, kept_since_ms) {
        return Ok(None);
    }
    Ok(Some(SourceGoal { id: row.parse(0, GoalId::parse)?, retired: retired_at_ms.is_some(), offer }))
}

fn offer(row: &Row) -> Result<SourceOffer> {
    Ok(SourceOffer {
        id: row.parse(2, OfferId::parse)?,
        active: row.boolean(3)?,
        starts_at: row.optional_integer(4)?,
        ends_at: row.optional_integer(5)?,
        os: row.decode(6, Platform::from_code)?,
        countries: CountrySet::from_bits(row.bytes(7)?),
        click_cap: row.optional_number(8)?,
        click_id_max: row.optional_number(9)?,
        conversion_cap: row.optional_number(10)?,
        revision: row.integer(11)?,
        target: row.text(12)?.to_owned(),
        includes_countries: row.boolean(13)?,
        terms: in_force(row, 14)?,
        min_seconds_to_convert: row.optional_number(16)?,
    })
}

/// True if an offer is active or could be clicked after `since_ms`. An inactive offer was deactivated at its last
/// change or earlier. The time of that change, in milliseconds, is at most the offer's revision.
fn is_kept(offer: &SourceOffer, since_ms: i64) -> bool {
    let has_ended = offer.ends_at.is_some_and(|ends_at_s| ends_at_s.saturating_mul(SECOND_MS) < since_ms);
    let is_unused = !offer.active && offer.revision < since_ms;
    !has_ended && !is_unused
}
