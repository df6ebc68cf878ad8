//! The edge's configuration, from plain text bindings and secrets. Each isolate reads it once.

use crate::rate_limit::Rate;
use domain::{
    conversions::token,
    model::{MacKeys, SECOND_MS, Vault, credentials::EDGE_KEYS},
    reporting::keys,
    tracking::keys::KeyRing,
};
use platform::http::hosts::{BearerToken, Hosts};

/// The default of `REVALIDATE_SECONDS`, in milliseconds. With it, a change of the catalog applies everywhere within two
/// minutes: publishing takes seconds, KV may answer from its cache for 60 s, and an isolate asks every 20 s.
const DEFAULT_REVALIDATE_MS: i64 = 20 * SECOND_MS;

pub struct Config {
    /// `TRACKING_URL`: the base of tracking URLs. It is never taken from a request.
    pub tracking_url: String,
    pub hosts: Hosts,
    /// `OFFERS_RATE`: the rate limit of the offers interface; `None` turns it off.
    pub offers_rate: Option<Rate>,
    /// `TRUST_COUNTRY_HEADER`: true to prefer `CF-IPCountry` to `request.cf`. Safe only if clients cannot send that
    /// header.
    pub trust_country_header: bool,
    /// `REVALIDATE_SECONDS`: the interval at which an isolate asks for newer snapshots, here in milliseconds.
    pub revalidate_ms: i64,
    pub metrics_token: BearerToken,
    /// `CLICK_KEYS`.
    pub click_keys: KeyRing,
    /// `EDGE_KEYS`: decrypts the click secrets that the origin encrypted into the tracking snapshot.
    pub vault: Vault,
    /// `REPORT_KEY_MAC`: verifies that a report key was issued, without a call to its ledger.
    pub report_keys: MacKeys,
    /// `TOKEN_MAC`: verifies that an advertiser's token was issued.
    pub token_keys: MacKeys,
}

impl Config {
    /// `read` returns a binding's text.
    ///
    /// # Errors
    /// A setting is missing or invalid. The message names the binding and never contains a secret.
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let read = |name: &str| read(name).filter(|text| !text.is_empty());
        let required = |name: &str| read(name).ok_or_else(|| format!("{name} is not set"));
        Ok(Self {
            tracking_url: required("TRACKING_URL")?.trim_end_matches('/').to_owned(),
            hosts: Hosts::read(read),
            offers_rate: match read("OFFERS_RATE") {
                Some(text) => Rate::parse(&text)?,
                None => Some(Rate::DEFAULT),
            },
            trust_country_header: read("TRUST_COUNTRY_HEADER").is_some_and(|text| text == "true"),
            revalidate_ms: match read("REVALIDATE_SECONDS") {
                Some(text) => text
                    .parse::<u32>()
                    .map(|seconds| i64::from(seconds) * SECOND_MS)
                    .map_err(|_| "REVALIDATE_SECONDS: must be a whole number of seconds")?,
                None => DEFAULT_REVALIDATE_MS,
            },
            metrics_token: BearerToken::read(read, "METRICS_TOKEN"),
            click_keys: KeyRing::parse(&required("CLICK_KEYS")?).map_err(|error| error.to_string())?,
            vault: Vault::parse(EDGE_KEYS, &required(EDGE_KEYS)?)?,
            report_keys: MacKeys::parse(keys::SETTING, &required(keys::SETTING)?)?,
            token_keys: MacKeys::parse(token::SETTING, &required(token::SETTING)?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_binding() {
        let mac = "ab".repeat(32);
        let (key, edge_key) = (format!("1:seal:{mac}"), format!("1:{mac}"));
        let config = |wrong: &str, value: &str| {
            Config::read(|name| match name {
                name if name == wrong => Some(value.to_owned()),
                "TRACKING_URL" => Some("https://t.example/".to_owned()),
                "CLICK_KEYS" => Some(key.clone()),
                EDGE_KEYS => Some(edge_key.clone()),
                "REPORT_KEY_MAC" | "TOKEN_MAC" => Some(mac.clone()),
                _ => None,
            })
        };
        assert!(config("", "").is_ok());
        for (name, value) in [
            ("TRACKING_URL", ""),
            ("CLICK_KEYS", "nonsense"),
            ("EDGE_KEYS", "nonsense"),
            ("EDGE_KEYS", ""),
            ("OFFERS_RATE", "many"),
            ("REVALIDATE_SECONDS", "soon"),
            ("REPORT_KEY_MAC", "short"),
            ("TOKEN_MAC", ""),
        ] {
            let error = config(name, value).err().unwrap();
            assert!(error.contains(name), "{error}");
        }
    }
}
