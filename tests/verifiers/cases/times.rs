//! Cases of validly signed requests that are read too late or too early.

use super::{Check, one_signed, plain_get, query};
use crate::random::Random;
use domain::callbacks::signature::{Secret, query_signature};

/// Requests with valid signatures, sent at `now` and read earlier or later, also years. Then queries with valid signatures
/// whose `ts` is missing, is no time, or stands first.
pub fn times(random: &mut Random, now: i64) -> Vec<Check> {
    const YEAR: i64 = 365 * 86_400;
    let mut checks = Vec::new();
    for kind in 0..8 {
        let signed = one_signed(random, kind, now);
        for late in [0, 300, -300, 301, -301, 25 * YEAR, -25 * YEAR] {
            let (read, good) = (now + late, late.abs() <= 300);
            let by_headers = (0..signed.secrets.len()).map(|index| signed.headers(index, read));
            checks.extend(by_headers.map(|case| Check::new(case, good)));
            if signed.request.body.is_none() {
                checks.push(Check::new(query(&signed, signed.query().to_owned(), read), good));
            }
        }
    }
    let signed = plain_get(random, now);
    let secret = Secret::parse(&signed.secrets[0]).unwrap();
    for (before, good) in [
        (format!("ts={now}"), true),
        (format!("ts={now}&token=t"), true),
        (format!("user_id=u&ts={now}"), true),
        ("user_id=u".to_owned(), false),
        ("user_id=u&ts=".to_owned(), false),
        ("user_id=u&ts=now".to_owned(), false),
        ("user_id=u&ts=-1".to_owned(), false),
        ("user_id=u&ts=99999999999999999999".to_owned(), false),
        (format!("user_id=u&its={now}"), false),
        (format!("user_id=u&ts={now}x"), false),
        (format!("user_id=u&ts=1000000000&c1=ts={now}"), false),
    ] {
        let signature = query_signature(&secret, &before);
        let text = format!("{before}&{}={signature}", signed.name);
        checks.push(Check::new(query(&signed, text, now), good));
    }
    checks
}
