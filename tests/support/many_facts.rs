//! Generates hundreds of thousands of facts for tests and benches. The n-th fact of a day follows from the day and `n`
//! alone, so that expected sums can be computed without storing facts.

#![allow(dead_code, reason = "no binary uses all of it")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

use std::fmt::Write;

use domain::model::time::UtcDay;

/// Days from [`date`] 0 on: the longest range of a report.
pub const DAYS: usize = 90;
pub const HEADER: &str = "app_id,country,placement_id,ad_tag,demand_source,sdk_v,\
    ad_requests,ad_responses,impressions,clicks,revenue\n";
pub const COUNTRIES: [&str; 30] = [
    "AR", "AT", "AU", "BE", "BR", "CA", "CH", "CL", "CN", "CO", "CZ", "DE", "DK", "ES", "FI", "FR", "GB", "GR", "HU",
    "ID", "IE", "IN", "IT", "JP", "KR", "MX", "NL", "PL", "TR", "US",
];
pub const SOURCES: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

/// The indexes of a fact's app, country, placement, ad tag, demand source and SDK version. Facts whose numbers differ
/// by less than [`KEYS`] have different indexes, because `STRIDE` has no factor in common with it.
pub type Place = [usize; 6];
const SIZES: Place = [20, 30, 40, 50, 8, 5];
const KEYS: usize = 20 * 30 * 40 * 50 * 8 * 5;
const STRIDE: usize = 7_368_787;
/// The indexes of the n-th fact of a day. Every tenth fact has the key of the one before it, and is added to it.
pub fn place(n: usize) -> Place {
    let n = if n % 10 == 9 { n - 1 } else { n };
    let mut rest = n * STRIDE % KEYS;
    SIZES.map(|size| {
        let at = rest % size;
        rest /= size;
        at
    })
}

/// Impressions, clicks, and revenue in micro-USD. Ad requests and responses follow from impressions.
pub fn sums(day: usize, n: usize) -> [i64; 3] {
    let n = i64::try_from(day * 1_009 + n).unwrap();
    [n % 997, n % 13, n % 3_001 * 7 - 1_000]
}

/// The number of rows of a day, if `facts` rows are distributed over all days.
pub fn rows_of(facts: usize, day: usize) -> usize {
    facts / DAYS + usize::from(day < facts % DAYS)
}

pub fn date(day: usize) -> String {
    UtcDay::parse("2026-01-01").unwrap().minus(-i32::try_from(day).unwrap()).to_string()
}

/// The CSV upload of a day with this many facts.
pub fn csv(day: usize, rows: usize) -> String {
    let mut csv = String::with_capacity(1 << 20);
    csv.push_str(HEADER);
    for n in 0..rows {
        let [app, country, placement, tag, source, version] = place(n);
        let [impressions, clicks, micros] = sums(day, n);
        let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.abs());
        writeln!(
            csv,
            "780000{app:02},{},placement-{placement},tag-{tag:03},{},1.{version},{},{},{impressions},{clicks},{sign}0.{size:06}",
            COUNTRIES[country],
            SOURCES[source],
            impressions * 3,
            impressions * 2,
        )
        .unwrap();
    }
    csv
}
