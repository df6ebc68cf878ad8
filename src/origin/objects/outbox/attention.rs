//! The outbox's items for the operator's [`attention`](crate::objects::activity::attention): held and capped
//! conversions, dead callbacks, the endpoint while it is disabled or fails, and lost terms. Triggers open and end these
//! items. An item of a batch or a day is opened by the code that finds the problem.
//!
//! A trigger runs only for a change that opens or ends an item. So a reward that is approved and delivered at once
//! writes nothing here.

use super::{endpoint, sums::night};
use crate::delivery::{
    attention_feed::{self, AttentionFeed, Source},
    feed,
};
use platform::{Clock, Database, DbResult, ObjectCall};

/// Maps a conversion's state (a number of `states.rs`) to the kind of its item (a number of `Kind`); NULL if the state
/// needs no item.
macro_rules! kind_of_state {
    ($state:literal) => {
        concat!("CASE WHEN ", $state, " >= 20 THEN 1 WHEN ", $state, " = 15 THEN 2 END")
    };
}

/// The kind of the endpoint's item; 0 if the endpoint is healthy or missing. An endpoint counts as failing after five
/// failed attempts (`callbacks/health.rs`).
macro_rules! kind_of_endpoint {
    ($row:literal) => {
        concat!(
            "CASE WHEN ",
            $row,
            ".callback_sealed IS NULL THEN 0 WHEN ",
            $row,
            ".disabled_ms IS NOT NULL THEN 4
               WHEN ",
            $row,
            ".failures >= 5 THEN 5 ELSE 0 END"
        )
    };
}

/// True if a callback is dead but can still be replayed, because its user is not erased.
macro_rules! is_dead {
    ($row:literal) => {
        concat!("(", $row, ".delivery IS 2 AND ", $row, ".user_id IS NOT NULL)")
    };
}

/// Opens the items that a query returns: kind, subject, since when, reason, payout.
macro_rules! open {
    ($rows:expr) => {
        concat!(
            "INSERT INTO attention (kind, subject, since_ms, reason, payout) ",
            $rows,
            " ON CONFLICT (kind, subject) DO UPDATE SET is_open = 1, changes = changes + 1, since_ms = excluded.since_ms,
               reason = excluded.reason, payout = excluded.payout"
        )
    };
}

macro_rules! end {
    ($kind:expr, $subject:expr) => {
        concat!(
            "UPDATE attention SET is_open = 0, changes = changes + 1 WHERE kind = ",
            $kind,
            " AND subject = ",
            $subject,
            " AND is_open"
        )
    };
}

/// The item of the conversion `NEW`.
macro_rules! conversion {
    () => {
        concat!(
            "SELECT ",
            kind_of_state!("NEW.state"),
            ", e.transaction_id, (e.fields ->> '$.conversion_ts') * 1000,
               CASE NEW.state WHEN 15 THEN 'conversion_capped' WHEN 23 THEN 'too_fast' WHEN 24 THEN 'too_many_today' WHEN 26 THEN 'suspended' WHEN 27 THEN 'after_restore' ELSE 'held' END,
               e.fields ->> '$.payout' FROM entries e WHERE e.entry = NEW.entry AND (",
            kind_of_state!("NEW.state"),
            ") IS NOT NULL"
        )
    };
}

/// The item of the callback `NEW`.
macro_rules! dead_callback {
    () => {
        concat!(
            "SELECT 3, NEW.transaction_id, COALESCE(NEW.due_ms, NEW.at_ms), \
             COALESCE('http_' || IIF(EXISTS (SELECT 1 FROM attempts WHERE entry = NEW.entry), (SELECT http_status \
             FROM attempts WHERE entry = NEW.entry ORDER BY attempt DESC LIMIT 1), NEW.first_status), 'no_answer'), \
             NEW.fields ->> '$.payout' WHERE ",
            is_dead!("NEW")
        )
    };
}

/// The item of the endpoint of the outbox `NEW`. A failing endpoint's item begins at about the time of the newest attempt.
macro_rules! endpoint {
    () => {
        concat!(
            "SELECT ",
            kind_of_endpoint!("NEW"),
            ", 'callback', COALESCE(NEW.disabled_ms, NULLIF(MAX(COALESCE((SELECT at_ms FROM attempts ORDER BY attempt DESC LIMIT 1), 0),
               COALESCE((SELECT MAX(first_at_ms) FROM (SELECT first_at_ms FROM entries ORDER BY entry DESC LIMIT 50)), 0)), 0), \
             NEW.resumes_ms), IIF(NEW.disabled_ms IS NULL, 'calls_fail', 'switched_itself_off'), NULL WHERE (",
            kind_of_endpoint!("NEW"),
            ") > 0"
        )
    };
}

pub const TABLES: &[&str] =
    &[
        concat!(
        "CREATE TRIGGER attention_conversion_added AFTER INSERT ON conversions WHEN NEW.state >= 20 OR NEW.state = 15
         BEGIN ", open!(conversion!()), "; END"
    ),
        concat!(
            "CREATE TRIGGER attention_conversion_changed AFTER UPDATE OF state ON conversions
           WHEN OLD.state <> NEW.state AND (OLD.state >= 20 OR OLD.state = 15 OR NEW.state >= 20 OR NEW.state = 15)
         BEGIN ",
            end!(kind_of_state!("OLD.state"), "(SELECT transaction_id FROM entries WHERE entry = OLD.entry)"),
            "; ",
            open!(conversion!()),
            "; END"
        ),
        concat!(
        "CREATE TRIGGER attention_conversion_left AFTER DELETE ON conversions WHEN OLD.state >= 20 OR OLD.state = 15
         BEGIN ",
        end!(kind_of_state!("OLD.state"), "(SELECT transaction_id FROM entries WHERE entry = OLD.entry)"), "; END"
    ),
        concat!(
            "CREATE TRIGGER attention_callback_changed AFTER UPDATE OF delivery, user_id ON entries
           WHEN ",
            is_dead!("OLD"),
            " <> ",
            is_dead!("NEW"),
            "
         BEGIN ",
            end!("3", "OLD.transaction_id"),
            "; ",
            open!(dead_callback!()),
            "; END"
        ),
        concat!(
            "CREATE TRIGGER attention_callback_left AFTER DELETE ON entries WHEN ",
            is_dead!("OLD"),
            "
         BEGIN ",
            end!("3", "OLD.transaction_id"),
            "; END"
        ),
        concat!(
            "CREATE TRIGGER attention_endpoint_changed AFTER UPDATE OF callback_sealed, failures, disabled_ms ON outbox
           WHEN (",
            kind_of_endpoint!("OLD"),
            ") <> (",
            kind_of_endpoint!("NEW"),
            ")
         BEGIN ",
            end!(concat!("(", kind_of_endpoint!("OLD"), ")"), "'callback'"),
            "; ",
            open!(endpoint!()),
            "; END"
        ),
    ];

macro_rules! terms_missed {
    () => {
        open!(
            "SELECT 10, NEW.lacks, NEW.at_ms, 'terms_lost', NULL
               WHERE NOT EXISTS (SELECT 1 FROM attention WHERE kind = 10 AND subject = NEW.lacks AND is_open)"
        )
    };
}

macro_rules! terms_found {
    () => {
        concat!(end!("10", "OLD.lacks"), " AND NOT EXISTS (SELECT 1 FROM kept WHERE lacks = OLD.lacks)")
    };
}

/// Triggers for the items of lost terms. There is one item for each offer or app whose lost terms a kept postback
/// needs.
pub const LOST_TERMS: &[&str] = &[
    concat!("CREATE TRIGGER attention_terms_missed AFTER INSERT ON kept BEGIN ", terms_missed!(), "; END"),
    concat!(
        "CREATE TRIGGER attention_other_terms_missed AFTER UPDATE OF lacks ON kept BEGIN ",
        terms_found!(),
        "; ",
        terms_missed!(),
        "; END"
    ),
    concat!("CREATE TRIGGER attention_terms_found AFTER DELETE ON kept BEGIN ", terms_found!(), "; END"),
];

/// Returns the outbox as a source of items; `None` until the outbox knows its publisher.
fn source(db: &impl Database) -> DbResult<Option<Source>> {
    let state = endpoint::read(db)?;
    let Some((shard, current)) = state.and_then(|state| Some((state.shard, state.current?))) else {
        return Ok(None);
    };
    Ok(Some(Source {
        name: shard.object_name(),
        app: Some(shard.app),
        publisher: Some(current.publisher_id),
        rewards: night::last_rewards(db)?,
    }))
}

/// Sends the changed items. The items of a test app are dropped, because nobody has to act on them.
pub async fn send(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> DbResult {
    if endpoint::read(db)?.is_some_and(|state| state.shard.app.is_test()) {
        return attention_feed::drop_changes(db);
    }
    let source = &|| source(db);
    feed::send(&AttentionFeed { db, source }, runtime).await
}
