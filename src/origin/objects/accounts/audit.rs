//! The audit: one row for each change, written in the change's own transaction. A row keeps names as they were at the
//! time. It also keeps members' ids, because two members may have the same name.

use super::sql;
use contract::accounts::{AuditEntry, AuditPage, OPERATOR_NAME, Recovery};
use domain::{accounts::ids::MemberId, model::DAY_MS};
use platform::{Database, DbResult, Result, Row, database::MAX_INTEGER, params};

/// The action of a recovery. An index of the schema and a statement also contain this text.
pub const RECOVERY_ISSUED: &str = "recovery_issued";
/// How long a row is kept, in milliseconds.
pub const RETENTION_MS: i64 = 400 * DAY_MS;

/// Maximum rows on a page.
const MAX_PAGE: u32 = 200;
/// How long owners are shown a recovery or a restore of the account, in milliseconds.
pub const SHOWN_MS: i64 = 7 * DAY_MS;
/// Maximum recoveries in an owner's banner.
const MAX_RECOVERIES: usize = 20;
/// Maximum length of a row's text, in characters. A longer text is cut and not refused, because its change may already
/// be made.
pub const MAX_TEXT: usize = 1_000;

/// The actor or the subject of a row.
#[derive(Clone, Debug)]
pub struct Party {
    /// The id of a member. The operator and things have none.
    pub member: Option<MemberId>,
    pub name: String,
}

impl Party {
    pub fn operator() -> Self {
        Self::thing(OPERATOR_NAME)
    }

    pub fn member(member: MemberId, name: impl Into<String>) -> Self {
        Self { member: Some(member), name: name.into() }
    }

    pub fn thing(name: impl Into<String>) -> Self {
        Self { member: None, name: name.into() }
    }
}

/// A row to be written.
pub struct Entry<'a> {
    pub by: Party,
    pub action: &'a str,
    pub subject: Option<Party>,
    pub detail: Option<&'a str>,
}

impl<'a> Entry<'a> {
    pub fn of(by: Party, action: &'a str) -> Self {
        Self { by, action, subject: None, detail: None }
    }
}

/// Cuts a text to the maximum length that an audit row may store.
pub fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Writes a row, within the caller's transaction.
pub fn append(db: &impl Database, now_ms: i64, entry: &Entry<'_>) -> DbResult {
    let id = |party: &Party| party.member.map(|member| member.to_string());
    let subject = entry.subject.as_ref();
    db.execute(
        sql::APPEND,
        params![
            now_ms,
            entry.by.name.as_str(),
            cut(entry.action),
            subject.map(|subject| cut(&subject.name)),
            entry.detail.map(cut),
            id(&entry.by),
            subject.and_then(id)
        ],
    )
}

/// Returns a page of rows with numbers below `before`, newest first.
pub fn page(db: &impl Database, limit: u32, before: Option<i64>) -> Result<AuditPage> {
    let limit = limit.clamp(1, MAX_PAGE);
    let before = before.unwrap_or(MAX_INTEGER).clamp(0, MAX_INTEGER);
    // One row more than the limit shows whether there is another page.
    let rows = db.query(sql::PAGE, params![before, limit.saturating_add(1)])?;
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = rows.get(..size);
    let next = page.and_then(|page| page.last()).filter(|_| rows.len() > size);
    Ok(AuditPage {
        before: next.map(|last| last.integer(0)).transpose()?,
        entries: page.unwrap_or(&rows).iter().map(entry).collect::<Result<_, _>>()?,
    })
}

fn entry(row: &Row) -> DbResult<AuditEntry> {
    let member = |column| row.optional_text(column)?.map(|_| row.parse(column, MemberId::parse)).transpose();
    Ok(AuditEntry {
        at_ms: row.integer(1)?,
        by: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        subject: row.optional_text(4)?.map(str::to_owned),
        detail: row.optional_text(5)?.map(str::to_owned),
        actor: member(6)?,
        subject_member: member(7)?,
        is_unconfirmed: row.boolean(8)?,
    })
}

/// Returns the recoveries that owners are shown, newest first.
pub fn recoveries(db: &impl Database, now_ms: i64) -> DbResult<Vec<Recovery>> {
    let since = now_ms.saturating_sub(SHOWN_MS);
    db.read_all(sql::RECOVERIES, params![since, MAX_RECOVERIES], |row| {
        Ok(Recovery { member_name: row.text(0)?.to_owned(), by: row.text(1)?.to_owned(), at_ms: row.integer(2)? })
    })
}
