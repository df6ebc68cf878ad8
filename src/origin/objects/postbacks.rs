//! Received postbacks: one object for each advertiser, and one for the refused postbacks of all. Isolates of the edge
//! send the postbacks that they have answered to these objects. An object keeps the newest [`MAX`] and counts the
//! others. No other data depends on the objects, so a refused or lost batch does no harm.

pub mod service;
pub mod sql;
pub mod sweep;

pub use sql::MIGRATIONS;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use contract::postbacks::{Command, ListPostbacks, MAX_IN_BATCH, PostbackBatch, PostbackPage, ReceivedPostback, Reply};
use domain::model::{AdvertiserId, SECOND_MS};
use platform::{
    Database, DatabaseError, DbResult,
    database::{MAX_INTEGER, json},
    params,
};

/// Maximum kept postbacks with an issued token; [`MAX_UNSIGNED`] limits the others. They take 8 MB at the maximum size
/// of 8 KiB, and 0.6 MB at the usual 600 bytes.
pub const MAX: i64 = 1_000;
/// Maximum kept postbacks without an issued token. Anybody who clicks can send these, so they must not displace the
/// others.
pub const MAX_UNSIGNED: i64 = 100;
/// In the list of all advertisers, the maximum postbacks of one advertiser with one code; and of those without an issued
/// token. One sender, or a stranger, must not displace the postbacks of the other advertisers.
const MAX_OF_CODE: i64 = 50;
const MAX_UNSIGNED_OF_CODE: i64 = 10;
/// Maximum advertisers whose last write a process remembers.
const MAX_KNOWN: usize = 1_000;
/// The largest postback that is kept, in bytes of JSON.
pub const MAX_ROW: usize = 8 << 10;
/// Maximum postbacks on a page. At 8 KiB each they make 1.6 MB.
pub const MAX_PAGE: u32 = 200;
/// Minimum time between two writes, in milliseconds.
const INTERVAL_MS: i64 = SECOND_MS;

/// Counts since the last write. They are lost if the object leaves memory before the next write.
#[derive(Debug, Default)]
pub struct Unwritten {
    not_shown: Cell<u64>,
    tokens: RefCell<BTreeMap<i64, i64>>,
    /// In the list of all advertisers, the time of each advertiser's last write.
    written: RefCell<BTreeMap<AdvertiserId, i64>>,
}

impl Unwritten {
    fn add(&self, count: u64) {
        self.not_shown.set(self.not_shown.get().saturating_add(count));
    }

    /// Records when each token was last used.
    fn use_tokens(&self, tokens: Vec<(i64, i64)>) {
        merge(&mut self.tokens.borrow_mut(), tokens);
    }
}

fn merge(all: &mut BTreeMap<i64, i64>, tokens: impl IntoIterator<Item = (i64, i64)>) {
    for (serial, at_ms) in tokens {
        let last_ms = all.entry(serial).or_insert(at_ms);
        *last_ms = at_ms.max(*last_ms);
    }
}

/// Carries out one command.
pub fn handle(db: &impl Database, unwritten: &Unwritten, now_ms: i64, command: Command) -> DbResult<Reply> {
    match command {
        Command::Add(batch) => {
            apply(db, unwritten, now_ms, batch)?;
            Ok(Reply::Done {})
        }
        Command::List(list) => read(db, unwritten, &list).map(Reply::Page),
    }
}

/// Stores the postbacks of a batch. Within a second of the last write, postbacks are only counted. Postbacks with a
/// token and postbacks without one have separate times of their last write. In the list of all advertisers, each
/// advertiser has its own time instead.
fn apply(db: &impl Database, unwritten: &Unwritten, now_ms: i64, batch: PostbackBatch) -> DbResult {
    let came = batch.came();
    unwritten.use_tokens(batch.tokens);
    let last = db.query_first(sql::LAST_WRITES, &[])?;
    let last = last.ok_or_else(|| DatabaseError("the table counts has no row".into()))?;
    // A clock that was set back must not stop the writes.
    let is_due = |last_ms: Option<i64>| {
        !last_ms.is_some_and(|last_ms| (0..INTERVAL_MS).contains(&now_ms.saturating_sub(last_ms)))
    };
    let advertiser = batch.postbacks.first().and_then(|postback| postback.advertiser.clone());
    let [with_token, without] = match &advertiser {
        Some(advertiser) => [is_due(unwritten.written.borrow().get(advertiser).copied()); 2],
        None => [is_due(last.optional_integer(0)?), is_due(last.optional_integer(1)?)],
    };
    let rows: Vec<_> = batch
        .postbacks
        .into_iter()
        .take(MAX_IN_BATCH)
        .filter(|postback| if postback.is_unsigned { without } else { with_token })
        .filter_map(|postback| {
            let details = json(&postback).ok()?;
            let row = (postback.at_ms, postback.code, details, postback.is_unsigned);
            (row.2.len() <= MAX_ROW).then_some(row)
        })
        .collect();
    if rows.is_empty() {
        unwritten.add(came);
        return Ok(());
    }
    let is_first = last.is_null(2);
    let has = |is_unsigned| rows.iter().any(|row| row.3 == is_unsigned);
    let not_shown = came.saturating_sub(count(rows.len())).saturating_add(unwritten.not_shown.get());
    let not_shown = i64::try_from(not_shown).unwrap_or(MAX_INTEGER).min(MAX_INTEGER);
    db.transaction(|| {
        // The list of all advertisers needs no stored time of its last write, which saves a row.
        if advertiser.is_none() || not_shown > 0 || is_first {
            let counted = params![not_shown, now_ms, has(false), has(true)];
            db.execute(sql::COUNT, counted)?;
        }
        db.execute(sql::INSERT, params![json(&rows)?])?;
        for (is_unsigned, most) in [(false, MAX), (true, MAX_UNSIGNED)] {
            if has(is_unsigned) {
                db.execute(sql::TRIM, params![is_unsigned, most])?;
            }
        }
        if let Some(advertiser) = &advertiser {
            let codes: BTreeSet<_> = rows.iter().map(|row| (row.3, row.1.as_str())).collect();
            for (is_unsigned, code) in codes {
                let most = if is_unsigned { MAX_UNSIGNED_OF_CODE } else { MAX_OF_CODE };
                let of_code = params![is_unsigned, code, advertiser.as_str(), most];
                db.execute(sql::TRIM_ADVERTISER, of_code)?;
            }
        }
        db.execute(sql::USE_TOKENS, params![json(&*unwritten.tokens.borrow())?])
    })?;
    if let Some(advertiser) = advertiser {
        let mut known = unwritten.written.borrow_mut();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(advertiser, now_ms);
    }
    unwritten.not_shown.set(0);
    unwritten.tokens.borrow_mut().clear();
    Ok(())
}

fn read(db: &impl Database, unwritten: &Unwritten, list: &ListPostbacks) -> DbResult<PostbackPage> {
    let limit = usize::try_from(list.limit.clamp(1, MAX_PAGE)).unwrap_or(1);
    let before = list.before.unwrap_or(MAX_INTEGER).min(MAX_INTEGER);
    // One row more than the limit shows whether there is another page.
    let rows = db.query(sql::LIST, params![before, list.code.as_deref(), limit.saturating_add(1)])?;
    let next = match rows.get(limit.saturating_sub(1)) {
        Some(last) if rows.len() > limit => Some(last.integer(0)?),
        _ => None,
    };
    let postbacks = rows.iter().take(limit).map(|row| row.json(1));
    let counts = db.query_first(sql::GET_COUNTS, &[])?;
    let (stored, since_ms) = match &counts {
        Some(row) => (row.number(0)?, row.optional_integer(1)?),
        None => (0, None),
    };
    let mut tokens = BTreeMap::new();
    for row in db.query(sql::LIST_TOKENS, &[])? {
        tokens.insert(row.integer(0)?, row.integer(1)?);
    }
    merge(&mut tokens, unwritten.tokens.borrow().clone());
    Ok(PostbackPage {
        tokens,
        postbacks: postbacks.collect::<Result<Vec<ReceivedPostback>, _>>()?,
        not_shown: unwritten.not_shown.get().saturating_add(stored),
        since_ms,
        next,
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
