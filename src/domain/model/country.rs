//! ISO 3166-1 alpha-2 countries, and sets of countries small enough to be stored in every offer of a snapshot.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The 249 officially assigned codes, and `XK`, which is user-assigned for Kosovo and reported by the edge network. The
/// order is alphabetical except that new codes are appended, since snapshots store a country by its index in this list.
const CODES: &[u8] = b"ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZ\
CACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGY\
HKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZ\
NANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZ\
TCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSYEYTZAZMZWXK";

/// Number of countries.
pub const COUNTRIES: usize = CODES.len() / 2;

/// An assigned country code, upper case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(u8);

impl Country {
    /// Parses two letters in upper or lower case; `None` for a code that is not assigned (`UK`, `EU`, `XX`, `T1`, …).
    pub fn parse(text: &str) -> Option<Self> {
        let &[a, b] = text.as_bytes() else { return None };
        let code = [a.to_ascii_uppercase(), b.to_ascii_uppercase()];
        let index = CODES.chunks_exact(2).position(|assigned| assigned == code)?;
        u8::try_from(index).ok().map(Self)
    }

    /// The index in the list of countries, below [`COUNTRIES`].
    pub fn index(self) -> u8 {
        self.0
    }

    /// The country at an index; `None` at [`COUNTRIES`] or higher.
    pub fn from_index(index: u8) -> Option<Self> {
        (usize::from(index) < COUNTRIES).then_some(Self(index))
    }

    /// The two letters, in upper case.
    pub fn as_str(self) -> &'static str {
        let at = usize::from(self.0) * 2;
        CODES.get(at..at + 2).and_then(|code| std::str::from_utf8(code).ok()).unwrap_or("ZZ")
    }

    /// Every country.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map_while(Self::from_index)
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Country {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Country {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not an assigned ISO 3166 alpha-2 code")))
    }
}

/// A set of countries, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CountrySet([u8; 32]);

impl CountrySet {
    /// The countries that an offer targets: `include`, or every country if `include` is empty, minus `exclude`.
    pub fn targeted(include: &[Country], exclude: &[Country]) -> Self {
        let mut set = Self::default();
        if include.is_empty() {
            Country::all().for_each(|country| set.insert(country));
        } else {
            include.iter().for_each(|&country| set.insert(country));
        }
        exclude.iter().for_each(|&country| set.remove(country));
        set
    }

    /// True if the country is in the set.
    pub fn contains(&self, country: Country) -> bool {
        let (byte, bit) = byte_and_bit(country);
        self.0.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    /// Adds a country.
    pub fn insert(&mut self, country: Country) {
        let (byte, bit) = byte_and_bit(country);
        if let Some(byte) = self.0.get_mut(byte) {
            *byte |= bit;
        }
    }

    fn remove(&mut self, country: Country) {
        let (byte, bit) = byte_and_bit(country);
        if let Some(byte) = self.0.get_mut(byte) {
            *byte &= !bit;
        }
    }

    /// The bits as a snapshot stores them.
    pub fn bits(&self) -> [u8; 32] {
        self.0
    }

    /// The set with these [`Self::bits`].
    pub fn from_bits(bits: [u8; 32]) -> Self {
        Self(bits)
    }
}

/// The index of a country's byte in the set, and its bit in that byte.
fn byte_and_bit(country: Country) -> (usize, u8) {
    (usize::from(country.0 / 8), 1 << (country.0 % 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assigned_code_is_known_once() {
        assert_eq!(COUNTRIES, 250);
        let mut seen: Vec<_> = Country::all().map(Country::as_str).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), COUNTRIES);
        for code in seen {
            assert_eq!(Country::parse(code).map(Country::as_str), Some(code));
        }
    }

    #[test]
    fn lower_case_is_accepted_and_unassigned_codes_are_not() {
        assert_eq!(Country::parse("de").map(Country::as_str), Some("DE"));
        for bad in ["UK", "EU", "XX", "T1", "ZZ", "AN", "D", "DEU", "", "é"] {
            assert!(Country::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_offer_without_includes_targets_every_country_but_the_excluded_ones() {
        let [de, us, fr] = ["DE", "US", "FR"].map(|code| Country::parse(code).unwrap());
        let everyone = CountrySet::targeted(&[], &[us]);
        assert!(everyone.contains(de) && !everyone.contains(us));
        let some = CountrySet::targeted(&[de, us], &[us]);
        assert!(some.contains(de) && !some.contains(us) && !some.contains(fr));
    }
}
