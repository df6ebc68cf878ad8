//! The table: a row for each thing that is measured, as Markdown, and whether its target is met.

use std::fmt::Write;

use crate::stats::{Estimate, estimate};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
    /// There is no target.
    Reported,
    /// workerd was not the limit of what was measured.
    Unproven,
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
        }
    }
}

/// Figures with their units, as they are to be read.
#[derive(Clone, Debug)]
pub struct Row {
    pub work: String,
    pub ours: String,
    pub yardstick: String,
    /// Ours to the yardstick's, with its interval; a difference where the target is one.
    pub ratio: String,
    pub target: String,
    pub verdict: Verdict,
    /// What a reader needs to believe it: how busy workerd was, what was checked.
    pub notes: Vec<String>,
}

impl Row {
    /// Prints the row as soon as it is known.
    pub fn told(self) -> Self {
        println!("{}", self.line());
        for note in &self.notes {
            println!("    {note}");
        }
        self
    }

    fn line(&self) -> String {
        let cells = [
            self.work.as_str(),
            &self.ours,
            &self.yardstick,
            &self.ratio,
            &self.target,
            self.verdict.word(),
        ];
        format!("| {} |", cells.join(" | "))
    }
}

/// The whole, with the notes below it.
pub fn markdown(machine: &str, rows: &[Row]) -> String {
    let mut text =
        format!("{machine}\n\n| work | ours | yardstick | ratio | target | |\n|---|---|---|---|---|---|\n");
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

/// The median of a side's rounds with the least and the most, by a format of one figure.
pub fn spread(figures: &[f64], show: impl Fn(f64) -> String) -> String {
    let Some(Estimate { median, .. }) = estimate(figures) else {
        return "none".to_owned();
    };
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} ({} to {})", show(median), show(least), show(most))
}

/// A median with its interval, by a format of one figure.
pub fn interval(found: &Estimate, show: impl Fn(f64) -> String) -> String {
    let sure = if found.confidence < 0.95 {
        format!(", {:.0} % sure", found.confidence * 100.0)
    } else {
        String::new()
    };
    format!(
        "{} [{}, {}]{sure}",
        show(found.median),
        show(found.low),
        show(found.high)
    )
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

/// What happens so often a second.
pub fn per_second(rate: f64) -> String {
    format!("{} /s", grouped(rate))
}

/// A whole number with its thousands set apart.
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

/// Of milliseconds.
pub fn ms(ms: f64) -> String {
    format!("{ms:.2} ms")
}

/// Of bytes, in megabytes of a million.
pub fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}
