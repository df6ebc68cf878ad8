//! A catalog in memory for the tests of outboxes: an app, its offers, and all revisions of their terms.

use std::collections::BTreeMap;

use contract::{
    catalog::{CallbackSettings, Command, GetAppTerms, GetOfferTerms, KnownApp, KnownOffer},
    operation::OperatorReply,
    outbox::Current,
};
use domain::{
    conversions::terms::{AppTerms, CurrentApp, CurrentOffer, OfferTerms, TermsInForce},
    model::{OfferId, PublisherId},
};

/// The revision of the first terms.
pub const FIRST: i64 = 1;

#[derive(Clone)]
pub struct TestCatalog {
    /// The last revision of anything.
    pub revision: i64,
    pub offers: BTreeMap<OfferId, TestOffer>,
    app_terms: BTreeMap<i64, AppTerms>,
    pub app: CurrentApp,
    pub callback: CallbackSettings,
    /// The questions asked so far: a resource and a revision.
    pub questions: Vec<(String, i64)>,
}

#[derive(Clone)]
pub struct TestOffer {
    terms: BTreeMap<i64, OfferTerms>,
    lost: Option<(i64, OfferTerms)>,
    pub current: CurrentOffer,
}

const IN_FORCE: TermsInForce = TermsInForce { revision: FIRST, since: 0 };

impl TestCatalog {
    pub fn new(app: AppTerms, callback: CallbackSettings, offers: &[(&str, OfferTerms, Option<u32>)]) -> Self {
        let offer = |(id, terms, conversion_cap): &(&str, OfferTerms, Option<u32>)| {
            let current = CurrentOffer {
                revision: FIRST,
                terms: IN_FORCE,
                conversion_cap: *conversion_cap,
                min_seconds_to_convert: None,
            };
            let terms = BTreeMap::from([(FIRST, terms.clone())]);
            let offer = TestOffer { terms, lost: None, current };
            (OfferId::parse(id).unwrap(), offer)
        };
        Self {
            revision: FIRST,
            offers: offers.iter().map(offer).collect(),
            app_terms: BTreeMap::from([(FIRST, app)]),
            app: CurrentApp {
                revision: FIRST,
                terms: IN_FORCE,
                publisher_id: PublisherId::parse("acme").unwrap(),
                callback_revision: callback.revision,
                outbox_shards: 8,
                max_rewards_per_user_day: None,
            },
            callback,
            questions: Vec::new(),
        }
    }

    fn next(&mut self) -> i64 {
        self.revision += 1;
        self.revision
    }

    pub fn offer(&mut self, id: &str) -> &mut TestOffer {
        self.offers.get_mut(&OfferId::parse(id).unwrap()).unwrap()
    }

    /// Changes an offer's terms like the operator.
    pub fn change_offer(&mut self, id: &str, change: impl FnOnce(&mut OfferTerms)) {
        let revision = self.next();
        let offer = self.offer(id);
        let mut terms = offer.terms[&offer.current.terms.revision].clone();
        change(&mut terms);
        offer.terms.insert(revision, terms);
        offer.current.terms.revision = revision;
        offer.current.revision = revision;
    }

    /// Changes an offer's first terms, before any click.
    pub fn first_offer(&mut self, id: &str, change: impl FnOnce(&mut OfferTerms)) {
        change(self.offer(id).terms.get_mut(&FIRST).unwrap());
    }

    /// Changes the app's first terms, before any click.
    pub fn first_app(&mut self, change: impl FnOnce(&mut AppTerms)) {
        change(self.app_terms.get_mut(&FIRST).unwrap());
    }

    pub fn cap(&mut self, id: &str, cap: Option<u32>) {
        let revision = self.next();
        let offer = self.offer(id);
        offer.current.conversion_cap = cap;
        offer.current.revision = revision;
    }

    /// Changes the limits beyond which conversions are held.
    pub fn hold(&mut self, id: &str, change: impl FnOnce(&mut CurrentOffer, &mut CurrentApp)) {
        let revision = self.next();
        let mut app = self.app.clone();
        let offer = &mut self.offer(id).current;
        change(offer, &mut app);
        offer.revision = revision;
        app.revision = revision;
        self.app = app;
    }

    pub fn change_app(&mut self, change: impl FnOnce(&mut AppTerms)) {
        let revision = self.next();
        let mut terms = self.app_terms[&self.app.terms.revision].clone();
        change(&mut terms);
        self.app_terms.insert(revision, terms);
        self.app.terms.revision = revision;
        self.app.revision = revision;
    }

    /// Sets new callback settings.
    pub fn set_callback(&mut self, callback: CallbackSettings) {
        let revision = self.next().max(callback.revision);
        self.revision = revision;
        self.app.revision = revision;
        self.app.callback_revision = callback.revision;
        self.callback = callback;
    }

    /// Pays clicks made before this UNIX second by the current terms of an offer.
    pub fn offer_since(&mut self, id: &str, since: i64) {
        let revision = self.next();
        let offer = self.offer(id);
        offer.current.terms.since = since;
        offer.current.revision = revision;
    }

    /// The same by the current terms of the app.
    pub fn app_since(&mut self, since: i64) {
        self.app.revision = self.next();
        self.app.terms.since = since;
    }

    /// The values of an offer and the app in a current snapshot.
    pub fn current(&self, offer: &str) -> Current {
        let offer = OfferId::parse(offer).and_then(|id| self.offers.get(&id));
        Current { offer: offer.map(|offer| offer.current.clone()), app: Some(self.app.clone()), is_recent: true }
    }

    /// Answers a command of an outbox, both as JSON.
    pub fn answer(&mut self, json: &str) -> String {
        let known = match serde_json::from_str(json).unwrap() {
            Command::OfferTerms(question) => serde_json::to_value(self.ask_offer(&question).unwrap()),
            Command::AppTerms(question) => serde_json::to_value(self.ask_app(&question)),
            other => panic!("{other:?} to the catalog"),
        };
        serde_json::to_string(&OperatorReply::ok(&known.unwrap())).unwrap()
    }

    /// Answers a question; `None` if the offer or the terms do not exist.
    pub fn ask_offer(&mut self, question: &GetOfferTerms) -> Option<KnownOffer> {
        self.questions.push((question.offer_id.to_string(), question.revision));
        let offer = self.offers.get(&question.offer_id)?;
        Some(KnownOffer { terms: offer.terms.get(&question.revision)?.clone(), current: offer.current.clone() })
    }

    /// Loses an offer's terms in force, as a restored catalog does. Returns their revision.
    pub fn lose(&mut self, id: &str) -> i64 {
        let offer = self.offer(id);
        let revision = offer.current.terms.revision;
        let terms = offer.terms.remove(&revision).unwrap();
        offer.lost = Some((revision, terms));
        revision
    }

    /// Has the lost terms back.
    pub fn find(&mut self, id: &str) {
        let offer = self.offer(id);
        offer.terms.extend(offer.lost.take());
    }

    pub fn ask_app(&mut self, question: &GetAppTerms) -> KnownApp {
        self.questions.push(("app".into(), question.revision));
        KnownApp {
            terms: self.app_terms[&question.revision].clone(),
            current: self.app.clone(),
            callback: self.callback.clone(),
        }
    }
}
