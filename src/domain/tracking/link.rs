//! Makes the tracking URL of one user, as a publisher's app or backend would. The parameters are checked by the rules
//! of clicks, and the link is signed if the app's clicks must be signed.

use super::{
    parameters::{ClickParameters, INVALID_PARAMETER, NAMES},
    signature::SigningKeys,
};
use crate::model::{ApiError, common, url_template::append_value};

/// True for a parameter that the caller may choose. `rid` and `app` come from the offer and the app.
pub fn is_callers(name: &str) -> bool {
    NAMES.contains(&name) && !matches!(name, "rid" | "app")
}

/// The URL of a click: `base`, which already has `rid` and `app`, with the caller's parameters. With `signing`, it also
/// has a signature that is valid until the given time in UNIX seconds.
///
/// # Errors
/// A click with these parameters would be refused, or would lose a value that means "none".
pub fn tracking_url<'p>(
    base: &str,
    parameters: impl IntoIterator<Item = (&'p str, &'p str)>,
    signing: Option<(&SigningKeys, i64)>,
) -> Result<String, ApiError> {
    let mut url = base.to_owned();
    let callers = parameters.into_iter().filter(|(name, value)| is_callers(name) && !value.is_empty());
    let mut given = 0_usize;
    for (name, value) in callers {
        given += 1;
        url.push('&');
        url.push_str(name);
        url.push('=');
        append_value(value, &mut url);
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let click = ClickParameters::parse(query)?;
    let optional = [&click.gaid, &click.idfa, &click.placement].into_iter().chain(&click.custom);
    // Of the caller's parameters, only `user_id` is required. So each other parameter must have become an optional
    // value; a missing one was ignored as a word for "none" or as invalid.
    if optional.flatten().count() + 1 < given {
        let message = "a value is a placeholder, a word such as null, or an invalid device identifier; omit it";
        return Err(INVALID_PARAMETER.with_message(message));
    }
    if let Some((keys, exp)) = signing {
        let sig = keys.sign(&click, exp).ok_or(common::INTERNAL_ERROR)?;
        url.push_str(&format!("&exp={exp}&sig={sig}"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracking::signature::{ClickSecret, sealed_text};

    const BASE: &str = "https://t.example/v2/tracking/click?rid=g-1&app=10000001";
    const EXP: i64 = 1_800_000_000;

    fn keys(newest: &str, previous: &str) -> SigningKeys {
        let secret = |text: &str| ClickSecret(text.repeat(32));
        SigningKeys::parse(sealed_text(&secret(newest), Some(&secret(previous))).as_bytes()).unwrap()
    }

    fn link(parameters: &[(&str, &str)]) -> Result<String, &'static str> {
        tracking_url(BASE, parameters.iter().copied(), None).map_err(|error| error.code)
    }

    #[test]
    fn a_link_has_what_the_caller_gave_encoded_and_nothing_else() {
        assert_eq!(
            link(&[
                ("user_id", "a@b.c-_"),
                ("c1", ""),
                ("c5", "x"),
                ("placement", "home"),
                ("rid", "g-2"),
                ("sig", "0")
            ]),
            Ok(format!("{BASE}&user_id=a%40b.c-_&c5=x&placement=home"))
        );
        assert_eq!(link(&[]), Err("missing_field"));
        for (name, value, code) in [
            ("user_id", "a&rid=g-2", "invalid_user_id"),
            ("user_id", "{user_id}", "invalid_user_id"),
            ("c1", "a b", "invalid_custom_parameter"),
            ("gaid", "a/b", "invalid_parameter"),
            ("idfa", "00000000-0000-0000-0000-000000000000", "invalid_parameter"),
            ("placement", "{placement}", "invalid_parameter"),
            ("c1", "{sub1}", "invalid_parameter"),
        ] {
            assert_eq!(link(&[("user_id", "u"), (name, value)][usize::from(name == "user_id")..]), Err(code));
        }
    }

    #[test]
    fn a_signed_link_passes_the_check_of_clicks_and_is_made_by_the_newest_secret() {
        let url = tracking_url(BASE, [("user_id", "a@b")], Some((&keys("n", "o"), EXP))).unwrap();
        let query = url.split_once('?').unwrap().1;
        let click = ClickParameters::parse(query).unwrap();
        for (keys, now_ms, expected) in [
            (keys("n", "o"), EXP * 1_000, None),
            (keys("n", "x"), EXP * 1_000, None),
            (keys("x", "n"), EXP * 1_000, None),
            (keys("x", "o"), EXP * 1_000, Some("invalid_signature")),
            (keys("n", "o"), EXP * 1_000 + 1, Some("signature_expired")),
        ] {
            let refused = keys.check(query, &click, now_ms).err().map(|error| error.code);
            assert_eq!(refused, expected);
        }
    }
}
