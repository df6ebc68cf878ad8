//! The access settings of both Workers: the hosts of the interfaces, and the operator's token.

use super::router::Interface;
use domain::model::{ApiError, CredentialHash, credentials};

pub const MISDIRECTED: ApiError =
    ApiError::new(421, "misdirected_request", "the request's host does not serve this path");

/// True for a built-in name of this machine. Such a name always leads to the machine that resolves it, so nobody can
/// register it.
pub fn is_local(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| local.eq_ignore_ascii_case(host))
}

/// `REPORTING_HOST`, `OFFERS_HOST`, `TRACKING_HOST`, `OPERATOR_HOST` and `DASHBOARD_HOST`. If none is set, as in local
/// runs, every host serves every interface. If any is set, the operator's and the dashboard's interface are served only
/// on hosts of their own, which no other interface may share. Every other interface is served on its own host, or on
/// every host if no host is set for it.
pub struct Hosts([(Interface, Option<String>); 5]);

impl Hosts {
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Self {
        let host = |interface, name| (interface, read(name));
        Self([
            host(Interface::Reporting, "REPORTING_HOST"),
            host(Interface::Offers, "OFFERS_HOST"),
            host(Interface::Tracking, "TRACKING_HOST"),
            host(Interface::Operator, "OPERATOR_HOST"),
            host(Interface::Dashboard, "DASHBOARD_HOST"),
        ])
    }

    /// True if any interface has its own host, as in production.
    pub fn are_set(&self) -> bool {
        self.0.iter().any(|(_, host)| host.is_some())
    }

    pub fn serves(&self, host: &str, interface: Interface) -> bool {
        let mut known = self.0.iter();
        let own = known.find(|(known, _)| *known == interface).and_then(|(_, host)| host.as_deref());
        let is_ours = matches!(interface, Interface::Operator | Interface::Dashboard);
        match own {
            Some(own) => own.eq_ignore_ascii_case(host) && !(is_ours && self.is_shared(own)),
            None => !(is_ours && self.are_set()),
        }
    }

    fn is_shared(&self, host: &str) -> bool {
        let hosts = self.0.iter().filter_map(|(_, host)| host.as_deref());
        hosts.filter(|other| other.eq_ignore_ascii_case(host)).count() > 1
    }

    /// If no hosts are set, refuses an operator's call unless its host is a name of this machine. Otherwise a web page
    /// could make the call from a browser, with a name that somebody else resolves to this machine.
    pub fn check_operators(&self, host: &str) -> Result<(), ApiError> {
        (is_local(host) || self.are_set()).then_some(()).ok_or(MISDIRECTED)
    }
}

/// A token of the settings as a hash, for comparison in constant time.
pub struct BearerToken(Option<CredentialHash>);

impl BearerToken {
    pub fn read(read: impl Fn(&str) -> Option<String>, name: &str) -> Self {
        let token = read(name).filter(|token| !token.trim().is_empty());
        Self(token.map(|token| credentials::hash(token.trim())))
    }

    /// True if a token is configured.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// True if an `Authorization` header contains the token; always false if no token is configured.
    pub fn authorizes(&self, authorization: Option<&str>) -> bool {
        let presented = authorization
            .and_then(|value| value.trim().split_once([' ', '\t']))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
            .map(|(_, token)| token.trim());
        match (presented, &self.0) {
            (Some(presented), Some(token)) => credentials::matches(&credentials::hash(presented), token),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one<'a>(name: &'a str, value: &'a str) -> impl Fn(&str) -> Option<String> + 'a {
        move |read| (read == name).then(|| value.to_owned())
    }

    #[test]
    fn only_the_operators_token_is_authorized() {
        // A secret set from a file ends in a line break.
        let with = BearerToken::read(one("OPERATOR_TOKEN", "t0ken\n"), "OPERATOR_TOKEN");
        for right in ["Bearer t0ken", "bearer t0ken", " Bearer \t t0ken ", "Bearer\tt0ken\u{a0}"] {
            assert!(with.authorizes(Some(right)), "{right:?}");
        }
        for wrong in [None, Some(""), Some("Bearer "), Some("Bearer t0ke"), Some("Bearer t0 ken"), Some("t0ken")] {
            assert!(!with.authorizes(wrong), "{wrong:?}");
        }
        for without in [
            BearerToken::read(|_| None, "OPERATOR_TOKEN"),
            BearerToken::read(one("OPERATOR_TOKEN", " \n"), "OPERATOR_TOKEN"),
            BearerToken::read(one("OPERATOR_TOKEN", "t0ken"), "METRICS_TOKEN"),
        ] {
            assert!(!without.authorizes(Some("Bearer ")) && !without.authorizes(None) && !without.is_set());
        }
    }

    #[test]
    fn a_configured_host_serves_only_its_interface() {
        let hosts = Hosts::read(|name| match name {
            "TRACKING_HOST" => Some("t.example".into()),
            "OFFERS_HOST" => Some("o.example".into()),
            _ => None,
        });
        assert!(hosts.serves("T.example", Interface::Tracking) && !hosts.serves("t.example", Interface::Offers));
        assert!(hosts.serves("t.example", Interface::Any) && hosts.serves("t.example", Interface::Reporting));
    }

    #[test]
    fn where_hosts_are_set_the_operator_and_the_dashboard_need_their_own() {
        let hosts = |own: &'static [(&str, &str)]| {
            Hosts::read(move |name| {
                let found = own.iter().find(|(known, _)| *known == name);
                found.map(|(_, host)| (*host).to_owned())
            })
        };
        for (name, interface) in [("OPERATOR_HOST", Interface::Operator), ("DASHBOARD_HOST", Interface::Dashboard)] {
            assert!(hosts(&[]).serves("anything", interface));
            assert!(!hosts(&[("TRACKING_HOST", "t.example")]).serves("t.example", interface), "{name}");
            assert!(!hosts(&[("TRACKING_HOST", "t.example")]).serves("o.example", interface), "{name}");
        }
        let shared = hosts(&[("TRACKING_HOST", "a.example"), ("OPERATOR_HOST", "A.example")]);
        assert!(!shared.serves("a.example", Interface::Operator));
        assert!(shared.serves("a.example", Interface::Tracking));
        let both = hosts(&[("DASHBOARD_HOST", "a.example"), ("OPERATOR_HOST", "a.example")]);
        assert!(!both.serves("a.example", Interface::Operator) && !both.serves("a.example", Interface::Dashboard));
    }

    #[test]
    fn without_hosts_the_operator_calls_this_machine_by_its_own_names() {
        let local = Hosts::read(|_| None);
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
            assert_eq!(local.check_operators(host), Ok(()), "{host}");
        }
        for host in ["rebound.example", "", "localhost.example", "127.0.0.2", "10.0.0.1", "::1", "a.localhost"] {
            assert_eq!(local.check_operators(host), Err(MISDIRECTED), "{host}");
        }
        let production = Hosts::read(one("OPERATOR_HOST", "o.example"));
        assert_eq!(production.check_operators("o.example"), Ok(()));
    }
}
