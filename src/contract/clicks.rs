//! The click records: 256 objects by hash of the click's nonce. Both operations are idempotent.

use serde::{Deserialize, Serialize};

use crate::operation::{Bytes, Done, ObjectAddress, Operation, Repeat, shard};
use crate::operations;

/// The namespace's binding.
pub const BINDING: &str = "CLICKS";

/// How many objects there are.
pub const OBJECTS: u64 = 256;

/// The name of the object that keeps a click's record. A changed name would lose the clicks it keeps.
pub fn object_name(nonce: &[u8]) -> String {
    format!("clicks-{}", shard(nonce, OBJECTS))
}

/// The address of the object that keeps a click's record.
pub fn address(nonce: &[u8]) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name: object_name(nonce),
        path: "/".into(),
    }
}

operations! {
    pub enum Command {
        Put(Put) -> Done, Idempotent;
        Get(Get) -> Found, Idempotent;
    }
}

/// Keeps a click's record under its nonce until it expires.
///
/// Idempotent: the first record of a nonce stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    pub nonce: Bytes,
    pub record: Bytes,
    pub expires_at_ms: i64,
}

/// Asks for the record of a nonce. Changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    pub nonce: Bytes,
}

/// An answer, as the object writes it. Who asked reads the type that its command names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Found(Found),
    Done {},
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// None if there never was one, or it has expired.
    pub record: Option<Bytes>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_replies_are_written_as_older_and_newer_code_reads_them() {
        let nonce = Bytes(vec![1, 2, 3]);
        let cases = [
            (
                Command::Put(Put {
                    nonce: nonce.clone(),
                    record: Bytes(vec![255]),
                    expires_at_ms: 5,
                }),
                r#"{"put":{"nonce":"AQID","record":"_w","expires_at_ms":5}}"#,
            ),
            (
                Command::Get(Get { nonce: nonce.clone() }),
                r#"{"get":{"nonce":"AQID"}}"#,
            ),
        ];
        for (command, json) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
        let found = Reply::Found(Found { record: Some(nonce) });
        assert_eq!(serde_json::to_string(&found).unwrap(), r#"{"record":"AQID"}"#);
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
    }
}
