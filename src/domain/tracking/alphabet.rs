//! The 66 characters allowed in `user_id` and `c1` to `c5` (docs/SPEC.md, "Click parameters"). Their numbers are part
//! of the packed click, so they must not change while click ids are in circulation.

/// The number of characters.
pub const SIZE: u8 = 66;

/// A character's number, below [`SIZE`]; `None` for a character that is not allowed.
pub fn number_of(character: u8) -> Option<u8> {
    Some(match character {
        b'0'..=b'9' => character - b'0',
        b'A'..=b'Z' => character - b'A' + 10,
        b'a'..=b'z' => character - b'a' + 36,
        b'_' => 62,
        b'@' => 63,
        b'-' => 64,
        b'.' => 65,
        _ => return None,
    })
}

/// The character with a number; `None` for [`SIZE`] or higher.
pub fn character(number: u8) -> Option<char> {
    Some(char::from(match number {
        0..=9 => b'0' + number,
        10..=35 => b'A' + (number - 10),
        36..=61 => b'a' + (number - 36),
        62 => b'_',
        63 => b'@',
        64 => b'-',
        65 => b'.',
        _ => return None,
    }))
}

/// True if every character is in the alphabet. An empty text counts as true.
pub fn contains_all(text: &str) -> bool {
    text.bytes().all(|byte| number_of(byte).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_and_four_marks_are_allowed_and_nothing_else() {
        for byte in 0..=u8::MAX {
            let allowed = byte.is_ascii_alphanumeric() || b"_@-.".contains(&byte);
            assert_eq!(number_of(byte).is_some(), allowed, "{byte:#x}");
        }
    }

    #[test]
    fn every_character_has_one_number() {
        for number in 0..=u8::MAX {
            let back = character(number).and_then(|c| u8::try_from(c).ok()).and_then(number_of);
            assert_eq!(back, (number < SIZE).then_some(number), "{number}");
        }
    }
}
