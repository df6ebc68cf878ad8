//! The audit: changes by other objects are announced and settled, and all rows are read in pages.

use serde::{Deserialize, Serialize};

use super::Actor;
use crate::catalog::SecretChange;
use domain::{accounts::ids::MemberId, callbacks::signature::SignWith, model::AppId, reporting::keys::Scope};

/// Writes a row of the audit for a change that another object is about to make. The change is made only after the
/// answer, so no change lacks a row. Returns 429 `rate_limit_exceeded` after too many announcements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The author: a member, the operator's token or a key.
    pub by: Actor,
    /// The change, with the details for the row.
    pub change: AnnouncedChange,
}

/// A change by another object, or another recorded act such as a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnouncedChange {
    /// The publisher's ledger issues a report key.
    CreateReportKey {
        /// The label of the new key.
        label: String,
        /// The scope of the new key.
        #[serde(default)]
        scope: Scope,
    },
    /// The publisher's ledger revokes a report key.
    RevokeReportKey {
        /// The key to revoke.
        key_id: String,
    },
    /// Asks the operator for a new Pub-Key.
    RequestPubKey {
        /// The reason given by the member.
        reason: String,
    },
    /// Sets up an app. The app's id is known only when the change is settled.
    CreateApp {
        /// The name of the new app.
        name: String,
    },
    /// Changes an app's document.
    ChangeApp {
        /// The app to change.
        app_id: AppId,
        /// The names of the fields that change.
        fields: Vec<String>,
    },
    /// Renews or ends one of an app's secrets.
    ChangeSecret {
        /// The secrets' app.
        app_id: AppId,
        /// The kind of secret, and how it changes.
        change: SecretChange,
    },
    /// Sends a test callback.
    TestCallback {
        /// The app that is tested.
        app_id: AppId,
        /// The secret that signs the test.
        sign_with: SignWith,
    },
    /// Enables the callback of an endpoint that disabled itself.
    EnableCallback {
        /// The callback's app.
        app_id: AppId,
    },
    /// Makes a signed tracking URL. Opening the URL counts as a click by the user that it names.
    SignTrackingUrl {
        /// The app that the user is in.
        app_id: AppId,
        /// The offer that the URL opens.
        offer_id: String,
    },
    /// Resends the callback of one reward.
    ReplayReward {
        /// The reward's app.
        app_id: AppId,
        /// The reward, or its reversal.
        transaction_id: String,
    },
    /// Starts a replay of many callbacks.
    ReplayRewards {
        /// The app of the callbacks.
        app_id: AppId,
        /// The replay's filter in words.
        filter: String,
    },
    /// Ends a replay before it is done.
    CancelReplay {
        /// The replay's app.
        app_id: AppId,
        /// The replay to end.
        replay_id: String,
    },
    /// Erases a user in all apps.
    EraseUser {},
    /// Exports the stored data of a user in all apps.
    ExportUser {},
    /// Sets the URL that receives alarms.
    SetAlarmAddress {},
    /// Removes the URL that receives alarms.
    EndAlarmAddress {},
    /// Sends a test alarm to that URL.
    TestAlarms {},
    /// A member in the console makes one of the operator's calls.
    Operate {
        /// The action's code, as the audit shows it.
        action: String,
        /// The ids in the call's path.
        subject: String,
    },
}

/// The answer to an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAudit {
    /// The row's number.
    pub entry: i64,
}

/// Settles an announced change. If the change was refused or changed nothing, the audit's row is removed. This call is
/// not retried, because the number of a removed row may be reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The number in [`PendingAudit`].
    pub entry: i64,
    /// False if the change was refused, or changed nothing.
    pub is_done: bool,
    /// The changed item, if it was known only after the change.
    pub subject: Option<String>,
    /// The detail of the change, if it was known only after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A page of the audit, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAudit {
    /// Maximum entries on the page, up to 200.
    pub limit: u32,
    /// Only entries before this one; `None` for the first page.
    pub before: Option<i64>,
}

/// A page of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    /// The rows, newest first.
    pub entries: Vec<AuditEntry>,
    /// The next page's `before`; `None` on the last page.
    pub before: Option<i64>,
}

/// A row of the audit. Names are as of the time of the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The time of the change, in milliseconds.
    pub at_ms: i64,
    /// The member's name, or `the operator`.
    pub by: String,
    /// The code of the action, such as `role_changed`.
    pub action: String,
    /// The member's name, or the id of the changed item; `None` if the action has neither.
    pub subject: Option<String>,
    /// Further details in a form that depends on the action, at most 1,000 characters; `None` if there are none.
    pub detail: Option<String>,
    /// The member named in `by`; `None` for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<MemberId>,
    /// The member named in `subject`, if it is a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_member: Option<MemberId>,
    /// True if the change was announced but never settled, so that it may or may not have been made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unconfirmed: bool,
}
