//! What a ledger is asked in JSON. Facts and reports, which are larger, come over paths of their own.

use serde::{Deserialize, Serialize};

use crate::{
    catalog::{AppId, Country, OfferId},
    origin::{command, forward::Batch},
    time::UtcDay,
};

pub use crate::origin::command::Applied;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// One batch of what another object counted, into the `offers` layer. Answer: [`Applied`].
    ///
    /// Idempotent by source and sequence: a source has one batch in flight to a ledger and its sequences increase, so
    /// whatever is not above the highest applied one is a repeat.
    AddOffers {
        source: String,
        sequence: u64,
        sums: Vec<OfferSum>,
    },
    /// `POST …/report_keys`; `body` is the operator's JSON.
    ///
    /// Not idempotent: each call issues another key.
    CreateKey { body: String },
    /// `GET …/report_keys`.
    ListKeys {},
    /// `DELETE …/report_keys/{key_id}`. A repeat finds nothing.
    RevokeKey { key_id: String },
    /// `GET …/facts`: what is kept of each day, the newest first. `before` is a page's cursor.
    ListDays { limit: u32, before: Option<String> },
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        match self {
            Self::AddOffers { .. } | Self::ListKeys {} | Self::ListDays { .. } => true,
            Self::CreateKey { .. } | Self::RevokeKey { .. } => false,
        }
    }
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

impl Batch {
    /// The command for the ledger that the batch is for. `source` is the name of the object that sends it: a ledger tells
    /// batches apart by it and by their numbers.
    ///
    /// # Errors
    /// What in the batch this code cannot read. It concerns no other batch.
    pub fn to_ledger(&self, source: &str) -> Result<Command, String> {
        Ok(Command::AddOffers {
            source: source.to_owned(),
            sequence: self.sequence,
            sums: self.read()?,
        })
    }
}

/// An answer, as the object writes it. Who asked reads the type that its command names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    Applied(Applied),
    /// To the operator's commands.
    Operator(command::Reply),
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
        let add = Command::AddOffers {
            source: "counters-1".into(),
            sequence: 3,
            sums,
        };
        let cases = [
            (
                add,
                concat!(
                    r#"{"add_offers":{"source":"counters-1","sequence":3,"sums":[{"day":20000,"app":"00000042","#,
                    r#""offer":"o-1","country":"DE","placement":null,"clicks":2,"revenue_micro_usd":0}]}}"#
                ),
            ),
            (Command::ListKeys {}, r#"{"list_keys":{}}"#),
            (
                Command::RevokeKey { key_id: "k".into() },
                r#"{"revoke_key":{"key_id":"k"}}"#,
            ),
        ];
        for (command, json) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
    }
}
