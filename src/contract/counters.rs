//! The counters: 64 objects, chosen by a hash of the offer's id. The first eight also add up clicks. The comment of
//! each operation says why the operation is idempotent.

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

/// The number of objects. With another number, stored caps and counts would not be found.
const OBJECTS: u64 = 64;
/// The number of objects that add up clicks. They are few because an isolate calls each of them once per second, and a
/// call costs more than all the sums in it.
const CLICK_OBJECTS: u64 = 8;

/// Maximum offers in one answer to [`Stats`]. If each offer has 30 days of 10 apps, reading them takes about 50 ms,
/// during which the object answers no other request. At 1.2 KB for each offer, the answer stays below the 2 MB of a
/// SQLite value.
pub const STATS_PAGE: usize = 1_000;

/// Maximum apps of one offer in an answer to [`Stats`], at up to 30 bytes each.
pub const STATS_APPS: usize = 40;

/// The name of the object that keeps an offer's caps and adds up its conversions. If this name or the number of objects
/// changed, the stored counts would be lost.
pub fn object_name(offer: &OfferId) -> String {
    name(shard(offer.as_str().as_bytes(), OBJECTS))
}

/// The number of the object that adds up an offer's clicks. A change of this number would lose no count, since an
/// offer's figures are summed over all objects.
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
        /// A list of [`OfferStats`] that the database has serialized.
        Stats(Box<RawValue>),
        DaySums(DaySums),
        Done {},
    }
}

/// Sets an offer's conversion cap as an outbox knows it. Also counts the outbox's payments of a day that were not taken
/// from a cap.
///
/// Idempotent: the highest revision applies. For each source and day the highest count applies, since a count never
/// decreases.
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
    /// The number of the outbox's payments of that day that were not taken from a cap.
    pub uncapped: u32,
}

/// One isolate's batch of counted clicks.
///
/// Idempotent by isolate and sequence: an isolate has one batch in flight to an object and its sequences increase, so a
/// batch whose sequence is not above the highest applied one is a repeat. An isolate's name is never reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The isolate's random name.
    pub isolate: String,
    /// The sequence, which increases with each batch of the isolate to this object.
    pub sequence: u64,
    /// The sums. The edge shares them and keeps them until the batch is applied.
    pub sums: Rc<Vec<ClickSum>>,
}

/// One outbox's batch of rewards and reversals.
///
/// Idempotent by the same rule as [`AddOffers`](crate::ledger::AddOffers).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddConversions {
    /// The outbox's object name.
    pub source: String,
    /// See [`AddOffers`](crate::ledger::AddOffers).
    pub after: i64,
    /// See [`AddOffers`](crate::ledger::AddOffers).
    pub number: i64,
    /// Sums of offers whose caps this object keeps.
    pub sums: Vec<ConversionSum>,
    /// See [`Asker`].
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub refilled_ms: i64,
}

/// Reads the sums of the 30 days that end with `today`, and today's use of caps. A page has the next [`STATS_PAGE`]
/// offers in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// The last of the 30 days.
    pub today: UtcDay,
    /// The last offer of the previous page; `None` for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<OfferId>,
}

/// Reads how much of an offer's caps was taken on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTaken {
    /// The offer whose cap is read.
    pub offer: OfferId,
    /// The UTC day of the cap.
    pub day: UtcDay,
}

/// Reads one part of a publisher's clicks on a UTC day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumDay {
    /// The publisher of the clicks' apps.
    pub publisher: PublisherId,
    /// The day of the clicks.
    pub day: UtcDay,
    /// The number in the log after which this part begins; 0 for the first.
    pub after: i64,
    /// The last number that is included.
    pub through: i64,
}

/// Confirms that a ledger has restated a day with the clicks that this object reported.
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
    /// The number of conversions that were taken from the day's cap.
    pub conversions: u32,
    /// The number of clicks counted by this object, if it adds up the offer's clicks.
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

/// Takes one click or conversion from an offer's daily cap, under a key. A take is never given back.
///
/// Idempotent by kind, day and key: a retry has the same day and gets the first answer. A refused take is not stored,
/// so a later request with the same key is evaluated again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// The cap to take from.
    pub kind: CapKind,
    /// For a click, its nonce; for a conversion, the click's nonce and the goal. A key always belongs to the same
    /// offer.
    pub key: String,
    /// The offer that has the cap.
    pub offer: OfferId,
    /// The UTC day of the cap: the day of the click, or of the conversion's receipt. The day may be over.
    pub day: UtcDay,
    /// The daily cap known to the caller.
    pub limit: u32,
    /// The catalog's revision of `limit`.
    pub revision: i64,
    /// True to take even if the cap is used up, because the operator has approved the conversion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_force: bool,
    /// The outbox that takes for a conversion; `None` for a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Asker>,
}

/// An outbox that takes from a cap. `known` and `refilled_ms` show the counters whether they may have been restored
/// from an earlier copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The outbox's object name.
    pub source: String,
    /// The number of the last batch that, as far as the outbox knows, the counters have applied.
    pub known: i64,
    /// When the outbox last wrote again what a restore of it had lost, in milliseconds; 0 for never. Counters that were
    /// restored with it have all batches up to `known`, but may have lost takes.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub refilled_ms: i64,
}

/// Conversions and payout of one offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionSum {
    /// The UTC day of the reward or of the reversal.
    pub day: UtcDay,
    /// The converted offer.
    pub offer: OfferId,
    /// The rewards of the day minus the reversals of the day.
    #[serde(default)]
    pub conversions: i64,
    /// The payouts of the day minus the reversed payouts of the day, in micro-USD.
    #[serde(default)]
    pub payout_micro_usd: i64,
}

/// The answer to [`Take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// False if the cap is used up or its day is closed.
    pub taken: bool,
    /// The remainder of the applicable cap after this take.
    pub left: u32,
}

/// An offer's figures in one object, to be summed over all objects. Its JSON is an array in this order, to save space:
/// the catalog requests the figures of all offers every 5 minutes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferStats {
    /// The offer of the figures.
    pub offer: OfferId,
    /// Clicks in 30 days.
    pub clicks: u64,
    /// Conversions in 30 days, minus the reversals in these days. A negative sum counts as 0.
    pub conversions: u64,
    /// The payout of 30 days in micro-USD, minus the reversals in these days. A negative sum counts as 0.
    pub payout_micro_usd: i64,
    /// Clicks taken from today's cap.
    pub clicks_taken: u32,
    /// Conversions taken from today's cap.
    pub conversions_taken: u32,
    /// The [`STATS_APPS`] apps with the most conversions in these 30 days; apps with equal conversions are ranked by
    /// clicks. The sums above include all apps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<AppStats>,
}

/// An app's id as a number, the app's clicks, and its conversions. A negative sum counts as 0.
pub type AppStats = (u32, u64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_as_the_answer_type_of_their_operation() {
        let json = serde_json::to_string(&Reply::Taken(Taken { taken: true, left: 4 })).unwrap();
        assert_eq!(json, r#"{"taken":true,"left":4}"#);
        assert_eq!(serde_json::to_string(&Reply::Applied(Applied { applied: false })).unwrap(), r#"{"applied":false}"#);
        assert_eq!(serde_json::to_string(&Reply::Done {}).unwrap(), "{}");
        // The second array has the form that an older object sends.
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
