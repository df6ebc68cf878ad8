//! Tests of the tracking snapshot: it returns what it was built from, and damaged values do not panic.

use proptest::prelude::*;

use super::*;
use crate::{
    catalog::app::App,
    model::{AdvertiserId, Country, GoalId, OfferId, PublisherId},
};

fn id<T>(parse: impl Fn(&str) -> Option<T>, text: &str) -> T {
    parse(text).unwrap()
}

fn app(publisher: &str, blocked: &[&str]) -> App {
    let currency = r#"{"name": "Gems", "per_usd": 42.5, "decimals": 2, "rounding": "nearest"}"#;
    let mut app: App = serde_json::from_str(&format!(
        r#"{{"publisher_id": "{publisher}", "name": "An app", "platform": "ios", "currency": {currency}}}"#
    ))
    .unwrap();
    app.max_rewards_per_user_day = Some(5);
    app.blocked_offers = blocked.iter().map(|offer| id(OfferId::parse, offer)).collect();
    app
}

fn source_app(name: &str, document: App) -> SourceApp {
    SourceApp {
        id: id(AppId::parse, name),
        document,
        revision: 24,
        terms: TermsInForce {
            revision: 23,
            since: 22,
        },
        callback_revision: 21,
        outbox_shards: 8,
        click_secrets: None,
    }
}

fn offer(name: &str) -> SourceOffer {
    SourceOffer {
        id: id(OfferId::parse, name),
        active: true,
        starts_at: Some(100),
        ends_at: None,
        os: Platform::Android,
        countries: CountrySet::targeted(&[Country::parse("DE").unwrap()], &[]),
        includes_countries: true,
        click_cap: Some(7),
        click_id_max: None,
        conversion_cap: Some(9),
        min_seconds_to_convert: Some(6),
        revision: 12,
        terms: TermsInForce {
            revision: 11,
            since: 10,
        },
        target: format!("https://example.com/{name}?c={{click_id}}"),
    }
}

fn source() -> Source {
    Source {
        publishers: vec![
            SourcePublisher {
                id: id(PublisherId::parse, "a"),
                approved: true,
                pub_key_hash: Some([7; 32]),
            },
            SourcePublisher {
                id: id(PublisherId::parse, "b"),
                approved: false,
                pub_key_hash: None,
            },
        ],
        apps: vec![
            source_app("00000001", app("a", &["o-2", "not-there"])),
            SourceApp {
                click_secrets: Some(vec![1, 2, 3]),
                ..source_app(
                    "20000000",
                    App {
                        fallback_url: Some("https://fall.example/".into()),
                        ..app("b", &[])
                    },
                )
            },
        ],
        advertisers: vec![SourceAdvertiser {
            id: id(AdvertiserId::parse, "adv"),
            newest_serial: Serial(9),
            valid_serials: vec![Serial(5), Serial(7)],
        }],
        offers: vec![offer("o-1"), offer("o-2")],
        goals: vec![
            SourceGoal {
                id: id(GoalId::parse, "g-1"),
                offer_id: id(OfferId::parse, "o-1"),
                retired: false,
            },
            SourceGoal {
                id: id(GoalId::parse, "g-2"),
                offer_id: id(OfferId::parse, "o-2"),
                retired: true,
            },
        ],
    }
}

fn token(advertiser: &str, serial: i64) -> Token {
    Token {
        advertiser: id(AdvertiserId::parse, advertiser),
        serial: Serial(serial),
    }
}

#[test]
fn a_token_is_valid_if_it_is_listed_or_newer_than_the_snapshot() {
    let tracking = Tracking::open(build(5, 1_000, &source())).unwrap();
    let valid = |tracking: &Tracking, advertiser: &str| -> Vec<_> {
        let serials = (0..12).filter(|serial| tracking.accepts(&token(advertiser, *serial)));
        serials.collect()
    };
    assert_eq!(valid(&tracking, "adv"), [5, 7, 10, 11], "9 was revoked");
    assert_eq!(valid(&tracking, "newcomer"), (1..12).collect::<Vec<_>>());
    // Built after a restore from a backup: tokens that were issued in between are not in it.
    let restored = Tracking::open(build(5, 11_000, &source())).unwrap();
    assert_eq!(valid(&restored, "adv"), [5, 7, 11]);
    assert_eq!(valid(&restored, "newcomer"), [11]);
}

#[test]
fn everything_is_read_back_as_it_was_built() {
    let tracking = Tracking::open(build(5, 1_000, &source())).unwrap();
    assert_eq!(
        (tracking.version(), tracking.built_at_ms(), tracking.counts()),
        (5, 1_000, (2, 2, 2))
    );

    let first = tracking.app(id(AppId::parse, "00000001")).unwrap();
    assert_eq!((first.publisher.id, first.publisher.approved), ("a", true));
    assert_eq!(first.publisher.pub_key_hash, Some(&[7; 32]));
    assert_eq!(
        (first.platform, first.currency()),
        (Platform::Ios, app("a", &[]).currency)
    );
    assert_eq!((first.fallback_url, first.click_secrets), (None, None));
    assert_eq!(
        first.blocked_offers().collect::<Vec<_>>(),
        ["o-2"],
        "a missing offer is not listed"
    );
    let second = tracking.app(id(AppId::parse, "20000000")).unwrap();
    assert_eq!(
        (second.publisher.pub_key_hash, second.fallback_url),
        (None, Some("https://fall.example/"))
    );
    assert_eq!(second.click_secrets, Some(&[1, 2, 3][..]));
    assert!(tracking.app(id(AppId::parse, "00000002")).is_none());
    let of_app = CurrentApp {
        revision: 24,
        terms: TermsInForce {
            revision: 23,
            since: 22,
        },
        publisher_id: id(PublisherId::parse, "b"),
        callback_revision: 21,
        outbox_shards: 8,
        max_rewards_per_user_day: Some(5),
    };
    assert_eq!(second.current(), Some(of_app));
    let of_offer = CurrentOffer {
        revision: 12,
        terms: TermsInForce {
            revision: 11,
            since: 10,
        },
        conversion_cap: Some(9),
        min_seconds_to_convert: Some(6),
    };
    assert_eq!(tracking.offer("o-2").map(|offer| offer.current()), Some(of_offer));
    assert!(tracking.offer("o-3").is_none());

    let goal = tracking.goal("g-1").unwrap();
    assert_eq!((goal.id, goal.offer.id, goal.retired), ("g-1", "o-1", false));
    assert_eq!(goal.offer.target, "https://example.com/o-1?c={click_id}");
    assert_eq!(
        (goal.offer.click_cap, goal.offer.click_id_max, goal.offer.revision),
        (Some(7), None, 12)
    );
    assert!(goal.offer.countries.contains(Country::parse("DE").unwrap()) && goal.offer.includes_countries);
    assert!(!first.blocks(&goal.offer) && first.blocks(&tracking.goal("g-2").unwrap().offer));
    assert!(tracking.goal("g-2").unwrap().retired);
    assert!(tracking.goal("g-3").is_none() && tracking.goal("").is_none());
    assert!(
        !goal.offer.is_live(99_999) && goal.offer.is_live(100_000),
        "it starts at 100 s"
    );
}

#[test]
fn a_row_with_a_missing_reference_is_not_found() {
    let mut source = source();
    source.publishers.remove(0);
    source.offers.remove(0);
    let tracking = Tracking::open(build(1, 0, &source)).unwrap();
    assert!(tracking.app(id(AppId::parse, "00000001")).is_none());
    assert!(tracking.goal("g-1").is_none());
}

/// The planned size, docs/PERFORMANCE.md, "Limits at scale".
#[test]
fn a_snapshot_of_20_000_offers_fits_a_kv_value() {
    let mut source = source();
    source.offers = (0..20_000)
        .map(|n| SourceOffer {
            target: format!("https://example.com/{}", "x".repeat(150)),
            ..offer(&format!("{n:05}"))
        })
        .collect();
    source.goals = (0..60_000)
        .map(|n| SourceGoal {
            id: id(GoalId::parse, &format!("{n:07}")),
            offer_id: id(OfferId::parse, &format!("{:05}", n / 3)),
            retired: false,
        })
        .collect();
    source.apps = (0..5_000)
        .map(|n| source_app(&format!("{n:08}"), app("a", &[])))
        .collect();
    let bytes = build(1, 0, &source);
    assert!(bytes.len() < 10 << 20, "{} bytes", bytes.len());
    let tracking = Tracking::open(bytes).unwrap();
    for n in 0..60_000 {
        assert_eq!(
            tracking.goal(&format!("{n:07}")).unwrap().offer.id,
            format!("{:05}", n / 3)
        );
    }
    assert!((0..5_000).all(|n| tracking.app(AppId::from_number(n).unwrap()).is_some()));
}

proptest! {
    /// A correct checksum does not mean that the columns are valid.
    #[test]
    fn a_snapshot_with_random_columns_never_panics(
        columns in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 16),
    ) {
        let mut columns = columns.into_iter();
        let mut next = || columns.next().unwrap_or_default();
        let columns = TrackingColumns {
            header: next(), publishers: next(), publisher_ids: next(), app_ids: next(), apps: next(),
            app_texts: next(), click_secrets: next(), blocked: next(), advertiser_ids: next(), token_serials: next(), offers: next(),
            offer_ids: next(), targets: next(), goals: next(), goal_ids: next(), goal_index: next(),
        };
        if let Ok(tracking) = Tracking::open(columns.into_value(Kind::Tracking, FORMAT)) {
            for n in 0..8 {
                if let Some(app) = tracking.app_at(n) {
                    let _ = (app.currency(), app.current(), app.blocked_offers().count());
                }
                if let Some(offer) = tracking.offer_at(n) {
                    let _ = offer.is_live(0);
                }
                for advertiser in ["none", "adv"] {
                    let _ = tracking.accepts(&token(advertiser, i64::from(n)));
                }
            }
            let _ = (tracking.goal("g-1"), tracking.app(AppId::from_number(1).unwrap()), tracking.counts());
        }
    }

    #[test]
    fn a_changed_byte_is_detected(at in 0..10_000_usize, bit in 0..8_u8) {
        let mut bytes = build(1, 0, &source());
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        // Two bytes of the envelope are not used.
        prop_assert!(Tracking::open(bytes).is_err() || (6..8).contains(&at));
    }
}

#[test]
fn a_value_without_whole_columns_is_refused() {
    for payload in [crate::model::parts::join(&[b"1"]), Vec::new(), vec![0xFF; 400]] {
        let value = crate::catalog::snapshot::envelope::wrap(Kind::Tracking, FORMAT, &payload);
        assert!(Tracking::open(value).is_err());
    }
}
