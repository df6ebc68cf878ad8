//! Parses the numbers of facts exactly, without floating point.

use super::fact::Format;
use crate::reporting::metric::MAX_OF_A_DAY;

/// Parses a count: only digits, at most [`MAX_OF_A_DAY`]. Both formats write whole numbers in the same way.
pub fn count(text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    text.bytes()
        .try_fold(0_i64, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        })
        .filter(|number| *number <= MAX_OF_A_DAY)
}

/// Parses USD as micro-USD: at most 6 decimals, not counting trailing zeros, and at most [`MAX_OF_A_DAY`] in magnitude.
/// A number in JSON may have an exponent.
pub fn micro_usd(text: &str, format: Format) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (number, exponent) = match (format, text.split_once(['e', 'E'])) {
        (Format::Ndjson, Some((number, exponent))) => (number, self::exponent(exponent)?),
        _ => (text, 0),
    };
    let (whole, decimals) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some(halves) => halves,
        None => (number, ""),
    };
    if whole.is_empty() {
        return None;
    }
    // The digits without leading and trailing zeros, so that zeros cannot overflow.
    let (mut digits, mut zeros) = (0_i64, 0_u32);
    for digit in whole.bytes().chain(decimals.bytes()) {
        match digit {
            b'0' if digits == 0 => {}
            b'0' => zeros += 1,
            b'1'..=b'9' => {
                digits = times_ten_to(digits, zeros + 1)?.checked_add(i64::from(digit - b'0'))?;
                zeros = 0;
            }
            _ => return None,
        }
    }
    if digits == 0 {
        return Some(0);
    }
    // A line is short, so `zeros` and `decimals` are small. Only the exponent can be large.
    let shift = exponent.saturating_add(i64::from(zeros) + 6).saturating_sub(i64::try_from(decimals.len()).ok()?);
    // A negative shift means that there is a seventh decimal.
    let micros = times_ten_to(digits, u32::try_from(shift).ok()?)?;
    (micros <= MAX_OF_A_DAY).then_some(if negative { -micros } else { micros })
}

fn times_ten_to(number: i64, power: u32) -> Option<i64> {
    number.checked_mul(10_i64.checked_pow(power)?)
}

/// Parses a JSON exponent. An exponent beyond an `i64` saturates.
fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let size = digits.bytes().try_fold(0_i64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })?;
    Some(if text.starts_with('-') { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: &str = "9007199254740992";

    #[test]
    fn a_count_is_digits_and_nothing_else() {
        for (text, number) in [("0", 0), ("007", 7), ("12", 12), (MAX, MAX_OF_A_DAY)] {
            assert_eq!(count(text), Some(number), "{text}");
        }
        let malformed = ["", "-1", "+1", "1.0", "1e3", " 1", "1 ", "1,000", "1_000", "٣"];
        let above = ["9007199254740993", "9223372036854775808", "99999999999999999999999"];
        for bad in malformed.into_iter().chain(above) {
            assert_eq!(count(bad), None, "{bad}");
        }
    }

    #[test]
    fn revenue_is_read_exactly_or_refused() {
        for (text, micros) in [
            ("0", 0),
            ("-0", 0),
            ("0.000000000000000000000000000000", 0),
            ("00000000000000000000000000001.5", 1_500_000),
            ("1.1", 1_100_000),
            ("-0.000001", -1),
            ("10", 10_000_000),
            ("0.1000000000000000000000000000", 100_000),
            ("9007199254.740992", MAX_OF_A_DAY),
            ("-9007199254.740992", -MAX_OF_A_DAY),
        ] {
            for format in [Format::Csv, Format::Ndjson] {
                assert_eq!(micro_usd(text, format), Some(micros), "{text}");
            }
        }
        let malformed = [
            "", "-", "+1", "--1", ".5", "5.", ".", "1.2.3", "1,5", "$1", " 1", "1 ", "NaN", "inf", "0x1", "1e", "1e+",
            "e1", "1e1.5",
        ];
        let beyond = [
            "0.0000001",
            "1.0000001",
            "9007199254.740993",
            "-9007199254.740993",
            "99999999999999999999999999999999",
            "1e400",
            "1e-400",
            "1e99999999999999999999999",
            "1e-99999999999999999999999",
        ];
        for bad in malformed.into_iter().chain(beyond) {
            for format in [Format::Csv, Format::Ndjson] {
                assert_eq!(micro_usd(bad, format), None, "{bad}");
            }
        }
    }

    #[test]
    fn only_json_has_exponents() {
        for (text, micros) in [
            ("1e-6", 1),
            ("-1.5E2", -150_000_000),
            ("1000000e-12", 1),
            ("0e99999999999999999999999", 0),
            ("0.00000000000000000000000000001e29", 1_000_000),
            ("100000000000000000000000000000e-29", 1_000_000),
        ] {
            assert_eq!(micro_usd(text, Format::Ndjson), Some(micros), "{text}");
            assert_eq!(micro_usd(text, Format::Csv), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_is_the_same_however_it_is_written(micros in -MAX_OF_A_DAY..=MAX_OF_A_DAY, zeros in 0..30_usize) {
            let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
            let (padding, length) = ("0".repeat(zeros), size.to_string().len());
            let plain = format!("{sign}{}.{:06}{padding}", size / 1_000_000, size % 1_000_000);
            prop_assert_eq!(micro_usd(&plain, Format::Csv), Some(micros));
            prop_assert_eq!(micro_usd(&plain, Format::Ndjson), Some(micros));
            let to_the_left = format!("{sign}{size}{padding}e-{}", zeros + 6);
            prop_assert_eq!(micro_usd(&to_the_left, Format::Ndjson), Some(micros), "{}", to_the_left);
            let to_the_right = format!("{sign}0.{padding}{size}E{:+}", (length + zeros) as i64 - 6);
            prop_assert_eq!(micro_usd(&to_the_right, Format::Ndjson), Some(micros), "{}", to_the_right);
        }

        #[test]
        fn revenue_in_json_is_read_as_serde_reads_it(text in "-?[0-9]{0,12}(\\.[0-9]{0,8})?([eE][-+]?[0-9]{0,2})?") {
            if let (Some(micros), Ok(number)) = (
                micro_usd(&text, Format::Ndjson),
                serde_json::from_str::<f64>(&text),
            ) {
                prop_assert_eq!(micros as f64 / 1e6, number, "{}", text);
            }
        }
    }
}
