//! Tests each refusal of a click against a snapshot, in the order of the checks.

use super::*;
use crate::{
    conversions::terms::TermsInForce,
    model::{AppId, CountrySet, GoalId, OfferId},
    snapshot::tracking::{
        AppShard, GoalShard, Shard, ShardKind, Slot,
        apps::{self, SourceApp},
        goals::{self, SourceGoal, SourceOffer},
    },
};

const NOW_S: i64 = 1_000_000;

fn country(code: &str) -> Country {
    Country::parse(code).unwrap()
}

/// An Android offer for every country but the United States.
fn offer(id: &str) -> SourceOffer {
    SourceOffer {
        id: OfferId::parse(id).unwrap(),
        active: true,
        starts_at: None,
        ends_at: None,
        os: Platform::Android,
        countries: CountrySet::targeted(&[], &[country("US")]),
        includes_countries: false,
        click_cap: None,
        click_id_max: None,
        conversion_cap: None,
        min_seconds_to_convert: None,
        revision: 1,
        terms: TermsInForce::default(),
        target: "https://example.com/".into(),
    }
}

struct Shards {
    apps: AppShard,
    goals: GoalShard,
}

/// Shards whose offers are named after their special property. The goal of offer `x` is `g-x`. App 1 blocks an
/// offer, and apps 2 and 3 have a fallback URL. The publisher of app 3 is not approved.
fn shards() -> Shards {
    let changed = |id: &str, change: fn(&mut SourceOffer)| {
        let mut offer = offer(id);
        change(&mut offer);
        offer
    };
    let offers = vec![
        offer("plain"),
        changed("paused", |offer| offer.active = false),
        changed("ended", |offer| offer.ends_at = Some(NOW_S)),
        changed("ending", |offer| offer.ends_at = Some(NOW_S + 1)),
        changed("not-started", |offer| offer.starts_at = Some(NOW_S + 1)),
        changed("started", |offer| offer.starts_at = Some(NOW_S)),
        changed("ios", |offer| offer.os = Platform::Ios),
        changed("web", |offer| offer.os = Platform::Web),
        changed("germany", |offer| {
            offer.countries = CountrySet::targeted(&[country("DE")], &[]);
            offer.includes_countries = true;
        }),
        offer("blocked"),
        offer("retired"),
    ];
    let goal = |offer: SourceOffer| SourceGoal {
        id: GoalId::parse(&format!("g-{}", offer.id)).unwrap(),
        retired: offer.id.as_str() == "retired",
        offer,
    };
    let app = |number, approved, rest: &str| {
        let currency = r#"{"name": "Coins", "per_usd": 1}"#;
        let app =
            format!(r#"{{"publisher_id": "p", "name": "A", "platform": "android", "currency": {currency}, {rest}}}"#);
        SourceApp {
            id: AppId::from_number(number).unwrap(),
            document: serde_json::from_str(&app).unwrap(),
            revision: 1,
            terms: TermsInForce::default(),
            callback_revision: 0,
            outbox_shards: 8,
            click_secrets: None,
            approved,
            pub_key_hash: None,
        }
    };
    let apps = vec![
        app(1, true, r#""blocked_offers": ["other", "blocked"]"#),
        app(2, true, r#""fallback_url": "https://fall.example/""#),
        app(3, false, r#""fallback_url": "https://fall.example/""#),
    ];
    let goals = offers.into_iter().map(goal).collect();
    let [of_apps, of_goals] = [ShardKind::Apps, ShardKind::Goals].map(|kind| Slot::of(kind, 0, 0));
    Shards {
        apps: AppShard::open(of_apps, apps::build(of_apps, apps).bytes).unwrap(),
        goals: GoalShard::open(of_goals, goals::build(of_goals, goals).bytes).unwrap(),
    }
}

/// The decision on a query, or the code of the refusal and whether it goes to the fallback URL.
fn decided(query: &str, country: &str, platform: Option<Platform>) -> Result<(), (&'static str, bool)> {
    let visitor = Visitor { country: Country::parse(country), platform, now_ms: NOW_S * 1_000 };
    let shards = shards();
    let parameters = ClickParameters::parse(query).map_err(|refusal| (refusal.code, false))?;
    let app = AppId::parse(&parameters.app).and_then(|id| shards.apps.app(id));
    let goal = shards.goals.goal(&parameters.rid);
    match decide(parameters, app, goal, visitor) {
        Ok(_) => Ok(()),
        Err(refused) => Err((refused.refusal.code, refused.fallback_url.is_some())),
    }
}

#[test]
fn a_click_is_allowed_or_refused_for_the_first_reason_found() {
    let (android, ios) = (Some(Platform::Android), Some(Platform::Ios));
    let refused = |code| Err((code, false));
    let fallback = |code| Err((code, true));
    // Goal, app, the visitor's country and platform, and the decision.
    let cases = [
        ("plain", 1, "DE", android, Ok(())),
        ("plain", 1, "DE", None, Ok(())),
        ("plain", 1, "", None, Ok(())),
        ("plain", 9, "DE", None, refused("unknown_app")),
        ("none", 1, "DE", None, refused("unknown_goal")),
        ("none", 9, "DE", None, refused("unknown_app")),
        ("plain", 3, "DE", None, fallback("publisher_not_approved")),
        ("paused", 3, "DE", None, fallback("publisher_not_approved")),
        ("paused", 1, "DE", None, refused("offer_ended")),
        ("paused", 2, "US", ios, fallback("offer_ended")),
        ("ended", 1, "DE", None, refused("offer_ended")),
        ("ending", 1, "DE", None, Ok(())),
        ("not-started", 1, "DE", None, refused("offer_ended")),
        ("started", 1, "DE", None, Ok(())),
        ("retired", 1, "DE", None, refused("offer_ended")),
        ("blocked", 1, "DE", None, refused("offer_ended")),
        ("blocked", 2, "DE", None, Ok(())),
        ("plain", 1, "US", None, refused("not_available_in_country")),
        ("plain", 2, "US", ios, fallback("not_available_in_country")),
        ("germany", 1, "DE", None, Ok(())),
        ("germany", 1, "FR", None, refused("not_available_in_country")),
        ("germany", 1, "", None, refused("not_available_in_country")),
        ("plain", 1, "DE", ios, refused("not_available_on_platform")),
        ("ios", 1, "DE", android, refused("not_available_on_platform")),
        ("ios", 1, "DE", ios, Ok(())),
        ("ios", 1, "DE", None, Ok(())),
        ("web", 1, "DE", android, Ok(())),
        ("web", 1, "DE", ios, Ok(())),
    ];
    for (goal, app, country, platform, expected) in cases {
        let query = format!("rid=g-{goal}&app={app:08}&user_id=u");
        let decision = decided(&query, country, platform);
        assert_eq!(decision, expected, "{query} from {country:?} on {platform:?}");
    }
    for (query, code) in
        [("rid=g-plain&app=00000001&user_id=!", "invalid_user_id"), ("rid=g-plain&app=1&user_id=u", "unknown_app")]
    {
        assert_eq!(decided(query, "DE", None), refused(code), "{query}");
    }
}

#[test]
fn only_403_and_410_go_to_the_fallback() {
    let shards = shards();
    let app = shards.apps.app(AppId::parse("00000002").unwrap()).unwrap();
    for (refusal, to_fallback) in [
        (PUBLISHER_NOT_APPROVED, true),
        (NOT_AVAILABLE_IN_COUNTRY, true),
        (NOT_AVAILABLE_ON_PLATFORM, true),
        (OFFER_ENDED, true),
        (OFFER_CAPPED, true),
        (UNKNOWN_GOAL, false),
        (crate::model::api_error::common::UNAVAILABLE, false),
    ] {
        let refused = refuse(&app, refusal.clone());
        assert_eq!(refused.fallback_url.is_some(), to_fallback, "{refusal:?}");
    }
}
