//! Where a click is redirected: an offer's `target_url` with its macros. A template is checked and put into canonical
//! form once, when the operator writes the offer; a click then only copies that text and fills the macros in.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::model::ascii_split;

/// The longest template as the operator writes it, in characters.
const LONGEST: usize = 2_048;

/// Web pages and the stores' own schemes. Anything else could run something on the device.
const SCHEMES: [&str; 5] = ["http", "https", "market", "itms-apps", "itms-appss"];

/// Whether a URL has a scheme that a device may be handed.
pub fn is_openable(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    SCHEMES
        .into_iter()
        .any(|known| scheme.is_some_and(|scheme| known.eq_ignore_ascii_case(scheme)))
}

/// What a browser encodes itself, wherever it stands in a path, query or fragment; `{` and `}` are the macros'.
pub const NOT_IN_A_URL: &AsciiSet = &CONTROLS
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'^')
    .add(b'`')
    .add(b'|');

/// All but RFC 3986's unreserved characters: a value can neither leave its place in the URL nor start another macro.
/// (`.` and `..` could, as a whole path segment; see `could_be_dots`.)
pub const NOT_IN_A_VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Google Play hands an installed app its `referrer` and no other parameter, decoded once.
const REFERRER: &str = "referrer";

/// A redirect's target in canonical form: an ASCII URL whose host is fixed, with known macros only, `{click_id}`
/// among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

impl Template {
    /// Checks a URL with macros. The error is a phrase that follows the field's name: `must be …`.
    pub fn parse(url: &str) -> Result<Self, String> {
        if url.chars().count() > LONGEST {
            return Err(format!("must be at most {LONGEST} characters"));
        }
        // Browsers read a backslash as a slash and leave out line breaks: both could move the end of the host.
        if url.contains(|character: char| {
            character.is_control() || character.is_whitespace() || character == '\\'
        }) {
            return Err("must not contain spaces, control characters or backslashes".to_owned());
        }
        let schemes = || {
            format!(
                "must be a URL that begins with one of {}, and ://",
                SCHEMES.join(", ")
            )
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(schemes)?;
        let scheme = SCHEMES
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(scheme))
            .ok_or_else(schemes)?;
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let host = check_authority(scheme, authority)?;
        let has_click_id = check_macros(rest)?;

        let rest = utf8_percent_encode(rest, NOT_IN_A_URL).to_string();
        let (rest, fragment) = cut(&rest, '#');
        let (path, query) = cut(rest, '?');
        let could_be_dots = |segment| could_be_dots(segment, &OF_THE_REQUEST, &OF_THE_NETWORK);
        if path.split('/').any(could_be_dots) {
            return Err(
                "must not have a path segment of nothing but {user_id}, {gaid}, {idfa} or {c1} to {c5} and dots, \
                nor of {country} and dots: as .. it would lead out of its folder; put a letter beside it"
                    .to_owned(),
            );
        }
        let mut canonical = format!("{scheme}://{host}");
        // The stores' own schemes know no path: `market://details?id=…`.
        let root = if scheme.starts_with("http") { "/" } else { "" };
        canonical.push_str(if path.is_empty() { root } else { path });
        if has_click_id {
            canonical.extend(query.into_iter().flat_map(|query| ["?", query]));
        } else {
            let on_google_play = scheme == "market" || host == "play.google.com";
            canonical.push('?');
            canonical.push_str(&with_click_id(query.unwrap_or_default(), on_google_play));
        }
        canonical.extend(fragment.into_iter().flat_map(|fragment| ["#", fragment]));
        Ok(Self(canonical))
    }

    /// The canonical text: what a snapshot stores and [`fill`] takes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const MACRO_IN_HOST: &str = "must not have a macro in its host";

/// The host, and the port if it is not the scheme's own, as every URL parser will read them.
fn check_authority(scheme: &str, authority: &str) -> Result<String, String> {
    if authority.contains(['{', '}']) {
        return Err(MACRO_IN_HOST.to_owned());
    }
    if authority.contains('@') {
        return Err("must not carry credentials".to_owned());
    }
    let url =
        Url::parse(&format!("{scheme}://{authority}")).map_err(|error| format!("is not a URL: {error}"))?;
    match (url.host_str(), url.port()) {
        (None | Some(""), _) => Err("must name a host".to_owned()),
        // A URL parser makes braces of `%7B` and of wide ones, and leaves them in a host.
        (Some(host), _) if host.contains(['{', '}']) => Err(MACRO_IN_HOST.to_owned()),
        // It takes quotes, stars and the like, too, which no host has and not everybody reads alike.
        (Some(host), _) if !host.bytes().all(is_of_host) => Err("must name a host".to_owned()),
        (Some(host), None) => Ok(host.to_owned()),
        (Some(host), Some(port)) => Ok(format!("{host}:{port}")),
    }
}

/// Names, addresses, and the brackets and colons of those of version 6.
fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte)
}

/// Whether `{click_id}` is among the macros.
fn check_macros(text: &str) -> Result<bool, String> {
    let stray = || "has a { or } that is not part of a macro; write them as %7B and %7D".to_owned();
    let mut pieces = text.split('{');
    if pieces.next().is_some_and(|before| before.contains('}')) {
        return Err(stray());
    }
    let mut has_click_id = false;
    for piece in pieces {
        let (name, after) = piece.split_once('}').ok_or_else(stray)?;
        if Macros::default().get(name).is_none() {
            return Err(format!("has an unknown macro {{{name}}}"));
        }
        if after.contains('}') {
            return Err(stray());
        }
        has_click_id |= name == "click_id";
    }
    Ok(has_click_id)
}

/// The macros that a request fills with text of its own.
const OF_THE_REQUEST: [&str; 8] = [
    "{user_id}",
    "{gaid}",
    "{idfa}",
    "{c1}",
    "{c2}",
    "{c3}",
    "{c4}",
    "{c5}",
];
/// Those that are nothing where a visitor's network does not say it.
const OF_THE_NETWORK: [&str; 1] = ["{country}"];

/// Whether a value could make a path segment `.` or `..`, which a URL parser takes for a step in the path, also encoded.
/// `free` are the macros whose value could be dots, `absent` those whose value could be nothing.
pub fn could_be_dots(segment: &str, free: &[&str], absent: &[&str]) -> bool {
    let without = |segment: &str, macros: &[&str]| {
        macros
            .iter()
            .fold(segment.to_owned(), |rest, name| rest.replace(name, ""))
    };
    let fixed = without(segment, free);
    let has_free = fixed.len() < segment.len();
    let rest = without(&fixed, absent);
    let has_absent = rest.len() < fixed.len();
    // Nothing at all is no step.
    (has_free || (has_absent && !rest.is_empty())) && is_dots(&rest)
}

/// Whether a text is dots, each as it is, as `%2e`, or the beginning of that, which a value would complete.
fn is_dots(mut rest: &str) -> bool {
    while !rest.is_empty() {
        let after = rest.strip_prefix('.').or_else(|| {
            let encoded = rest.strip_prefix('%')?;
            let encoded = encoded.strip_prefix('2').unwrap_or(encoded);
            Some(encoded.strip_prefix(['e', 'E']).unwrap_or(encoded))
        });
        let Some(after) = after else { return false };
        rest = after;
    }
    true
}

/// The text before the first such mark, and the text after it.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

fn with_click_id(query: &str, on_google_play: bool) -> String {
    let mut parameters: Vec<String> = query.split('&').map(str::to_owned).collect();
    // A trailing & would leave an empty parameter in the middle.
    parameters.pop_if(|last| last.is_empty());
    if !on_google_play {
        parameters.push("click_id={click_id}".to_owned());
        return parameters.join("&");
    }
    let referrer = parameters
        .iter_mut()
        .find(|parameter| cut(parameter, '=').0 == REFERRER);
    match referrer {
        // Encoded or not, what is there decodes to itself, and what follows to `&click_id=…`.
        Some(referrer) => {
            let value = cut(referrer, '=').1.unwrap_or_default();
            let and = if value.is_empty() { "" } else { "%26" };
            *referrer = format!("{REFERRER}={value}{and}click_id%3D{{click_id}}");
        }
        None => parameters.push(format!("{REFERRER}=click_id%3D{{click_id}}")),
    }
    parameters.join("&")
}

/// What a click puts into its target. Empty: the click does not carry it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Macros<'a> {
    pub click_id: &'a str,
    pub goal_id: &'a str,
    pub offer_id: &'a str,
    pub app_id: &'a str,
    pub user_id: &'a str,
    pub gaid: &'a str,
    pub idfa: &'a str,
    /// `c1` to `c5`, in this order.
    pub custom: [&'a str; 5],
    pub country: &'a str,
}

impl<'a> Macros<'a> {
    /// The value of a macro by its name; `None` for a name that is no macro's.
    fn get(&self, name: &str) -> Option<&'a str> {
        let [c1, c2, c3, c4, c5] = self.custom;
        Some(match name {
            "click_id" => self.click_id,
            "goal_id" => self.goal_id,
            "offer_id" => self.offer_id,
            "app_id" => self.app_id,
            "user_id" => self.user_id,
            "gaid" => self.gaid,
            "idfa" => self.idfa,
            "c1" => c1,
            "c2" => c2,
            "c3" => c3,
            "c4" => c4,
            "c5" => c5,
            "country" => self.country,
            _ => return None,
        })
    }
}

/// Appends a template's canonical text ([`Template::as_str`]) with its macros filled in, percent-encoded by RFC 3986.
pub fn fill(canonical: &str, values: &Macros<'_>, out: &mut String) {
    let mut pieces = ascii_split::split_all(canonical, b'{');
    out.extend(pieces.next());
    for piece in pieces {
        // A canonical text has known macros only, so neither default is ever taken.
        let (name, after) = ascii_split::split_once(piece, b'}').unwrap_or_default();
        let value = values.get(name).unwrap_or_default();
        // As a rule there is nothing to encode: of a click's values only `@` is, and what an operator put into an id.
        if value.bytes().all(is_unreserved) {
            out.push_str(value);
        } else {
            out.extend(utf8_percent_encode(value, NOT_IN_A_VALUE));
        }
        out.push_str(after);
    }
}

/// RFC 3986's unreserved characters: what [`NOT_IN_A_VALUE`] leaves out.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests;
