//! A publisher's app: its platform, currency, callback and blocked offers.

use serde::{Deserialize, Serialize};

use super::plain_text::check_line;
use crate::{
    callbacks::{
        check::check,
        masked_url,
        request::Endpoint,
        settings::{Callback, MASKED_SECRET},
        shards,
    },
    model::{
        CurrencyRate, Document, FieldError, OfferId, Platform, PublisherId,
        document::{check_text, check_web_url},
        placeholders::is_blank,
    },
    tracking::signature::{self, ClickSecret},
};

/// Maximum `max_rewards_per_user_day`. No user earns more rewards per day, so a higher limit would never hold a
/// conversion.
const MAX_REWARDS_PER_USER_DAY: u32 = 1_000;
/// Maximum entries of `callback_ports`, and of `fallback_hosts`.
const MAX_ALLOWED: usize = 20;

/// An app, as a document of the operator's API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// The owner, which never changes.
    pub publisher_id: PublisherId,
    /// Name for people, 1 to 200 characters.
    pub name: String,
    /// The app's platform. The app lists the offers of this platform and of the web.
    pub platform: Platform,
    /// The currency of `inapp_pyt` and of rewards.
    pub currency: CurrencyRate,
    /// The endpoint of completion callbacks; `None` if the app gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// The redirect target of a click that is refused with 403 or 410.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<String>,
    /// Ports that the publisher may use in the callback's URL without asking the operator, in addition to 443.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callback_ports: Vec<u16>,
    /// Hosts that the publisher may use in the fallback URL without asking the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_hosts: Vec<String>,
    /// Offers that the app does not show. Ids of offers that do not exist yet are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_offers: Vec<OfferId>,
    /// The number of the app's outboxes: 1, 8 or 64. It never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox_shards: Option<u8>,
    /// Once a user has this many rewards on a UTC day, the user's further conversions on that day are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rewards_per_user_day: Option<u32>,
    /// If present, clicks must be signed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_secret: Option<ClickSecret>,
    /// The previous click secret. While it is present, clicks signed with it are also accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_click_secret: Option<ClickSecret>,
    /// Clicks before this time are paid by the current terms instead of the terms that they sealed. In UNIX seconds;
    /// never decreases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_since: Option<i64>,
}

impl App {
    /// The fallback URL as a header value: ASCII, with the host in punycode.
    pub fn fallback(&self) -> Option<String> {
        let url = url::Url::parse(self.fallback_url.as_deref()?).ok()?;
        Some(url.into())
    }

    /// The click secrets as one text, which is sealed for the edge; `None` if clicks are not signed.
    pub fn click_secrets(&self) -> Option<String> {
        let secret = self.click_secret.as_ref()?;
        Some(signature::sealed_text(secret, self.previous_click_secret.as_ref()))
    }

    fn check_click_secrets(&self) -> Result<(), FieldError> {
        let secrets = [("click_secret", &self.click_secret), ("previous_click_secret", &self.previous_click_secret)];
        for (field, secret) in secrets {
            if let Some(problem) = secret.as_ref().and_then(ClickSecret::problem) {
                return Err(FieldError::new(field, problem));
            }
        }
        if self.click_secret.is_none() && self.previous_click_secret.is_some() {
            // Without `click_secret` no click is checked, although the app would appear to sign its clicks.
            return Err(FieldError::new("previous_click_secret", "must not be set without click_secret"));
        }
        Ok(())
    }

    fn check_allowed(&self) -> Result<(), FieldError> {
        let lengths = [("callback_ports", self.callback_ports.len()), ("fallback_hosts", self.fallback_hosts.len())];
        if let Some((field, _)) = lengths.iter().find(|(_, length)| *length > MAX_ALLOWED) {
            let problem = format!("must be at most {MAX_ALLOWED}");
            return Err(FieldError::new(*field, problem));
        }
        for (index, host) in self.fallback_hosts.iter().enumerate() {
            let url = url::Url::parse(&format!("https://{host}/"));
            // The host must be as a URL parser writes it: in lower case and punycode.
            if url.ok().as_ref().and_then(url::Url::host_str) != Some(host) {
                let path = format!("fallback_hosts[{index}]");
                return Err(FieldError::new(path, "must be a host name in lower case"));
            }
        }
        Ok(())
    }

    /// A copy for the operator with all secrets masked, including those in the callback's URL.
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        for (_, secret) in masked.secrets() {
            MASKED_SECRET.clone_into(secret);
        }
        if let Some(callback) = &mut masked.callback {
            callback.url = masked_url::masked(&callback.url);
        }
        masked
    }

    /// True if a secret or a value in the callback's URL is masked, as in a document that was read and sent back.
    pub fn has_masks(&mut self) -> bool {
        let in_url = self.callback.as_ref().is_some_and(|callback| masked_url::has_mask(&callback.url));
        in_url || self.secrets().iter().any(|(_, secret)| *secret == MASKED_SECRET)
    }

    /// Replaces masks by the stored secrets. A mask without a stored secret stays and is refused as an invalid secret.
    pub fn keep_masked(&mut self, mut stored: Self) {
        if let (Some(callback), Some(stored)) = (&mut self.callback, &stored.callback) {
            callback.url = masked_url::unmasked(&callback.url, &stored.url);
        }
        let stored = stored.secrets();
        for (kind, secret) in self.secrets() {
            let kept = stored.iter().find(|(stored, _)| *stored == kind);
            if let Some((_, kept)) = kept.filter(|_| *secret == MASKED_SECRET) {
                secret.clone_from(kept);
            }
        }
    }

    fn secrets(&mut self) -> Vec<(SecretKind, &mut String)> {
        let callback = self.callback.as_mut().map(|callback| {
            [
                Some((SecretKind::Callback, &mut callback.secret)),
                callback.previous_secret.as_mut().map(|secret| (SecretKind::PreviousCallback, secret)),
                callback.legacy_md5.as_mut().map(|legacy| (SecretKind::LegacyMd5, &mut legacy.secret)),
            ]
        });
        let click =
            [(SecretKind::Click, &mut self.click_secret), (SecretKind::PreviousClick, &mut self.previous_click_secret)];
        let click = click.into_iter().filter_map(|(kind, secret)| Some((kind, &mut secret.as_mut()?.0)));
        callback.into_iter().flatten().flatten().chain(click).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretKind {
    Callback,
    PreviousCallback,
    LegacyMd5,
    Click,
    PreviousClick,
}

impl App {
    /// Checks everything except the callback: a stored callback stays valid even if a newer rule would refuse it.
    pub(super) fn check_but_callback(&self) -> Result<(), FieldError> {
        check_basics(&self.name, &self.currency)?;
        if let Some(url) = &self.fallback_url {
            check_web_url("fallback_url", url)?;
        }
        if self.outbox_shards.is_some_and(|count| !shards::COUNTS.contains(&count)) {
            return Err(FieldError::new("outbox_shards", "must be 1, 8 or 64"));
        }
        if self.max_rewards_per_user_day.is_some_and(|rewards| !(1..=MAX_REWARDS_PER_USER_DAY).contains(&rewards)) {
            return Err(FieldError::new("max_rewards_per_user_day", "must be from 1 to 1000"));
        }
        self.check_click_secrets()?;
        self.check_allowed()?;
        if self.blocked_offers.len() > 1_000 {
            return Err(FieldError::new("blocked_offers", "must be at most 1000 offers"));
        }
        Ok(())
    }
}

impl Document for App {
    fn check(&self) -> Result<(), FieldError> {
        self.check_but_callback()?;
        self.callback.as_ref().map_or(Ok(()), |callback| {
            check_callback(callback)?;
            check(callback)
        })
    }
}

/// Checks the parts that every app has.
pub(super) fn check_basics(name: &str, currency: &CurrencyRate) -> Result<(), FieldError> {
    check_line("name", name, 200)?;
    check_currency(currency)
}

/// Checks a currency, as a member of an app or of its terms.
pub fn check_currency(currency: &CurrencyRate) -> Result<(), FieldError> {
    check_line("currency.name", &currency.name, 50)?;
    if currency.decimals > 6 {
        return Err(FieldError::new("currency.decimals", "must be from 0 to 6"));
    }
    Ok(())
}

/// Checks the events and the secrets of a callback, and that its URL may be called. An error's path begins at the app's
/// document.
pub fn check_callback(callback: &Callback) -> Result<(), FieldError> {
    let events = callback.events.as_deref().unwrap_or_default();
    if callback.events.is_some() && events.is_empty() {
        return Err(FieldError::new("callback.events", "must not be empty"));
    }
    for (index, event) in events.iter().enumerate() {
        if events.iter().take(index).any(|earlier| earlier == event) {
            let path = format!("callback.events[{index}]");
            return Err(FieldError::new(path, "appears twice in the list"));
        }
    }
    if masked_url::has_mask(&callback.url) {
        return Err(FieldError::new("callback.url", "has a mask instead of a value: write the value"));
    }
    Endpoint::parse(callback)?;
    if let Some(legacy) = &callback.legacy_md5 {
        let path = "callback.legacy_md5.secret";
        let text = legacy.secret.as_str();
        check_text(path, text, 200)?;
        if text.trim_matches(is_blank).len() < text.len() {
            return Err(FieldError::new(path, "must not begin or end with white space"));
        }
        let events = callback.events();
        if events.pending || events.rejected {
            // Receivers with legacy_md5 ignore the status and would take such a callback for a reward.
            return Err(FieldError::new("callback.events", "must not have pending or rejected if legacy_md5 is set"));
        }
        if legacy.secret == MASKED_SECRET {
            return Err(FieldError::new("callback.legacy_md5.secret", "must be the secret, not its mask"));
        }
    }
    Ok(())
}
