//! Reads a postback for display to the operator, who investigates a sender's mistakes. So the postback may be invalid.
//! Nothing here decides what a postback does; [`super::parameters`] does that.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::parameters::{CLICK_ID_NAMES, MAX_GOAL_CHARS, NAMES, decode_form};
use crate::{
    model::placeholders::{is_blank, is_macro, known_name, trim, without_amp},
    tracking::click_id,
};

/// Maximum parameters of a postback that are shown.
const MAX_PARAMETERS: usize = 24;
/// Maximum bytes of names and values that are shown: enough for two click ids of maximum length and the other
/// parameters.
const MAX_BYTES: usize = 4 << 10;
/// Maximum bytes of a name that is shown.
const MAX_NAME: usize = 40;
/// Maximum length of an unknown name that is shown.
const MAX_UNKNOWN_NAME: usize = 20;
/// Replaces hidden text.
const HIDDEN: &str = "…";

/// A parameter as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownParameter {
    /// The name as sent, or its length if it may be a secret.
    pub name: String,
    /// The decoded value, or its length if it may be a secret or name a person.
    pub value: String,
}

/// The parameters of a query and of a form, in order.
///
/// Shows only values that Signpost reads: texts in the form of a click id, `goal`, `txn`, `status`, unreplaced macros,
/// and the advertiser and serial of a token. Any other value may be a secret or name a person, so only its length is
/// shown.
pub fn shown_parameters(query: &str, form: Option<&str>) -> Vec<ShownParameter> {
    let mut shown = Vec::new();
    let (mut bytes, mut hidden) = (0, 0_usize);
    for (name, value) in pairs(query, form) {
        let parameter = show(name, value);
        bytes += parameter.name.len() + parameter.value.len();
        if shown.len() < MAX_PARAMETERS && bytes <= MAX_BYTES {
            shown.push(parameter);
        } else {
            hidden += 1;
        }
    }
    if hidden > 0 {
        shown.push(ShownParameter { name: HIDDEN.into(), value: format!("{hidden} more") });
    }
    shown
}

/// The texts of a postback that may prove its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates<'a> {
    /// Texts in the form of a click id.
    pub click_ids: Vec<Cow<'a, str>>,
    /// Values of `token`, which may be forged.
    pub tokens: Vec<Cow<'a, str>>,
}

/// The first click ids and tokens in a postback, at most two of each. The postback may be invalid.
pub fn candidates<'a>(query: &'a str, form: Option<&'a str>) -> Candidates<'a> {
    /// Limits the work, since the MAC of each candidate is checked.
    const MAX: usize = 2;
    let mut found = Candidates::default();
    for (name, value) in pairs(query, form) {
        let (Some(known), Some(value)) = (known(name), value) else {
            continue;
        };
        let Some(value) = decode_form(value).map(|value| trim(value, is_blank)) else {
            continue;
        };
        if known == "token" && found.tokens.len() < MAX {
            found.tokens.push(value);
        } else if is_click_id_name(known) && found.click_ids.len() < MAX && click_id::is_in_form(&value) {
            found.click_ids.push(value);
        }
    }
    found
}

/// A postback as somebody pasted it: a URL, or only its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastedPostback<'a> {
    /// Host and path; `None` if only a query was pasted.
    pub address: Option<(&'a str, &'a str)>,
    /// The query without the `?`.
    pub query: &'a str,
}

impl<'a> PastedPostback<'a> {
    /// Splits the text. Credentials, the port and the fragment are dropped.
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim_matches(is_blank);
        let text = text.split_once('#').map_or(text, |(before, _)| before);
        let scheme = text.split_once("://").filter(|(scheme, _)| !scheme.contains(['?', '=', '&']));
        let Some((_, rest)) = scheme else {
            // Without a scheme and host: `/v2/tracking/conversion?…`, `?…` or `click_id=…`.
            let query = match text.split_once('?') {
                Some((path, query)) if !path.contains(['=', '&']) => query,
                _ => text,
            };
            return Self { address: None, query };
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match place.find('/') {
            Some(at) => place.split_at(at),
            None => (place, "/"),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        Self { address: Some((host, path)), query }
    }
}

/// The raw pairs of query and form. A text without a `=` has no value.
fn pairs<'a>(query: &'a str, form: Option<&'a str>) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    let texts = [Some(query), form].into_iter().flatten();
    texts.flat_map(|text| text.split('&')).filter(|pair| !pair.is_empty()).map(|pair| match pair.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (pair, None),
    })
}

/// The known parameter that a sender's name means; `None` if Signpost does not read the parameter.
fn known(name: &str) -> Option<&'static str> {
    known_name(without_amp(&decode_form(name)?), &NAMES)
}

fn is_click_id_name(known: &str) -> bool {
    NAMES.iter().take(CLICK_ID_NAMES).any(|name| *name == known)
}

fn show(name: &str, value: Option<&str>) -> ShownParameter {
    let known = known(name);
    let is_name = value.is_some();
    let value = value.unwrap_or_default();
    let decoded = decode_form(value);
    let text = decoded.as_deref().unwrap_or(value).trim_matches(is_blank);
    ShownParameter {
        name: match known {
            Some(known) => known.to_owned(),
            None if is_name => show_name(name),
            None => hide(name),
        },
        value: match known {
            _ if text.is_empty() => String::new(),
            // The value is a macro. A macro names its field and is not a secret.
            _ if (is_macro(value) || is_macro(text)) && text.len() <= MAX_NAME => text.to_owned(),
            Some("token") => show_token(text),
            _ if text.starts_with("at_") => show_token(text),
            Some(name) if is_click_id_name(name) && click_id::is_in_form(text) => text.to_owned(),
            Some("goal" | "txn" | "status") => text.chars().take(MAX_GOAL_CHARS).collect(),
            _ => hide(text),
        },
    }
}

/// Shows an unknown name only if it is short and plain, because it may be a misplaced secret. Secrets are longer than
/// most names.
fn show_name(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
    if name.len() <= MAX_UNKNOWN_NAME && name.bytes().all(is_plain) { name.to_owned() } else { hide(name) }
}

/// Shows the advertiser and the serial of a token, by which the operator identifies it.
fn show_token(token: &str) -> String {
    let mut parts = token.splitn(4, '_');
    let is_id = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match [parts.next(), parts.next(), parts.next(), parts.next()] {
        [Some("at"), Some(advertiser), Some(serial), Some(_)]
            if is_id(advertiser)
                && advertiser.len() <= 64
                && (1..=16).contains(&serial.len())
                && serial.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("at_{advertiser}_{serial}_{HIDDEN}")
        }
        _ => hide(token),
    }
}

fn hide(text: &str) -> String {
    match text.chars().count() {
        1 => format!("{HIDDEN} (1 character)"),
        count => format!("{HIDDEN} ({count} characters)"),
    }
}

#[cfg(test)]
mod tests;
