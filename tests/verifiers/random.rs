//! Numbers that look random and are the same for the same seed (SplitMix64), and what tests make of them.

use base64::{Engine, prelude::BASE64_STANDARD};

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub fn one<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.below(values.len())]
    }

    /// Of pieces that mean something in a URL, in JSON, or to a verifier.
    pub fn text(&mut self) -> String {
        const PIECES: [&str; 16] = [
            "a",
            "Z9",
            "%",
            "%26",
            "&",
            "=",
            "&signature=",
            "+",
            " ",
            "é",
            "星",
            "\"",
            "\\",
            "{c1}",
            "\n",
            "/..",
        ];
        (0..1 + self.below(4)).map(|_| self.one(&PIECES)).collect()
    }

    /// `whsec_` and base64 of 24 to 64 bytes.
    pub fn secret(&mut self) -> String {
        let length = 24 + self.below(41);
        let key: Vec<u8> = (0..length).map(|_| self.next().to_le_bytes()[0]).collect();
        format!("whsec_{}", BASE64_STANDARD.encode(key))
    }
}
