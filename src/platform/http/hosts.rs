//! The access settings of both Workers: the hosts of the interfaces, and the operator's token.

use super::router::Interface;
use domain::model::credentials::{self, CredentialHash};

/// `REPORTING_HOST`, `OFFERS_HOST`, `TRACKING_HOST`, `OPERATOR_HOST` and `DASHBOARD_HOST`. An interface without a host is
/// served on every host, as in local runs.
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

    /// Whether any interface has a host of its own, as in production.
    pub fn are_set(&self) -> bool {
        self.0.iter().any(|(_, host)| host.is_some())
    }

    /// Whether a host serves an interface.
    pub fn serves(&self, host: &str, interface: Interface) -> bool {
        let mut known = self.0.iter();
        let own = known
            .find(|(known, _)| *known == interface)
            .and_then(|(_, host)| host.as_deref());
        own.is_none_or(|own| own.eq_ignore_ascii_case(host))
    }
}

/// `OPERATOR_TOKEN` as a hash, for comparison in constant time.
pub struct OperatorToken(Option<CredentialHash>);

impl OperatorToken {
    pub fn read(read: impl Fn(&str) -> Option<String>) -> Self {
        Self(read("OPERATOR_TOKEN").map(|token| credentials::hash(&token)))
    }

    /// Whether a token is configured.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Whether an `Authorization` header contains the token; always false if none is configured.
    pub fn authorizes(&self, authorization: Option<&str>) -> bool {
        let presented = authorization
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
            .map(|(_, token)| token);
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
        let with = OperatorToken::read(one("OPERATOR_TOKEN", "t0ken"));
        assert!(with.authorizes(Some("Bearer t0ken")) && with.authorizes(Some("bearer t0ken")));
        for wrong in [
            None,
            Some(""),
            Some("Bearer "),
            Some("Bearer t0ke"),
            Some("t0ken"),
        ] {
            assert!(!with.authorizes(wrong), "{wrong:?}");
        }
        let without = OperatorToken::read(|_| None);
        assert!(!without.authorizes(Some("Bearer ")) && !without.authorizes(None) && !without.is_set());
    }

    #[test]
    fn a_configured_host_serves_only_its_interface() {
        let hosts = Hosts::read(|name| match name {
            "TRACKING_HOST" => Some("t.example".into()),
            "OFFERS_HOST" => Some("o.example".into()),
            _ => None,
        });
        assert!(
            hosts.serves("T.example", Interface::Tracking) && !hosts.serves("t.example", Interface::Offers)
        );
        assert!(hosts.serves("t.example", Interface::Any) && hosts.serves("t.example", Interface::Operator));
    }
}
