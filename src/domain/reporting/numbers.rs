//! The numbers of a report row: exact, rounded once, without floating point.

use super::{Measure, Metric, Sums, metric::get};
use crate::model::money::write_decimal;

/// The decimals of revenue (USD, from micro-USD), ecpm and rates.
const DECIMALS: u8 = 6;

/// A metric of a row, rounded half away from zero to the decimals of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The number in units of 10^-`decimals`.
    units: i128,
    decimals: u8,
}

impl Number {
    /// A metric of a row with these sums; 0 if it divides by 0.
    pub fn of(metric: Metric, sums: &Sums) -> Self {
        let Some(ratio) = metric.ratio() else {
            let measure = metric.measures().next().unwrap_or(Measure::Revenue);
            return Self {
                units: i128::from(get(sums, measure)),
                decimals: if measure == Measure::Revenue { DECIMALS } else { 0 },
            };
        };
        let (over, under) = (get(sums, ratio.numerator), get(sums, ratio.denominator));
        Self { units: quotient(over, ratio.factor, under), decimals: DECIMALS }
    }

    /// True if a JSON row omits the number. docs/SPEC.md, "Report response".
    pub fn is_zero(self) -> bool {
        self.units == 0
    }

    /// Writes a JSON number without exponent and trailing zeros.
    pub fn write(self, out: &mut String) {
        write_decimal(out, self.units, self.decimals);
    }
}

/// `over × factor ÷ under`, rounded half away from zero; 0 if `under` is 0.
fn quotient(over: i64, factor: i64, under: i64) -> i128 {
    if under == 0 {
        return 0;
    }
    let negative = (over < 0) != (under < 0);
    let (over, factor, under) = (over.unsigned_abs(), factor.unsigned_abs(), under.unsigned_abs());
    // The usual case: the product fits 64 bits for sums below 10^13, or 10^16 for revenue.
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

/// True if the remainder is at least half of the divisor.
fn rounds_up(rest: u64, divisor: u64) -> bool {
    rest >= divisor - rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(metric: Metric, sums: Sums) -> String {
        let mut text = String::new();
        Number::of(metric, &sums).write(&mut text);
        text
    }

    #[test]
    fn the_formulas_are_the_documented_ones() {
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
            assert_eq!(text(Metric::parse(name).unwrap(), sums), expected, "{name}");
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
            let ecpm = text(Metric::Ecpm, [0, 0, impressions, 0, revenue]);
            assert_eq!(ecpm, expected, "{revenue} {impressions}");
        }
        assert_eq!(text(Metric::Sum(Measure::Revenue), [0, 0, 0, 0, -1]), "-0.000001");
        assert_eq!(text(Metric::FillRate, [3, 7, 0, 0, 0]), "2.333333");
    }

    #[test]
    fn a_number_that_rounds_to_zero_is_zero() {
        assert!(Number::of(Metric::ClickRate, &[0, 0, 2_000_001, 1, 0]).is_zero());
        assert!(!Number::of(Metric::ClickRate, &[0, 0, 2_000_000, 1, 0]).is_zero());
        assert!(!Number::of(Metric::Sum(Measure::Revenue), &[0, 0, 0, 0, 1]).is_zero());
        for metric in Metric::ALL {
            assert!(Number::of(metric, &[0; 5]).is_zero(), "{metric:?}");
        }
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
            let rounded = quotient(over, factor, under);
            let (over, under) = (i128::from(over) * i128::from(factor), i128::from(under));
            if under == 0 {
                prop_assert_eq!(rounded, 0);
            } else {
                let error = 2 * (rounded * under - over).abs();
                prop_assert!(error <= under.abs());
                // A half is rounded away from zero.
                prop_assert!(error < under.abs() || (rounded * under).abs() > over.abs());
            }
        }
    }
}
