//! Parses a postback from its query and, for a POST, its form body. Advertisers' partners insert Signpost's URL into
//! their own templates, so a field has many names, and a macro without a value may remain unreplaced.

use std::{array, borrow::Cow};

use super::{state::Status, terms::UNKNOWN_GOAL};
use crate::{
    model::{
        ApiError,
        api_error::common::{MISSING_FIELD, UNAVAILABLE},
        placeholders::{
            decode_lossy, has_any_macro, is_blank, is_macro, is_no_device, is_nobody, is_none, known_name, trim,
            without_amp,
        },
    },
    tracking::{
        OpenError, click_id,
        parameters::{INVALID_PARAMETER, badly_encoded, decode},
    },
};

/// The answer to a postback whose click id is malformed or forged.
pub const INVALID_CLICK_ID: ApiError = ApiError::new(400, "invalid_click_id", "click_id was not issued by Signpost");

/// The answer to a postback for a click of a test app.
pub const TEST_CLICK: ApiError =
    ApiError::new(409, "test_click", "the click belongs to a test app, whose conversions only the test page reports");

impl OpenError {
    /// The answer to a postback whose click id cannot be opened.
    pub fn refusal(self) -> ApiError {
        match self {
            // The key may be new and not deployed at this location yet.
            Self::UnknownKey => {
                UNAVAILABLE.with_message("click_id was sealed with a key that this location does not have yet")
            }
            Self::Malformed | Self::Forged => INVALID_CLICK_ID,
        }
    }
}

/// Number of names for the click id. These names come first in [`NAMES`].
pub(super) const CLICK_ID_NAMES: usize = 7;

/// The parameters that a postback may carry, in any spelling that [`known_name`] accepts. The names of the click id
/// come first, in the order in which they are tried: Signpost's names, then the partners' names. All other parameters
/// are ignored.
pub(super) const NAMES: [&str; 12] = [
    "click_id",
    "clickid",
    "transaction_id",
    "tid",
    "cid",
    "subid",
    "aff_sub",
    "token",
    "goal",
    "txn",
    "status",
    "reason",
];

/// Maximum characters of `goal`: the catalog's maximum for event codes.
pub(super) const MAX_GOAL_CHARS: usize = 200;
/// The longest `reason`, in characters.
pub const MAX_REASON_CHARS: usize = 200;
/// The longest `txn`, in bytes.
const MAX_TXN_BYTES: usize = 128;
/// The length of a UUID without hyphens.
const MIN_UUID: usize = 32;

/// A postback whose form is valid. Keys and the catalog are checked later. No text is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postback<'a> {
    /// A text in the form of a click id. Whether it is genuine is checked later, with the keys.
    pub click_id: Cow<'a, str>,
    /// The advertiser's token.
    pub token: Cow<'a, str>,
    /// The id or the event code of a goal.
    pub goal: Option<Cow<'a, str>>,
    /// The sender's own id of the conversion.
    pub txn: Option<Cow<'a, str>>,
    /// The reported status; approved if the postback has none.
    pub status: Status,
    /// The reason given by the sender.
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Postback<'a> {
    /// Parses a raw query string without the `?`, and the `application/x-www-form-urlencoded` body of a POST. Query and
    /// body count as one list: a sender may put its token in the URL and the rest in the body.
    ///
    /// An empty value and an unreplaced macro count as absent. Exceptions: an unreplaced macro in `goal` or `status` is
    /// an error, because without a value the first goal or an approval would be assumed. A parameter may be repeated
    /// with the same value, for example by a proxy that copies the query into the body, but not with a different value.
    ///
    /// Returns the first fault in this order: repeated parameters and bad percent-encoding, from left to right, query
    /// before body; then the click id, `token`, `goal`, `txn`, `status`.
    pub fn parse(query: &'a str, form: Option<&'a str>) -> Result<Self, ApiError> {
        let (values, unfilled) = scan(query, form)?;
        let [click_ids @ .., token, goal, txn, status, reason] = values;
        let [macros @ .., of_token, _, _, _, _] = unfilled;
        let click_id = choose_click_id(click_ids, macros)?;
        let token = token.ok_or_else(|| missing("token", of_token.as_deref()))?;
        if goal.as_ref().is_some_and(|goal| goal.chars().count() > MAX_GOAL_CHARS) {
            return Err(INVALID_PARAMETER.with_message(format!("goal must be at most {MAX_GOAL_CHARS} characters")));
        }
        if let Some(found) = goal.as_deref()
            && (is_macro(found) || is_nobody(found))
        {
            return Err(UNKNOWN_GOAL.with_message(format!(
                "goal is {found}, which the sender has not filled in; send the goal's id or event code, or omit goal for the first goal"
            )));
        }
        // A `txn` that contains a macro or is zero counts as absent. It would be the same in all conversions, so all
        // but the first would be refused as duplicates.
        let is_zero = |txn: &str| txn == "0" || (txn.len() >= MIN_UUID && is_no_device(txn));
        let txn = txn.filter(|txn| !has_any_macro(txn) && !is_zero(txn));
        if txn.as_ref().is_some_and(|txn| txn.len() > MAX_TXN_BYTES) {
            return Err(INVALID_PARAMETER.with_message(format!("txn must be at most {MAX_TXN_BYTES} bytes")));
        }
        let status = match status {
            None => Status::default(),
            Some(text) => parse_status(&text)?,
        };
        Ok(Self { click_id, token, goal, txn, status, reason: reason.map(shown) })
    }
}

fn parse_status(text: &str) -> Result<Status, ApiError> {
    let found = text.trim();
    Status::parse_any_case(text).ok_or_else(|| {
        let problem = "status must be one of approved, pending, rejected, reversed";
        if is_macro(found) {
            INVALID_PARAMETER.with_message(format!(
                "{problem}, not {found}, which the sender has not filled in; omit status if conversions are always approved"
            ))
        } else {
            INVALID_PARAMETER.with_message(problem)
        }
    })
}

/// A sender's reason for the log: one line, cut to the maximum length. A long reason is no ground to refuse the reward.
fn shown(reason: Cow<'_, str>) -> Cow<'_, str> {
    if check_reason(&reason).is_ok() {
        return reason;
    }
    let line = reason.chars().map(|char| if char.is_control() { ' ' } else { char });
    line.take(MAX_REASON_CHARS).collect::<String>().into()
}

/// Checks a reason in words: one line that a log and a page can show.
///
/// # Errors
/// The problem, for a message.
pub fn check_reason(reason: &str) -> Result<(), String> {
    if reason.chars().count() > MAX_REASON_CHARS {
        return Err(format!("must be at most {MAX_REASON_CHARS} characters"));
    }
    if reason.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(())
}

/// Chooses the click id from the values of all its names. Partners send ids of their own in addition to the click id
/// (Keitaro sends the click id as `subid` and its own id as `tid`). So the first value in the form of a click id is
/// used, and other values are ignored. If several values have that form, the order of [`NAMES`] decides. A refusal
/// would lose the conversion, and a fixed order attributes every copy of the postback to the same click.
fn choose_click_id<'a, const N: usize>(
    values: [Option<Cow<'a, str>>; N],
    macros: [Option<Cow<'a, str>>; N],
) -> Result<Cow<'a, str>, ApiError> {
    let mut refusal = missing("click_id", macros.into_iter().flatten().next().as_deref());
    for text in values.into_iter().flatten() {
        if click_id::is_in_form(&text) {
            return Ok(text);
        }
        refusal = INVALID_CLICK_ID;
    }
    Err(refusal)
}

/// The error for a missing parameter, or for a macro that the sender has not filled in.
fn missing(name: &str, unfilled: Option<&str>) -> ApiError {
    MISSING_FIELD.with_message(match (unfilled, name) {
        (None, _) => format!("{name} is required"),
        // The sender's template must contain the token itself, which is the same in all its postbacks. No macro can
        // supply it.
        (Some(found), "token") => format!("token is {found}; send the advertiser's token itself instead"),
        (Some(found), _) => {
            format!("{name} is {found}, which the sender has not filled in; replace it with the sender's own macro for {name}")
        }
    })
}

type Values<'a> = [Option<Cow<'a, str>>; NAMES.len()];

/// Returns for each parameter in [`NAMES`] its decoded value, if present, and the first unreplaced macro that was sent
/// in its place.
fn scan<'a>(query: &'a str, form: Option<&'a str>) -> Result<(Values<'a>, Values<'a>), ApiError> {
    let mut values: [Option<(Cow<'_, str>, bool)>; NAMES.len()] = array::from_fn(|_| None);
    let mut unfilled: Values<'_> = array::from_fn(|_| None);
    let aliases = NAMES.get(1..CLICK_ID_NAMES).unwrap_or_default();
    let mut undecoded = Vec::new();
    for pair in query.split('&').chain(form.into_iter().flat_map(|form| form.split('&'))) {
        // A form body that a script sends may end in a line break.
        let pair = pair.trim_end_matches(['\r', '\n']);
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // An undecodable name may stand for a known name, so it is an error and is not ignored.
        let name = decode_form(name).ok_or_else(|| badly_encoded("the name of a parameter"))?;
        let meant = known_name(without_amp(&name), &NAMES);
        let mut slots = NAMES.iter().zip(values.iter_mut().zip(&mut unfilled));
        let Some((known, (slot, unfilled))) = slots.find(|(known, _)| Some(**known) == meant) else {
            continue;
        };
        let value = match decode_form(value) {
            Some(value) => value,
            // A macro between percent signs cannot be percent-decoded.
            None if is_macro(value) => value.into(),
            // An undecodable reason is no ground to refuse the reward.
            None if *known == "reason" => decode_lossy(&value.replace('+', " ")).into(),
            // Partners use this name for the click id, but it may also be the sender's own parameter, so it is ignored.
            None if aliases.contains(known) => continue,
            None if name != *known => {
                undecoded.push(*known);
                continue;
            }
            None => return Err(badly_encoded(known)),
        };
        let value = match *known {
            "reason" => value,
            _ => trim(value, is_blank),
        };
        if value.is_empty() || (*known == "txn" && is_none(&value)) {
            continue;
        }
        if !matches!(*known, "goal" | "status") && is_macro(&value) {
            unfilled.get_or_insert(value);
            continue;
        }
        let is_exact = name == *known;
        match slot {
            Some((earlier, true)) if is_exact && *earlier != value => {
                return Err(INVALID_PARAMETER.with_message(format!("{known} has two different values")));
            }
            // Among similar names the first counts. If the exact name is present too, similar names are the sender's
            // own parameters and are ignored.
            Some((_, was_exact)) if *was_exact >= is_exact => {}
            _ => *slot = Some((value, is_exact)),
        }
    }
    // If the exact name is present, a similarly named parameter is the sender's own. If only the similar name is
    // present, it may have been meant, for example as a status other than approved, so an undecodable value is an
    // error.
    for (known, value) in NAMES.iter().zip(&values) {
        if undecoded.contains(known) && !matches!(value, Some((_, true))) {
            return Err(badly_encoded(known));
        }
    }
    Ok((values.map(|value| value.map(|(value, _)| value)), unfilled))
}

/// [`decode`] for form encoding, where a `+` is a space. Partners also encode queries this way.
pub(super) fn decode_form(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('+') {
        return decode(text);
    }
    // In the text before decoding, a literal `+` is written as `%2B`, so every `+` is a space.
    let decoded = decode(&text.replace('+', " "))?.into_owned();
    Some(Cow::Owned(decoded))
}

#[cfg(test)]
mod tests;
