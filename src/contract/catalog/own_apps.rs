//! A publisher's own apps: what its members see of them and change. An app of another publisher is as one that does not
//! exist.

use serde::{Deserialize, Serialize};

use domain::model::{AppId, PublisherId};

/// Reads the apps of a publisher after one, at most [`OWN_APPS_PAGE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListOwnApps {
    pub publisher_id: PublisherId,
    pub cursor: Option<String>,
}

/// Apps on a page of [`ListOwnApps`].
pub const OWN_APPS_PAGE: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOwnApp {
    pub publisher_id: PublisherId,
    pub app_id: AppId,
}

/// Sets up an app under a new id. A repeat of the request with the same key is answered 200 with the app as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateOwnApp {
    pub publisher_id: PublisherId,
    /// The `Idempotency-Key`.
    pub key: String,
    /// The member's JSON.
    pub body: String,
}

/// Changes an app. Answered 201 when something was changed, else 200.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOwnApp {
    pub publisher_id: PublisherId,
    pub app_id: AppId,
    pub change: OwnAppChange,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnAppChange {
    Document {
        /// The revision that the member has seen.
        revision: i64,
        /// The member's JSON.
        body: String,
    },
    Secret(SecretChange),
}

/// Secrets are generated here, so that none is weak or used elsewhere. A new one is shown once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretChange {
    RenewCallback,
    EndPreviousCallback,
    RenewClick,
    EndPreviousClick,
    /// Clicks are not signed any more.
    EndClick,
}
