//! The network guard: decides which callback URLs may be called (docs/DECISIONS.md, "Completion callbacks"). The guard
//! runs when a URL is configured and again before each call, since rules and hosts may change in between. A fallback
//! URL, to which users are redirected, follows the same rules, except that its port rule is stricter.
//!
//! The guard checks only the URL: a Worker cannot resolve a name before the call. So a public name that resolves to a
//! private address passes the guard, and the network must block the call. On Cloudflare, a Worker cannot reach a
//! private network by name, and `global_fetch_strictly_public` routes a call into Signpost's own zone through its
//! public address. Under workerd, the service for outgoing calls has `network = (allow = ["public"])`, which blocks
//! private addresses.

mod ranges;

use url::{Host, Url};

use crate::model::url_template::check_characters;

/// Maximum length of a configured URL, in characters.
pub const MAX_LENGTH: usize = 2_048;

/// Names outside the public DNS, each with the source that reserves it. A name includes all names below it.
const PRIVATE_NAMES: [(&str, &str); 11] = [
    (LOCALHOST, "RFC 6761"),
    ("local", "RFC 6762"),
    ("internal", "ICANN, July 2024"),
    ("home.arpa", "RFC 8375"),
    ("intranet", "RFC 6762, appendix G"),
    ("private", "RFC 6762, appendix G"),
    ("corp", "RFC 6762, appendix G"),
    ("home", "RFC 6762, appendix G"),
    ("lan", "RFC 6762, appendix G"),
    ("onion", "RFC 7686"),
    ("localdomain", "common use"),
];

const LOCALHOST: &str = "localhost";
const HTTPS_PORT: u16 = 443;

/// The "bad ports" of the Fetch standard that are 1024 or higher. Other protocols use them, and some of their servers
/// read an HTTP request as commands. Below 1024, only ports 443 and (if private) 80 are allowed.
const BLOCKED_PORTS: [u16; 19] =
    [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080];

/// The settings with Signpost's own hosts.
const OWN_HOSTS: [&str; 9] = [
    "TRACKING_URL",
    "REPORTING_HOST",
    "OFFERS_HOST",
    "TRACKING_HOST",
    "OPERATOR_HOST",
    "DASHBOARD_HOST",
    "DASHBOARD_URL",
    "CONSOLE_HOST",
    "CONSOLE_URL",
];

/// The rules for callback URLs and fallback URLs. The default is the strictest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// `ALLOW_PRIVATE_CALLBACKS`: http, port 80, `localhost`, and loopback and private addresses are allowed as well.
    pub allow_private: bool,
    /// Signpost's own hosts, as names or whole URLs, in any case. A host with a port is refused on that port only,
    /// because local receivers share 127.0.0.1 with the service. A host without a port is refused on every port. All
    /// names and addresses of the loopback interface count as one host.
    pub own_hosts: Vec<String>,
}

impl Guard {
    /// Builds the guard from `ALLOW_PRIVATE_CALLBACKS` and the settings of Signpost's own hosts. `read` returns a
    /// setting's text. Without settings the guard is the strictest.
    pub fn from_config(read: impl Fn(&str) -> Option<String>) -> Self {
        let own_hosts = OWN_HOSTS.into_iter().filter_map(&read);
        Self {
            allow_private: read("ALLOW_PRIVATE_CALLBACKS").is_some_and(|text| text == "true"),
            own_hosts: own_hosts.filter(|host| !host.is_empty()).collect(),
        }
    }

    /// Checks a configured callback URL. The error is a phrase to put after the field's name: `must …`.
    pub fn check(&self, text: &str) -> Result<Url, String> {
        let url = self.parse(text)?;
        self.check_parsed(&url)?;
        Ok(url)
    }

    /// Checks a URL that must be on port 443 in production: a fallback URL, because browsers open it, and a publisher's
    /// address for alarms, so that no member can scan for open ports. Local runs allow the ports of callbacks.
    pub fn check_default_port(&self, text: &str) -> Result<(), String> {
        let url = self.parse(text)?;
        let port = url.port_or_known_default().unwrap_or_default();
        if port != HTTPS_PORT && !self.allow_private {
            return Err(format!("must be on port {HTTPS_PORT}, not {port}"));
        }
        self.check_parsed(&url)
    }

    fn parse(&self, text: &str) -> Result<Url, String> {
        if text.chars().count() > MAX_LENGTH {
            return Err(format!("must be at most {MAX_LENGTH} characters"));
        }
        check_characters(text)?;
        // The parser also accepts `https:host`, `https:///host` and `https://@host`. Other parsers find another host in
        // them, or none.
        let authority = text
            .split_once("://")
            .filter(|(scheme, _)| self.allows_scheme(&scheme.to_ascii_lowercase()))
            .and_then(|(_, rest)| rest.split(['/', '?', '#']).next())
            .ok_or_else(|| self.scheme_rule())?;
        if authority.is_empty() {
            return Err("must name a host".to_owned());
        }
        if authority.contains('@') {
            return Err(NO_CREDENTIALS.to_owned());
        }
        Url::parse(text).map_err(|error| format!("is not a URL: {error}"))
    }

    /// Checks a URL just before it is called. The filled-in macros may make it longer than [`MAX_LENGTH`].
    pub fn check_parsed(&self, url: &Url) -> Result<(), String> {
        if !self.allows_scheme(url.scheme()) {
            return Err(self.scheme_rule());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NO_CREDENTIALS.to_owned());
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.allows_port(port) {
            return Err(format!(
                "must be on port 443, or on a port of 1024 or higher that browsers do not block, not {port}"
            ));
        }
        // The following rules read the parsed host, in which decimal, octal and hexadecimal addresses, full-width
        // digits, percent-encoding and capitals are already normalized.
        let host = url.host().ok_or_else(|| "must name a host".to_owned())?;
        if self.is_own(&host, port) {
            return Err(format!("must not be one of Signpost's own hosts: {host}"));
        }
        match host {
            Host::Domain(name) => self.check_name(name),
            Host::Ipv4(address) => ranges::check(address.into(), self.allow_private),
            Host::Ipv6(address) => ranges::check(address.into(), self.allow_private),
        }
    }

    fn allows_scheme(&self, scheme: &str) -> bool {
        scheme == "https" || (self.allow_private && scheme == "http")
    }

    fn scheme_rule(&self) -> String {
        let schemes = if self.allow_private { "http:// or https://" } else { "https://" };
        format!("must begin with {schemes}")
    }

    fn allows_port(&self, port: u16) -> bool {
        let unblocked = port >= 1_024 && !BLOCKED_PORTS.contains(&port);
        unblocked || port == HTTPS_PORT || (port == 80 && self.allow_private)
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        let name = without_root(name);
        // The parser also accepts braces in a host. A macro there would let a click choose the host.
        let label_is_proper = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if name.len() > 253 || !name.split('.').all(label_is_proper) {
            return Err(format!("must have a valid host name, not {name:?}"));
        }
        if let Some((private, source)) = PRIVATE_NAMES.iter().find(|(private, _)| is_within(name, private)) {
            if self.allow_private && *private == LOCALHOST {
                return Ok(());
            }
            return Err(format!(
                "must be on the public internet: {name} is in the private domain {private} ({source})"
            ));
        }
        if !name.contains('.') {
            return Err(format!("must have a full host name, not {name}"));
        }
        Ok(())
    }

    fn is_own(&self, host: &Host<&str>, port: u16) -> bool {
        self.own_hosts.iter().any(|own| {
            let own = if own.contains("://") { Url::parse(own) } else { Url::parse(&format!("https://{own}")) };
            // A setting that is not a valid host cannot equal the host of a parsed URL.
            own.is_ok_and(|own| {
                own.host().is_some_and(|own| same_host(&own, host)) && own.port().is_none_or(|own| own == port)
            })
        })
    }
}

const NO_CREDENTIALS: &str = "must not carry credentials";

/// Removes the dot at the end, which means the root of DNS and does not change the host.
fn without_root(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn is_within(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

/// True if a host is the local machine, under any name or address. A service that listens on one of these names or
/// addresses may also answer on the others.
pub fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_within(without_root(name), LOCALHOST),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn same_host(one: &Host<&str>, other: &Host<&str>) -> bool {
    if is_loopback(one) && is_loopback(other) {
        return true;
    }
    match (one, other) {
        (Host::Domain(one), Host::Domain(other)) => without_root(one) == without_root(other),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests;
