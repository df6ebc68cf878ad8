//! A publisher's app: its platform, currency, callback and blocked offers.

use serde::{Deserialize, Serialize};

use crate::{
    callbacks::{
        request::Endpoint,
        settings::{Callback, MASKED_SECRET},
    },
    conversions::shards,
    model::{
        CurrencyRate, OfferId, Platform, PublisherId,
        document::{Document, FieldError, check_text, check_web_url},
    },
    tracking::signature::{self, ClickSecret},
};

/// The highest `max_rewards_per_user_day`. Beyond it a hold would say nothing about a user.
const MAX_REWARDS_PER_USER_DAY: u32 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct App {
    pub publisher_id: PublisherId,
    pub name: String,
    pub platform: Platform,
    pub currency: CurrencyRate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// The redirect target of a click that is refused with 403 or 410.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<String>,
    /// Offers that the app does not show. Ids of offers that do not exist yet are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_offers: Vec<OfferId>,
    /// How many outboxes it has: 1, 8 or 64. It never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox_shards: Option<u8>,
    /// A conversion of a user who has so many rewards on its UTC day is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rewards_per_user_day: Option<u32>,
    /// If present, clicks must be signed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_secret: Option<ClickSecret>,
    /// Signs clicks, too, while `click_secret` is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_click_secret: Option<ClickSecret>,
    /// Clicks made before this time, in UNIX seconds, are paid by the current terms. It only rises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_since: Option<i64>,
}

impl App {
    /// The fallback URL as a header value: ASCII, with the host in punycode.
    pub fn fallback(&self) -> Option<String> {
        let url = url::Url::parse(self.fallback_url.as_deref()?).ok()?;
        Some(url.into())
    }

    /// The text to seal for the edge; `None` if clicks are not signed.
    pub fn click_secrets(&self) -> Option<String> {
        let secret = self.click_secret.as_ref()?;
        Some(signature::sealed_text(
            secret,
            self.previous_click_secret.as_ref(),
        ))
    }

    fn check_click_secrets(&self) -> Result<(), FieldError> {
        let secrets = [
            ("click_secret", &self.click_secret),
            ("previous_click_secret", &self.previous_click_secret),
        ];
        for (field, secret) in secrets {
            if let Some(problem) = secret.as_ref().and_then(ClickSecret::problem) {
                return Err(FieldError::new(field, problem));
            }
        }
        if self.click_secret.is_none() && self.previous_click_secret.is_some() {
            // It would look as if clicks were signed, and none would be checked.
            return Err(FieldError::new("previous_click_secret", "needs a click_secret"));
        }
        Ok(())
    }

    /// A copy for the operator, with all secrets masked.
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        let click_secrets = [&mut masked.click_secret, &mut masked.previous_click_secret];
        for secret in click_secrets.into_iter().flatten() {
            MASKED_SECRET.clone_into(&mut secret.0);
        }
        if let Some(callback) = &mut masked.callback {
            let secrets = [
                Some(&mut callback.secret),
                callback.previous_secret.as_mut(),
                callback.legacy_md5.as_mut().map(|legacy| &mut legacy.secret),
            ];
            for secret in secrets.into_iter().flatten() {
                MASKED_SECRET.clone_into(secret);
            }
        }
        masked
    }
}

impl Document for App {
    fn check(&self) -> Result<(), FieldError> {
        check_text("name", &self.name, 200)?;
        check_text("currency.name", &self.currency.name, 50)?;
        if self.currency.decimals > 6 {
            return Err(FieldError::new("currency.decimals", "must be from 0 to 6"));
        }
        if let Some(callback) = &self.callback {
            check_callback(callback)?;
        }
        if let Some(url) = &self.fallback_url {
            check_web_url("fallback_url", url)?;
        }
        if self
            .outbox_shards
            .is_some_and(|count| !shards::COUNTS.contains(&count))
        {
            return Err(FieldError::new("outbox_shards", "must be 1, 8 or 64"));
        }
        if self
            .max_rewards_per_user_day
            .is_some_and(|rewards| !(1..=MAX_REWARDS_PER_USER_DAY).contains(&rewards))
        {
            return Err(FieldError::new(
                "max_rewards_per_user_day",
                "must be from 1 to 1000",
            ));
        }
        self.check_click_secrets()?;
        if self.blocked_offers.len() > 1_000 {
            return Err(FieldError::new("blocked_offers", "must be at most 1000 offers"));
        }
        Ok(())
    }
}

/// Checks a callback, whose error's path is that in an app's document.
pub fn check_callback(callback: &Callback) -> Result<(), FieldError> {
    let events = callback.events.as_deref().unwrap_or_default();
    if callback.events.is_some() && events.is_empty() {
        return Err(FieldError::new("callback.events", "must not be empty"));
    }
    for (index, event) in events.iter().enumerate() {
        if events.iter().take(index).any(|earlier| earlier == event) {
            let path = format!("callback.events[{index}]");
            return Err(FieldError::new(path, "is in the list twice"));
        }
    }
    Endpoint::parse(callback)?;
    if let Some(legacy) = &callback.legacy_md5 {
        check_text("callback.legacy_md5.secret", &legacy.secret, 200)?;
        let events = callback.events();
        if events.pending || events.rejected {
            // Its receivers know no status, and would take such a callback for a reward.
            return Err(FieldError::new(
                "callback.events",
                "must not have pending or rejected with legacy_md5",
            ));
        }
        if legacy.secret == MASKED_SECRET {
            return Err(FieldError::new(
                "callback.legacy_md5.secret",
                "is the mask, not a secret",
            ));
        }
    }
    Ok(())
}
