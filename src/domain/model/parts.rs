//! A stored value in parts: the lengths of all parts as little-endian `u32`, then the bytes of all parts.

/// Builds a value from its parts.
pub fn join<P: AsRef<[u8]>>(parts: &[P]) -> Vec<u8> {
    let parts = || parts.iter().map(AsRef::as_ref);
    let lengths = parts().flat_map(|part: &[u8]| to_u32(part.len()).to_le_bytes());
    let mut joined: Vec<u8> = lengths.collect();
    parts().for_each(|part| joined.extend_from_slice(part));
    joined
}

/// The spans of a value's `N` parts. `None` unless the parts fill `bytes` from `start` to the end.
pub fn split<const N: usize>(bytes: &[u8], start: usize) -> Option<[Span; N]> {
    let (lengths, _) = bytes.get(start..)?.as_chunks::<4>();
    let lengths = lengths.first_chunk::<N>()?;
    let mut start = start + size_of_val(lengths);
    let mut spans = [Span::default(); N];
    for (span, length) in spans.iter_mut().zip(lengths) {
        let len = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        *span = Span { start, len };
        start = start.checked_add(len)?;
    }
    (start == bytes.len()).then_some(spans)
}

/// A length or position as a `u32`. No stored value is near 4 GiB; a longer value would be refused as damaged when it
/// is read.
pub fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The position of a part in the bytes of its value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    start: usize,
    len: usize,
}

impl Span {
    /// The part's bytes within `bytes`; empty if `bytes` is too short.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..).and_then(|rest| rest.get(..self.len)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_parts_are_split_again_and_missing_or_further_bytes_refused() {
        let mut value = join(&[&b"ab"[..], b"", b"cde"]);
        let spans = split::<3>(&value, 0).unwrap();
        assert_eq!(spans.map(|span| span.of(&value)), [&b"ab"[..], b"", b"cde"]);
        assert_eq!(spans[2].of(b"abc"), b"");
        assert!(split::<2>(&value, 0).is_none() && split::<4>(&value, 0).is_none());
        value.insert(0, 7);
        assert_eq!(split::<3>(&value, 1).unwrap()[2].of(&value), b"cde");
        for cut in 0..value.len() {
            assert!(split::<3>(&value[..cut], 1).is_none(), "cut at {cut}");
        }
        value.push(0);
        assert!(split::<3>(&value, 1).is_none());
        assert!(split::<1>(&[0xFF; 8], 0).is_none());
    }
}
