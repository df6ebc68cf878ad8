//! Signpost's configuration: the bindings of `wrangler.toml` that are plain text or secrets, read once an isolate.

use crate::{
    callbacks::schedule::{Schedule, timeout_ms},
    catalog::credentials::{self, CredentialHash, Vault},
    edge::{routes::Interface, shield::Rate},
    reporting::keys::KeyMac,
    time::SECOND_MS,
    tracking::keys::KeyRing,
};

/// A change is seen everywhere within two minutes: it is published within 10 seconds, KV may answer from its cache for 60
/// ([`POINTER_TTL_S`](super::snapshots)), and an isolate asks every 20.
const DEFAULT_REVALIDATE_MS: i64 = 20 * SECOND_MS;

pub struct Config {
    /// `TRACKING_URL`: the address that tracking URLs are built on. Never taken from a request.
    pub tracking_url: String,
    /// `REPORTING_HOST`, `OFFERS_HOST`, `TRACKING_HOST`, `OPERATOR_HOST`: without them every host serves everything, as local runs do.
    hosts: [(Interface, Option<String>); 4],
    /// `OFFERS_RATE`: the shield of the offers interface; `None` is off.
    pub offers_rate: Option<Rate>,
    /// `TRUST_COUNTRY_HEADER`: read `CF-IPCountry` before `request.cf`. Only where no client can send it.
    pub trust_country_header: bool,
    /// `REVALIDATE_SECONDS`: how often an isolate asks whether there is a newer snapshot, in milliseconds.
    pub revalidate_ms: i64,
    /// The hash of `OPERATOR_TOKEN`, so that a comparison takes the same time whatever is presented.
    operator_token: Option<CredentialHash>,
    /// `CLICK_KEYS`.
    pub click_keys: KeyRing,
    /// `REPORT_KEY_MAC`: tells a report key that was issued from junk without asking its ledger.
    pub report_keys: KeyMac,
}

impl Config {
    /// `read` gives a binding's text. What is wrong names the binding and never shows a secret.
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let read = |name: &str| read(name).filter(|text| !text.is_empty());
        let required = |name: &str| read(name).ok_or_else(|| format!("{name} is not set"));
        // The catalog object reads them; a fault in them is better noticed here than at the first secret.
        Vault::parse(&required("STORE_KEYS")?)?;
        // The same of the outboxes' settings, at the first callback.
        if let Some(schedule) = read("CALLBACK_SCHEDULE") {
            Schedule::parse(&schedule)?;
        }
        timeout_ms(read("CALLBACK_TIMEOUT_MS").as_deref())?;
        let host = |interface, name| (interface, read(name));
        Ok(Self {
            tracking_url: required("TRACKING_URL")?.trim_end_matches('/').to_owned(),
            hosts: [
                host(Interface::Reporting, "REPORTING_HOST"),
                host(Interface::Offers, "OFFERS_HOST"),
                host(Interface::Tracking, "TRACKING_HOST"),
                host(Interface::Operator, "OPERATOR_HOST"),
            ],
            offers_rate: match read("OFFERS_RATE") {
                Some(text) => Rate::parse(&text)?,
                None => Some(Rate::DEFAULT),
            },
            trust_country_header: read("TRUST_COUNTRY_HEADER").is_some_and(|text| text == "true"),
            revalidate_ms: match read("REVALIDATE_SECONDS") {
                Some(text) => text
                    .parse::<u32>()
                    .map(|seconds| i64::from(seconds) * SECOND_MS)
                    .map_err(|_| "REVALIDATE_SECONDS: must be a number of seconds")?,
                None => DEFAULT_REVALIDATE_MS,
            },
            operator_token: read("OPERATOR_TOKEN").map(|token| credentials::hash(&token)),
            click_keys: KeyRing::parse(&required("CLICK_KEYS")?).map_err(|error| error.to_string())?,
            report_keys: KeyMac::parse(&required("REPORT_KEY_MAC")?)?,
        })
    }

    /// Whether a host serves an interface.
    pub fn serves(&self, host: &str, interface: Interface) -> bool {
        let own = self
            .hosts
            .iter()
            .find(|(known, _)| *known == interface)
            .and_then(|(_, host)| host.as_deref());
        own.is_none_or(|own| own.eq_ignore_ascii_case(host))
    }

    /// Whether there is an operator's token at all.
    pub fn has_operator(&self) -> bool {
        self.operator_token.is_some()
    }

    /// Whether an `Authorization` header carries the operator's token. Without a token configured, none does.
    pub fn is_operator(&self, authorization: Option<&str>) -> bool {
        let presented = authorization
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
            .map(|(_, token)| token);
        match (presented, &self.operator_token) {
            (Some(presented), Some(token)) => credentials::matches(&credentials::hash(presented), token),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(overrides: &[(&str, &str)]) -> Result<Config, String> {
        let key = format!("1:seal:{}", "ab".repeat(32));
        let store_key = format!("1:{}", "ab".repeat(32));
        let mac = "ab".repeat(32);
        let defaults = [
            ("TRACKING_URL", "https://t.example/"),
            ("CLICK_KEYS", key.as_str()),
            ("STORE_KEYS", store_key.as_str()),
            ("REPORT_KEY_MAC", mac.as_str()),
        ];
        Config::read(|name| {
            let find = |list: &[(&str, &str)]| {
                list.iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            find(overrides).or_else(|| find(&defaults))
        })
    }

    #[test]
    fn only_the_operators_token_opens_the_operators_interface() {
        let with = config(&[("OPERATOR_TOKEN", "t0ken")]).unwrap();
        assert!(with.is_operator(Some("Bearer t0ken")) && with.is_operator(Some("bearer t0ken")));
        for wrong in [
            None,
            Some(""),
            Some("Bearer "),
            Some("Bearer t0ke"),
            Some("t0ken"),
        ] {
            assert!(!with.is_operator(wrong), "{wrong:?}");
        }
        let without = config(&[("OPERATOR_TOKEN", "")]).unwrap();
        assert!(!without.is_operator(Some("Bearer ")) && !without.is_operator(None));
    }

    #[test]
    fn a_host_that_is_configured_serves_its_interface_alone() {
        let config = config(&[("TRACKING_HOST", "t.example"), ("OFFERS_HOST", "o.example")]).unwrap();
        assert!(
            config.serves("T.example", Interface::Tracking) && !config.serves("t.example", Interface::Offers)
        );
        assert!(
            config.serves("t.example", Interface::Any) && config.serves("t.example", Interface::Operator)
        );
    }

    #[test]
    fn a_fault_names_its_binding() {
        for (name, value) in [
            ("TRACKING_URL", ""),
            ("CLICK_KEYS", "nonsense"),
            ("OFFERS_RATE", "many"),
            ("STORE_KEYS", "1:short"),
            ("REPORT_KEY_MAC", "short"),
        ] {
            let error = config(&[(name, value)]).err().unwrap();
            assert!(error.contains(name), "{error}");
        }
    }
}
