use proptest::prelude::*;

use super::*;

mod addresses;

fn guard(allow_private: bool) -> Guard {
    let own = [
        "track.example.com",
        "Offers.Example.com",
        "http://127.0.0.1:8787",
        "bücher.example.com",
        "",
    ];
    Guard {
        allow_private,
        own_hosts: own.map(str::to_owned).to_vec(),
    }
}

/// Checks a URL with the guard of production and with that of local runs.
#[track_caller]
fn expect(url: &str, production: bool, local: bool) {
    for (allow_private, expected) in [(false, production), (true, local)] {
        let answer = guard(allow_private).check(url);
        assert_eq!(
            answer.is_ok(),
            expected,
            "{url:?}, allow_private {allow_private}: {answer:?}"
        );
    }
}

#[track_caller]
fn allowed(url: &str) {
    expect(url, true, true);
}

#[track_caller]
fn local_only(url: &str) {
    expect(url, false, true);
}

#[track_caller]
fn refused(url: &str) {
    expect(url, false, false);
}

#[test]
fn a_public_https_address_is_allowed() {
    for url in [
        "https://acme.example.com/cb",
        "HTTPS://Acme.Example.COM/cb?u={user_id}&v={value}",
        "https://acme.example.com./cb",
        "https://acme_1.example.com:443?x=1",
        "https://acme.example.com#part",
        "https://münchen.example.com/",
        "https://acme.example.com/cb?mail=a@b.example&to=http://localhost/",
        // Similar to a refused name, but not below it.
        "https://notlocalhost.com/",
        "https://localhost.example.com/",
        "https://mylocal.dev/",
        "https://arpa.example.com/",
        "https://xtrack.example.com/",
        "https://below.track.example.com/",
    ] {
        allowed(url);
    }
}

#[test]
fn the_checked_url_is_returned_in_canonical_form() {
    let url = guard(false)
        .check("https://ACME.example.com:443/cb?u={user_id}")
        .unwrap();
    assert_eq!(url.as_str(), "https://acme.example.com/cb?u={user_id}");
}

#[test]
fn the_scheme_is_https_and_locally_http() {
    local_only("http://acme.example.com/");
    local_only("HTTP://acme.example.com/");
    for url in [
        "ftp://acme.example.com/",
        "ws://acme.example.com/",
        "wss://acme.example.com/",
        "file:///etc/passwd",
        "gopher://acme.example.com/",
        "data:text/plain,hello",
        "javascript:alert(1)",
        "blob:https://acme.example.com/1",
        "acme.example.com/cb",
        "//acme.example.com/cb",
        "/cb",
        "{user_id}://acme.example.com/",
        "",
    ] {
        refused(url);
    }
}

#[test]
fn every_url_parser_must_find_the_same_host() {
    for url in [
        "https:",
        "https://",
        "https:///acme.example.com/",
        "https:////acme.example.com/",
        "https:acme.example.com/",
        "https:/acme.example.com/",
        "https://?acme.example.com",
        "https://#acme.example.com",
        "https://:443/",
        "https://.../",
        "https://acme..example.com/",
        "https://.acme.example.com/",
        "https://acme.example.com../",
        "https://{user_id}.example.com/",
        "https://acme.example.com{user_id}/",
        "https://a%2eb%2fexample.com/",
        "https://acme.example.com%00/",
        "https://acme!.example.com/",
        "https://*.example.com/",
    ] {
        refused(url);
    }
    refused(&format!("https://{}.example.com/", "a".repeat(64)));
    refused(&format!("https://{}com/", "a.".repeat(126)));
    allowed(&format!("https://{}com/", "a.".repeat(125)));
}

#[test]
fn credentials_are_refused() {
    for url in [
        "https://user:word@acme.example.com/",
        "https://user@acme.example.com/",
        "https://:word@acme.example.com/",
        "https://@acme.example.com/",
        "https://:@acme.example.com/",
        "https://acme.example.com@evil.example.com/",
        "https://acme.example.com%40evil.example.com@other.example.com/",
    ] {
        refused(url);
    }
    let parsed = Url::parse("https://user@acme.example.com/").unwrap();
    assert_eq!(guard(true).check_parsed(&parsed).unwrap_err(), NO_CREDENTIALS);
}

#[test]
fn characters_that_a_parser_drops_or_converts_are_refused() {
    for character in [
        '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', ' ', '\u{a0}', '\u{2028}', '\u{3000}', '\\',
    ] {
        for url in [
            format!("{character}https://acme.example.com/"),
            format!("ht{character}tps://acme.example.com/"),
            format!("https://acme.exa{character}mple.com/"),
            format!("https://acme.example.com/c{character}b"),
            format!("https://acme.example.com/cb{character}"),
        ] {
            refused(&url);
        }
    }
}

#[test]
fn a_configured_url_is_at_most_2048_characters() {
    let url = |length: usize| format!("https://acme.example.com/{}", "ä".repeat(length - 25));
    allowed(&url(2_048));
    refused(&url(2_049));
    // With its macros filled in, it may be longer.
    let filled = Url::parse(&url(5_000)).unwrap();
    assert_eq!(guard(false).check_parsed(&filled), Ok(()));
}

#[test]
fn allowed_ports_are_443_and_unblocked_ones_from_1024_on() {
    for port in [443, 1024, 3000, 5432, 8080, 8443, 10_079, 10_081, 65_535] {
        allowed(&format!("https://acme.example.com:{port}/"));
    }
    allowed("https://acme.example.com:/");
    local_only("https://acme.example.com:80/");
    local_only("http://acme.example.com:443/");
    for port in [
        0, 1, 21, 22, 23, 25, 53, 79, 81, 110, 442, 444, 465, 636, 853, 993, 1023,
    ] {
        refused(&format!("https://acme.example.com:{port}/"));
    }
    for port in [
        1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
        6697, 10_080,
    ] {
        refused(&format!("https://acme.example.com:{port}/"));
    }
    for port in ["65536", "99999999999", "-1", "x", "{value}", "4 43"] {
        refused(&format!("https://acme.example.com:{port}/"));
    }
}

#[test]
fn names_inside_private_networks_are_refused() {
    for name in [
        "printer.local",
        "local",
        "metadata.google.internal",
        "METADATA.google.InterNal",
        "internal",
        "router.home.arpa",
        "home.arpa",
        "nas.lan",
        "wiki.intranet",
        "mail.corp",
        "a.b.corp",
        "box.private",
        "tv.home",
        "hidden.onion",
        "localhost.localdomain",
        // A resolver completes single labels with its search list, if at all.
        "intranet1",
        "com",
        "metadata",
        // Other spellings of the same names.
        "printer.ｌｏｃａｌ",
        "printer。local",
        "printer%2elocal",
        "printer.loc%61l",
        "printer.lo\u{ad}cal",
        "printer.lo\u{200b}cal",
        "xn--fa-hia",
    ] {
        refused(&format!("https://{name}/"));
        refused(&format!("https://{name}./"));
        refused(&format!("https://{name}:8443/"));
    }
}

#[test]
fn localhost_is_allowed_in_local_runs_only() {
    for name in [
        "localhost",
        "LOCALHOST",
        "api.localhost",
        "a.b.localhost",
        "ｌocalhost",
        "local%68ost",
    ] {
        local_only(&format!("https://{name}/"));
        local_only(&format!("http://{name}.:9000/"));
    }
    refused("https://localhost../");
}

#[test]
fn signposts_own_hosts_are_refused_in_every_spelling() {
    for host in [
        "track.example.com",
        "TRACK.example.com",
        "track.example.com.",
        "track.example.com:8443",
        "ｔrack。example.com",
        "tr%61ck.example.com",
        "offers.example.com",
        "bücher.example.com",
        "BÜCHER.example.com",
        "xn--bcher-kva.example.com",
    ] {
        refused(&format!("https://{host}/cb"));
    }
    let error = guard(false).check("https://offers.example.com/").unwrap_err();
    assert!(error.contains("own hosts"), "{error}");
    let dotted = Guard {
        own_hosts: vec!["track.example.com.".to_owned(), "203.1.2.3".to_owned()],
        ..Guard::default()
    };
    for url in ["https://track.example.com/", "https://0xcb.1.515/"] {
        let error = dotted.check(url).unwrap_err();
        assert!(error.contains("own hosts"), "{error}");
    }
}

#[test]
fn a_local_receiver_may_share_the_services_address_but_not_its_port() {
    local_only("http://127.0.0.1:9000/");
    refused("http://127.0.0.1:8787/");
    refused("http://127.1:8787/");
}

#[test]
fn a_service_on_loopback_is_its_own_host_under_every_name_of_loopback() {
    let spellings = [
        "127.0.0.1",
        "127.0.0.2",
        "127.255.255.255",
        "0x7f.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "localhost",
        "LOCALHOST.",
        "api.localhost",
        "a.b.localhost.",
    ];
    for own in spellings {
        let local = Guard {
            allow_private: true,
            own_hosts: vec![format!("http://{own}:8787")],
        };
        for called in spellings {
            let error = local.check(&format!("http://{called}:8787/cb")).unwrap_err();
            assert!(error.contains("own hosts"), "{own}, {called}: {error}");
            let receiver = local.check(&format!("http://{called}:9000/cb"));
            assert!(receiver.is_ok(), "{own}, {called}: {receiver:?}");
        }
        // The same port on another host is not Signpost's.
        for other in [
            "10.0.0.1",
            "126.255.255.255",
            "128.0.0.1",
            "[fd00::1]",
            "notlocalhost.com",
            "localhost.example.com",
        ] {
            let answer = local.check(&format!("http://{other}:8787/cb"));
            assert!(answer.is_ok(), "{own}, {other}: {answer:?}");
        }
    }
}

#[test]
fn loopback_is_not_an_own_host_of_a_service_elsewhere() {
    let elsewhere = Guard {
        allow_private: true,
        own_hosts: vec!["http://10.0.0.1:8787".to_owned(), "track.example.com".to_owned()],
    };
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        assert!(
            elsewhere.check(&format!("http://{host}:8787/cb")).is_ok(),
            "{host}"
        );
    }
}

fn configured(settings: &[(&str, &str)]) -> Guard {
    Guard::from_config(|name| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| (*text).to_owned())
    })
}

#[test]
fn private_addresses_are_allowed_only_by_the_value_true() {
    let url = "http://127.0.0.1:9000/";
    assert!(
        configured(&[("ALLOW_PRIVATE_CALLBACKS", "true")])
            .check(url)
            .is_ok()
    );
    for text in ["", "false", "TRUE", "1", "true "] {
        let guard = configured(&[("ALLOW_PRIVATE_CALLBACKS", text)]);
        assert!(guard.check(url).is_err(), "{text:?}");
    }
    assert_eq!(configured(&[]), Guard::default());
}

#[test]
fn configured_hosts_are_own_hosts() {
    let hosts = configured(&[
        ("TRACKING_URL", "https://t.example.com/below"),
        ("TRACKING_HOST", "t.example.com"),
        ("OFFERS_HOST", "o.example.com"),
        ("REPORTING_HOST", "r.example.com"),
        ("OPERATOR_HOST", "op.example.com"),
    ]);
    for host in ["t", "o", "r", "op"] {
        let error = hosts
            .check(&format!("https://{host}.example.com/cb"))
            .unwrap_err();
        assert!(error.contains("own hosts"), "{host}: {error}");
    }
    let tracking_alone = configured(&[("TRACKING_URL", "https://t.example.com"), ("OFFERS_HOST", "")]);
    assert!(tracking_alone.check("https://t.example.com/cb").is_err());
    assert!(tracking_alone.check("https://o.example.com/cb").is_ok());
}

#[test]
fn a_refusal_names_the_reason() {
    for (url, problem) in [
        ("http://acme.example.com/", "must begin with https://"),
        (
            "https://acme.example.com:22/",
            "must be on port 443 or one from 1024 on that browsers do not block, not 22",
        ),
        (
            "https://0x7f.1/",
            "must be on the public internet: 127.0.0.1 is loopback (127.0.0.0/8, RFC 1122)",
        ),
        (
            "https://[::ffff:8.8.8.8]/",
            "must be on the public internet: ::ffff:8.8.8.8 is IPv4-mapped (::ffff:0.0.0.0/96, RFC 4291)",
        ),
        (
            "https://nas.lan/",
            "must be on the public internet: nas.lan is not, by the name lan (RFC 6762, appendix G)",
        ),
        ("https://nas/", "must have a full host name, not nas"),
        ("https://[fe80::1%25eth0]/", "is not a URL: invalid IPv6 address"),
    ] {
        assert_eq!(guard(false).check(url), Err(problem.to_owned()), "{url}");
    }
}

fn url_like() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "http",
        "https",
        ":",
        "//",
        "/",
        "@",
        "[",
        "]",
        "::",
        ".",
        "。",
        "127",
        "0x7f",
        "1",
        "localhost",
        "local",
        "acme",
        "example",
        "com",
        "%",
        "%25",
        "%2e",
        "xn--",
        "{user_id}",
        "?",
        "#",
        "8443",
        "ü",
        "\u{ad}",
        "ﬀ",
        "-",
    ]);
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_guard_panic(text in any::<String>(), like in url_like(), rest in any::<String>()) {
        for text in [text, format!("https://{rest}"), format!("https://{like}"), like] {
            for guard in [guard(false), guard(true)] {
                if let Ok(url) = guard.check(&text) {
                    // An allowed URL is also allowed by the check before the call.
                    prop_assert_eq!(guard.check_parsed(&url), Ok(()));
                    prop_assert_eq!(Url::parse(url.as_str()), Ok(url));
                }
            }
        }
    }

    #[test]
    fn a_url_allowed_in_production_is_allowed_in_local_runs(like in url_like()) {
        let url = format!("https://{like}");
        prop_assert!(guard(false).check(&url).is_err() || guard(true).check(&url).is_ok(), "{}", url);
    }

    #[test]
    fn no_name_is_allowed_below_a_private_one(below in "[a-z0-9]{1,8}(\\.[a-z0-9]{1,8}){0,2}", dots in "\\.{0,2}") {
        for (private, _) in PRIVATE_NAMES {
            let url = format!("https://{below}.{private}{dots}/");
            prop_assert!(guard(false).check(&url).is_err(), "{}", url);
        }
    }
}
