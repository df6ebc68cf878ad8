//! Postbacks that wait to be reported to their advertisers' objects. Each advertiser has one batch, which is sent
//! shortly after its first postback. So an isolate sends at most one batch per advertiser in that time. All sizes are
//! limited: a postback beyond a limit is only counted, or dropped.

use std::collections::HashMap;

use domain::model::AdvertiserId;

/// Maximum advertisers with a batch.
const MAX_ADVERTISERS: usize = 1_024;
/// Maximum postbacks in all batches. At up to 4 KiB each they take 4 MiB.
const MAX_ROWS: usize = 1_024;
/// Maximum tokens in a batch. An advertiser has at most two valid tokens at a time.
const MAX_TOKENS: usize = 16;

/// The batches of all advertisers.
#[derive(Debug)]
pub struct PostbackBatches<T> {
    batches: HashMap<AdvertiserId, Batch<T>>,
    rows: usize,
    max_rows_of_batch: usize,
    max_unsigned_of_batch: usize,
    /// The time in milliseconds after which the sender of an unsent batch counts as lost.
    lease_ms: i64,
}

#[derive(Debug)]
pub struct Batch<T> {
    pub rows: Vec<T>,
    /// The number of rows of postbacks without an issued token.
    unsigned: usize,
    /// The number of further postbacks, without rows.
    pub not_shown: u64,
    /// The serial of each used token, with the time of the token's last use in milliseconds. An advertiser has few
    /// tokens.
    pub tokens: Vec<(i64, i64)>,
    /// The time until which a request is responsible for sending the batch, in milliseconds.
    sender_until_ms: i64,
}

impl<T> Batch<T> {
    /// The number of all postbacks, with and without rows.
    pub fn came(&self) -> u64 {
        let rows = u64::try_from(self.rows.len()).unwrap_or(u64::MAX);
        self.not_shown.saturating_add(rows)
    }
}

impl<T> PostbackBatches<T> {
    pub fn new(max_rows_of_batch: usize, max_unsigned_of_batch: usize, lease_ms: i64) -> Self {
        Self {
            batches: HashMap::new(),
            rows: 0,
            max_rows_of_batch,
            max_unsigned_of_batch,
            lease_ms,
        }
    }

    /// Adds a postback. Makes its row only if there is room. Postbacks without an issued token have less room. Returns
    /// whether the caller must send the batch.
    pub fn add(
        &mut self,
        advertiser: &AdvertiserId,
        now_ms: i64,
        is_unsigned: bool,
        row: impl FnOnce() -> T,
    ) -> bool {
        let (rows, most, lease_ms) = (self.rows, self.max_rows_of_batch, self.lease_ms);
        let most_unsigned = self.max_unsigned_of_batch;
        let Some(batch) = self.batch(advertiser) else {
            return false;
        };
        let has_room =
            rows < MAX_ROWS && batch.rows.len() < most && (!is_unsigned || batch.unsigned < most_unsigned);
        if has_room {
            batch.unsigned = batch.unsigned.saturating_add(usize::from(is_unsigned));
            batch.rows.push(row());
        } else {
            batch.not_shown = batch.not_shown.saturating_add(1);
        }
        let must_send = batch.sender_until_ms <= now_ms;
        if must_send {
            batch.sender_until_ms = now_ms.saturating_add(lease_ms);
        }
        self.rows = rows.saturating_add(usize::from(has_room));
        must_send
    }

    /// Records the use of an advertiser's token.
    pub fn use_token(&mut self, advertiser: &AdvertiserId, serial: i64, now_ms: i64) {
        let Some(batch) = self.batch(advertiser) else {
            return;
        };
        if let Some((_, last_ms)) = batch.tokens.iter_mut().find(|(used, _)| *used == serial) {
            *last_ms = now_ms.max(*last_ms);
        } else if batch.tokens.len() < MAX_TOKENS {
            batch.tokens.push((serial, now_ms));
        }
    }

    /// Removes an advertiser's batch, to send it.
    pub fn take(&mut self, advertiser: &AdvertiserId) -> Option<Batch<T>> {
        let batch = self.batches.remove(advertiser)?;
        self.rows = self.rows.saturating_sub(batch.rows.len());
        Some(batch)
    }

    /// Adds the postbacks of a batch that failed to the count of the advertiser's next batch.
    pub fn count_lost(&mut self, advertiser: &AdvertiserId, count: u64) {
        if let Some(batch) = self.batch(advertiser) {
            batch.not_shown = batch.not_shown.saturating_add(count);
        }
    }

    /// Returns an advertiser's batch. Begins a new one if there is none and there is room.
    fn batch(&mut self, advertiser: &AdvertiserId) -> Option<&mut Batch<T>> {
        if !self.batches.contains_key(advertiser) {
            if self.batches.len() >= MAX_ADVERTISERS {
                return None;
            }
            let begun = Batch {
                rows: Vec::new(),
                unsigned: 0,
                not_shown: 0,
                tokens: Vec::new(),
                sender_until_ms: i64::MIN,
            };
            self.batches.insert(advertiser.clone(), begun);
        }
        self.batches.get_mut(advertiser)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertiser(number: usize) -> AdvertiserId {
        AdvertiserId::parse(&format!("a-{number}")).unwrap()
    }

    #[test]
    fn the_first_postback_of_a_batch_has_it_sent_and_others_join() {
        let mut batches = PostbackBatches::new(2, 1, 10);
        let one = advertiser(1);
        assert!(batches.add(&one, 0, false, || "a"));
        assert!(!batches.add(&one, 9, false, || "b"));
        assert!(!batches.add(&one, 9, false, || panic!("no room, so no row")));
        assert!(batches.add(&advertiser(2), 9, false, || "c"));
        let batch = batches.take(&one).unwrap();
        assert_eq!(
            (batch.rows.as_slice(), batch.not_shown, batch.came()),
            (&["a", "b"][..], 1, 3)
        );
        assert!(batches.take(&one).is_none());
        assert!(batches.add(&one, 9, false, || "d"));
    }

    #[test]
    fn a_batch_whose_sender_has_ended_is_sent_by_another() {
        let mut batches = PostbackBatches::new(2, 1, 10);
        let one = advertiser(1);
        assert!(batches.add(&one, 0, false, || "a"));
        assert!(!batches.add(&one, 9, false, || "b"));
        assert!(batches.add(&one, 10, false, || "c"));
        assert_eq!(batches.take(&one).unwrap().came(), 3);
    }

    #[test]
    fn counts_that_an_object_did_not_take_are_in_the_next_batch() {
        let mut batches = PostbackBatches::new(2, 1, 10);
        let one = advertiser(1);
        batches.use_token(&one, 7, 20);
        batches.count_lost(&one, 5);
        // The tokens of the failed batch. One of them has since been used again.
        for (serial, at_ms) in [(7, 10), (8, 11)] {
            batches.use_token(&one, serial, at_ms);
        }
        assert!(batches.add(&one, 0, false, || "a"));
        let batch = batches.take(&one).unwrap();
        assert_eq!((batch.rows.len(), batch.not_shown), (1, 5));
        assert_eq!(batch.tokens, [(7, 20), (8, 11)]);
    }

    #[test]
    fn postbacks_without_a_token_leave_room_for_others() {
        let mut batches = PostbackBatches::new(3, 1, 10);
        let one = advertiser(1);
        for is_unsigned in [true, true, true, false, false, false] {
            batches.add(&one, 0, is_unsigned, || is_unsigned);
        }
        let batch = batches.take(&one).unwrap();
        assert_eq!(
            (batch.rows.as_slice(), batch.not_shown),
            (&[true, false, false][..], 3)
        );
    }

    #[test]
    fn advertisers_and_rows_are_bounded() {
        let mut batches = PostbackBatches::new(32, 1, 10);
        for number in 0..2 * MAX_ADVERTISERS {
            for _ in 0..3 {
                batches.add(&advertiser(number), 0, false, || number);
            }
        }
        assert_eq!((batches.batches.len(), batches.rows), (MAX_ADVERTISERS, MAX_ROWS));
        assert!(!batches.add(&advertiser(2 * MAX_ADVERTISERS), 0, false, || 0));
        for number in 0..MAX_ADVERTISERS {
            assert_eq!(batches.take(&advertiser(number)).unwrap().came(), 3);
        }
        assert_eq!((batches.batches.len(), batches.rows), (0, 0));
    }
}
