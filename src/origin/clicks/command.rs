//! What `origin/clicks` is asked and what it answers. Both commands are idempotent.

use serde::{Deserialize, Serialize};

use crate::origin::command::{self, Bytes};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Keeps a click's record under its nonce until it expires. Answer: [`Reply::Done`].
    ///
    /// Idempotent: the first record of a nonce stays, whatever comes later.
    Put {
        nonce: Bytes,
        record: Bytes,
        expires_at_ms: i64,
    },
    /// The record of a nonce. Answer: [`Found`].
    ///
    /// Changes nothing.
    Get { nonce: Bytes },
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        true
    }
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
                Command::Put {
                    nonce: nonce.clone(),
                    record: Bytes(vec![255]),
                    expires_at_ms: 5,
                },
                r#"{"put":{"nonce":"AQID","record":"_w","expires_at_ms":5}}"#,
            ),
            (
                Command::Get { nonce: nonce.clone() },
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
