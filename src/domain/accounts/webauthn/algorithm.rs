//! The signature algorithms that passkeys may use.

/// An algorithm of the COSE registry. Nearly every authenticator supports ES256; Windows needs RS256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Every algorithm, the preferred one first.
    pub const ALL: [Self; 3] = [Self::Es256, Self::Rs256, Self::EdDsa];

    /// The number in the COSE registry.
    pub const fn cose(self) -> i64 {
        match self {
            Self::Es256 => -7,
            Self::Rs256 => -257,
            Self::EdDsa => -8,
        }
    }

    /// Returns the algorithm with this COSE number, or `None` if Signpost does not support it.
    pub fn from_cose(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.cose() == number)
    }
}
