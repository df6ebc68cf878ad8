//! Literal values in the query of a callback URL, such as an API key, are secrets of the receiver. They are masked in
//! documents, which support reads and which are stored as they are, and put back where a masked document is sent.

use std::borrow::Cow;

use super::settings::MASKED_SECRET;
use crate::model::placeholders::has_any_macro;

/// The shortest literal value that is masked wherever it appears, in bytes. A shorter one may be a common word.
const SHORTEST: usize = 12;

/// The URL with each literal value of its query masked. Macros are shown.
pub fn masked(url: &str) -> String {
    with_values(url, |_, value| {
        is_literal(value).then(|| MASKED_SECRET.to_owned())
    })
}

/// True if a value of the query is a mask.
pub fn has_mask(url: &str) -> bool {
    pairs(url).any(|(_, value)| value == MASKED_SECRET)
}

/// Puts the values of a stored URL in the places of masks, by the name of the parameter. A mask without one stays.
pub fn unmasked(url: &str, stored: &str) -> String {
    with_values(url, |name, value| {
        let mut stored = pairs(stored);
        let kept = stored.find(|(kept, _)| *kept == name && value == MASKED_SECRET);
        kept.map(|(_, value)| value.to_owned())
    })
}

/// The literal values that nobody else may see, as they are in the URL and decoded.
pub fn secrets(url: &str) -> impl Iterator<Item = String> {
    pairs(url)
        .filter(|(_, value)| is_literal(value) && value.len() >= SHORTEST)
        .flat_map(|(_, value)| [value.to_owned(), decoded(value).into_owned()])
}

/// A placeholder of other systems that was left in is shown, too, so that it is found.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !has_any_macro(value) && !has_any_macro(&decoded(value))
}

fn decoded(value: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy()
}

fn query(url: &str) -> Option<(&str, &str, &str)> {
    let (base, rest) = url.split_once('?')?;
    let (query, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    Some((base, query, fragment))
}

fn pairs(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = query(url).map(|(_, query, _)| query).unwrap_or_default();
    query.split('&').filter_map(|pair| pair.split_once('='))
}

/// The URL with other values, where there is one.
fn with_values(url: &str, other: impl Fn(&str, &str) -> Option<String>) -> String {
    let Some((base, query, fragment)) = query(url) else {
        return url.to_owned();
    };
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => format!(
            "{name}={}",
            other(name, value).unwrap_or_else(|| value.to_owned())
        ),
        None => pair.to_owned(),
    };
    let query: Vec<_> = query.split('&').map(pair).collect();
    format!("{base}?{}{fragment}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://r.example/cb/a?user={user_id}&key=s3cr%2Bt&x=%7Bc1%7D&empty=&flag&n=1#f=2";
    const MASKED: &str =
        "https://r.example/cb/a?user={user_id}&key=********&x=%7Bc1%7D&empty=&flag&n=********#f=2";

    #[test]
    fn literal_values_are_masked_and_put_back() {
        assert_eq!(masked(URL), MASKED);
        assert_eq!(masked(MASKED), MASKED);
        assert_eq!(unmasked(MASKED, URL), URL);
        assert!(has_mask(MASKED) && !has_mask(URL));
        assert_eq!(
            masked("https://r.example/?u=%UID%&t=[click_id]"),
            "https://r.example/?u=%UID%&t=[click_id]"
        );
        for plain in [
            "https://r.example/cb",
            "https://r.example/?",
            "https://r.example/#?key=1",
        ] {
            assert_eq!(
                masked(plain),
                if plain.ends_with('1') {
                    plain.replace("=1", "=********")
                } else {
                    plain.into()
                }
            );
        }
    }

    #[test]
    fn a_mask_without_a_stored_value_stays() {
        assert_eq!(
            unmasked("https://x.example/?new=********&key=********", URL),
            "https://x.example/?new=********&key=s3cr%2Bt"
        );
    }

    #[test]
    fn a_long_value_is_a_secret_wherever_it_appears() {
        let found: Vec<_> = secrets("https://r.example/?k=0123456789%2Bab&short=abc&u={user_id}").collect();
        assert_eq!(found, ["0123456789%2Bab", "0123456789+ab"]);
    }
}
