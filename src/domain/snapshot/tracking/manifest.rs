//! The manifest: the checksum of every shard of the tracking snapshot, 8 bytes per slot. Shards are named by their
//! checksums, so a manifest identifies their exact bytes.

use super::slots::{MAX_BITS, ShardKind, Slot};
use crate::{
    model::parts::Span,
    snapshot::{
        columns::{Fields, Rows, columns},
        envelope::{Damage, Kind},
    },
};

columns! {
    ManifestColumns {
        /// One row: version `u64`, build time in milliseconds `i64`.
        header,
        /// The checksums of the shards, `u64` each, in the order of the shards' numbers: one column for each kind.
        advertisers,
        apps,
        goals,
    }
}

/// The checksums of a catalog's shards, by kind and number. The number of shards of a kind is a power of two.
pub type Checksums = [Vec<u64>; ShardKind::ALL.len()];

/// An opened manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    bytes: Vec<u8>,
    columns: ManifestColumns<Span>,
    version: u64,
    built_at_ms: i64,
}

impl Manifest {
    /// Opens a value, unless it is damaged, has another kind or has an unknown format, or a count of slots is not a
    /// power of two.
    pub fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        let columns = ManifestColumns::open(&bytes, Kind::Manifest)?;
        let mut header = Fields(columns.header.of(&bytes));
        let (Some(version), Some(built_at_ms)) = (header.u64(), header.i64()) else {
            return Err(Damage::Corrupt);
        };
        let manifest = Self { bytes, columns, version, built_at_ms };
        let is_whole = |kind| {
            let slots = manifest.checksums(kind).len();
            slots.is_power_of_two() && slots <= 1 << MAX_BITS
        };
        let are_whole = ShardKind::ALL.into_iter().all(is_whole);
        are_whole.then_some(manifest).ok_or(Damage::Corrupt)
    }

    /// Builds a manifest's value.
    pub fn build(version: u64, built_at_ms: i64, checksums: &Checksums) -> Vec<u8> {
        let [advertisers, apps, goals] = checksums
            .each_ref()
            .map(|checksums| checksums.iter().flat_map(|checksum| checksum.to_le_bytes()).collect());
        let columns = ManifestColumns {
            header: [version.to_le_bytes(), built_at_ms.to_le_bytes()].concat(),
            advertisers,
            apps,
            goals,
        };
        columns.into_value(Kind::Manifest)
    }

    /// The number of the publication. Later publications have higher numbers.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The time of the manifest's data in milliseconds: the shards include every earlier change.
    pub fn built_at_ms(&self) -> i64 {
        self.built_at_ms
    }

    /// The size of the manifest, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The slot of a hash.
    pub fn slot(&self, kind: ShardKind, hash: u16) -> Slot {
        // The number of slots is a power of two, at most 2^16.
        let bits = self.checksums(kind).len().trailing_zeros();
        Slot::of(kind, u8::try_from(bits).unwrap_or_default(), hash)
    }

    /// The checksum of a slot's shard; `None` if this manifest has a different number of slots of this kind.
    pub fn checksum(&self, slot: Slot) -> Option<u64> {
        let checksums = self.checksums(slot.kind);
        if checksums.len() != 1 << slot.bits {
            return None;
        }
        checksums.get(u32::from(slot.number)).copied().map(u64::from_le_bytes)
    }

    /// The slots of a kind with the checksums of their shards.
    pub fn slots(&self, kind: ShardKind) -> impl Iterator<Item = (Slot, u64)> {
        let checksums = self.checksums(kind);
        let bits = u8::try_from(checksums.len().trailing_zeros()).unwrap_or_default();
        let slot = move |number| Slot { kind, bits, number };
        let checksums = checksums.iter().copied().map(u64::from_le_bytes);
        (0..=u16::MAX).map(slot).zip(checksums)
    }

    fn checksums(&self, kind: ShardKind) -> Rows<'_, 8> {
        let column = match kind {
            ShardKind::Advertisers => self.columns.advertisers,
            ShardKind::Apps => self.columns.apps,
            ShardKind::Goals => self.columns.goals,
        };
        Rows::new(column.of(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_each_shard_by_its_checksum() {
        let manifest = Manifest::open(Manifest::build(7, 9, &[vec![1], vec![2, 3], vec![4, 5, 6, 7]])).unwrap();
        assert_eq!((manifest.version(), manifest.built_at_ms()), (7, 9));
        let named = |kind, hash| manifest.checksum(manifest.slot(kind, hash)).unwrap();
        assert_eq!([named(ShardKind::Advertisers, 0), named(ShardKind::Advertisers, u16::MAX)], [1, 1]);
        assert_eq!([named(ShardKind::Apps, 0x7fff), named(ShardKind::Apps, 0x8000)], [2, 3]);
        let goals = [0, 0x4000, 0x8000, 0xffff].map(|hash| named(ShardKind::Goals, hash));
        assert_eq!(goals, [4, 5, 6, 7]);
        assert_eq!(manifest.checksum(Slot::of(ShardKind::Goals, 1, 0)), None, "a slot of an older manifest");
    }

    #[test]
    fn a_manifest_without_a_power_of_two_of_shards_is_refused() {
        for goals in [vec![], vec![1, 2, 3], vec![0; 1 << 17]] {
            assert_eq!(Manifest::open(Manifest::build(1, 1, &[vec![1], vec![1], goals])).err(), Some(Damage::Corrupt));
        }
    }
}
