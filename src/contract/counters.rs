//! The counters: 64 objects by hash of the offer id. Every operation is idempotent, each by the rule in its text.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::operation::{Applied, Done, ObjectAddress, Operation, Repeat, shard};
use crate::operations;
use domain::{
    model::{OfferId, time::UtcDay},
    tracking::click_counts::ClickSum,
};

/// The namespace's binding.
pub const BINDING: &str = "COUNTERS";

/// How many objects there are.
pub const OBJECTS: u64 = 64;

/// The number of the object that counts an offer. A changed number, or name, would lose what the object knows.
pub fn object(offer: &OfferId) -> u64 {
    shard(offer.as_str().as_bytes(), OBJECTS)
}

/// The name of the object that counts an offer.
pub fn object_name(offer: &OfferId) -> String {
    name(object(offer))
}

/// Every object's name.
pub fn object_names() -> impl Iterator<Item = String> {
    (0..OBJECTS).map(name)
}

/// The name of an object by its number.
pub fn name(object: u64) -> String {
    format!("counters-{object}")
}

/// The address of an object by its name.
pub fn address(name: String) -> ObjectAddress {
    ObjectAddress {
        binding: BINDING,
        name,
        path: "/".into(),
    }
}

operations! {
    pub enum Command {
        Take(Take) -> Taken, Idempotent;
        SetLimits(SetLimits) -> Done, Idempotent;
        Flush(Flush) -> Applied, Idempotent;
        AddConversions(AddConversions) -> Applied, Idempotent;
        Stats(Stats) -> Vec<OfferStats>, Idempotent;
    }
}

/// Caps that an operator changed, pushed by the catalog.
///
/// Idempotent by revision: the highest revision of a cap governs, in whatever order they arrive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetLimits {
    pub limits: Vec<Limit>,
}

/// One isolate's batch of counted clicks.
///
/// Idempotent by isolate and sequence: an isolate has one batch in flight to an object and its sequences increase, so
/// whatever is not above the highest applied one is a repeat. An isolate's name is never used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    pub isolate: String,
    pub sequence: u64,
    pub sums: Vec<ClickSum>,
}

/// One outbox's batch of rewards and reversals.
///
/// Idempotent by source and sequence, like [`Flush`], for as long as the source lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddConversions {
    pub source: String,
    pub sequence: u64,
    pub sums: Vec<ConversionSum>,
}

/// Asks for the sums of the 30 days that end with `today`, and for today's use of the caps. Changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    pub today: UtcDay,
}

/// Which cap of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    Click,
    Conversion,
}

impl CapKind {
    /// As the counters' tables have it.
    pub fn number(self) -> i64 {
        match self {
            Self::Click => 0,
            Self::Conversion => 1,
        }
    }
}

/// Takes one of an offer's daily cap, once for a key; it is never given back.
///
/// Idempotent by kind, day and key: a repeat gets the first answer, and carries the first one's day. A refused take leaves
/// nothing behind, so the same key is judged afresh when it asks again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    pub kind: CapKind,
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
    pub kind: CapKind,
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
    use domain::model::{AppId, Country, PublisherId};

    #[test]
    fn commands_are_written_as_older_and_newer_code_reads_them() {
        let offer = OfferId::parse("o-1").unwrap();
        let day = UtcDay::from_number(20_000).unwrap();
        let cases = [
            (
                Command::Take(Take {
                    kind: CapKind::Click,
                    key: "n".into(),
                    offer: offer.clone(),
                    day,
                    limit: 5,
                    revision: 7,
                }),
                r#"{"take":{"kind":"click","key":"n","offer":"o-1","day":20000,"limit":5,"revision":7}}"#,
            ),
            (
                Command::SetLimits(SetLimits {
                    limits: vec![Limit {
                        kind: CapKind::Conversion,
                        offer: offer.clone(),
                        limit: None,
                        revision: 8,
                    }],
                }),
                r#"{"set_limits":{"limits":[{"kind":"conversion","offer":"o-1","limit":null,"revision":8}]}}"#,
            ),
            (
                Command::Flush(Flush {
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
                }),
                concat!(
                    r#"{"flush":{"isolate":"i","sequence":3,"sums":[{"publisher":"p","day":20000,"offer":"o-1","#,
                    r#""app":"00000042","country":"DE","placement":null,"clicks":2}]}}"#
                ),
            ),
            (
                Command::AddConversions(AddConversions {
                    source: "outbox-00000042".into(),
                    sequence: 3,
                    sums: vec![ConversionSum {
                        day,
                        offer: OfferId::parse("o-2").unwrap(),
                        conversions: -1,
                        payout_micro_usd: -250_000,
                    }],
                }),
                concat!(
                    r#"{"add_conversions":{"source":"outbox-00000042","sequence":3,"sums":[{"day":20000,"#,
                    r#""offer":"o-2","conversions":-1,"payout_micro_usd":-250000}]}}"#
                ),
            ),
            (
                Command::Stats(Stats { today: day }),
                r#"{"stats":{"today":20000}}"#,
            ),
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
