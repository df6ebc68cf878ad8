//! Invites: `inv_<kind>_<owner>_<random>_<mac>`. An invite admits one person: a new member, or a member who lost every
//! passkey. The account's object stores only the invite's [hash](crate::model::credentials::hash), and spends the
//! invite when a passkey is registered with it.

use super::{
    account::Account,
    signed_text::{self, RANDOM},
};
use crate::model::{ApiError, DAY_MS, MacKeys};

/// The answer for unknown, used and expired invites alike, so that it reveals nothing about an invite.
pub const UNKNOWN_INVITE: ApiError =
    ApiError::new(404, "unknown_invite", "the invite is unknown, was used or has expired");

/// An invite expires this long after its issue.
pub const LIFE_MS: i64 = 7 * DAY_MS;

const PREFIX: &str = "inv";

/// The text of a new invite; `random` must come from a secure source.
pub fn issue(keys: &MacKeys, account: &Account, random: [u8; RANDOM]) -> String {
    signed_text::issue(keys, PREFIX, account, random)
}

/// The account of an invite; `None` for a text that was never issued as an invite. Only the account's object knows
/// whether the invite is still valid.
pub fn verify(keys: &MacKeys, presented: &str) -> Option<Account> {
    signed_text::verify(keys, PREFIX, presented)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{
        PublisherId,
        mac::tests::{A, B, changed, keys},
    };

    fn publisher(id: &str) -> Account {
        Account::Publisher(PublisherId::parse(id).unwrap())
    }

    #[test]
    fn an_invite_has_the_documented_form() {
        // The MACs were computed with Python's hmac.
        for (account, issued) in [(publisher("lumen-arcade"), ISSUED), (Account::Operator, OPERATORS)] {
            assert_eq!(issue(&keys(A), &account, [0xAB; 16]), issued);
            assert_eq!(verify(&keys(A), issued), Some(account));
        }
    }

    #[test]
    fn a_changed_invite_is_refused() {
        for changed in changed(ISSUED).into_iter().chain(changed(OPERATORS)) {
            assert_eq!(verify(&keys(A), &changed), None, "{changed}");
        }
    }

    #[test]
    fn a_text_with_the_right_mac_and_another_form_is_refused() {
        let random = "ab".repeat(16);
        for text in [
            format!("inv_o_lumen-arcade_{random}"),
            format!("inv_p__{random}"),
            format!("inv_q_operator_{random}"),
            format!("inv_p_{random}"),
            format!("in_p_lumen-arcade_{random}"),
            format!("invp_lumen-arcade_{random}"),
            format!("inv_p_lumen-arcade_{random}ab"),
            format!("inv_p_lumen-arcade_{}", "AB".repeat(16)),
            format!("inv_p_lumen_arcade_{random}"),
        ] {
            assert_eq!(verify(&keys(A), &keys(A).sign(&text)), None, "{text}");
        }
    }

    #[test]
    fn the_longest_invite_is_not_too_long() {
        let account = publisher(&"a".repeat(64));
        let text = issue(&keys(A), &account, [0; 16]);
        assert_eq!(verify(&keys(A), &text), Some(account));
    }

    proptest! {
        #[test]
        fn an_issued_invite_names_its_account(id in "[A-Za-z0-9-]{1,64}", random: [u8; 16]) {
            let text = issue(&keys(B), &publisher(&id), random);
            prop_assert_eq!(verify(&keys(A), &text), None);
            prop_assert_eq!(verify(&keys(B), &text), Some(publisher(&id)));
        }

        #[test]
        fn junk_is_refused(text in "(inv_[po]_)?[a-f0-9_-]{0,160}|.{0,40}") {
            prop_assert_eq!(verify(&keys(A), &text), None);
        }
    }

    const ISSUED: &str = "inv_p_lumen-arcade_abababababababababababababababab_589f1e6d70d58afc029c50f121428394";
    const OPERATORS: &str = "inv_o_operator_abababababababababababababababab_503c627511a39229a19aeef22fa86553";
}
