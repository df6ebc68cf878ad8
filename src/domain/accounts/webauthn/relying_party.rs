//! The relying party: the dashboard or the console, identified by its URL.

use url::{Host, Url};

/// A relying party and the one origin of its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// The exact host. A passkey stays bound to it.
    id: String,
    name: String,
    origin: String,
}

impl RelyingParty {
    /// Parses the URL of the pages; `name` is shown by browsers. Returns `None` unless the URL is only an origin:
    /// HTTPS, or HTTP on `localhost`. Browsers create no passkeys for IP addresses.
    pub fn parse(name: &str, url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let Some(Host::Domain(host)) = url.host() else {
            return None;
        };
        let is_local = host == "localhost" || host.ends_with(".localhost");
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_local);
        let is_origin = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        (is_safe && is_origin).then(|| Self {
            id: host.to_owned(),
            name: name.to_owned(),
            origin: url.origin().ascii_serialization(),
        })
    }

    /// The RP ID: the exact host of the pages.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name that a browser shows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The origin that client data must name, such as `https://dashboard.example.com`.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relying_party_is_an_https_origin_or_localhost() {
        for (url, id, origin) in [
            ("https://dash.example.com", "dash.example.com", "https://dash.example.com"),
            ("https://Dash.example.com:443/", "dash.example.com", "https://dash.example.com"),
            ("http://localhost:8787", "localhost", "http://localhost:8787"),
            ("http://console.localhost:8787", "console.localhost", "http://console.localhost:8787"),
        ] {
            let party = RelyingParty::parse("Signpost", url).expect(url);
            assert_eq!((party.id(), party.origin(), party.name()), (id, origin, "Signpost"));
        }
        for bad in [
            "http://dash.example.com",
            "https://127.0.0.1:8787",
            "http://127.0.0.1:8787",
            "http://[::1]:8787",
            "https://dash.example.com/app",
            "https://dash.example.com?a",
            "https://dash.example.com#a",
            "https://a@dash.example.com",
            "ftp://localhost",
            "localhost",
            "",
        ] {
            assert_eq!(RelyingParty::parse("Signpost", bad), None, "{bad}");
        }
    }
}
