//! Outbox shards: an app has 1, 8 or 64 outboxes, and each user's conversions are all in one of them. The number is set
//! when the app is created and never changes, since another number would separate users from their conversions.

use xxhash_rust::xxh64::xxh64;

use crate::{callbacks::health::MAX_IN_FLIGHT, model::AdvertiserId};

/// The numbers of outboxes that an app may have.
pub const COUNTS: [u8; 3] = [1, 8, 64];
/// The number of outboxes if the app's document does not set it.
pub const DEFAULT_COUNT: u8 = 8;

/// Maximum concurrent callback attempts of one outbox in an app with `count` outboxes. With 8 outboxes a receiver gets
/// at most 24 attempts at once, and with 64 outboxes at most 64.
pub fn attempts_at_once(count: u8) -> usize {
    match count {
        0..8 => MAX_IN_FLIGHT,
        8..64 => 3,
        _ => 1,
    }
}

/// The shard of a user's conversions.
pub fn of_user(user_id: &str, count: u8) -> u8 {
    of_hash(xxh64(user_id.as_bytes(), 0), count)
}

/// The shard that claims a `txn` for the whole app.
pub fn of_txn(advertiser: &AdvertiserId, txn: &str, count: u8) -> u8 {
    // No advertiser's id contains the separator.
    of_hash(xxh64(format!("{advertiser}\0{txn}").as_bytes(), 0), count)
}

fn of_hash(hash: u64, count: u8) -> u8 {
    let number = hash.checked_rem(count.into()).unwrap_or(0);
    u8::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::callbacks::shards::*;

    #[test]
    fn a_shard_never_changes_between_releases() {
        let advertiser = AdvertiserId::parse("brindlefox-games").unwrap();
        // xxHash64 of the same bytes by another implementation.
        for (count, user, txn) in [(0, 0, 0), (1, 0, 0), (8, USER % 8, TXN % 8), (64, USER % 64, TXN % 64)] {
            assert_eq!(u64::from(of_user("demo-user-1", count)), user, "{count}");
            assert_eq!(u64::from(of_txn(&advertiser, "t-7781", count)), txn, "{count}");
        }
    }

    #[test]
    fn more_outboxes_have_fewer_attempts_in_flight_each() {
        assert_eq!(COUNTS.map(attempts_at_once), [6, 3, 1]);
    }

    #[test]
    fn users_are_spread_evenly() {
        let mut users = [0; 64];
        for user in 0..64_000 {
            users[usize::from(of_user(&format!("user-{user}"), 64))] += 1;
        }
        assert!(users.iter().all(|users| (850..1_150).contains(users)), "{users:?}");
    }

    const USER: u64 = 0x7ef62ef62b93d8a3;
    const TXN: u64 = 0xe5c39cdcdc9b3298;
}
