//! The items that need the operator's attention: one object for the deployment, to which other objects report open
//! items. It is an [`activity`](crate::activity) object with its own name. It owns nothing: other objects can report
//! all items again.

use serde::{Deserialize, Serialize};

use crate::{operation::ObjectAddress, stored_names::stored_names};
use domain::model::{AppId, PublisherId, UtcDay};

/// The binding of the namespace, which the object shares with the publishers' activity objects.
pub const BINDING: &str = "ACTIVITY";
/// The object's name. A publisher's object is named `activity-…`.
pub const OBJECT_NAME: &str = "attention";

/// The address of the only object.
pub fn address() -> ObjectAddress {
    ObjectAddress::of(BINDING, OBJECT_NAME)
}

stored_names! {
    /// The kinds of items. SQL statements contain their numbers.
    Kind {
        /// A conversion that waits for the operator.
        Held = 1 "held",
        /// A conversion that was earned but refused because of the offer's cap.
        Capped = 2 "capped",
        /// A callback whose schedule has ended without success.
        Dead = 3 "dead",
        /// An app's endpoint that disabled itself.
        Disabled = 4 "disabled",
        /// An app's endpoint whose last five calls failed.
        Failing = 5 "failing",
        /// An object that uses more than 80 % of its 10 GB.
        NearLimit = 6 "near_limit",
        /// A batch of sums that its receiver refused.
        BatchRefused = 7 "batch_refused",
        /// A day for which an outbox's log differs from the ledger's sums.
        Differs = 8 "differs",
        /// A batch of sums whose receiver has not answered for several minutes.
        BatchLate = 9 "batch_late",
        /// Terms that the catalog has lost, and that a stored postback needs.
        TermsLost = 10 "terms_lost",
        /// A loaded day that is final although a source has not confirmed its sums.
        Unconfirmed = 11 "unconfirmed",
        /// A doubt after an object was restored from an earlier copy. Only a person can end it.
        Restored = 12 "restored",
        /// A day whose facts were not loaded by noon of the next day.
        FactsLate = 13 "facts_late",
    }
}

impl Kind {
    /// True if a source can have any number of items of this kind, so that the list may have no room for some. All
    /// items of the other kinds are listed.
    pub fn is_limited(self) -> bool {
        !matches!(self, Self::Disabled | Self::Failing | Self::NearLimit | Self::Restored)
    }
}

/// The changes of an object's items. All values are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionBatch {
    /// The object's name.
    pub source: String,
    /// The app, if the source is an outbox.
    pub app: Option<AppId>,
    /// The publisher of an outbox or a ledger; `None` for other objects, and while it is unknown.
    pub publisher: Option<PublisherId>,
    /// Rises with each batch of the source. A batch that is not above the last one is ignored.
    pub sequence: i64,
    /// The sequence of the source's previous batch.
    pub before: i64,
    /// The sequence of the last batch that, as far as the source knows, was applied.
    pub confirmed: i64,
    /// The time when the batch was made, in milliseconds.
    pub at_ms: i64,
    /// See [`FeedBatch`](crate::activity::FeedBatch).
    pub owes_since_ms: Option<i64>,
    /// See [`FeedBatch`](crate::activity::FeedBatch).
    pub next_by_ms: Option<i64>,
    /// True if all earlier items of the source are void.
    pub resets: bool,
    /// The number of open items of each limited kind, at most [`AttentionBatch::MAX_COUNTED`]. Omits kinds without open
    /// items.
    pub counts: Vec<(Kind, i64)>,
    /// The changed items and, if there is room, items that the receiver declined before.
    pub items: Vec<AttentionItem>,
    /// An outbox's rewards of the last day that was compared with the ledger at night.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewards: Option<DayRewards>,
}

/// The rewards of an outbox on a UTC day. Two of the counts show the operator whether somebody saves up clicks, that
/// is, converts old clicks because their terms pay more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayRewards {
    /// The day that was compared.
    pub day: UtcDay,
    /// The number of rewards.
    pub rewards: i64,
    /// The number of rewards whose click was more than 24 hours before the conversion.
    pub after_24_h: i64,
    /// The number of rewards that were paid under superseded terms.
    pub by_superseded_terms: i64,
}

impl AttentionBatch {
    /// Maximum items of a kind that a source counts. Counting that many takes 2 ms, during which the source answers no
    /// other request.
    pub const MAX_COUNTED: i64 = 20_000;
}

/// The current form of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionItem {
    /// The kind, which decides how the item is listed.
    pub kind: Kind,
    /// The item's key, together with source and kind.
    pub subject: String,
    /// False if the item has ended.
    pub is_open: bool,
    /// The time when the item opened, in milliseconds.
    pub since_ms: i64,
    /// The code of the reason.
    pub reason: String,
    /// The amount that the conversion pays or would pay, as a decimal number in USD.
    pub payout: Option<String>,
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclinedItems {
    /// The indexes, in the batch, of the open items that were declined because the list has no room for them.
    pub declined: Vec<u32>,
    /// True if the receiver lacks a confirmed batch, or has a batch that the source does not know: the receiver or the
    /// source was lost or restored. Stays true until a batch with `resets` arrives.
    pub is_incomplete: bool,
}

/// The size of an object that is nearly full. A large object reports its size repeatedly. A size is forgotten after two
/// days without a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSize {
    /// The object's name.
    pub source: String,
    /// The time when the size was read, in milliseconds.
    pub at_ms: i64,
    /// The size of the object's database, in bytes.
    pub bytes: i64,
}

/// Reports that an object was restored from an earlier copy. The object, or the call that restores it, sends this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// The object's name.
    pub source: String,
    /// The publisher that owns the object; `None` if it belongs to none.
    pub publisher: Option<PublisherId>,
    /// The time when the restore was noticed, in milliseconds.
    pub at_ms: i64,
    /// The doubts. Each doubt becomes an item.
    pub doubts: Vec<Doubt>,
}

/// A part of the data that is in doubt after an object was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The item's key, together with the object's name.
    pub subject: String,
    /// A code that says what to do.
    pub reason: String,
}

impl Doubt {
    /// Creates a doubt about one subject.
    pub fn new(subject: impl Into<String>, reason: &str) -> Self {
        Self { subject: subject.into(), reason: reason.to_owned() }
    }
}

/// Ends an item of a kind that only a person can end. Returns 404 if the item is not open or has another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndItem {
    /// The item's place in the list.
    pub place: ItemPlace,
}

/// Reads a page of the open items, oldest first. Each condition narrows the list further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAttention {
    /// The kind of the items; all kinds if `None`.
    pub kind: Option<Kind>,
    /// The app of the items; all apps, and objects without one, if `None`.
    pub app: Option<AppId>,
    /// Maximum items on the page.
    pub limit: u32,
    /// Only items after this place; `None` for the first page.
    pub after: Option<ItemPlace>,
}

/// The place of an item in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemPlace {
    /// The time when the item opened, in milliseconds.
    pub since_ms: i64,
    /// The item's number in the list, which breaks ties.
    pub item: i64,
}

impl ItemPlace {
    /// The place as the text of a cursor: `since_ms.item`.
    pub fn to_cursor(self) -> String {
        format!("{}.{}", self.since_ms, self.item)
    }

    /// Returns the place in a cursor; `None` for a text that [`to_cursor`](Self::to_cursor) does not write.
    pub fn parse(cursor: &str) -> Option<Self> {
        let (since_ms, item) = cursor.split_once('.')?;
        let place = Self { since_ms: since_ms.parse().ok()?, item: item.parse().ok()? };
        let is_stored = |number| (0..=MAX_NUMBER).contains(&number);
        (is_stored(place.since_ms) && is_stored(place.item) && place.to_cursor() == cursor).then_some(place)
    }
}

/// The highest number that a JavaScript number, and so a statement's parameter, represents exactly.
const MAX_NUMBER: i64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let place = ItemPlace { since_ms: 1_768_478_400_000, item: 17 };
        assert_eq!(ItemPlace::parse(&place.to_cursor()), Some(place));
        for other in ["", "1", "1.", ".1", "1.2.3", "01.2", "+1.2", "-1.2", "1.x", "1.9007199254740992"] {
            assert_eq!(ItemPlace::parse(other), None, "{other}");
        }
    }
}
