//! The identity of a conversion: the key of its row, and the transaction ids of its callbacks.

use sha2::{Digest, Sha256};

use super::state::Movement;
use crate::{
    model::{AppId, TEST_ID},
    tracking::Nonce,
};

/// The key of a conversion's row. Each click and goal has one row and at most one reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowKey<'a> {
    /// The app of the click.
    pub app: AppId,
    /// The number of the outbox that keeps the row.
    pub shard: u8,
    /// The identity of the click.
    pub nonce: Nonce,
    /// The id of the paid goal, even if the sender named the goal by its event code or did not name it.
    pub goal: &'a str,
}

/// Domain separation from other hashes of the same values, and from later versions of this one.
const DOMAIN: &[u8] = b"signpost transaction 2\0";

/// The kinds of transaction ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The payment of a reward.
    Reward,
    /// The reversal of that payment.
    Reversal,
    /// The notice that a conversion is pending.
    Pending,
    /// The notice that it was rejected.
    Rejected,
}

impl From<Movement> for Kind {
    fn from(movement: Movement) -> Self {
        match movement {
            Movement::Reward => Self::Reward,
            Movement::Reversal => Self::Reversal,
        }
    }
}

/// The transaction id of a reward, of its reversal, or of a notice about it. It is a UUID (version 8 of RFC 9562, whose
/// bits the application chooses), since publishers store it in columns of that type.
///
/// Its first byte is the shard and the next four are the app's number, so that the row can be found. The id is derived,
/// not random, so a commit that is retried after a failure has the same id. The id is not secret: anyone with the click
/// id and the goal can compute it.
///
/// For a test app, the id is `test-` and the same digits without hyphens, so that no column of the type UUID accepts it
/// as a reward.
pub fn transaction_id(row: &RowKey<'_>, kind: impl Into<Kind>) -> String {
    let kind = match kind.into() {
        Kind::Reward => 0,
        Kind::Reversal => 1,
        Kind::Pending => 2,
        Kind::Rejected => 3,
    };
    // All fields but the goal have a fixed length, so no two rows hash the same bytes.
    let hash: [u8; 32] = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update([kind])
        .chain_update(row.app.number().to_be_bytes())
        .chain_update(row.nonce)
        .chain_update(row.goal)
        .finalize()
        .into();
    let [_, _, _, _, _, f, g, h, i, j, k, l, m, n, o, p, ..] = hash;
    let [b, c, d, e] = row.app.number().to_be_bytes();
    let uuid = [&[row.shard, b, c, d][..], &[e, f], &[g & 0x0f | 0x80, h], &[i & 0x3f | 0x80, j], &[k, l, m, n, o, p]];
    if row.app.is_test() {
        return format!("{TEST_ID}{}", uuid.map(hex::encode).concat());
    }
    uuid.map(hex::encode).join("-")
}

/// The outbox shard of a transaction id; `None` for any other text.
pub fn shard_of(transaction_id: &str) -> Option<u8> {
    let digits = digits_of(transaction_id)?;
    u8::from_str_radix(digits.get(..2)?, 16).ok()
}

/// The app of a transaction id; `None` for any other text, or without a valid app.
pub fn app_of(transaction_id: &str) -> Option<AppId> {
    let number = u32::from_str_radix(digits_of(transaction_id)?.get(2..10)?, 16).ok()?;
    AppId::from_number(number)
}

/// The digits of a transaction id, which identify its row. If the text begins with `test-`, the digits must contain a
/// test app's id; otherwise they must not. This usually refuses the id of an endpoint test, which is `test-` with
/// random digits.
fn digits_of(transaction_id: &str) -> Option<String> {
    let digits = match transaction_id.strip_prefix(TEST_ID) {
        Some(digits) => digits.to_owned(),
        None if transaction_id.len() == 36 => transaction_id.replace('-', ""),
        None => return None,
    };
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let number = u32::from_str_radix(digits.get(2..10)?, 16).ok();
    let is_of_test = number.and_then(AppId::from_number).is_some_and(AppId::is_test);
    let is_alike = is_of_test == transaction_id.starts_with(TEST_ID);
    (digits.len() == 32 && digits.bytes().all(is_hex) && is_alike).then_some(digits)
}

/// The key of the one reward that a user gets for a goal: the first 16 bytes of SHA-256 over the outbox's salt, the
/// user id, a zero byte (no user id has one) and the goal's id. Without the salt, a list of user ids would reveal who
/// was rewarded for what. With 16 bytes, no two rewards of an outbox share a key by chance.
pub fn reward_key(salt: &[u8], user_id: &str, goal: &str) -> [u8; 16] {
    salted(salt, user_id, &[0], goal)
}

/// The key by which an outbox remembers an erased user: like [`reward_key`], but with two zero bytes in place of one,
/// and without a goal. No reward has such a key, since no goal's id begins with a zero byte.
pub fn erased_key(salt: &[u8], user_id: &str) -> [u8; 16] {
    salted(salt, user_id, &[0, 0], "")
}

fn salted(salt: &[u8], user_id: &str, separator: &[u8], goal: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(salt)
        .chain_update(user_id)
        .chain_update(separator)
        .chain_update(goal)
        .finalize()
        .into();
    hash.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::model::FIRST_TEST_APP;

    fn row(app: u32, nonce: Nonce, goal: &str) -> RowKey<'_> {
        RowKey { app: AppId::from_number(app).unwrap(), shard: 0x3e, nonce, goal }
    }

    #[test]
    fn a_transaction_id_never_changes_between_releases() {
        let row = row(42, *b"twelve bytes", "60118-1");
        assert_eq!(transaction_id(&row, Movement::Reward), "3e000000-2a69-8323-9e2e-947eb7c415d0");
        assert_eq!(transaction_id(&row, Movement::Reversal), "3e000000-2a7f-807e-84eb-731f201da6e0");
    }

    #[test]
    fn each_part_of_the_key_and_the_movement_change_the_transaction_id() {
        let rows = [
            row(42, [0; 12], "g1"),
            row(43, [0; 12], "g1"),
            row(42, [1; 12], "g1"),
            row(42, [0; 12], "g2"),
            row(42, [0; 12], "g"),
            row(42, [0; 12], ""),
        ];
        let ids: HashSet<_> = rows
            .iter()
            .flat_map(|row| [Movement::Reward, Movement::Reversal].map(|movement| transaction_id(row, movement)))
            .collect();
        assert_eq!(ids.len(), 2 * rows.len());
    }

    #[test]
    fn a_reward_key_never_changes_and_depends_on_salt_user_and_goal() {
        let key = hex::encode(reward_key(b"salt", "player-1", "g1"));
        assert_eq!(key, "937e54711cdaf97db93ccb49e26a93f9");
        let others = [
            reward_key(b"tlas", "player-1", "g1"),
            reward_key(b"salt", "player-2", "g1"),
            reward_key(b"salt", "player-1", "g2"),
            // The same characters, cut elsewhere.
            reward_key(b"salt", "player-1g", "1"),
        ];
        assert!(others.iter().all(|other| hex::encode(other) != key));
    }

    #[test]
    fn a_text_that_is_not_a_transaction_id_has_no_shard() {
        for text in ["", "3e", "test-0123456789abcdef0123456789abcdef", "3E00000a-0000-8359-bb78-6e1bc0ff2171"] {
            assert_eq!((shard_of(text), app_of(text)), (None, None), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_transaction_id_of_a_test_app_begins_as_those_of_tests_do(app in FIRST_TEST_APP..100_000_000, nonce: Nonce) {
            let id = transaction_id(&row(app, nonce, "g"), Movement::Reward);
            prop_assert_eq!((shard_of(&id), app_of(&id).map(AppId::number)), (Some(0x3e), Some(app)));
            let digits = id.strip_prefix(TEST_ID).unwrap();
            prop_assert!(digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
            // Neither parser accepts the other form.
            prop_assert_eq!(shard_of(digits), None);
        }

        #[test]
        fn a_transaction_id_has_the_form_of_a_uuid(app in 0..FIRST_TEST_APP, nonce: Nonce, goal in ".{0,64}") {
            let id = transaction_id(&row(app, nonce, &goal), Movement::Reward);
            let groups: Vec<_> = id.split('-').collect();
            prop_assert_eq!(shard_of(&id), Some(0x3e));
            prop_assert_eq!(app_of(&id).map(AppId::number), Some(app));
            prop_assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
            prop_assert!(groups.concat().bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
            prop_assert!(groups[2].starts_with('8') && groups[3].starts_with(['8', '9', 'a', 'b']), "{}", id);
        }
    }
}
