//! The audit: changes that another object makes are announced and settled, and all rows are read in pages.

use serde::{Deserialize, Serialize};

use super::Actor;
use crate::catalog::SecretChange;
use domain::{accounts::ids::MemberId, callbacks::signature::SignWith, model::AppId, reporting::keys::Scope};

/// Writes a row of the audit for a change that another object is about to make. Nothing is changed unless it is answered,
/// so no change is without a row. 429 `rate_limit_exceeded`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The member, or the operator's token.
    pub by: Actor,
    /// The change, with what the row shows.
    pub change: AnnouncedChange,
}

/// A change that another object makes, or an act such as a test, for the audit.
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
        /// The reason, in the member's words.
        reason: String,
    },
    /// Sets up an app. Its id is known only when the change is settled.
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
    /// A tracking URL with a signature, which clicks in a user's name.
    SignTrackingUrl {
        /// The app that the user is in.
        app_id: AppId,
        /// The offer that the URL opens.
        offer_id: String,
    },
    /// Sends the callback of one reward again.
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
    /// Erases a user of all apps.
    EraseUser {},
    /// Takes along what is stored of a user of all apps.
    ExportUser {},
    /// Sets the address of alarms.
    SetAlarmAddress {},
    /// Ends it.
    EndAlarmAddress {},
    /// Sends a test to it.
    TestAlarms {},
    /// A call of the operator that a member makes in the console.
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

/// Says how an announced change ended: it was made, or was refused, and then its row leaves. Sent once, because the
/// number of a row that left may be used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The number in [`PendingAudit`].
    pub entry: i64,
    /// False if the change was refused, or changed nothing.
    pub is_done: bool,
    /// What was changed, if only the change told.
    pub subject: Option<String>,
    /// How it was changed, if only the change told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A page of the audit, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAudit {
    /// Entries on the page, 200 at most.
    pub limit: u32,
    /// Only entries before this one; `None` for the first page.
    pub before: Option<i64>,
}

/// A page of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    /// The newest first.
    pub entries: Vec<AuditEntry>,
    /// The next page's `before`; `None` on the last page.
    pub before: Option<i64>,
}

/// A row of the audit. Names are those of the time of the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// In milliseconds.
    pub at_ms: i64,
    /// The member's name, or `the operator`.
    pub by: String,
    /// A code, such as `role_changed`.
    pub action: String,
    /// The member's name, or the id of the thing that was changed; `None` if the action has none.
    pub subject: Option<String>,
    /// More about the change in the action's own form, at most 1,000 characters; `None` if there is no more.
    pub detail: Option<String>,
    /// The member of the name in `by`; none for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<MemberId>,
    /// The member of the name in `subject`, if that is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_member: Option<MemberId>,
    /// PendingAudit and never settled: it is not known whether the change was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unconfirmed: bool,
}
