//! The network guard: which callback URLs Signpost calls (docs/DECISIONS.md, "Completion callbacks", last bullets). It is asked when a URL
//! is configured, and again before each call, since rules and hosts may have changed in between.
//!
//! It judges the address, not the answer of DNS: a public name may resolve to a private address, today or at the next
//! call, and no Worker can look first. That side is the network's. On Cloudflare, a Worker reaches no private network
//! by name, and `global_fetch_strictly_public` sends a call into the own zone through its front door; under workerd,
//! the service that calls out is declared `network = (allow = ["public"])`, which refuses such answers.

use url::{Host, Url};

mod ranges;

/// How long a configured URL may be, in characters.
pub const MAX_LENGTH: usize = 2_048;

/// Names that are not looked up in the public DNS, each with everything below it, and who says so.
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

/// The "bad ports" of the Fetch standard from 1024 on, as first and last: other protocols live there, and some of
/// their servers take an HTTP request for commands. Those below 1024 are refused with all the others there.
const BLOCKED_PORTS: [(u16, u16); 13] = [
    (1719, 1720),
    (1723, 1723),
    (2049, 2049),
    (3659, 3659),
    (4045, 4045),
    (4190, 4190),
    (5060, 5061),
    (6000, 6000),
    (6566, 6566),
    (6665, 6669),
    (6679, 6679),
    (6697, 6697),
    (10080, 10080),
];

/// The settings that name the hosts Signpost answers on.
const OWN_HOSTS: [&str; 5] = [
    "TRACKING_URL",
    "REPORTING_HOST",
    "OFFERS_HOST",
    "TRACKING_HOST",
    "OPERATOR_HOST",
];

/// What may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// `ALLOW_PRIVATE_CALLBACKS`: http, port 80, `localhost`, and loopback and private addresses are allowed as well.
    pub allow_private: bool,
    /// The hosts that Signpost itself answers on, as names or as whole URLs, in any case. One that carries a port is
    /// refused on that port alone (local receivers share 127.0.0.1 with the service), the others on every port. All names
    /// and addresses of the loopback interface are one host.
    pub own_hosts: Vec<String>,
}

impl Guard {
    /// As Signpost is configured: `ALLOW_PRIVATE_CALLBACKS`, and the hosts of its own interfaces. `read` gives a setting's
    /// text. Without settings it is the strictest that it can be.
    pub fn from_config(read: impl Fn(&str) -> Option<String>) -> Self {
        let own_hosts = OWN_HOSTS.into_iter().filter_map(&read);
        Self {
            allow_private: read("ALLOW_PRIVATE_CALLBACKS").is_some_and(|text| text == "true"),
            own_hosts: own_hosts.filter(|host| !host.is_empty()).collect(),
        }
    }

    /// Checks a URL as the operator wrote it. What is wrong with it is said in words that follow a field's name
    /// (`must be an https URL`).
    pub fn check(&self, text: &str) -> Result<Url, String> {
        if text.chars().count() > MAX_LENGTH {
            return Err(format!("must be at most {MAX_LENGTH} characters"));
        }
        // The parser leaves these out or turns them round without a word, and another text than this one is called.
        if text.contains(|character: char| {
            character.is_control() || character.is_whitespace() || character == '\\'
        }) {
            return Err("must not contain spaces, control characters or backslashes".to_owned());
        }
        // The parser also forgives `https:host`, `https:///host` and `https://@host`; other readers of the same text
        // see another host in them, or none.
        let authority = text
            .split_once("://")
            .filter(|(scheme, _)| self.allows_scheme(&scheme.to_ascii_lowercase()))
            .and_then(|(_, rest)| rest.split(['/', '?', '#']).next())
            .ok_or_else(|| self.wanted_scheme())?;
        if authority.is_empty() {
            return Err("must name a host".to_owned());
        }
        if authority.contains('@') {
            return Err(NO_CREDENTIALS.to_owned());
        }
        let url = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
        self.check_parsed(&url)?;
        Ok(url)
    }

    /// Checks a URL as it is about to be called: one whose macros are filled may be longer than a configured one.
    pub fn check_parsed(&self, url: &Url) -> Result<(), String> {
        if !self.allows_scheme(url.scheme()) {
            return Err(self.wanted_scheme());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NO_CREDENTIALS.to_owned());
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.allows_port(port) {
            return Err(format!(
                "must be on port 443 or one from 1024 on that browsers do not block, not {port}"
            ));
        }
        // Every rule from here on reads the parsed host: decimal, octal and hexadecimal addresses, full-width digits,
        // percent-encoding and capitals are gone from it.
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

    fn wanted_scheme(&self) -> String {
        let schemes = if self.allow_private {
            "http:// or https://"
        } else {
            "https://"
        };
        format!("must begin with {schemes}")
    }

    fn allows_port(&self, port: u16) -> bool {
        let blocked = BLOCKED_PORTS
            .iter()
            .any(|&(first, last)| (first..=last).contains(&port));
        port == 443 || (port == 80 && self.allow_private) || (port >= 1_024 && !blocked)
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        let name = without_root(name);
        // Braces, too, are characters that the parser lets pass in a host: a macro there would let a click choose it.
        let label_is_proper = |label: &str| {
            (1..=63).contains(&label.len())
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if name.len() > 253 || !name.split('.').all(label_is_proper) {
            return Err(format!("must have a proper host name, not {name:?}"));
        }
        if let Some((private, source)) = PRIVATE_NAMES.iter().find(|(private, _)| is_within(name, private)) {
            if self.allow_private && *private == LOCALHOST {
                return Ok(());
            }
            return Err(format!(
                "must be on the public internet: {name} is not, by the name {private} ({source})"
            ));
        }
        if !name.contains('.') {
            return Err(format!("must have a full host name, not {name}"));
        }
        Ok(())
    }

    fn is_own(&self, host: &Host<&str>, port: u16) -> bool {
        self.own_hosts.iter().any(|own| {
            let own = if own.contains("://") {
                Url::parse(own)
            } else {
                Url::parse(&format!("https://{own}"))
            };
            // A text that is no host cannot be the host of a URL that was read.
            own.is_ok_and(|own| {
                own.host().is_some_and(|own| same_host(&own, host))
                    && own.port().is_none_or(|own| own == port)
            })
        })
    }
}

const NO_CREDENTIALS: &str = "must not carry credentials";

/// A dot at the end names the root of DNS, and with it the same host.
fn without_root(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn is_within(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent)
        .is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

/// Whether a host is this machine itself, whatever it is called: a service that listens on one of these addresses may
/// well answer on the others.
fn is_loopback(host: &Host<&str>) -> bool {
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
