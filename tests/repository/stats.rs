//! Tests of the benchmarks' statistics over several rounds. The benches themselves run no tests.

#[path = "../../benches/shared/stats.rs"]
mod reckoning;

use reckoning::{differences, estimate, quantile, ratios};

#[test]
fn the_interval_is_that_of_the_tables_of_the_sign_test() {
    // The number of figures, how many are left out at either end, and the confidence in percent, as published.
    for (figures, outside, percent) in [
        (5, 0, 93.75),
        (6, 0, 96.875),
        (8, 0, 99.219),
        (9, 1, 96.094),
        (12, 2, 96.143),
        (15, 3, 96.484),
        (20, 5, 95.861),
        (25, 7, 95.672),
    ] {
        let ranks: Vec<f64> = (1..=figures).map(f64::from).collect();
        let found = estimate(&ranks).unwrap();
        assert_eq!(found.low, f64::from(1 + outside), "{figures}");
        assert_eq!(found.high, f64::from(figures - outside), "{figures}");
        let told = found.confidence * 100.0;
        assert!((told - percent).abs() < 0.001, "{figures}: {told}");
    }
}

#[test]
fn a_median_lies_in_its_interval_and_one_wild_round_does_not_move_it() {
    let figures = [1.0, 0.9, 0.95, 0.92, 0.97, 0.91, 0.93, 0.96, 40.0];
    let found = estimate(&figures).unwrap();
    assert_eq!((found.low, found.median, found.high), (0.91, 0.95, 1.0));
    assert_eq!(estimate(&[3.0, 1.0]).unwrap().median, 2.0);
    assert_eq!(estimate(&[3.0]).unwrap().high, 3.0);
    assert_eq!(estimate(&[]), None);
}

#[test]
fn the_interval_covers_the_true_median_as_often_as_it_says() {
    // A skewed distribution: the square of a number that is uniform from 0 to 1 has the median 1/4.
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let tries = 20_000;
    let covered = (0..tries)
        .filter(|_| {
            let figures: Vec<f64> = (0..9).map(|_| uniform().powi(2)).collect();
            let found = estimate(&figures).unwrap();
            found.low <= 0.25 && 0.25 <= found.high
        })
        .count();
    let share = covered as f64 / f64::from(tries);
    assert!((share - 0.961).abs() < 0.01, "{share}");
}

#[test]
fn pairs_are_compared_within_their_round_and_quantiles_are_figures_that_came() {
    assert_eq!(ratios(&[1.0, 9.0], &[2.0, 3.0]), [0.5, 3.0]);
    assert_eq!(differences(&[1.0, 9.0], &[2.0, 3.0]), [-1.0, 6.0]);
    let sorted: Vec<f64> = (1..=200).map(f64::from).collect();
    assert_eq!(quantile(&sorted, 0.99), Some(198.0));
    assert_eq!(quantile(&sorted, 1.0), Some(200.0));
    assert_eq!(quantile(&sorted[..1], 0.5), Some(1.0));
    assert_eq!(quantile(&[], 0.5), None);
}
