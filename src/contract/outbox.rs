//! The outboxes: one object for each app.

use serde::{Deserialize, Serialize};

use crate::operation::{self, Bytes, Done, ObjectAddress, Operation, Repeat};
use crate::{catalog::CallbackSettings, operations};
use domain::{conversions::state::Status, model::AppId, tracking::click::Click};

/// The namespace's binding.
pub const BINDING: &str = "OUTBOXES";

/// The name of an app's object. A changed name would lose the app's conversions.
pub fn object_name(app: AppId) -> String {
    format!("outbox-{app}")
}

/// The address of an app's outbox. The path names the app, since an object that its alarm has started does not know its
/// name.
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
        /// The app's callback as the catalog has it now. Idempotent by revision: the highest governs, in whatever order
        /// they arrive.
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

/// `GET …/conversions`: the log, newest first.
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
    /// The `next` of the step before; 0 at first.
    pub after: i64,
    /// The `until` of the step before.
    pub until: Option<i64>,
}

/// `GET …/callback`: the endpoint's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

/// `POST …/callback/enable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enable {}

/// `POST …/callback_test`. Each call sends one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {}

/// `DELETE …/users/{user_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erase {
    pub user_id: String,
}

/// A postback as the edge has read it: the click is opened, the token is a hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// The click's identity.
    pub nonce: Bytes,
    pub click: Click<'static>,
    /// SHA-256 of the advertiser's token.
    pub token: Bytes,
    /// The goal as the sender named it.
    pub goal: Option<String>,
    /// The sender's own id.
    pub txn: Option<String>,
    pub status: Status,
}

/// What the sender of a postback is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The reward's, also when it was taken back.
    pub transaction_id: String,
    pub status: Status,
    pub duplicate: bool,
}

/// The result of a step of [`ReplayMany`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub replayed: i64,
    /// The last entry that it looked at, if there are more.
    pub next: Option<i64>,
    /// UNIX seconds: conversions before then were meant, and are in the steps that follow.
    pub until: i64,
}

/// An answer, as the object writes it. Who asked reads the type that its command names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Answer(Answer),
    /// To the operator's commands.
    Operator(operation::Reply),
    Done {},
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Command as _;
    use domain::model::{AppId, Country};

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
            token: Bytes(vec![0; 32]),
            goal: Some("purchase".into()),
            txn: None,
            status: Status::Approved,
        }
    }

    #[test]
    fn commands_are_written_as_older_and_newer_code_reads_them() {
        let text = |text: &str| Some(text.to_owned());
        let cases = [
            (
                Command::Convert(Box::new(conversion())),
                concat!(
                    r#"{"convert":{"nonce":"________________","click":{"offer":"o-1","goal":"g-1","app":"00000042","#,
                    r#""user_id":"u","gaid":"g","idfa":null,"custom":["c",null,null,null,null],"placement":null,"#,
                    r#""country":"DE","clicked_at_ms":1768478400123},"#,
                    r#""token":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","goal":"purchase","txn":null,"#,
                    r#""status":"approved"}}"#
                ),
            ),
            (
                Command::Settings(CallbackSettings {
                    revision: 7,
                    sealed: Some(Bytes(vec![1, 2, 3])),
                }),
                r#"{"settings":{"revision":7,"sealed":"AQID"}}"#,
            ),
            (
                Command::Settings(CallbackSettings {
                    revision: 8,
                    sealed: None,
                }),
                r#"{"settings":{"revision":8,"sealed":null}}"#,
            ),
            (
                Command::List(List {
                    status: text("refused"),
                    state: None,
                    limit: 100,
                    cursor: text("9"),
                }),
                r#"{"list":{"status":"refused","state":null,"limit":100,"cursor":"9"}}"#,
            ),
            (
                Command::Get(Get {
                    transaction_id: "t".into(),
                }),
                r#"{"get":{"transaction_id":"t"}}"#,
            ),
            (
                Command::Replay(Replay {
                    transaction_id: "t".into(),
                }),
                r#"{"replay":{"transaction_id":"t"}}"#,
            ),
            (
                Command::ReplayMany(ReplayMany {
                    body: "{}".into(),
                    after: 0,
                    until: None,
                }),
                r#"{"replay_many":{"body":"{}","after":0,"until":null}}"#,
            ),
            (
                Command::ReplayMany(ReplayMany {
                    body: "{}".into(),
                    after: 20_000,
                    until: Some(1_768_478_401),
                }),
                r#"{"replay_many":{"body":"{}","after":20000,"until":1768478401}}"#,
            ),
            (Command::Status(GetStatus {}), r#"{"status":{}}"#),
            (Command::Enable(Enable {}), r#"{"enable":{}}"#),
            (Command::Test(Test {}), r#"{"test":{}}"#),
            (
                Command::Erase(Erase { user_id: "u".into() }),
                r#"{"erase":{"user_id":"u"}}"#,
            ),
        ];
        for (command, json) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
    }

    #[test]
    fn answers_are_read_by_the_type_that_the_command_names() {
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
    fn what_sends_a_callback_is_not_sent_twice_by_itself() {
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
