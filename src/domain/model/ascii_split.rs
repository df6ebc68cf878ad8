//! Splits short texts at an ASCII character. The standard library's search is optimised for long texts: on the tens of
//! bytes of a click's parts, a byte-wise search takes half the time, and a click needs about 30 splits.

/// The text before the first `at`, and the text after it.
pub fn split_once(text: &str, at: u8) -> Option<(&str, &str)> {
    let position = text.bytes().position(|byte| byte == at)?;
    // An ASCII byte in UTF-8 is always a whole character, so neither `get` fails.
    Some((text.get(..position)?, text.get(position + 1..)?))
}

/// The parts between the occurrences of `at`, as `str::split` returns them.
pub fn split_all(text: &str, at: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match split_once(text, at) {
            Some((part, after)) => {
                rest = Some(after);
                Some(part)
            }
            None => rest.take(),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_split_as_by_the_standard_library(text in "[a&=é]{0,12}") {
            prop_assert_eq!(split_once(&text, b'='), text.split_once('='));
            prop_assert_eq!(split_all(&text, b'&').collect::<Vec<_>>(), text.split('&').collect::<Vec<_>>());
        }
    }
}
