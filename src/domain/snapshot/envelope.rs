//! The envelope of every snapshot value: its kind, format and checksum. KV guarantees neither freshness nor
//! completeness, and an opened snapshot is not checked again. So damaged values, and values of another kind, are
//! refused here.
//!
//! Layout, little-endian: magic `SGNP`, kind `u8`, format `u8`, two zero bytes, xxh64 of the payload `u64`, payload
//! (joined columns).

use std::fmt;

use xxhash_rust::xxh64::xxh64;

const MAGIC: [u8; 4] = *b"SGNP";
/// The header's size in bytes.
pub const HEADER: usize = 16;

/// The kind of a snapshot value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The checksums of all tracking shards.
    Manifest = 1,
    /// The index of the offers that may be listed.
    Listing = 2,
    /// A chunk of bodies.
    Bodies = 3,
    /// A tracking shard of goals with their offers.
    Goals = 4,
    /// A tracking shard of apps with their publishers.
    Apps = 5,
    /// A tracking shard of advertisers' token serials.
    Advertisers = 6,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Manifest, Self::Listing, Self::Bodies, Self::Goals, Self::Apps, Self::Advertisers];

    /// The format that this code writes, and the only one that it reads. A new format takes two releases: the first
    /// reads it, and the next one writes it.
    pub const fn format(self) -> u8 {
        match self {
            Self::Manifest | Self::Listing | Self::Bodies | Self::Goals | Self::Apps | Self::Advertisers => 1,
        }
    }
}

/// The reason why a value does not open. The isolate then keeps its current snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The value is not a snapshot, or is a snapshot of another kind.
    Foreign,
    /// The format belongs to another version of Signpost.
    UnknownFormat(u8),
    /// Bytes are missing or changed.
    Corrupt,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("not a snapshot of this kind"),
            Self::UnknownFormat(format) => write!(f, "snapshot format {format} is unknown"),
            Self::Corrupt => f.write_str("the snapshot is damaged"),
        }
    }
}

/// Builds a value from its payload.
pub fn wrap(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[kind as u8, kind.format(), 0, 0]);
    bytes.extend_from_slice(&xxh64(payload, 0).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The checksum of a built or opened value; `None` if it has no envelope.
pub fn checksum(bytes: &[u8]) -> Option<u64> {
    let (header, _) = bytes.split_first_chunk::<HEADER>()?;
    header.last_chunk::<8>().copied().map(u64::from_le_bytes)
}

/// Checks that a value is intact, of this kind and of its format.
pub fn verify(kind: Kind, bytes: &[u8]) -> Result<(), Damage> {
    let (header, payload) = bytes.split_first_chunk::<HEADER>().ok_or(Damage::Foreign)?;
    let [m0, m1, m2, m3, found_kind, found_format, _, _, checksum @ ..] = *header;
    if [m0, m1, m2, m3] != MAGIC || found_kind != kind as u8 {
        return Err(Damage::Foreign);
    }
    if found_format != kind.format() {
        return Err(Damage::UnknownFormat(found_format));
    }
    if u64::from_le_bytes(checksum) != xxh64(payload, 0) {
        return Err(Damage::Corrupt);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_opens_only_with_its_kind_and_format_and_if_it_is_intact() {
        let bytes = wrap(Kind::Listing, b"payload");
        assert_eq!(verify(Kind::Listing, &bytes), Ok(()));
        assert_eq!(verify(Kind::Manifest, &bytes), Err(Damage::Foreign));
        let mut newer = bytes.clone();
        newer[5] = 2;
        assert_eq!(verify(Kind::Listing, &newer), Err(Damage::UnknownFormat(2)));
        for cut in 0..bytes.len() {
            assert!(verify(Kind::Listing, &bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in (0..bytes.len()).filter(|at| !(6..8).contains(at)) {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(verify(Kind::Listing, &changed).is_err(), "changed at {at}");
        }
    }
}
