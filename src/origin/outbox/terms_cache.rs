//! The terms that an outbox has asked for before. They are used only once the catalog has said anew that they stand, so
//! what is cache saves the asking for them, and never stands in for it.

use std::{collections::BTreeSet, rc::Rc};

use contract::catalog::Terms;
use domain::model::OfferId;
use platform::failure::Failure;

/// Offers whose terms are cache: a busy app's conversions are of few, and each costs the catalog three statements
/// when they are asked for again.
const REMEMBERED: usize = 64;

/// The last terms that the catalog gave, and the offers that they were asked for.
#[derive(Debug, Default)]
pub struct TermsCache(Option<(BTreeSet<OfferId>, Rc<Terms>)>);

/// What the catalog is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub offers: BTreeSet<OfferId>,
    /// The change since which nothing else is wanted than that nothing has changed.
    pub since: Option<i64>,
}

impl TermsCache {
    /// What has to be asked to know the terms of these offers.
    pub fn question(&self, wanted: &BTreeSet<OfferId>) -> Question {
        let Some((known, terms)) = &self.0 else {
            return Question {
                offers: wanted.clone(),
                since: None,
            };
        };
        if wanted.is_subset(known) {
            return Question {
                offers: wanted.clone(),
                since: Some(terms.change),
            };
        }
        // The others are asked for too, as far as there is room, so that the next question is not about them.
        let room = REMEMBERED.saturating_sub(wanted.len());
        Question {
            offers: wanted.iter().chain(known.iter().take(room)).cloned().collect(),
            since: None,
        }
    }

    /// The terms by the catalog's answer to a question; `None` is that those as of its `since` stand.
    ///
    /// # Errors
    /// That nothing stands, where nothing was cache as of then.
    pub fn answered(&mut self, question: Question, answer: Option<Terms>) -> Result<Rc<Terms>, Failure> {
        if let Some(terms) = answer {
            let terms = Rc::new(terms);
            self.0 = Some((question.offers, Rc::clone(&terms)));
            return Ok(terms);
        }
        let standing = self.0.as_ref().map(|(_, terms)| terms);
        let standing = standing.filter(|terms| Some(terms.change) == question.since);
        standing
            .cloned()
            .ok_or_else(|| Failure::Internal("the catalog says that terms stand which are not here".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use contract::catalog::{CallbackSettings, OfferTerms};
    use domain::model::{AdvertiserId, CurrencyRate, PublisherId, money::PerUsd};

    /// The catalog's terms as of a change: each offer's name it in its cap; those of odd numbers are none.
    fn terms(change: i64, offers: &BTreeSet<OfferId>) -> Terms {
        let of_offer = |id: &OfferId| OfferTerms {
            advertiser_id: AdvertiserId::parse("brand").unwrap(),
            tokens: Vec::new(),
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
        fn what_is_known_by_asking_again_is_what_the_catalog_has(steps in steps()) {
            let (mut cache, mut change) = (TermsCache::default(), 0);
            for step in steps {
                let Step::Ask(offers, answers) = step else {
                    change += 1;
                    continue;
                };
                let wanted: BTreeSet<_> =
                    offers.iter().map(|id| OfferId::parse(&id.to_string()).unwrap()).collect();
                let question = cache.question(&wanted);
                prop_assert!(question.offers.is_superset(&wanted));
                prop_assert!(question.offers.len() <= wanted.len().max(REMEMBERED));
                if !answers {
                    continue;
                }
                let stands = question.since == Some(change);
                let answer = (!stands).then(|| terms(change, &question.offers));
                let told = cache.answered(question, answer).unwrap();
                let mut told = Terms::clone(&told);
                told.offers.retain(|id, _| wanted.contains(id));
                prop_assert_eq!(told, terms(change, &wanted));
            }
        }
    }

    #[test]
    fn the_second_question_asks_only_whether_the_first_stands() {
        let mut cache = TermsCache::default();
        let wanted = BTreeSet::from([OfferId::parse("2").unwrap()]);
        let first = cache.question(&wanted);
        assert_eq!(first.since, None);
        cache.answered(first, Some(terms(7, &wanted))).unwrap();
        let second = cache.question(&wanted);
        assert_eq!(second.since, Some(7));
        assert_eq!(*cache.answered(second, None).unwrap(), terms(7, &wanted));
        let unasked = Question {
            offers: wanted,
            since: Some(8),
        };
        cache.answered(unasked, None).unwrap_err();
    }
}
