//! The click records: 256 objects, chosen by a hash of the click's nonce. Both operations are idempotent.

use serde::{Deserialize, Serialize};

use crate::{
    operation::{Bytes, Done, ObjectAddress, Operation, Repeat, shard},
    operations,
};

/// The namespace's binding.
pub const BINDING: &str = "CLICKS";

/// The number of objects. With another number, records that are already stored would not be found.
pub const OBJECTS: u64 = 256;

/// The name of the object that stores a click's record. With another name, its records would be lost.
pub fn object_name(nonce: &[u8]) -> String {
    format!("clicks-{}", shard(nonce, OBJECTS))
}

/// The address of the object that stores a click's record.
pub fn address(nonce: &[u8]) -> ObjectAddress {
    ObjectAddress::of(BINDING, object_name(nonce))
}

operations! {
    pub enum Command {
        Put(Put) -> Done, Idempotent;
        Get(Get) -> Found, Idempotent;
    }
    pub enum Reply {
        Found(Found),
        Done {},
    }
}

/// Stores a click's record under its nonce until it expires. Idempotent: the first record of a nonce stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// Identifies the click.
    pub nonce: Bytes,
    /// The sealed click, which is too long for the click id.
    pub record: Bytes,
    /// The time from which the record may be deleted, in milliseconds.
    pub expires_at_ms: i64,
}

/// Reads the record of a nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    /// The nonce in the short click id.
    pub nonce: Bytes,
}

/// The answer to [`Get`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// `None` if the record never existed or has expired.
    pub record: Option<Bytes>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_written_as_the_answer_type_of_their_operation() {
        let nonce = Bytes(vec![1, 2, 3]);
        let found = Reply::Found(Found { record: Some(nonce) });
        assert_eq!(serde_json::to_string(&found).unwrap(), r#"{"record":"AQID"}"#);
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
    }
}
