//! Postbacks that wait to be reported to their advertisers' objects. Each advertiser has one batch, which is sent
//! shortly after its first postback. So an isolate sends at most one batch per advertiser in that time. All sizes are
//! limited: a postback beyond a limit is only counted, or dropped.

use std::collections::HashMap;

use contract::postbacks::{MAX_IN_BATCH, MAX_UNSIGNED_IN_BATCH, PostbackBatch, ReceivedPostback};
use domain::model::{AdvertiserId, OfferId, SECOND_MS};

/// Maximum advertisers with a batch.
const MAX_ADVERTISERS: usize = 1_024;
/// Maximum postbacks in all batches. At up to 4 KiB each they take 4 MiB.
const MAX_ROWS: usize = 1_024;
/// Maximum tokens in a batch. An advertiser has at most two valid tokens at a time.
const MAX_TOKENS: usize = 16;
/// The time after which the sender of a batch counts as lost, in milliseconds. The runtime ends a request's background
/// work 30 seconds after its answer.
const LEASE_MS: i64 = 35 * SECOND_MS;
/// Minimum time between two look-ups of an advertiser, in milliseconds. Anybody with a click id can cause a look-up.
const LOOKUP_MS: i64 = SECOND_MS;
/// Maximum offers whose advertiser an isolate remembers.
const MAX_KNOWN: usize = 1_024;

/// The advertiser of an offer, or the number of postbacks that arrived before the advertiser was known.
type KnownAdvertiser = Result<AdvertiserId, u64>;

/// An isolate's unsent batches, and the known advertisers of offers.
#[derive(Default)]
pub struct PostbackQueue {
    batches: HashMap<AdvertiserId, UnsentBatch>,
    /// The number of postbacks in all batches, without those that are only counted.
    rows: usize,
    /// The known advertisers, by offer and revision of the offer's terms.
    advertisers: HashMap<(OfferId, i64), KnownAdvertiser>,
    looked_up_ms: i64,
}

#[derive(Default)]
struct UnsentBatch {
    batch: PostbackBatch,
    /// The number of postbacks without an issued token in the batch.
    unsigned: usize,
    /// The time until which a request is responsible for sending the batch, in milliseconds.
    sender_until_ms: i64,
}

impl PostbackQueue {
    /// Adds a postback. Makes its row only if there is room. Postbacks without an issued token have less room. Returns
    /// whether the caller must send the batch.
    pub fn add(
        &mut self,
        advertiser: &AdvertiserId,
        now_ms: i64,
        is_unsigned: bool,
        row: impl FnOnce() -> ReceivedPostback,
    ) -> bool {
        let rows = self.rows;
        let Some(unsent) = self.unsent(advertiser) else {
            return false;
        };
        let batch = &mut unsent.batch;
        let has_room = rows < MAX_ROWS
            && batch.postbacks.len() < MAX_IN_BATCH
            && (!is_unsigned || unsent.unsigned < MAX_UNSIGNED_IN_BATCH);
        if has_room {
            unsent.unsigned = unsent.unsigned.saturating_add(usize::from(is_unsigned));
            batch.postbacks.push(row());
        } else {
            batch.not_shown = batch.not_shown.saturating_add(1);
        }
        let must_send = unsent.sender_until_ms <= now_ms;
        if must_send {
            unsent.sender_until_ms = now_ms.saturating_add(LEASE_MS);
        }
        self.rows = rows.saturating_add(usize::from(has_room));
        must_send
    }

    /// Records the use of an advertiser's token.
    pub fn use_token(&mut self, advertiser: &AdvertiserId, serial: i64, now_ms: i64) {
        let Some(UnsentBatch { batch, .. }) = self.unsent(advertiser) else {
            return;
        };
        if let Some((_, last_ms)) = batch.tokens.iter_mut().find(|(used, _)| *used == serial) {
            *last_ms = now_ms.max(*last_ms);
        } else if batch.tokens.len() < MAX_TOKENS {
            batch.tokens.push((serial, now_ms));
        }
    }

    /// Removes an advertiser's batch, to send it.
    pub fn take(&mut self, advertiser: &AdvertiserId) -> Option<PostbackBatch> {
        let UnsentBatch { batch, .. } = self.batches.remove(advertiser)?;
        self.rows = self.rows.saturating_sub(batch.postbacks.len());
        Some(batch)
    }

    /// Returns the count and the token times of a failed batch to the queue. The advertiser's next batch has both.
    pub fn put_back(&mut self, advertiser: &AdvertiserId, came: u64, tokens: &[(i64, i64)]) {
        if let Some(UnsentBatch { batch, .. }) = self.unsent(advertiser) {
            batch.not_shown = batch.not_shown.saturating_add(came);
        }
        for (serial, at_ms) in tokens {
            self.use_token(advertiser, *serial, *at_ms);
        }
    }

    /// Returns an advertiser's batch. Begins a new one if there is none and there is room.
    fn unsent(&mut self, advertiser: &AdvertiserId) -> Option<&mut UnsentBatch> {
        let has_room = self.batches.len() < MAX_ADVERTISERS || self.batches.contains_key(advertiser);
        has_room.then(|| self.batches.entry(advertiser.clone()).or_default())
    }

    /// Returns the advertiser of an offer, if known.
    pub fn advertiser(&self, terms: &(OfferId, i64)) -> Option<AdvertiserId> {
        self.advertisers.get(terms)?.clone().ok()
    }

    /// Remembers an offer's advertiser. Moves the postbacks that were counted for the offer to the advertiser's batch.
    pub fn learn(&mut self, terms: &(OfferId, i64), advertiser: &AdvertiserId) {
        if let Some(Err(count)) = self.keep(terms, Ok(advertiser.clone())) {
            self.put_back(advertiser, count, &[]);
        }
    }

    /// Counts a postback for an offer whose advertiser is unknown.
    pub fn count_unknown(&mut self, terms: &(OfferId, i64)) {
        match self.advertisers.get_mut(terms) {
            Some(Err(count)) => *count = count.saturating_add(1),
            // Another request has learned the advertiser during the look-up.
            Some(Ok(advertiser)) => {
                let advertiser = advertiser.clone();
                self.put_back(&advertiser, 1, &[]);
            }
            None => drop(self.keep(terms, Err(1))),
        }
    }

    fn keep(&mut self, terms: &(OfferId, i64), known: KnownAdvertiser) -> Option<KnownAdvertiser> {
        if self.advertisers.len() >= MAX_KNOWN {
            self.advertisers.clear();
        }
        self.advertisers.insert(terms.clone(), known)
    }

    /// True if the catalog may be asked now. If so, the next request may ask `LOOKUP_MS` later.
    pub fn may_look_up(&mut self, now_ms: i64) -> bool {
        let is_due = now_ms >= self.looked_up_ms.saturating_add(LOOKUP_MS);
        if is_due {
            self.looked_up_ms = now_ms;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertiser(number: usize) -> AdvertiserId {
        AdvertiserId::parse(&format!("a-{number}")).unwrap()
    }

    fn postback(code: &str) -> ReceivedPostback {
        ReceivedPostback {
            at_ms: 0,
            method: "GET".into(),
            parameters: vec![],
            http_status: 200,
            code: code.into(),
            transaction_id: None,
            advertiser: None,
            app: None,
            offer: None,
            goal: None,
            is_unsigned: false,
        }
    }

    fn codes(batch: &PostbackBatch) -> Vec<&str> {
        batch.postbacks.iter().map(|row| row.code.as_str()).collect()
    }

    #[test]
    fn the_first_postback_of_a_batch_has_it_sent_and_others_join() {
        let mut queue = PostbackQueue::default();
        let one = advertiser(1);
        assert!(queue.add(&one, 0, false, || postback("a")));
        for _ in 1..MAX_IN_BATCH {
            assert!(!queue.add(&one, LEASE_MS - 1, false, || postback("b")));
        }
        assert!(!queue.add(&one, LEASE_MS - 1, false, || panic!("no room, so no row")));
        assert!(queue.add(&advertiser(2), LEASE_MS - 1, false, || postback("c")));
        let batch = queue.take(&one).unwrap();
        let expected: Vec<_> = ["a"].into_iter().chain(["b"; MAX_IN_BATCH - 1]).collect();
        assert_eq!((codes(&batch), batch.not_shown, batch.came()), (expected, 1, 33));
        assert!(queue.take(&one).is_none());
        assert!(queue.add(&one, LEASE_MS - 1, false, || postback("d")));
    }

    #[test]
    fn a_batch_whose_sender_has_ended_is_sent_by_another() {
        let mut queue = PostbackQueue::default();
        let one = advertiser(1);
        assert!(queue.add(&one, 0, false, || postback("a")));
        assert!(!queue.add(&one, LEASE_MS - 1, false, || postback("b")));
        assert!(queue.add(&one, LEASE_MS, false, || postback("c")));
        assert_eq!(queue.take(&one).unwrap().came(), 3);
    }

    #[test]
    fn counts_that_an_object_did_not_take_are_in_the_next_batch() {
        let mut queue = PostbackQueue::default();
        let one = advertiser(1);
        queue.use_token(&one, 7, 20);
        // The failed batch. One of its tokens has since been used again.
        queue.put_back(&one, 5, &[(7, 10), (8, 11)]);
        assert!(queue.add(&one, 0, false, || postback("a")));
        let batch = queue.take(&one).unwrap();
        assert_eq!((batch.postbacks.len(), batch.not_shown), (1, 5));
        assert_eq!(batch.tokens, [(7, 20), (8, 11)]);
    }

    #[test]
    fn postbacks_without_a_token_leave_room_for_others() {
        let mut queue = PostbackQueue::default();
        let one = advertiser(1);
        for _ in 0..MAX_UNSIGNED_IN_BATCH + 2 {
            queue.add(&one, 0, true, || postback("unsigned"));
        }
        for _ in 0..MAX_IN_BATCH {
            queue.add(&one, 0, false, || postback("signed"));
        }
        let batch = queue.take(&one).unwrap();
        let unsigned = ["unsigned"; MAX_UNSIGNED_IN_BATCH].into_iter();
        let signed = ["signed"; MAX_IN_BATCH - MAX_UNSIGNED_IN_BATCH];
        let expected: Vec<_> = unsigned.chain(signed).collect();
        assert_eq!((codes(&batch), batch.not_shown), (expected, 6));
    }

    #[test]
    fn advertisers_and_rows_are_bounded() {
        let mut queue = PostbackQueue::default();
        for number in 0..2 * MAX_ADVERTISERS {
            for _ in 0..3 {
                queue.add(&advertiser(number), 0, false, || postback("a"));
            }
        }
        assert_eq!((queue.batches.len(), queue.rows), (MAX_ADVERTISERS, MAX_ROWS));
        assert!(!queue.add(&advertiser(2 * MAX_ADVERTISERS), 0, false, || postback("a")));
        for number in 0..MAX_ADVERTISERS {
            assert_eq!(queue.take(&advertiser(number)).unwrap().came(), 3);
        }
        assert_eq!((queue.batches.len(), queue.rows), (0, 0));
    }

    #[test]
    fn postbacks_for_an_offer_are_counted_before_and_after_its_advertiser_is_learned() {
        let mut queue = PostbackQueue::default();
        let terms = (OfferId::parse("o-1").unwrap(), 7);
        let advertiser = advertiser(1);
        queue.count_unknown(&terms);
        queue.count_unknown(&terms);
        queue.learn(&terms, &advertiser);
        // A request whose look-up had already begun counts its postback.
        queue.count_unknown(&terms);
        assert_eq!(queue.advertiser(&terms), Some(advertiser.clone()));
        assert_eq!(queue.take(&advertiser).map(|batch| batch.not_shown), Some(3));
    }
}
