//! What facts are told apart by: the dimensions of the specification's 2.1.

/// A column that rows may be grouped, filtered and ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    Date,
    App,
    Country,
    PlacementId,
    AdTag,
    DemandSource,
    SdkV,
}

impl Dimension {
    pub const ALL: [Self; 7] = [
        Self::Date,
        Self::App,
        Self::Country,
        Self::PlacementId,
        Self::AdTag,
        Self::DemandSource,
        Self::SdkV,
    ];

    /// Its name in a request and, but for `app`, in a row.
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::App => "app",
            Self::Country => "country",
            Self::PlacementId => "placement_id",
            Self::AdTag => "ad_tag",
            Self::DemandSource => "demand_source",
            Self::SdkV => "sdk_v",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.name() == name)
    }

    /// Its place in a [`Key`]; none for the date, which is a fact's day.
    pub fn key_index(self) -> Option<usize> {
        KEY.iter().position(|dimension| *dimension == self)
    }

    /// What stands for a value that is not known (docs/DECISIONS.md, "Reports", "zeros"): an empty one is read as this.
    pub fn unknown(self) -> &'static str {
        match self {
            Self::Country => "ZZ",
            _ => "unknown",
        }
    }
}

/// The dimensions of a fact besides its day, in the order of a [`Key`].
pub const KEY: [Dimension; 6] = [
    Dimension::App,
    Dimension::Country,
    Dimension::PlacementId,
    Dimension::AdTag,
    Dimension::DemandSource,
    Dimension::SdkV,
];

/// A fact's dimensions besides its day. The app is its id, 8 digits.
pub type Key<'a> = [&'a str; KEY.len()];

/// The `demand_source` of all that Signpost counts itself. Facts that are loaded may not have it: they would count twice.
pub const OWN_DEMAND_SOURCE: &str = "offerwall";

/// The longest value of a dimension, in bytes.
pub const MAX_VALUE: usize = 128;

/// Whether a text can be a dimension's value: 1 to [`MAX_VALUE`] bytes without control characters. Rows rely on it: a
/// value holds no line break and no NUL.
pub fn is_value(text: &str) -> bool {
    (1..=MAX_VALUE).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dimensions_are_the_specifications() {
        let names = Dimension::ALL.map(Dimension::name);
        assert_eq!(
            names,
            [
                "date",
                "app",
                "country",
                "placement_id",
                "ad_tag",
                "demand_source",
                "sdk_v"
            ]
        );
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
