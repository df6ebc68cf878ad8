//! An isolate's queue of postbacks to report to advertisers.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use crate::postback_batches::PostbackBatches;
use contract::postbacks::{MAX_IN_BATCH, MAX_UNSIGNED_IN_BATCH, PostbackBatch, ReceivedPostback};
use domain::{
    conversions::token::Token,
    model::{AdvertiserId, OfferId, SECOND_MS},
};

/// The time after which the sender of a batch counts as lost, in milliseconds. The runtime ends a request's background
/// work 30 seconds after its answer.
const LEASE_MS: i64 = 35 * SECOND_MS;
/// Minimum time between two look-ups of an advertiser, in milliseconds. Anybody with a click id can cause a look-up.
const LOOKUP_MS: i64 = SECOND_MS;
/// Maximum offers whose advertiser an isolate remembers.
const MAX_KNOWN: usize = 1_024;

/// The advertiser of an offer, or the number of postbacks that arrived before the advertiser was known.
type KnownAdvertiser = Result<AdvertiserId, u64>;

/// The unsent batches, and the known advertisers of offers.
pub struct PostbackQueue {
    batches: RefCell<PostbackBatches<ReceivedPostback>>,
    /// The known advertisers, by offer and revision of the offer's terms.
    advertisers: RefCell<HashMap<(OfferId, i64), KnownAdvertiser>>,
    looked_up_ms: Cell<i64>,
}

impl Default for PostbackQueue {
    fn default() -> Self {
        Self {
            batches: RefCell::new(PostbackBatches::new(
                MAX_IN_BATCH,
                MAX_UNSIGNED_IN_BATCH,
                LEASE_MS,
            )),
            advertisers: RefCell::default(),
            looked_up_ms: Cell::new(i64::MIN),
        }
    }
}

impl PostbackQueue {
    /// Adds a postback. Returns whether the caller must send the advertiser's batch.
    pub fn add(
        &self,
        advertiser: &AdvertiserId,
        now_ms: i64,
        is_unsigned: bool,
        row: impl FnOnce() -> ReceivedPostback,
    ) -> bool {
        self.batches
            .borrow_mut()
            .add(advertiser, now_ms, is_unsigned, row)
    }

    /// Records the use of an issued token.
    pub fn use_token(&self, token: &Token, now_ms: i64) {
        let mut batches = self.batches.borrow_mut();
        batches.use_token(&token.advertiser, token.serial.0, now_ms);
    }

    /// Removes an advertiser's batch, to send it.
    pub fn take(&self, advertiser: &AdvertiserId) -> Option<PostbackBatch> {
        let batch = self.batches.borrow_mut().take(advertiser)?;
        Some(PostbackBatch {
            postbacks: batch.rows,
            not_shown: batch.not_shown,
            tokens: batch.tokens,
        })
    }

    /// Returns the count and the token times of a failed batch to the queue. The advertiser's next batch has both.
    pub fn put_back(&self, advertiser: &AdvertiserId, came: u64, tokens: &[(i64, i64)]) {
        let mut batches = self.batches.borrow_mut();
        batches.count_lost(advertiser, came);
        for (serial, at_ms) in tokens {
            batches.use_token(advertiser, *serial, *at_ms);
        }
    }

    /// Returns the advertiser of an offer, if known.
    pub fn advertiser(&self, terms: &(OfferId, i64)) -> Option<AdvertiserId> {
        self.advertisers.borrow().get(terms)?.clone().ok()
    }

    /// Remembers an offer's advertiser. Moves the postbacks that were counted for the offer to the advertiser's batch.
    pub fn learn(&self, terms: &(OfferId, i64), advertiser: &AdvertiserId) {
        if let Some(Err(count)) = self.keep(terms, Ok(advertiser.clone())) {
            self.put_back(advertiser, count, &[]);
        }
    }

    /// Counts a postback for an offer whose advertiser is unknown.
    pub fn count_unknown(&self, terms: &(OfferId, i64)) {
        match self.advertisers.borrow_mut().get_mut(terms) {
            Some(Err(count)) => return *count = count.saturating_add(1),
            // Another request has learned the advertiser during the look-up.
            Some(Ok(advertiser)) => return self.put_back(advertiser, 1, &[]),
            None => {}
        }
        self.keep(terms, Err(1));
    }

    fn keep(&self, terms: &(OfferId, i64), known: KnownAdvertiser) -> Option<KnownAdvertiser> {
        let mut advertisers = self.advertisers.borrow_mut();
        if advertisers.len() >= MAX_KNOWN {
            advertisers.clear();
        }
        advertisers.insert(terms.clone(), known)
    }

    /// True if the catalog may be asked now. If so, the next request may ask `LOOKUP_MS` later.
    pub fn may_look_up(&self, now_ms: i64) -> bool {
        let is_due = now_ms >= self.looked_up_ms.get().saturating_add(LOOKUP_MS);
        if is_due {
            self.looked_up_ms.set(now_ms);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postbacks_for_an_offer_are_counted_before_and_after_its_advertiser_is_learned() {
        let postbacks = PostbackQueue::default();
        let terms = (OfferId::parse("o-1").unwrap(), 7);
        let advertiser = AdvertiserId::parse("a-1").unwrap();
        postbacks.count_unknown(&terms);
        postbacks.count_unknown(&terms);
        postbacks.learn(&terms, &advertiser);
        // A request whose look-up had already begun counts its postback.
        postbacks.count_unknown(&terms);
        assert_eq!(postbacks.advertiser(&terms), Some(advertiser.clone()));
        assert_eq!(postbacks.take(&advertiser).map(|batch| batch.not_shown), Some(3));
    }
}
