//! The kinds of account, and the derivation of an account's id. The id is derived from the owner, so that a Worker
//! finds the account's object without a lookup.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ids::AccountId;
use crate::model::{ApiError, PublisherId, parts};

/// Refuses a member of a suspended account. The caller must first prove the membership: nobody else is told that the
/// account is suspended.
pub const ACCOUNT_SUSPENDED: ApiError = ApiError::new(
    403,
    "account_suspended",
    "the account is suspended: nobody can sign in until the operator lifts the suspension",
);

/// Domain separation: no hash for another purpose can equal an account's id.
const DOMAIN: &str = "signpost/account/1";
/// The operator's id. There is one operator.
const OPERATOR: &str = "operator";

crate::named_values! {
    /// The kind of an account, by its owner. The kind's text is part of cookie names and of the text that is hashed
    /// into the account's id.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AccountKind {
        /// A publisher's account, used in the dashboard.
        Publisher = "publisher",
        /// The operator's account, used in the console.
        Operator = "operator",
    }
}

impl AccountKind {
    /// The letter that stands for the kind in the text of an invite or a session.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Publisher => "p",
            Self::Operator => "o",
        }
    }
}

/// An account. A publisher's account is identified by the publisher's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Account {
    /// The account of this publisher.
    Publisher(PublisherId),
    /// The operator's only account.
    Operator,
}

impl Account {
    /// Parses a kind's letter and the owner's id.
    pub fn parse(letter: &str, owner: &str) -> Option<Self> {
        match (letter, owner) {
            ("p", owner) => PublisherId::parse(owner).map(Self::Publisher),
            ("o", OPERATOR) => Some(Self::Operator),
            _ => None,
        }
    }

    /// The kind, without the owner.
    pub const fn kind(&self) -> AccountKind {
        match self {
            Self::Publisher(_) => AccountKind::Publisher,
            Self::Operator => AccountKind::Operator,
        }
    }

    /// The publisher's id; `operator` for the operator.
    pub fn owner(&self) -> &str {
        match self {
            Self::Publisher(publisher) => publisher.as_str(),
            Self::Operator => OPERATOR,
        }
    }

    /// The first 12 bytes of SHA-256 over domain, kind and owner. With 96 bits, the probability that any two of 10^9
    /// publishers share an id is 10^18 / 2^97 < 10^-11.
    pub fn id(&self) -> AccountId {
        let hash: [u8; 32] = Sha256::digest(parts::join(&[DOMAIN, self.kind().as_str(), self.owner()])).into();
        AccountId(hash.first_chunk().copied().unwrap_or_default())
    }

    /// The kind of the account with this id.
    pub fn kind_of(id: AccountId) -> AccountKind {
        if id == Self::Operator.id() { AccountKind::Operator } else { AccountKind::Publisher }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publisher(id: &str) -> Account {
        Account::Publisher(PublisherId::parse(id).unwrap())
    }

    #[test]
    fn the_id_of_an_account_never_changes() {
        // Computed with Python's hashlib.
        assert_eq!(publisher("lumen-arcade").id().to_string(), "c01eb4fd88e073e83c27cb1b");
        assert_eq!(Account::Operator.id().to_string(), "73c4f20a07548c3906428335");
    }

    #[test]
    fn a_publisher_called_operator_has_an_account_of_its_own() {
        assert_ne!(publisher("operator").id(), Account::Operator.id());
    }

    #[test]
    fn an_account_is_parsed_from_its_letter_and_owner() {
        for account in [publisher("lumen-arcade"), publisher("operator"), Account::Operator] {
            let parsed = Account::parse(account.kind().letter(), account.owner());
            assert_eq!(parsed, Some(account));
        }
        for (letter, owner) in [("o", "lumen-arcade"), ("p", ""), ("p", "a_b"), ("q", "operator"), ("", "a")] {
            assert_eq!(Account::parse(letter, owner), None, "{letter} {owner}");
        }
    }
}
