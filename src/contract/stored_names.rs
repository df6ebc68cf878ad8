//! Enums that are stored as numbers and written as names.

/// Declares enums with the stored number and the name of each variant.
macro_rules! stored_names {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal $text:literal),* $(,)? })*) => {$(
        domain::named_values! {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant = $text,)* }
        }

        impl $name {
            /// The stored number.
            pub fn number(self) -> u8 {
                match self { $(Self::$variant => $number),* }
            }

            /// Returns the variant with a stored number; `None` for any other number.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.number() == number)
            }
        }
    )*};
}

pub(crate) use stored_names;
