//! The address ranges that callbacks must not call, mostly from IANA's special-purpose address registries. Each range
//! is listed with the document that reserves it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range: its first address, and the length of its prefix in bits.
struct Network(IpAddr, u32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Never,
    /// Only with `ALLOW_PRIVATE_CALLBACKS`.
    Private,
}

use Access::{Never, Private};

const fn v4(first: [u8; 4], prefix: u32) -> Network {
    Network(IpAddr::V4(Ipv4Addr::from_octets(first)), prefix)
}

const fn v6(first: [u16; 8], prefix: u32) -> Network {
    Network(IpAddr::V6(Ipv6Addr::from_segments(first)), prefix)
}

/// The first range that contains an address decides. IPv6 addresses that embed an IPv4 address are always refused:
/// their target depends on the network in use, and a public IPv4 address can be written plainly. The two texts of a row
/// are the range's use and the document that reserves it.
#[rustfmt::skip] // A table, one range per line.
const RANGES: [(Network, Access, &str, &str); 42] = [
    (v4([0, 0, 0, 0], 8), Never, "this network", "RFC 791"),
    (v4([10, 0, 0, 0], 8), Private, "private", "RFC 1918"),
    (v4([100, 64, 0, 0], 10), Never, "shared by a provider", "RFC 6598"),
    (v4([127, 0, 0, 0], 8), Private, "loopback", "RFC 1122"),
    (v4([168, 63, 129, 16], 32), Never, "metadata", "Azure documentation"),
    (v4([169, 254, 0, 0], 16), Never, "link-local or metadata", "RFC 3927"),
    (v4([172, 16, 0, 0], 12), Private, "private", "RFC 1918"),
    (v4([192, 0, 0, 0], 24), Never, "for protocols", "RFC 6890"),
    (v4([192, 0, 2, 0], 24), Never, "documentation", "RFC 5737"),
    (v4([192, 88, 99, 0], 24), Never, "a 6to4 relay", "RFC 7526"),
    (v4([192, 168, 0, 0], 16), Private, "private", "RFC 1918"),
    (v4([198, 18, 0, 0], 15), Never, "benchmarking", "RFC 2544"),
    (v4([198, 51, 100, 0], 24), Never, "documentation", "RFC 5737"),
    (v4([203, 0, 113, 0], 24), Never, "documentation", "RFC 5737"),
    (v4([224, 0, 0, 0], 4), Never, "multicast", "RFC 5771"),
    (v4([255, 255, 255, 255], 32), Never, "broadcast", "RFC 919"),
    (v4([240, 0, 0, 0], 4), Never, "reserved", "RFC 1112"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Never, "unspecified", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Private, "loopback", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), Never, "IPv4-mapped", "RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), Never, "IPv4-compatible", "RFC 4291"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), Never, "IPv4-translated", "RFC 2765"),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), Never, "translated to IPv4 (NAT64)", "RFC 6052"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), Never, "translated to IPv4 (local NAT64)", "RFC 8215"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), Never, "discarded", "RFC 6666"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), Never, "Teredo", "RFC 4380"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), Never, "benchmarking", "RFC 5180"),
    (v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28), Never, "ORCHID", "RFC 4843"),
    (v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), Never, "ORCHID", "RFC 7343"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), Never, "for protocols", "RFC 2928"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), Never, "documentation", "RFC 3849"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), Never, "6to4", "RFC 3056"),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), Never, "the former 6bone", "RFC 3701"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), Never, "documentation", "RFC 9637"),
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32), Never, "metadata", "AWS documentation"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Private, "unique local", "RFC 4193"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Never, "link-local", "RFC 4291"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Never, "site-local", "RFC 3879"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Never, "multicast", "RFC 4291"),
    // Everything else outside 2000::/3, the only block of public addresses.
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 3), Never, "reserved", "RFC 4291"),
    (v6([0x4000, 0, 0, 0, 0, 0, 0, 0], 2), Never, "reserved", "RFC 4291"),
    (v6([0x8000, 0, 0, 0, 0, 0, 0, 0], 1), Never, "reserved", "RFC 4291"),
];

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        let Self(first, prefix) = *self;
        let common = match (first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => (first.to_bits() ^ address.to_bits()).leading_zeros(),
            (IpAddr::V6(first), IpAddr::V6(address)) => (first.to_bits() ^ address.to_bits()).leading_zeros(),
            _ => return false,
        };
        common >= prefix
    }
}

/// Checks that an address may be called. The error is a phrase to put after the field's name.
pub fn check(address: IpAddr, allow_private: bool) -> Result<(), String> {
    let range = RANGES.iter().find(|(network, ..)| network.contains(address));
    match range.filter(|(_, access, ..)| *access == Never || !allow_private) {
        Some((Network(first, prefix), _, kind, source)) => {
            Err(format!("must be on the public internet: {address} is {kind} ({first}/{prefix}, {source})"))
        }
        None => Ok(()),
    }
}
