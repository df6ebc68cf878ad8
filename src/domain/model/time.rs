//! UTC days, and dates as text. Every instant in Signpost is an `i64` of milliseconds since the Unix epoch and is
//! passed as an argument, since Wasm has no clock of its own and tests must control the time.

use std::{
    fmt,
    time::{Duration, UNIX_EPOCH},
};

use chrono::{DateTime, Days, NaiveDate, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A second in milliseconds.
pub const SECOND_MS: i64 = 1_000;
/// A minute in milliseconds.
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
/// An hour in milliseconds.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// A UTC day in milliseconds. UNIX time has no leap seconds.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// The last second of the year 9999, in UNIX seconds: the latest time that an operator may set.
pub const LATEST_S: i64 = 253_402_300_799;

/// A calendar day in UTC, as a number of days since 1970-01-01. Caps and counts are per day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDay(i32);

impl UtcDay {
    /// The day of an instant.
    pub fn of_ms(now_ms: i64) -> Self {
        // An i64 of milliseconds spans 10^11 days, so the day of a clock that is far off may exceed an i32.
        Self(i32::try_from(now_ms.div_euclid(DAY_MS)).unwrap_or(i32::MAX))
    }

    /// The inverse of [`UtcDay::number`].
    pub fn from_number(days: i64) -> Option<Self> {
        i32::try_from(days).ok().map(Self)
    }

    /// Parses exactly `YYYY-MM-DD`, a valid date of the years 0000 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
            return None;
        };
        let number = |digits: &[u8]| {
            digits
                .iter()
                .try_fold(0_u32, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
        };
        let year = i32::try_from(number(&[y1, y2, y3, y4])?).ok()?;
        let date = NaiveDate::from_ymd_opt(year, number(&[m1, m2])?, number(&[d1, d2])?)?;
        Some(Self(date.to_epoch_days()))
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }

    /// 00:00 UTC of this day, in milliseconds since the epoch.
    pub fn start_ms(self) -> i64 {
        self.number().saturating_mul(DAY_MS)
    }

    /// The day `days` before this one.
    pub fn minus(self, days: i32) -> Self {
        Self(self.0.saturating_sub(days))
    }
}

/// In JSON, a day is its number.
impl Serialize for UtcDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

impl<'de> Deserialize<'de> for UtcDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let days = i64::deserialize(deserializer)?;
        Self::from_number(days).ok_or_else(|| D::Error::custom(format_args!("day number {days} is out of range")))
    }
}

impl fmt::Display for UtcDay {
    /// `YYYY-MM-DD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epoch = NaiveDate::default();
        let date = match u64::try_from(self.0) {
            Ok(days) => epoch.checked_add_days(Days::new(days)),
            Err(_) => epoch.checked_sub_days(Days::new(u64::from(self.0.unsigned_abs()))),
        };
        match date {
            Some(date) => write!(f, "{date}"),
            None => write!(f, "day {}", self.0),
        }
    }
}

/// The next time after `now_ms` for objects' daily work: 01:00 UTC, which avoids the hour in which all caps reset.
pub fn next_night_ms(now_ms: i64) -> i64 {
    let today = UtcDay::of_ms(now_ms.saturating_sub(HOUR_MS));
    today.minus(-1).start_ms().saturating_add(HOUR_MS)
}

/// Formats an instant as in RFC 3339, in UTC and whole seconds.
pub fn rfc_3339(now_ms: i64) -> String {
    let instant = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    instant.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Parses an RFC 3339 instant to milliseconds since the Unix epoch.
pub fn parse_rfc_3339(text: &str) -> Option<i64> {
    let instant = DateTime::parse_from_rfc3339(text).ok()?;
    Some(instant.timestamp_millis())
}

/// Formats an instant from 1970 to 9999 as an HTTP date (RFC 9110 section 5.6.7), for `Last-Modified`.
pub fn http_date(now_ms: i64) -> String {
    let seconds = now_ms.div_euclid(SECOND_MS).clamp(0, LATEST_S);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs()))
}

/// Parses an HTTP date from 1970 to 9999, in any of its three formats, to milliseconds since the Unix epoch.
pub fn parse_http_date(text: &str) -> Option<i64> {
    let instant = httpdate::parse_http_date(text).ok()?;
    let since_epoch = instant.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_epoch.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_utc() {
        let midnight = 20_000 * DAY_MS;
        assert_eq!(UtcDay::of_ms(midnight).number(), 20_000);
        assert_eq!(UtcDay::of_ms(midnight - 1).number(), 19_999);
        assert_eq!(UtcDay::of_ms(-1).number(), -1);
        assert_eq!(UtcDay::of_ms(midnight).to_string(), "2024-10-04");
        assert_eq!(UtcDay::of_ms(-1).to_string(), "1969-12-31");
    }

    #[test]
    fn only_dates_of_the_calendar_are_parsed() {
        for date in ["1970-01-01", "2026-11-21", "2024-02-29", "1969-12-31", "0000-01-01", "9999-12-31"] {
            let day = UtcDay::parse(date).map(|day| day.to_string());
            assert_eq!(day.as_deref(), Some(date));
        }
        for bad in [
            "2026-02-29",
            "2026-2-3",
            "2026-13-01",
            "2026-00-10",
            "26-01-01",
            "2026/01/01",
            "2026-01-01 ",
            "+026-01-01",
            "2026-01-0a",
            "",
            "２026-1-1",
        ] {
            assert_eq!(UtcDay::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn instants_are_formatted_as_in_the_rfcs_examples() {
        assert_eq!(rfc_3339(784_111_777_999), "1994-11-06T08:49:37Z");
        assert_eq!(parse_rfc_3339("1994-11-06T09:49:37.5+01:00"), Some(784_111_777_500));
        assert_eq!(parse_rfc_3339("1994-11-06"), None);
        assert_eq!(http_date(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn an_http_date_is_parsed_in_its_three_formats() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(parse_http_date(date), Some(784_111_777_000), "{date}");
        }
        assert_eq!(parse_http_date(&http_date(-1_000)), Some(0));
        assert_eq!(parse_http_date(&http_date(i64::MAX)), Some(LATEST_S * SECOND_MS));
        for bad in [
            "",
            "Sun, 06 Nov 1994",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Wed, 30 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 06 Nov 999999 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, 120",
            "784111777",
        ] {
            assert_eq!(parse_http_date(bad), None, "{bad}");
        }
    }
}
