//! Masks literal values in the query of a callback URL. A value may be a secret of the receiver, such as an API key,
//! but documents are shown to support and stored in plain text. When a masked document is sent back, its masks are
//! replaced by the stored values.

use std::borrow::Cow;

use super::settings::MASKED_SECRET;
use crate::model::placeholders::has_any_macro;

/// Minimum bytes of a literal value that is masked wherever it appears. A shorter value may be a common word.
const SHORTEST: usize = 12;

/// Masks each literal value in the URL's query. In a value with macros, only long literal parts are masked.
pub fn masked(url: &str) -> String {
    with_pairs(url, |pair, _| masked_value(pair))
}

/// True if a value of the query contains a mask.
pub fn has_mask(url: &str) -> bool {
    pairs(url).any(|pair| pair.value.contains(MASKED_SECRET))
}

/// Replaces masks by the values of a stored URL. A mask gets the value of the parameter with the same name; repeated
/// parameters are matched in order. A mask stays if the stored URL has no value that it masks, or a different number of
/// parameters with its name.
pub fn unmasked(url: &str, stored: &str) -> String {
    let with_name = |url, name| -> Vec<Pair<'_>> { pairs(url).filter(|pair| pair.name == name).collect() };
    with_pairs(url, |pair, before| {
        let kept = with_name(stored, pair.name);
        let is_alike = kept.len() == with_name(url, pair.name).len();
        let kept = kept.get(before).filter(|_| is_alike)?;
        let is_its_mask = masked_value(*kept).is_some_and(|mask| mask == pair.value);
        is_its_mask.then(|| kept.value.to_owned())
    })
}

/// The secret literal values, each both as written in the URL and decoded.
pub fn secrets(url: &str) -> impl Iterator<Item = String> {
    let literals = pairs(url).flat_map(|pair| parts(pair.value)).filter(|part| part.is_secret());
    literals.flat_map(|part| [part.text.to_owned(), decoded(part.text).into_owned()])
}

/// A parameter of the query.
#[derive(Clone, Copy)]
struct Pair<'u> {
    /// `None` where there is no `=`.
    name: Option<&'u str>,
    value: &'u str,
}

impl<'u> Pair<'u> {
    fn parse(text: &'u str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (Some(name), value),
            None => (None, text),
        };
        Self { name, value }
    }
}

/// A part of a value: a macro, or the text between macros.
struct Part<'u> {
    text: &'u str,
    is_literal: bool,
}

impl Part<'_> {
    fn is_secret(&self) -> bool {
        self.is_literal && self.text.len() >= SHORTEST
    }
}

/// Splits a value at its macros. An unreplaced placeholder of another system does not count as a literal: it is not a
/// secret, and is shown.
fn parts(value: &str) -> Vec<Part<'_>> {
    let part = |text, is_literal| Part { text, is_literal };
    let (mut parts, mut rest) = (Vec::new(), value);
    while let Some((literal, text, after)) = first_macro(rest) {
        parts.extend([part(literal, true), part(text, false)]);
        rest = after;
    }
    let is_literal = !parts.is_empty() || !(has_any_macro(value) || has_any_macro(&decoded(value)));
    parts.push(part(rest, is_literal));
    parts
}

/// Splits a text around its first `{…}`, which may be percent-encoded: the text before, the macro, the text after.
fn first_macro(text: &str) -> Option<(&str, &str, &str)> {
    let first = |text: &str, marks: [&str; 3]| {
        let found = marks.iter().filter_map(|mark| Some((text.find(mark)?, mark.len())));
        found.min()
    };
    let (start, _) = first(text, ["{", "%7B", "%7b"])?;
    let (literal, rest) = text.split_at(start);
    let (end, length) = first(rest, ["}", "%7D", "%7d"])?;
    let (text, after) = rest.split_at(end + length);
    Some((literal, text, after))
}

/// Masks the secret parts of a value. Returns `None` if the value has no secret parts.
fn masked_value(pair: Pair<'_>) -> Option<String> {
    let parts = parts(pair.value);
    // A short text without a name, or next to a macro, is not masked, because it tells people what the parameter is
    // for.
    let is_all = pair.name.is_some() && parts.len() == 1 && !pair.value.is_empty();
    let is_masked = |part: &Part<'_>| part.is_secret() || (is_all && part.is_literal);
    parts.iter().any(is_masked).then(|| {
        let shown = parts.iter().map(|part| if is_masked(part) { MASKED_SECRET } else { part.text });
        shown.collect()
    })
}

fn decoded(value: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy()
}

fn query(url: &str) -> Option<(&str, &str, &str)> {
    let (base, rest) = url.split_once('?')?;
    let (query, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    Some((base, query, fragment))
}

fn pairs(url: &str) -> impl Iterator<Item = Pair<'_>> {
    let query = query(url).map(|(_, query, _)| query).unwrap_or_default();
    query.split('&').map(Pair::parse)
}

/// Replaces each parameter's value for which `other` returns a new value. `other` also gets the number of earlier
/// parameters with the same name.
fn with_pairs<'u>(url: &'u str, other: impl Fn(Pair<'u>, usize) -> Option<String>) -> String {
    let Some((base, query, fragment)) = query(url) else {
        return url.to_owned();
    };
    let pair = |(at, text): (usize, &'u str)| {
        let pair = Pair::parse(text);
        let before = query.split('&').take(at).filter(|text| Pair::parse(text).name == pair.name).count();
        match (other(pair, before), pair.name) {
            (Some(value), Some(name)) => format!("{name}={value}"),
            (Some(value), None) => value,
            (None, _) => text.to_owned(),
        }
    };
    let query: Vec<_> = query.split('&').enumerate().map(pair).collect();
    format!("{base}?{}{fragment}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://r.example/cb/a?user={user_id}&key=s3cr%2Bt&x=%7Bc1%7D&empty=&flag&n=1#f=2";
    const MASKED: &str = "https://r.example/cb/a?user={user_id}&key=********&x=%7Bc1%7D&empty=&flag&n=********#f=2";

    #[test]
    fn literal_values_are_masked_and_put_back() {
        assert_eq!(masked(URL), MASKED);
        assert_eq!(masked(MASKED), MASKED);
        assert_eq!(unmasked(MASKED, URL), URL);
        assert!(has_mask(MASKED) && !has_mask(URL));
        assert_eq!(masked("https://r.example/?u=%UID%&t=[click_id]"), "https://r.example/?u=%UID%&t=[click_id]");
        for plain in ["https://r.example/cb", "https://r.example/?", "https://r.example/#?key=1"] {
            assert_eq!(
                masked(plain),
                if plain.ends_with('1') { plain.replace("=1", "=********") } else { plain.into() }
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

    /// Repeated parameters each keep their own value. If their number differs, the masks stay.
    #[test]
    fn masks_of_one_name_are_put_back_in_their_order() {
        let stored = "https://r.example/?k=first&u={user_id}&k=second";
        let shown = "https://r.example/?k=********&u={user_id}&k=********";
        assert_eq!(masked(stored), shown);
        assert_eq!(unmasked(shown, stored), stored);
        let new = "https://r.example/?k=new&u={user_id}&k=********";
        assert_eq!(unmasked(new, stored), new.replace("********", "second"));
        let fewer = "https://r.example/?u={user_id}&k=********";
        assert_eq!(unmasked(fewer, stored), fewer);
    }

    #[test]
    fn a_secret_beside_a_macro_and_one_without_a_name_are_masked() {
        for (stored, shown) in [
            ("?0123456789abcdef&u={user_id}", "?********&u={user_id}"),
            ("?flag&u={user_id}", "?flag&u={user_id}"),
            ("?k=0123456789ab-{user_id}", "?k=********{user_id}"),
            ("?k=u-{user_id}-0123456789abc&t={c1}", "?k=u-{user_id}********&t={c1}"),
            ("?k=%7Bc1%7D0123456789abc", "?k=%7Bc1%7D********"),
            ("?k={c1", "?k=********"),
        ] {
            let [stored, shown] = [stored, shown].map(|query| format!("https://r.example/cb{query}"));
            assert_eq!(masked(&stored), shown);
            assert_eq!(masked(&shown), shown);
            assert_eq!(unmasked(&shown, &stored), stored);
            assert_eq!(has_mask(&shown), stored != shown);
        }
        let found: Vec<_> = secrets("https://r.example/?0123456789abcdef&k=0123456789ab-{user_id}").collect();
        assert_eq!(found, ["0123456789abcdef"; 2].into_iter().chain(["0123456789ab-"; 2]).collect::<Vec<_>>());
    }

    #[test]
    fn a_long_value_is_a_secret_wherever_it_appears() {
        let found: Vec<_> = secrets("https://r.example/?k=0123456789%2Bab&short=abc&u={user_id}").collect();
        assert_eq!(found, ["0123456789%2Bab", "0123456789+ab"]);
    }
}
