use proptest::prelude::*;

use super::*;

mod addresses;
mod fallback;

fn guard(allow_private: bool) -> Guard {
    let own = ["track.example.com", "Offers.Example.com", "http://127.0.0.1:8787", "bücher.example.com", ""];
    Guard { allow_private, own_hosts: own.map(str::to_owned).to_vec() }
}

/// Whether a URL is allowed in production and in local runs.
type Answer = [bool; 2];

const ALLOWED: Answer = [true, true];
const LOCAL_ONLY: Answer = [false, true];
const REFUSED: Answer = [false, false];

/// Checks a URL with the guard of production and with the guard of local runs.
#[track_caller]
fn expect(url: &str, [production, local]: Answer) {
    for (allow_private, expected) in [(false, production), (true, local)] {
        let answer = guard(allow_private).check(url);
        assert_eq!(answer.is_ok(), expected, "{url:?}, allow_private {allow_private}: {answer:?}");
    }
}

/// Checks hosts, separated by spaces: over https on two ports, and over http, which only local runs allow.
#[track_caller]
fn expect_hosts(hosts: &str, expected: Answer) {
    let [_, local] = expected;
    for host in hosts.split(' ') {
        expect(&format!("https://{host}/"), expected);
        expect(&format!("https://{host}:8443/cb?x=1"), expected);
        expect(&format!("http://{host}:9000/cb?x=1"), [false, local]);
    }
}

/// Checks host names, separated by spaces, with and without the dot of the root.
#[track_caller]
fn expect_names(names: &str, expected: Answer) {
    for name in names.split(' ') {
        expect_hosts(&format!("{name} {name}."), expected);
    }
}

/// Checks that a URL is refused because its host is one of Signpost's own.
#[track_caller]
fn expect_own(guard: &Guard, url: &str) {
    let answer = guard.check(url);
    let is_own = answer.as_ref().is_err_and(|error| error.contains("own hosts"));
    assert!(is_own, "{url}, {guard:?}: {answer:?}");
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
    ] {
        expect(url, ALLOWED);
    }
    // Similar to refused names, but not below them.
    expect_names("notlocalhost.com localhost.example.com mylocal.dev", ALLOWED);
    expect_names("arpa.example.com xtrack.example.com below.track.example.com", ALLOWED);
}

#[test]
fn the_checked_url_is_returned_in_canonical_form() {
    let url = guard(false).check("https://ACME.example.com:443/cb?u={user_id}").unwrap();
    assert_eq!(url.as_str(), "https://acme.example.com/cb?u={user_id}");
}

#[test]
fn the_scheme_is_https_and_locally_http() {
    expect("http://acme.example.com/", LOCAL_ONLY);
    expect("HTTP://acme.example.com/", LOCAL_ONLY);
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
        expect(url, REFUSED);
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
    ] {
        expect(url, REFUSED);
    }
    expect_hosts(
        "... acme..example.com .acme.example.com acme.example.com.. {user_id}.example.com acme.example.com{user_id} \
         a%2eb%2fexample.com acme.example.com%00 acme!.example.com *.example.com",
        REFUSED,
    );
    expect(&format!("https://{}.example.com/", "a".repeat(64)), REFUSED);
    expect(&format!("https://{}com/", "a.".repeat(126)), REFUSED);
    expect(&format!("https://{}com/", "a.".repeat(125)), ALLOWED);
}

#[test]
fn credentials_are_refused() {
    expect_hosts(
        "user:word@acme.example.com user@acme.example.com :word@acme.example.com @acme.example.com \
         :@acme.example.com acme.example.com@evil.example.com \
         acme.example.com%40evil.example.com@other.example.com",
        REFUSED,
    );
    let parsed = Url::parse("https://user@acme.example.com/").unwrap();
    assert_eq!(guard(true).check_parsed(&parsed).unwrap_err(), NO_CREDENTIALS);
}

#[test]
fn characters_that_a_parser_drops_or_converts_are_refused() {
    for character in ['\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', ' ', '\u{a0}', '\u{2028}', '\u{3000}', '\\']
    {
        for url in [
            format!("{character}https://acme.example.com/"),
            format!("ht{character}tps://acme.example.com/"),
            format!("https://acme.exa{character}mple.com/"),
            format!("https://acme.example.com/c{character}b"),
            format!("https://acme.example.com/cb{character}"),
        ] {
            expect(&url, REFUSED);
        }
    }
}

#[test]
fn a_configured_url_is_at_most_2048_characters() {
    let url = |length: usize| format!("https://acme.example.com/{}", "ä".repeat(length - 25));
    expect(&url(2_048), ALLOWED);
    expect(&url(2_049), REFUSED);
    // With its macros filled in, the URL may be longer.
    let filled = Url::parse(&url(5_000)).unwrap();
    assert_eq!(guard(false).check_parsed(&filled), Ok(()));
}

#[test]
fn allowed_ports_are_443_and_unblocked_ones_from_1024_on() {
    for (ports, expected) in [
        ("443 1024 3000 5432 8080 8443 10079 10081 65535", ALLOWED),
        ("80", LOCAL_ONLY),
        ("0 1 21 22 23 25 53 79 81 110", REFUSED),
        ("442 444 465 636 853 993 1023", REFUSED),
        ("1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566", REFUSED),
        ("6665 6666 6667 6668 6669 6679 6697 10080", REFUSED),
        ("65536 99999999999 -1 x {value}", REFUSED),
    ] {
        for port in ports.split(' ') {
            expect(&format!("https://acme.example.com:{port}/"), expected);
        }
    }
    expect("https://acme.example.com:/", ALLOWED);
    expect("https://acme.example.com:4 43/", REFUSED);
    expect("http://acme.example.com:443/", LOCAL_ONLY);
}

#[test]
fn names_inside_private_networks_are_refused() {
    expect_names(
        "printer.local local metadata.google.internal METADATA.google.InterNal internal router.home.arpa home.arpa \
         nas.lan wiki.intranet mail.corp a.b.corp box.private tv.home hidden.onion localhost.localdomain",
        REFUSED,
    );
    // A resolver completes single labels with its search list, if at all.
    expect_names("intranet1 com metadata", REFUSED);
    // Other spellings of the same names.
    expect_names(
        "printer.ｌｏｃａｌ printer。local printer%2elocal printer.loc%61l printer.lo\u{ad}cal printer.lo\u{200b}cal \
         xn--fa-hia",
        REFUSED,
    );
}

#[test]
fn localhost_is_allowed_in_local_runs_only() {
    expect_names("localhost LOCALHOST api.localhost a.b.localhost ｌocalhost local%68ost", LOCAL_ONLY);
    expect("https://localhost../", REFUSED);
}

#[test]
fn signposts_own_hosts_are_refused_in_every_spelling() {
    let hosts = "track.example.com TRACK.example.com track.example.com. track.example.com:8443 ｔrack。example.com \
        tr%61ck.example.com offers.example.com bücher.example.com BÜCHER.example.com xn--bcher-kva.example.com";
    for host in hosts.split(' ') {
        for guard in [guard(false), guard(true)] {
            expect_own(&guard, &format!("https://{host}/cb"));
        }
    }
    let dotted = Guard { own_hosts: vec!["track.example.com.".to_owned(), "203.1.2.3".to_owned()], ..Guard::default() };
    for url in ["https://track.example.com/", "https://0xcb.1.515/"] {
        expect_own(&dotted, url);
    }
}

#[test]
fn a_local_receiver_may_share_the_services_address_but_not_its_port() {
    expect("http://127.0.0.1:9000/", LOCAL_ONLY);
    expect("http://127.0.0.1:8787/", REFUSED);
    expect("http://127.1:8787/", REFUSED);
}

#[test]
fn a_service_on_loopback_is_its_own_host_under_every_name_of_loopback() {
    let spellings = "127.0.0.1 127.0.0.2 127.255.255.255 0x7f.1 [::1] [0:0:0:0:0:0:0:1] \
        localhost LOCALHOST. api.localhost a.b.localhost.";
    // The same port on another host is not Signpost's.
    let others = "10.0.0.1 126.255.255.255 128.0.0.1 [fd00::1] notlocalhost.com localhost.example.com";
    for own in spellings.split(' ') {
        let local = Guard { allow_private: true, own_hosts: vec![format!("http://{own}:8787")] };
        let receivers = spellings.split(' ').map(|host| format!("http://{host}:9000/cb"));
        let elsewhere = others.split(' ').map(|host| format!("http://{host}:8787/cb"));
        for url in receivers.chain(elsewhere) {
            let answer = local.check(&url);
            assert!(answer.is_ok(), "{own}, {url}: {answer:?}");
        }
        for called in spellings.split(' ') {
            expect_own(&local, &format!("http://{called}:8787/cb"));
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
        let answer = elsewhere.check(&format!("http://{host}:8787/cb"));
        assert!(answer.is_ok(), "{host}: {answer:?}");
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
    for text in ["true", "", "false", "TRUE", "1", "true "] {
        let guard = configured(&[("ALLOW_PRIVATE_CALLBACKS", text)]);
        let answer = guard.check("http://127.0.0.1:9000/");
        assert_eq!(answer.is_ok(), text == "true", "{text:?}: {answer:?}");
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
        ("DASHBOARD_HOST", "d.example.com"),
        ("DASHBOARD_URL", "https://du.example.com"),
        ("CONSOLE_HOST", "c.example.com"),
        ("CONSOLE_URL", "https://cu.example.com"),
    ]);
    for host in ["t", "o", "r", "op", "d", "du", "c", "cu"] {
        expect_own(&hosts, &format!("https://{host}.example.com/cb"));
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
            "must be on port 443, or on a port of 1024 or higher that browsers do not block, not 22",
        ),
        ("https://0x7f.1/", "must be on the public internet: 127.0.0.1 is loopback (127.0.0.0/8, RFC 1122)"),
        (
            "https://[::ffff:8.8.8.8]/",
            "must be on the public internet: ::ffff:8.8.8.8 is IPv4-mapped (::ffff:0.0.0.0/96, RFC 4291)",
        ),
        (
            "https://nas.lan/",
            "must be on the public internet: nas.lan is in the private domain lan (RFC 6762, appendix G)",
        ),
        ("https://nas/", "must have a full host name, not nas"),
        ("https://[fe80::1%25eth0]/", "is not a URL: invalid IPv6 address"),
    ] {
        assert_eq!(guard(false).check(url), Err(problem.to_owned()), "{url}");
    }
}

fn url_like() -> impl Strategy<Value = String> {
    let pieces = "http https : // / @ [ ] :: . 。 127 0x7f 1 localhost local acme example com \
        % %25 %2e xn-- {user_id} ? # 8443 ü \u{ad} ﬀ -";
    let piece = proptest::sample::select(pieces.split(' ').collect::<Vec<_>>());
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
