//! Changes that another object makes, such as the ledger of a report key. The row of the audit is written before the
//! change and marked until it is known how that ended.

use super::{
    audit::{self, Entry, Party},
    members,
    rates::{self, Rate},
    sql,
};
use contract::accounts::{Announce, Announced, AnnouncedChange, Settle};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

/// Announces a change that another object is about to make.
pub fn announce(db: &impl Database, now_ms: i64, announce: &Announce) -> Result<Announced, Failure> {
    let by = members::party_of(db, &announce.by)?;
    let entry = match &announce.change {
        AnnouncedChange::CreateReportKey { label } => Entry {
            detail: Some(label),
            ..Entry::of(by, "report_key_created")
        },
        AnnouncedChange::RevokeReportKey { key_id } => Entry {
            subject: Some(Party::thing(key_id)),
            ..Entry::of(by, "report_key_revoked")
        },
        AnnouncedChange::RequestPubKey { reason } => Entry {
            detail: Some(reason),
            ..Entry::of(by, "pub_key_requested")
        },
        AnnouncedChange::ReplayReward {
            app_id,
            transaction_id,
        } => Entry {
            subject: Some(Party::thing(format!("{app_id} {transaction_id}"))),
            ..Entry::of(by, "reward_replayed")
        },
        AnnouncedChange::ReplayRewards { app_id, filter } => Entry {
            subject: Some(Party::thing(app_id.to_string())),
            detail: Some(filter),
            ..Entry::of(by, "rewards_replayed")
        },
    };
    db.transaction(|| {
        let rate = match announce.change {
            AnnouncedChange::CreateReportKey { .. } => Some(Rate::ReportKeys),
            AnnouncedChange::RequestPubKey { .. } => Some(Rate::Settings),
            // Nobody has to wait to revoke.
            AnnouncedChange::RevokeReportKey { .. } => None,
            AnnouncedChange::ReplayReward { .. } => Some(Rate::Replays),
            AnnouncedChange::ReplayRewards { .. } => Some(Rate::Settings),
        };
        if let Some(rate) = rate {
            rates::take(db, now_ms, &announce.by, rate)?;
        }
        audit::append(db, now_ms, &entry)?;
        let number = db.query_integer(sql::MARK_UNCONFIRMED, &[])?;
        let missing = || Failure::Internal("the announced row is missing".into());
        Ok(Announced {
            entry: number.ok_or_else(missing)?,
        })
    })
}

/// Settles an announced change. One that is settled stays as it is.
pub fn settle(db: &impl Database, settle: &Settle) -> Result<(), DatabaseError> {
    if settle.is_done {
        let subject = settle.subject.as_deref().map(audit::cut);
        db.execute(sql::CONFIRM, params![settle.entry, subject])
    } else {
        db.execute(sql::DELETE_UNCONFIRMED, params![settle.entry])
    }
}
