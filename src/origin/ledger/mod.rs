//! `origin/ledger`: one object for each publisher. It owns the publisher's report keys and their rate, keeps its facts in
//! columnar segments, and answers its reports (`design.md` section 8).
//!
//! A day has two layers: `loaded` is the facts interface's, `offers` is what Signpost itself counted.

pub mod command;

pub use command::{Command, OfferSum};

use crate::catalog::PublisherId;

/// The namespace's binding.
pub const BINDING: &str = "LEDGERS";

/// The name of a publisher's object. A changed name would lose the publisher's numbers.
pub fn object_name(publisher: &PublisherId) -> String {
    format!("ledger-{publisher}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_never_change() {
        let publisher = PublisherId::parse("lumen-arcade").unwrap();
        assert_eq!(object_name(&publisher), "ledger-lumen-arcade");
    }
}
