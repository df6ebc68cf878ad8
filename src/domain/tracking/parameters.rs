//! Parses and checks the click parameters in a raw query string (docs/SPEC.md, "Click parameters"). This runs on every
//! click, so it walks the query once and copies a value only if it is percent-encoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::alphabet;
use crate::model::{
    api_error::{ApiError, common::MISSING_FIELD},
    ascii_split,
};

/// The answer to a `user_id` of wrong form.
pub const INVALID_USER_ID: ApiError = ApiError::new(
    400,
    "invalid_user_id",
    "user_id must be 1 to 128 letters, digits or characters of _ @ - .",
);
/// The answer to one of `c1` to `c5` of wrong form.
pub const INVALID_CUSTOM_PARAMETER: ApiError = ApiError::new(
    400,
    "invalid_custom_parameter",
    "c1 to c5 must be at most 128 letters, digits or characters of _ @ - .",
);
/// The answer to any other faulty parameter. Its message names it.
pub const INVALID_PARAMETER: ApiError = ApiError::new(400, "invalid_parameter", "a parameter is not valid");

/// The longest `user_id` and `c1` to `c5`, in characters.
const MAX_IDENTIFIER: usize = 128;
/// The longest `gaid`, `idfa` and `placement`, in characters.
const MAX_LABEL: usize = 64;

/// The parameters that a click may carry. All others are ignored.
pub const NAMES: [&str; 11] = [
    "rid",
    "app",
    "user_id",
    "gaid",
    "idfa",
    "c1",
    "c2",
    "c3",
    "c4",
    "c5",
    "placement",
];

/// Click parameters whose form is valid. The caller looks up goal and app. No text is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickParameters<'a> {
    /// The goal's id. Any text, since an id of the wrong form is answered like an unknown one.
    pub rid: Cow<'a, str>,
    /// The app's id. Any text, as for `rid`.
    pub app: Cow<'a, str>,
    /// The publisher's identifier of the user, 1 to 128 characters.
    pub user_id: Cow<'a, str>,
    /// The Android advertising identifier; `None` also for a placeholder that was left in.
    pub gaid: Option<Cow<'a, str>>,
    /// The iOS advertising identifier; `None` also for a placeholder that was left in.
    pub idfa: Option<Cow<'a, str>>,
    /// `c1` to `c5`, in this order.
    pub custom: [Option<Cow<'a, str>>; 5],
    /// The spot in the app, at most 64 characters.
    pub placement: Option<Cow<'a, str>>,
}

impl<'a> ClickParameters<'a> {
    /// Parses a raw query string without the `?`.
    ///
    /// Returns the first fault in this order: repeated parameters and bad percent-encoding, from left to right; then
    /// `rid`, `app`, `user_id`, `c1` to `c5`, `gaid`, `idfa`, `placement`.
    pub fn parse(query: &'a str) -> Result<Self, ApiError> {
        let [rid, app, user_id, gaid, idfa, c1, c2, c3, c4, c5, placement] = scan(query, &NAMES)?;
        let rid = required("rid", rid)?;
        let app = required("app", app)?;
        let user_id = required("user_id", user_id)?;
        if !is_allowed(&user_id, MAX_IDENTIFIER) {
            return Err(if has_placeholder(&user_id) {
                INVALID_USER_ID
                    .with_message("user_id still holds a placeholder; put the user's identifier in its place")
            } else {
                INVALID_USER_ID
            });
        }
        let custom = [c1, c2, c3, c4, c5].map(present);
        for (number, text) in (1..).zip(&custom) {
            if text
                .as_ref()
                .is_some_and(|text| !is_allowed(text, MAX_IDENTIFIER))
            {
                return Err(INVALID_CUSTOM_PARAMETER.with_message(format!(
                    "c{number} must be at most {MAX_IDENTIFIER} letters, digits or characters of _ @ - ."
                )));
            }
        }
        // Devices without an advertising identifier leave the tracking URL's placeholder in place.
        let gaid = label("gaid", gaid.filter(|text| !has_placeholder(text)))?;
        let idfa = label("idfa", idfa.filter(|text| !has_placeholder(text)))?;
        let placement = label("placement", placement)?;
        Ok(Self {
            rid,
            app,
            user_id,
            gaid,
            idfa,
            custom,
            placement,
        })
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
        // A name that does not decode may be meant as a known one, so it is an error and not ignored.
        let name = decode(name).ok_or_else(|| badly_encoded("the name of a parameter"))?;
        let Some((known, slot)) = names.iter().zip(&mut values).find(|(known, _)| **known == name) else {
            continue;
        };
        if slot.is_some() {
            return Err(INVALID_PARAMETER.with_message(format!("{known} is given more than once")));
        }
        *slot = Some(decode(value).ok_or_else(|| badly_encoded(known))?);
    }
    Ok(values)
}

/// The refusal of a text that does not decode. `what` names the text.
pub(crate) fn badly_encoded(what: &str) -> ApiError {
    INVALID_PARAMETER.with_message(format!("{what} is not valid percent-encoded UTF-8"))
}

/// Percent-decodes a text. `None` if a `%` is not followed by two hexadecimal digits, or the bytes are not UTF-8. A `+`
/// stays a `+`.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.as_bytes().contains(&b'%') {
        return Some(Cow::Borrowed(text));
    }
    let mut escapes = text.split('%').skip(1);
    let well_formed = escapes.all(|after| {
        matches!(after.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
    });
    if well_formed {
        percent_decode_str(text).decode_utf8().ok()
    } else {
        None
    }
}

fn required<'a>(name: &str, value: Option<Cow<'a, str>>) -> Result<Cow<'a, str>, ApiError> {
    present(value).ok_or_else(|| MISSING_FIELD.with_message(format!("{name} is required")))
}

/// Checks an optional `gaid`, `idfa` or `placement`.
fn label<'a>(name: &str, value: Option<Cow<'a, str>>) -> Result<Option<Cow<'a, str>>, ApiError> {
    let value = present(value);
    if value.as_ref().is_some_and(|text| !is_allowed(text, MAX_LABEL)) {
        return Err(INVALID_PARAMETER.with_message(format!(
            "{name} must be at most {MAX_LABEL} letters, digits or characters of _ @ - ."
        )));
    }
    Ok(value)
}

/// An empty value counts as absent.
fn present(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    value.filter(|text| !text.is_empty())
}

fn is_allowed(text: &str, longest: usize) -> bool {
    text.len() <= longest && alphabet::contains_all(text)
}

pub(super) fn has_placeholder(text: &str) -> bool {
    text.contains(['{', '}'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINIMAL: &str = "rid=g1&app=00000042&user_id=u1";

    fn parse(query: &str) -> Result<ClickParameters<'_>, &'static str> {
        ClickParameters::parse(query).map_err(|refusal| {
            assert_eq!(refusal.status, 400, "{query}");
            refusal.code
        })
    }

    fn message(query: &str) -> String {
        ClickParameters::parse(query).unwrap_err().message.into_owned()
    }

    #[test]
    fn a_tracking_url_with_every_parameter_is_parsed() {
        let query = "rid=60118-1&app=00000042&user_id=player_1@mail.example&gaid=38400000-8cf0-11bd-b23e-10b96e40000d\
            &idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC&c1=a&c2=b&c3=c&c4=d&c5=e&placement=home.top";
        let expected = ClickParameters {
            rid: "60118-1".into(),
            app: "00000042".into(),
            user_id: "player_1@mail.example".into(),
            gaid: Some("38400000-8cf0-11bd-b23e-10b96e40000d".into()),
            idfa: Some("6D92078A-8246-4BA4-AE5B-76104861E7DC".into()),
            custom: ["a", "b", "c", "d", "e"].map(|text| Some(text.into())),
            placement: Some("home.top".into()),
        };
        assert_eq!(parse(query), Ok(expected));
    }

    #[test]
    fn only_percent_encoded_values_are_copied() {
        let click = ClickParameters::parse("rid=g1&app=00000042&user_id=u%40x&c1=v").unwrap();
        assert!(matches!(
            (&click.rid, &click.custom[0]),
            (Cow::Borrowed("g1"), Some(Cow::Borrowed("v")))
        ));
        assert!(matches!(&click.user_id, Cow::Owned(decoded) if decoded == "u@x"));
    }

    #[test]
    fn names_may_be_percent_encoded() {
        let click = parse("%72id=g1&app=00000042&user%5Fid=u1&%631=v").unwrap();
        assert_eq!((&*click.user_id, click.custom[0].as_deref()), ("u1", Some("v")));
    }

    #[test]
    fn unknown_parameters_are_ignored_even_if_malformed() {
        let odd = format!("{MINIMAL}&&utm=%zz&utm=%ff&USER_ID=x&c6=%7B&=x&flag");
        assert_eq!(parse(&odd), parse(MINIMAL));
    }

    #[test]
    fn an_empty_optional_parameter_counts_as_absent() {
        let empty = format!("{MINIMAL}&gaid=&idfa&c1=&c5&placement=");
        assert_eq!(parse(&empty), parse(MINIMAL));
    }

    #[test]
    fn a_placeholder_left_in_an_advertising_identifier_counts_as_absent() {
        for value in [
            "{gaid_for_android}",
            "%7Bgaid%7D",
            "%7bgaid}",
            "{",
            &format!("{{{}}}", "x".repeat(100)),
        ] {
            let query = format!("{MINIMAL}&gaid={value}&idfa={value}");
            assert_eq!(parse(&query), parse(MINIMAL), "{value}");
        }
    }

    #[test]
    fn each_fault_has_its_code() {
        let user = "rid=g1&app=00000042&user_id=";
        let (longer, label) = ("x".repeat(129), "x".repeat(65));
        let table = [
            ("", "missing_field"),
            ("app=00000042&user_id=u1", "missing_field"),
            ("rid=&app=00000042&user_id=u1", "missing_field"),
            ("rid=g1&user_id=u1", "missing_field"),
            ("rid=g1&app=00000042", "missing_field"),
            ("rid=g1&app=00000042&user_id=", "missing_field"),
            ("rid=g1&app=00000042&user_id", "missing_field"),
            (&format!("{user}a+b"), "invalid_user_id"),
            (&format!("{user}a%20b"), "invalid_user_id"),
            (&format!("{user}a%2Bb"), "invalid_user_id"),
            (&format!("{user}é"), "invalid_user_id"),
            (&format!("{user}%C3%A9"), "invalid_user_id"),
            (&format!("{user}a%00"), "invalid_user_id"),
            (&format!("{user}{{your_user_id}}"), "invalid_user_id"),
            (&format!("{user}%7Byour_user_id%7D"), "invalid_user_id"),
            (&format!("{user}{longer}"), "invalid_user_id"),
            (&format!("{MINIMAL}&c1=a b"), "invalid_custom_parameter"),
            (&format!("{MINIMAL}&c5=%7Bc5%7D"), "invalid_custom_parameter"),
            (&format!("{MINIMAL}&c3={longer}"), "invalid_custom_parameter"),
            (&format!("{MINIMAL}&gaid=a/b"), "invalid_parameter"),
            (&format!("{MINIMAL}&gaid={label}"), "invalid_parameter"),
            (&format!("{MINIMAL}&idfa={label}"), "invalid_parameter"),
            (&format!("{MINIMAL}&placement={label}"), "invalid_parameter"),
            (&format!("{MINIMAL}&placement={{x}}"), "invalid_parameter"),
            (&format!("{MINIMAL}&user_id=u1"), "invalid_parameter"),
            (&format!("{MINIMAL}&user%5Fid=u2"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=&c1=x"), "invalid_parameter"),
            (&format!("{MINIMAL}&gaid={{gaid}}&gaid=x"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=%"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=%4"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=%4g"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=%+4"), "invalid_parameter"),
            (&format!("{MINIMAL}&c1=%ff"), "invalid_parameter"),
            (&format!("{MINIMAL}&gaid={{%zz"), "invalid_parameter"),
            (&format!("{MINIMAL}&c%zz=1"), "invalid_parameter"),
        ];
        for (query, code) in table {
            assert_eq!(parse(query), Err(code), "{query}");
        }
        let (longest, label) = ("x".repeat(128), "x".repeat(64));
        let query = format!("rid=g1&app=1&user_id={longest}&c1={longest}&gaid={label}&placement={label}");
        assert!(parse(&query).is_ok());
    }

    #[test]
    fn the_message_names_the_parameter() {
        assert_eq!(message("rid=g1&user_id=u1"), "app is required");
        let repeated = message(&format!("{MINIMAL}&rid=g1"));
        assert_eq!(repeated, "rid is given more than once");
        for name in ["c4", "idfa"] {
            let message = message(&format!("{MINIMAL}&{name}=!"));
            assert!(message.starts_with(&format!("{name} ")), "{name}: {message}");
        }
        assert!(message("rid=g1&app=1&user_id={id}").contains("placeholder"));
    }

    #[test]
    fn of_several_faults_the_first_in_the_documented_order_is_returned() {
        let faults = [
            ("c1=%zz", "invalid_parameter"),
            ("user_id=!", "invalid_user_id"),
            ("c2=!", "invalid_custom_parameter"),
            ("placement=!", "invalid_parameter"),
        ];
        for (place, (_, code)) in faults.iter().enumerate() {
            // In the query the faults come in the reverse of that order.
            let pairs: Vec<_> = faults[place..].iter().rev().map(|(pair, _)| *pair).collect();
            let user = if place > 1 { "&user_id=u1" } else { "" };
            let query = format!("{}&rid=g1&app=1{user}", pairs.join("&"));
            assert_eq!(parse(&query), Err(*code), "{query}");
        }
        assert_eq!(message("user_id=!&app="), "rid is required");
    }

    proptest! {
        #[test]
        fn a_value_is_decoded_however_it_was_encoded(
            values in proptest::collection::vec("[A-Za-z0-9_@.-]{1,64}", NAMES.len()),
            escaped: [bool; 7],
            order in Just((0..NAMES.len()).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let escape = |text: &str, shift: usize| -> String {
                text.bytes().enumerate().map(|(at, byte)| match escaped[(at + shift) % escaped.len()] {
                    true => format!("%{byte:02x}"),
                    false => char::from(byte).to_string(),
                }).collect()
            };
            let pair = |&place: &usize| format!("{}={}", escape(NAMES[place], place), escape(&values[place], place + 1));
            let query = order.iter().map(pair).collect::<Vec<_>>().join("&");
            let click = ClickParameters::parse(&query).unwrap();
            let custom = click.custom.map(Option::unwrap);
            let [c1, c2, c3, c4, c5] = custom.each_ref();
            let (gaid, idfa, placement) = (click.gaid.unwrap(), click.idfa.unwrap(), click.placement.unwrap());
            let read = [&click.rid, &click.app, &click.user_id, &gaid, &idfa, c1, c2, c3, c4, c5, &placement];
            prop_assert_eq!(read.map(|text| text.to_string()).to_vec(), values);
        }

        #[test]
        fn accepted_values_keep_to_the_alphabet(query in "(rid|app|user_id|c1|gaid|[a-z%=&]{0,4}|[&=%{}a-f0-9+ ]{0,6}){0,12}") {
            if let Ok(click) = ClickParameters::parse(&format!("{MINIMAL}&{query}")) {
                for text in click.custom.iter().chain([&click.gaid, &click.idfa, &click.placement]).flatten() {
                    prop_assert!(!text.is_empty() && alphabet::contains_all(text));
                }
            }
        }
    }
}
