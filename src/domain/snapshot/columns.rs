//! Columns: the parts of a snapshot. Each column is one blob of bytes, so apart from the checksum, opening a snapshot
//! reads only the lengths of the columns. A column is read in place with `get`. Invalid bytes give `None`, never a
//! panic.

use std::cmp::Ordering;

use xxhash_rust::xxh64::xxh64;

use crate::model::parts::to_u32;

/// Declares a snapshot's columns: a struct that has the bytes of each column, to build a snapshot, or the
/// [`Span`](crate::model::parts::Span) of each column in an opened snapshot value.
macro_rules! columns {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$column_doc:meta])* $column:ident,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        struct $name<T> { $($(#[$column_doc])* $column: T,)* }

        impl $name<Vec<u8>> {
            /// The snapshot value of these columns.
            fn into_value(self, kind: $crate::snapshot::envelope::Kind) -> Vec<u8> {
                let joined = $crate::model::parts::join(&[$(self.$column,)*]);
                $crate::snapshot::envelope::wrap(kind, &joined)
            }
        }

        impl $name<$crate::model::parts::Span> {
            /// Opens a snapshot value: verifies its checksum, and finds its columns.
            fn open(
                bytes: &[u8],
                kind: $crate::snapshot::envelope::Kind,
            ) -> Result<Self, $crate::snapshot::envelope::Damage> {
                use $crate::{snapshot::envelope, model::parts::split};
                envelope::verify(kind, bytes)?;
                let [$($column,)*] = split(bytes, envelope::HEADER).ok_or(envelope::Damage::Corrupt)?;
                Ok(Self { $($column,)* })
            }
        }
    };
}
pub(crate) use columns;

/// Rows of `N` bytes each.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, const N: usize>(&'a [[u8; N]]);

impl<'a, const N: usize> Rows<'a, N> {
    /// Reads the bytes of rows. Bytes after the last whole row are ignored.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// Number of whole rows.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The row at an index, from 0; `None` past the last.
    pub fn get(self, row: u32) -> Option<&'a [u8; N]> {
        self.0.get(usize::try_from(row).ok()?)
    }

    /// All rows, in order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8; N]> {
        self.0.iter()
    }
}

/// One little-endian `u32` per row.
#[derive(Clone, Copy, Debug)]
pub struct U32Column<'a>(Rows<'a, 4>);

impl<'a> U32Column<'a> {
    /// Reads the bytes of [`Self::column`]. Bytes after the last whole number are ignored.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Rows::new(bytes))
    }

    /// Number of rows.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The number in a row; `None` past the last.
    pub fn get(self, row: u32) -> Option<u32> {
        self.0.get(row).copied().map(u32::from_le_bytes)
    }

    /// All numbers, in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.0.iter().copied().map(u32::from_le_bytes)
    }

    /// Builds the bytes of a column.
    pub fn column(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
        values.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

/// Binary search in an ascending column. `compare` compares a row with the searched value.
pub fn find_sorted(rows: usize, compare: impl Fn(u32) -> Option<Ordering>) -> Option<u32> {
    let (mut low, mut high) = (0, u32::try_from(rows).ok()?);
    while low < high {
        let middle = low.midpoint(high);
        match compare(middle)? {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => high = middle,
        }
    }
    None
}

/// Reads fields of fixed width from a row, in the order in which they were written.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `N` bytes. If fewer are left, returns `None` and reads nothing.
    pub fn bytes<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(field)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.bytes().copied().map(u8::from_le_bytes)
    }

    /// The next 4 bytes, little-endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.bytes().copied().map(u32::from_le_bytes)
    }

    /// The next 8 bytes, little-endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.bytes().copied().map(u64::from_le_bytes)
    }

    /// The next 8 bytes, little-endian, in two's complement.
    pub fn i64(&mut self) -> Option<i64> {
        self.bytes().copied().map(i64::from_le_bytes)
    }
}

/// One text (or any bytes) per row. The layout is the number of rows (`u32`), the end of each row's text (`u32`), and
/// the texts.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    ends: U32Column<'a>,
    texts: &'a [u8],
}

impl<'a> Strings<'a> {
    /// Reads the bytes of [`Self::column`]. The result has no rows if bytes are missing.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut fields = Fields(bytes);
        let rows = fields.u32().and_then(|rows| usize::try_from(rows).ok());
        let split = rows.and_then(|rows| fields.0.split_at_checked(rows.checked_mul(4)?));
        let (ends, texts) = split.unwrap_or_default();
        let ends = U32Column::new(ends);
        Self { ends, texts }
    }

    /// Number of rows.
    pub fn len(self) -> usize {
        self.ends.len()
    }

    /// The text of a row, as bytes that may not be UTF-8; `None` past the last row.
    pub fn bytes(self, row: u32) -> Option<&'a [u8]> {
        let start = match row.checked_sub(1) {
            Some(before) => self.ends.get(before)?,
            None => 0,
        };
        let end = self.ends.get(row)?;
        self.texts.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// The text of a row. UTF-8 is validated at each access: a request needs few short texts, and validating all texts
    /// would slow down a cold start.
    pub fn get(self, row: u32) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(row)?).ok()
    }

    /// The row of a text, if the rows are sorted bytewise.
    pub fn find_sorted(self, text: &[u8]) -> Option<u32> {
        find_sorted(self.len(), |row| Some(self.bytes(row)?.cmp(text)))
    }

    /// Builds the bytes of a column.
    pub fn column<T: AsRef<[u8]>>(rows: impl IntoIterator<Item = T>) -> Vec<u8> {
        let (mut ends, mut texts) = (Vec::new(), Vec::new());
        for text in rows {
            texts.extend_from_slice(text.as_ref());
            ends.push(to_u32(texts.len()));
        }
        let rows = to_u32(ends.len());
        let mut bytes = U32Column::column(std::iter::once(rows).chain(ends));
        bytes.append(&mut texts);
        bytes
    }
}

/// A hash index from keys to rows, by open addressing with linear probing. The number of slots is a power of two, and
/// at most half of the slots are used. A slot holds a row's number plus one, or 0 if it is free. The keys are in
/// another column, which the caller has.
#[derive(Clone, Copy, Debug)]
pub struct HashIndex<'a>(U32Column<'a>);

impl<'a> HashIndex<'a> {
    /// Reads the bytes of [`Self::column`].
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(U32Column::new(bytes))
    }

    /// The first row with this key. `matches` says whether a row has the key.
    pub fn lookup(self, key: &[u8], matches: impl Fn(u32) -> bool) -> Option<u32> {
        let slots = self.0.len();
        // Each slot is tried at most once, since a damaged index may have no free slot.
        for probe in probes(key, slots).take(slots) {
            let row = self.0.get(u32::try_from(probe).ok()?)?.checked_sub(1)?;
            if matches(row) {
                return Some(row);
            }
        }
        None
    }

    /// Builds the index of `keys`, the keys of all rows in order. If several rows have the same key, the first of them
    /// is found.
    pub fn column<K: AsRef<[u8]>>(keys: &[K]) -> Vec<u8> {
        let mut slots = vec![0_u32; keys.len().saturating_mul(2).next_power_of_two()];
        for (key, row) in keys.iter().zip(1_u32..) {
            let free = probes(key.as_ref(), slots.len()).find(|&at| slots.get(at) == Some(&0));
            if let Some(slot) = free.and_then(|at| slots.get_mut(at)) {
                *slot = row;
            }
        }
        U32Column::column(slots)
    }
}

/// The endless sequence of slots to probe for a key. `slots` is a power of two, unless the index is damaged; look-ups
/// may then find nothing.
fn probes(key: &[u8], slots: usize) -> impl Iterator<Item = usize> {
    let mask = slots.wrapping_sub(1);
    #[expect(clippy::cast_possible_truncation, reason = "only the low bits are used")]
    let first = xxh64(key, 0) as usize;
    (0..).map(move |step: usize| first.wrapping_add(step) & mask)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_and_fields_are_read_as_they_were_written() {
        let rows = Rows::<3>::new(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((rows.len(), rows.get(1), rows.get(2)), (2, Some(&[4, 5, 6]), None));
        let mut fields = Fields(&[7, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 9]);
        assert_eq!(fields.u8(), Some(7));
        assert_eq!(fields.u32(), Some(1));
        assert_eq!(fields.i64(), Some(-1));
        assert_eq!(fields.u64(), None);
    }

    proptest! {
        #[test]
        fn columns_are_read_as_they_were_built(
            numbers in proptest::collection::vec(any::<u32>(), 0..50),
            texts in proptest::collection::btree_set(".{0,8}", 0..50),
        ) {
            let bytes = U32Column::column(numbers.iter().copied());
            prop_assert_eq!(U32Column::new(&bytes).iter().collect::<Vec<_>>(), numbers);
            let bytes = Strings::column(&texts);
            let strings = Strings::new(&bytes);
            for (text, row) in texts.iter().zip(0..) {
                prop_assert_eq!(strings.get(row), Some(text.as_str()));
                prop_assert_eq!(strings.find_sorted(text.as_bytes()), Some(row));
            }
            prop_assert_eq!(strings.len(), texts.len());
            prop_assert_eq!(strings.get(u32::try_from(texts.len()).unwrap()), None);
            prop_assert_eq!(strings.find_sorted("no text of up to eight is this".as_bytes()), None);
        }

        #[test]
        fn an_index_finds_the_first_row_of_each_key_and_no_other(
            keys in proptest::collection::vec("[a-d]{0,3}", 0..100),
            unlisted in "[a-e]{0,3}",
        ) {
            let bytes = HashIndex::column(&keys);
            let index = HashIndex::new(&bytes);
            let mut first = HashMap::new();
            for (key, row) in keys.iter().zip(0_u32..) {
                first.entry(key.clone()).or_insert(row);
            }
            for key in keys.iter().chain([&unlisted]) {
                let found = index.lookup(key.as_bytes(), |row| keys[usize::try_from(row).unwrap()] == *key);
                prop_assert_eq!(found, first.get(key).copied());
            }
        }

        #[test]
        fn damaged_columns_never_panic(
            a in proptest::collection::vec(any::<u8>(), 0..64),
            b in proptest::collection::vec(any::<u8>(), 0..64),
            row: u32,
        ) {
            for bytes in [&a, &[&[4, 0, 0, 0], a.as_slice()].concat()] {
                let strings = Strings::new(bytes);
                let _ = (strings.get(row), strings.get(0), strings.find_sorted(&b));
            }
            let full = vec![1; a.len()];
            let _ = (HashIndex::new(&a).lookup(&b, |_| false), HashIndex::new(&full).lookup(&b, |_| false));
        }
    }
}
