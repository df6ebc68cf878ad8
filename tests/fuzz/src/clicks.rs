//! Fuzz targets for clicks: a tracking URL's query up to the redirect, and click ids that conversions send back.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use url::Url;
use xxhash_rust::xxh64::xxh64;

use super::world::{APPS, GOALS, KEYS, NOW_MS, NOW_S};
use domain::{
    clicks::{
        decision::{self, Refused, Visitor},
        redirect::{click_kind, redirect},
    },
    model::{AppId, Country, OfferId, Platform},
    tracking::{
        alphabet,
        click::Click,
        click_codec,
        click_id::{self, Nonce, OpenError, Opened, Sealed},
        parameters::ClickParameters,
        signature::SigningKeys,
        target::{self, Macros},
    },
};

static SIGNING_KEYS: LazyLock<SigningKeys> =
    LazyLock::new(|| SigningKeys::parse(b"a-click-secret-of-thirty-two-or-more").unwrap());
const NONCE: Nonce = *b"twelve bytes";
const SHARD: u8 = 5;

/// Input: the query of a tracking URL; country and platform of the user on further lines.
///
/// Accepted parameters keep to docs/SPEC.md, "Click parameters". A refused click gets a documented error. A redirect
/// keeps its offer's scheme, host, port, folder and parameter names, and fits into a header. Its click id opens to the
/// query's values.
pub fn query(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let mut lines = text.split('\n');
    let query = lines.next().unwrap_or_default();
    let visitor = Visitor {
        country: lines.next().and_then(Country::parse),
        platform: lines.next().and_then(Platform::parse),
        now_ms: NOW_MS,
    };
    if let Ok(parameters) = ClickParameters::parse(query) {
        // Nobody can sign by chance.
        let refusal = SIGNING_KEYS.check(query, &parameters, NOW_MS).unwrap_err();
        assert!(matches!(refusal.status, 400 | 403), "{refusal:?}");
        let custom = parameters.custom.iter().map(Option::as_ref);
        assert!(custom.clone().flatten().map(|text| text.len()).sum::<usize>() <= 768);
        let labels = [&parameters.gaid, &parameters.idfa, &parameters.placement].map(Option::as_ref);
        for (texts, longest) in [(vec![Some(&parameters.user_id)], 128), (custom.collect(), 256), (labels.to_vec(), 64)]
        {
            for text in texts.into_iter().flatten() {
                assert!((1..=longest).contains(&text.len()) && alphabet::contains_all(text), "{text}");
            }
        }
    }
    let decided = ClickParameters::parse(query).map_err(Refused::plain);
    let decided = decided.and_then(|parameters| {
        let app = AppId::parse(&parameters.app).and_then(|id| APPS.app(id));
        let goal = GOALS.goal(&parameters.rid);
        decision::decide(parameters, app, goal, visitor)
    });
    match decided {
        Err(refused) => {
            assert!(matches!(refused.refusal.status, 400 | 403 | 404 | 410));
            assert!(serde_json::from_str::<serde_json::Value>(&refused.refusal.body()).is_ok());
            if let Some(url) = refused.fallback_url {
                assert!(is_header_value(url) && matches!(refused.refusal.status, 403 | 410));
            }
        }
        Ok(allowed) => {
            assert!(OfferId::parse(click_kind(&allowed, visitor).offer).is_some());
            let sent = redirect(&allowed, visitor, &KEYS, NONCE);
            check_location(allowed.goal.offer.target, &sent.location);
            let id = sent.sealed.id();
            assert!(id.len() <= click_id::DEFAULT_MAX && sent.location.contains(id) && click_id::is_in_form(id));
            let click = match (&sent.sealed, click_id::open(&KEYS, id).unwrap()) {
                (Sealed::Whole { .. }, Opened::Whole { click, nonce }) => {
                    assert_eq!(nonce, NONCE);
                    click
                }
                (Sealed::Short { record, .. }, Opened::Short { app, shard, nonce }) => {
                    click_id::open_record(&KEYS, record, app, shard, nonce).unwrap()
                }
                (sealed, opened) => panic!("{sealed:?} opened as {opened:?}"),
            };
            let parameters = &allowed.parameters;
            assert_eq!(click.app, allowed.app.id);
            assert_eq!(click.app.to_string(), parameters.app);
            assert_eq!((&click.goal, &click.user_id), (&parameters.rid, &parameters.user_id));
            assert_eq!(click.offer, allowed.goal.offer.id);
            assert_eq!((&click.gaid, &click.idfa), (&parameters.gaid, &parameters.idfa));
            assert_eq!((&click.custom, &click.placement), (&parameters.custom, &parameters.placement));
            assert_eq!((click.country, click.clicked_at_ms), (visitor.country, NOW_MS));
        }
    }
}

/// Whether a text can be the value of a header and is the same URL to every parser.
pub fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !text.contains(['\\', '<', '>', '"'])
}

/// A redirect keeps the shape of its template, whatever values fill it.
pub fn check_location(template: &str, location: &str) {
    assert!(is_header_value(location), "{location}");
    let harmless = Macros {
        click_id: "x",
        goal_id: "x",
        offer_id: "x",
        app_id: "x",
        user_id: "x",
        gaid: "x",
        idfa: "x",
        custom: ["x"; 5],
        country: "x",
    };
    let mut expected = String::new();
    target::fill(template, &harmless, &mut expected);
    assert_eq!(shape(&expected), shape(location), "{template} as {location}");
}

/// Properties of a URL that a value must not change.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    scheme: String,
    host: Option<String>,
    port: Option<u16>,
    /// Segments of the path. A step out of a folder would leave fewer.
    pub segments: usize,
    /// Parameters of the query, and how many of them have a value.
    parameters: (usize, usize),
    has_fragment: bool,
}

pub fn shape(url: &str) -> Shape {
    let url = Url::parse(url).unwrap();
    assert!(url.username().is_empty() && url.password().is_none(), "{url}");
    let query = url.query().unwrap_or_default();
    Shape {
        scheme: url.scheme().to_owned(),
        host: url.host_str().map(str::to_owned),
        port: url.port(),
        segments: url.path().split('/').count(),
        parameters: (query.split('&').count(), query.matches('=').count()),
        has_fragment: url.fragment().is_some(),
    }
}

/// Input: a returned click id. The bytes also damage a sealed id, and are read as a record and as an encoded click.
///
/// Only a sealed id opens, and only in one spelling.
pub fn id(input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        opens_only_as_sealed(text);
    }
    let app = AppId::from_number(10_000_001).unwrap();
    for click in [plain(app), long(app)] {
        let sealed = click_id::seal(&KEYS, &click, NONCE, click_id::DEFAULT_MAX);
        let valid = URL_SAFE_NO_PAD.decode(sealed.id()).unwrap();
        let mut damaged = valid.clone();
        for change in input.chunks_exact(3).take(16) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % damaged.len();
            damaged[at] ^= change[2];
        }
        damaged.truncate(damaged.len() - input.len() % 3 * usize::from(input.len() > 24));
        for repaired in [damaged.clone(), with_check_bytes(damaged)] {
            let opened = click_id::open(&KEYS, &URL_SAFE_NO_PAD.encode(&repaired));
            assert_eq!(opened.is_ok(), repaired == valid, "{opened:?}");
        }
        if let Sealed::Short { record, .. } = &sealed {
            assert_eq!(click_id::open_record(&KEYS, record, app, SHARD, NONCE).as_ref(), Ok(&click));
            let other = AppId::from_number(10_000_002).unwrap();
            assert_eq!(click_id::open_record(&KEYS, record, other, SHARD, NONCE), Err(OpenError::Forged));
            let mut record = record.clone();
            let length = record.len();
            for change in input.chunks_exact(3).take(16) {
                record[usize::from(u16::from_le_bytes([change[0], change[1]])) % length] ^= change[2];
            }
            if let Ok(opened) = click_id::open_record(&KEYS, &with_check_bytes(record), app, SHARD, NONCE) {
                assert_eq!(opened, click);
            }
        }
    }
    if let Ok(click) = click_id::open_record(&KEYS, input, app, SHARD, NONCE) {
        let again = click_id::seal(&KEYS, &click, NONCE, click_id::SHORT_MAX);
        assert!(matches!(again, Sealed::Short { record, .. } if record == input));
    }
    if let Some(click) = click_codec::unpack(app, SHARD, input) {
        let mut packed = Vec::new();
        click_codec::pack(&click, &mut packed);
        assert_eq!(packed, input);
    }
}

fn opens_only_as_sealed(text: &str) {
    let opened = click_id::open(&KEYS, text);
    assert_eq!(click_id::is_in_form(text), opened != Err(OpenError::Malformed), "{text}");
    match opened {
        Ok(Opened::Whole { click, nonce }) => {
            let again = click_id::seal(&KEYS, &click, nonce, click_id::MAX_LENGTH);
            assert_eq!(again.id(), text);
        }
        Ok(Opened::Short { app, shard, nonce }) => {
            let click = Click { shard, ..long(app) };
            let again = click_id::seal(&KEYS, &click, nonce, click_id::SHORT_MAX);
            assert_eq!(again.id(), text);
        }
        Err(_) => {}
    }
}

/// A click whose id is sealed.
fn plain(app: AppId) -> Click<'static> {
    Click {
        offer: "23817".into(),
        goal: "410271".into(),
        app,
        shard: SHARD,
        offer_terms: NOW_S,
        app_terms: NOW_S - 90_000_000,
        user_id: "demo-user-1".into(),
        gaid: Some("38400000-8cf0-11bd-b23e-10b96e40000d".into()),
        idfa: None,
        custom: [Some("level-7".into()), None, None, None, Some("x".into())],
        placement: Some("rewarded_level_end".into()),
        country: Country::parse("DE"),
        clicked_at_ms: NOW_MS,
    }
}

/// A click that is too long for a sealed id and gets a short one.
fn long(app: AppId) -> Click<'static> {
    let custom = std::array::from_fn(|index| Some(index.to_string().repeat(128).into()));
    Click { custom, ..plain(app) }
}

/// Appends valid check bytes, so that only the seal can refuse the id.
fn with_check_bytes(mut bytes: Vec<u8>) -> Vec<u8> {
    let readable = [&bytes[..7], &bytes[9..21]].concat();
    let [.., high, low] = xxh64(&readable, u64::try_from(bytes.len()).unwrap()).to_be_bytes();
    (bytes[7], bytes[8]) = (high, low);
    bytes
}

/// Named valid inputs, from which the corpus is made.
pub fn valid_inputs() -> Vec<(String, Vec<u8>)> {
    let app = AppId::from_number(10_000_001).unwrap();
    let without_more = Click { gaid: None, custom: [const { None }; 5], placement: None, country: None, ..plain(app) };
    let of_other_shapes = Click {
        offer: "glyph-garden".into(),
        goal: "0042".into(),
        user_id: "30356439-8D15-4F47-B133-010A37C19EBD".into(),
        idfa: Some("6D92078A-8246-4BA4-AE5B-76104861E7DC".into()),
        gaid: Some("00000000-0000-0000-0000-000000000000".into()),
        placement: Some("Startseite/Größe".into()),
        clicked_at_ms: 0,
        offer_terms: 0,
        ..plain(app)
    };
    let clicks = [
        ("plain", plain(app)),
        ("too-long-for-its-offer", long(app)),
        ("no-more-than-it-must", without_more),
        ("uuids-and-utf-8", of_other_shapes),
    ];
    let mut found = Vec::new();
    for (name, click) in clicks {
        for (max, length) in [(click_id::MAX_LENGTH, "whole"), (click_id::SHORT_MAX, "short")] {
            let sealed = click_id::seal(&KEYS, &click, NONCE, max);
            found.push((format!("{length}-id-of-{name}"), sealed.id().into()));
            if let Sealed::Short { record, .. } = sealed {
                found.push((format!("record-of-{name}"), record));
            }
        }
        let mut packed = Vec::new();
        click_codec::pack(&click, &mut packed);
        found.push((format!("packing-of-{name}"), packed));
    }
    found
}
