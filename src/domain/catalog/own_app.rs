//! The publisher's part of an app: the fields that the dashboard shows, and those that a member may change. Only the
//! operator may set the other fields, and secrets that Signpost did not generate.

use serde::{Deserialize, Deserializer, Serialize};
use url::{Host, Url};

use super::app::{self, App};
use crate::{
    callbacks::{
        fields::Status,
        settings::{Callback, CallbackMethod},
        shards,
    },
    model::{
        AppId, CurrencyRate, Document, FieldError, OfferId, Platform, PublisherId,
        money::{PerUsd, Rounding},
    },
    tracking::signature::ClickSecret,
};

const HTTPS_PORT: u16 = 443;
/// The name of the currency field, whose changes have their own rate limit.
pub const CURRENCY: &str = "currency";

/// An app as its publisher sees it. It contains no secret.
#[derive(Debug, Serialize)]
pub struct OwnApp<'a> {
    /// The 8-digit id.
    pub app_id: AppId,
    /// True for a test app, by its id.
    test: bool,
    name: &'a str,
    platform: Platform,
    currency: &'a CurrencyRate,
    callback: Option<OwnCallback<'a>>,
    fallback_url: Option<&'a str>,
    blocked_offers: &'a [OfferId],
    /// True if clicks must be signed.
    signs_clicks: bool,
    /// True if the previous click secret is still valid.
    has_previous_click_secret: bool,
    /// The number of the last change, for `If-Match`.
    pub revision: i64,
}

#[derive(Debug, Serialize)]
struct OwnCallback<'a> {
    url: &'a str,
    method: CallbackMethod,
    events: Vec<Status>,
    /// True if the previous secret still signs.
    has_previous_secret: bool,
}

impl<'a> OwnApp<'a> {
    /// The publisher's view of an app. `revision` is the number of the app's last change.
    pub fn of(app_id: AppId, app: &'a App, revision: i64) -> Self {
        let callback = app.callback.as_ref().map(|callback| {
            let told = callback.events();
            OwnCallback {
                url: &callback.url,
                method: callback.method,
                events: Status::ALL
                    .into_iter()
                    .filter(|event| told.contains(*event))
                    .collect(),
                has_previous_secret: callback.previous_secret.is_some(),
            }
        });
        Self {
            app_id,
            test: app_id.is_test(),
            name: &app.name,
            platform: app.platform,
            currency: &app.currency,
            callback,
            fallback_url: app.fallback_url.as_deref(),
            blocked_offers: &app.blocked_offers,
            signs_clicks: app.click_secret.is_some(),
            has_previous_click_secret: app.previous_click_secret.is_some(),
            revision,
        }
    }
}

/// A change by a member. An absent member of the JSON leaves the value as it is; null removes it.
#[derive(Debug, Default, Deserialize)]
pub struct AppChange {
    name: Option<String>,
    currency: Option<CurrencyRate>,
    #[serde(default, deserialize_with = "present")]
    callback: Option<Option<CallbackChange>>,
    #[serde(default, deserialize_with = "present")]
    fallback_url: Option<Option<String>>,
    blocked_offers: Option<Vec<OfferId>>,
}

#[derive(Debug, Deserialize)]
struct CallbackChange {
    url: String,
    method: CallbackMethod,
    events: Vec<Status>,
}

/// Distinguishes null from an absent member.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Document for AppChange {
    /// Checks that a field changes. The values are checked later, as part of the whole document.
    fn check(&self) -> Result<(), FieldError> {
        if self.fields().is_empty() {
            return Err(FieldError::new("body", "must have at least one field to change"));
        }
        Ok(())
    }
}

impl AppChange {
    /// The names of the changed fields, for the audit.
    pub fn fields(&self) -> Vec<String> {
        let fields = [
            ("name", self.name.is_some()),
            (CURRENCY, self.currency.is_some()),
            ("callback", self.callback.is_some()),
            ("fallback_url", self.fallback_url.is_some()),
            ("blocked_offers", self.blocked_offers.is_some()),
        ];
        fields
            .into_iter()
            .filter(|(_, is_changed)| *is_changed)
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// Changes an app whose secrets are decrypted, and checks the result. If the app had no callback before, its
    /// callback gets `new_secret`. A test app's callback may use any port of the local machine.
    ///
    /// # Errors
    /// A value is not allowed, or only the operator may set it.
    pub fn apply(self, app_id: AppId, app: &mut App, new_secret: String) -> Result<(), FieldError> {
        if let Some(name) = self.name {
            app.name = name;
        }
        if let Some(currency) = self.currency {
            app.currency = currency;
        }
        if let Some(offers) = self.blocked_offers {
            app.blocked_offers = offers;
        }
        if let Some(url) = self.fallback_url {
            check_fallback(app, url.as_deref())?;
            app.fallback_url = url;
        }
        let Some(change) = self.callback else {
            return app.check_but_callback();
        };
        let before = app.callback.take();
        app.callback = change
            .map(|change| {
                let mut ports = app.callback_ports.clone();
                if app_id.is_test() && is_loopback(&change.url) {
                    ports.extend(port(&change.url));
                }
                change.apply(before, &ports, new_secret)
            })
            .transpose()?;
        app.check()
    }
}

impl CallbackChange {
    fn apply(
        self,
        before: Option<Callback>,
        allowed_ports: &[u16],
        new_secret: String,
    ) -> Result<Callback, FieldError> {
        let Self { url, method, events } = self;
        let known_port = before.as_ref().and_then(|before| port(&before.url));
        let is_allowed =
            |port| port == HTTPS_PORT || known_port == Some(port) || allowed_ports.contains(&port);
        if port(&url).is_some_and(|port| !is_allowed(port)) {
            let problem = "must be on port 443; your account manager can allow another port for this app";
            return Err(FieldError::new("callback.url", problem));
        }
        let before = before.unwrap_or_else(|| Callback {
            url: String::new(),
            method,
            secret: new_secret,
            previous_secret: None,
            legacy_md5: None,
            events: None,
        });
        Ok(Callback {
            url,
            method,
            events: Some(events),
            ..before
        })
    }
}

/// True if a URL's host is the local machine. The callbacks' guard allows such a host only in local runs.
fn is_loopback(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// The port of a URL. Returns `None` for an invalid URL, which a later check refuses.
fn port(url: &str) -> Option<u16> {
    Url::parse(url).ok()?.port_or_known_default()
}

/// Signpost redirects users to the host of a fallback URL, so the operator must allow the host: explicitly, or because
/// the current URL has it.
fn check_fallback(app: &App, url: Option<&str>) -> Result<(), FieldError> {
    let host = |url: &str| Url::parse(url).ok()?.host_str().map(str::to_owned);
    let Some(wanted) = url.and_then(host) else {
        return Ok(());
    };
    let in_force = app.fallback_url.as_deref().and_then(host);
    if in_force.as_ref() == Some(&wanted) || app.fallback_hosts.contains(&wanted) {
        return Ok(());
    }
    let problem = format!("{wanted} is new for this app; your account manager has to allow it once");
    Err(FieldError::new("fallback_url", problem))
}

/// Replaces a secret. The old secret becomes the previous one. If a previous secret already exists, it stays, and the
/// old secret is lost: the answer that showed the old secret may never have arrived, so perhaps nobody uses it.
fn renew<T>(secret: &mut T, previous: &mut Option<T>, new: T) {
    let former = std::mem::replace(secret, new);
    previous.get_or_insert(former);
}

/// Replaces the callback secret. Until the rotation ends, callbacks are also signed with the previous one.
pub fn renew_callback_secret(callback: &mut Callback, new: String) {
    renew(&mut callback.secret, &mut callback.previous_secret, new);
}

/// Sets a new click secret. Once an app has a click secret, its clicks must be signed.
pub fn renew_click_secret(app: &mut App, new: ClickSecret) {
    match &mut app.click_secret {
        Some(secret) => renew(secret, &mut app.previous_click_secret, new),
        None => app.click_secret = Some(new),
    }
}

/// A new app, as its publisher describes it.
#[derive(Debug, Deserialize)]
pub struct NewApp {
    name: String,
    platform: Platform,
    currency: CurrencyRate,
    /// True for a test app. This cannot be changed later.
    #[serde(default)]
    pub test: bool,
}

impl NewApp {
    /// Name for people, 1 to 200 characters.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of outboxes of a new app. A test app needs only one.
    pub fn outboxes(is_test: bool) -> u8 {
        if is_test { 1 } else { shards::DEFAULT_COUNT }
    }

    /// The app's first document, without callback, limits and blocked offers.
    pub fn of(self, publisher_id: PublisherId) -> App {
        App {
            publisher_id,
            name: self.name,
            platform: self.platform,
            currency: self.currency,
            callback: None,
            fallback_url: None,
            callback_ports: Vec::new(),
            fallback_hosts: Vec::new(),
            blocked_offers: Vec::new(),
            outbox_shards: Some(Self::outboxes(self.test)),
            max_rewards_per_user_day: None,
            click_secret: None,
            previous_click_secret: None,
            terms_since: None,
        }
    }
}

impl Document for NewApp {
    fn check(&self) -> Result<(), FieldError> {
        app::check_basics(&self.name, &self.currency)
    }
}

/// A publisher's request to set up a test app, or to change the one with the same name.
#[derive(Debug, Deserialize)]
pub struct TestApp {
    name: String,
    #[serde(default = "web")]
    platform: Platform,
    #[serde(default = "coins")]
    currency: CurrencyRate,
    callback: CallbackChange,
}

fn web() -> Platform {
    Platform::Web
}

/// 1,000 coins per USD.
fn coins() -> CurrencyRate {
    CurrencyRate {
        name: "Coins".into(),
        per_usd: PerUsd(1_000_000_000),
        decimals: 0,
        rounding: Rounding::Down,
    }
}

impl Document for TestApp {
    fn check(&self) -> Result<(), FieldError> {
        app::check_basics(&self.name, &self.currency)
    }
}

impl TestApp {
    /// The name, which identifies the test app among those of its publisher.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Applies the request to `before`, the app with the same name, or to a new app if there is none. The callback gets
    /// a new secret and no previous one.
    ///
    /// # Errors
    /// A value is not allowed.
    pub fn apply(
        self,
        app_id: AppId,
        before: Option<App>,
        publisher_id: PublisherId,
        secret: String,
    ) -> Result<App, FieldError> {
        let new = NewApp {
            name: self.name,
            platform: self.platform,
            currency: self.currency.clone(),
            test: true,
        };
        let mut app = before.unwrap_or_else(|| new.of(publisher_id));
        app.platform = self.platform;
        app.callback = None;
        let change = AppChange {
            currency: Some(self.currency),
            callback: Some(Some(self.callback)),
            ..AppChange::default()
        };
        change.apply(app_id, &mut app, secret)?;
        Ok(app)
    }
}

#[cfg(test)]
mod tests;
