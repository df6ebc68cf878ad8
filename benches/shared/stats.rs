//! What is said of the figures of several rounds: their median, and where the true one lies.
//!
//! The interval is the order statistics' own: a figure of a round lies above the true median as often as below, whatever
//! its distribution, so how many of n do is binomial, and the k-th smallest and the k-th largest enclose the median with
//! a probability that follows from n and k alone. Nothing is assumed to be normal, and one round that went wrong on a
//! busy machine moves nothing. Below six rounds no pair reaches 95 %: then it is all there is, and says so.

/// How sure the interval is to be.
const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// With which probability the median lies from `low` to `high`.
    pub confidence: f64,
}

/// `None` without figures.
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

/// Of each round, the first side's figure over the second's.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours / theirs)
        .collect()
}

/// Of each round, how much more the first side's figure is than the second's.
pub fn differences(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours - theirs)
        .collect()
}

/// The figure that a share of all, from 0 to 1, does not exceed; of figures that are sorted.
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

/// How many figures may be left out at either end.
fn enclosing(figures: usize) -> usize {
    let more = (1..figures.div_ceil(2)).take_while(|outside| confidence(figures, *outside) >= CONFIDENCE);
    more.last().unwrap_or(0)
}

/// That neither more than all but `outside` figures lie below the median, nor above it.
fn confidence(figures: usize, outside: usize) -> f64 {
    // The chance that exactly `k` of `figures` do, of which each is made from the one before.
    let mut exactly = 0.5_f64.powi(i32::try_from(figures).unwrap_or(i32::MAX));
    let mut at_most = 0.0;
    for k in 0..=outside {
        at_most += exactly;
        exactly *= (figures - k) as f64 / (k + 1) as f64;
    }
    1.0 - 2.0 * at_most
}
