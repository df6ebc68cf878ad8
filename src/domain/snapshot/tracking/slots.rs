//! The slots of shards. An id's hash decides its slot.

use xxhash_rust::xxh64::xxh64;

use crate::model::AppId;

/// Maximum bits of a slot's hash. There are at most 65,536 slots of a kind.
pub const MAX_BITS: u8 = 16;

crate::named_values! {
    /// The kinds of shards, with their texts in the names of slots. The catalog publishes the kinds in this order, and
    /// stores a kind as its position in this list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum ShardKind {
        /// Serials of advertisers' tokens.
        Advertisers = "advertisers",
        /// Apps with their publishers.
        Apps = "apps",
        /// Goals with their offers.
        Goals = "goals",
    }
}

impl ShardKind {
    /// The number in a shard's column and in storage.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this number; `None` for any other.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// The hash that decides the slot of an advertiser or a goal: the upper bits, since an index in a shard uses the lower
/// bits.
pub fn hash(id: &str) -> u16 {
    let [.., low, high] = xxh64(id.as_bytes(), 0).to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// The hash that decides the slot of an app.
pub fn hash_of_app(id: AppId) -> u16 {
    let [.., low, high] = xxh64(&id.number().to_le_bytes(), 0).to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// A slot. Its shard has the ids of one kind whose hashes begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The kind of the shard. The hashes of different kinds are unrelated.
    pub kind: ShardKind,
    /// There are 2^bits slots of this kind.
    pub bits: u8,
    /// The first `bits` bits of the hashes, below 2^bits.
    pub number: u16,
}

impl Slot {
    /// The slot of a hash, among 2^bits slots.
    pub fn of(kind: ShardKind, bits: u8, hash: u16) -> Self {
        let number = u32::from(hash) >> MAX_BITS.saturating_sub(bits);
        Self { kind, bits, number: u16::try_from(number).unwrap_or_default() }
    }

    /// The first and the last hash in the slot.
    pub fn hashes(self) -> (u16, u16) {
        let width = 1_u32 << MAX_BITS.saturating_sub(self.bits);
        let first = u32::from(self.number).saturating_mul(width);
        let last = first.saturating_add(width).saturating_sub(1);
        (u16::try_from(first).unwrap_or(u16::MAX), u16::try_from(last).unwrap_or(u16::MAX))
    }

    /// The slot's name: kind, bits and number, such as `goals-13-4711`. It is part of the URL at which the catalog
    /// answers with the slot's shard.
    pub fn name(self) -> String {
        format!("{}-{}-{}", self.kind.as_str(), self.bits, self.number)
    }

    /// Parses the output of [`Self::name`]; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let kind = ShardKind::parse(parts.next()?)?;
        let slot = Self { kind, bits: parts.next()?.parse().ok()?, number: parts.next()?.parse().ok()? };
        let is_slot = slot.bits <= MAX_BITS && u32::from(slot.number) < 1 << slot.bits;
        (is_slot && parts.next().is_none()).then_some(slot)
    }

    /// The bytes of the column that names a shard's slot.
    pub(super) fn to_bytes(self) -> [u8; 4] {
        let [low, high] = self.number.to_le_bytes();
        [self.kind.code(), self.bits, low, high]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The hashes are stored in the catalog's tables and computed by every isolate, so they never change.
    #[test]
    fn hashes_are_pinned() {
        assert_eq!([hash(""), hash("g-1"), hash("410271")], [0xef46, 0x56c2, 0xae91]);
        assert_eq!(hash_of_app(AppId::from_number(10_000_001).unwrap()), 0x79ff);
        assert_eq!(ShardKind::ALL.map(ShardKind::code), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn each_hash_is_in_one_slot_and_halves_stay_together(hash: u16, bits in 0..=MAX_BITS) {
            let slot = Slot::of(ShardKind::Goals, bits, hash);
            let (first, last) = slot.hashes();
            prop_assert!((first..=last).contains(&hash));
            prop_assert_eq!(Slot::of(ShardKind::Goals, bits, first), slot);
            prop_assert_eq!(Slot::of(ShardKind::Goals, bits, last), slot);
            prop_assert!(first == 0 || Slot::of(ShardKind::Goals, bits, first - 1) != slot);
            prop_assert!(last == u16::MAX || Slot::of(ShardKind::Goals, bits, last + 1) != slot);
            prop_assert_eq!(Slot::parse(&slot.name()), Some(slot));
            if bits < MAX_BITS {
                let half = Slot::of(ShardKind::Goals, bits + 1, hash);
                prop_assert_eq!(half.number / 2, slot.number);
            }
        }
    }

    #[test]
    fn a_name_of_no_slot_is_refused() {
        for name in ["", "goals", "goals-1", "goals-1-2", "goals-17-0", "goals-0-0-0", "offers-0-0", "goals-0--1"] {
            assert_eq!(Slot::parse(name), None, "{name}");
        }
    }
}
