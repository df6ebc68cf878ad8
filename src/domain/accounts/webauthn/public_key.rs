//! Public keys in SPKI, the form that browsers deliver and WebCrypto imports.

use super::{
    algorithm::Algorithm,
    der::{self, SEQUENCE},
};

/// The SPKI of a P-256 key, up to its uncompressed point: `id-ecPublicKey` with `prime256v1`, a bit string of 65 bytes,
/// and the byte 4 that marks an uncompressed point.
const P256: [u8; 27] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
];
/// The SPKI of an Ed25519 key, up to the key: `id-Ed25519` and a bit string of 32 bytes.
const ED25519: [u8; 12] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The algorithm of an RSA key: `rsaEncryption` without parameters.
const RSA: [u8; 15] = [0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00];
const BIT_STRING: u8 = 0x03;

/// The minimum and maximum bits of an RSA modulus.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=4_096;

/// A public key. Signpost does not check that a point is on its curve: WebCrypto refuses to import any other point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicKey<'a> {
    P256 { x: &'a [u8; 32], y: &'a [u8; 32] },
    Rsa { modulus: &'a [u8], exponent: &'a [u8] },
    Ed25519(&'a [u8; 32]),
}

impl<'a> PublicKey<'a> {
    pub fn from_spki(spki: &'a [u8]) -> Option<Self> {
        if let Some(point) = spki.strip_prefix(&P256) {
            let (x, y) = point.split_first_chunk()?;
            return Some(Self::P256 { x, y: y.try_into().ok()? });
        }
        if let Some(key) = spki.strip_prefix(&ED25519) {
            return key.try_into().ok().map(Self::Ed25519);
        }
        let bits = der::whole(BIT_STRING, der::whole(SEQUENCE, spki)?.strip_prefix(&RSA)?)?;
        let (modulus, exponent) = der::integers(bits.strip_prefix(&[0])?)?;
        Self::rsa(modulus, exponent)
    }

    /// An RSA key; `None` if its form or size is not accepted. The modulus must have a size in `RSA_BITS`. The
    /// exponent must be at least 3 and at most 4 bytes long. Both numbers must be odd and without leading zeros.
    pub fn rsa(modulus: &'a [u8], exponent: &'a [u8]) -> Option<Self> {
        let zeros = usize::try_from(modulus.first()?.leading_zeros()).ok()?;
        let bits = (modulus.len() * 8).checked_sub(zeros)?;
        let is_odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
        let is_sane = zeros < 8
            && RSA_BITS.contains(&bits)
            && is_odd(modulus)
            && is_odd(exponent)
            && exponent.len() <= 4
            && !matches!(exponent, [0, ..] | [1]);
        is_sane.then_some(Self::Rsa { modulus, exponent })
    }

    pub const fn algorithm(&self) -> Algorithm {
        match self {
            Self::P256 { .. } => Algorithm::Es256,
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::Ed25519(_) => Algorithm::EdDsa,
        }
    }
}
