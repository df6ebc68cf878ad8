//! Statistics over the figures of several rounds: their median and its confidence interval.
//!
//! The interval uses order statistics. A round's figure lies above the true median as often as below, whatever its
//! distribution, so the number above is binomial, and the k-th smallest and k-th largest of n enclose the median with a
//! probability that depends on n and k alone. It assumes no normal distribution, and one bad round on a busy machine
//! changes nothing. Below six rounds no pair reaches 95 %; then the interval is the full range, with its confidence.

/// The wanted confidence of the interval.
const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// The probability that the median lies from `low` to `high`.
    pub confidence: f64,
}

/// Returns `None` without figures.
pub fn estimate(figures: &[f64]) -> Option<Estimate> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let outside = enclosing(sorted.len());
    let last = sorted.len().checked_sub(1 + outside)?;
    Some(Estimate {
        median: median(&sorted)?,
        low: *sorted.get(outside)?,
        high: *sorted.get(last)?,
        confidence: confidence(sorted.len(), outside),
    })
}

/// For each round, the first side's figure divided by the second's.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

/// For each round, the first side's figure minus the second's.
pub fn differences(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours - theirs).collect()
}

/// The quantile of sorted figures, for a share from 0 to 1.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(middle - 1)? + upper) / 2.0)
}

/// The number of figures to leave out at each end.
fn enclosing(figures: usize) -> usize {
    let more = (1..figures.div_ceil(2)).take_while(|outside| confidence(figures, *outside) >= CONFIDENCE);
    more.last().unwrap_or(0)
}

/// The probability that more than `outside` figures lie on each side of the median.
fn confidence(figures: usize, outside: usize) -> f64 {
    // The probability that exactly `k` of `figures` lie on one side, each derived from the previous.
    let mut exactly = 0.5_f64.powi(i32::try_from(figures).unwrap_or(i32::MAX));
    let mut at_most = 0.0;
    for k in 0..=outside {
        at_most += exactly;
        exactly *= (figures - k) as f64 / (k + 1) as f64;
    }
    1.0 - 2.0 * at_most
}
