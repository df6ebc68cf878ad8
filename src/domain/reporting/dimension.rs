//! The dimensions of facts and reports. docs/SPEC.md, "Report query".

crate::named_values! {
    /// A column by which rows may be grouped, filtered and ordered, in the specification's order. Its text is its name
    /// in a request and in a row; in a row, `app` becomes `app_id`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Dimension {
        /// The UTC day, `YYYY-MM-DD`.
        Date = "date",
        /// The app, by its 8-digit id.
        App = "app",
        /// The country, as ISO 3166-1 alpha-2 in upper case.
        Country = "country",
        /// The spot in the app; for Signpost's own facts, the `placement` of a click.
        PlacementId = "placement_id",
        /// The ad that was shown; for Signpost's own facts, the offer.
        AdTag = "ad_tag",
        /// The network that paid; [`OWN_DEMAND_SOURCE`] for Signpost's own facts.
        DemandSource = "demand_source",
        /// The version of the SDK; `api` for Signpost's own facts.
        SdkV = "sdk_v",
    }
}

impl Dimension {
    /// The dimension's index in a [`Key`]; `None` for the date, which is a fact's day.
    pub fn key_index(self) -> Option<usize> {
        KEY.iter().position(|dimension| *dimension == self)
    }

    /// The value that replaces an unknown or empty value. docs/DECISIONS.md, "Reports".
    pub fn unknown(self) -> &'static str {
        match self {
            Self::Country => "ZZ",
            _ => "unknown",
        }
    }
}

/// The dimensions of a fact except the date, in the order of a [`Key`].
pub const KEY: [Dimension; 6] = [
    Dimension::App,
    Dimension::Country,
    Dimension::PlacementId,
    Dimension::AdTag,
    Dimension::DemandSource,
    Dimension::SdkV,
];

/// The values of a fact's dimensions except the date, in the order of [`KEY`]. The app is given by its 8-digit id.
pub type Key<'a> = [&'a str; KEY.len()];

/// The `demand_source` of facts that Signpost counts itself. Uploads may not use it, since the facts would count twice.
pub const OWN_DEMAND_SOURCE: &str = "offerwall";

/// The longest value of a dimension, in bytes.
pub const MAX_VALUE: usize = 128;

/// True if a text can be a dimension's value: 1 to [`MAX_VALUE`] bytes without control characters. Reports rely on
/// this: a value contains no line break and no NUL.
pub fn is_value(text: &str) -> bool {
    (1..=MAX_VALUE).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dimensions_are_those_of_the_specification() {
        let names = Dimension::ALL.map(Dimension::as_str);
        assert_eq!(names.join(" "), "date app country placement_id ad_tag demand_source sdk_v");
        assert!(names.iter().all(|name| Dimension::parse(name).is_some()));
        assert_eq!(Dimension::parse("Date"), None);
        assert_eq!(Dimension::Date.key_index(), None);
        assert_eq!(Dimension::SdkV.key_index(), Some(5));
    }

    #[test]
    fn a_value_is_short_and_printable() {
        assert!(is_value("Bannière 300×250") && is_value(&"x".repeat(128)));
        for bad in ["", "a\nb", "a\0", "\u{7f}", &"x".repeat(129)] {
            assert!(!is_value(bad), "{bad:?}");
        }
    }
}
