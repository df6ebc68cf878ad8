//! Tests each refusal of a click against a snapshot, in the order of the checks.

use super::*;
use crate::{
    catalog::snapshot::tracking::{
        Source, SourceAdvertiser, SourceGoal, SourceOffer, SourcePublisher, build,
    },
    model::{AdvertiserId, CountrySet, GoalId, OfferId, PublisherId},
};

const NOW_MS: i64 = 1_000_000_000;

/// A snapshot whose offers are named after their special property. The goal of offer `x` is `g-x`.
fn snapshot() -> Tracking {
    let country = |code: &str| Country::parse(code).unwrap();
    let offer = |id: &str| SourceOffer {
        id: OfferId::parse(id).unwrap(),
        advertiser_id: AdvertiserId::parse("adv").unwrap(),
        active: true,
        starts_at: None,
        ends_at: None,
        os: Platform::Android,
        countries: CountrySet::targeted(&[], &[country("US")]),
        includes_countries: false,
        click_cap: None,
        click_id_max: None,
        conversion_window_days: 30,
        revision: 1,
        target: "https://example.com/".into(),
    };
    let seconds = NOW_MS / 1_000;
    let mut offers = vec![
        offer("plain"),
        SourceOffer {
            active: false,
            ..offer("paused")
        },
        SourceOffer {
            ends_at: Some(seconds),
            ..offer("ended")
        },
        SourceOffer {
            ends_at: Some(seconds + 1),
            ..offer("ending")
        },
        SourceOffer {
            starts_at: Some(seconds + 1),
            ..offer("not-started")
        },
        SourceOffer {
            starts_at: Some(seconds),
            ..offer("started")
        },
        SourceOffer {
            os: Platform::Ios,
            ..offer("ios")
        },
        SourceOffer {
            os: Platform::Web,
            ..offer("web")
        },
        SourceOffer {
            countries: CountrySet::targeted(&[country("DE")], &[]),
            includes_countries: true,
            ..offer("germany")
        },
        offer("blocked"),
        offer("retired"),
    ];
    offers.sort_by(|a, b| a.id.cmp(&b.id));
    let goal = |offer: &SourceOffer| SourceGoal {
        id: GoalId::parse(&format!("g-{}", offer.id)).unwrap(),
        offer_id: offer.id.clone(),
        retired: offer.id.as_str() == "retired",
    };
    let app = |publisher: &str, rest: &str| {
        let currency = r#"{"name": "Coins", "per_usd": 1}"#;
        let app = format!(
            r#"{{"publisher_id": "{publisher}", "name": "A", "platform": "android", "currency": {currency}{rest}}}"#
        );
        serde_json::from_str(&app).unwrap()
    };
    let publisher = |id: &str, approved| SourcePublisher {
        id: PublisherId::parse(id).unwrap(),
        approved,
        pub_key_hash: None,
    };
    let source = Source {
        publishers: vec![publisher("no", false), publisher("yes", true)],
        apps: vec![
            (
                AppId::parse("00000001").unwrap(),
                app("yes", r#", "blocked_offers": ["blocked"]"#),
            ),
            (
                AppId::parse("00000002").unwrap(),
                app("yes", r#", "fallback_url": "https://fall.example/""#),
            ),
            (
                AppId::parse("00000003").unwrap(),
                app("no", r#", "fallback_url": "https://fall.example/""#),
            ),
        ],
        advertisers: vec![SourceAdvertiser {
            id: AdvertiserId::parse("adv").unwrap(),
            tokens: Vec::new(),
        }],
        goals: offers.iter().map(goal).collect(),
        offers,
    };
    Tracking::open(build(1, 0, &source)).unwrap()
}

fn decided(query: &str, country: &str, platform: Option<Platform>) -> Result<(), (&'static str, bool)> {
    let visitor = Visitor {
        country: Country::parse(country),
        platform,
        now_ms: NOW_MS,
    };
    match decide(&snapshot(), query, visitor) {
        Ok(_) => Ok(()),
        Err(refused) => Err((refused.refusal.code, refused.fallback_url.is_some())),
    }
}

#[test]
fn a_click_is_allowed_or_refused_for_the_first_reason_found() {
    let (android, ios) = (Some(Platform::Android), Some(Platform::Ios));
    let cases = [
        ("rid=g-plain&app=00000001&user_id=u", "DE", android, Ok(())),
        ("rid=g-plain&app=00000001&user_id=u", "DE", None, Ok(())),
        ("rid=g-plain&app=00000001&user_id=u", "", None, Ok(())),
        (
            "rid=g-plain&app=00000001&user_id=!",
            "DE",
            None,
            Err(("invalid_user_id", false)),
        ),
        (
            "rid=g-plain&app=00000009&user_id=u",
            "DE",
            None,
            Err(("unknown_app", false)),
        ),
        (
            "rid=g-plain&app=1&user_id=u",
            "DE",
            None,
            Err(("unknown_app", false)),
        ),
        (
            "rid=g-none&app=00000001&user_id=u",
            "DE",
            None,
            Err(("unknown_goal", false)),
        ),
        (
            "rid=g-none&app=00000009&user_id=u",
            "DE",
            None,
            Err(("unknown_app", false)),
        ),
        (
            "rid=g-plain&app=00000003&user_id=u",
            "DE",
            None,
            Err(("publisher_not_approved", true)),
        ),
        (
            "rid=g-paused&app=00000003&user_id=u",
            "DE",
            None,
            Err(("publisher_not_approved", true)),
        ),
        (
            "rid=g-paused&app=00000001&user_id=u",
            "DE",
            None,
            Err(("offer_ended", false)),
        ),
        (
            "rid=g-paused&app=00000002&user_id=u",
            "US",
            ios,
            Err(("offer_ended", true)),
        ),
        (
            "rid=g-ended&app=00000001&user_id=u",
            "DE",
            None,
            Err(("offer_ended", false)),
        ),
        ("rid=g-ending&app=00000001&user_id=u", "DE", None, Ok(())),
        (
            "rid=g-not-started&app=00000001&user_id=u",
            "DE",
            None,
            Err(("offer_ended", false)),
        ),
        ("rid=g-started&app=00000001&user_id=u", "DE", None, Ok(())),
        (
            "rid=g-retired&app=00000001&user_id=u",
            "DE",
            None,
            Err(("offer_ended", false)),
        ),
        (
            "rid=g-blocked&app=00000001&user_id=u",
            "DE",
            None,
            Err(("offer_ended", false)),
        ),
        ("rid=g-blocked&app=00000002&user_id=u", "DE", None, Ok(())),
        (
            "rid=g-plain&app=00000001&user_id=u",
            "US",
            None,
            Err(("not_available_in_country", false)),
        ),
        (
            "rid=g-plain&app=00000002&user_id=u",
            "US",
            ios,
            Err(("not_available_in_country", true)),
        ),
        ("rid=g-germany&app=00000001&user_id=u", "DE", None, Ok(())),
        (
            "rid=g-germany&app=00000001&user_id=u",
            "FR",
            None,
            Err(("not_available_in_country", false)),
        ),
        (
            "rid=g-germany&app=00000001&user_id=u",
            "",
            None,
            Err(("not_available_in_country", false)),
        ),
        (
            "rid=g-plain&app=00000001&user_id=u",
            "DE",
            ios,
            Err(("not_available_on_platform", false)),
        ),
        (
            "rid=g-ios&app=00000001&user_id=u",
            "DE",
            android,
            Err(("not_available_on_platform", false)),
        ),
        ("rid=g-ios&app=00000001&user_id=u", "DE", ios, Ok(())),
        ("rid=g-ios&app=00000001&user_id=u", "DE", None, Ok(())),
        ("rid=g-web&app=00000001&user_id=u", "DE", android, Ok(())),
        ("rid=g-web&app=00000001&user_id=u", "DE", ios, Ok(())),
    ];
    for (query, country, platform, expected) in cases {
        assert_eq!(
            decided(query, country, platform),
            expected,
            "{query} from {country:?} on {platform:?}"
        );
    }
}

#[test]
fn only_403_and_410_go_to_the_fallback() {
    let tracking = snapshot();
    let app = tracking.app(AppId::parse("00000002").unwrap()).unwrap();
    for (refusal, to_fallback) in [
        (PUBLISHER_NOT_APPROVED, true),
        (NOT_AVAILABLE_IN_COUNTRY, true),
        (NOT_AVAILABLE_ON_PLATFORM, true),
        (OFFER_ENDED, true),
        (OFFER_CAPPED, true),
        (UNKNOWN_GOAL, false),
        (crate::model::api_error::common::UNAVAILABLE, false),
    ] {
        assert_eq!(
            refuse(&app, refusal.clone()).fallback_url.is_some(),
            to_fallback,
            "{refusal:?}"
        );
    }
}
