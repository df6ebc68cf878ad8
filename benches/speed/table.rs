//! The result table: one Markdown row for each measurement, with its verdict.

use std::fmt::Write;

use crate::stats::{Estimate, estimate};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
    /// There is no target.
    Reported,
    /// The load generator, and not workerd, was the limit.
    Unproven,
    /// The interval reaches to both sides of the target.
    Open,
}

impl Verdict {
    pub fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Missed }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "**missed**",
            Self::Reported => "reported",
            Self::Unproven => "**not shown**: the load generator was the limit",
            Self::Open => "**not shown**: the interval reaches to both sides of the target",
        }
    }
}

/// A row with figures as text, including their units.
#[derive(Clone, Debug)]
pub struct Row {
    pub work: String,
    pub ours: String,
    pub yardstick: String,
    /// The ratio of ours to the yardstick's with its interval, or a difference if the target is one.
    pub ratio: String,
    pub target: String,
    pub verdict: Verdict,
    /// Details for the reader: how busy workerd was, and what was checked.
    pub notes: Vec<String>,
}

impl Row {
    /// Prints the row as soon as it is known.
    pub fn printed(self) -> Self {
        println!("{}", self.line());
        for note in &self.notes {
            println!("    {note}");
        }
        self
    }

    fn line(&self) -> String {
        let cells = [self.work.as_str(), &self.ours, &self.yardstick, &self.ratio, &self.target, self.verdict.word()];
        format!("| {} |", cells.join(" | "))
    }
}

/// The whole table, with the notes below it.
pub fn markdown(machine: &str, rows: &[Row]) -> String {
    let mut text = format!("{machine}\n\n| work | ours | yardstick | ratio | target | |\n|---|---|---|---|---|---|\n");
    // Writing to a String cannot fail.
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    let noted = rows.iter().filter(|row| !row.notes.is_empty());
    for (at, row) in noted.enumerate() {
        let before = if at == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{before}- {}: {}", row.work, row.notes.join("; "));
    }
    text
}

/// The median of a side's rounds with the minimum and maximum, formatted by `show`.
pub fn spread(figures: &[f64], show: impl Fn(f64) -> String) -> String {
    let Some(Estimate { median, .. }) = estimate(figures) else {
        return "none".to_owned();
    };
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} ({} to {})", show(median), show(least), show(most))
}

/// A median with its interval, formatted by `show`.
pub fn interval(found: &Estimate, show: impl Fn(f64) -> String) -> String {
    let sure =
        if found.confidence < 0.95 { format!(", {:.0} % sure", found.confidence * 100.0) } else { String::new() };
    format!("{} [{}, {}]{sure}", show(found.median), show(found.low), show(found.high))
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

/// A rate per second.
pub fn per_second(rate: f64) -> String {
    format!("{} /s", grouped(rate))
}

/// A whole number with thousands separators.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds.
pub fn ms(ms: f64) -> String {
    format!("{ms:.2} ms")
}

/// Microseconds.
pub fn microseconds(us: f64) -> String {
    format!("{us:.1} µs")
}

/// Bytes in megabytes of a million.
pub fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}
