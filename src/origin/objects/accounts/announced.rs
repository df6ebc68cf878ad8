//! Changes that another object makes, such as the ledger of a report key. The row of the audit is written before the
//! change and marked until it is known how that ended.

use std::borrow::Cow;

use super::{
    audit::{self, Entry, Party},
    members,
    rates::{self, Rate},
    sql,
};
use contract::{
    accounts::{Announce, AnnouncedChange, PendingAudit, Settle},
    catalog::SecretChange,
};
use domain::catalog::own_app::CURRENCY;
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

/// A change's row of the audit, and the rates that count the change.
struct AuditLine {
    action: Cow<'static, str>,
    subject: Option<String>,
    detail: Option<String>,
    rates: &'static [Rate],
}

fn told(change: &AnnouncedChange) -> AuditLine {
    let of = |action: &'static str, rates| AuditLine {
        action: action.into(),
        subject: None,
        detail: None,
        rates,
    };
    match change {
        AnnouncedChange::CreateReportKey { label } => AuditLine {
            detail: Some(label.clone()),
            ..of("report_key_created", &[Rate::ReportKeys])
        },
        // Nobody has to wait to revoke.
        AnnouncedChange::RevokeReportKey { key_id } => AuditLine {
            subject: Some(key_id.clone()),
            ..of("report_key_revoked", &[])
        },
        AnnouncedChange::RequestPubKey { reason } => AuditLine {
            detail: Some(reason.clone()),
            ..of("pub_key_requested", &[Rate::Settings])
        },
        AnnouncedChange::CreateApp { name } => AuditLine {
            detail: Some(name.clone()),
            ..of("app_created", &[Rate::NewApps])
        },
        AnnouncedChange::ChangeApp { app_id, fields } => {
            let rates: &[_] = if fields.iter().any(|field| field == CURRENCY) {
                &[Rate::Apps, Rate::Currencies]
            } else {
                &[Rate::Apps]
            };
            AuditLine {
                subject: Some(app_id.to_string()),
                detail: Some(fields.join(", ")),
                ..of("app_changed", rates)
            }
        }
        AnnouncedChange::TestCallback { app_id, sign_with } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(sign_with.as_str().to_owned()),
            ..of("callback_tested", &[Rate::CallbackTestPause, Rate::CallbackTests])
        },
        AnnouncedChange::EnableCallback { app_id } => AuditLine {
            subject: Some(app_id.to_string()),
            ..of("callback_enabled", &[Rate::Apps])
        },
        AnnouncedChange::SignTrackingUrl { app_id, offer_id } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(offer_id.clone()),
            ..of("tracking_url_signed", &[Rate::SignedUrls])
        },
        AnnouncedChange::ReplayReward {
            app_id,
            transaction_id,
        } => AuditLine {
            subject: Some(format!("{app_id} {transaction_id}")),
            ..of("reward_replayed", &[Rate::Replays])
        },
        AnnouncedChange::ReplayRewards { app_id, filter } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(filter.clone()),
            ..of("rewards_replayed", &[Rate::Apps])
        },
        // Nobody has to wait to stop.
        AnnouncedChange::CancelReplay { app_id, replay_id } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(replay_id.clone()),
            ..of("replay_cancelled", &[])
        },
        // The operator's own changes have no rates.
        AnnouncedChange::Operate { action, subject } => AuditLine {
            action: action.clone().into(),
            subject: (!subject.is_empty()).then(|| subject.clone()),
            detail: None,
            rates: &[],
        },
        AnnouncedChange::ChangeSecret { app_id, change } => {
            let action = match change {
                SecretChange::RenewCallback => "callback_secret_renewed",
                SecretChange::EndPreviousCallback => "callback_secret_ended",
                SecretChange::RenewClick => "click_secret_renewed",
                SecretChange::EndPreviousClick => "click_secret_ended",
                SecretChange::EndClick => "click_signing_ended",
            };
            AuditLine {
                subject: Some(app_id.to_string()),
                ..of(action, &[Rate::Apps])
            }
        }
    }
}

/// Announces a change that another object is about to make.
pub fn announce(db: &impl Database, now_ms: i64, announce: &Announce) -> Result<PendingAudit, Failure> {
    let by = members::party_of(db, &announce.by)?;
    let line = told(&announce.change);
    let entry = Entry {
        by,
        action: &line.action,
        subject: line.subject.map(Party::thing),
        detail: line.detail.as_deref(),
    };
    db.transaction(|| {
        for rate in line.rates {
            rates::take(db, now_ms, &announce.by, *rate)?;
        }
        audit::append(db, now_ms, &entry)?;
        let number = db.query_integer(sql::MARK_UNCONFIRMED, &[])?;
        let missing = || Failure::Internal("the announced row is missing".into());
        Ok(PendingAudit {
            entry: number.ok_or_else(missing)?,
        })
    })
}

/// Settles an announced change. One that is settled stays as it is.
pub fn settle(db: &impl Database, settle: &Settle) -> Result<(), DatabaseError> {
    if settle.is_done {
        let subject = settle.subject.as_deref().map(audit::cut);
        let detail = settle.detail.as_deref().map(audit::cut);
        db.execute(sql::CONFIRM, params![settle.entry, subject, detail])
    } else {
        db.execute(sql::DELETE_UNCONFIRMED, params![settle.entry])
    }
}
