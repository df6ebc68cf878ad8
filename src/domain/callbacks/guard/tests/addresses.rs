//! Tests IP addresses in every spelling against the refused ranges.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use url::{Host, Url};

use super::{ALLOWED, LOCAL_ONLY, REFUSED, expect, expect_hosts, guard};

/// The first and the last address of each range, and whether local runs may call it.
const REFUSED_V4: [(&str, &str, bool); 16] = [
    ("0.0.0.0", "0.255.255.255", false),
    ("10.0.0.0", "10.255.255.255", true),
    ("100.64.0.0", "100.127.255.255", false),
    ("127.0.0.0", "127.255.255.255", true),
    ("168.63.129.16", "168.63.129.16", false),
    ("169.254.0.0", "169.254.255.255", false),
    ("172.16.0.0", "172.31.255.255", true),
    ("192.0.0.0", "192.0.0.255", false),
    ("192.0.2.0", "192.0.2.255", false),
    ("192.88.99.0", "192.88.99.255", false),
    ("192.168.0.0", "192.168.255.255", true),
    ("198.18.0.0", "198.19.255.255", false),
    ("198.51.100.0", "198.51.100.255", false),
    ("203.0.113.0", "203.0.113.255", false),
    ("224.0.0.0", "239.255.255.255", false),
    ("240.0.0.0", "255.255.255.255", false),
];

fn bounds() -> impl Iterator<Item = (u32, u32, bool)> {
    let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
    REFUSED_V4.iter().map(move |(first, last, local)| (bits(first), bits(last), *local))
}

#[test]
fn ipv4_ranges_are_refused_to_their_edges_and_no_further() {
    let is_refused = |bits: u32| bounds().any(|(first, last, _)| (first..=last).contains(&bits));
    for (first, last, local) in bounds() {
        for bits in [first, first + (last - first) / 2, last] {
            expect(&format!("https://{}/", Ipv4Addr::from_bits(bits)), [false, local]);
        }
        for outside in [first.wrapping_sub(1), last.wrapping_add(1)] {
            if !is_refused(outside) {
                expect(&format!("https://{}/", Ipv4Addr::from_bits(outside)), ALLOWED);
            }
        }
    }
}

#[test]
fn ipv4_addresses_are_parsed_in_every_spelling() {
    expect_hosts(
        "127.0.0.1 127.1 127.0.1 127.0.0.1. 2130706433 017700000001 0x7f000001 0X7F.1 0x7f.1 0177.0.0.01 \
         0x7f.0.0.0x1 0000177.0x0.00.1 １２７.0.0.1 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① \
         %31%32%37.0.0.1 127%2e0%2e0%2e1",
        LOCAL_ONLY,
    );
    expect_hosts("169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 0", REFUSED);
    expect_hosts("8.8.8.8 8.8.2056 0x08080808 010.8.8.8 134744072", ALLOWED);
    // Neither valid addresses nor valid names.
    expect_hosts("256.0.0.1 127.0.0.0.1 4294967296 0x1ffffffff 1.2.3.09 acme.example.1 127..1", REFUSED);
}

/// Each line is a range, as a refusal names it, and addresses in it.
const REFUSED_V6: &str = "
    ::/128             :: 0:0:0:0:0:0:0:0
    ::/96              ::2 ::127.0.0.1 ::8.8.8.8
    ::ffff:0.0.0.0/96  ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:FFFF:7F00:0001 ::ffff:169.254.169.254 ::ffff:8.8.8.8
    ::ffff:0:0:0/96    ::ffff:0:127.0.0.1
    64:ff9b::/96       64:ff9b:: 64:ff9b::10.0.0.1 64:ff9b::8.8.8.8 64:ff9b::ffff:ffff
    64:ff9b:1::/48     64:ff9b:1::1
    100::/64           100::1
    2001::/32          2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
    2001:2::/48        2001:2::1
    2001:10::/28       2001:10::1
    2001:20::/28       2001:2f::1
    2001::/23          2001:1ff:ffff::
    2001:db8::/32      2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
    2002::/16          2002:: 2002:7f00:1:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    3ffe::/16          3ffe::1
    3fff::/20          3fff::1 3fff:fff::1
    fd00:ec2::/32      fd00:ec2::254
    fe80::/10          fe80:: fe80::1 febf:ffff::
    fec0::/10          fec0:: feff::1
    ff00::/8           ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    ::/3               1fff::1
    4000::/2           4000:: 5f00::1
    8000::/1           8000::1 fbff::1 fe00::1
";
/// The ranges that local runs allow.
const PRIVATE_V6: &str = "
    ::1/128            ::1 0:0:0:0:0:0:0:1 0000::0001 ::0.0.0.1
    fc00::/7           fc00:: fd12:3456::1 FDFF:ffff::
";

#[test]
fn ipv6_ranges_are_refused_to_their_edges_and_no_further() {
    for (table, expected) in [(REFUSED_V6, REFUSED), (PRIVATE_V6, LOCAL_ONLY)] {
        for line in table.trim().lines() {
            let (range, addresses) = line.trim().split_once(' ').unwrap();
            for address in addresses.split_whitespace() {
                expect_hosts(&format!("[{address}]"), expected);
                let error = guard(false).check(&format!("https://[{address}]/")).unwrap_err();
                assert!(error.contains(&format!("({range},")), "{address}: {error}");
            }
        }
    }
    expect_hosts(
        "[2000::1] [2001:200::1] [2001:4860:4860::8888] [2001:db7::1] [2001:db9::1] [2003::1] [2606:4700::1111] \
         [3ffd::1] [3fff:1000::1]",
        ALLOWED,
    );
}

#[test]
fn ipv6_addresses_with_a_zone_or_malformed_brackets_are_refused() {
    expect_hosts(
        "[fe80::1%25eth0] [fe80::1%eth0] [2606:4700::1111%25eth0] [::1%25lo] [::1 ::1 [::1]. [v1.x] [127.0.0.1] [] \
         [2606:4700::1111]x %5B::1%5D [2606:4700::1111].example.com",
        REFUSED,
    );
}

/// One number of an address in one of the bases that URL parsers accept.
fn in_base(number: u32, base: u8) -> String {
    match base {
        0 => format!("{number}"),
        1 => format!("0x{number:x}"),
        2 => format!("0X{number:08X}"),
        3 => format!("0{number:o}"),
        _ => format!("000{number:o}"),
    }
}

/// All spellings of an address: one to four parts in the given bases, the last of which holds the remaining bits.
fn spellings(bits: u32, bases: [u8; 4]) -> Vec<String> {
    let [a, b, c, d] = bits.to_be_bytes().map(u32::from);
    let parts = [vec![bits], vec![a, bits & 0xff_ffff], vec![a, b, bits & 0xffff], vec![a, b, c, d]];
    let mut spellings = Vec::new();
    for parts in parts {
        let written: Vec<String> = parts.iter().zip(bases).map(|(part, base)| in_base(*part, base)).collect();
        for dot in [".", "。", "%2e"] {
            spellings.push(written.join(dot));
            spellings.push(written.join(dot) + dot);
        }
    }
    spellings
}

/// IPv6 addresses that embed an IPv4 address, in the layouts of their standards.
fn embeddings(address: Ipv4Addr) -> [String; 7] {
    let [high, low] = [address.to_bits() >> 16, address.to_bits() & 0xffff];
    [
        format!("[::ffff:{address}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:FFFF:{high:04X}:{low:04X}]"),
        format!("[{}]", address.to_ipv6_mapped()),
        format!("[64:ff9b::{address}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:4136:e378:8000:63bf:{:x}:{:x}]", high ^ 0xffff, low ^ 0xffff),
    ]
}

fn refused_address() -> impl Strategy<Value = (u32, bool)> {
    proptest::sample::select(bounds().collect::<Vec<_>>())
        .prop_flat_map(|(first, last, local)| (first..=last, Just(local)))
}

proptest! {
    #[test]
    fn an_ipv4_address_in_a_refused_range_is_refused_in_every_spelling(
        (bits, local) in refused_address(),
        bases in proptest::array::uniform4(0_u8..5),
    ) {
        let (production, development) = (guard(false), guard(true));
        for host in spellings(bits, bases) {
            let url = format!("https://{host}/");
            // Makes sure that the spelling means this address.
            let parsed = Url::parse(&url).unwrap();
            prop_assert_eq!(parsed.host(), Some(Host::Ipv4(Ipv4Addr::from_bits(bits))));
            prop_assert!(production.check(&url).is_err(), "{}", url);
            prop_assert_eq!(development.check(&url).is_ok(), local, "{}", url);
        }
        for host in embeddings(Ipv4Addr::from_bits(bits)) {
            let url = format!("https://{host}/");
            prop_assert!(Url::parse(&url).is_ok(), "{}", url);
            prop_assert!(production.check(&url).is_err() && development.check(&url).is_err(), "{}", url);
        }
    }

    #[test]
    fn an_ipv4_address_is_allowed_exactly_outside_the_ranges(bits: u32, bases in proptest::array::uniform4(0_u8..5)) {
        let outside = !bounds().any(|(first, last, _)| (first..=last).contains(&bits));
        for host in spellings(bits, bases) {
            prop_assert_eq!(guard(false).check(&format!("https://{host}/")).is_ok(), outside, "{}", host);
        }
    }

    #[test]
    fn an_ipv6_address_outside_global_unicast_is_refused(bits: u128) {
        let url = format!("https://[{}]/", Ipv6Addr::from_bits(bits));
        if bits >> 125 != 1 {
            prop_assert!(guard(false).check(&url).is_err(), "{}", url);
        }
    }
}
