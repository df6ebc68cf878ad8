//! A reader of canonical CBOR as CTAP2 defines it: definite lengths, shortest numbers, no tags.

/// One item. An array or a map is followed by its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    Text(&'a [u8]),
    Array(u64),
    Map(u64),
    /// A simple value or a float.
    Other,
}

/// Reads items one by one. Every method returns `None` for bytes that are not canonical.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn item(&mut self) -> Option<Item<'a>> {
        let [head] = self.chunk()?;
        let (major, info) = (head >> 5, head & 0x1F);
        Some(match major {
            0 => Item::Int(i64::try_from(self.argument(info)?).ok()?),
            1 => Item::Int(-1 - i64::try_from(self.argument(info)?).ok()?),
            2 => Item::Bytes(self.string(info)?),
            3 => Item::Text(self.string(info)?),
            4 => Item::Array(self.argument(info)?),
            5 => Item::Map(self.argument(info)?),
            7 => {
                match info {
                    20..=23 => {}
                    25 => drop(self.chunk::<2>()?),
                    26 => drop(self.chunk::<4>()?),
                    27 => drop(self.chunk::<8>()?),
                    _ => return None,
                }
                Item::Other
            }
            _ => return None,
        })
    }

    /// Skips an item with its members.
    pub fn skip(&mut self) -> Option<()> {
        let mut pending = 1_u64;
        while pending > 0 {
            let members = match self.item()? {
                Item::Array(items) => items,
                Item::Map(pairs) => pairs.checked_mul(2)?,
                _ => 0,
            };
            // Every item takes at least one byte, so the loop ends with the input at the latest.
            pending = (pending - 1).checked_add(members)?;
        }
        Some(())
    }

    fn argument(&mut self, info: u8) -> Option<u64> {
        let (value, shortest) = match info {
            0..=23 => (u64::from(info), 0),
            24 => (u64::from(u8::from_be_bytes(self.chunk()?)), 24),
            25 => (u64::from(u16::from_be_bytes(self.chunk()?)), 1 << 8),
            26 => (u64::from(u32::from_be_bytes(self.chunk()?)), 1 << 16),
            27 => (u64::from_be_bytes(self.chunk()?), 1 << 32),
            _ => return None,
        };
        (value >= shortest).then_some(value)
    }

    fn string(&mut self, info: u8) -> Option<&'a [u8]> {
        let length = usize::try_from(self.argument(info)?).ok()?;
        let (string, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(string)
    }

    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &str) -> Option<Item<'static>> {
        Reader::new(hex::decode(bytes).unwrap().leak()).item()
    }

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        // RFC 8949, appendix A.
        for (bytes, item) in [
            ("00", Item::Int(0)),
            ("17", Item::Int(23)),
            ("1818", Item::Int(24)),
            ("1903e8", Item::Int(1_000)),
            ("1a000f4240", Item::Int(1_000_000)),
            ("1b000000e8d4a51000", Item::Int(1_000_000_000_000)),
            ("20", Item::Int(-1)),
            ("3903e7", Item::Int(-1_000)),
            ("4401020304", Item::Bytes(&[1, 2, 3, 4])),
            ("6161", Item::Text(b"a")),
            ("83010203", Item::Array(3)),
            ("a201020304", Item::Map(2)),
            ("f4", Item::Other),
            ("f90000", Item::Other),
            ("fb3ff199999999999a", Item::Other),
        ] {
            assert_eq!(read(bytes), Some(item), "{bytes}");
        }
    }

    #[test]
    fn other_spellings_and_missing_bytes_are_refused() {
        for bytes in [
            "",
            "18",
            "1817",
            "1900ff",
            "1a0000ffff",
            "1b00000000ffffffff",
            "1bffffffffffffffff",
            "44010203",
            "5f",
            "9f",
            "bf",
            "ff",
            "1c",
            "c0",
            "e0",
            "f8ff",
            "f97e",
            "fc",
            "5b7fffffffffffffff00",
        ] {
            assert_eq!(read(bytes), None, "{bytes}");
        }
    }

    #[test]
    fn an_item_is_skipped_with_its_members() {
        let bytes = hex::decode("a26163830102a14103f56164f400").unwrap();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.skip(), Some(()));
        assert_eq!(reader.item(), Some(Item::Int(0)));
        assert!(reader.is_at_end());
        for bytes in ["8201", "a101", "9affffffff00", "bb7fffffffffffffff", "bbffffffffffffffff"] {
            assert_eq!(Reader::new(&hex::decode(bytes).unwrap()).skip(), None, "{bytes}");
        }
        // Depth costs no stack.
        assert_eq!(Reader::new(&[0x81; 100_000]).skip(), None);
    }
}
