//! The keys that seal and open click ids: the setting `CLICK_KEYS`, a list of `id:mode:hex` separated by commas. A new
//! key is first deployed as `open`. An old key stays as `open` until no click id sealed with it can come back.

use std::fmt;

use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::model::credentials::parse_key;

/// Labels from which a separate key is derived for each use. A nonce must never authenticate two messages under one
/// ChaCha20-Poly1305 key. A short click id and its record have the same nonce, so they need separate keys.
const SEALING: &[u8] = b"signpost sealed click";
const SHORT: &[u8] = b"signpost short click id";

const KEY_BYTES: usize = 32;

/// One entry of `CLICK_KEYS` with its derived keys.
pub struct ClickKey {
    id: u8,
    cipher: ChaCha20Poly1305,
    short: Hmac<Sha256>,
}

impl ClickKey {
    fn derive(id: u8, master: &[u8; KEY_BYTES]) -> Option<Self> {
        let mac = |key: &[u8]| <Hmac<Sha256> as KeyInit>::new_from_slice(key).ok();
        let subkey = |purpose| mac(master).map(|mac| mac.chain_update(purpose).finalize().into_bytes());
        Some(Self { id, cipher: ChaCha20Poly1305::new(&subkey(SEALING)?), short: mac(&subkey(SHORT)?)? })
    }

    /// The number in every click id sealed with this key.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// The cipher that seals the click.
    pub fn cipher(&self) -> &ChaCha20Poly1305 {
        &self.cipher
    }

    /// A new MAC for the tag of a short click id.
    pub fn short(&self) -> Hmac<Sha256> {
        self.short.clone()
    }
}

impl fmt::Debug for ClickKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// All configured keys. Each opens click ids, and one seals them.
#[derive(Debug)]
pub struct KeyRing {
    sealing: ClickKey,
    others: Vec<ClickKey>,
}

impl KeyRing {
    /// Parses `CLICK_KEYS`: ids from 0 to 255, each once; modes `seal` and `open`; keys of 64 hexadecimal digits. The
    /// first key with `seal` seals, and all keys open. An error names the entry and the fault but never quotes the
    /// text, which may be a key in the wrong field.
    pub fn parse(configuration: &str) -> Result<Self, String> {
        let mut sealing = None;
        let mut others: Vec<ClickKey> = Vec::new();
        for (place, entry) in (1..).zip(configuration.split(',')) {
            let wrong = |problem: &str| format!("CLICK_KEYS, entry {place}: {problem}");
            let fields: Vec<_> = entry.trim().split(':').collect();
            let &[id, mode, key] = fields.as_slice() else {
                return Err(wrong("must be id:mode:key"));
            };
            let id = parse_id(id).ok_or_else(|| wrong("the id must be a number from 0 to 255"))?;
            let seals = match mode {
                "seal" => true,
                "open" => false,
                _ => return Err(wrong("the mode must be seal or open")),
            };
            if others.iter().chain(&sealing).any(|key| key.id == id) {
                return Err(wrong(&format!("the id {id} is used twice")));
            }
            let key = parse_key(key)
                .and_then(|master| ClickKey::derive(id, &master))
                .ok_or_else(|| wrong("the key must be 64 hexadecimal digits"))?;
            if seals && sealing.is_none() {
                sealing = Some(key);
            } else {
                others.push(key);
            }
        }
        let sealing = sealing.ok_or("CLICK_KEYS: one key must have the mode seal")?;
        Ok(Self { sealing, others })
    }

    /// The key that seals new click ids.
    pub fn sealing(&self) -> &ClickKey {
        &self.sealing
    }

    /// The key with this id; `None` if it is not configured here.
    pub fn find(&self, id: u8) -> Option<&ClickKey> {
        std::iter::once(&self.sealing).chain(&self.others).find(|key| key.id == id)
    }
}

fn parse_id(text: &str) -> Option<u8> {
    // `u8::from_str` accepts a sign.
    let has_no_sign = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| has_no_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const B: &str = "F0E0D0C0B0A090807060504030201000F0E0D0C0B0A090807060504030201000";

    #[test]
    fn the_first_key_with_mode_seal_seals_and_all_keys_open() {
        let ring = KeyRing::parse(&format!(" 7:open:{A}, 0:seal:{B},255:seal:{A}\n")).unwrap();
        assert_eq!(ring.sealing().id(), 0);
        for (id, known) in [(7, true), (0, true), (255, true), (1, false)] {
            assert_eq!(ring.find(id).map(ClickKey::id), known.then_some(id), "{id}");
        }
    }

    #[test]
    fn a_faulty_list_is_refused_with_the_entry_and_without_the_key() {
        let shorter = A.split_at(1).1;
        let twice = "entry 2: the id 1 is used twice";
        let none_seals = "one key must have the mode seal";
        let table = [
            ("", "entry 1: must be id:mode:key"),
            (&format!("1:seal:{A},"), "entry 2: must be id:mode:key"),
            (&format!("1:seal:{A}:x"), "entry 1: must be id:mode:key"),
            (&format!("256:seal:{A}"), "entry 1: the id must be"),
            (&format!("+1:seal:{A}"), "entry 1: the id must be"),
            (&format!(":seal:{A}"), "entry 1: the id must be"),
            (&format!("1:{A}:seal"), "entry 1: the mode must be"),
            (&format!("1:Seal:{A}"), "entry 1: the mode must be"),
            (&format!("1:seal:{A},1:open:{B}"), twice),
            (&format!("1:open:{A},01:seal:{B}"), twice),
            (&format!("1:seal:{A}00"), "entry 1: the key must be"),
            (&format!("1:seal:{shorter}"), "entry 1: the key must be"),
            (&format!("1:seal:+{shorter}"), "entry 1: the key must be"),
            (&format!("1:open:{A},2:open:{B}"), none_seals),
        ];
        for (list, problem) in table {
            let error = KeyRing::parse(list).expect_err(list);
            assert!(error.contains(problem), "{list}: {error}");
            assert!(!error.contains(shorter) && !error.contains(B), "{error}");
        }
    }

    #[test]
    fn debug_output_shows_key_ids_only() {
        let ring = KeyRing::parse(&format!("1:seal:{A},2:open:{B}")).unwrap();
        assert_eq!(
            format!("{ring:?}"),
            "KeyRing { sealing: ClickKey { id: 1, .. }, others: [ClickKey { id: 2, .. }] }"
        );
    }

    #[test]
    fn each_use_of_a_key_has_a_derived_key() {
        // HMAC-SHA256 of the two labels under A, computed with other software.
        let ring = KeyRing::parse(&format!("1:seal:{A}")).unwrap();
        let tag = ring.sealing().short().chain_update(b"x").finalize().into_bytes();
        let expected = "fa235be0db25a220074c9cf66f8f048fbc03493cad6d77159940b2bf0b148488";
        assert_eq!(hex::encode(tag), expected);
    }
}
