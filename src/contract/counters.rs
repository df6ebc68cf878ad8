//! The counters: 64 objects, chosen by a hash of the offer's id. The first eight add up clicks, too. Each operation is
//! idempotent, by the rule in its text.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    ledger::DaySums,
    operation::{Applied, Done, Mark, ObjectAddress, Operation, Repeat, shard},
    operations,
};
use domain::{
    model::{OfferId, PublisherId, UtcDay},
    tracking::click_counts::ClickSum,
};

/// The namespace's binding.
pub const BINDING: &str = "COUNTERS";

/// Number of objects.
const OBJECTS: u64 = 64;
/// Number of objects that add up clicks. They are few because an isolate calls each of them once a second, and a call
/// costs more than all of the sums in it.
const CLICK_OBJECTS: u64 = 8;

/// Offers in one answer to [`Stats`]. Reading them takes about 50 ms if each has 30 days of 10 apps, and the object answers
/// nobody else meanwhile. With 1.2 KB each the answer stays below the 2 MB of a value of SQLite.
pub const STATS_PAGE: usize = 1_000;

/// Apps of one offer in an answer to [`Stats`], at most 30 bytes each.
pub const STATS_APPS: usize = 40;

/// The name of the object that keeps an offer's caps and adds up its conversions. With another number or name, the
/// object's counts would be lost.
pub fn object_name(offer: &OfferId) -> String {
    name(shard(offer.as_str().as_bytes(), OBJECTS))
}

/// The number of the object that adds up an offer's clicks. Another number loses no count, since an offer's figures are
/// those of all objects together.
pub fn click_object(offer: &str) -> u64 {
    shard(offer.as_bytes(), CLICK_OBJECTS)
}

/// The names of all objects.
pub fn object_names() -> impl Iterator<Item = String> {
    (0..OBJECTS).map(name)
}

/// An object's name from its number.
pub fn name(object: u64) -> String {
    format!("counters-{object}")
}

/// An object's address from its name.
pub fn address(name: String) -> ObjectAddress {
    ObjectAddress::of(BINDING, name)
}

operations! {
    pub enum Command {
        Take(Take) -> Taken, Idempotent;
        SetCap(SetCap) -> Done, Idempotent;
        Flush(Flush) -> Applied, Idempotent;
        AddConversions(AddConversions) -> Mark, Idempotent;
        Stats(Stats) -> Vec<OfferStats>, Idempotent;
        ReadTaken(ReadTaken) -> TakenOfDay, Idempotent;
        SumDay(SumDay) -> DaySums, Idempotent;
        Restated(Restated) -> Done, Idempotent;
    }
    pub enum Reply {
        Taken(Taken),
        TakenOfDay(TakenOfDay),
        Applied(Applied),
        Mark(Mark),
        /// A list of [`OfferStats`], written by the database.
        Stats(Box<RawValue>),
        DaySums(DaySums),
        Done {},
    }
}

/// An offer's conversion cap as an outbox has it from now on, and what it paid on a day without taking it from a cap: that
/// counts as taken.
///
/// Idempotent: the highest revision applies, and of a source the highest count of a day, which only rises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetCap {
    /// The offer that has the cap.
    pub offer: OfferId,
    /// The daily cap; `None` if it was removed.
    pub limit: Option<u32>,
    /// The catalog's revision of `limit`.
    pub revision: i64,
    /// The UTC day of the payments.
    pub day: UtcDay,
    /// The outbox's object name.
    pub source: String,
    /// Its payments of that day which were not taken.
    pub uncapped: u32,
}

/// One isolate's batch of counted clicks.
///
/// Idempotent by isolate and sequence: an isolate has one batch in flight to an object and its sequences increase, so a
/// batch that is not above the highest applied sequence is a repeat. An isolate's name is never reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The isolate's random name.
    pub isolate: String,
    /// Rises with each batch of the isolate to this object.
    pub sequence: u64,
    /// Shared with the edge, which keeps it until it was applied.
    pub sums: Rc<Vec<ClickSum>>,
}

/// One outbox's batch of rewards and reversals.
///
/// Idempotent, like [`AddOffers`](crate::ledger::AddOffers).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddConversions {
    /// The outbox's object name.
    pub source: String,
    /// See [`AddOffers`](crate::ledger::AddOffers).
    pub after: i64,
    /// See [`AddOffers`](crate::ledger::AddOffers).
    pub number: i64,
    /// Of offers that this object keeps.
    pub sums: Vec<ConversionSum>,
}

/// Reads the sums of the 30 days that end with `today`, and today's use of the caps, of the next [`STATS_PAGE`] offers
/// after one, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// The last of the 30 days.
    pub today: UtcDay,
    /// The last offer of the page before; `None` for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<OfferId>,
}

/// Reads how much of an offer's caps of a day is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTaken {
    /// The offer whose cap is read.
    pub offer: OfferId,
    /// The UTC day of the cap.
    pub day: UtcDay,
}

/// One step through the clicks of a publisher on a UTC day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumDay {
    /// The publisher of the clicks' apps.
    pub publisher: PublisherId,
    /// The day of the clicks.
    pub day: UtcDay,
    /// The number in the log after which to go on; 0 at first.
    pub after: i64,
    /// The last number that counts.
    pub through: i64,
}

/// Says that a ledger has a day's clicks as this object reported them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restated {
    /// The publisher of the ledger.
    pub publisher: PublisherId,
    /// The day of the clicks.
    pub day: UtcDay,
}

/// The answer to [`ReadTaken`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenOfDay {
    /// Conversions that were taken from the day's cap.
    pub conversions: u32,
    /// Clicks that this object has counted, if it is the one that adds up the offer's.
    #[serde(default)]
    pub clicks: i64,
}

/// One of an offer's two caps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    /// Limits the clicks of a UTC day.
    Click = 0,
    /// Limits the conversions of a UTC day.
    Conversion = 1,
}

impl CapKind {
    /// The number in the counters' tables.
    pub fn number(self) -> i64 {
        self as i64
    }
}

/// Takes one from an offer's daily cap for a key. It is never given back.
///
/// Idempotent by kind, day and key: a repeat has the same day and gets the first answer. A refused take is not stored,
/// so a further request with its key is decided again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// The cap to take from.
    pub kind: CapKind,
    /// The click's nonce or the conversion's row. A key always belongs to the same offer.
    pub key: String,
    /// The offer that has the cap.
    pub offer: OfferId,
    /// The day of the cap: the day of the click or of the conversion's receipt, which may be over.
    pub day: UtcDay,
    /// The daily cap known to the caller.
    pub limit: u32,
    /// The catalog's revision of `limit`.
    pub revision: i64,
    /// Counts it even if the cap is spent, because the operator has approved the conversion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_force: bool,
    /// The outbox of a conversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Asker>,
}

/// An outbox that takes from a cap. What it knows shows that the counters were put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The outbox's object name.
    pub source: String,
    /// The number of its last batch that the counters have applied, as far as it knows.
    pub known: i64,
}

/// Conversions and payout of one offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionSum {
    /// The UTC day of the reward or of the reversal.
    pub day: UtcDay,
    /// The converted offer.
    pub offer: OfferId,
    /// Negative for reversals, each on the day of the reversal.
    #[serde(default)]
    pub conversions: i64,
    /// In micro-USD; negative for reversals.
    #[serde(default)]
    pub payout_micro_usd: i64,
}

/// The answer to [`Take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// False if the cap is spent or its day is closed.
    pub taken: bool,
    /// The remainder of the applicable cap after this take.
    pub left: u32,
}

/// An offer's figures in one object, to be added up over all objects. In JSON an array in this order to save space, since
/// the catalog asks for those of all offers every 5 minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferStats {
    /// The offer of the figures.
    pub offer: OfferId,
    /// In 30 days.
    pub clicks: u64,
    /// In 30 days, minus the reversals in them; at least 0.
    pub conversions: u64,
    /// In 30 days in micro-USD, minus the reversals in them; at least 0.
    pub payout_micro_usd: i64,
    /// Taken of today's click cap.
    pub clicks_taken: u32,
    /// Taken of today's conversion cap.
    pub conversions_taken: u32,
    /// Of these 30 days, the [`STATS_APPS`] apps with the most conversions, then with the most clicks. The sums have all apps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<AppStats>,
}

/// An app's number, its clicks and its conversions; at least 0.
pub type AppStats = (u32, u64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_the_answer_type_of_their_operation() {
        let json = serde_json::to_string(&Reply::Taken(Taken { taken: true, left: 4 })).unwrap();
        assert_eq!(json, r#"{"taken":true,"left":4}"#);
        assert_eq!(
            serde_json::to_string(&Reply::Applied(Applied { applied: false })).unwrap(),
            r#"{"applied":false}"#
        );
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
        // The second is as an older object sends it.
        let stats = r#"[["o-1",9,1,250000,3,0,[[10000001,4,0],[7,5,1]]],["o-1",9,1,250000,3,0]]"#;
        let stats = RawValue::from_string(stats.into()).unwrap();
        let json = serde_json::to_string(&Reply::Stats(stats)).unwrap();
        let stats: Vec<OfferStats> = serde_json::from_str(&json).unwrap();
        let with = |apps| OfferStats {
            offer: OfferId::parse("o-1").unwrap(),
            clicks: 9,
            conversions: 1,
            payout_micro_usd: 250_000,
            clicks_taken: 3,
            conversions_taken: 0,
            apps,
        };
        assert_eq!(stats, [with(vec![(10_000_001, 4, 0), (7, 5, 1)]), with(vec![])]);
    }
}
