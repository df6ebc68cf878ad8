//! The outboxes: one object for each app.

use serde::{Deserialize, Serialize};

use crate::operation::{self, Bytes, Done, ObjectAddress, Operation, Repeat};
use crate::{catalog::CallbackSettings, operations};
use domain::{
    conversions::state::Status,
    model::{AdvertiserId, AppId},
    tracking::click::Click,
};

/// The namespace's binding.
pub const BINDING: &str = "OUTBOXES";

/// The name of an app's object. With another name, the app's conversions would be lost.
pub fn object_name(app: AppId) -> String {
    format!("outbox-{app}")
}

/// The address of an app's outbox. The path contains the app, since an object started by its alarm has no name.
pub fn address(app: AppId) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name: object_name(app),
        path: format!("/{app}"),
    }
}

/// The app in an address's path.
pub fn parse_path(path: &str) -> Option<AppId> {
    AppId::parse(path.strip_prefix('/')?)
}

operations! {
    pub enum Command {
        /// A postback. Idempotent by click and goal: a repeat gets the first one's outcome.
        Convert(Box<Conversion>) -> Answer, IdempotentInHeader;
        /// The app's current callback settings. Idempotent by revision: the highest applies, in any order of arrival.
        Settings(CallbackSettings) -> Done, Idempotent;
        List(List) -> operation::Reply, Idempotent;
        Get(Get) -> operation::Reply, Idempotent;
        Replay(Replay) -> operation::Reply, Once;
        ReplayMany(ReplayMany) -> operation::Reply, Once;
        Status(GetStatus) -> operation::Reply, Idempotent;
        Enable(Enable) -> operation::Reply, Idempotent;
        Test(Test) -> operation::Reply, Once;
        Erase(Erase) -> operation::Reply, Idempotent;
    }
}

/// `GET …/conversions`: the log of conversions, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    pub status: Option<String>,
    pub state: Option<String>,
    pub limit: u32,
    pub cursor: Option<String>,
}

/// `GET …/conversions/{transaction_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Get {
    pub transaction_id: String,
}

/// `POST …/conversions/{transaction_id}/replay`. Each call sends the callback again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    pub transaction_id: String,
}

/// A step of `POST …/conversions/replay`. The reply's body is [`Replayed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayMany {
    /// The operator's JSON.
    pub body: String,
    /// `next` of the previous step; 0 at first.
    pub after: i64,
    /// `until` of the previous step.
    pub until: Option<i64>,
}

/// `GET …/callback`: the endpoint's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// `POST …/callback/enable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enable {}

/// `POST …/callback_test`. Each call sends a test callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {}

/// `DELETE …/users/{user_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erase {
    pub user_id: String,
}

/// A postback with its click id opened and its token checked by the edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// The click's nonce, which identifies it.
    pub nonce: Bytes,
    pub click: Click<'static>,
    /// The advertiser whose token the postback has.
    pub advertiser: AdvertiserId,
    /// The goal parameter as it was sent.
    pub goal: Option<String>,
    /// The sender's own id of the conversion.
    pub txn: Option<String>,
    pub status: Status,
}

/// The answer to a postback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The reward's id, even after a reversal.
    pub transaction_id: String,
    pub status: Status,
    pub duplicate: bool,
}

/// The result of a step of [`ReplayMany`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub replayed: i64,
    /// The last entry that this step looked at, if there are more.
    pub next: Option<i64>,
    /// The end of the replayed period in UNIX seconds, which all further steps keep.
    pub until: i64,
}

/// An answer as the object writes it. The caller reads it as its operation's [`Answer`](Operation::Answer).
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Answer(Answer),
    /// The answer to an operator's command.
    Operator(operation::Reply),
    Done {},
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Command as _;
    use domain::model::Country;

    fn conversion() -> Conversion {
        Conversion {
            nonce: Bytes(vec![255; 12]),
            click: Click {
                offer: "o-1".into(),
                goal: "g-1".into(),
                app: AppId::parse("00000042").unwrap(),
                user_id: "u".into(),
                gaid: Some("g".into()),
                idfa: None,
                custom: [Some("c".into()), None, None, None, None],
                placement: None,
                country: Country::parse("DE"),
                clicked_at_ms: 1_768_478_400_123,
            },
            advertiser: AdvertiserId::parse("brand").unwrap(),
            goal: Some("purchase".into()),
            txn: None,
            status: Status::Approved,
        }
    }

    #[test]
    fn answers_are_read_as_the_answer_type_of_their_operation() {
        let answers = [
            (Status::Approved, "approved"),
            (Status::Pending, "pending"),
            (Status::Rejected, "rejected"),
            (Status::Reversed, "reversed"),
        ];
        for (status, name) in answers {
            let answer = Answer {
                transaction_id: "t".into(),
                status,
                duplicate: status == Status::Pending,
            };
            let json = serde_json::to_string(&Reply::Answer(answer.clone())).unwrap();
            let duplicate = status == Status::Pending;
            assert_eq!(
                json,
                format!(r#"{{"transaction_id":"t","status":"{name}","duplicate":{duplicate}}}"#)
            );
            assert_eq!(serde_json::from_str::<Answer>(&json).unwrap(), answer);
        }
        let reply = operation::Reply {
            status: 200,
            body: "{}".into(),
        };
        let json = serde_json::to_string(&Reply::Operator(reply.clone())).unwrap();
        assert_eq!(json, r#"{"status":200,"body":"{}"}"#);
        assert_eq!(serde_json::from_str::<operation::Reply>(&json).unwrap(), reply);
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
    }

    #[test]
    fn commands_that_send_a_callback_are_not_retried() {
        let id = || "t".to_owned();
        assert!(Command::Convert(Box::new(conversion())).is_idempotent());
        assert!(Command::Erase(Erase { user_id: id() }).is_idempotent());
        assert!(!Command::Replay(Replay { transaction_id: id() }).is_idempotent());
        let many = Command::ReplayMany(ReplayMany {
            body: id(),
            after: 0,
            until: None,
        });
        assert!(!many.is_idempotent());
        assert!(!Command::Test(Test {}).is_idempotent());
    }
}
