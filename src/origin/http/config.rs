//! The origin's configuration: the variables and secrets of its `wrangler.toml`, checked once per isolate.

use crate::{http::config::site::SiteConfig, objects::ledger::retention};
use domain::{
    accounts::{self, account::AccountKind},
    callbacks::schedule::{Schedule, timeout_ms},
    conversions::token,
    model::{
        MacKeys, Vault,
        credentials::{EDGE_KEYS, STORE_KEYS},
    },
    reporting::keys,
    tracking::keys::KeyRing,
};
use platform::http::hosts::{BearerToken, Hosts};

pub struct Config {
    pub hosts: Hosts,
    pub operator_token: BearerToken,
    pub metrics_token: BearerToken,
    /// `TOKEN_MAC`: verifies that an advertiser's token was issued.
    pub token_keys: MacKeys,
    /// `CLICK_KEYS`: opens click ids for the operator. `None` if it is not set.
    pub click_keys: Option<KeyRing>,
    /// `REPORT_KEY_MAC`: verifies that a report key was issued.
    pub report_keys: MacKeys,
    /// `ACCOUNT_MAC`: issues and checks invites, sessions and challenges.
    pub account_keys: MacKeys,
    dashboard: Option<SiteConfig>,
    console: Option<SiteConfig>,
}

impl Config {
    /// Checks all settings, including those that only the objects use, so that a fault shows at the first request
    /// rather than at the first callback. `read` returns a binding's text.
    ///
    /// # Errors
    /// A setting is missing or wrong. The text names the binding and never shows a secret.
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let read = |name: &str| read(name).filter(|text| !text.is_empty());
        let required = |name: &str| read(name).ok_or_else(|| format!("{name} is not set"));
        for setting in [STORE_KEYS, EDGE_KEYS] {
            Vault::parse(setting, &required(setting)?)?;
        }
        if let Some(schedule) = read("CALLBACK_SCHEDULE") {
            Schedule::parse(&schedule)?;
        }
        timeout_ms(read("CALLBACK_TIMEOUT_MS").as_deref())?;
        retention::facts_days(read(retention::SETTING).as_deref())?;
        let hosts = Hosts::read(read);
        Ok(Self {
            report_keys: MacKeys::parse(keys::SETTING, &required(keys::SETTING)?)?,
            token_keys: MacKeys::parse(token::SETTING, &required(token::SETTING)?)?,
            click_keys: read("CLICK_KEYS")
                .map(|keys| KeyRing::parse(&keys).map_err(|error| error.to_string()))
                .transpose()?,
            account_keys: MacKeys::parse(accounts::SETTING, &required(accounts::SETTING)?)?,
            dashboard: SiteConfig::read(AccountKind::Publisher, &hosts, read)?,
            console: SiteConfig::read(AccountKind::Operator, &hosts, read)?,
            hosts,
            operator_token: BearerToken::read(read, "OPERATOR_TOKEN"),
            metrics_token: BearerToken::read(read, "METRICS_TOKEN"),
        })
    }

    /// The dashboard or the console, if this deployment has it.
    pub const fn site(&self, kind: AccountKind) -> Option<&SiteConfig> {
        match kind {
            AccountKind::Publisher => self.dashboard.as_ref(),
            AccountKind::Operator => self.console.as_ref(),
        }
    }
}

pub mod site;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_binding() {
        let key = "ab".repeat(32);
        let store_keys = format!("1:{key}");
        let config = |wrong: &str, value: &str| {
            Config::read(|name| match name {
                name if name == wrong => Some(value.to_owned()),
                STORE_KEYS | EDGE_KEYS => Some(store_keys.clone()),
                "REPORT_KEY_MAC" | "TOKEN_MAC" | "ACCOUNT_MAC" => Some(key.clone()),
                _ => None,
            })
        };
        assert!(config("", "").is_ok());
        for (name, value) in [
            ("STORE_KEYS", "1:short"),
            ("STORE_KEYS", ""),
            ("EDGE_KEYS", "1:short"),
            ("EDGE_KEYS", ""),
            ("REPORT_KEY_MAC", "short"),
            ("TOKEN_MAC", "short"),
            ("ACCOUNT_MAC", "short"),
            ("CLICK_KEYS", "1:open:short"),
            ("CALLBACK_SCHEDULE", "soon"),
            ("CALLBACK_TIMEOUT_MS", "-1"),
            ("FACTS_DAYS", "449"),
        ] {
            let error = config(name, value).err().unwrap();
            assert!(error.contains(name), "{error}");
        }
    }
}
