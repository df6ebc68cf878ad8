//! Identifiers of accounts and members: bytes, shown in lower-case hexadecimal.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::model::mac::lower_hex;

macro_rules! hex_ids {
    ($($(#[$doc:meta])* $name:ident[$bytes:literal], $rule:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $bytes]);

        impl $name {
            /// Parses lower-case hexadecimal digits; `None` unless the text has exactly the digits of an id.
            pub fn parse(text: &str) -> Option<Self> {
                lower_hex(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| D::Error::custom($rule))
            }
        }
    )*};
}

hex_ids! {
    /// An account's id, which also names its object.
    AccountId[12], "must be 24 lower-case hexadecimal digits";
    /// A member's id: random, and unique in its account.
    MemberId[8], "must be 16 lower-case hexadecimal digits";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let member = MemberId(*b"\x01\x23\x45\x67\x89\xab\xcd\xef");
        assert_eq!(member.to_string(), "0123456789abcdef");
        assert_eq!(MemberId::parse("0123456789abcdef"), Some(member));
        for bad in ["0123456789ABCDEF", "0123456789abcde", "0123456789abcdef00", "", "0123456789abcdeg"] {
            assert_eq!(MemberId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_id_is_a_string_in_json() {
        let account = AccountId([0xAB; 12]);
        let json = serde_json::to_string(&account).unwrap();
        assert_eq!(json, format!("\"{}\"", "ab".repeat(12)));
        assert_eq!(serde_json::from_str::<AccountId>(&json).unwrap(), account);
        assert!(serde_json::from_str::<AccountId>("\"ab\"").is_err());
    }
}
