//! Fuzz targets for templates of landing pages and callbacks, and for the network guard.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;
use url::{Host, Url};

use super::{
    clicks::{check_location, shape},
    world::NOW_S,
};
use domain::{
    callbacks::{
        fields::{Decimal, Fields, Status, TABLE},
        guard::Guard,
        request::{Endpoint, Request},
        settings::{Callback, CallbackMethod, LegacyMd5},
        signature::{Secret, query_signature, webhook_signature},
    },
    model::Country,
    tracking::{
        alphabet,
        target::{self, Macros, Template},
    },
};

/// The longest accepted template, in bytes. Its percent-encoded canonical form may be longer.
pub const MAX_LENGTH_AS_WRITTEN: usize = 2_048;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Input: a URL with macros, and one line for each value: user, `gaid`, `idfa`, `c1` to `c5`, country, the goal's event
/// code, currency.
///
/// A filled landing URL keeps its scheme, host, port and folder, whatever the values, and its canonical form stays
/// canonical. A callback URL does the same, and the guard allows it if it allowed the template. The query is signed as
/// sent, with the signature last, and contains each of Signpost's parameters once.
pub fn templates(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let mut lines = text.split('\n');
    let url = lines.next().unwrap_or_default();
    let values: [&str; 11] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    // Values of a click use the alphabet of click parameters; others cannot occur.
    let [user_id, gaid, idfa, c1, c2, c3, c4, c5, country, goal_value, currency] = values;
    let click_values = [user_id, gaid, idfa, c1, c2, c3, c4, c5]
        .map(|text| if alphabet::contains_all(text) && text.len() <= 256 { text } else { "" });
    let country = Country::parse(country);
    landing(url, click_values, country);
    let fields = fields(click_values, country, goal_value, currency);
    for method in [CallbackMethod::Get, CallbackMethod::Post] {
        for legacy in [false, true] {
            callback(url, method, legacy, &fields);
        }
    }
}

fn landing(url: &str, click_values: [&str; 8], country: Option<Country>) {
    let Ok(template) = Template::parse(url) else {
        return;
    };
    let canonical = template.as_str();
    if canonical.len() <= MAX_LENGTH_AS_WRITTEN {
        assert_eq!(Template::parse(canonical).as_ref(), Ok(&template));
    }
    let [user_id, gaid, idfa, custom @ ..] = click_values;
    let values = Macros {
        click_id: "AQcAmJaBbHN0d2VsdmUgYnl0ZXM_-x",
        goal_id: "410271",
        offer_id: "23817",
        app_id: "10000001",
        user_id,
        gaid,
        idfa,
        custom,
        country: country.map_or("", Country::as_str),
    };
    let mut location = String::new();
    target::fill(canonical, &values, &mut location);
    assert!(location.contains(values.click_id));
    check_location(canonical, &location);
}

fn fields(click_values: [&str; 8], country: Option<Country>, goal_value: &str, currency: &str) -> Fields {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let [user_id, gaid, idfa, c1, c2, c3, c4, c5] = click_values;
    Fields {
        user_id: user_id.to_owned(),
        value: Decimal::parse("-350.25").unwrap(),
        payout: Decimal::parse("0.35").unwrap(),
        currency: currency.to_owned(),
        transaction_id: "8b837895-86b5-8359-bb78-6e1bc0ff2171".to_owned(),
        offer_id: "23817".to_owned(),
        goal_id: "410271".to_owned(),
        goal_value: some(goal_value),
        app_id: "10000001".to_owned(),
        gaid: some(gaid),
        idfa: some(idfa),
        c1: some(c1),
        c2: some(c2),
        c3: some(c3),
        c4: some(c4),
        c5: some(c5),
        country: country.map(|country| country.as_str().to_owned()),
        click_ts: NOW_S - 60,
        conversion_ts: NOW_S,
        status: Status::Reversed,
        original_transaction_id: None,
        pending_value: None,
        reason: None,
    }
}

fn callback(url: &str, method: CallbackMethod, legacy: bool, fields: &Fields) {
    let configured = Callback {
        url: url.to_owned(),
        method,
        secret: SECRET.to_owned(),
        previous_secret: None,
        legacy_md5: legacy.then(|| LegacyMd5 { secret: "an older one".to_owned() }),
        events: None,
    };
    let Ok(endpoint) = Endpoint::parse(&configured) else {
        return;
    };
    let sent = endpoint.request(fields, NOW_S);
    let called = Url::parse(&sent.url).unwrap();
    if let Ok(allowed) = Guard::default().check(url) {
        assert_eq!(allowed.origin(), called.origin());
        assert_eq!(Guard::default().check_parsed(&called), Ok(()), "{called}");
    }
    match method {
        CallbackMethod::Get => {
            let filled = shape(&sent.url);
            let harmless = |fields: &Fields| shape(&endpoint.request(fields, NOW_S).url);
            // An absent field is left out where all fields are added, and empty where a macro names it.
            assert_eq!(harmless(&harmless_fields(fields)), filled, "{url} as {}", sent.url);
            assert_eq!(harmless(&all_fields()).segments, filled.segments, "{url} as {}", sent.url);
            assert!(called.fragment().is_none() && sent.body.is_none());
            check_query(&sent, &called, legacy, fields);
        }
        CallbackMethod::Post => {
            assert_eq!(sent.url, url);
            let body: Value = serde_json::from_str(sent.body.as_deref().unwrap()).unwrap();
            for (name, value) in fields.present() {
                let sent_value = &body[name];
                assert_eq!(sent_value.as_str().map_or(sent_value.to_string(), str::to_owned), value.text(), "{name}");
            }
        }
    }
}

/// A callback with every field, each with a harmless value.
fn all_fields() -> Fields {
    Fields {
        original_transaction_id: Some("x".to_owned()),
        pending_value: None,
        reason: None,
        ..fields(["x"; 8], Country::parse("DE"), "x", "x")
    }
}

/// The same fields with harmless values.
fn harmless_fields(fields: &Fields) -> Fields {
    let all = all_fields();
    let if_there = |text: &Option<String>| text.as_ref().map(|_| "x".to_owned());
    Fields {
        goal_value: if_there(&fields.goal_value),
        gaid: if_there(&fields.gaid),
        idfa: if_there(&fields.idfa),
        c1: if_there(&fields.c1),
        c2: if_there(&fields.c2),
        c3: if_there(&fields.c3),
        c4: if_there(&fields.c4),
        c5: if_there(&fields.c5),
        country: if_there(&fields.country),
        original_transaction_id: None,
        pending_value: None,
        reason: None,
        ..all
    }
}

fn check_query(sent: &Request, called: &Url, legacy: bool, fields: &Fields) {
    let (_, query) = sent.url.split_once('?').unwrap();
    assert_eq!(called.query(), Some(query), "the signed query differs from the sent one");
    let secret = Secret::parse(SECRET).unwrap();
    let last = if legacy { "&signature_hmac=" } else { "&signature=" };
    let (before, signature) = query.rsplit_once(last).unwrap();
    assert_eq!(signature, query_signature(&secret, before));
    let signed = webhook_signature([&secret], &fields.transaction_id, NOW_S, query);
    assert!(sent.headers.contains(&("webhook-signature", signed)));
    let names: Vec<_> = called.query_pairs().map(|(name, _)| name.to_lowercase()).collect();
    for ours in ["ts", last.trim_matches(['&', '='])] {
        assert_eq!(names.iter().filter(|name| *name == ours).count(), 1, "{query}");
    }
    if !before.is_empty() && TABLE.iter().all(|(name, _)| names.iter().filter(|known| *known == name).count() == 1) {
        for (name, value) in called.query_pairs() {
            if let Some((_, get)) = TABLE.iter().find(|(known, _)| *known == name) {
                assert_eq!(get(fields).map(|value| value.text().into_owned()).unwrap_or_default(), value);
            }
        }
    }
}

/// Input: a callback URL as the operator writes it.
///
/// An allowed URL is https on a public host, without credentials, both to the URL parser and to a naive text split.
/// Where private hosts are allowed, the service's own are still refused.
pub fn guard(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let own = || vec!["https://track.example.com".to_owned(), "127.0.0.1:8787".to_owned()];
    let strict = Guard { allow_private: false, own_hosts: own() };
    let lax = Guard { allow_private: true, own_hosts: own() };
    if let Ok(url) = lax.check(text) {
        assert!(matches!(url.scheme(), "http" | "https"));
        assert!(url.username().is_empty() && url.password().is_none());
        assert_ne!(url.host_str().map(|host| host.trim_end_matches('.')), Some("track.example.com"));
        assert!(url.port() != Some(8787) || !is_loopback(&url));
        assert!(!matches!(url.host(), Some(Host::Ipv4(address)) if address.is_link_local()));
    }
    // A fallback URL is one that may be called, on the port of https.
    let on_https = |url: &Url| url.port_or_known_default() == Some(443);
    let is_fallback = strict.check(text).is_ok_and(|url| on_https(&url));
    assert_eq!(strict.check_default_port(text).is_ok(), is_fallback);
    let Ok(url) = strict.check(text) else { return };
    assert_eq!(lax.check(text).as_ref(), Ok(&url));
    // The parsed URL is allowed too and reads the same, unless percent-encoding makes it too long.
    assert_eq!(strict.check_parsed(&url), Ok(()));
    assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url));
    assert_eq!(url.scheme(), "https");
    assert!(url.username().is_empty() && url.password().is_none());
    assert!(matches!(url.port_or_known_default(), Some(443 | 1024..)));
    match url.host().unwrap() {
        Host::Domain(name) => check_name(name),
        Host::Ipv4(address) => assert!(is_public_v4(address), "{address}"),
        Host::Ipv6(address) => assert!(is_public_v6(address), "{address}"),
    }
    let (_, rest) = text.split_once("://").unwrap();
    let authority = rest.split(['/', '?', '#', '\\', '@']).next().unwrap();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    match (host.trim_matches(['[', ']']).parse::<IpAddr>(), url.host()) {
        (Ok(IpAddr::V4(address)), _) => assert!(is_public_v4(address), "{address}"),
        (Ok(IpAddr::V6(address)), _) => assert!(is_public_v6(address), "{address}"),
        (Err(_), Some(Host::Domain(name))) if host.is_ascii() && !host.contains('%') => {
            assert_eq!(host.to_lowercase(), name);
        }
        _ => {}
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn check_name(name: &str) {
    let name = name.strip_suffix('.').unwrap_or(name);
    let labels: Vec<_> = name.split('.').collect();
    assert!(labels.len() >= 2 && labels.iter().all(|label| (1..=63).contains(&label.len())), "{name}");
    // Some parsers would read a name that ends in a number as an address.
    let last = labels[labels.len() - 1];
    assert!(!last.bytes().all(|byte| byte.is_ascii_digit()), "{name}");
    assert!(!["localhost", "local", "internal", "intranet", "lan", "corp", "home", "onion"].contains(&last), "{name}");
    assert!(name != "track.example.com" && !name.ends_with(".home.arpa"));
}

/// Uses the standard library's ranges, and adds those that it lacks.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_unspecified()
        || a == 0
        || a >= 240
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    a & 0xe000 == 0x2000
        && !(a == 0x2001 && b < 0x200)
        && !(a == 0x2001 && b == 0xdb8)
        && a != 0x2002
        && !(a == 0x3fff && b < 0x1000)
}
