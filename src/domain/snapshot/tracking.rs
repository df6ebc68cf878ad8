//! The tracking snapshot: the catalog's data for clicks, credential checks and conversions, in shards of about 32 KiB.
//! An isolate holds the shards that it uses, so neither its cold start nor a publication grows with the catalog.
//!
//! - [`slots`]: decides by an id's hash which shard has the id;
//! - [`manifest`]: the checksum of every shard, stored in KV's pointer;
//! - [`goals`]: shards of goals, each goal with its offer; [`apps`]: shards of apps, each app with its publisher's
//!   approval and Pub-Key hash; [`advertisers`]: shards of the serials of tokens.
//!
//! No shard refers to another by position, so shards of different ages can be used together. Each shard is read in
//! place: a look-up takes a hash or a binary search, and reads a row of fixed width.

pub mod advertisers;
pub mod apps;
pub mod goals;
pub mod manifest;
pub mod slots;

use super::{
    columns::Fields,
    envelope::{Damage, checksum},
};
use crate::{conversions::terms::TermsInForce, model::AppId};

pub use advertisers::AdvertiserShard;
pub use apps::{AppShard, AppView};
pub use goals::{GoalShard, GoalView};
pub use manifest::Manifest;
pub use slots::{ShardKind, Slot};

/// Maximum bytes of a shard before it is split, unless it has fewer than [`SPLIT_ROWS`] rows.
const SPLIT_BYTES: usize = 32 << 10;
/// A shard with fewer rows is not split: it is large because its rows are large.
const SPLIT_ROWS: usize = 16;

/// The value for "none" in a column of limits.
const NO_LIMIT: u32 = u32::MAX;

/// A shard of one kind.
pub trait Shard: Sized {
    /// The kind of the shard and of its slot.
    const KIND: ShardKind;

    /// Opens a value from KV, unless it is damaged, has another kind, has an unknown format or belongs to another slot.
    fn open(slot: Slot, bytes: Vec<u8>) -> Result<Self, Damage>;

    /// The value's bytes.
    fn bytes(&self) -> &[u8];
}

/// Declares an opened shard of a kind, with the columns that it is read from.
macro_rules! opened_shard {
    ($(#[$doc:meta])* $name:ident: $kind:ident, $columns:ident) => {
        $(#[$doc])*
        pub struct $name {
            bytes: Vec<u8>,
            columns: $columns<Span>,
        }

        impl Shard for $name {
            const KIND: ShardKind = ShardKind::$kind;

            fn open(slot: Slot, bytes: Vec<u8>) -> Result<Self, Damage> {
                let columns = $columns::open(&bytes, Kind::$kind)?;
                check_slot(columns.slot.of(&bytes), slot)?;
                Ok(Self { bytes, columns })
            }

            fn bytes(&self) -> &[u8] {
                &self.bytes
            }
        }

        impl $name {
            fn strings(&self, column: Span) -> Strings<'_> {
                Strings::new(column.of(&self.bytes))
            }
        }
    };
}
pub(crate) use opened_shard;

/// A shard of any kind. Look-ups for other kinds find nothing.
pub enum AnyShard {
    /// Opened from a slot of [`ShardKind::Advertisers`].
    Advertisers(AdvertiserShard),
    /// Opened from a slot of [`ShardKind::Apps`].
    Apps(AppShard),
    /// Opened from a slot of [`ShardKind::Goals`].
    Goals(GoalShard),
}

impl AnyShard {
    /// Opens the shard of a slot.
    pub fn open(slot: Slot, bytes: Vec<u8>) -> Result<Self, Damage> {
        match slot.kind {
            ShardKind::Advertisers => Shard::open(slot, bytes).map(Self::Advertisers),
            ShardKind::Apps => Shard::open(slot, bytes).map(Self::Apps),
            ShardKind::Goals => Shard::open(slot, bytes).map(Self::Goals),
        }
    }

    /// The value's bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Advertisers(shard) => shard.bytes(),
            Self::Apps(shard) => shard.bytes(),
            Self::Goals(shard) => shard.bytes(),
        }
    }

    /// The shard of advertisers; `None` if the shard has another kind.
    pub fn advertisers(&self) -> Option<&AdvertiserShard> {
        match self {
            Self::Advertisers(shard) => Some(shard),
            Self::Apps(_) | Self::Goals(_) => None,
        }
    }

    /// An app by its id; `None` if the shard lacks it or has another kind.
    pub fn app(&self, id: AppId) -> Option<AppView<'_>> {
        match self {
            Self::Apps(shard) => shard.app(id),
            Self::Advertisers(_) | Self::Goals(_) => None,
        }
    }

    /// A goal by its id; `None` if the shard lacks it or has another kind.
    pub fn goal(&self, id: &str) -> Option<GoalView<'_>> {
        match self {
            Self::Goals(shard) => shard.goal(id),
            Self::Advertisers(_) | Self::Apps(_) => None,
        }
    }
}

/// A built shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltShard {
    /// The KV value.
    pub bytes: Vec<u8>,
    /// The number of its rows: goals, apps or advertisers.
    pub rows: usize,
}

impl BuiltShard {
    /// The checksum by which the manifest identifies the shard.
    pub fn checksum(&self) -> u64 {
        checksum(&self.bytes).unwrap_or_default()
    }

    /// True if the number of shards of this kind should be doubled.
    pub fn is_to_split(&self) -> bool {
        self.bytes.len() > SPLIT_BYTES && self.rows >= SPLIT_ROWS
    }
}

/// Checks the column that names a shard's slot.
fn check_slot(column: &[u8], slot: Slot) -> Result<(), Damage> {
    (column == slot.to_bytes()).then_some(()).ok_or(Damage::Foreign)
}

/// The limit that a number in a column of limits stands for.
fn limit(number: u32) -> Option<u32> {
    (number != NO_LIMIT).then_some(number)
}

fn terms_in_force(fields: &mut Fields<'_>) -> Option<TermsInForce> {
    Some(TermsInForce { revision: fields.i64()?, since: fields.i64()? })
}

#[cfg(test)]
mod tests;
