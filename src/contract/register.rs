//! Registers. An object's register is a second object. It stores the changes of the first object that must survive if
//! the first object is restored from an earlier copy. It records, for example, which sessions and keys have ended,
//! because in the copy they are still valid.
//!
//! A register is an [`activity`](crate::activity) object with its own name. It does not interpret its entries, except
//! for their numbers, which increase.

use serde::{Deserialize, Serialize};

use crate::{attention, operation::ObjectAddress};

const PREFIX: &str = "register-";

/// The address of an object's register.
pub fn address(source: &str) -> ObjectAddress {
    ObjectAddress::of(attention::BINDING, format!("{PREFIX}{source}"))
}

/// True if an object with this name is a register. A register has no register itself.
pub fn is_register(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Adds entries. Adds none if the register may lack earlier entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddEntries {
    /// The number of the last entry before these.
    pub after: i64,
    /// The entries, in the order of their numbers.
    pub entries: Vec<RegisterEntry>,
}

/// An entry of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterEntry {
    /// The entry's place in the register.
    pub number: i64,
    /// The time when the entry was made, in milliseconds.
    pub at_ms: i64,
    /// JSON that only the registered object reads.
    pub entry: String,
}

/// Reads the entries after a number, as many as fit one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRegister {
    /// The last number that the reader has; 0 for the first part.
    pub after: i64,
}

/// The answer to [`ReadRegister`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterPart {
    /// The number of the last entry; 0 if there are none.
    pub mark: i64,
    /// The entries, in the order of their numbers.
    pub entries: Vec<RegisterEntry>,
    /// The time of the last announcement that the object will be restored, in milliseconds; 0 for never.
    #[serde(default)]
    pub announced_ms: i64,
}

/// Announces to the register that its object is being restored on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The current time, in milliseconds. To withdraw an announcement, the time of the one before it.
    pub at_ms: i64,
}
