//! What the counters are asked and what they answer. Every command is idempotent, each by what its text says.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    catalog::OfferId,
    origin::{command, forward::Batch},
    time::UtcDay,
    tracking::batch::ClickSum,
};

pub use crate::origin::command::Applied;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Takes one of an offer's daily cap, once for a key; never given back. Answer: [`Taken`].
    ///
    /// Idempotent by kind, day and key: a repeat is told what the first was told. A repeat carries the day of the
    /// first. A refused take left nothing behind, so that the same key asked again is judged afresh.
    Take(Take),
    /// What the catalog pushes when an operator changed caps. Answer: [`Reply::Done`].
    ///
    /// Idempotent by revision: of what is known about a cap, the highest revision governs, in whatever order it came.
    SetLimits { limits: Vec<Limit> },
    /// One isolate's batch of counted clicks. Answer: [`Applied`].
    ///
    /// Idempotent by isolate and sequence: an isolate has one batch in flight to an object and its sequences increase,
    /// so whatever is not above the highest applied one is a repeat. An isolate's name is never used again.
    Flush {
        isolate: String,
        sequence: u64,
        sums: Vec<ClickSum>,
    },
    /// One outbox's batch of what it paid and took back. Answer: [`Applied`].
    ///
    /// Idempotent by source and sequence, like [`Flush`](Self::Flush), for as long as the source lives.
    AddConversions {
        source: String,
        sequence: u64,
        sums: Vec<ConversionSum>,
    },
    /// The sums of the 30 days that end with `today`, and what was taken of today's caps. Answer: `Vec<`[`OfferStats`]`>`.
    ///
    /// Changes nothing.
    Stats { today: UtcDay },
}

impl command::Command for Command {
    fn is_idempotent(&self) -> bool {
        true
    }
}

/// Which cap of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Click,
    Conversion,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    pub kind: Kind,
    /// What it is taken for: a click's nonce, a conversion's row. It names one offer for ever.
    pub key: String,
    pub offer: OfferId,
    /// The day whose cap it is: the click's, or that of the conversion's receipt, which may be over by now.
    pub day: UtcDay,
    /// The daily cap as the asker knows it.
    pub limit: u32,
    /// The catalog's change number that `limit` is from.
    pub revision: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub kind: Kind,
    pub offer: OfferId,
    /// The daily cap; none if the offer has none any more.
    pub limit: Option<u32>,
    /// The catalog's change number that `limit` is from.
    pub revision: i64,
}

/// Conversions and payout of one offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionSum {
    pub day: UtcDay,
    pub offer: OfferId,
    /// Negative for reversals, each on its own day.
    #[serde(default)]
    pub conversions: i64,
    /// In micro-USD; negative for reversals. In the book of batches it is revenue.
    #[serde(default, alias = "revenue_micro_usd")]
    pub payout_micro_usd: i64,
}

impl Batch {
    /// The command for the counters object that the batch is for. `source` is the name of the object that sends it:
    /// counters tell batches apart by it and by their numbers.
    ///
    /// # Errors
    /// What in the batch this code cannot read. It concerns no other batch.
    pub fn to_counters(&self, source: &str) -> Result<Command, String> {
        Ok(Command::AddConversions {
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
    Taken(Taken),
    Applied(Applied),
    /// A list of [`OfferStats`], built by the database.
    Stats(Box<RawValue>),
    Done {},
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub taken: bool,
    /// How many the cap that governs had left after this take.
    pub left: u32,
}

/// On the wire an array in this order, since the catalog asks 64 objects of 300 offers each every 5 minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferStats {
    pub offer: OfferId,
    /// Over 30 days.
    pub clicks: u64,
    /// Over 30 days, less those that were reversed in them; at least 0.
    pub conversions: u64,
    /// Over 30 days, less what was taken back in them; at least 0.
    pub payout_micro_usd: i64,
    /// Of today's click cap.
    pub clicks_taken: u32,
    /// Of today's conversion cap.
    pub conversions_taken: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{AppId, Country, PublisherId};

    #[test]
    fn commands_are_written_as_older_and_newer_code_reads_them() {
        let offer = OfferId::parse("o-1").unwrap();
        let day = UtcDay::from_number(20_000).unwrap();
        let cases = [
            (
                Command::Take(Take {
                    kind: Kind::Click,
                    key: "n".into(),
                    offer: offer.clone(),
                    day,
                    limit: 5,
                    revision: 7,
                }),
                r#"{"take":{"kind":"click","key":"n","offer":"o-1","day":20000,"limit":5,"revision":7}}"#,
            ),
            (
                Command::SetLimits {
                    limits: vec![Limit {
                        kind: Kind::Conversion,
                        offer: offer.clone(),
                        limit: None,
                        revision: 8,
                    }],
                },
                r#"{"set_limits":{"limits":[{"kind":"conversion","offer":"o-1","limit":null,"revision":8}]}}"#,
            ),
            (
                Command::Flush {
                    isolate: "i".into(),
                    sequence: 3,
                    sums: vec![ClickSum {
                        publisher: PublisherId::parse("p").unwrap(),
                        day,
                        offer,
                        app: AppId::parse("00000042").unwrap(),
                        country: Country::parse("DE"),
                        placement: None,
                        clicks: 2,
                    }],
                },
                concat!(
                    r#"{"flush":{"isolate":"i","sequence":3,"sums":[{"publisher":"p","day":20000,"offer":"o-1","#,
                    r#""app":"00000042","country":"DE","placement":null,"clicks":2}]}}"#
                ),
            ),
            (
                Command::AddConversions {
                    source: "outbox-00000042".into(),
                    sequence: 3,
                    sums: vec![ConversionSum {
                        day,
                        offer: OfferId::parse("o-2").unwrap(),
                        conversions: -1,
                        payout_micro_usd: -250_000,
                    }],
                },
                concat!(
                    r#"{"add_conversions":{"source":"outbox-00000042","sequence":3,"sums":[{"day":20000,"#,
                    r#""offer":"o-2","conversions":-1,"payout_micro_usd":-250000}]}}"#
                ),
            ),
            (Command::Stats { today: day }, r#"{"stats":{"today":20000}}"#),
        ];
        for (command, json) in cases {
            assert_eq!(serde_json::to_string(&command).unwrap(), json);
            assert_eq!(serde_json::from_str::<Command>(json).unwrap(), command);
        }
    }

    #[test]
    fn replies_are_read_by_the_type_that_the_command_names() {
        let json = serde_json::to_string(&Reply::Taken(Taken { taken: true, left: 4 })).unwrap();
        assert_eq!(json, r#"{"taken":true,"left":4}"#);
        assert_eq!(
            serde_json::to_string(&Reply::Applied(Applied { applied: false })).unwrap(),
            r#"{"applied":false}"#
        );
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
        let stats = RawValue::from_string(r#"[["o-1",9,1,250000,3,0]]"#.into()).unwrap();
        let json = serde_json::to_string(&Reply::Stats(stats)).unwrap();
        let stats: Vec<OfferStats> = serde_json::from_str(&json).unwrap();
        let offer = OfferId::parse("o-1").unwrap();
        assert_eq!(
            stats,
            [OfferStats {
                offer,
                clicks: 9,
                conversions: 1,
                payout_micro_usd: 250_000,
                clicks_taken: 3,
                conversions_taken: 0
            }]
        );
    }
}
