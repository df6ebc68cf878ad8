//! The offers of test apps (docs/DECISIONS.md, "Test apps"). They are the same in every deployment. No snapshot or
//! table has them: the edge and the catalog look them up in this list.

use super::{
    page::{AppListing, Page, parts},
    preview::build,
    request::OffersRequest,
    selection::{Selection, Selector},
};
use crate::{
    catalog::{
        Goal, Offer,
        offer::{Cap, CapPeriod, GeoTarget, OncePer},
    },
    conversions::terms::{CurrentOffer, OfferTerms, TermsInForce},
    model::{AdvertiserId, Category, GoalId, MicroUsd, OfferId, OfferType, Platform},
    snapshot::tracking::GoalView,
    tracking::click_id,
};

/// The id of the advertiser of the test offers, and the prefix of the ids of test offers and their goals. No other
/// resource's id may begin with it.
pub const RESERVED: &str = "signpost-test";
/// The redirect target of every test offer, in the canonical form of a checked `target_url`. It is a path on the host
/// that answers clicks.
const TARGET: &str = "/v2/tracking/test?click_id={click_id}";
/// The only revision of the test offers: the UNIX time of 2026-01-01.
const REVISION: i64 = 1_767_225_600;
/// The terms in force for every click on a test offer.
const IN_FORCE: TermsInForce = TermsInForce { revision: REVISION, since: 0 };

/// A test offer.
#[derive(Debug)]
pub struct TestOffer {
    /// The offer's id.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    desc: &'static str,
    /// In display order.
    pub goals: &'static [TestGoal],
    /// True if its conversion cap is always used up.
    pub is_capped: bool,
    /// True if its conversions are held as too fast.
    pub is_held: bool,
}

/// A goal of a test offer.
#[derive(Debug)]
pub struct TestGoal {
    /// The goal's id, the `rid` of its tracking URL.
    pub id: &'static str,
    /// Title for people.
    pub title: &'static str,
    payout_micro_usd: i64,
}

const fn goal(id: &'static str, title: &'static str, payout_micro_usd: i64) -> TestGoal {
    TestGoal { id, title, payout_micro_usd }
}

/// All test offers, in the order of their ids.
pub const ALL: [TestOffer; 4] = [
    TestOffer {
        id: "signpost-test-capped",
        name: "Test offer: cap spent",
        desc: "Its conversion cap is always spent, so an approved conversion is refused and no reward is paid.",
        goals: &[goal("signpost-test-capped-1", "Reach level 5", 1_000_000)],
        is_capped: true,
        is_held: false,
    },
    TestOffer {
        id: "signpost-test-held",
        name: "Test offer: always held",
        desc: "An approved conversion is held, as if it came too fast. Approving it once more pays it.",
        goals: &[goal("signpost-test-held-1", "Reach level 5", 1_000_000)],
        is_capped: false,
        is_held: true,
    },
    TestOffer {
        id: "signpost-test-one-goal",
        name: "Test offer: one goal",
        desc: "One goal, which pays when the test page approves it.",
        goals: &[goal("signpost-test-one-goal-1", "Reach level 5", 1_250_000)],
        is_capped: false,
        is_held: false,
    },
    TestOffer {
        id: "signpost-test-three-goals",
        name: "Test offer: three goals",
        desc: "Three goals. Each pays once for a click.",
        goals: &[
            goal("signpost-test-three-goals-1", "Register", 250_000),
            goal("signpost-test-three-goals-2", "Reach level 5", 1_000_000),
            goal("signpost-test-three-goals-3", "Make a purchase", 4_500_000),
        ],
        is_capped: false,
        is_held: false,
    },
];

/// True if an id has the prefix of the test offers.
pub fn is_reserved(id: &str) -> bool {
    id.starts_with(RESERVED)
}

/// The test offer with this id.
pub fn find(id: &str) -> Option<&'static TestOffer> {
    ALL.iter().find(|offer| offer.id == id)
}

/// The test goal with this id, as a click looks it up. It may be clicked in every country and on every device.
pub fn goal_of_click(id: &str) -> Option<GoalView<'static>> {
    let with_goal = |offer: &'static TestOffer| Some((offer, offer.goals.iter().find(|goal| goal.id == id)?));
    let (offer, goal) = ALL.iter().find_map(with_goal)?;
    Some(GoalView::everywhere(goal.id, offer.id, TARGET, IN_FORCE))
}

impl TestOffer {
    /// The offer's document. `host` is the base of the URLs of its icon and its landing page, without a trailing slash.
    /// A test checks that the result is never `None`.
    fn document(&self, host: &str) -> Option<(OfferId, Offer)> {
        let goals = (0_u32..).zip(self.goals).map(|(ord, goal)| {
            Some(Goal {
                id: GoalId::parse(goal.id)?,
                ttl: goal.title.to_owned(),
                instr: "1. Open the test page.\n2. Choose what the advertiser reports.".to_owned(),
                payout_usd: MicroUsd(goal.payout_micro_usd),
                ord,
                gl_val: None,
            })
        });
        let offer = Offer {
            advertiser_id: AdvertiserId::parse(RESERVED)?,
            off_type: OfferType::Cpe,
            s_id: RESERVED.to_owned(),
            name: self.name.to_owned(),
            lp_url: format!("{host}/v2/tracking/test"),
            target_url: None,
            click_id_max: u16::try_from(click_id::MAX_LENGTH).ok(),
            ic_url: format!("{host}/v2/tracking/test.svg"),
            desc: self.desc.to_owned(),
            ctg: vec![if self.goals.len() > 1 { Category::MultiReward } else { Category::SingleStep }],
            os: Platform::Web,
            geo_tgt: GeoTarget::default(),
            goals: goals.collect::<Option<_>>()?,
            conversion_cap: self.is_capped.then_some(Cap { dur: CapPeriod::Daily, lim: 0 }),
            click_cap: None,
            starts_at: None,
            ends_at: None,
            conversion_window_days: None,
            once_per: Some(OncePer::Click),
            min_seconds_to_convert: None,
            terms_since: None,
            active: true,
        };
        Some((OfferId::parse(self.id)?, offer))
    }

    /// The terms that clicks on the offer seal, and the offer's current values.
    pub fn terms(&self) -> Option<(OfferTerms, CurrentOffer)> {
        let (_, offer) = self.document("")?;
        Some((OfferTerms::of(&offer), self.current()))
    }

    /// The values that apply to every conversion.
    pub fn current(&self) -> CurrentOffer {
        CurrentOffer {
            revision: REVISION,
            terms: IN_FORCE,
            conversion_cap: self.is_capped.then_some(0),
            min_seconds_to_convert: None,
        }
    }
}

/// The page of test offers that a test app requests, and the number of offers on all pages. `tracking_url` is the
/// setting `TRACKING_URL` without a trailing slash. A test checks that the result is never `None`.
pub fn page(app: &AppListing, request: &OffersRequest, tracking_url: &str) -> Option<(Vec<u8>, u32)> {
    let offers = ALL.iter().map(|offer| offer.document(tracking_url));
    let (listing, chunk) = build(&offers.collect::<Option<Vec<_>>>()?, REVISION)?;
    let selector = Selector::new(listing);
    let Selection { rows, total } = selector.select(app, request);
    let mut page = Page::new(app, tracking_url);
    for part in parts(selector.listing(), &rows) {
        page.add(selector.listing(), part, &chunk).ok()?;
    }
    Some((page.finish(total), total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AppId, CurrencyRate, Document};

    fn app() -> AppListing {
        let currency = r#"{"name":"Coins","per_usd":1000,"decimals":0,"rounding":"down"}"#;
        AppListing {
            id: AppId::parse("99000001").unwrap(),
            platform: Platform::Ios,
            currency: serde_json::from_str::<CurrencyRate>(currency).unwrap(),
            blocked: vec![OfferId::parse("signpost-test-held").unwrap()],
            signs_clicks: false,
        }
    }

    #[test]
    fn each_test_offer_is_a_valid_offer_with_reserved_ids_and_a_page_of_ours() {
        for offer in &ALL {
            let (id, document) = offer.document("https://track.example").unwrap();
            document.check().unwrap();
            assert!(is_reserved(id.as_str()) && is_reserved(document.advertiser_id.as_str()));
            assert_eq!(offer.terms().unwrap().1, offer.current());
            for goal in offer.goals {
                assert!(is_reserved(goal.id));
                let view = goal_of_click(goal.id).unwrap();
                assert_eq!((view.id, view.offer.id, view.retired), (goal.id, offer.id, false));
                assert_eq!(view.offer.current().terms, offer.current().terms);
                assert!(view.offer.is_live(0) && view.offer.target == TARGET);
            }
            assert_eq!(find(offer.id).unwrap().id, offer.id);
        }
        assert!(goal_of_click("60118-1").is_none() && find("60118").is_none() && !is_reserved("60118"));
    }

    #[test]
    fn a_test_app_gets_the_page_that_it_asks_for_without_what_it_blocks() {
        let request = |page, size| OffersRequest { page, size, filters: Vec::new() };
        let (body, total) = page(&app(), &request(1, 100), "https://track.example").unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let ids: Vec<_> = body["offers"].as_array().unwrap().iter().map(|offer| &offer["id"]).collect();
        assert_eq!(ids, ["signpost-test-capped", "signpost-test-one-goal", "signpost-test-three-goals"]);
        assert_eq!(total, 3);
        let base = "https://track.example/v2/tracking/click?rid=signpost-test-one-goal-1&app=99000001";
        assert_eq!(body["offers"][1]["trk_url_base"], base);
        assert_eq!(body["offers"][1]["gls"][0]["inapp_pyt"]["amt"], 1250);
        let (second, _) = page(&app(), &request(2, 2), "https://track.example").unwrap();
        let second: serde_json::Value = serde_json::from_slice(&second).unwrap();
        assert_eq!(second["offers"][0]["id"], "signpost-test-three-goals");
    }
}
