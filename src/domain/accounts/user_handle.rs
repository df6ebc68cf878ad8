//! The WebAuthn user handle: the account's id (12 bytes), the member's id (8 bytes) and a MAC (16 bytes). A passkey
//! returns the handle at a sign-in, before anything else about the visitor is known. The MAC proves that Signpost
//! issued the handle, so a made-up handle does not wake an account's object.
//!
//! Passkeys keep their handle for years, so a MAC key must stay configured while handles that it signed are in use.

use super::ids::{AccountId, MemberId};
use crate::model::{MacKeys, mac::lower_hex};

/// The length of a handle. WebAuthn allows 64 bytes.
pub const LEN: usize = 12 + 8 + MAC;

const MAC: usize = 16;

/// The handle of a member.
pub fn issue(keys: &MacKeys, account: AccountId, member: MemberId) -> [u8; LEN] {
    let signed = keys.sign(&text(account, member));
    let mac: Option<[u8; MAC]> = signed.rsplit_once('_').and_then(|(_, mac)| lower_hex(mac));
    let mut handle = [0; LEN];
    let bytes = account.0.into_iter().chain(member.0).chain(mac.unwrap_or_default());
    handle.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    handle
}

/// The account and member of a handle; `None` for bytes that were never issued as a handle.
pub fn open(keys: &MacKeys, handle: &[u8]) -> Option<(AccountId, MemberId)> {
    let (account, rest) = handle.split_first_chunk()?;
    let (member, mac) = rest.split_first_chunk()?;
    let mac: &[u8; MAC] = mac.try_into().ok()?;
    let (account, member) = (AccountId(*account), MemberId(*member));
    keys.verify(&format!("{}_{}", text(account, member), hex::encode(mac)))?;
    Some((account, member))
}

/// The text under the MAC.
fn text(account: AccountId, member: MemberId) -> String {
    format!("uh_{account}_{member}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::mac::tests::{A, B, keys};

    proptest! {
        #[test]
        fn a_handle_opens_to_its_account_and_member(account: [u8; 12], member: [u8; 8], at in 0..LEN, bit in 0..8) {
            let mut handle = issue(&keys(A), AccountId(account), MemberId(member));
            prop_assert_eq!(open(&keys(A), &handle), Some((AccountId(account), MemberId(member))));
            prop_assert_eq!(open(&keys(B), &handle), None);
            prop_assert_eq!(open(&keys(A), &handle[..at]), None);
            prop_assert_eq!(open(&keys(A), &[&handle[..], &[0]].concat()), None);
            handle[at] ^= 1_u8 << bit;
            prop_assert_eq!(open(&keys(A), &handle), None);
        }

        #[test]
        fn junk_is_refused(bytes: Vec<u8>, handle: [[u8; 12]; 3]) {
            prop_assert_eq!(open(&keys(A), &bytes), None);
            prop_assert_eq!(open(&keys(A), &handle.concat()), None);
        }
    }

    #[test]
    fn a_handle_of_a_former_first_key_still_opens() {
        let handle = issue(&keys(A), AccountId([1; 12]), MemberId([2; 8]));
        assert!(open(&keys(&format!("{B},{A}")), &handle).is_some());
    }
}
