//! Calls to objects. An object takes one command enum as JSON and answers with JSON. Each [`Operation`] declares the
//! type of its answer. An object refuses with an [`ApiError`](domain::model::api_error::ApiError).

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error},
};
use xxhash_rust::xxh64::xxh64;

use domain::model::common;

/// An object's command enum, as the object receives it.
pub trait Command: Serialize + DeserializeOwned {
    /// Returns whether the operation may be repeated.
    fn repeat(&self) -> Repeat;

    /// Serializes the command as a caller sends it, with [`command_json`]. A caller uses [`Operation`] and not this
    /// enum, so that the caller's Wasm module contains only the operations that the caller sends.
    ///
    /// # Errors
    /// The command cannot be written as JSON.
    fn sent(&self) -> serde_json::Result<String>;
}

/// One operation of an object.
pub trait Operation: Serialize + Into<Self::Command> {
    /// The command enum of the object that has the operation.
    type Command: Command;
    /// The answer of a successful call.
    type Answer: DeserializeOwned;
    /// The variant of the command.
    const NAME: &'static str;
    /// Returned by [`Command::repeat`] for this operation.
    const REPEAT: Repeat;
}

/// The JSON of an operation's command: `{"take": {…}}`.
///
/// # Errors
/// The operation cannot be written as JSON.
pub fn command_json<O: Operation>(operation: &O) -> serde_json::Result<String> {
    Ok(enclose(O::NAME, &serde_json::to_string(operation)?))
}

fn enclose(name: &str, operation: &str) -> String {
    let mut json = String::from("{\"");
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && json.len() > 2 {
            json.push('_');
        }
        json.push(letter.to_ascii_lowercase());
    }
    json.push_str("\":");
    json.push_str(operation);
    json.push('}');
    json
}

/// Whether an operation may be repeated, for [`operations!`](crate::operations).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It may be retried.
    Idempotent,
    /// It may be retried. It is so frequent that it is sent in a header, to save time.
    IdempotentInHeader,
    /// It must not be retried, since each call has an effect.
    Once,
}

/// Declares an object's command enum: one line for each operation, with its payload, its answer and its [`Repeat`].
/// Variants are in snake case in JSON: `{"take": {…}}`. The enum of replies has a variant for each type of answer.
#[macro_export]
macro_rules! operations {
    ($(#[$doc:meta])* pub enum $command:ident {
        $($(#[$variant_doc:meta])* $variant:ident($payload:ty) -> $answer:ty, $repeat:ident;)*
    }
    $(pub enum $reply:ident { $($(#[$kind_doc:meta])* $kind:ident $content:tt,)* })?) => {
        /// The operations of the object.
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $command { $(
            $(#[$variant_doc])*
            /// See the payload.
            $variant($payload)
        ),* }

        $(
            /// An answer as the object writes it. The caller reads it as the [`Answer`](Operation::Answer) of its
            /// operation.
            #[derive(Debug, Serialize)]
            #[serde(untagged)]
            pub enum $reply { $(
                $(#[$kind_doc])*
                /// The answer of every operation that declares this type.
                $kind $content
            ),* }
        )?

        impl $command {
            /// The operations' names.
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];
        }

        impl $crate::operation::Command for $command {
            fn repeat(&self) -> Repeat {
                match self { $(Self::$variant(_) => Repeat::$repeat),* }
            }

            fn sent(&self) -> serde_json::Result<String> {
                match self { $(Self::$variant(operation) => $crate::operation::command_json(operation)),* }
            }
        }

        $(
            impl From<$payload> for $command {
                fn from(operation: $payload) -> Self {
                    Self::$variant(operation)
                }
            }

            impl Operation for $payload {
                type Command = $command;
                type Answer = $answer;
                const NAME: &'static str = stringify!($variant);
                const REPEAT: Repeat = Repeat::$repeat;
            }
        )*
    };
}

/// An object's address: its namespace's binding, its name, and a path for objects that take more than commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// The binding of its Durable Object namespace.
    pub binding: &'static str,
    /// The name from which the runtime derives the object's id.
    pub name: String,
    /// The path, which begins with `/`.
    pub path: String,
}

impl ObjectAddress {
    /// The address of an object that takes only commands.
    pub fn of(binding: &'static str, name: impl Into<String>) -> Self {
        Self { binding, name: name.into(), path: "/".into() }
    }
}

/// The empty answer of a successful operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// Maximum bytes of a command's JSON that is sent in a header. A header saves the receiver the turn of the event loop
/// that it needs to read a body.
const MAX_HEADER_COMMAND: usize = 4 << 10;

/// The header of an object's refusal whose tables a newer release has changed.
pub const NEWER_SCHEMA: &str = "x-newer-schema";

/// The header of a short command. The command may contain user ids. Cloudflare's request logs redact a header with
/// "secret" in its name, but they do not redact URLs.
pub const COMMAND_HEADER: &str = "signpost-secret-command";

/// Encodes a short command for the header; `None` if it needs a body.
pub fn to_header(json: &str) -> Option<String> {
    (json.len() <= MAX_HEADER_COMMAND).then(|| URL_SAFE_NO_PAD.encode(json))
}

/// Decodes a command from the header.
pub fn from_header(value: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(value).ok()
}

/// The answer to an operator's command: a status and, except for 204, a JSON body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorReply {
    /// The HTTP status.
    pub status: u16,
    /// JSON; empty with 204.
    pub body: String,
}

impl OperatorReply {
    /// Creates a reply with a status and a body.
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        let body = body.into();
        Self { status, body }
    }

    /// Creates a reply with status 200 and a body.
    pub fn ok(body: &serde_json::Value) -> Self {
        Self::new(200, body.to_string())
    }

    /// Creates a reply with status 201 and a body.
    pub fn created(body: &serde_json::Value) -> Self {
        Self::new(201, body.to_string())
    }

    /// Creates a reply with status 204 and no body.
    pub fn no_content() -> Self {
        Self::new(204, "")
    }
}

/// The answer to a numbered batch of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// False for a repeat, which is not counted again.
    pub applied: bool,
}

/// The answer to a batch of a source's log: where the source's next batch must begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The number of the last applied batch; 0 for none. The sent batch was applied if it has this number.
    pub mark: i64,
}

/// The failure of a call to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The object's refusal, which the caller passes on: status, `{error, code}` and `Retry-After`.
    Refused {
        /// The HTTP status, which is neither 200 nor 500.
        status: u16,
        /// The JSON of the error.
        body: String,
        /// The wait that the object asks for, in seconds; `None` without the header.
        retry_after_s: Option<u32>,
    },
    /// No answer, or a broken one. The command may or may not have been carried out.
    Unanswered(Unanswered),
}

/// The cause of a missing answer. The runtime sets the first two fields on the error that it throws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// The object is overloaded, so a retry would make it worse.
    pub overloaded: bool,
    /// The cause is likely to be temporary.
    pub retryable: bool,
    /// A message for the log.
    pub message: String,
}

impl CallError {
    /// The error for an answer that is not 200.
    pub fn from_answer(status: u16, body: String, retry_after_s: Option<u32>) -> Self {
        if status == common::INTERNAL_ERROR.status {
            Self::Unanswered(Unanswered { overloaded: false, retryable: true, message: body })
        } else {
            Self::Refused { status, body, retry_after_s }
        }
    }

    /// True if the object answered, even with a refusal.
    pub fn was_answered<T>(outcome: &Result<T, Self>) -> bool {
        !matches!(outcome, Err(Self::Unanswered(_)))
    }

    /// The code in the error that the caller receives.
    pub fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Refused { body, .. } => code_in(body).map_or(Cow::Borrowed(UNCODED), Cow::Owned),
            Self::Unanswered(_) => Cow::Borrowed(common::UNAVAILABLE.code),
        }
    }

    /// True if the operation should be retried.
    pub fn is_retryable(&self, repeat: Repeat) -> bool {
        match self {
            Self::Refused { .. } => false,
            Self::Unanswered(cause) => cause.retryable && !cause.overloaded && repeat != Repeat::Once,
        }
    }
}

impl From<Unanswered> for CallError {
    fn from(cause: Unanswered) -> Self {
        Self::Unanswered(cause)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, .. } => write!(f, "refused with {status}: {}", self.code()),
            Self::Unanswered(Unanswered { overloaded: true, message, .. }) => write!(f, "overloaded: {message}"),
            Self::Unanswered(Unanswered { message, .. }) => write!(f, "unanswered: {message}"),
        }
    }
}

impl std::error::Error for CallError {}

/// The code in the log for a refusal whose body has none.
const UNCODED: &str = "none";

/// The code of an answer `{error, code}`.
pub fn code_in(body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    serde_json::from_str::<Coded>(body).ok().map(|coded| coded.code)
}

/// The number of a key's object, below `objects`. It must never change, or the key's stored data is lost.
pub fn shard(key: &[u8], objects: u64) -> u64 {
    xxh64(key, 0).checked_rem(objects).unwrap_or(0)
}

/// Bytes, which are base64url without padding in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        URL_SAFE_NO_PAD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_idempotent_commands_are_retried_and_not_to_an_overloaded_object() {
        let unanswered =
            |overloaded, retryable| CallError::from(Unanswered { overloaded, retryable, message: "reset".into() });
        assert!(unanswered(false, true).is_retryable(Repeat::Idempotent));
        assert!(!unanswered(false, true).is_retryable(Repeat::Once));
        assert!(!unanswered(true, true).is_retryable(Repeat::Idempotent));
        assert!(!unanswered(false, false).is_retryable(Repeat::Idempotent));
    }

    #[test]
    fn a_refusal_is_an_answer_and_an_internal_error_is_not() {
        let refused = CallError::from_answer(409, "{}".into(), None);
        assert!(matches!(refused, CallError::Refused { status: 409, .. }));
        assert!(!refused.is_retryable(Repeat::Idempotent));
        assert!(CallError::from_answer(500, "{}".into(), None).is_retryable(Repeat::Idempotent));
        let unavailable = CallError::from_answer(503, "{}".into(), Some(2));
        assert!(matches!(unavailable, CallError::Refused { retry_after_s: Some(2), .. }));
    }

    #[test]
    fn the_log_shows_the_code_of_a_refusal_but_not_its_message() {
        let body = common::INVALID_JSON.with_message("unknown field `demo-user-1`").body();
        let refused = CallError::from_answer(400, body, None);
        assert_eq!(refused.to_string(), "refused with 400: invalid_json");
        assert_eq!(refused.code(), "invalid_json");
        assert_eq!(CallError::from_answer(500, "{}".into(), None).code(), "unavailable");
        assert_eq!(CallError::from_answer(404, "not JSON".into(), None).code(), "none");
    }

    #[test]
    fn a_short_command_round_trips_through_a_header() {
        for json in [r#"{"again":{}}"#.to_owned(), "\"\u{7f}é?#&%\u{1f600}\"".repeat(200)] {
            let value = to_header(&json).unwrap();
            assert_eq!(from_header(&value).unwrap(), json.as_bytes());
            assert!(value.is_ascii());
        }
        assert_eq!(to_header(&"x".repeat(MAX_HEADER_COMMAND + 1)), None);
    }

    #[test]
    fn bytes_round_trip_through_json() {
        let bytes = Bytes(vec![0, 255, 62, 63]);
        let json = serde_json::to_string(&bytes).unwrap();
        assert_eq!(json, r#""AP8-Pw""#);
        assert_eq!(serde_json::from_str::<Bytes>(&json).unwrap(), bytes);
        assert!(serde_json::from_str::<Bytes>(r#""AP8+Pw==""#).is_err());
    }
}
