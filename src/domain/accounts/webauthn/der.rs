//! A reader for the parts of DER that keys and signatures use. Each value has one encoding; any other encoding is
//! refused.

pub const INTEGER: u8 = 0x02;
pub const SEQUENCE: u8 = 0x30;

/// Splits a value with this tag and at most 65,535 bytes of content from the bytes after it.
pub fn split(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk()?;
    // `least` is the shortest length that may be written in this form.
    let (length, least, rest) = match first {
        0..=0x7F => (usize::from(first), 0, rest),
        0x81 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), 0x80, rest)
        }
        0x82 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), 0x100, rest)
        }
        _ => return None,
    };
    (found == tag && length >= least).then(|| rest.split_at_checked(length))?
}

/// Returns the content of a value that uses all the bytes.
pub fn whole(tag: u8, bytes: &[u8]) -> Option<&[u8]> {
    let (content, rest) = split(tag, bytes)?;
    rest.is_empty().then_some(content)
}

/// Splits a positive integer, without leading zeros, from the bytes after it.
pub fn split_positive(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, rest) = split(INTEGER, bytes)?;
    let magnitude = match content {
        // A leading zero is required before a high bit, which would otherwise be the sign, and is forbidden elsewhere.
        [0, magnitude @ ..] if magnitude.first().is_some_and(|first| *first > 0x7F) => magnitude,
        [1..=0x7F, ..] => content,
        _ => return None,
    };
    Some((magnitude, rest))
}

/// Reads two positive integers in a sequence that uses all the bytes: an ECDSA signature, or an RSA key.
pub fn integers(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = split_positive(whole(SEQUENCE, bytes)?)?;
    let (second, rest) = split_positive(rest)?;
    rest.is_empty().then_some((first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_one_spelling() {
        for length in [0, 1, 127, 128, 255, 256, 65_535] {
            let content = vec![7; length];
            for head in [
                vec![u8::try_from(length & 0x7F).unwrap()],
                vec![0x81, u8::try_from(length & 0xFF).unwrap()],
                [&[0x82][..], &u16::try_from(length).unwrap().to_be_bytes()].concat(),
                [&[0x83, 0][..], &u16::try_from(length).unwrap().to_be_bytes()].concat(),
            ] {
                let shortest = match length {
                    0..=127 => 1,
                    128..=255 => 2,
                    _ => 3,
                };
                let bytes = [&[SEQUENCE][..], &head, &content].concat();
                let expected = (head.len() == shortest).then_some(content.as_slice());
                assert_eq!(whole(SEQUENCE, &bytes), expected, "{length} {head:?}");
            }
        }
        assert_eq!(whole(SEQUENCE, &[SEQUENCE, 0x80, 0, 0]), None);
    }

    #[test]
    fn a_positive_integer_has_one_spelling() {
        for (bytes, magnitude) in [
            ("020101", Some("01")),
            ("02017f", Some("7f")),
            ("02020080", Some("80")),
            ("02020100", Some("0100")),
            ("020100", None),
            ("0200", None),
            ("020180", None),
            ("0202007f", None),
            ("0203000080", None),
            ("0202ff", None),
            ("030101", None),
        ] {
            let bytes = hex::decode(bytes).unwrap();
            let found = split_positive(&bytes).map(|(magnitude, _)| hex::encode(magnitude));
            assert_eq!(found.as_deref(), magnitude, "{bytes:?}");
        }
    }
}
