//! Changes that other objects make, such as a new report key in the ledger. The audit row is written before the change.
//! It stays marked as unconfirmed until the outcome is known.

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
        | "callback_secret_renewed"
        | "click_secret_renewed" => &[Rate::Apps],
        "callback_tested" | "alarms_tested" => &[Rate::CallbackTestPause, Rate::CallbackTests],
        "alarm_address_set" => &[Rate::Apps],
        "tracking_url_signed" => &[Rate::SignedUrls],
        "reward_replayed" => &[Rate::Replays],
        _ => &[],
    })
}

/// Returns a change's action, subject and detail, as its row has them.
fn line_of(change: &AnnouncedChange) -> (&str, Option<String>, Option<String>) {
    match change {
        AnnouncedChange::CreateReportKey { label, scope } => {
            let label = match scope {
                Scope::Reporting => label.clone(),
                scope => format!("{label} ({})", scope.as_str()),
            };
            ("report_key_created", None, Some(label))
        }
        AnnouncedChange::RevokeReportKey { key_id } => ("report_key_revoked", Some(key_id.clone()), None),
        AnnouncedChange::RequestPubKey { reason } => ("pub_key_requested", None, Some(reason.clone())),
        AnnouncedChange::CreateApp { name } => ("app_created", None, Some(name.clone())),
        AnnouncedChange::ChangeApp { app_id, fields } => {
            ("app_changed", Some(app_id.to_string()), Some(fields.join(", ")))
        }
        AnnouncedChange::ChangeSecret { app_id, change } => {
            let action = match change {
                SecretChange::RenewCallback => "callback_secret_renewed",
                SecretChange::EndPreviousCallback => "callback_secret_ended",
                SecretChange::RenewClick => "click_secret_renewed",
                SecretChange::EndPreviousClick => "click_secret_ended",
                SecretChange::EndClick => "click_signing_ended",
            };
            (action, Some(app_id.to_string()), None)
        }
        AnnouncedChange::TestCallback { app_id, sign_with } => {
            ("callback_tested", Some(app_id.to_string()), Some(sign_with.as_str().to_owned()))
        }
        AnnouncedChange::EnableCallback { app_id } => ("callback_enabled", Some(app_id.to_string()), None),
        AnnouncedChange::SignTrackingUrl { app_id, offer_id } => {
            ("tracking_url_signed", Some(app_id.to_string()), Some(offer_id.clone()))
        }
        AnnouncedChange::ReplayReward { app_id, transaction_id } => {
            ("reward_replayed", Some(format!("{app_id} {transaction_id}")), None)
        }
        AnnouncedChange::ReplayRewards { app_id, filter } => {
            ("rewards_replayed", Some(app_id.to_string()), Some(filter.clone()))
        }
        AnnouncedChange::CancelReplay { app_id, replay_id } => {
            ("replay_cancelled", Some(app_id.to_string()), Some(replay_id.clone()))
        }
        AnnouncedChange::EraseUser {} => ("user_erased", None, None),
        AnnouncedChange::ExportUser {} => ("user_exported", None, None),
        AnnouncedChange::SetAlarmAddress {} => ("alarm_address_set", None, None),
        AnnouncedChange::EndAlarmAddress {} => ("alarm_address_ended", None, None),
        AnnouncedChange::TestAlarms {} => ("alarms_tested", None, None),
        AnnouncedChange::Operate { action, subject } => (action, (!subject.is_empty()).then(|| subject.clone()), None),
    }
}

/// Announces a change that another object is about to make.
pub fn announce(db: &impl Database, now_ms: i64, announce: &Announce) -> Result<PendingAudit> {
    let by = members::party_of(db, &announce.by)?;
    let (action, subject, detail) = line_of(&announce.change);
    let entry = Entry { by, action, subject: subject.map(Party::thing), detail: detail.as_deref() };
    db.transaction(|| {
        for rate in rates_of(db, action, detail.as_deref())? {
            rates::take(db, now_ms, &announce.by, *rate)?;
        }
        audit::append(db, now_ms, &entry)?;
        let number = db.query_integer(sql::MARK_UNCONFIRMED, &[])?;
        let missing = || Failure::Internal("the announced row is missing".into());
        Ok(PendingAudit { entry: number.ok_or_else(missing)? })
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
