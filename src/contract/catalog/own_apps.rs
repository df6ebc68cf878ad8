//! A publisher's own apps, as its members see and change them. Another publisher's app is treated as unknown.

use serde::{Deserialize, Serialize};

use crate::operation::Bytes;
use domain::{
    model::{AppId, CurrencyRate, OfferId, Platform, PublisherId},
    offers::page::AppListing,
};

/// Reads the next apps of a publisher, at most [`OWN_APPS_PAGE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListOwnApps {
    /// The member's publisher.
    pub publisher_id: PublisherId,
    /// The id of the last app before the page; `None` for the first page.
    pub cursor: Option<String>,
}

/// Maximum apps on a page of [`ListOwnApps`].
pub const OWN_APPS_PAGE: usize = 100;

/// Reads one app of a publisher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOwnApp {
    /// The member's publisher.
    pub publisher_id: PublisherId,
    /// 404 `not_found` for another publisher's app.
    pub app_id: AppId,
}

/// Creates an app with a new id. A retry with the same key returns 200 and the current app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateOwnApp {
    /// The member's publisher.
    pub publisher_id: PublisherId,
    /// The `Idempotency-Key`.
    pub key: String,
    /// The member's JSON.
    pub body: String,
}

/// Creates the publisher's test app with the name in `body`, or changes the test app that has this name. Each call
/// generates a new callback secret for the app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutTestApp {
    /// The publisher that owns the key of the request.
    pub publisher_id: PublisherId,
    /// The sender's JSON.
    pub body: String,
}

/// Reads a page of test offers, as the API returns it to a test app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListTestOffers {
    /// The test app, whose credentials the edge has checked.
    pub app_id: AppId,
    /// The body of a POST, or the query of a GET.
    pub request: String,
    /// True if `request` is a query.
    pub is_query: bool,
    /// The setting `TRACKING_URL`, without a slash at its end.
    pub tracking_url: String,
}

/// Changes an app. Returns 201 if something was changed, and 200 otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOwnApp {
    /// The member's publisher.
    pub publisher_id: PublisherId,
    /// 404 `not_found` for another publisher's app.
    pub app_id: AppId,
    /// The change, which was already announced to the audit.
    pub change: OwnAppChange,
}

/// A member's change of an app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnAppChange {
    /// Changes fields of the app's document. Refused if the app has a newer revision.
    Document {
        /// The revision that the member has seen.
        revision: i64,
        /// The member's JSON.
        body: String,
    },
    /// Renews or ends a secret.
    Secret(SecretChange),
}

/// A change of a secret. The catalog generates secrets, so that none is weak or used elsewhere. Each secret is shown
/// only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretChange {
    /// Issues a new callback secret. The current one becomes the previous one.
    RenewCallback,
    /// Deletes the previous callback secret. Callbacks are then signed only with the current one.
    EndPreviousCallback,
    /// Issues a new click secret. The current one stays valid as the previous one.
    RenewClick,
    /// Deletes the previous click secret. Clicks signed with it are then refused.
    EndPreviousClick,
    /// Deletes the click secrets. Clicks need no signature any more.
    EndClick,
}

/// Reads the settings that decide which offers an app shows, and how its clicks are signed. The reply's body is
/// [`AppOffering`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAppOffering {
    /// The app whose offers are shown.
    pub app_id: AppId,
}

/// The answer to [`GetAppOffering`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppOffering {
    /// The app's publisher.
    pub publisher_id: PublisherId,
    /// Offers for other platforms are not shown.
    pub platform: Platform,
    /// Converts payouts to the app's currency.
    pub currency: CurrencyRate,
    /// Offers that the app never shows.
    pub blocked_offers: Vec<OfferId>,
    /// The app's click secrets, encrypted with `EDGE_KEYS`; `None` if its clicks are not signed.
    pub click_secrets: Option<Bytes>,
}

impl AppOffering {
    /// Returns the settings of the app that a page of offers needs.
    pub fn listing(&self, app: AppId) -> AppListing {
        AppListing {
            id: app,
            platform: self.platform,
            currency: self.currency.clone(),
            blocked: self.blocked_offers.clone(),
            signs_clicks: self.click_secrets.is_some(),
        }
    }
}
