//! What wants the operator's attention: one object for the deployment, which other objects tell what is open. It is an
//! [`activity`](crate::activity) object with a name of its own, and owns nothing: everything in it can be told again.

use serde::{Deserialize, Serialize};

use crate::{operation::ObjectAddress, stored_names::stored_names};
use domain::model::{AppId, PublisherId, UtcDay};

/// The binding of the namespace, which it shares with the publishers' activities.
pub const BINDING: &str = "ACTIVITY";
/// The object's name. A publisher's object is named `activity-…`.
pub const OBJECT_NAME: &str = "attention";

/// The address of the one object.
pub fn address() -> ObjectAddress {
    ObjectAddress::of(BINDING, OBJECT_NAME)
}

stored_names! {
    /// The numbers are those of statements.
    Kind {
        /// A conversion that waits for the operator.
        Held = 1 "held",
        /// A conversion that was earned and that the offer's cap refused.
        Capped = 2 "capped",
        /// A callback whose schedule has ended.
        Dead = 3 "dead",
        /// An app's endpoint that switched itself off.
        Disabled = 4 "disabled",
        /// An app's endpoint whose last five calls failed.
        Failing = 5 "failing",
        /// An object that uses more than 80 % of its 10 GB.
        NearLimit = 6 "near_limit",
        /// A batch of sums that its receiver refused.
        BatchRefused = 7 "batch_refused",
        /// A day of an outbox whose log differs from what the ledger has of it.
        Differs = 8 "differs",
        /// A batch of sums whose receiver has not answered for minutes.
        BatchLate = 9 "batch_late",
        /// Terms that the catalog has lost, and that a kept postback needs.
        TermsLost = 10 "terms_lost",
        /// A loaded day that is final although a source has not vouched for it.
        Unconfirmed = 11 "unconfirmed",
        /// An object that was put back to an earlier copy, with what is in doubt. A person ends it.
        Restored = 12 "restored",
        /// A day whose facts were not loaded by noon of the day after.
        FactsLate = 13 "facts_late",
    }
}

impl Kind {
    /// Whether there can be any number of items. Of the others there is one at most for an app or an object, so they are always
    /// listed.
    pub fn is_limited(self) -> bool {
        !matches!(
            self,
            Self::Disabled | Self::Failing | Self::NearLimit | Self::Restored
        )
    }
}

/// The changes of an object's items. All that it says is absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionBatch {
    /// The object's name.
    pub source: String,
    /// Those of an outbox.
    pub app: Option<AppId>,
    /// The publisher of an outbox or a ledger; `None` for other objects, and while it is not known.
    pub publisher: Option<PublisherId>,
    /// Rises with each batch of the source. A batch that is not above the last one is ignored.
    pub sequence: i64,
    /// The number of the source's batch before this one.
    pub before: i64,
    /// The number of the last batch that the source knows to be applied.
    pub confirmed: i64,
    /// When it was made, in milliseconds.
    pub at_ms: i64,
    /// See [`FeedBatch`](crate::activity::FeedBatch).
    pub owes_since_ms: Option<i64>,
    /// See [`FeedBatch`](crate::activity::FeedBatch).
    pub next_by_ms: Option<i64>,
    /// Whether all earlier items of the source are void.
    pub resets: bool,
    /// The open items of the limited kinds, at most [`AttentionBatch::MAX_COUNTED`] each. A kind without any is left out.
    pub counts: Vec<(Kind, i64)>,
    /// The changed items, and those declined before if there is room.
    pub items: Vec<AttentionItem>,
    /// An outbox's rewards of the last day that was compared at night.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewards: Option<DayRewards>,
}

/// The rewards of an outbox on a UTC day, and two kinds of them. An operator reads from them whether clicks are saved up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayRewards {
    /// The day that was compared.
    pub day: UtcDay,
    /// Number of rewards.
    pub rewards: i64,
    /// Those whose click was more than 24 hours before.
    pub after_24_h: i64,
    /// Those that were paid by terms that newer ones had superseded.
    pub by_superseded_terms: i64,
}

impl AttentionBatch {
    /// Items of a kind that a source counts at most: 2 ms, in which it answers no other request.
    pub const MAX_COUNTED: i64 = 20_000;
}

/// An item as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionItem {
    /// Selects the rule for listing it.
    pub kind: Kind,
    /// With source and kind, the item's key.
    pub subject: String,
    /// False if it ended.
    pub is_open: bool,
    /// In milliseconds.
    pub since_ms: i64,
    /// A code.
    pub reason: String,
    /// In USD, a decimal number: what the conversion pays, or would pay.
    pub payout: Option<String>,
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclinedItems {
    /// The open items of the batch, by their place in it, for which there is no room.
    pub declined: Vec<u32>,
    /// Whether the receiver lacks a batch that was confirmed, or has one that the source does not know of, so that one of the
    /// two was lost or restored. It says so until a batch resets.
    pub is_incomplete: bool,
}

/// The size of an object that is filling up. It is repeated while the object is large, and forgotten after two days without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSize {
    /// The object's name.
    pub source: String,
    /// When the size was read, in milliseconds.
    pub at_ms: i64,
    /// The size of the object's database.
    pub bytes: i64,
}

/// An object was put back to an earlier copy, and noticed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// The object's name.
    pub source: String,
    /// Whose object it is; `None` if it is not one publisher's.
    pub publisher: Option<PublisherId>,
    /// When it noticed, in milliseconds.
    pub at_ms: i64,
    /// Each is an item.
    pub doubts: Vec<Doubt>,
}

/// What is in doubt after an object was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// With the object's name, the item's key.
    pub subject: String,
    /// A code that says what to do.
    pub reason: String,
}

impl Doubt {
    /// A doubt about one thing.
    pub fn new(subject: impl Into<String>, reason: &str) -> Self {
        Self {
            subject: subject.into(),
            reason: reason.to_owned(),
        }
    }
}

/// Ends an item that a person ends; 404 if it is not open, or is of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndItem {
    /// The item's place in the list.
    pub place: ItemPlace,
}

/// Reads a page of the open items, the oldest first. Each condition narrows the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAttention {
    /// All kinds if `None`.
    pub kind: Option<Kind>,
    /// All apps, and objects without one, if `None`.
    pub app: Option<AppId>,
    /// Items on the page.
    pub limit: u32,
    /// Only items behind this place; `None` for the first page.
    pub after: Option<ItemPlace>,
}

/// The place of an item in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemPlace {
    /// When the item opened, in milliseconds.
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
        let place = Self {
            since_ms: since_ms.parse().ok()?,
            item: item.parse().ok()?,
        };
        let is_stored = |number| (0..=MAX_NUMBER).contains(&number);
        (is_stored(place.since_ms) && is_stored(place.item) && place.to_cursor() == cursor).then_some(place)
    }
}

/// The highest number that a JavaScript number, and so a statement's parameter, holds exactly.
const MAX_NUMBER: i64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let place = ItemPlace {
            since_ms: 1_768_478_400_000,
            item: 17,
        };
        assert_eq!(ItemPlace::parse(&place.to_cursor()), Some(place));
        for other in [
            "",
            "1",
            "1.",
            ".1",
            "1.2.3",
            "01.2",
            "+1.2",
            "-1.2",
            "1.x",
            "1.9007199254740992",
        ] {
            assert_eq!(ItemPlace::parse(other), None, "{other}");
        }
    }
}
