//! The audit: changes that another object makes are announced and settled, and all rows are read in pages.

use serde::{Deserialize, Serialize};

use super::Actor;
use crate::catalog::SecretChange;
use domain::{accounts::ids::MemberId, callbacks::signature::SignWith, model::AppId};

/// Writes a row of the audit for a change that another object is about to make. Nothing is changed unless it is answered,
/// so no change is without a row. 429 `rate_limit_exceeded`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    pub by: Actor,
    pub change: AnnouncedChange,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnouncedChange {
    CreateReportKey {
        label: String,
    },
    RevokeReportKey {
        key_id: String,
    },
    RequestPubKey {
        reason: String,
    },
    CreateApp {
        name: String,
    },
    /// The names of the fields.
    ChangeApp {
        app_id: AppId,
        fields: Vec<String>,
    },
    ChangeSecret {
        app_id: AppId,
        change: SecretChange,
    },
    TestCallback {
        app_id: AppId,
        sign_with: SignWith,
    },
    /// Callbacks of an endpoint that is switched off are sent again.
    EnableCallback {
        app_id: AppId,
    },
    /// A tracking URL with a signature, which clicks in a user's name.
    SignTrackingUrl {
        app_id: AppId,
        offer_id: String,
    },
    ReplayReward {
        app_id: AppId,
        transaction_id: String,
    },
    /// The filter in words.
    ReplayRewards {
        app_id: AppId,
        filter: String,
    },
    CancelReplay {
        app_id: AppId,
        replay_id: String,
    },
    /// A call of the operator that a member makes in the console.
    Operate {
        action: String,
        /// The ids in the call's path.
        subject: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// The row's number.
    pub entry: i64,
}

/// Says how an announced change ended: it was made, or was refused, and then its row leaves. Sent once, because the
/// number of a row that left may be used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    pub entry: i64,
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
    pub limit: u32,
    pub before: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    /// The next page's `before`.
    pub before: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at_ms: i64,
    pub by: String,
    pub action: String,
    pub subject: Option<String>,
    pub detail: Option<String>,
    /// The member of the name in `by`; none for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<MemberId>,
    /// The member of the name in `subject`, if that is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_member: Option<MemberId>,
    /// Announced and never settled: it is not known whether the change was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unconfirmed: bool,
}
