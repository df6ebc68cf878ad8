//! Packs a click into few bytes, since a click id has at most 255 characters by default. App and shard are not packed,
//! because the readable header of the click id holds them. The encoding is in docs/ARCHITECTURE.md, "Formats of ids".

use std::borrow::Cow;

use super::{alphabet, click::Click};
use crate::model::{AppId, Country, SECOND_MS, country::COUNTRIES};

/// 2026-01-01T00:00:00Z: no click is older, and the time fits six bytes until 2095.
const EPOCH_MS: i64 = 1_767_225_600_000;
/// Revisions are packed as their distance from here. A revision is at least the UNIX time at which it was created, so
/// the distance fits a varint of four bytes until 2034.
const EPOCH_S: i64 = EPOCH_MS / SECOND_MS;

const NO_COUNTRY: u8 = u8::MAX;
const _: () = assert!(COUNTRIES <= NO_COUNTRY as usize);

const UUID_LOWER: u64 = 0;
const UUID_UPPER: u64 = 1;
const NUMBER: u64 = 2;
const UTF8: u64 = 3;
/// The code of a text in the alphabet is this plus the text's number of characters.
const CHARACTERS: u64 = 4;

/// Characters that are packed as one number. 66^10 is below 2^64, so ten of them fit eight bytes.
const GROUP: usize = 10;
/// The minimum bytes of a group, by its number of characters.
const GROUP_BYTES: [usize; GROUP + 1] = [0, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8];

/// Appends the packed click. Two clicks of an app have the same bytes if and only if they are equal.
pub fn pack(click: &Click<'_>, out: &mut Vec<u8>) {
    let [c1, c2, c3, c4, c5] = &click.custom;
    let optional = [&click.gaid, &click.idfa, c1, c2, c3, c4, c5, &click.placement];
    let present = optional.iter().rev().fold(0, |bits, text| bits << 1 | u64::from(text.is_some()));
    put_varint(present, out);
    out.push(click.country.map_or(NO_COUNTRY, Country::index));
    put_varint(zigzag(click.clicked_at_ms.wrapping_sub(EPOCH_MS)), out);
    for revision in [click.offer_terms, click.app_terms] {
        put_varint(revision.wrapping_sub(EPOCH_S).cast_unsigned(), out);
    }
    for text in [&click.offer, &click.goal, &click.user_id] {
        put_text(text, out);
    }
    for text in optional.into_iter().flatten() {
        put_text(text, out);
    }
}

/// Unpacks a click of `app`, whose outbox is `shard`. Returns `None` for bytes that [`pack`] does not write.
pub fn unpack(app: AppId, shard: u8, packed: &[u8]) -> Option<Click<'static>> {
    let mut reader = Reader { rest: packed };
    let present = reader.varint()?;
    let country = match reader.byte()? {
        NO_COUNTRY => None,
        index => Some(Country::from_index(index)?),
    };
    let clicked_at_ms = unzigzag(reader.varint()?).wrapping_add(EPOCH_MS);
    let mut revision = || Some(reader.varint()?.cast_signed().wrapping_add(EPOCH_S));
    let [offer_terms, app_terms] = [revision()?, revision()?];
    let [offer, goal, user_id] = [reader.text()?, reader.text()?, reader.text()?];
    let mut optional = [const { None }; 8];
    for (bit, text) in optional.iter_mut().enumerate() {
        if present >> bit & 1 == 1 {
            *text = Some(reader.text()?);
        }
    }
    let [gaid, idfa, c1, c2, c3, c4, c5, placement] = optional;
    let custom = [c1, c2, c3, c4, c5];
    let click = Click {
        offer,
        goal,
        app,
        shard,
        offer_terms,
        app_terms,
        user_id,
        gaid,
        idfa,
        custom,
        placement,
        country,
        clicked_at_ms,
    };

    // Packing again refuses every other encoding of the same click: long varints, numbers beyond their group, a text in
    // the wrong shape, trailing bytes.
    let mut again = Vec::with_capacity(packed.len());
    pack(&click, &mut again);
    (again == packed).then_some(click)
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if let Some(number) = decimal(text) {
        put_varint(NUMBER, out);
        put_varint(number, out);
    } else if let Some((shape, uuid)) = uuid(bytes) {
        put_varint(shape, out);
        out.extend_from_slice(&uuid.to_be_bytes());
    } else if alphabet::contains_all(text) {
        put_varint(CHARACTERS + bytes.len() as u64, out);
        for group in bytes.chunks(GROUP) {
            let digits = group.iter().filter_map(|&byte| alphabet::number_of(byte));
            let number = digits.fold(0, |number, digit| number * u64::from(alphabet::SIZE) + u64::from(digit));
            out.extend(number.to_le_bytes().iter().take(group_bytes(group.len())));
        }
    } else {
        put_varint(UTF8, out);
        put_varint(bytes.len() as u64, out);
        out.extend_from_slice(bytes);
    }
}

fn group_bytes(characters: usize) -> usize {
    GROUP_BYTES.get(characters).copied().unwrap_or(size_of::<u64>())
}

/// Parses a decimal number without sign or leading zeros.
fn decimal(text: &str) -> Option<u64> {
    match text.as_bytes() {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => text.parse().ok(),
        _ => None,
    }
}

/// Parses a UUID in groups of 8, 4, 4, 4 and 12, and returns its letter case and its number. Returns `None` if it has
/// letters of both cases. A UUID without letters counts as lower case.
fn uuid(text: &[u8]) -> Option<(u64, u128)> {
    if text.len() != 36 {
        return None;
    }
    let (mut number, mut lower, mut upper) = (0, false, false);
    for (place, &byte) in text.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(byte).to_digit(16)?;
        lower |= byte.is_ascii_lowercase();
        upper |= byte.is_ascii_uppercase();
        number = number << 4 | u128::from(digit);
    }
    match (lower, upper) {
        (true, true) => None,
        (_, false) => Some((UUID_LOWER, number)),
        (false, true) => Some((UUID_UPPER, number)),
    }
}

fn uuid_text(number: u128) -> String {
    let mut text = String::with_capacity(36);
    for digit in 0..32_u32 {
        if matches!(digit, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        let value = number >> (124 - 4 * digit) & 0xf;
        text.extend(u32::try_from(value).ok().and_then(|value| char::from_digit(value, 16)));
    }
    text
}

fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Reads values from the front of the bytes. Returns `None` if the bytes end too soon or hold an encoding that is never
/// written.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<Cow<'static, str>> {
        let text = match self.varint()? {
            shape @ (UUID_LOWER | UUID_UPPER) => {
                let &uuid = self.bytes(16)?.first_chunk()?;
                let text = uuid_text(u128::from_be_bytes(uuid));
                if shape == UUID_UPPER { text.to_ascii_uppercase() } else { text }
            }
            NUMBER => self.varint()?.to_string(),
            UTF8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                String::from_utf8(self.bytes(length)?.to_vec()).ok()?
            }
            characters => self.characters(usize::try_from(characters - CHARACTERS).ok()?)?,
        };
        Some(Cow::Owned(text))
    }

    fn characters(&mut self, count: usize) -> Option<String> {
        let (whole, last) = (count / GROUP, count % GROUP);
        let length = whole.checked_mul(size_of::<u64>())?.checked_add(group_bytes(last))?;
        let packed = self.bytes(length)?;
        let mut text = String::with_capacity(count);
        for group in packed.chunks(size_of::<u64>()) {
            let number = group.iter().rev().fold(0, |number: u64, &byte| number << 8 | u64::from(byte));
            for place in (0..GROUP.min(count - text.len())).rev() {
                let digit = number / u64::from(alphabet::SIZE).pow(place as u32) % u64::from(alphabet::SIZE);
                text.push(alphabet::character(digit as u8)?);
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::tracking::click::strategies;

    fn packed(click: &Click<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        pack(click, &mut out);
        out
    }

    #[test]
    fn the_size_of_a_packed_text_depends_on_its_shape() {
        let table = [
            ("", 1),
            ("0", 2),
            ("007", 1 + 3),
            ("18446744073709551615", 1 + 10),
            ("18446744073709551616", 1 + 16),
            ("38400000-8cf0-11bd-b23e-10b96e40000d", 1 + 16),
            ("38400000-8CF0-11BD-B23E-10B96E40000D", 1 + 16),
            ("38400000-8cf0-11BD-b23e-10b96e40000d", 1 + 24 + 5),
            ("384000008cf0-11bd-b23e-10b96e40000d-", 1 + 24 + 5),
            ("player_one@example.com", 1 + 16 + 2),
            ("é", 2 + 2),
        ];
        for (text, bytes) in table {
            let mut out = Vec::new();
            put_text(text, &mut out);
            assert_eq!(out.len(), bytes, "{text}");
        }
    }

    #[test]
    fn a_group_of_characters_takes_the_fewest_bytes() {
        for (characters, &bytes) in GROUP_BYTES.iter().enumerate() {
            let values = 66_u128.pow(characters as u32);
            assert!(values <= 1 << (8 * bytes), "{characters} characters");
            assert!(bytes == 0 || values > 1 << (8 * (bytes - 1)), "{characters} characters");
        }
    }

    #[test]
    fn a_click_packed_in_any_other_way_is_refused() {
        let click = Click::sample("7", EPOCH_MS);
        let right = packed(&click);
        // Presence, country, time, two revisions of four bytes, offer (2 and a varint of three bytes), goal (head and
        // six bytes), user_id.
        let revisions = [0xc0, 0x80, 0xb1, 0x0a, 0x80, 0xab, 0xa9, 0x01];
        let (head, texts) = ([0, 255, 0], [2, 0xd6, 0xd5, 3, 11]);
        assert_eq!(right, [&head[..], &revisions, &texts, &right[16..22], &[2, 7]].concat());
        assert_eq!(unpack(click.app, click.shard, &right), Some(click.clone()));
        let begin = |start: &[u8], skip: usize| [start, &right[skip..]].concat();
        let user_id = |text: &[u8]| [&right[..22], text].concat();
        let table = [
            ("a varint that could be shorter", begin(&[0x80, 0], 1)),
            ("a bit for a text that does not exist", begin(&[0x80, 2], 1)),
            ("a country that does not exist", begin(&[0, 254], 2)),
            ("a number as characters", user_id(&[5, 7])),
            ("a character beyond the alphabet", user_id(&[5, 66])),
            ("characters as UTF-8", user_id(&[3, 1, b'x'])),
            ("bytes that are not UTF-8", user_id(&[3, 1, 0xff])),
            ("a UUID without letters as upper case", user_id(&[&[1][..], &[0x11; 16]].concat())),
            ("a byte left over", user_id(&[2, 7, 0])),
            ("a byte missing", user_id(&[2])),
            ("more characters than there can be", user_id(&[&[0xff; 9][..], &[1]].concat())),
        ];
        for (fault, bytes) in table {
            assert_eq!(unpack(click.app, click.shard, &bytes), None, "{fault}");
        }
    }

    proptest! {
        #[test]
        fn a_click_unpacks_to_itself(click in strategies::click()) {
            prop_assert_eq!(unpack(click.app, click.shard, &packed(&click)), Some(click));
        }

        #[test]
        fn bytes_that_unpack_are_packed_again_to_the_same_bytes(
            random in vec(any::<u8>(), 0..60),
            click in strategies::click(),
            place: prop::sample::Index,
            byte: u8,
        ) {
            let mut altered = packed(&click);
            *place.get_mut(&mut altered) = byte;
            for bytes in [random, altered] {
                if let Some(click) = unpack(click.app, click.shard, &bytes) {
                    prop_assert_eq!(packed(&click), bytes);
                }
            }
        }
    }
}
