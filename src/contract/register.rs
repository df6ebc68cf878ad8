//! Registers: what an object must not lose when it is put back to an earlier copy is also kept by another object, its register.
//! It says what has ended, such as a session or a key, because a copy has it still.
//!
//! A register is an [`activity`](crate::activity) object with a name of its own. It knows nothing of its entries but their
//! numbers, which rise.

use serde::{Deserialize, Serialize};

use crate::{attention, operation::ObjectAddress};

const PREFIX: &str = "register-";

/// The address of an object's register.
pub fn address(source: &str) -> ObjectAddress {
    ObjectAddress::of(attention::BINDING, format!("{PREFIX}{source}"))
}

/// Whether an object is a register, by its name. One has no register itself.
pub fn is_register(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Adds entries. It adds none if there may be others before them that the register does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddEntries {
    /// The number of the last entry before these.
    pub after: i64,
    /// By their numbers.
    pub entries: Vec<RegisterEntry>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterEntry {
    /// Its place in the register.
    pub number: i64,
    /// When it was made, in milliseconds.
    pub at_ms: i64,
    /// JSON of the object that it belongs to.
    pub entry: String,
}

/// Reads the entries after a number, as many as there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRegister {
    /// 0 for the first part.
    pub after: i64,
}

/// The answer to [`ReadRegister`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterPart {
    /// The number of the last entry; 0 if there is none.
    pub mark: i64,
    /// By their numbers.
    pub entries: Vec<RegisterEntry>,
    /// When it was last announced that the object is put back, in milliseconds; 0 for never.
    #[serde(default)]
    pub announced_ms: i64,
}

/// Announces to the register that its object is put back on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// Now, in milliseconds.
    pub at_ms: i64,
}
