//! Identifiers. An app's id has 8 digits (docs/SPEC.md, "Click parameters"); other ids, which the operator chooses,
//! have 1 to 64 characters of `A-Z a-z 0-9 -`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::placeholders::is_blank;

/// The rule for ids of publishers, advertisers, offers and goals.
pub const ID_RULE: &str = "must be 1 to 64 characters of A-Z, a-z, 0-9 and -";

/// True if a text follows [`ID_RULE`].
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Reads an id of any kind, without surrounding blanks.
pub fn trimmed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(String::deserialize(deserializer)?.trim_matches(is_blank).to_owned())
}

/// Like [`trimmed`], for a member that may be missing.
pub fn trimmed_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let id = Option::<String>::deserialize(deserializer)?;
    Ok(id.map(|id| id.trim_matches(is_blank).to_owned()))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(String);

        impl $name {
            /// Parses an id; `None` unless the text has 1 to 64 characters of `A-Z a-z 0-9 -`.
            pub fn parse(text: &str) -> Option<Self> {
                is_id(text).then(|| Self(text.to_owned()))
            }

            /// The id as the operator wrote it. Case is significant.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = trimmed(deserializer)?;
                if is_id(&text) { Ok(Self(text)) } else { Err(D::Error::custom(ID_RULE)) }
            }
        }
    )*};
}

ids! {
    /// A publisher: the account that owns apps, a Pub-Key and report keys.
    PublisherId;
    /// An advertiser, which pays for conversions and reports them with a token.
    AdvertiserId;
    /// An offer: `id` in docs/SPEC.md, "Offers response".
    OfferId;
    /// A goal of an offer, the `rid` of a tracking URL. It is unique over the whole service.
    GoalId;
}

/// Prefix of test transaction ids, which pay nothing.
pub const TEST_ID: &str = "test-";
/// The lowest id of a test app. All higher ids also belong to test apps.
pub const FIRST_TEST_APP: u32 = 99_000_000;

/// An app's 8-digit identifier. Leading zeros are part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(u32);

impl AppId {
    /// Parses an app's id; `None` unless the text is exactly 8 ASCII digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
        if digits { text.parse().ok().map(Self) } else { None }
    }

    /// The id with this number of at most 8 digits, as click ids and snapshots store it.
    pub fn from_number(number: u32) -> Option<Self> {
        (number < 100_000_000).then_some(Self(number))
    }

    /// The id as a number, without its leading zeros.
    pub fn number(self) -> u32 {
        self.0
    }

    /// True for a test app. The id alone decides this, permanently. Totals, caps and reports exclude test apps by their
    /// ids.
    pub fn is_test(self) -> bool {
        self.0 >= FIRST_TEST_APP
    }
}

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}", self.0)
    }
}

impl Serialize for AppId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AppId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = trimmed(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("must be exactly 8 digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_checked_for_its_alphabet_and_length() {
        for good in ["a", "A-9", &"x".repeat(64)] {
            assert!(OfferId::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a_b", "a b", "é", &"x".repeat(65)] {
            assert!(OfferId::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_app_id_is_eight_digits() {
        let id = AppId::parse("00000042").map(|id| id.to_string());
        assert_eq!(id.as_deref(), Some("00000042"));
        for bad in ["1234567", "123456789", "1234567a", "+1234567", ""] {
            assert!(AppId::parse(bad).is_none(), "{bad}");
        }
    }
}
