//! Point-in-time recovery: Cloudflare puts an object's whole storage back to an earlier time, at the next start of the object.
//! Plain workerd cannot do it.
//!
//! The Worker's entry carries these operations out, `src/origin/entry.js`, so that an object can go back whose own code or data
//! fails. Before that, the object is announced to its [register](crate::register).

use serde::{Deserialize, Serialize};

use crate::{
    accounts, activity, attention, catalog, clicks, counters, ledger,
    operation::{Done, ObjectAddress, Operation, Repeat},
    operations, outbox, postbacks,
};

const PATH: &str = "/recovery";

/// The beginning of an object's name, its namespace, and whether the object asks its register if it was announced.
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

/// Where an object takes these operations, by its name; and whether it asks its register.
pub fn address(name: &str) -> Option<(ObjectAddress, bool)> {
    let (_, binding, is_announced) =
        KINDS
            .iter()
            .find(|(beginning, ..)| match beginning.strip_suffix('-') {
                Some(_) => name.len() > beginning.len() && name.starts_with(beginning),
                None => name == *beginning,
            })?;
    let address = ObjectAddress {
        binding,
        name: name.to_owned(),
        path: PATH.into(),
    };
    Some((address, *is_announced))
}

operations! {
    pub enum Command {
        FindBookmark(FindBookmark) -> Bookmark, Idempotent;
        Schedule(Schedule) -> Bookmark, Once;
        /// Ends the object's process, and with it this call.
        Restart(Restart) -> Done, Once;
        /// Lets the object's alarm run now.
        Wake(Wake) -> Done, Idempotent;
    }
}

/// The bookmark of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindBookmark {
    /// In milliseconds, at most 30 days ago.
    pub at_ms: i64,
}

/// At the next start the storage is what it was at a bookmark. The answer is the bookmark of what it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Of the same object.
    pub bookmark: String,
}

/// See [`Command::Restart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {}

/// See [`Command::Wake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {}

/// A bookmark, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bookmark {
    /// It names a state of the object's storage.
    Bookmark(String),
    /// The runtime's message.
    Problem(String),
}
