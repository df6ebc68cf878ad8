//! The journal of an outbox: the data that the outbox lacks after it was restored from an earlier copy. Another outbox
//! of its app keeps the journal.

use serde::{Deserialize, Serialize};

/// The writes of one part of an outbox's log. The texts are JSON that only the outbox reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalBatch {
    /// The last number of the log in this part.
    pub number: i64,
    /// The salt of the reward keys, in hexadecimal digits.
    pub salt: String,
    /// The entries with their conversions, without data that identifies a user.
    pub entries: String,
    /// For each entry the data that identifies its user, or null; `None` after three days.
    pub users: Option<String>,
    /// The senders' ids that were claimed in this part.
    pub txns: String,
}

/// Adds a batch to an outbox's journal, if the batch begins where the journal's last batch ends. Returns the number at
/// which the journal ends afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddJournal {
    /// The name of the outbox that wrote the batch.
    pub source: String,
    /// The number after which the batch begins.
    pub after: i64,
    /// The writes after that number.
    pub batch: JournalBatch,
}

/// Reads the journal of an outbox after a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadJournal {
    /// The name of the outbox whose journal is read.
    pub source: String,
    /// The number after which to read.
    pub after: i64,
}

/// A part of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The last number of the whole journal; 0 if it is empty.
    pub mark: i64,
    /// The first batch that ends after the requested number.
    pub next: Option<JournalBatch>,
}

/// Sends all batches. The outbox then refuses writes for 30 s, during which the caller must restart it. Returns 503
/// while the witness lacks an entry, or while a conversion is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendAll {}
