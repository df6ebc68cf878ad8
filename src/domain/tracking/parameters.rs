//! Parses and checks the click parameters in a raw query string (docs/SPEC.md, "Click parameters"). This runs on every
//! click, so it walks the query once and copies a value only if it is percent-encoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::alphabet;
use crate::model::{
    ApiError,
    api_error::common::MISSING_FIELD,
    ascii_split,
    placeholders::{
        begins_with_hex, has_macro, is_blank, is_macro, is_no_device, is_nobody, is_none, trim, without_amp,
    },
};

/// The answer to a malformed `user_id`.
pub const INVALID_USER_ID: ApiError =
    ApiError::new(400, "invalid_user_id", "user_id must be 1 to 128 characters of A-Z, a-z, 0-9 and _ @ - .");
/// The answer to a malformed `c1`, `c2`, `c3`, `c4` or `c5`.
pub const INVALID_CUSTOM_PARAMETER: ApiError = ApiError::new(
    400,
    "invalid_custom_parameter",
    "c1 to c5 must be at most 256 characters of A-Z, a-z, 0-9 and _ @ - . each, and 768 together",
);
/// The answer to any other faulty parameter. The message names the parameter.
pub const INVALID_PARAMETER: ApiError = ApiError::new(400, "invalid_parameter", "a parameter is not valid");

/// The longest `user_id`, in characters.
pub const MAX_USER_ID: usize = 128;
/// Maximum characters of each of `c1` to `c5`: the click ids of large networks have up to 250.
pub const MAX_CUSTOM: usize = 256;
/// Maximum characters of `c1` to `c5` together: three values of the maximum length.
pub const MAX_CUSTOM_TOTAL: usize = 768;
/// The longest `gaid`, `idfa` and `placement`, in characters.
pub const MAX_LABEL: usize = 64;
/// Maximum characters of a placeholder that an error repeats.
const MAX_SHOWN: usize = 40;

/// The parameters that a click may carry. All others are ignored.
pub const NAMES: [&str; 11] = ["rid", "app", "user_id", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "placement"];

/// Click parameters whose form is valid. The caller still has to look up the goal and the app. No text is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickParameters<'a> {
    /// The goal's id. It may be any text, since a malformed id is answered like an unknown one.
    pub rid: Cow<'a, str>,
    /// The app's id. It may be any text, as for `rid`.
    pub app: Cow<'a, str>,
    /// The publisher's identifier of the user, 1 to 128 characters.
    pub user_id: Cow<'a, str>,
    /// The Android advertising identifier; `None` also for an invalid text.
    pub gaid: Option<Cow<'a, str>>,
    /// The iOS advertising identifier; `None` also for an invalid text.
    pub idfa: Option<Cow<'a, str>>,
    /// `c1` to `c5`, in this order.
    pub custom: [Option<Cow<'a, str>>; 5],
    /// The spot in the app, at most 64 characters.
    pub placement: Option<Cow<'a, str>>,
}

/// True if a text is a valid `user_id` of a click.
pub fn is_user_id(text: &str) -> bool {
    is_allowed(text, MAX_USER_ID) && !is_macro(text) && !is_nobody(text)
}

impl<'a> ClickParameters<'a> {
    /// Parses a raw query string without the `?`.
    ///
    /// Returns the first fault in this order: repeated parameters and bad percent-encoding, from left to right; then
    /// `rid`, `app`, `user_id`, `c1` to `c5`, `placement`.
    pub fn parse(query: &'a str) -> Result<Self, ApiError> {
        let [rid, app, user_id, gaid, idfa, c1, c2, c3, c4, c5, placement] = scan(query, &NAMES)?;
        let rid = required("rid", rid)?;
        let app = required("app", app)?;
        let user_id = required("user_id", user_id)?;
        if !is_user_id(&user_id) {
            return Err(refuse_user_id(&user_id));
        }
        // A word for "none" with characters that are not allowed, such as `n/a`, cannot be a value. Other such words,
        // for example `null`, could be a value and are kept.
        let is_absent = |text: &str| has_macro(text) || (is_none(text) && !alphabet::contains_all(text));
        let custom = [c1, c2, c3, c4, c5].map(|text| present(text).filter(|text| !is_absent(text)));
        let texts = custom.iter().map(|text| text.as_deref().unwrap_or_default());
        for (number, text) in (1..).zip(texts.clone()) {
            if !is_allowed(text, MAX_CUSTOM) {
                return Err(INVALID_CUSTOM_PARAMETER.with_message(format!(
                    "c{number} must be at most {MAX_CUSTOM} characters of A-Z, a-z, 0-9 and _ @ - ."
                )));
            }
        }
        if texts.map(str::len).sum::<usize>() > MAX_CUSTOM_TOTAL {
            return Err(INVALID_CUSTOM_PARAMETER
                .with_message(format!("c1 to c5 must be at most {MAX_CUSTOM_TOTAL} characters together")));
        }
        let (gaid, idfa) = (device_id(gaid), device_id(idfa));
        let placement = present(placement).filter(|text| !has_macro(text) && !is_none(text));
        if placement.as_ref().is_some_and(|text| !is_allowed(text, MAX_LABEL)) {
            return Err(INVALID_PARAMETER.with_message(format!(
                "placement must be at most {MAX_LABEL} characters of A-Z, a-z, 0-9 and _ @ - ."
            )));
        }
        Ok(Self { rid, app, user_id, gaid, idfa, custom, placement })
    }
}

/// The decoded value of each parameter, or `None` if the query does not have it.
pub(super) fn scan<'q, const N: usize>(
    query: &'q str,
    names: &[&str; N],
) -> Result<[Option<Cow<'q, str>>; N], ApiError> {
    let mut values = [const { None }; N];
    for pair in ascii_split::split_all(query, b'&') {
        let (name, value) = ascii_split::split_once(pair, b'=').unwrap_or((pair, ""));
        // An undecodable name may stand for a known name, so it is an error and is not ignored.
        let name = decode(name).ok_or_else(|| badly_encoded("the name of a parameter"))?;
        let name = without_amp(&name);
        let Some((known, slot)) = names.iter().zip(&mut values).find(|(known, _)| **known == name) else {
            continue;
        };
        if slot.is_some() {
            return Err(INVALID_PARAMETER.with_message(format!("{known} is given more than once")));
        }
        // A macro between percent signs cannot be percent-decoded.
        let left_in = || is_macro(value).then_some(Cow::Borrowed(value));
        // An undecodable device identifier counts as absent, so that it does not prevent the redirect.
        let no_device = || ["gaid", "idfa"].contains(known).then_some(Cow::Borrowed(""));
        *slot = Some(decode(value).or_else(left_in).or_else(no_device).ok_or_else(|| badly_encoded(known))?);
    }
    Ok(values)
}

/// The refusal of a text that cannot be decoded. `what` names the text.
pub(crate) fn badly_encoded(what: &str) -> ApiError {
    INVALID_PARAMETER.with_message(format!("{what} is not valid percent-encoded UTF-8"))
}

/// Percent-decodes a text. `None` if a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8. A `+`
/// stays a `+`.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.as_bytes().contains(&b'%') {
        return Some(Cow::Borrowed(text));
    }
    if text.split('%').skip(1).all(begins_with_hex) { percent_decode_str(text).decode_utf8().ok() } else { None }
}

fn required<'a>(name: &str, value: Option<Cow<'a, str>>) -> Result<Cow<'a, str>, ApiError> {
    present(value).ok_or_else(|| MISSING_FIELD.with_message(format!("{name} is required")))
}

/// The identifier of a device. An invalid identifier counts as absent and does not prevent the redirect: for a device
/// without an identifier, many apps send a placeholder or a word for "none".
fn device_id(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let is_id = |text: &str| is_allowed(text, MAX_LABEL) && !text.as_bytes().contains(&b'@') && !is_no_device(text);
    // In form encoding, a `+` is a blank.
    let is_blank_or_plus = |char: char| is_blank(char) || char == '+';
    value.map(|text| trim(text, is_blank_or_plus)).filter(|text| is_id(text))
}

/// The refusal of an invalid `user_id`, which is required because it decides who is paid. If a placeholder was not
/// replaced, the message shows it.
#[cold]
fn refuse_user_id(found: &str) -> ApiError {
    let shown: String = found.chars().take(MAX_SHOWN).collect();
    if !is_nobody(found) && !is_macro(found) && !found.contains(['{', '}']) {
        return INVALID_USER_ID;
    }
    INVALID_USER_ID
        .with_message(format!("user_id still contains the placeholder {shown}; replace it with the user's identifier"))
}

/// A value without surrounding blanks. An empty value counts as absent.
pub(super) fn present(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let trimmed = value.map(|text| trim(text, is_blank));
    trimmed.filter(|text| !text.is_empty())
}

fn is_allowed(text: &str, longest: usize) -> bool {
    text.len() <= longest && alphabet::contains_all(text)
}

#[cfg(test)]
mod tests;
