//! The ledgers: one object for each publisher. Facts and reports are streams and travel over paths of their own.

use serde::{Deserialize, Serialize};

use crate::operation::{self, Applied, ObjectAddress, Operation, Repeat};
use crate::operations;
use domain::{
    model::{AppId, Country, OfferId, PublisherId, time::UtcDay},
    reporting::facts::Format,
};

/// The namespace's binding.
pub const BINDING: &str = "LEDGERS";

/// The name of a publisher's object. A changed name would lose the publisher's numbers.
pub fn object_name(publisher: &PublisherId) -> String {
    format!("ledger-{publisher}")
}

/// Another object's batch.
pub const BATCH: &str = "batch";
/// The operator's commands. The publisher must be in the catalog.
pub const OPERATOR: &str = "operator";
pub const REPORT: &str = "report";
pub const FACTS: &str = "facts";
/// Bench builds only.
#[cfg(feature = "bench")]
pub const BENCH: &str = "bench";
/// How often a bench's report is made.
#[cfg(feature = "bench")]
pub const BENCH_TIMES: &str = "x-times";

/// The address of a publisher's ledger. The path names the publisher, since an object that its alarm has started does not
/// know its name.
pub fn address(publisher: &PublisherId, what: &str) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name: object_name(publisher),
        path: format!("/{publisher}/{what}"),
    }
}

/// The publisher and the purpose in an address's path.
pub fn parse_path(path: &str) -> Option<(PublisherId, &str)> {
    let (publisher, what) = path.strip_prefix('/')?.split_once('/')?;
    Some((PublisherId::parse(publisher)?, what))
}

/// An upload, as the operator's interface has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    pub target: Target,
    pub format: Format,
    /// Not as `Content-Encoding`, which the runtime might act on.
    pub gzip: bool,
}

impl Upload {
    /// The header that carries it, as JSON.
    pub const HEADER: &str = "x-upload";
}

/// The place where uploaded facts go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// They replace the facts loaded for a day.
    Day(UtcDay),
    /// They are added, once for this key.
    Batch(String),
}

operations! {
    pub enum Command {
        AddOffers(AddOffers) -> Applied, Idempotent;
        CreateKey(CreateKey) -> operation::Reply, Once;
        ListKeys(ListKeys) -> operation::Reply, Idempotent;
        RevokeKey(RevokeKey) -> operation::Reply, Once;
        ListDays(ListDays) -> operation::Reply, Idempotent;
    }
}

/// One batch of another object's sums, for the `offers` layer.
///
/// Idempotent by source and sequence: a source has one batch in flight to a ledger and its sequences increase, so whatever
/// is not above the highest applied one is a repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddOffers {
    pub source: String,
    pub sequence: u64,
    pub sums: Vec<OfferSum>,
}

/// `POST …/report_keys`; `body` is the operator's JSON. Each call issues another key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateKey {
    pub body: String,
}

/// `GET …/report_keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListKeys {}

/// `DELETE …/report_keys/{key_id}`. A repeat finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokeKey {
    pub key_id: String,
}

/// `GET …/facts`: the days and their sizes, newest first. `before` is a page's cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDays {
    pub limit: u32,
    pub before: Option<String>,
}

/// Clicks and revenue of one offer in one app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferSum {
    pub day: UtcDay,
    pub app: AppId,
    pub offer: OfferId,
    pub country: Option<Country>,
    /// As the click carried it; a ledger keeps 200 of an app's day apart.
    pub placement: Option<String>,
    #[serde(default)]
    pub clicks: u64,
    /// In micro-USD; negative for a reversal.
    #[serde(default)]
    pub revenue_micro_usd: i64,
}

/// An answer, as the object writes it. Who asked reads the type that its command names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Applied(Applied),
    /// To the operator's commands.
    Operator(operation::Reply),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_as_older_and_newer_code_reads_them() {
        let sums = vec![OfferSum {
            day: UtcDay::from_number(20_000).unwrap(),
            app: AppId::parse("00000042").unwrap(),
            offer: OfferId::parse("o-1").unwrap(),
            country: Country::parse("DE"),
            placement: None,
            clicks: 2,
            revenue_micro_usd: 0,
        }];
        let add = Command::AddOffers(AddOffers {
            source: "counters-1".into(),
            sequence: 3,
            sums,
        });
        let cases = [
            (
                add,
                concat!(
                    r#"{"add_offers":{"source":"counters-1","sequence":3,"sums":[{"day":20000,"app":"00000042","#,
                    r#""offer":"o-1","country":"DE","placement":null,"clicks":2,"revenue_micro_usd":0}]}}"#
                ),
            ),
            (Command::ListKeys(ListKeys {}), r#"{"list_keys":{}}"#),
            (
                Command::RevokeKey(RevokeKey { key_id: "k".into() }),
                r#"{"revoke_key":{"key_id":"k"}}"#,
            ),
        ];
        for (command, json) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
    }
}
