//! The configuration of the dashboard and of the console. A deployment without `DASHBOARD_URL` has no dashboard. A
//! deployment without `CONSOLE_URL` has no console.

use contract::origin::{CONSOLE, DASHBOARD};
use domain::accounts::{account::AccountKind, cookie::CookieSite, webauthn::RelyingParty};
use platform::{
    http::hosts::{Hosts, is_local},
    log,
};
use url::Url;

pub const DASHBOARD_URL: &str = "DASHBOARD_URL";
pub const CONSOLE_URL: &str = "CONSOLE_URL";
pub const LOCAL_SIGN_IN: &str = "LOCAL_SIGN_IN";

/// The name that a browser shows with a passkey.
const PARTY_NAME: &str = "Signpost";

pub struct SiteConfig {
    /// The kind of account that the site is for.
    pub kind: AccountKind,
    /// The relying party of passkeys. Its origin is `DASHBOARD_URL` or `CONSOLE_URL`, the only origin of the pages.
    pub party: RelyingParty,
    pub site: CookieSite,
    pub local_sign_in: LocalSignIn,
    /// `SUPPORT_CONTACT`: the link to the operator's support.
    pub support_contact: Option<String>,
    /// `DOCS_URL`: the documentation, to which the pages link.
    pub docs_url: Option<String>,
    /// The base URL of the reporting interface, for commands that people copy.
    pub reporting_url: String,
}

/// Whether an invite alone signs a person in, without a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSignIn {
    Off,
    On,
    /// `LOCAL_SIGN_IN=true` where it would let strangers in: every sign-in returns 503.
    Unsafe,
}

impl SiteConfig {
    /// # Errors
    /// A setting is wrong. The text names it.
    pub fn read(
        kind: AccountKind,
        hosts: &Hosts,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let (setting, host) = match kind {
            AccountKind::Publisher => (DASHBOARD_URL, "DASHBOARD_HOST"),
            AccountKind::Operator => (CONSOLE_URL, "OPERATOR_HOST"),
        };
        let Some(url) = read(setting) else {
            return Ok(None);
        };
        let party = RelyingParty::parse(PARTY_NAME, &url)
            .ok_or_else(|| format!("{setting} must be https://HOST, or http://localhost:PORT"))?;
        if read(host).is_some_and(|host| !host.eq_ignore_ascii_case(party.id())) {
            return Err(format!("{setting} must be https:// and {host}"));
        }
        let local_port = party.origin().strip_prefix("http://localhost:").and_then(|port| port.parse().ok());
        let site = match local_port {
            Some(port) => CookieSite::Local { port },
            None if party.origin().starts_with("http://") => CookieSite::Local { port: 80 },
            None => CookieSite::Production,
        };
        let local_sign_in = match (read(LOCAL_SIGN_IN).as_deref(), local_port) {
            (Some("true"), Some(_)) if !hosts.are_set() => LocalSignIn::On,
            (Some("true"), _) => LocalSignIn::Unsafe,
            _ => LocalSignIn::Off,
        };
        if local_sign_in == LocalSignIn::Unsafe {
            log::error(
                "configuration",
                format_args!(
                    "LOCAL_SIGN_IN is set, but {setting} is not http://localhost:PORT, or a host is set: sign-in is off"
                ),
            );
        }
        let support_contact = read("SUPPORT_CONTACT");
        // The contact is also sent in a header, between angle brackets.
        let is_link = |contact: &str| {
            let is_known = contact.starts_with("https://") || contact.starts_with("mailto:");
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"<>".contains(&byte);
            is_known && contact.bytes().all(is_plain)
        };
        if !support_contact.as_deref().is_none_or(is_link) {
            return Err("SUPPORT_CONTACT must be an https:// or a mailto: link".to_owned());
        }
        let docs_url = read("DOCS_URL")
            .map(|url| docs_url(&url).ok_or("DOCS_URL must be an https:// URL, or http:// on localhost"))
            .transpose()?;
        let reporting_url = match read("REPORTING_HOST") {
            Some(host) => format!("https://{host}"),
            None => party.origin().to_owned(),
        };
        Ok(Some(Self { kind, party, site, local_sign_in, support_contact, docs_url, reporting_url }))
    }

    /// The path of the first page.
    pub const fn root(&self) -> &'static str {
        match self.kind {
            AccountKind::Publisher => DASHBOARD,
            AccountKind::Operator => CONSOLE,
        }
    }

    /// The host of the pages, with the port if the URL has one.
    pub fn host(&self) -> &str {
        let origin = self.party.origin();
        origin.split_once("://").map_or(origin, |(_, host)| host)
    }
}

/// Returns the URL in the form that browsers use. Returns `None` unless the URL is HTTPS, or HTTP on this machine.
fn docs_url(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let is_here = url.host_str().is_some_and(is_local);
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
    is_safe.then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_of(kind: AccountKind, settings: &[(&str, &str)]) -> Result<Option<SiteConfig>, String> {
        let read = |name: &str| {
            let found = settings.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        SiteConfig::read(kind, &Hosts::read(read), read)
    }

    fn config(settings: &[(&str, &str)]) -> Result<Option<SiteConfig>, String> {
        config_of(AccountKind::Publisher, settings)
    }

    #[test]
    fn the_console_has_a_url_of_its_own_on_the_operators_host() {
        let dashboards = [(DASHBOARD_URL, "https://dashboard.example.com")];
        assert!(config_of(AccountKind::Operator, &dashboards).unwrap().is_none());
        let own = (CONSOLE_URL, "https://operator.example.com");
        let console = config_of(AccountKind::Operator, &[own, ("OPERATOR_HOST", "operator.example.com")]);
        assert_eq!(console.unwrap().unwrap().root(), "/console");
        let other = config_of(AccountKind::Operator, &[own, ("OPERATOR_HOST", "other.example.com")]);
        assert!(other.err().unwrap().contains(CONSOLE_URL));
    }

    #[test]
    fn a_deployment_without_a_url_has_no_dashboard() {
        assert!(config(&[]).unwrap().is_none());
    }

    #[test]
    fn local_sign_in_is_unsafe_anywhere_but_on_localhost() {
        let local_sign_in = |url, more: (&str, &str)| {
            let settings = [(DASHBOARD_URL, url), (LOCAL_SIGN_IN, "true"), more];
            config(&settings).unwrap().unwrap().local_sign_in
        };
        let none = ("", "");
        assert_eq!(local_sign_in("http://localhost:8787", none), LocalSignIn::On);
        for (url, more) in [
            ("https://dashboard.example.com", none),
            ("http://localhost", none),
            ("http://a.localhost:8787", none),
            ("http://localhost:8787", ("TRACKING_HOST", "t.example.com")),
            ("http://localhost:8787", ("OPERATOR_HOST", "o.example.com")),
        ] {
            assert_eq!(local_sign_in(url, more), LocalSignIn::Unsafe, "{url} {more:?}");
        }
        let off = config(&[(DASHBOARD_URL, "http://localhost:8787")]).unwrap().unwrap();
        assert_eq!(off.local_sign_in, LocalSignIn::Off);
    }

    #[test]
    fn the_documentation_is_served_by_https_or_by_this_machine() {
        let docs_url = |url| {
            let settings = [(DASHBOARD_URL, "https://dashboard.example.com"), ("DOCS_URL", url)];
            config(&settings).unwrap().unwrap().docs_url.unwrap()
        };
        assert_eq!(docs_url("https://docs.example.com"), "https://docs.example.com/");
        assert_eq!(docs_url("http://localhost:8787/docs/"), "http://localhost:8787/docs/");
    }

    #[test]
    fn an_error_names_its_setting() {
        for (name, value) in [
            (DASHBOARD_URL, "dashboard.example.com"),
            (DASHBOARD_URL, "http://dashboard.example.com"),
            ("SUPPORT_CONTACT", "javascript:alert(1)"),
            ("SUPPORT_CONTACT", "https://a.example/>; rel=\"x\""),
            ("DASHBOARD_HOST", "other.example.com"),
            ("DOCS_URL", "docs.example.com"),
            ("DOCS_URL", "http://localhost@docs.example.com"),
        ] {
            let url = (DASHBOARD_URL, "https://dashboard.example.com");
            let error = config(&[(name, value), url]).err().unwrap();
            assert!(error.contains(name), "{error}");
        }
    }
}
