//! The form that invites and sessions share: `<prefix>_<kind>_<owner>_<random>_<mac>`. The text names the account, and
//! the MAC proves that Signpost issued the text. So a Worker refuses junk without calling an object. The MAC also
//! covers prefix and kind, so a text of one kind is never accepted as another.

use super::account::Account;
use crate::model::{
    MacKeys,
    mac::{self, lower_hex},
};

/// The bytes of the random part. 128 random bits cannot be guessed, so storing a plain SHA-256 of the text is safe.
pub const RANDOM: usize = 16;
/// The length of the longest text after its prefix, in bytes: the kind's letter, an owner's id of 64 bytes and the
/// random part in hexadecimal, with a `_` before each, and the suffix with the MAC.
const MAX_REST: usize = 1 + 1 + 1 + 64 + 1 + 2 * RANDOM + mac::SUFFIX_LEN;

/// The text of a new credential of an account; `random` must come from a secure source.
pub fn issue(keys: &MacKeys, prefix: &str, account: &Account, random: [u8; RANDOM]) -> String {
    let (letter, owner) = (account.kind().letter(), account.owner());
    keys.sign(&format!("{prefix}_{letter}_{owner}_{}", hex::encode(random)))
}

/// The account of a text; `None` for a text that was never issued with this prefix.
pub fn verify(keys: &MacKeys, prefix: &str, presented: &str) -> Option<Account> {
    if presented.len() > prefix.len() + MAX_REST {
        return None;
    }
    let signed = keys.verify(presented)?;
    let (letter, rest) = signed.strip_prefix(prefix)?.strip_prefix('_')?.split_once('_')?;
    let (owner, random) = rest.split_once('_')?;
    lower_hex::<RANDOM>(random)?;
    Account::parse(letter, owner)
}
