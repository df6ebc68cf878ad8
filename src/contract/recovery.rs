//! Point-in-time recovery: Cloudflare restores an object's whole storage to an earlier time when the object next
//! starts. Plain workerd cannot do that.
//!
//! The Worker's entry, `src/origin/entry.js`, carries out these operations, so that even an object whose own code or
//! data fails can be restored. Before a restore, the operator's call announces it to the object's
//! [register](crate::register).

use serde::{Deserialize, Serialize};

use crate::{
    accounts, activity, attention, catalog, clicks, counters, ledger,
    operation::{Done, ObjectAddress, Operation, Repeat},
    operations, outbox, postbacks,
};

const PATH: &str = "/recovery";

/// For each kind of object: the prefix of the name, the binding of the namespace, and whether the object asks its
/// register for an announcement.
const KINDS: &[(&str, &str, bool)] = &[
    ("accounts-", accounts::BINDING, true),
    ("activity-", activity::BINDING, false),
    (attention::OBJECT_NAME, attention::BINDING, false),
    (catalog::OBJECT_NAME, catalog::BINDING, false),
    ("clicks-", clicks::BINDING, true),
    ("counters-", counters::BINDING, true),
    ("ledger-", ledger::BINDING, false),
    ("outbox-", outbox::BINDING, false),
    ("postbacks-", postbacks::BINDING, false),
    ("register-", attention::BINDING, false),
];

/// Returns the address for recovery operations on the object with this name, and whether the object asks its register
/// for an announcement.
pub fn address(name: &str) -> Option<(ObjectAddress, bool)> {
    let (_, binding, is_announced) = KINDS.iter().find(|(beginning, ..)| match beginning.strip_suffix('-') {
        Some(_) => name.len() > beginning.len() && name.starts_with(beginning),
        None => name == *beginning,
    })?;
    let address = ObjectAddress { binding, name: name.to_owned(), path: PATH.into() };
    Some((address, *is_announced))
}

/// Returns the address at which the entry of the object with this name answers a path.
pub fn path_address(name: &str, path: String) -> Option<ObjectAddress> {
    let (object, _) = address(name)?;
    Some(ObjectAddress { path, ..object })
}

operations! {
    pub enum Command {
        FindBookmark(FindBookmark) -> Bookmark, Idempotent;
        Schedule(Schedule) -> Bookmark, Once;
        /// Ends the object's process, and with it this call.
        Restart(Restart) -> Done, Once;
        /// Lets the object's alarm run now. A process that scheduled a restore ends instead.
        Wake(Wake) -> Done, Idempotent;
    }
}

/// Finds the bookmark of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindBookmark {
    /// The time in milliseconds, at most 30 days ago.
    pub at_ms: i64,
}

/// Restores the storage to a bookmark at the object's next start. The answer is the bookmark of the current state, to
/// undo the restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// A bookmark of the same object.
    pub bookmark: String,
}

/// See [`Command::Restart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {}

/// See [`Command::Wake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {}

/// A bookmark, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bookmark {
    /// Identifies a state of the object's storage.
    Bookmark(String),
    /// The runtime's message.
    Problem(String),
}
