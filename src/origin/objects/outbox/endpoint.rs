//! The state of an outbox: its app, the app's current values and callback settings, and the health of the endpoint.

use super::{
    erasure,
    peers::{AppNow, Gap, Peers},
    sql,
};
use crate::delivery::callback_settings;
use contract::{
    catalog::CallbackSettings,
    outbox::{ClaimApp, ClaimedApp, Disabled, EndpointState, OutboxShard},
};
use domain::{
    callbacks::health::Health,
    conversions::{
        log_number::NUMBERS_PER_MS,
        terms::{CurrentApp, TermsInForce},
    },
    model::{AppId, PublisherId, common},
};
use platform::{Database, DatabaseError, DbResult, Result, log, params};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxState {
    pub shard: OutboxShard,
    /// The app's newest values; `None` before the first conversion.
    pub current: Option<CurrentApp>,
    pub callback: CallbackSettings,
    pub health: Health,
    /// When a response of the endpoint told Signpost to stop, in milliseconds.
    pub disabled_ms: Option<i64>,
    /// When the endpoint was last enabled again, in milliseconds. Attempts that began earlier do not count for its
    /// health.
    pub enabled_ms: i64,
    pub gap: Option<Gap>,
    /// When the outbox last wrote again what a restore had lost, in milliseconds; 0 for never.
    pub refilled_ms: i64,
}

impl OutboxState {
    pub fn has_callback(&self) -> bool {
        self.callback.sealed.is_some()
    }

    /// True if callbacks may be sent: the app has a callback, its endpoint is not disabled, its publisher is not
    /// suspended, and no newer settings are known to exist. A closed publisher still gets its waiting callbacks.
    pub fn has_endpoint(&self) -> bool {
        let waits = self.callback.is_suspended && !self.callback.is_closed;
        let is_off = self.disabled_ms.is_some() || waits;
        self.has_callback() && !is_off && !self.is_behind()
    }

    /// Returns the endpoint's state.
    pub fn endpoint_state(&self) -> EndpointState {
        if !self.has_callback() {
            EndpointState::None
        } else if self.disabled_ms.is_some() {
            EndpointState::Disabled
        } else if self.health.is_failing() {
            EndpointState::Failing
        } else {
            EndpointState::Healthy
        }
    }

    /// Returns the values that conversions need; `None` before the first conversion.
    fn app_now(&self) -> Option<AppNow> {
        let current = self.current.as_ref()?;
        Some(AppNow {
            revision: current.revision,
            terms: current.terms,
            max_rewards_per_user_day: current.max_rewards_per_user_day,
            is_suspended: self.callback.is_suspended,
            has_settings: self.callback.revision >= 0,
            gap: self.gap,
        })
    }

    /// True if the app has newer callback settings than the outbox. The outbox then asks for them before it sends
    /// callbacks.
    pub fn is_behind(&self) -> bool {
        let wanted = self.current.as_ref().map(|current| current.callback_revision);
        wanted > Some(self.callback.revision)
    }
}

/// Reads the state; `None` if the outbox never had a conversion or settings.
pub fn read(db: &impl Database) -> DbResult<Option<OutboxState>> {
    let Some(row) = db.query_first(sql::GET_STATE, &[])? else {
        return Ok(None);
    };
    let app = AppId::from_number(row.number(0)?);
    let current = match row.optional_text(2)?.and_then(PublisherId::parse) {
        None => None,
        Some(publisher_id) => Some(CurrentApp {
            publisher_id,
            revision: row.integer(3)?,
            terms: TermsInForce { revision: row.integer(4)?, since: row.integer(5)? },
            callback_revision: row.integer(6)?,
            outbox_shards: row.number(12)?,
            max_rewards_per_user_day: row.optional_number(13)?,
        }),
    };
    Ok(Some(OutboxState {
        shard: OutboxShard {
            app: app.ok_or_else(|| DatabaseError("the stored app id is invalid".into()))?,
            number: row.number(1)?,
        },
        current,
        callback: callback_settings::read(&row, 7, 15)?,
        health: Health { failures: row.number(9)?, resumes_ms: row.integer(10)? },
        disabled_ms: row.optional_integer(11)?,
        enabled_ms: row.integer(14)?,
        gap: row
            .optional_integer(16)?
            .map(|until_ms| {
                let clicks_to_ms = row.integer(17)?.div_euclid(NUMBERS_PER_MS);
                Ok::<_, DatabaseError>(Gap { clicks_to_ms, until_ms })
            })
            .transpose()?,
        refilled_ms: row.integer(18)?,
    }))
}

/// Returns the app's newest values; `None` if the outbox does not know them.
pub fn app_now(db: &impl Database, peers: &impl Peers) -> DbResult<Option<AppNow>> {
    if let Some(known) = peers.state_cache().current.get() {
        return Ok(Some(known));
    }
    Ok(read(db)?.as_ref().and_then(OutboxState::app_now))
}

/// Stores the app's number of outboxes if the claim is final and no number is stored. Returns the stored number, or the
/// claim's number if none is stored.
pub fn claim_app(db: &impl Database, shard: OutboxShard, claim: ClaimApp) -> Result<ClaimedApp> {
    let claimed = if claim.is_final {
        db.query_integer(sql::CLAIM_APP, params![shard.app.number(), shard.number, claim.outbox_shards])?
    } else {
        db.query_integer(sql::GET_CLAIM, &[])?
    };
    let outbox_shards = claimed.and_then(|count| u8::try_from(count).ok());
    Ok(ClaimedApp { outbox_shards: outbox_shards.unwrap_or(claim.outbox_shards) })
}

/// True if this outbox must ask the app's first outbox for the number of outboxes.
pub fn needs_claim(db: &impl Database, peers: &impl Peers, shard: OutboxShard) -> DbResult<bool> {
    let is_cached = peers.state_cache().current.get().is_some();
    Ok(shard.number > 0 && !is_cached && db.query_integer(sql::GET_CLAIM, &[])?.is_none())
}

/// Checks with the app's first outbox that the app has as many outboxes as the catalog says. If the numbers differ,
/// users' earlier rewards may be in outboxes that are never asked.
pub async fn claim_at_first(peers: &impl Peers, shard: OutboxShard, current: &CurrentApp) -> Result {
    let first = OutboxShard { number: 0, ..shard };
    let claim = ClaimApp { outbox_shards: current.outbox_shards, is_final: true };
    let claimed = peers.claim_app(first, claim).await?.outbox_shards;
    refuse_other_count(Some(claimed.into()), current.outbox_shards)
}

fn refuse_other_count(known: Option<i64>, count: u8) -> Result {
    match known {
        Some(known) if known != i64::from(count) => {
            let problem = format!("the app already has {known} outboxes, not {count}");
            log::error("outbox", &problem);
            Err(common::UNAVAILABLE.with_message(problem).into())
        }
        _ => Ok(()),
    }
}

/// Stores the app's current values if they are newer than the stored ones.
///
/// # Errors
/// The app already has another number of outboxes. Or the database failed, or the alarm could not be set.
pub fn store_current(db: &impl Database, peers: &impl Peers, shard: OutboxShard, newer: &CurrentApp) -> Result {
    let cache = peers.state_cache();
    if cache.current.get().is_some_and(|known| known.revision >= newer.revision) {
        return Ok(());
    }
    refuse_other_count(db.query_integer(sql::GET_CLAIM, &[])?, newer.outbox_shards)?;
    let stored = read(db)?.and_then(|state| state.current);
    if stored.is_none_or(|stored| stored.revision < newer.revision) {
        // The cache is cleared before the write, because a write that reports an error may have happened.
        cache.current.set(None);
        cache.lacks_endpoint.set(false);
        db.execute(
            sql::SET_CURRENT,
            params![
                shard.app.number(),
                u32::from(shard.number),
                newer.publisher_id.as_str(),
                newer.revision,
                newer.terms.revision,
                newer.terms.since,
                newer.callback_revision,
                u32::from(newer.outbox_shards),
                newer.max_rewards_per_user_day
            ],
        )?;
        // If the outbox is behind now, its alarm must ask for the settings.
        peers.committed()?;
    }
    cache.current.set(read(db)?.as_ref().and_then(OutboxState::app_now));
    Ok(())
}

/// Stores the catalog's callback settings if their revision is higher than the stored one. New settings reset the
/// endpoint's health and make waiting callbacks due. If the revision is the stored one, the catalog may have sealed the
/// settings with another key. Then only the sealed text is replaced.
///
/// # Errors
/// The database failed, or the alarm could not be set.
pub fn store_settings(
    db: &impl Database,
    peers: &impl Peers,
    shard: OutboxShard,
    callback: &CallbackSettings,
) -> Result {
    let known = read(db)?.map(|state| state.callback.revision);
    if known.is_some_and(|known| callback.revision <= known) {
        if known == Some(callback.revision) {
            let sealed = callback.sealed.as_ref().map(|sealed| sealed.0.clone());
            db.execute(sql::RESEAL_SETTINGS, params![sealed])?;
        }
        return Ok(());
    }
    peers.state_cache().lacks_endpoint.set(false);
    peers.state_cache().current.set(None);
    db.transaction(|| {
        db.execute(
            sql::SET_SETTINGS,
            params![
                shard.app.number(),
                u32::from(shard.number),
                callback.revision,
                callback.sealed.as_ref().map(|sealed| sealed.0.clone()),
                callback.suspension()
            ],
        )?;
        if callback.is_closed {
            erasure::erase_everybody(db, peers.now_ms(), shard)?;
        }
        release(db, peers.now_ms(), peers.claim_ms())?;
        erasure::erase_waiting(db)
    })?;
    peers.committed()
}

/// Stops waiting for settings that a restored catalog has lost. Otherwise the outbox would ask for them in vain and
/// deliver nothing until the next change.
pub fn forget_lost_settings(db: &impl Database, newest: i64) -> DbResult {
    match read(db)? {
        Some(state) if state.is_behind() && state.callback.revision >= newest => {
            db.execute(sql::WANT_SETTINGS, params![state.callback.revision])
        }
        _ => Ok(()),
    }
}

/// Forgets what may have been replaced since a restored copy was made: the callback settings, and the newest values of
/// offers. The outbox asks for them again.
pub fn forget_current(db: &impl Database) -> DbResult {
    db.execute(sql::FORGET_SETTINGS, &[])?;
    db.execute(sql::FORGET_OFFERS, &[])
}

/// Resets the endpoint's health, and restarts the schedule of every waiting callback with an attempt at once. Attempts
/// in flight may finish, because otherwise their callbacks would be sent twice.
pub fn release(db: &impl Database, now_ms: i64, claim_ms: i64) -> DbResult {
    set_health(db, Health::default(), None)?;
    let claimed_until_ms = now_ms.saturating_add(claim_ms);
    db.execute(sql::RELEASE_ALL, params![now_ms, claimed_until_ms])
}

/// Enables the endpoint again. Attempts that began earlier no longer change its health.
pub fn enable(db: &impl Database, now_ms: i64, claim_ms: i64, at_ms: i64) -> DbResult {
    db.execute(sql::SET_ENABLED, params![at_ms])?;
    release(db, now_ms, claim_ms)
}

/// Disables the endpoint, because its answer to another outbox of the app told Signpost to stop. Does nothing if the
/// endpoint was replaced or enabled again after the other outbox's attempt began.
pub fn disable(db: &impl Database, now_ms: i64, disabled: Disabled) -> DbResult {
    match read(db)? {
        Some(state)
            if (state.callback.revision, state.enabled_ms) == (disabled.revision, disabled.enabled_ms)
                && state.disabled_ms.is_none() =>
        {
            set_health(db, state.health, Some(now_ms))
        }
        _ => Ok(()),
    }
}

/// Stores the endpoint's health, within the caller's transaction.
pub fn set_health(db: &impl Database, health: Health, disabled_ms: Option<i64>) -> DbResult {
    let health = params![health.failures, health.resumes_ms, disabled_ms];
    db.execute(sql::SET_HEALTH, health)?;
    match disabled_ms {
        // If the publisher is closed, its disabled endpoint never gets another callback. Users whose erasure waits for
        // a callback can then be erased.
        Some(_) => erasure::erase_waiting(db),
        None => Ok(()),
    }
}
