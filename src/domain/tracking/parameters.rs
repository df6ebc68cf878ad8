//! Parses and checks the click parameters in a raw query string (docs/SPEC.md, "Click parameters"). This runs on every
//! click, so it walks the query once and copies a value only if it is percent-encoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::alphabet;
use crate::model::{
    api_error::{ApiError, common::MISSING_FIELD},
    ascii_split,
    placeholders::{is_macro, is_no_device, is_nobody, is_none, trim},
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
    "c1 to c5 must be at most 256 letters, digits or characters of _ @ - . each, and 768 together",
);
/// The answer to any other faulty parameter. Its message names it.
pub const INVALID_PARAMETER: ApiError = ApiError::new(400, "invalid_parameter", "a parameter is not valid");

/// The longest `user_id`, in characters.
pub const MAX_USER_ID: usize = 128;
/// The longest of `c1` to `c5`, in characters: the click ids of large networks have up to 250.
pub const MAX_CUSTOM: usize = 256;
/// The longest `c1` to `c5` together, in characters: three of the longest.
pub const MAX_CUSTOM_TOTAL: usize = 768;
/// The longest `gaid`, `idfa` and `placement`, in characters.
pub const MAX_LABEL: usize = 64;
/// The most that an error repeats of a placeholder, in characters.
const MAX_SHOWN: usize = 40;

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
    /// The Android advertising identifier; `None` also for a text that is none.
    pub gaid: Option<Cow<'a, str>>,
    /// The iOS advertising identifier; `None` also for a text that is none.
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
    /// `rid`, `app`, `user_id`, `c1` to `c5`, `placement`.
    pub fn parse(query: &'a str) -> Result<Self, ApiError> {
        let [rid, app, user_id, gaid, idfa, c1, c2, c3, c4, c5, placement] = scan(query, &NAMES)?;
        let rid = required("rid", rid)?;
        let app = required("app", app)?;
        let user_id = required("user_id", user_id)?;
        if !is_allowed(&user_id, MAX_USER_ID) || is_macro(&user_id) || is_nobody(&user_id) {
            return Err(refuse_user_id(&user_id));
        }
        let custom = [c1, c2, c3, c4, c5].map(|text| present(text).filter(|text| !is_macro(text)));
        let texts = custom.iter().map(|text| text.as_deref().unwrap_or_default());
        for (number, text) in (1..).zip(texts.clone()) {
            if !is_allowed(text, MAX_CUSTOM) {
                return Err(INVALID_CUSTOM_PARAMETER.with_message(format!(
                    "c{number} must be at most {MAX_CUSTOM} letters, digits or characters of _ @ - ."
                )));
            }
        }
        if texts.map(str::len).sum::<usize>() > MAX_CUSTOM_TOTAL {
            return Err(INVALID_CUSTOM_PARAMETER.with_message(format!(
                "c1 to c5 must be at most {MAX_CUSTOM_TOTAL} characters together"
            )));
        }
        let (gaid, idfa) = (device_id(gaid), device_id(idfa));
        let placement = present(placement).filter(|text| !is_macro(text) && !is_none(text));
        if placement
            .as_ref()
            .is_some_and(|text| !is_allowed(text, MAX_LABEL))
        {
            return Err(INVALID_PARAMETER.with_message(format!(
                "placement must be at most {MAX_LABEL} letters, digits or characters of _ @ - ."
            )));
        }
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
        // A macro between percent signs does not decode.
        let left_in = || is_macro(value).then_some(Cow::Borrowed(value));
        *slot = Some(
            decode(value)
                .or_else(left_in)
                .ok_or_else(|| badly_encoded(known))?,
        );
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

/// The identifier of a device. What is none counts as absent and stops no redirect: many apps send a placeholder, or a word
/// for "none", of a device without one.
fn device_id(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let is_id =
        |text: &str| is_allowed(text, MAX_LABEL) && !text.as_bytes().contains(&b'@') && !is_no_device(text);
    // In a form a `+` is a blank.
    let is_blank = |char: char| char.is_whitespace() || char == '+';
    value.map(|text| trim(text, is_blank)).filter(|text| is_id(text))
}

/// The refusal of a `user_id`, which decides who is paid. It says what was found in its place.
#[cold]
fn refuse_user_id(found: &str) -> ApiError {
    let shown: String = found.chars().take(MAX_SHOWN).collect();
    let message = if is_nobody(found) {
        format!("user_id is {shown}, which names no user; put the user's identifier in its place")
    } else if is_macro(found) || found.contains(['{', '}']) {
        format!("user_id still holds a placeholder, {shown}; put the user's identifier in its place")
    } else {
        return INVALID_USER_ID;
    };
    INVALID_USER_ID.with_message(message)
}

/// An empty value counts as absent.
fn present(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    value.filter(|text| !text.is_empty())
}

fn is_allowed(text: &str, longest: usize) -> bool {
    text.len() <= longest && alphabet::contains_all(text)
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
    fn a_device_id_that_is_none_counts_as_absent_and_a_real_one_is_trimmed() {
        let long = "x".repeat(65);
        for none in [
            "(null)",
            "[idfa]",
            "N/A",
            "null",
            "Unknown",
            "0",
            "-",
            "00000000-0000-0000-0000-000000000000",
            "__GAID__",
            "%25gaid%25",
            "%gaid%",
            "a/b",
            "a%20b",
            "me@x.example",
            "%C3%A9",
            &long,
        ] {
            let query = format!("{MINIMAL}&gaid={none}&idfa={none}");
            assert_eq!(parse(&query), parse(MINIMAL), "{none}");
        }
        let id = "38400000-8cf0-11bd-b23e-10b96e40000d";
        for sent in [
            format!("{id}%20"),
            format!("%0A{id}%0D%0A"),
            format!("{id}+"),
            format!(" {id}"),
        ] {
            let query = format!("{MINIMAL}&gaid={sent}&idfa={sent}");
            let click = parse(&query).unwrap();
            let found = [click.gaid, click.idfa].map(Option::unwrap);
            assert_eq!(found, [id, id], "{sent}");
        }
    }

    #[test]
    fn a_macro_or_a_word_for_none_is_absent_in_a_placement_and_a_macro_in_c1_to_c5() {
        for left in [
            "{x}",
            "%7Bx%7D",
            "%257Bx%257D",
            "[[x]]",
            "%x%",
            "__X__",
            "@sub1@",
            "%23x%23",
            "$x",
        ] {
            let query = format!("{MINIMAL}&placement={left}&c1={left}&c5={left}");
            assert_eq!(parse(&query), parse(MINIMAL), "{left}");
        }
        for word in ["null", "N/A", "none", "unknown", "-"] {
            let query = format!("{MINIMAL}&placement={word}");
            assert_eq!(parse(&query), parse(MINIMAL), "{word}");
        }
        for word in ["null", "none", "-", "0", "unknown"] {
            let query = format!("{MINIMAL}&c1={word}");
            assert_eq!(parse(&query).unwrap().custom[0].as_deref(), Some(word));
        }
    }

    #[test]
    fn a_user_id_that_is_a_macro_or_names_nobody_is_refused_with_what_was_found() {
        for (sent, found) in [
            ("{your_user_id}", "{your_user_id}"),
            ("%7Bid%7D", "{id}"),
            ("u-{id}", "u-{id}"),
            ("__USER_ID__", "__USER_ID__"),
            ("__user_id__", "__user_id__"),
            ("@user_id@", "@user_id@"),
            ("%user_id%", "%user_id%"),
            ("[user_id]", "[user_id]"),
            ("null", "null"),
            ("Undefined", "Undefined"),
            ("NONE", "NONE"),
            ("(null)", "(null)"),
        ] {
            let query = format!("rid=g1&app=1&user_id={sent}");
            assert_eq!(parse(&query), Err("invalid_user_id"), "{sent}");
            let message = message(&query);
            assert!(message.contains(&format!(" {found}")), "{sent}: {message}");
        }
        for real in [
            "me@x.example",
            "__bob__",
            "nil",
            "unknown",
            "0",
            "-",
            "na",
            "level_10",
            "@me",
            "NULLs",
        ] {
            let query = format!("rid=g1&app=1&user_id={real}");
            assert_eq!(parse(&query).expect(real).user_id, real);
        }
    }

    #[test]
    fn each_fault_has_its_code() {
        let user = "rid=g1&app=00000042&user_id=";
        let (longer, long, label) = ("x".repeat(129), "x".repeat(256), "x".repeat(65));
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
            (&format!("{MINIMAL}&c5=a-%7Bc5%7D"), "invalid_custom_parameter"),
            (&format!("{MINIMAL}&c3={long}x"), "invalid_custom_parameter"),
            (
                &format!("{MINIMAL}&c1={long}&c2={long}&c3={long}&c4=x"),
                "invalid_custom_parameter",
            ),
            (&format!("{MINIMAL}&placement={label}"), "invalid_parameter"),
            (&format!("{MINIMAL}&placement=a/b"), "invalid_parameter"),
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
        let query = format!(
            "rid=g1&app=1&user_id={longest}&c1={long}&c3={long}&c5={long}&gaid={label}&placement={label}"
        );
        assert!(parse(&query).is_ok());
    }

    #[test]
    fn the_message_names_the_parameter() {
        assert_eq!(message("rid=g1&user_id=u1"), "app is required");
        let repeated = message(&format!("{MINIMAL}&rid=g1"));
        assert_eq!(repeated, "rid is given more than once");
        for name in ["c4", "placement"] {
            let message = message(&format!("{MINIMAL}&{name}=!"));
            assert!(message.starts_with(&format!("{name} ")), "{name}: {message}");
        }
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
            values in proptest::collection::vec("[A-Za-z0-9.][A-Za-z0-9_.-]{8,62}[A-Za-z]", NAMES.len()),
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
