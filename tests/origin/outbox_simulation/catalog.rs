//! The simulated catalog: an app, two offers with the same goals and the operator's changes; clicks and postbacks that
//! refer to them.

use super::{
    ops::{Change, Postback},
    runtime::Operation,
    world::{STORE_KEYS, World, app, shard},
};
use crate::test_catalog::TestCatalog;
use contract::{
    catalog::{CallbackSettings, callback_purpose},
    operation::Bytes,
    outbox::{Conversion, SetOffer},
};
use domain::{
    callbacks::{
        fields::Status,
        settings::{Callback, CallbackMethod},
    },
    catalog::offer::OncePer,
    conversions::{
        table::Event,
        terms::{AppTerms, GoalTerms, OfferTerms},
    },
    model::{
        AdvertiserId, Country, CurrencyRate, OfferId,
        credentials::Vault,
        money::{PerUsd, Rounding},
        time::SECOND_MS,
    },
    tracking::click::Click,
};

/// The offers. The first always has a cap and pays each click, the second pays a user once. Both have the same goals.
pub const OFFERS: [&str; 2] = ["capped", "free"];
/// Ids of goals, then their event codes. The second goal is the first by `ord`.
pub const GOALS: [&str; 4] = ["g1", "g2", "install", "level"];
const WINDOW_DAYS: i64 = 30;

impl World {
    pub fn change(&mut self, change: &Change) {
        let now_s = self.now_ms() / SECOND_MS;
        match change {
            Change::Cap(nth, cap, push) => {
                self.catalog.cap(OFFERS[*nth], *cap);
                if *push {
                    self.push_cap(OFFERS[*nth]);
                }
            }
            Change::Holds(seconds, rewards) => {
                for offer in OFFERS {
                    self.catalog.hold(offer, |offer, app| {
                        offer.min_seconds_to_convert = *seconds;
                        app.max_rewards_per_user_day = *rewards;
                    });
                }
            }
            Change::Payout(nth, payout) => self.change_offers(|terms| {
                let nth = nth % terms.goals.len();
                terms.goals[nth].payout_micro_usd = *payout;
            }),
            Change::Goals(mask) => self.change_offers(|terms| {
                let all = goals().into_iter().enumerate();
                let kept = all.filter(|(nth, _)| mask >> nth & 1 == 1).map(|(_, goal)| goal);
                let payout = terms.goals[0].payout_micro_usd;
                terms.goals = kept.collect();
                terms.goals[0].payout_micro_usd = payout;
            }),
            Change::Rate(per_usd) => self.catalog.change_app(|app| app.currency.per_usd = PerUsd(*per_usd)),
            Change::OfferSince => {
                for offer in OFFERS {
                    self.catalog.offer_since(offer, now_s);
                }
            }
            Change::AppSince => self.catalog.app_since(now_s),
            Change::Callback(set, push) => {
                let revision = self.catalog.revision + 1;
                self.catalog.set_callback(CallbackSettings {
                    revision,
                    sealed: set.then(|| sealed(revision)),
                    is_suspended: false,
                    is_closed: false,
                });
                if *push {
                    self.operate(Operation::Settings(self.catalog.callback.clone()));
                }
            }
            Change::Publish => self.published = self.catalog.clone(),
        }
    }

    fn change_offers(&mut self, change: impl Fn(&mut OfferTerms)) {
        for offer in OFFERS {
            self.catalog.change_offer(offer, &change);
        }
    }

    fn push_cap(&mut self, offer: &str) {
        let offer = OfferId::parse(offer).unwrap();
        let current = self.catalog.offer(offer.as_str()).current.clone();
        self.operate(Operation::SetOffer(SetOffer { offer, current }));
    }

    pub fn conversion(&mut self, postback: &Postback) -> Conversion {
        let n = postback.click;
        let now_ms = self.now_ms();
        let offer = OFFERS[usize::from(n) % OFFERS.len()];
        let published = &mut self.published;
        let click = self.clicks.entry(n).or_insert_with(|| Click {
            offer: offer.into(),
            goal: "g1".into(),
            app: app(),
            shard: shard().number,
            offer_terms: published.offer(offer).current.terms.revision,
            app_terms: published.app.terms.revision,
            user_id: user_id(n % 3).into(),
            gaid: None,
            idfa: None,
            custom: [Some(n.to_string().into()), None, None, None, None],
            placement: n.is_multiple_of(4).then(|| "shop".into()),
            country: Country::parse("DE").filter(|_| n.is_multiple_of(5)),
            clicked_at_ms: now_ms - postback.age_ms,
        });
        Conversion {
            nonce: Bytes(vec![n; 12]),
            click: click.clone(),
            advertiser: AdvertiserId::parse(if postback.is_own { "adv" } else { "other" }),
            goal: postback.goal.map(|goal| (*GOALS.get(goal).unwrap_or(&"nothing")).to_owned()),
            txn: postback.txn.map(|txn| format!("txn {txn}")),
            event: Event::Postback(postback.status),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: self.published.current(offer),
        }
    }
}

/// A callback whose URL contains its revision, encrypted like the catalog does it.
fn sealed(revision: i64) -> Bytes {
    let callback = Callback {
        url: format!("https://receiver.example/{revision}"),
        method: CallbackMethod::Post,
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into(),
        previous_secret: None,
        legacy_md5: None,
        // The publisher of every second revision is told of everything.
        events: (revision % 2 == 0).then(|| Status::ALL.to_vec()),
    };
    let json = serde_json::to_vec(&callback).unwrap();
    let purpose = callback_purpose(&app().to_string());
    Bytes(Vault::parse("STORE_KEYS", STORE_KEYS).unwrap().seal(&purpose, &json, [7; 12]).unwrap())
}

pub fn user_id(user: u8) -> String {
    format!("user {user}")
}

/// The goals in the order of their `ord`.
fn goals() -> [GoalTerms; 2] {
    let goal = |id: &str, gl_val: &str, payout_micro_usd| GoalTerms {
        id: id.to_owned(),
        gl_val: Some(gl_val.to_owned()),
        payout_micro_usd,
    };
    [goal("g2", "level", 1_234_567), goal("g1", "install", 250_000)]
}

pub fn first_catalog() -> TestCatalog {
    let terms = OfferTerms {
        advertiser_id: AdvertiserId::parse("adv").unwrap(),
        conversion_window_days: u16::try_from(WINDOW_DAYS).unwrap(),
        once_per: OncePer::Click,
        goals: goals().into(),
    };
    let currency =
        CurrencyRate { name: "gems".into(), per_usd: PerUsd(100_500_000), decimals: 2, rounding: Rounding::Down };
    let callback = CallbackSettings { revision: 1, sealed: Some(sealed(1)), is_suspended: false, is_closed: false };
    let [capped, free] = OFFERS;
    let once = OfferTerms { once_per: OncePer::User, ..terms.clone() };
    let offers = [(capped, terms, Some(3)), (free, once, None)];
    TestCatalog::new(AppTerms { currency }, callback, &offers)
}
