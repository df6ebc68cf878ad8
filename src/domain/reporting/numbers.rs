//! The numbers of a row as they are told: exact, rounded once, never through a float.

use super::{Measure, Metric, Sums, metric::get};
use crate::model::money::write_decimal;

/// The decimals that revenue (in USD, of micro-USD), ecpm and rates are told with.
const DECIMALS: u8 = 6;

/// A metric of a row, rounded half away from zero to what is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Of 10^-`decimals`.
    units: i128,
    decimals: u8,
}

impl Number {
    pub fn of(metric: Metric, sums: &Sums) -> Self {
        let Some(ratio) = metric.ratio() else {
            let measure = metric.measures().next().unwrap_or(Measure::Revenue);
            return Self {
                units: i128::from(get(sums, measure)),
                decimals: if measure == Measure::Revenue { DECIMALS } else { 0 },
            };
        };
        let (over, under) = (get(sums, ratio.numerator), get(sums, ratio.denominator));
        Self {
            units: quotient(over, ratio.factor, under),
            decimals: DECIMALS,
        }
    }

    /// Whether a row leaves it out (the specification's 2.2).
    pub fn is_zero(self) -> bool {
        self.units == 0
    }

    /// As a JSON number: no exponent, no trailing zeros.
    pub fn write(self, out: &mut String) {
        write_decimal(out, self.units, self.decimals);
    }
}

/// `over × factor ÷ under`, rounded half away from zero; 0 where `under` is.
fn quotient(over: i64, factor: i64, under: i64) -> i128 {
    if under == 0 {
        return 0;
    }
    let negative = (over < 0) != (under < 0);
    let (over, factor, under) = (over.unsigned_abs(), factor.unsigned_abs(), under.unsigned_abs());
    // Nearly every row: sums below 10^13 or, of revenue, 10^16.
    let size = match over.checked_mul(factor) {
        Some(over) => i128::from(over / under + u64::from(rounds_up(over % under, under))),
        None => {
            let over = u128::from(over) * u128::from(factor);
            let whole = over / u128::from(under);
            let rest = u64::try_from(over % u128::from(under)).unwrap_or(0);
            i128::try_from(whole).unwrap_or(i128::MAX) + i128::from(rounds_up(rest, under))
        }
    };
    if negative { -size } else { size }
}

/// Whether the rest is half of the divisor or more.
fn rounds_up(rest: u64, divisor: u64) -> bool {
    rest >= divisor - rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(metric: Metric, sums: Sums) -> String {
        let mut text = String::new();
        Number::of(metric, &sums).write(&mut text);
        text
    }

    #[test]
    fn the_formulas_are_the_designs() {
        let sums = [2_000, 1_500, 1_200, 36, 4_560_000];
        for (name, expected) in [
            ("ad_requests", "2000"),
            ("ad_responses", "1500"),
            ("impressions", "1200"),
            ("clicks", "36"),
            ("revenue", "4.56"),
            ("ecpm", "3.8"),
            ("fill_rate", "0.75"),
            ("show_rate", "0.8"),
            ("click_rate", "0.03"),
        ] {
            assert_eq!(told(Metric::parse(name).unwrap(), sums), expected, "{name}");
        }
    }

    #[test]
    fn halves_are_rounded_away_from_zero_at_the_sixth_decimal() {
        for (revenue, impressions, expected) in [
            (1, 2_000, "0.000001"),
            (-1, 2_000, "-0.000001"),
            (1, 2_001, "0"),
            (-1, 2_001, "0"),
            (3, 2_000, "0.000002"),
            (2, 3, "0.000667"),
            (-20_000_000, 3, "-6666.666667"),
            (5, 0, "0"),
        ] {
            assert_eq!(told(Metric::Ecpm, [0, 0, impressions, 0, revenue]), expected);
        }
        assert_eq!(told(Metric::Sum(Measure::Revenue), [0, 0, 0, 0, -1]), "-0.000001");
        assert_eq!(told(Metric::FillRate, [3, 7, 0, 0, 0]), "2.333333");
    }

    #[test]
    fn what_rounds_to_zero_is_zero() {
        assert!(Number::of(Metric::ClickRate, &[0, 0, 2_000_001, 1, 0]).is_zero());
        assert!(!Number::of(Metric::ClickRate, &[0, 0, 2_000_000, 1, 0]).is_zero());
        assert!(!Number::of(Metric::Sum(Measure::Revenue), &[0, 0, 0, 0, 1]).is_zero());
        assert!(
            Metric::ALL
                .iter()
                .all(|metric| Number::of(*metric, &[0; 5]).is_zero())
        );
    }

    proptest! {
        #[test]
        fn a_quotient_is_the_nearest_whole_number(
            over: i64,
            under: i64,
            shifts in (0..64_u32, 0..64_u32),
            factor in prop::sample::select(vec![1_000_i64, 1_000_000]),
        ) {
            let (over, under) = (over >> shifts.0, under >> shifts.1);
            let told = quotient(over, factor, under);
            let (over, under) = (i128::from(over) * i128::from(factor), i128::from(under));
            if under == 0 {
                prop_assert_eq!(told, 0);
            } else {
                let off = 2 * (told * under - over).abs();
                prop_assert!(off <= under.abs());
                // At a half, it is the one that is further from zero.
                prop_assert!(off < under.abs() || (told * under).abs() > over.abs());
            }
        }
    }
}
