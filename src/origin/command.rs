//! What commands to objects have in common. An object is asked by a JSON body of its one command enum and answers with
//! JSON; what it will not do it refuses with a [`Refusal`], and what broke goes to the log.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error};
use xxhash_rust::xxh64::xxh64;

use super::database::DatabaseError;
use crate::refusal::{Refusal, common};

/// An object's command enum.
pub trait Command: Serialize + DeserializeOwned {
    /// Whether sending it twice is the same as sending it once, so that it may be sent again when its answer was lost.
    fn is_idempotent(&self) -> bool;

    /// Whether it may travel in a header of a request: one that is sent often and holds no secret.
    fn may_be_seen(&self) -> bool {
        false
    }
}

/// The longest command, in bytes of JSON, that travels in a header and not in the body: a body costs its reader one more
/// turn of the event loop.
const BRIEF: usize = 4 << 10;

/// The header that a brief command travels in. Cloudflare's logs of a request leave out the value of a header whose name
/// says "secret", as they do not of an address: it holds who clicked.
pub const BRIEF_HEADER: &str = "signpost-secret-command";

/// The header's value for a brief command; none for one that needs a body.
pub fn brief(json: &str) -> Option<String> {
    (json.len() <= BRIEF).then(|| URL_SAFE_NO_PAD.encode(json))
}

/// The JSON of a command that came in a header.
pub fn of_brief(value: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(value).ok()
}

/// What the operator's commands answer: a status and, but for 204, a JSON body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub status: u16,
    pub body: String,
}

impl Reply {
    pub fn ok(body: &serde_json::Value) -> Self {
        Self {
            status: 200,
            body: body.to_string(),
        }
    }

    pub fn created(body: &serde_json::Value) -> Self {
        Self {
            status: 201,
            body: body.to_string(),
        }
    }

    pub fn no_content() -> Self {
        Self {
            status: 204,
            body: String::new(),
        }
    }
}

/// The answer to a numbered batch of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// False for a repeat, which is counted already.
    pub applied: bool,
}

/// Why an object did not carry a command out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The caller is told.
    Refused(Refusal),
    /// The log is told; the caller reads [`common::INTERNAL_ERROR`].
    Broken(String),
}

impl Failure {
    /// What the caller reads.
    pub fn into_answer(self) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Broken(_) => common::INTERNAL_ERROR,
        }
    }
}

/// For the log: of a refusal only its code, since its message may repeat what was sent.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.code),
            Self::Broken(cause) => f.write_str(cause),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Why a caller has no answer to its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The object's own refusal, as it is to be passed on: its status, its `{error, code}`, and its `Retry-After`.
    Refused {
        status: u16,
        body: String,
        retry_after_s: Option<u32>,
    },
    /// No answer, or a broken one: the command may or may not have been carried out.
    Unanswered(Unanswered),
}

/// What is known when an object did not answer; the first two as Workers sets them on the error it throws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// The object has more to do than it can; asking again makes it worse.
    pub overloaded: bool,
    /// The cause is likely to pass.
    pub retryable: bool,
    /// For the log.
    pub message: String,
}

impl CallError {
    /// From an answer that is not 200.
    pub fn of_answer(status: u16, body: String, retry_after_s: Option<u32>) -> Self {
        if status == common::INTERNAL_ERROR.status {
            Self::Unanswered(Unanswered {
                overloaded: false,
                retryable: true,
                message: body,
            })
        } else {
            Self::Refused {
                status,
                body,
                retry_after_s,
            }
        }
    }

    /// Whether who was asked said anything, be it a refusal.
    pub fn was_answered<T>(outcome: &Result<T, Self>) -> bool {
        !matches!(outcome, Err(Self::Unanswered(_)))
    }

    /// The code that the caller reads.
    pub fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Refused { body, .. } => code_in(body).map_or(Cow::Borrowed(UNCODED), Cow::Owned),
            Self::Unanswered(_) => Cow::Borrowed(common::UNAVAILABLE.code),
        }
    }

    /// Whether `command` should be sent a second time.
    pub fn invites_repeat(&self, command: &impl Command) -> bool {
        match self {
            Self::Refused { .. } => false,
            Self::Unanswered(cause) => cause.retryable && !cause.overloaded && command.is_idempotent(),
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
            Self::Unanswered(Unanswered {
                overloaded: true,
                message,
                ..
            }) => write!(f, "overloaded: {message}"),
            Self::Unanswered(Unanswered { message, .. }) => write!(f, "unanswered: {message}"),
        }
    }
}

impl std::error::Error for CallError {}

/// The code of an answer that has none.
const UNCODED: &str = "none";

/// The code of an answer that is `{error, code}`.
pub fn code_in(body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    serde_json::from_str::<Coded>(body).ok().map(|coded| coded.code)
}

/// Which of `objects` objects a key belongs to. Another answer for the same key would lose what is stored under it.
pub fn shard(key: &[u8], objects: u64) -> u64 {
    xxh64(key, 0).checked_rem(objects).unwrap_or(0)
}

/// Bytes, in JSON as base64url without padding.
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

    #[derive(Serialize, Deserialize)]
    enum Ask {
        Again,
        Once,
    }

    impl Command for Ask {
        fn is_idempotent(&self) -> bool {
            matches!(self, Self::Again)
        }
    }

    #[test]
    fn only_an_idempotent_command_to_an_object_that_is_not_overloaded_is_sent_again() {
        let unanswered = |overloaded, retryable| {
            CallError::from(Unanswered {
                overloaded,
                retryable,
                message: "reset".into(),
            })
        };
        assert!(unanswered(false, true).invites_repeat(&Ask::Again));
        assert!(!unanswered(false, true).invites_repeat(&Ask::Once));
        assert!(!unanswered(true, true).invites_repeat(&Ask::Again));
        assert!(!unanswered(false, false).invites_repeat(&Ask::Again));
    }

    #[test]
    fn a_refusal_is_an_answer_and_an_internal_error_is_none() {
        let refused = CallError::of_answer(409, "{}".into(), None);
        assert!(matches!(refused, CallError::Refused { status: 409, .. }));
        assert!(!refused.invites_repeat(&Ask::Again));
        assert!(CallError::of_answer(500, "{}".into(), None).invites_repeat(&Ask::Again));
        let unavailable = CallError::of_answer(503, "{}".into(), Some(2));
        assert!(matches!(
            unavailable,
            CallError::Refused {
                retry_after_s: Some(2),
                ..
            }
        ));
    }

    #[test]
    fn the_log_is_told_codes_and_never_what_was_sent() {
        let refusal = common::INVALID_JSON.because("unknown field `demo-user-1`");
        let body = refusal.body();
        let refused = CallError::of_answer(400, body, None);
        assert_eq!(refused.to_string(), "refused with 400: invalid_json");
        assert_eq!(refused.code(), "invalid_json");
        assert_eq!(CallError::of_answer(500, "{}".into(), None).code(), "unavailable");
        assert_eq!(CallError::of_answer(404, "not JSON".into(), None).code(), "none");
        assert_eq!(Failure::from(refusal).to_string(), "refused: invalid_json");
        assert_eq!(Failure::Broken("no disk".into()).to_string(), "no disk");
    }

    #[test]
    fn what_broke_is_never_told_to_the_caller() {
        let broken = Failure::from(DatabaseError("no such table: takes".into()));
        assert!(format!("{broken:?}").contains("takes"));
        assert_eq!(broken.into_answer(), common::INTERNAL_ERROR);
    }

    #[test]
    fn a_brief_command_travels_in_a_header_as_it_is() {
        for json in [
            r#"{"again":{}}"#.to_owned(),
            "\"\u{7f}é?#&%\u{1f600}\"".repeat(200),
        ] {
            let value = brief(&json).unwrap();
            assert_eq!(of_brief(&value).unwrap(), json.as_bytes());
            assert!(value.is_ascii());
        }
        assert_eq!(brief(&"x".repeat(BRIEF + 1)), None);
    }

    #[test]
    fn bytes_survive_json() {
        let bytes = Bytes(vec![0, 255, 62, 63]);
        let json = serde_json::to_string(&bytes).unwrap();
        assert_eq!(json, r#""AP8-Pw""#);
        assert_eq!(serde_json::from_str::<Bytes>(&json).unwrap(), bytes);
        assert!(serde_json::from_str::<Bytes>(r#""AP8+Pw==""#).is_err());
    }
}
