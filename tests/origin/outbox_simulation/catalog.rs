//! The simulated catalog: an app, two offers with the same goals and the operator's changes; clicks and postbacks that
//! refer to them.

use std::rc::Rc;

use super::{
    ops::{Change, Postback},
    runtime::Operation,
    world::{STORE_KEYS, World, app},
};
use contract::{
    catalog::{CallbackSettings, GoalTerms, OfferTerms, Terms, callback_purpose},
    counters::{self, Limit},
    operation::Bytes,
    outbox::Conversion,
};
use domain::{
    callbacks::settings::{Callback, CallbackMethod},
    model::{
        AdvertiserId, Country, CurrencyRate, OfferId, PublisherId,
        credentials::Vault,
        money::{PerUsd, Rounding},
    },
    tracking::click::Click,
};

/// The offers. The first always has a cap, and both have the same goals.
pub const OFFERS: [&str; 2] = ["capped", "free"];
/// Ids of goals, then their event codes. The second goal is the first by `ord`.
pub const GOALS: [&str; 4] = ["g1", "g2", "install", "level"];
const WINDOW_DAYS: i64 = 30;

impl World {
    pub fn change(&mut self, change: &Change) {
        self.revision += 1;
        let revision = self.revision;
        let mut terms = Terms::clone(&self.terms);
        terms.change = revision;
        match change {
            Change::Cap(nth, cap, push) => {
                let offer = OfferId::parse(OFFERS[*nth]).unwrap();
                let offer_terms = terms.offers.get_mut(&offer).unwrap();
                offer_terms.conversion_cap = *cap;
                offer_terms.revision = revision;
                if *push {
                    let limit = Limit {
                        kind: counters::CapKind::Conversion,
                        offer: offer.clone(),
                        limit: *cap,
                        revision,
                    };
                    let db = &self.counters[&counters::object_name(&offer)];
                    self.model.limit(&limit);
                    let command = counters::Command::SetLimits(counters::SetLimits { limits: vec![limit] });
                    origin::counters::handle(db, self.now_ms(), command).unwrap();
                }
            }
            Change::Payout(nth, payout) => {
                for offer in terms.offers.values_mut() {
                    offer.goals[*nth].payout_micro_usd = *payout;
                }
            }
            Change::Retire(nth, retired) => {
                for offer in terms.offers.values_mut() {
                    offer.goals[*nth].retired = *retired;
                }
            }
            Change::Rate(per_usd) => terms.currency.per_usd = PerUsd(*per_usd),
            Change::Callback(set, push) => {
                terms.callback = CallbackSettings {
                    revision,
                    sealed: set.then(|| sealed(revision)),
                };
                if *push {
                    self.operate(Operation::Settings(terms.callback.clone()));
                }
            }
        }
        self.terms = Rc::new(terms);
    }

    pub fn conversion(&mut self, postback: &Postback) -> Conversion {
        let n = postback.click;
        let now_ms = self.now_ms();
        let click = self.clicks.entry(n).or_insert_with(|| Click {
            offer: OFFERS[usize::from(n) % OFFERS.len()].into(),
            goal: "g1".into(),
            app: app(),
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
            advertiser: AdvertiserId::parse(if postback.is_own { "adv" } else { "other" }).unwrap(),
            goal: postback
                .goal
                .map(|goal| (*GOALS.get(goal).unwrap_or(&"nothing")).to_owned()),
            txn: postback.txn.map(|txn| format!("txn {txn}")),
            status: postback.status,
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
    };
    let json = serde_json::to_vec(&callback).unwrap();
    let purpose = callback_purpose(&app().to_string());
    Bytes(
        Vault::parse(STORE_KEYS)
            .unwrap()
            .seal(&purpose, &json, [7; 12])
            .unwrap(),
    )
}

pub fn user_id(user: u8) -> String {
    format!("user {user}")
}

pub fn first_terms() -> Terms {
    let goal = |id: &str, ord, gl_val: &str, payout_micro_usd| GoalTerms {
        id: id.to_owned(),
        ord,
        gl_val: Some(gl_val.to_owned()),
        payout_micro_usd,
        retired: false,
    };
    let offer = |cap| OfferTerms {
        advertiser_id: AdvertiserId::parse("adv").unwrap(),
        conversion_window_days: u16::try_from(WINDOW_DAYS).unwrap(),
        conversion_cap: cap,
        revision: 1,
        goals: vec![
            goal("g1", 2, "install", 250_000),
            goal("g2", 1, "level", 1_234_567),
        ],
    };
    Terms {
        change: 1,
        publisher_id: PublisherId::parse("pub").unwrap(),
        currency: CurrencyRate {
            name: "gems".into(),
            per_usd: PerUsd(100_500_000),
            decimals: 2,
            rounding: Rounding::Down,
        },
        callback: CallbackSettings {
            revision: 1,
            sealed: Some(sealed(1)),
        },
        offers: OFFERS
            .into_iter()
            .zip([Some(3), None])
            .map(|(id, cap)| (OfferId::parse(id).unwrap(), offer(cap)))
            .collect(),
    }
}
