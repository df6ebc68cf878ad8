//! Changes that other objects make, such as a new report key in the ledger. The audit row is written before the change.
//! It stays marked as unconfirmed until the outcome is known.

use std::borrow::Cow;

use super::{
    account,
    audit::{self, Entry, Party},
    members,
    rates::{self, Rate},
    sql,
};
use contract::{
    accounts::{Announce, AnnouncedChange, PendingAudit, Settle},
    catalog::SecretChange,
};
use domain::{
    accounts::{account::Account, ids::MemberId},
    catalog::own_app::CURRENCY,
    reporting::keys::Scope,
};
use platform::{Database, DbResult, Failure, Result, params};

/// The audit row of a change.
struct AuditLine {
    action: Cow<'static, str>,
    subject: Option<String>,
    detail: Option<String>,
}

/// Returns the rates that limit a change. Revoking, stopping or ending something has no rate. For the operator's
/// members, only replays have a rate, because replays burden a publisher's server.
fn rates_of(db: &impl Database, action: &str, detail: Option<&str>) -> DbResult<&'static [Rate]> {
    let is_operators = account::owner(db)? == Some(Account::Operator);
    Ok(match action {
        "reward_replayed" | "rewards_replayed" if is_operators => &[Rate::Replays],
        _ if is_operators => &[],
        "report_key_created" => &[Rate::ReportKeys],
        "pub_key_requested" => &[Rate::Settings],
        "app_created" => &[Rate::NewApps],
        "app_changed" if detail.is_some_and(|fields| fields.split(", ").any(|field| field == CURRENCY)) => {
            &[Rate::Apps, Rate::Currencies]
        }
        "app_changed"
        | "callback_enabled"
        | "rewards_replayed"
        | CALLBACK_SECRET_RENEWED
        | CLICK_SECRET_RENEWED => &[Rate::Apps],
        "callback_tested" | "alarms_tested" => &[Rate::CallbackTestPause, Rate::CallbackTests],
        "alarm_address_set" => &[Rate::Apps],
        "tracking_url_signed" => &[Rate::SignedUrls],
        "reward_replayed" => &[Rate::Replays],
        _ => &[],
    })
}

const CALLBACK_SECRET_RENEWED: &str = "callback_secret_renewed";
const CLICK_SECRET_RENEWED: &str = "click_secret_renewed";

fn told(change: &AnnouncedChange) -> AuditLine {
    let of = |action: &'static str| AuditLine {
        action: action.into(),
        subject: None,
        detail: None,
    };
    match change {
        AnnouncedChange::CreateReportKey { label, scope } => AuditLine {
            detail: Some(match scope {
                Scope::Reporting => label.clone(),
                scope => format!("{label} ({})", scope.as_str()),
            }),
            ..of("report_key_created")
        },
        AnnouncedChange::RevokeReportKey { key_id } => AuditLine {
            subject: Some(key_id.clone()),
            ..of("report_key_revoked")
        },
        AnnouncedChange::RequestPubKey { reason } => AuditLine {
            detail: Some(reason.clone()),
            ..of("pub_key_requested")
        },
        AnnouncedChange::CreateApp { name } => AuditLine {
            detail: Some(name.clone()),
            ..of("app_created")
        },
        AnnouncedChange::ChangeApp { app_id, fields } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(fields.join(", ")),
            ..of("app_changed")
        },
        AnnouncedChange::TestCallback { app_id, sign_with } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(sign_with.as_str().to_owned()),
            ..of("callback_tested")
        },
        AnnouncedChange::EnableCallback { app_id } => AuditLine {
            subject: Some(app_id.to_string()),
            ..of("callback_enabled")
        },
        AnnouncedChange::SignTrackingUrl { app_id, offer_id } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(offer_id.clone()),
            ..of("tracking_url_signed")
        },
        AnnouncedChange::ReplayReward {
            app_id,
            transaction_id,
        } => AuditLine {
            subject: Some(format!("{app_id} {transaction_id}")),
            ..of("reward_replayed")
        },
        AnnouncedChange::ReplayRewards { app_id, filter } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(filter.clone()),
            ..of("rewards_replayed")
        },
        AnnouncedChange::CancelReplay { app_id, replay_id } => AuditLine {
            subject: Some(app_id.to_string()),
            detail: Some(replay_id.clone()),
            ..of("replay_cancelled")
        },
        AnnouncedChange::EraseUser {} => of("user_erased"),
        AnnouncedChange::ExportUser {} => of("user_exported"),
        AnnouncedChange::SetAlarmAddress {} => of("alarm_address_set"),
        AnnouncedChange::EndAlarmAddress {} => of("alarm_address_ended"),
        AnnouncedChange::TestAlarms {} => of("alarms_tested"),
        AnnouncedChange::Operate { action, subject } => AuditLine {
            action: action.clone().into(),
            subject: (!subject.is_empty()).then(|| subject.clone()),
            detail: None,
        },
        AnnouncedChange::ChangeSecret { app_id, change } => {
            let action = match change {
                SecretChange::RenewCallback => CALLBACK_SECRET_RENEWED,
                SecretChange::EndPreviousCallback => "callback_secret_ended",
                SecretChange::RenewClick => CLICK_SECRET_RENEWED,
                SecretChange::EndPreviousClick => "click_secret_ended",
                SecretChange::EndClick => "click_signing_ended",
            };
            AuditLine {
                subject: Some(app_id.to_string()),
                ..of(action)
            }
        }
    }
}

/// Announces a change that another object is about to make.
pub fn announce(db: &impl Database, now_ms: i64, announce: &Announce) -> Result<PendingAudit> {
    let by = members::party_of(db, &announce.by)?;
    let line = told(&announce.change);
    let entry = Entry {
        by,
        action: &line.action,
        subject: line.subject.map(Party::thing),
        detail: line.detail.as_deref(),
    };
    db.transaction(|| {
        for rate in rates_of(db, &line.action, line.detail.as_deref())? {
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

/// Stores the outcome of an announced change. The first outcome stays. Rates do not count a refused change.
pub fn settle(db: &impl Database, now_ms: i64, settle: &Settle) -> DbResult {
    if settle.is_done {
        let subject = settle.subject.as_deref().map(audit::cut);
        let detail = settle.detail.as_deref().map(audit::cut);
        return db.execute(sql::CONFIRM, params![settle.entry, subject, detail]);
    }
    db.transaction(|| {
        let Some(row) = db.query_first(sql::DELETE_UNCONFIRMED, params![settle.entry])? else {
            return Ok(());
        };
        let Some(member) = row.optional_text(3)?.and_then(MemberId::parse) else {
            return Ok(());
        };
        let taken = (member, row.integer(2)?);
        for rate in rates_of(db, row.text(0)?, row.optional_text(1)?)? {
            rates::give_back(db, now_ms, taken, *rate)?;
        }
        Ok(())
    })
}
