//! Money: amounts in USD and in an app's currency. USD amounts are integers of micro-USD (1 USD = 1,000,000) and have
//! at most 6 decimals in JSON. A double occurs only where JSON is parsed or written.

use std::fmt::Write;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// One dollar, or a rate of one unit per dollar, in millionths.
const MICROS: i64 = 1_000_000;

/// An amount in micro-USD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroUsd(pub i64);

impl MicroUsd {
    /// The largest payout of a goal: 1,000,000 USD. The sum of an offer's 50 goals stays far below 2^53, the largest
    /// integer that passes through a Durable Object's SQLite.
    pub const MAX_PAYOUT: Self = Self(1_000_000 * MICROS);

    /// Writes a JSON number in USD: at most 6 decimals, no exponent, no trailing zeros.
    pub fn write_usd(self, out: &mut String) {
        write_decimal(out, i128::from(self.0), 6);
    }
}

impl Serialize for MicroUsd {
    /// Writes the amount in USD, as operators write it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_micros(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for MicroUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        micros(number)
            .map(Self)
            .filter(|amount| (Self(0)..=Self::MAX_PAYOUT).contains(amount))
            .ok_or_else(|| D::Error::custom("must be from 0 to 1000000 USD with at most 6 decimals"))
    }
}

/// An app's currency: its rate to the dollar, and the rounding of amounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrencyRate {
    /// The publisher's name for the currency, the `cur` of `inapp_pyt`.
    pub name: String,
    /// Units per USD.
    pub per_usd: PerUsd,
    /// Decimals of an amount, 0 to 6.
    #[serde(default)]
    pub decimals: u8,
    /// The rounding of amounts; down if absent.
    #[serde(default)]
    pub rounding: Rounding,
}

/// A rate in millionths of a unit per USD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerUsd(pub i64);

impl Serialize for PerUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_micros(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for PerUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        micros(number)
            .filter(|&rate| rate > 0 && rate <= 1_000_000_000 * MICROS)
            .map(Self)
            .ok_or_else(|| D::Error::custom("must be above 0 and at most 1000000000, with at most 6 decimals"))
    }
}

/// How an amount in an app's currency is rounded to its decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    /// Towards zero, since payouts are not negative.
    #[default]
    Down,
    /// To the next higher unit of the last decimal.
    Up,
    /// To the nearest, with halves rounded up.
    Nearest,
}

/// An amount in an app's currency, in units of its last decimal (with 2 decimals, 1234 is 12.34).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InAppAmount(pub i128);

impl CurrencyRate {
    /// A payout in the app's currency: payout × rate, rounded by the app's setting (docs/DECISIONS.md, "Offers").
    pub fn convert(&self, payout: MicroUsd) -> InAppAmount {
        // micro-USD × micro-units has 12 decimals. The largest product, 10^12 × 10^15, is far below an i128's limit.
        let exact = i128::from(payout.0).saturating_mul(i128::from(self.per_usd.0));
        let step = 10_i128.pow(12_u32.saturating_sub(u32::from(self.decimals)));
        let (whole, rest) = (exact.div_euclid(step), exact.rem_euclid(step));
        let up = match self.rounding {
            Rounding::Down => false,
            Rounding::Up => rest > 0,
            Rounding::Nearest => rest.saturating_mul(2) >= step,
        };
        InAppAmount(whole.saturating_add(i128::from(up)))
    }

    /// Writes an amount of this currency as a JSON number, without exponent and trailing zeros.
    pub fn write_amount(&self, out: &mut String, amount: InAppAmount) {
        write_decimal(out, amount.0, self.decimals);
    }
}

/// Converts a JSON number to millionths; `None` if it has more than 6 decimals or is out of range.
fn micros(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    let scaled = (number * 1e6).round();
    // A decimal of at most 6 places parses to the double nearest to `scaled / 10^6`, and IEEE division gives the same
    // double. Any other number differs, so the comparison is exact and needs no tolerance.
    #[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "within 2^53, and exact by design")]
    (scaled.abs() < EXACT && scaled / 1e6 == number).then_some(scaled as i64)
}

fn serialize_micros<S: Serializer>(micros: i64, serializer: S) -> Result<S::Ok, S::Error> {
    if micros % MICROS == 0 {
        serializer.serialize_i64(micros / MICROS)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "below 2^53, see `micros`")]
        serializer.serialize_f64(micros as f64 / 1e6)
    }
}

/// Maximum decimals of a written number. With more, its fraction would not fit a `u32`.
const MAX_DECIMALS: u8 = 9;

/// Writes `units` of 10^-`decimals` as a decimal number without exponent and trailing zeros. `decimals` is at most
/// [`MAX_DECIMALS`].
///
/// A report calls this for every number of every row. So all but the largest numbers avoid 128-bit division and
/// formatting. Digits are taken from a `u32`, the only width at which Wasm divides by ten with a multiplication.
pub(crate) fn write_decimal(out: &mut String, units: i128, decimals: u8) {
    let decimals = decimals.min(MAX_DECIMALS);
    let Ok(size) = u64::try_from(units.unsigned_abs()) else {
        return write_large(out, units, decimals);
    };
    let (mut whole, fraction) = match decimals {
        0 => (size, 0),
        6 => (size / 1_000_000, size % 1_000_000),
        _ => {
            let one = 10_u64.pow(u32::from(decimals));
            (size / one, size % one)
        }
    };

    // Filled from the last character to the first: at most 20 digits of a u64, a point and a sign.
    let mut text = [0; 24];
    let mut start = text.len();
    let mut put = |character: u8| {
        start -= 1;
        if let Some(slot) = text.get_mut(start) {
            *slot = character;
        }
    };
    let digit = |number: u32| b'0' + u8::try_from(number % 10).unwrap_or(0);
    let mut fraction = u32::try_from(fraction).unwrap_or(0);
    if fraction > 0 {
        let mut width = decimals;
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            width -= 1;
        }
        for _ in 0..width {
            put(digit(fraction));
            fraction /= 10;
        }
        put(b'.');
    }
    let mut whole = loop {
        match u32::try_from(whole) {
            Ok(whole) => break whole,
            Err(_) => put(b'0' + u8::try_from(whole % 10).unwrap_or(0)),
        }
        whole /= 10;
    };
    loop {
        put(digit(whole));
        whole /= 10;
        if whole == 0 {
            break;
        }
    }
    if units < 0 {
        put(b'-');
    }
    if let Some(Ok(text)) = text.get(start..).map(str::from_utf8) {
        out.push_str(text);
    }
}

/// [`write_decimal`] for numbers beyond 64 bits.
#[cold]
fn write_large(out: &mut String, units: i128, decimals: u8) {
    let one = 10_u128.pow(u32::from(decimals));
    let (whole, fraction) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    let sign = if units < 0 { "-" } else { "" };
    // Writing to a String cannot fail.
    let _ = write!(out, "{sign}{whole}");
    if fraction > 0 {
        let digits = format!("{fraction:0width$}", width = usize::from(decimals));
        let _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usd(text: &str) -> Result<MicroUsd, serde_json::Error> {
        serde_json::from_str(text)
    }

    fn rate(per_usd: f64, decimals: u8, rounding: Rounding) -> CurrencyRate {
        CurrencyRate { name: "Coins".into(), per_usd: PerUsd(micros(per_usd).unwrap()), decimals, rounding }
    }

    fn converted(payout: &str, rate: &CurrencyRate) -> String {
        let mut out = String::new();
        rate.write_amount(&mut out, rate.convert(usd(payout).unwrap()));
        out
    }

    #[test]
    fn usd_amounts_are_parsed_exactly_or_refused() {
        assert_eq!(usd("0.1").unwrap(), MicroUsd(100_000));
        assert_eq!(usd("1234.567891").unwrap(), MicroUsd(1_234_567_891));
        assert_eq!(usd("0").unwrap(), MicroUsd(0));
        assert_eq!(usd("1000000").unwrap(), MicroUsd::MAX_PAYOUT);
        for bad in ["0.0000001", "1.2345678", "-0.5", "1000000.000001", "1e400", "\"1\"", "null"] {
            assert!(usd(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_rate_is_above_0_and_at_most_a_billion_with_6_decimals() {
        for (text, rate) in [("0.000001", 1), ("42.5", 42_500_000), ("1000000000", 1_000_000_000_000_000)] {
            assert_eq!(serde_json::from_str::<PerUsd>(text).unwrap(), PerUsd(rate), "{text}");
        }
        for bad in ["0", "-1", "0.0000001", "1000000000.000001", "2000000000", "1e300"] {
            assert!(serde_json::from_str::<PerUsd>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_number_is_exact_below_2_to_the_53() {
        assert_eq!(micros(8_000_000_000.000_001), Some(8_000_000_000_000_001));
        assert_eq!(micros(9_007_199_254.740_992), None);
        assert_eq!(micros(-9_007_199_254.740_992), None);
    }

    #[test]
    fn whole_amounts_are_serialised_without_a_point() {
        for (micro_usd, text) in
            [(0, "0"), (1, "1e-6"), (500_000, "0.5"), (1_000_000, "1"), (12_000_000, "12"), (12_500_000, "12.5")]
        {
            assert_eq!(serde_json::to_string(&MicroUsd(micro_usd)).unwrap(), text);
            assert_eq!(serde_json::to_string(&PerUsd(micro_usd)).unwrap(), text);
        }
    }

    #[test]
    fn in_app_amounts_follow_the_apps_decimals_and_rounding() {
        assert_eq!(converted("1.2345", &rate(1000.0, 0, Rounding::Down)), "1234");
        assert_eq!(converted("1.2345", &rate(1000.0, 0, Rounding::Up)), "1235");
        assert_eq!(converted("1.2345", &rate(1000.0, 0, Rounding::Nearest)), "1235");
        assert_eq!(converted("1.2344", &rate(1000.0, 0, Rounding::Nearest)), "1234");
        assert_eq!(converted("0.75", &rate(42.5, 2, Rounding::Nearest)), "31.88");
        assert_eq!(converted("0.75", &rate(42.5, 2, Rounding::Down)), "31.87");
        assert_eq!(converted("0.8", &rate(42.5, 2, Rounding::Down)), "34");
        assert_eq!(converted("0", &rate(1000.0, 0, Rounding::Up)), "0");
    }

    /// The reference for [`write_decimal`], with the standard library's formatting.
    fn naive_decimal(units: i128, decimals: u8) -> String {
        let (one, width) = (10_u128.pow(decimals.into()), usize::from(decimals));
        let (whole, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
        let sign = if units < 0 { "-" } else { "" };
        let text = format!("{sign}{whole}.{rest:0width$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    #[test]
    fn numbers_at_the_limits_of_integer_widths_are_written_exactly() {
        let edges = [0, 1, 9, 10, 999_999_999, 1_000_000_000, 10_i128.pow(18), i128::MAX, i128::MIN + 1];
        let widths = [1 << 32, 1 << 64, i128::from(i64::MAX)];
        let near = widths.iter().flat_map(|width| [width - 1, *width, width + 1]);
        for units in edges.into_iter().chain(near).flat_map(|units| [units, -units]) {
            for decimals in [0, 2, 6, 9] {
                let mut text = String::new();
                write_decimal(&mut text, units, decimals);
                assert_eq!(text, naive_decimal(units, decimals), "{units} {decimals}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_number_is_written_exactly(units: i128, shift in 0..128_u32, decimals in 0..=9_u8) {
            let mut text = String::from("x");
            write_decimal(&mut text, units >> shift, decimals);
            prop_assert_eq!(text, format!("x{}", naive_decimal(units >> shift, decimals)));
        }

        #[test]
        fn any_amount_of_six_decimals_round_trips_through_json(micro_usd in 0..=MicroUsd::MAX_PAYOUT.0) {
            let mut text = String::new();
            MicroUsd(micro_usd).write_usd(&mut text);
            prop_assert_eq!(usd(&text).unwrap(), MicroUsd(micro_usd));
            let round_trip = serde_json::to_string(&MicroUsd(micro_usd)).unwrap();
            prop_assert_eq!(usd(&round_trip).unwrap(), MicroUsd(micro_usd));
        }
    }
}
