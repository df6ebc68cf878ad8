//! What an outbox is asked and what it answers.

use serde::{Deserialize, Serialize};

use crate::{
    conversions::state::Status,
    origin::{
        catalog::terms::CallbackSettings,
        command::{self, Bytes},
    },
    tracking::click::Click,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A postback. Answer: [`Answer`].
    ///
    /// Idempotent by click and goal: a repeat is told what became of the first.
    Convert(Box<Conversion>),
    /// The catalog's news of the app's callback. Answer: [`Reply::Done`].
    ///
    /// Idempotent by revision: the highest governs, in whatever order they come.
    Settings(CallbackSettings),
    /// `GET …/conversions`: the log, the newest first.
    List {
        status: Option<String>,
        state: Option<String>,
        limit: u32,
        cursor: Option<String>,
    },
    /// `GET …/conversions/{transaction_id}`.
    Get { transaction_id: String },
    /// `POST …/conversions/{transaction_id}/replay`.
    ///
    /// Not idempotent: each call sends the callback again.
    Replay { transaction_id: String },
    /// `POST …/conversions/replay`; `body` is the operator's JSON.
    ///
    /// Not idempotent.
    ReplayMany { body: String },
    /// `GET …/callback`: how the endpoint is doing.
    Status {},
    /// `POST …/callback/enable`.
    Enable {},
    /// `POST …/callback_test`.
    ///
    /// Not idempotent: each call sends one.
    Test {},
    /// `DELETE …/users/{user_id}`.
    Erase { user_id: String },
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        match self {
            Self::Convert(_)
            | Self::Settings(_)
            | Self::List { .. }
            | Self::Get { .. }
            | Self::Status {}
            | Self::Enable {}
            | Self::Erase { .. } => true,
            Self::Replay { .. } | Self::ReplayMany { .. } | Self::Test {} => false,
        }
    }
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

/// An answer, as the object writes it. Who asked reads the type that its command names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Answer(Answer),
    /// To the operator's commands.
    Operator(command::Reply),
    Done {},
}
