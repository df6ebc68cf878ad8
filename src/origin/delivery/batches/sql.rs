//! The table and the statements of the senders of [batches](super).

pub const TABLES: &[&str] = &[
    // One row. `known` is JSON: each receiver's mark and, if the receiver is behind, its position and the time of its
    // retry. `highest` is the highest mark of all receivers; a restored log continues above it.
    "CREATE TABLE positions (
       only INTEGER PRIMARY KEY CHECK (only = 1), seen INTEGER NOT NULL DEFAULT 0, highest INTEGER NOT NULL DEFAULT 0,
       known TEXT NOT NULL DEFAULT '{}'
     ) STRICT",
    "INSERT INTO positions (only) VALUES (1)",
];

platform::statements! {
    pub const GET_SEEN = "SELECT seen FROM positions";
    pub const GET_POSITIONS = "SELECT seen, known FROM positions";
    pub const SET_POSITIONS = "UPDATE positions SET seen = ?, highest = ?, known = ?";
}
