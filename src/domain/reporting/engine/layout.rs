//! Packs the key of a group: each requested dimension's number has its own bits in one or two words. The date needs no
//! bits, because a part covers one day if the date is requested.

use super::dictionary::VALUE_BITS;
use crate::reporting::dimension::KEY;

/// The key word of a row that does not count. Keys use at most 63 bits of a word, so no group has this word. Combining
/// it with other bits by `or` does not change it.
pub const SKIP: u64 = u64::MAX;

/// The bits of a word that hold values.
const WORD: u32 = 63;
/// The number of dimensions per word, if one word does not hold them all.
const PER_WORD: usize = 3;
const _: () = assert!(PER_WORD as u32 * VALUE_BITS <= WORD && PER_WORD * 2 >= KEY.len());

/// The position of one dimension's number in a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    pub word: usize,
    shift: u32,
    bits: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    fields: [Field; KEY.len()],
    words: usize,
    bits: u32,
}

impl Layout {
    /// The narrowest layout for dictionaries of these lengths.
    pub fn new(lengths: impl Iterator<Item = usize> + Clone) -> Self {
        let bits = lengths.map(|length| usize::BITS - length.saturating_sub(1).leading_zeros());
        let total = bits.clone().sum::<u32>();
        let words = if total <= WORD { 1 } else { 2 };
        let (mut fields, mut shifts) = ([Field::default(); KEY.len()], [0; 2]);
        for (at, (field, bits)) in fields.iter_mut().zip(bits).enumerate() {
            let word = if words == 1 { 0 } else { at / PER_WORD };
            if let Some(shift) = shifts.get_mut(word) {
                *field = Field { word, shift: *shift, bits };
                *shift += bits;
            }
        }
        Self { fields, words, bits: total }
    }

    /// True if the layout has enough bits for dictionaries of these lengths.
    pub fn fits(&self, mut lengths: impl Iterator<Item = usize>) -> bool {
        self.fields.iter().all(|field| lengths.next().is_none_or(|length| length <= 1 << field.bits))
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of possible keys, if it is at most `max`.
    pub fn keys(&self, max: usize) -> Option<usize> {
        1_usize.checked_shl(self.bits).filter(|keys| *keys <= max)
    }

    pub fn field(&self, at: usize) -> Field {
        self.fields.get(at).copied().unwrap_or_default()
    }

    /// Unpacks a key into its numbers.
    pub fn numbers(&self, key: &[u64]) -> [u32; KEY.len()] {
        self.fields.map(|field| {
            let word = key.get(field.word).copied().unwrap_or_default();
            u32::try_from((word >> field.shift) & ((1 << field.bits) - 1)).unwrap_or(u32::MAX)
        })
    }

    /// Packs numbers into a key.
    pub fn key(&self, numbers: &[u32; KEY.len()]) -> [u64; 2] {
        let mut key = [0; 2];
        for (field, number) in self.fields.iter().zip(numbers) {
            if let Some(word) = key.get_mut(field.word) {
                *word |= field.pack(u64::from(*number));
            }
        }
        key
    }
}

impl Field {
    /// The number, shifted to the field's bits in a word.
    pub fn pack(self, number: u64) -> u64 {
        number << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_key_unpacks_to_its_numbers() {
        for lengths in [[1; 6], [2, 60, 200, 400, 12, 5], [1 << VALUE_BITS; 6], [1 << 19, 1, 1, 1, 1, 1 << 19]] {
            let layout = Layout::new(lengths.into_iter());
            assert!(layout.fits(lengths.into_iter()));
            for numbers in [lengths.map(|length| length as u32 - 1), [0; 6], lengths.map(|length| length as u32 / 2)] {
                let key = layout.key(&numbers);
                assert!(layout.words() == 2 || key[1] == 0);
                assert!(!key.contains(&SKIP));
                assert_eq!(layout.numbers(&key), numbers);
            }
        }
        assert_eq!(Layout::new([1 << 19; 6].into_iter()).words(), 2);
        assert_eq!(Layout::new([1 << 10; 6].into_iter()).words(), 1);
    }

    #[test]
    fn a_layout_fits_numbers_up_to_its_bits() {
        let layout = Layout::new([5, 2].into_iter());
        for (lengths, fits) in [([8, 2], true), ([9, 2], false), ([8, 3], false)] {
            assert_eq!(layout.fits(lengths.into_iter()), fits, "{lengths:?}");
        }
        assert_eq!((layout.keys(16), layout.keys(15)), (Some(16), None));
        assert_eq!(Layout::new([1 << 19; 6].into_iter()).keys(usize::MAX), None);
        assert_eq!(Layout::new(std::iter::empty()).keys(1), Some(1));
    }
}
