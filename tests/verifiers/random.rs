//! Random texts and secrets for the tests of verifiers.

use base64::{Engine, prelude::BASE64_STANDARD};

pub use crate::numbers::Random;

impl Random {
    /// A text of pieces that have a meaning in a URL, in JSON or to a verifier.
    pub fn text(&mut self) -> String {
        const PIECES: [&str; 16] =
            ["a", "Z9", "%", "%26", "&", "=", "&signature=", "+", " ", "é", "星", "\"", "\\", "{c1}", "\n", "/.."];
        (0..1 + self.below(4)).map(|_| self.one(&PIECES)).collect()
    }

    /// A secret: `whsec_` and base64 of 24 to 64 bytes.
    pub fn secret(&mut self) -> String {
        let length = 24 + self.below(41);
        let key: Vec<u8> = (0..length).map(|_| self.next().to_le_bytes()[0]).collect();
        format!("whsec_{}", BASE64_STANDARD.encode(key))
    }
}
