//! Tests of the shards: each returns what it was built from, and damaged values do not panic.

use proptest::prelude::*;

use super::{
    advertisers::{self, SourceAdvertiser},
    apps::{self, SourceApp},
    goals::{self, SourceGoal, SourceOffer},
    *,
};
use crate::{
    catalog::app::App,
    conversions::{
        terms::{CurrentApp, CurrentOffer},
        token::{Serial, Token},
    },
    model::{AdvertiserId, AppId, Country, CountrySet, GoalId, OfferId, Platform, PublisherId},
    snapshot::envelope,
};

fn id<T>(parse: impl Fn(&str) -> Option<T>, text: &str) -> T {
    parse(text).unwrap()
}

fn slot(kind: ShardKind) -> Slot {
    Slot::of(kind, 0, 0)
}

fn app(publisher: &str, blocked: &[&str]) -> App {
    let currency = r#"{"name": "Gems", "per_usd": 42.5, "decimals": 2, "rounding": "nearest"}"#;
    let json = format!(
        r#"{{"publisher_id": "{publisher}", "name": "A", "platform": "ios", "currency": {currency},
            "max_rewards_per_user_day": 5}}"#
    );
    let mut app: App = serde_json::from_str(&json).unwrap();
    app.blocked_offers = blocked.iter().map(|offer| id(OfferId::parse, offer)).collect();
    app
}

fn source_app(name: &str, document: App) -> SourceApp {
    SourceApp {
        id: id(AppId::parse, name),
        document,
        revision: 24,
        terms: TermsInForce { revision: 23, since: 22 },
        callback_revision: 21,
        outbox_shards: 8,
        click_secrets: None,
        approved: true,
        pub_key_hash: Some([7; 32]),
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
        terms: TermsInForce { revision: 11, since: 10 },
        target: format!("https://example.com/{name}?c={{click_id}}"),
    }
}

fn goal(name: &str, offer_id: &str, retired: bool) -> SourceGoal {
    SourceGoal { id: id(GoalId::parse, name), retired, offer: offer(offer_id) }
}

fn three_apps() -> Vec<SourceApp> {
    vec![
        SourceApp {
            click_secrets: Some(vec![1, 2, 3]),
            approved: false,
            pub_key_hash: None,
            ..source_app("20000000", App { fallback_url: Some("https://fall.example/".into()), ..app("b", &[]) })
        },
        source_app("00000001", app("a", &["o-2", "not-there"])),
        source_app("30000000", app("c", &["o-1"])),
    ]
}

fn three_goals() -> Vec<SourceGoal> {
    vec![goal("g-2", "o-2", true), goal("g-1", "o-1", false), goal("g-3", "o-1", false)]
}

fn one_advertiser() -> Vec<SourceAdvertiser> {
    vec![SourceAdvertiser {
        id: id(AdvertiserId::parse, "adv"),
        newest_serial: Serial(9),
        valid_serials: vec![Serial(5), Serial(7)],
    }]
}

fn open_apps(apps: Vec<SourceApp>) -> AppShard {
    let slot = slot(ShardKind::Apps);
    AppShard::open(slot, apps::build(slot, apps).bytes).unwrap()
}

fn open_goals(goals: Vec<SourceGoal>) -> GoalShard {
    let slot = slot(ShardKind::Goals);
    GoalShard::open(slot, goals::build(slot, goals).bytes).unwrap()
}

fn open_advertisers() -> AdvertiserShard {
    let slot = slot(ShardKind::Advertisers);
    AdvertiserShard::open(slot, advertisers::build(slot, one_advertiser()).bytes).unwrap()
}

fn token(advertiser: &str, serial: i64) -> Token {
    Token { advertiser: id(AdvertiserId::parse, advertiser), serial: Serial(serial) }
}

#[test]
fn a_token_is_valid_if_it_is_listed_or_newer_than_the_shard() {
    let shard = open_advertisers();
    let valid = |advertiser: &str, as_of_ms| -> Vec<_> {
        let serials = (0..12).filter(|serial| shard.accepts(&token(advertiser, *serial), as_of_ms));
        serials.collect()
    };
    assert_eq!(valid("adv", 1_000), [5, 7, 10, 11], "9 was revoked");
    assert_eq!(valid("newcomer", 1_000), (1..12).collect::<Vec<_>>());
    // Built after a restore from a backup: the shard lacks tokens that were issued after the backup.
    assert_eq!(valid("adv", 11_000), [5, 7, 11]);
    assert_eq!(valid("newcomer", 11_000), [11]);
    assert!(shard.has(&id(AdvertiserId::parse, "adv")) && !shard.has(&id(AdvertiserId::parse, "newcomer")));
}

#[test]
fn apps_are_read_back_as_they_were_built() {
    let shard = open_apps(three_apps());
    let first = shard.app(id(AppId::parse, "00000001")).unwrap();
    assert_eq!((first.publisher.id, first.publisher.approved), ("a", true));
    assert_eq!(first.publisher.pub_key_hash, Some(&[7; 32]));
    assert_eq!((first.platform, first.currency()), (Platform::Ios, app("a", &[]).currency));
    assert_eq!((first.fallback_url, first.click_secrets), (None, None));
    assert_eq!(first.blocked_offers().collect::<Vec<_>>(), ["not-there", "o-2"]);
    let second = shard.app(id(AppId::parse, "20000000")).unwrap();
    assert_eq!(
        (second.publisher.approved, second.publisher.pub_key_hash, second.fallback_url),
        (false, None, Some("https://fall.example/"))
    );
    assert_eq!(second.click_secrets, Some(&[1, 2, 3][..]));
    assert_eq!(second.blocked_offers().count(), 0);
    let third = shard.app(id(AppId::parse, "30000000")).unwrap();
    assert_eq!(third.blocked_offers().collect::<Vec<_>>(), ["o-1"]);
    assert!(shard.app(id(AppId::parse, "00000002")).is_none());
    let of_app = CurrentApp {
        revision: 24,
        terms: TermsInForce { revision: 23, since: 22 },
        publisher_id: id(PublisherId::parse, "b"),
        callback_revision: 21,
        outbox_shards: 8,
        max_rewards_per_user_day: Some(5),
    };
    assert_eq!(second.current(), Some(of_app));
    let goals = open_goals(three_goals());
    let blocked_by =
        |app: &apps::AppView<'_>| ["g-1", "g-2", "g-3"].map(|goal| app.blocks(&goals.goal(goal).unwrap().offer));
    assert_eq!(blocked_by(&first), [false, true, false]);
    assert_eq!(blocked_by(&second), [false; 3]);
    assert_eq!(blocked_by(&third), [true, false, true]);
}

#[test]
fn goals_are_read_back_as_they_were_built_and_an_offer_is_stored_once() {
    let shard = open_goals(three_goals());
    let first = shard.goal("g-1").unwrap();
    assert_eq!((first.id, first.offer.id, first.retired), ("g-1", "o-1", false));
    assert_eq!(first.offer.target, "https://example.com/o-1?c={click_id}");
    assert_eq!((first.offer.click_cap, first.offer.click_id_max, first.offer.revision), (Some(7), None, 12));
    assert!(first.offer.countries.contains(Country::parse("DE").unwrap()) && first.offer.includes_countries);
    let of_offer = CurrentOffer {
        revision: 12,
        terms: TermsInForce { revision: 11, since: 10 },
        conversion_cap: Some(9),
        min_seconds_to_convert: Some(6),
    };
    assert_eq!(first.offer.current(), of_offer);
    let retired = shard.goal("g-2").unwrap();
    assert!(retired.retired && retired.offer.id == "o-2");
    assert_eq!(shard.goal("g-3").unwrap().offer.id, "o-1");
    assert!(shard.goal("g-4").is_none() && shard.goal("").is_none());
    assert!(shard.offer_at(1).is_some() && shard.offer_at(2).is_none());
    assert!(!first.offer.is_live(99_999) && first.offer.is_live(100_000), "it starts at 100 s");
}

#[test]
fn a_shard_opens_only_as_the_slot_for_which_it_was_built() {
    let own = Slot::of(ShardKind::Goals, 3, 0x4000);
    let bytes = || goals::build(own, three_goals()).bytes;
    assert!(GoalShard::open(own, bytes()).is_ok());
    for other in
        [Slot::of(ShardKind::Goals, 3, 0x2000), Slot::of(ShardKind::Goals, 4, 0x4000), Slot::of(ShardKind::Goals, 0, 0)]
    {
        assert_eq!(GoalShard::open(other, bytes()).err(), Some(Damage::Foreign), "{other:?}");
    }
    assert_eq!(AppShard::open(own, bytes()).err(), Some(Damage::Foreign));
}

#[test]
fn a_large_shard_is_split_unless_its_rows_are_few() {
    let long = "x".repeat(2_000);
    let built = |rows: usize, target: &str| {
        let goals = (0..rows).map(|n| SourceGoal {
            offer: SourceOffer { target: target.to_owned(), ..offer(&format!("o-{n}")) },
            ..goal(&format!("g-{n}"), "o", false)
        });
        goals::build(slot(ShardKind::Goals), goals.collect())
    };
    assert!(!built(15, &long.repeat(2)).is_to_split());
    assert!(built(16, &long).is_to_split());
    assert!(!built(100, "https://example.com/").is_to_split());
    assert!(built(300, "https://example.com/").is_to_split());
}

proptest! {
    /// A correct checksum does not mean that the columns are valid.
    #[test]
    fn a_shard_with_random_columns_never_panics(
        columns in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 6),
    ) {
        let value = |kind, slot: Slot, columns: &[Vec<u8>]| {
            let joined = crate::model::parts::join(&[&[slot.to_bytes().to_vec()], columns].concat());
            envelope::wrap(kind, &joined)
        };
        let of_apps = slot(ShardKind::Apps);
        if let Ok(shard) = AppShard::open(of_apps, value(envelope::Kind::Apps, of_apps, &columns[..5])) {
            let goals = open_goals(three_goals());
            for n in 0..8 {
                if let Some(app) = shard.app_at(n) {
                    let _ = (app.currency(), app.current(), app.blocked_offers().take(1_000).count());
                    let _ = app.blocks(&goals.goal("g-1").unwrap().offer);
                }
            }
            let _ = shard.app(AppId::from_number(1).unwrap());
        }
        let of_goals = slot(ShardKind::Goals);
        if let Ok(shard) = GoalShard::open(of_goals, value(envelope::Kind::Goals, of_goals, &columns)) {
            for n in 0..8 {
                if let Some(offer) = shard.offer_at(n) {
                    let _ = offer.is_live(0);
                }
            }
            let _ = shard.goal("g-1");
        }
        let of_advertisers = slot(ShardKind::Advertisers);
        let advertisers = value(envelope::Kind::Advertisers, of_advertisers, &columns[..2]);
        if let Ok(shard) = AdvertiserShard::open(of_advertisers, advertisers) {
            let _ = shard.accepts(&token("adv", 1), 0);
        }
    }

    #[test]
    fn a_changed_byte_is_detected(at in 0..10_000_usize, bit in 0..8_u8) {
        let slot = slot(ShardKind::Goals);
        let mut bytes = goals::build(slot, three_goals()).bytes;
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        // Two bytes of the envelope are not used.
        prop_assert!(GoalShard::open(slot, bytes).is_err() || (6..8).contains(&at));
    }
}

#[test]
fn a_value_without_whole_columns_is_refused() {
    for payload in [crate::model::parts::join(&[b"1"]), Vec::new(), vec![0xFF; 400]] {
        let value = envelope::wrap(envelope::Kind::Goals, &payload);
        assert!(GoalShard::open(slot(ShardKind::Goals), value).is_err());
    }
}
