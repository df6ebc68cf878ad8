//! The closed lists of docs/SPEC.md, "Offers request" and "Offers response": offer types, platforms and categories. The
//! states of an offer are Signpost's own.

use serde::{Deserialize, Serialize};

/// Declares an enum with a text for each value.
#[macro_export]
macro_rules! named_values {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($(#[$value_attribute:meta])* $value:ident = $text:literal,)*
    }) => {
        $(#[$attribute])*
        pub enum $name { $($(#[$value_attribute])* $value),* }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$value),*];

            /// The text of the value.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text),* }
            }

            /// Returns the value with this text; `None` for any other text.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$value),)* _ => None }
            }
        }
    };
}

macro_rules! closed_lists {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? })*) => {$(
        named_values! {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            pub enum $name { $(
                /// A value of the list; [`Self::as_str`] has its text.
                #[serde(rename = $text)]
                $variant = $text,
            )* }
        }

        impl $name {
            /// The index in [`Self::ALL`], as snapshots store it.
            pub fn code(self) -> u8 {
                self as u8
            }

            /// The value with this [`Self::code`]; `None` for any other number.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.get(usize::from(code)).copied()
            }
        }
    )*};
}

closed_lists! {
    /// The type of an offer (`off_type`): the event that it pays for.
    OfferType {
        Cpr = "CPR",
        Cpi = "CPI",
        Cpl = "CPL",
        Cpc = "CPC",
        Cpe = "CPE",
        Cpa = "CPA",
        ApkInstall = "APK_INSTALL",
        ApkRegister = "APK_REGISTER",
    }

    /// The current state of an offer, derived from `active`, `starts_at` and `ends_at`.
    OfferState { Active = "active", NotStarted = "not_started", Ended = "ended", Off = "off" }

    /// The platform of an app or an offer (`os`).
    Platform { Ios = "ios", Android = "android", Web = "web" }

    /// A category of an offer (`ctg`).
    Category {
        SingleStep = "SINGLE_STEP",
        MultiReward = "MULTI_REWARD",
        Deposit = "DEPOSIT",
        Gaming = "GAMING",
        Finance = "FINANCE",
        Survey = "SURVEY",
        New = "NEW",
    }
}
