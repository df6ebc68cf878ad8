//! The facts of the report benches: a million in 90 days, with about 630,000 groups by date, app, country and
//! placement. A few apps and countries have most of them, and each placement belongs to one app.

use std::{
    fmt::Write as _,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use crate::{
    many_facts::{self, HEADER},
    random::Random,
};

pub use crate::many_facts::{DAYS, date};

const FACTS: usize = 1_000_000;
const APPS: usize = 25;
const PLACEMENTS: usize = 12;
const TAGS: usize = 50;
const VERSIONS: usize = 5;
const COUNTRIES: [&str; 60] = [
    "AR", "AT", "AU", "BE", "BR", "CA", "CH", "CL", "CN", "CO", "CZ", "DE", "DK", "ES", "FI", "FR", "GB", "GR", "HU",
    "ID", "IE", "IN", "IT", "JP", "KR", "MX", "NL", "PL", "TR", "US", "AE", "AL", "AM", "AO", "AZ", "BA", "BD", "BG",
    "BH", "BO", "BY", "CI", "CM", "CR", "CY", "DO", "DZ", "EC", "EE", "EG", "GE", "GH", "GT", "HK", "HN", "HR", "IL",
    "IQ", "IS", "JM",
];

pub fn rows_of(day: usize) -> usize {
    many_facts::rows_of(FACTS, day)
}

/// A day's facts as an upload.
pub fn csv(day: usize) -> String {
    let mut random = Random(day as u64 + 1);
    let mut csv = String::from(HEADER);
    for _ in 0..rows_of(day) {
        let app = random.below(APPS).min(random.below(APPS));
        let country = COUNTRIES[random.below(60).min(random.below(60))];
        let placement = random.below(PLACEMENTS);
        let (tag, version) = (random.below(TAGS), random.below(VERSIONS));
        let source = random.one(&many_facts::SOURCES);
        let (impressions, clicks) = (random.below(1_000), random.below(13));
        let (sign, size) = match random.below(20_000) {
            // A negative amount.
            micros @ ..500 => ("-", micros),
            micros => ("", micros - 500),
        };
        writeln!(
            csv,
            "780000{app:02},{country},placement-{app:02}-{placement:02},tag-{tag:03},{source},1.{version},{},{},{impressions},{clicks},{sign}0.{size:06}",
            impressions * 3,
            impressions * 2,
        )
        .expect("a text takes all");
    }
    csv
}

/// Writes all facts to one file, each with its date.
pub fn write(file: &Path) {
    let mut out = BufWriter::new(File::create(file).expect("a file"));
    write!(out, "date,{HEADER}").expect("room");
    for day in 0..DAYS {
        for line in csv(day).lines().skip(1) {
            writeln!(out, "{},{line}", date(day)).expect("room");
        }
    }
}
