//! The journal of an outbox, which another outbox of its app keeps: what it needs to be put back.

use serde::{Deserialize, Serialize};

/// What was written in a part of an outbox's log. The texts are JSON for the outbox alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalBatch {
    /// The number of the log that the part ends with.
    pub number: i64,
    /// The salt of the keys of rewards, in hexadecimal digits.
    pub salt: String,
    /// The entries with their conversions, without what identifies a user.
    pub entries: String,
    /// Of each entry what identifies its user, or null; none after three days.
    pub users: Option<String>,
    /// The senders' ids that were claimed meanwhile.
    pub txns: String,
}

/// Adds a batch to the journal of an outbox, if it begins at the last one's end. The answer is the end of the last one then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddJournal {
    /// The name of the outbox that the batch is of.
    pub source: String,
    /// The number that the batch begins after.
    pub after: i64,
    /// What was written after it.
    pub batch: JournalBatch,
}

/// Reads the journal of an outbox after a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadJournal {
    /// The name of the outbox that the journal is of.
    pub source: String,
    /// The number after which to go on.
    pub after: i64,
}

/// A part of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The number that the whole journal ends with; 0 if there is none.
    pub mark: i64,
    /// The first batch that ends after the number asked for.
    pub next: Option<JournalBatch>,
}

/// Sends all batches, and writes nothing more for 30 s. The answer is 503 while the witness lacks an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendAll {}
