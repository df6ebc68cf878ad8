//! Enums that are stored as numbers and written as names.

/// Declares enums with the stored number and the name of each variant.
macro_rules! stored_names {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),* }

        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stored number.
            pub fn number(self) -> u8 {
                match self { $(Self::$variant => $number),* }
            }

            /// Returns the variant with a stored number; `None` for any other number.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.number() == number)
            }

            /// The name in JSON and in requests.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Returns the variant with a name; `None` for any other name.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == text)
            }
        }
    )*};
}

pub(crate) use stored_names;
