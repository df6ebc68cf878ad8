//! Advertisers' tokens: `at_<advertiser>_<serial>_<random>_<mac>`. The MAC proves that Signpost issued the token. The
//! tracking snapshot lists each advertiser's valid serials. So the edge checks a token without a call to an object.

use crate::model::{
    AdvertiserId, ApiError, MacKeys,
    mac::{self, lower_hex},
};

/// The answer to a postback whose token is unknown, is revoked or belongs to another advertiser.
pub const INVALID_TOKEN: ApiError =
    ApiError::new(401, "invalid_token", "token is not a valid token of the advertiser whose offer was clicked");

/// The setting that holds the MAC keys.
pub const SETTING: &str = "TOKEN_MAC";

const PREFIX: &str = "at_";
/// The bytes of the random part.
const RANDOM: usize = 8;
/// The length of the longest token in bytes: the prefix, an advertiser id of 64 bytes and a `_`, a serial of 16 digits
/// and a `_`, the random part in hexadecimal, and the suffix with the MAC.
const MAX_TOKEN: usize = PREFIX.len() + 64 + 1 + 16 + 1 + 2 * RANDOM + mac::SUFFIX_LEN;

/// A token that was issued. It may have been revoked since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The advertiser for which the token reports conversions.
    pub advertiser: AdvertiserId,
    /// The token's number among its advertiser's tokens.
    pub serial: Serial,
}

/// The number of a token: a [revision](crate::model::revision) of its advertiser's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(pub i64);

impl Serial {
    /// 2^53 - 1, because integers reach the SQLite of a Durable Object as doubles.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// Parses a number without sign or leading zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let serial = text.parse().ok().filter(|serial: &i64| (0..=Self::MAX.0).contains(serial))?;
        (serial.to_string() == text).then_some(Self(serial))
    }
}

/// The text of a new token. `advertiser` is an advertiser's id; `random` must come from a secure source.
pub fn issue(keys: &MacKeys, advertiser: &str, Serial(serial): Serial, random: [u8; RANDOM]) -> String {
    keys.sign(&format!("{PREFIX}{advertiser}_{serial}_{}", hex::encode(random)))
}

impl Token {
    /// Verifies a text as a token; `None` if Signpost never issued it.
    pub fn verify(keys: &MacKeys, presented: &str) -> Option<Self> {
        if presented.len() > MAX_TOKEN {
            return None;
        }
        let signed = keys.verify(presented)?;
        let (token, random) = Self::read(signed)?;
        lower_hex::<RANDOM>(random?)?;
        Some(token)
    }

    /// The token that a text claims to be. It may be forged.
    pub fn claimed(text: &str) -> Option<Self> {
        Self::read(text).map(|(token, _)| token)
    }

    /// Parses a token up to its serial. Also returns the text that follows, if any.
    fn read(text: &str) -> Option<(Self, Option<&str>)> {
        let (advertiser, rest) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let (serial, rest) = match rest.split_once('_') {
            Some((serial, rest)) => (serial, Some(rest)),
            None => (rest, None),
        };
        let token = Self { advertiser: AdvertiserId::parse(advertiser)?, serial: Serial::parse(serial)? };
        Some((token, rest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::mac::tests::{A, B, changed, keys};

    fn token(advertiser: &str, serial: i64) -> Token {
        Token { advertiser: AdvertiserId::parse(advertiser).unwrap(), serial: Serial(serial) }
    }

    fn issued(token: &Token, key: &str, random: [u8; RANDOM]) -> String {
        issue(&keys(key), token.advertiser.as_str(), token.serial, random)
    }

    #[test]
    fn a_token_has_the_documented_form() {
        let brindlefox = token("brindlefox-games", 1_795_390_798);
        // The MAC was computed with another implementation.
        assert_eq!(issued(&brindlefox, A, [0xAB; 8]), ISSUED);
        assert_eq!(Token::verify(&keys(A), ISSUED), Some(brindlefox));
    }

    #[test]
    fn the_beginning_of_a_token_names_its_possible_advertiser() {
        let brindlefox = token("brindlefox-games", 1_795_390_798);
        for beginning in [
            ISSUED,
            "at_brindlefox-games_1795390798_ab",
            "at_brindlefox-games_1795390798_",
            "at_brindlefox-games_1795390798",
        ] {
            assert_eq!(Token::claimed(beginning), Some(brindlefox.clone()), "{beginning}");
        }
        for other in ["at_", "at_brindlefox-games", "at_brindlefox-games_", "at_b_01_x", "sk_b_1_x"] {
            assert_eq!(Token::claimed(other), None, "{other}");
        }
    }

    #[test]
    fn the_longest_token_is_not_too_long() {
        let longest = token(&"a".repeat(64), Serial::MAX.0);
        let text = issued(&longest, A, [0xAB; 8]);
        assert_eq!(text.len(), MAX_TOKEN);
        assert_eq!(Token::verify(&keys(A), &text), Some(longest));
    }

    #[test]
    fn a_changed_token_is_refused() {
        for changed in changed(ISSUED) {
            assert_eq!(Token::verify(&keys(A), &changed), None, "{changed}");
        }
    }

    #[test]
    fn a_serial_has_one_spelling() {
        for (text, serial) in [
            ("0", Some(Serial(0))),
            ("17", Some(Serial(17))),
            ("017", None),
            ("+1", None),
            ("-1", None),
            ("9007199254740991", Some(Serial::MAX)),
            ("9007199254740992", None),
            ("", None),
        ] {
            assert_eq!(Serial::parse(text), serial, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_issued_token_names_its_advertiser_and_serial(
            advertiser in "[A-Za-z0-9-]{1,64}", serial in 0..=Serial::MAX.0, random: [u8; 8],
        ) {
            let token = token(&advertiser, serial);
            let text = issued(&token, B, random);
            prop_assert!(text.len() <= MAX_TOKEN);
            prop_assert_eq!(Token::verify(&keys(A), &text), None);
            prop_assert_eq!(Token::verify(&keys(B), &text), Some(token));
        }

        #[test]
        fn junk_is_refused(text in "(at_)?[a-f0-9_-]{0,140}|.{0,40}") {
            prop_assert_eq!(Token::verify(&keys(A), &text), None);
        }
    }

    const ISSUED: &str = "at_brindlefox-games_1795390798_abababababababab_42df2bb1d82ea4b5c2209538ec3bb0ea";
}
