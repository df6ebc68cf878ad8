//! Caches the catalog's last terms in an outbox. Cached terms are used only after the catalog has confirmed that they
//! are current, so the cache saves sending the terms but never the request.

use std::{collections::BTreeSet, rc::Rc};

use contract::catalog::Terms;
use domain::model::OfferId;
use platform::failure::Failure;

/// Offers whose terms are cached. A busy app converts few offers, and each costs the catalog three statements whenever
/// their terms are read again.
const MAX_OFFERS: usize = 64;

/// The catalog's last terms, and the offers that they were requested for.
#[derive(Debug, Default)]
pub struct TermsCache(Option<(BTreeSet<OfferId>, Rc<Terms>)>);

/// A request for terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermsRequest {
    pub offers: BTreeSet<OfferId>,
    /// The revision of the cached terms; the catalog answers only if there is a newer one.
    pub since: Option<i64>,
}

impl TermsCache {
    /// The request that yields the terms of these offers.
    pub fn request(&self, wanted: &BTreeSet<OfferId>) -> TermsRequest {
        let Some((known, terms)) = &self.0 else {
            return TermsRequest {
                offers: wanted.clone(),
                since: None,
            };
        };
        if wanted.is_subset(known) {
            return TermsRequest {
                offers: wanted.clone(),
                since: Some(terms.change),
            };
        }
        // Request the cached offers again, up to the limit, so that they stay in the cache.
        let free = MAX_OFFERS.saturating_sub(wanted.len());
        TermsRequest {
            offers: wanted.iter().chain(known.iter().take(free)).cloned().collect(),
            since: None,
        }
    }

    /// Applies the catalog's answer to a request and returns the current terms. `None` confirms those of `since`.
    ///
    /// # Errors
    /// The cache has no terms of the confirmed revision.
    pub fn apply(&mut self, request: TermsRequest, answer: Option<Terms>) -> Result<Rc<Terms>, Failure> {
        if let Some(terms) = answer {
            let terms = Rc::new(terms);
            self.0 = Some((request.offers, Rc::clone(&terms)));
            return Ok(terms);
        }
        let cached = self.0.as_ref().map(|(_, terms)| terms);
        let cached = cached.filter(|terms| Some(terms.change) == request.since);
        cached
            .cloned()
            .ok_or_else(|| Failure::Internal("the catalog confirmed terms that are not cached".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use contract::catalog::{CallbackSettings, OfferTerms};
    use domain::model::{AdvertiserId, CurrencyRate, PublisherId, money::PerUsd};

    /// The catalog's terms of a revision. Each offer's cap is its number; offers with odd numbers do not exist.
    fn terms(change: i64, offers: &BTreeSet<OfferId>) -> Terms {
        let of_offer = |id: &OfferId| OfferTerms {
            advertiser_id: AdvertiserId::parse("brand").unwrap(),
            conversion_window_days: 30,
            conversion_cap: id.as_str().parse().ok(),
            revision: change,
            goals: Vec::new(),
        };
        let exists = |id: &&OfferId| id.as_str().parse::<u32>().unwrap() % 2 == 0;
        Terms {
            change,
            publisher_id: PublisherId::parse("acme").unwrap(),
            currency: CurrencyRate {
                name: "Coins".into(),
                per_usd: PerUsd(100_000_000),
                decimals: 0,
                rounding: Default::default(),
            },
            callback: CallbackSettings::default(),
            offers: offers
                .iter()
                .filter(exists)
                .map(|id| (id.clone(), of_offer(id)))
                .collect::<BTreeMap<_, _>>(),
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Change,
        /// Whether the catalog answers.
        Ask(Vec<u32>, bool),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let offers = prop_oneof![3 => vec(0..6_u32, 0..4), 1 => vec(0..300_u32, 0..90)];
        let step = prop_oneof![
            Just(Step::Change),
            (offers, select(vec![true, true, true, false])).prop_map(|(offers, is)| Step::Ask(offers, is)),
        ];
        vec(step, 1..60)
    }

    proptest! {
        #[test]
        fn cached_terms_equal_the_catalogs_current_terms(steps in steps()) {
            let (mut cache, mut change) = (TermsCache::default(), 0);
            for step in steps {
                let Step::Ask(offers, answers) = step else {
                    change += 1;
                    continue;
                };
                let wanted: BTreeSet<_> =
                    offers.iter().map(|id| OfferId::parse(&id.to_string()).unwrap()).collect();
                let request = cache.request(&wanted);
                prop_assert!(request.offers.is_superset(&wanted));
                prop_assert!(request.offers.len() <= wanted.len().max(MAX_OFFERS));
                if !answers {
                    continue;
                }
                let is_current = request.since == Some(change);
                let answer = (!is_current).then(|| terms(change, &request.offers));
                let applied = cache.apply(request, answer).unwrap();
                let mut applied = Terms::clone(&applied);
                applied.offers.retain(|id, _| wanted.contains(id));
                prop_assert_eq!(applied, terms(change, &wanted));
            }
        }
    }

    #[test]
    fn the_second_request_asks_only_for_changes() {
        let mut cache = TermsCache::default();
        let wanted = BTreeSet::from([OfferId::parse("2").unwrap()]);
        let first = cache.request(&wanted);
        assert_eq!(first.since, None);
        cache.apply(first, Some(terms(7, &wanted))).unwrap();
        let second = cache.request(&wanted);
        assert_eq!(second.since, Some(7));
        assert_eq!(*cache.apply(second, None).unwrap(), terms(7, &wanted));
        let unknown = TermsRequest {
            offers: wanted,
            since: Some(8),
        };
        cache.apply(unknown, None).unwrap_err();
    }
}
