//! Checks an offer's `target_url` with its macros, and fills it for a click's redirect. A template is checked and put
//! into canonical form once, when the operator writes the offer; a click only copies that text and fills in the macros.

use percent_encoding::utf8_percent_encode;
use url::Url;

use crate::model::{
    ascii_split,
    placeholders::{check_template, decode_lossy, known_name, unknown_macro},
    url_template::{NOT_IN_A_URL, Piece, append_value, check_characters, could_be_dots, pieces},
};

/// Maximum length of a template as the operator writes it, in characters.
const MAX_LENGTH: usize = 2_048;

/// Web pages and the stores' own schemes. Other schemes could run code on the device.
const SCHEMES: [&str; 5] = ["http", "https", "market", "itms-apps", "itms-appss"];

/// True if a URL has one of the allowed schemes.
pub fn is_openable(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    SCHEMES.into_iter().any(|known| scheme.is_some_and(|scheme| known.eq_ignore_ascii_case(scheme)))
}

/// Google Play passes only the parameter `referrer`, decoded once, to the installed app.
const REFERRER: &str = "referrer";

/// A redirect target in canonical form: an ASCII URL with a fixed host and known macros only, one of them `{click_id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

impl Template {
    /// Checks a URL with macros. The error is a phrase to put after the field's name: `must be …`.
    pub fn parse(url: &str) -> Result<Self, String> {
        if url.chars().count() > MAX_LENGTH {
            return Err(format!("must be at most {MAX_LENGTH} characters"));
        }
        check_characters(url)?;
        let schemes = || format!("must be a URL with one of the schemes {}", SCHEMES.join(", "));
        let (scheme, rest) = url.split_once("://").ok_or_else(schemes)?;
        let scheme = SCHEMES.into_iter().find(|known| known.eq_ignore_ascii_case(scheme)).ok_or_else(schemes)?;
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let host = check_authority(scheme, authority)?;
        let rest = with_braces(rest);
        check_template(&rest, &NAMES)?;
        let has_click_id = check_macros(&rest)?;

        let rest = utf8_percent_encode(&rest, NOT_IN_A_URL).to_string();
        let (rest, fragment) = cut(&rest, '#');
        let (path, query) = cut(rest, '?');
        let could_be_dots = |segment| could_be_dots(segment, &REQUEST_MACROS, &NETWORK_MACROS);
        if path.split('/').any(could_be_dots) {
            return Err(
                "must not have a path segment that consists only of dots and of {user_id}, {gaid}, {idfa}, {c1} to {c5} \
                or {country}: such a segment could become .. and lead to another folder; put a letter next to the macro"
                    .to_owned(),
            );
        }
        let mut canonical = format!("{scheme}://{host}");
        // The stores' own schemes have no path: `market://details?id=…`.
        let root = if scheme.starts_with("http") { "/" } else { "" };
        canonical.push_str(if path.is_empty() { root } else { path });
        // Google Play passes on only the referrer, so the click id goes there.
        let on_google_play = scheme == "market" || host == "play.google.com";
        if has_click_id || on_google_play {
            let mut parameters = query.into_iter().flat_map(|query| query.split('&'));
            let is_empty = |parameter: &&str| is_click_id(parameter.strip_suffix('=').unwrap_or(parameter));
            if let Some(empty) = parameters.find(is_empty) {
                return Err(format!(
                    "has {empty} without a value in addition to {{click_id}}: give it a value or remove it"
                ));
            }
        }
        if has_click_id {
            canonical.extend(query.into_iter().flat_map(|query| ["?", query]));
        } else {
            canonical.push('?');
            canonical.push_str(&with_click_id(query.unwrap_or_default(), on_google_play)?);
        }
        canonical.extend(fragment.into_iter().flat_map(|fragment| ["#", fragment]));
        Ok(Self(canonical))
    }

    /// The canonical text, which a snapshot stores and [`fill`] takes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const MACRO_IN_HOST: &str = "must not have a macro in its host";

/// The canonical host, and the port if it is not the scheme's default, in a form that all URL parsers read alike.
fn check_authority(scheme: &str, authority: &str) -> Result<String, String> {
    if authority.contains(['{', '}']) {
        return Err(MACRO_IN_HOST.to_owned());
    }
    if authority.contains('@') {
        return Err("must not carry credentials".to_owned());
    }
    let url = Url::parse(&format!("{scheme}://{authority}")).map_err(|error| format!("is not a URL: {error}"))?;
    match (url.host_str(), url.port()) {
        (None | Some(""), _) => Err("must name a host".to_owned()),
        // The URL parser turns `%7B` and full-width braces into braces and leaves them in a host.
        (Some(host), _) if host.contains(['{', '}']) => Err(MACRO_IN_HOST.to_owned()),
        // The parser also accepts quotes, asterisks and similar characters. No real host has them, and other parsers
        // read them differently.
        (Some(host), _) if !host.bytes().all(is_host_byte) => Err("must name a host".to_owned()),
        (Some(host), None) => Ok(host.to_owned()),
        (Some(host), Some(port)) => Ok(format!("{host}:{port}")),
    }
}

/// True if a byte may be in a host name or an IP address, including the brackets and colons of IPv6.
fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte)
}

/// Replaces the `%7B` and `%7D` of macros by braces. Other encoded braces stay.
fn with_braces(text: &str) -> String {
    let braces = [("%7B", "%7D"), ("%7b", "%7d"), ("%7B", "%7d"), ("%7b", "%7D")];
    NAMES.iter().fold(text.to_owned(), |text, name| {
        let right = format!("{{{name}}}");
        braces.iter().fold(text, |text, (open, close)| text.replace(&format!("{open}{name}{close}"), &right))
    })
}

/// Checks that all macros are known, and returns whether `{click_id}` is among them.
fn check_macros(text: &str) -> Result<bool, String> {
    let mut has_click_id = false;
    for piece in pieces(text) {
        match piece.map_err(|stray| format!("{stray}; write them as %7B and %7D"))? {
            Piece::Text(_) => {}
            Piece::Macro(name) if !NAMES.contains(&name) => return Err(unknown_macro(name, &NAMES)),
            Piece::Macro(name) => has_click_id |= name == "click_id",
        }
    }
    Ok(has_click_id)
}

/// The names of all macros.
const NAMES: [&str; 13] =
    [CLICK_ID, "goal_id", "offer_id", "app_id", "user_id", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "country"];
const CLICK_ID: &str = "click_id";

/// The macros whose values a request chooses.
const REQUEST_MACROS: [&str; 8] = ["{user_id}", "{gaid}", "{idfa}", "{c1}", "{c2}", "{c3}", "{c4}", "{c5}"];
/// The macros that are empty if the network does not report the visitor's country.
const NETWORK_MACROS: [&str; 1] = ["{country}"];

/// The text before the first `mark`, and the text after it if there is one.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// True if a parameter of this name takes the click id.
fn is_click_id(name: &str) -> bool {
    known_name(name, &[CLICK_ID]).is_some()
}

/// Fills the empty parameter for the click id, or appends one. Refuses a `click_id` with another value, since the
/// receiver might read that value instead. `equals` separates a name from its value: `=`, or its encoding.
fn fill_click_id(parameters: &mut Vec<String>, equals: &str) -> Result<(), String> {
    let mut empty: Option<(usize, String)> = None;
    let mut kept = Vec::new();
    for parameter in parameters.drain(..) {
        let split = parameter.split_once(equals).or_else(|| parameter.split_once('='));
        let (name, value) = split.unwrap_or((&parameter, ""));
        let decoded = decode_lossy(name);
        if value.is_empty() && is_click_id(&decoded) {
            // Several empty parameters become one, at the place of the first. The result gets the correct name if one
            // of them has that name.
            let (_, filled) = empty.get_or_insert_with(|| (kept.len(), name.to_owned()));
            if decoded == CLICK_ID {
                name.clone_into(filled);
            }
            continue;
        }
        if decoded == CLICK_ID {
            return Err(format!("has {parameter}: write {name}{equals}{{click_id}}"));
        }
        kept.push(parameter);
    }
    let (place, name) = empty.unwrap_or_else(|| (kept.len(), CLICK_ID.to_owned()));
    kept.insert(place, format!("{name}{equals}{{click_id}}"));
    *parameters = kept;
    Ok(())
}

fn with_click_id(query: &str, on_google_play: bool) -> Result<String, String> {
    let mut parameters: Vec<String> = query.split('&').map(str::to_owned).collect();
    // Drops a trailing `&`. Otherwise an appended parameter would follow an empty one.
    parameters.pop_if(|last| last.is_empty());
    if !on_google_play {
        fill_click_id(&mut parameters, "=")?;
        return Ok(parameters.join("&"));
    }
    let referrer = parameters.iter_mut().find(|parameter| cut(parameter, '=').0 == REFERRER);
    match referrer {
        // The appended text decodes to `&click_id=…`, whether or not the value before it is encoded.
        Some(referrer) => {
            let value = cut(referrer, '=').1.unwrap_or_default();
            let mut inside: Vec<String> = value.split("%26").map(str::to_owned).collect();
            inside.retain(|_| !value.is_empty());
            fill_click_id(&mut inside, "%3D")?;
            *referrer = format!("{REFERRER}={}", inside.join("%26"));
        }
        None => parameters.push(format!("{REFERRER}=click_id%3D{{click_id}}")),
    }
    Ok(parameters.join("&"))
}

/// The values of the macros for one click. An absent value is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Macros<'a> {
    /// The sealed or short click id. Every template has it.
    pub click_id: &'a str,
    /// The `rid` of the link.
    pub goal_id: &'a str,
    /// The clicked offer.
    pub offer_id: &'a str,
    /// The app's id, as 8 digits.
    pub app_id: &'a str,
    /// The publisher's identifier of the user.
    pub user_id: &'a str,
    /// The Android advertising identifier.
    pub gaid: &'a str,
    /// The iOS advertising identifier.
    pub idfa: &'a str,
    /// `c1` to `c5`, in this order.
    pub custom: [&'a str; 5],
    /// The visitor's country, as ISO 3166-1 alpha-2.
    pub country: &'a str,
}

impl<'a> Macros<'a> {
    /// The value of a macro by its name. `None` for an unknown name.
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

/// Appends a template's canonical text ([`Template::as_str`]) with the macros' values, percent-encoded by RFC 3986.
pub fn fill(canonical: &str, values: &Macros<'_>, out: &mut String) {
    let mut pieces = ascii_split::split_all(canonical, b'{');
    out.extend(pieces.next());
    for piece in pieces {
        // A canonical text has known macros only, so neither default is ever used.
        let (name, after) = ascii_split::split_once(piece, b'}').unwrap_or_default();
        let value = values.get(name).unwrap_or_default();
        append_value(value, out);
        out.push_str(after);
    }
}

#[cfg(test)]
mod tests;
