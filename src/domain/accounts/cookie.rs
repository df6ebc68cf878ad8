//! The cookies of the dashboard and the console. In production, their names have the `__Host-` prefix, so that no other
//! host and no plain HTTP can set them. Only some browsers accept the prefix over HTTP, so local runs omit it. In local
//! runs, the names contain the port, since the ports of a host share its cookies.

use super::{account::AccountKind, challenge, session};

/// The kind of deployment that sets a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieSite {
    /// A deployment with HTTPS.
    Production,
    /// `http://localhost` with a port.
    Local {
        /// The port in the URL, which becomes part of the cookie's name.
        port: u16,
    },
}

/// The name and the attributes of a cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    name: String,
    is_secure: bool,
    max_age_s: i64,
}

impl Cookie {
    /// The cookie of a [browser's sessions](super::browser_sessions). The browser keeps it for the maximum life of a
    /// session; idle sessions end earlier.
    pub fn sessions(kind: AccountKind, site: CookieSite) -> Self {
        Self::new(kind, site, "", session::LIFE_MS)
    }

    /// The cookie of a WebAuthn ceremony: a random value that binds a [`challenge`] to the browser that asked for it.
    pub fn ceremony(kind: AccountKind, site: CookieSite) -> Self {
        Self::new(kind, site, "_ceremony", challenge::LIFE_MS)
    }

    fn new(kind: AccountKind, site: CookieSite, suffix: &str, life_ms: i64) -> Self {
        let plain = format!("signpost_{}{suffix}", kind.as_str());
        let name = match site {
            CookieSite::Production => format!("__Host-{plain}"),
            CookieSite::Local { port } => format!("{plain}_{port}"),
        };
        Self { name, is_secure: site == CookieSite::Production, max_age_s: life_ms / 1_000 }
    }

    /// The cookie's full name, with the `__Host-` prefix in production.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The `Set-Cookie` header that sets a value; `None` if the value has other characters than `A-Z a-z 0-9 _ - .`.
    pub fn set(&self, value: &str) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        (!value.is_empty() && value.bytes().all(is_plain)).then(|| self.header(value, self.max_age_s))
    }

    /// The `Set-Cookie` header that removes the cookie.
    pub fn clear(&self) -> String {
        self.header("", 0)
    }

    fn header(&self, value: &str, max_age_s: i64) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}", self.name)
    }

    /// Returns the cookie's value in a `Cookie` header. Returns `None` if the cookie is missing or empty, or appears
    /// with two different values: somebody else must have set one of them.
    pub fn find<'h>(&self, header: &'h str) -> Option<&'h str> {
        let mut values = header.split(';').filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            (name.trim_matches([' ', '\t']) == self.name).then(|| value.trim_matches([' ', '\t']))
        });
        let first = values.next()?;
        (!first.is_empty() && values.all(|other| other == first)).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOCAL: CookieSite = CookieSite::Local { port: 8787 };

    #[test]
    fn a_cookie_is_tied_to_its_host_in_production_and_to_its_port_locally() {
        let session = |kind, site| Cookie::sessions(kind, site).set("s_p_a").unwrap();
        assert_eq!(
            session(AccountKind::Publisher, CookieSite::Production),
            "__Host-signpost_publisher=s_p_a; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(
            session(AccountKind::Operator, LOCAL),
            "signpost_operator_8787=s_p_a; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"
        );
        let ceremony = Cookie::ceremony(AccountKind::Operator, CookieSite::Production);
        assert_eq!(
            ceremony.set("x").unwrap(),
            "__Host-signpost_operator_ceremony=x; Path=/; Max-Age=300; HttpOnly; SameSite=Strict; Secure"
        );
    }

    #[test]
    fn a_cookie_is_cleared_with_the_attributes_it_was_set_with() {
        let cookie = Cookie::sessions(AccountKind::Publisher, CookieSite::Production);
        assert_eq!(cookie.clear(), "__Host-signpost_publisher=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure");
    }

    #[test]
    fn a_value_that_could_add_an_attribute_is_not_set() {
        let cookie = Cookie::sessions(AccountKind::Publisher, LOCAL);
        for value in ["", "a;b", "a b", "a,b", "a\r\nb", "é", "a=b"] {
            assert_eq!(cookie.set(value), None, "{value:?}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others_if_it_has_one_value() {
        let cookie = Cookie::sessions(AccountKind::Publisher, LOCAL);
        for (header, value) in [
            ("signpost_publisher_8787=abc", Some("abc")),
            ("a=b; signpost_publisher_8787=abc; c", Some("abc")),
            ("a=b;signpost_publisher_8787 = abc ", Some("abc")),
            ("signpost_publisher_8787=abc; signpost_publisher_8787=abc", Some("abc")),
            ("signpost_publisher_8787=a=b", Some("a=b")),
            ("signpost_publisher_8787=abc; signpost_publisher_8787=abd", None),
            ("signpost_publisher_8787=; signpost_publisher_8787=abc", None),
            ("signpost_publisher_8788=abc", None),
            ("Signpost_publisher_8787=abc", None),
            ("x=signpost_publisher_8787=abc", None),
            ("__Host-signpost_publisher=abc", None),
            ("signpost_publisher_8787", None),
            ("signpost_publisher_8787=", None),
            ("", None),
        ] {
            assert_eq!(cookie.find(header), value, "{header}");
        }
    }

    proptest! {
        #[test]
        fn a_cookie_that_was_set_is_found(value in "[A-Za-z0-9_.-]{1,80}", junk in ".{0,60}") {
            let cookie = Cookie::sessions(AccountKind::Operator, LOCAL);
            let set = cookie.set(&value).unwrap();
            let (pair, _) = set.split_once(';').unwrap();
            prop_assert_eq!(cookie.find(pair), Some(value.as_str()));
            cookie.find(&junk);
        }
    }
}
