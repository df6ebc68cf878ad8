//! Shards of advertisers: the serials of the tokens with which they report conversions.

use super::{BuiltShard, Shard, ShardKind, Slot, check_slot, opened_shard};
use crate::{
    conversions::token::{Serial, Token},
    model::{AdvertiserId, SECOND_MS, parts::Span},
    snapshot::{
        columns::{Fields, Strings, columns},
        envelope::{Damage, Kind},
    },
};

columns! {
    AdvertiserColumns {
        slot,
        /// Ascending.
        ids,
        /// The serials of an advertiser's tokens, `i64` each: first the newest that was ever issued, then the valid
        /// serials.
        serials,
    }
}

opened_shard! {
    /// An opened shard of advertisers.
    AdvertiserShard: Advertisers, AdvertiserColumns
}

impl AdvertiserShard {
    /// True if the advertiser existed when the shard was built.
    pub fn has(&self, advertiser: &AdvertiserId) -> bool {
        self.row(advertiser).is_some()
    }

    /// True if an issued token is valid: either its serial is listed, or the token may be newer than the shard, which
    /// has every change before `as_of_ms`. A serial is at least the time of issue. So if the catalog lost a token in a
    /// restore from a backup, the token is refused once the shard is newer than the token.
    pub fn accepts(&self, token: &Token, as_of_ms: i64) -> bool {
        let serial = token.serial;
        let is_since = serial.0 >= as_of_ms.div_euclid(SECOND_MS);
        let Some(row) = self.row(&token.advertiser) else {
            return is_since;
        };
        let serials = self.strings(self.columns.serials).bytes(row);
        let mut serials = Fields(serials.unwrap_or_default());
        let Some(newest) = serials.i64().map(Serial) else {
            return false;
        };
        let mut valid = std::iter::from_fn(|| serials.i64().map(Serial));
        (serial > newest && is_since) || valid.any(|valid| serial == valid)
    }

    fn row(&self, advertiser: &AdvertiserId) -> Option<u32> {
        self.strings(self.columns.ids).find_sorted(advertiser.as_str().as_bytes())
    }
}

/// An advertiser to build a shard from.
#[derive(Clone, Debug)]
pub struct SourceAdvertiser {
    /// The id, which is part of the advertiser's tokens.
    pub id: AdvertiserId,
    /// The serial of the newest token that was ever issued, which may have been revoked; 0 for none.
    pub newest_serial: Serial,
    /// The serials of the tokens that are accepted, at most [`VALID_TOKENS`](crate::catalog::advertiser::VALID_TOKENS).
    pub valid_serials: Vec<Serial>,
}

/// Builds the shard of a slot from its advertisers, in any order.
pub fn build(slot: Slot, mut advertisers: Vec<SourceAdvertiser>) -> BuiltShard {
    advertisers.sort_by(|one, other| one.id.cmp(&other.id));
    let columns = AdvertiserColumns {
        slot: slot.to_bytes().to_vec(),
        ids: Strings::column(advertisers.iter().map(|advertiser| advertiser.id.as_str())),
        serials: Strings::column(advertisers.iter().map(|advertiser| {
            let newest = [advertiser.newest_serial];
            let serials = newest.iter().chain(&advertiser.valid_serials);
            serials.flat_map(|Serial(serial)| serial.to_le_bytes()).collect::<Vec<u8>>()
        })),
    };
    BuiltShard { bytes: columns.into_value(Kind::Advertisers), rows: advertisers.len() }
}
