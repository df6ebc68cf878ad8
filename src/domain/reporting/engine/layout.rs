//! How a group's key is packed: the number of each requested dimension's value in its own bits of one or two words. The
//! date is in none, since a part has one day when the date is asked for.

use super::dictionary::VALUE_BITS;
use crate::reporting::dimension::KEY;

/// The key of a row that does not count. No group has it: a word has bits to spare, and an `or` with it is it again.
pub const SKIP: u64 = u64::MAX;

/// The bits that a word holds values in.
const WORD: u32 = 63;
/// Dimensions that share a word when one word does not hold all.
const SHARE: usize = 3;
const _: () = assert!(SHARE as u32 * VALUE_BITS <= WORD && SHARE * 2 >= KEY.len());

/// Where one dimension's number stands in a key.
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
    /// The narrowest for dictionaries of these lengths.
    pub fn of(lengths: impl Iterator<Item = usize> + Clone) -> Self {
        let bits = lengths.map(|length| usize::BITS - length.saturating_sub(1).leading_zeros());
        let total = bits.clone().sum::<u32>();
        let words = if total <= WORD { 1 } else { 2 };
        let (mut fields, mut shifts) = ([Field::default(); KEY.len()], [0; 2]);
        for (at, (field, bits)) in fields.iter_mut().zip(bits).enumerate() {
            let word = if words == 1 { 0 } else { at / SHARE };
            if let Some(shift) = shifts.get_mut(word) {
                *field = Field {
                    word,
                    shift: *shift,
                    bits,
                };
                *shift += bits;
            }
        }
        Self {
            fields,
            words,
            bits: total,
        }
    }

    /// Whether each dimension's numbers fit it.
    pub fn holds(&self, mut lengths: impl Iterator<Item = usize>) -> bool {
        self.fields
            .iter()
            .all(|field| lengths.next().is_none_or(|length| length <= 1 << field.bits))
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// How many keys there can be, if that is no more than `most`.
    pub fn keys(&self, most: usize) -> Option<usize> {
        1_usize.checked_shl(self.bits).filter(|keys| *keys <= most)
    }

    pub fn field(&self, at: usize) -> Field {
        self.fields.get(at).copied().unwrap_or_default()
    }

    /// The numbers that a key is made of.
    pub fn numbers(&self, key: &[u64]) -> [u32; KEY.len()] {
        self.fields.map(|field| {
            let word = key.get(field.word).copied().unwrap_or_default();
            u32::try_from((word >> field.shift) & ((1 << field.bits) - 1)).unwrap_or(u32::MAX)
        })
    }

    /// The key that is made of these numbers.
    pub fn key(&self, numbers: &[u32; KEY.len()]) -> [u64; 2] {
        let mut key = [0; 2];
        for (field, number) in self.fields.iter().zip(numbers) {
            if let Some(word) = key.get_mut(field.word) {
                *word |= field.place(u64::from(*number));
            }
        }
        key
    }
}

impl Field {
    pub fn place(self, number: u64) -> u64 {
        number << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_of_its_numbers() {
        for lengths in [
            [1; 6],
            [2, 60, 200, 400, 12, 5],
            [1 << VALUE_BITS; 6],
            [1 << 19, 1, 1, 1, 1, 1 << 19],
        ] {
            let layout = Layout::of(lengths.into_iter());
            assert!(layout.holds(lengths.into_iter()));
            for numbers in [
                lengths.map(|length| length as u32 - 1),
                [0; 6],
                lengths.map(|length| length as u32 / 2),
            ] {
                let key = layout.key(&numbers);
                assert!(layout.words() == 2 || key[1] == 0);
                assert!(!key.contains(&SKIP));
                assert_eq!(layout.numbers(&key), numbers);
            }
        }
        assert_eq!(Layout::of([1 << 19; 6].into_iter()).words(), 2);
        assert_eq!(Layout::of([1 << 10; 6].into_iter()).words(), 1);
    }

    #[test]
    fn a_layout_knows_what_it_holds() {
        let layout = Layout::of([5, 2].into_iter());
        assert!(
            layout.holds([8, 2].into_iter())
                && !layout.holds([9, 2].into_iter())
                && !layout.holds([8, 3].into_iter())
        );
        assert_eq!((layout.keys(16), layout.keys(15)), (Some(16), None));
        assert_eq!(Layout::of([1 << 19; 6].into_iter()).keys(usize::MAX), None);
        assert_eq!(Layout::of(std::iter::empty()).keys(1), Some(1));
    }
}
