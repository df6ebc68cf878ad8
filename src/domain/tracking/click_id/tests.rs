use proptest::prelude::*;

use super::*;
use crate::{model::Country, tracking::click::strategies};

const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const B: &str = "f0e0d0c0b0a090807060504030201000f0e0d0c0b0a090807060504030201000";
const C: &str = "5555555555555555555555555555555555555555555555555555555555555555";
const NONCE: Nonce = *b"twelve bytes";
const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn ring(list: &str) -> KeyRing {
    KeyRing::parse(
        &list
            .replace(":A", &format!(":{A}"))
            .replace(":B", &format!(":{B}"))
            .replace(":C", &format!(":{C}")),
    )
    .unwrap()
}

/// A click with every parameter that a tracking URL can have. All custom parameters have the value `custom`.
fn full_click(custom: &str) -> Click<'_> {
    Click {
        offer: "60118".into(),
        goal: "60118-first-box".into(),
        app: AppId::parse("00000042").unwrap(),
        user_id: "9b2f7c1e-3c1d-4f0e-8a57-0d9f6f1f2a3b".into(),
        gaid: Some("38400000-8cf0-11bd-b23e-10b96e40000d".into()),
        idfa: Some("6D92078A-8246-4BA4-AE5B-76104861E7DC".into()),
        custom: std::array::from_fn(|_| Some(custom.into())),
        placement: Some("home.top".into()),
        country: Country::parse("DE"),
        clicked_at_ms: 1_790_000_000_123,
    }
}

fn open_click(keys: &KeyRing, id: &str) -> Result<Click<'static>, OpenError> {
    match open(keys, id)? {
        Opened::Whole { click, nonce } => {
            assert_eq!(nonce, NONCE);
            Ok(click)
        }
        Opened::Short { .. } => panic!("{id} is short"),
    }
}

#[test]
fn a_click_id_opens_to_exactly_the_sealed_click() {
    let keys = ring("1:seal:A");
    let click = full_click("sub-1");
    let Sealed::Whole { id } = seal(&keys, &click, NONCE, DEFAULT_MAX) else {
        panic!("does not fit")
    };
    assert_eq!(open_click(&keys, &id), Ok(click.into_owned()));
}

#[test]
fn a_full_click_fits_255_characters_with_sixteen_in_each_custom_parameter() {
    let keys = ring("1:seal:A");
    for (custom, fits) in [
        ("sub-1", true),
        ("sub_1234567890.x", true),
        ("sub_1234567890.xy", false),
    ] {
        let sealed = seal(&keys, &full_click(custom), NONCE, DEFAULT_MAX);
        assert_eq!(
            matches!(sealed, Sealed::Whole { .. }),
            fits,
            "{custom}: {}",
            sealed.id().len()
        );
    }
}

#[test]
fn a_click_that_does_not_fit_gets_a_short_id_and_a_record() {
    let keys = ring("1:seal:A");
    let long = "x".repeat(128);
    let click = full_click(&long);
    let Sealed::Short { id, record } = seal(&keys, &click, NONCE, SHORT_MAX) else {
        panic!("not short")
    };
    assert_eq!(id.len(), 48);
    assert_eq!(
        open(&keys, &id),
        Ok(Opened::Short {
            app: click.app,
            nonce: NONCE
        })
    );
    assert_eq!(
        open_record(&keys, &record, click.app, NONCE),
        Ok(click.clone().into_owned())
    );

    let (other_app, other_nonce) = (AppId::parse("00000043").unwrap(), *b"Twelve bytes");
    assert_eq!(
        open_record(&keys, &record, other_app, NONCE),
        Err(OpenError::Forged)
    );
    assert_eq!(
        open_record(&keys, &record, click.app, other_nonce),
        Err(OpenError::Forged)
    );
    let short = URL_SAFE_NO_PAD.decode(&id).unwrap();
    assert_eq!(
        open_record(&keys, &short, click.app, NONCE),
        Err(OpenError::Malformed)
    );
    for place in 0..record.len() {
        let mut changed = record.clone();
        changed[place] ^= 1;
        assert!(
            open_record(&keys, &changed, click.app, NONCE).is_err(),
            "byte {place}"
        );
    }
}

#[test]
fn the_longest_possible_click_is_sealed_and_opened() {
    let keys = ring("1:seal:A");
    let (id, identifier) = ("-".repeat(64), "_".repeat(128));
    let click = Click {
        offer: id.as_str().into(),
        goal: id.as_str().into(),
        user_id: identifier.as_str().into(),
        gaid: Some(id.as_str().into()),
        idfa: Some(id.as_str().into()),
        placement: Some(id.as_str().into()),
        ..full_click(&identifier)
    };
    let Sealed::Short { record, .. } = seal(&keys, &click, NONCE, LONGEST) else {
        panic!("not short")
    };
    assert!(record.len() < 1_024, "{}", record.len());
    assert_eq!(
        open_record(&keys, &record, click.app, NONCE),
        Ok(click.clone().into_owned())
    );
}

/// Uses ids that were sealed with other libraries: click ids in circulation must always open.
#[test]
fn the_format_never_changes_between_releases() {
    let keys = ring("1:seal:A");
    assert_eq!(
        seal(&keys, &full_click("sub-1"), NONCE, DEFAULT_MAX).id(),
        KNOWN_WHOLE
    );
    assert_eq!(
        seal(&keys, &full_click("sub-1"), NONCE, SHORT_MAX).id(),
        KNOWN_SHORT
    );
}

const KNOWN_WHOLE: &str = "AQEAAAAqmnR0d2VsdmUgYnl0ZXP7WjflzlgP_YeLK7nd7d65CafCxfUiFKn7YRKyso1wdWwj09r4V7Ppu163AKoLxPH2mB3ecnwcOZ0Cnj8CG0qsHG_2xiSKFsKOlvBljJlMJ6RwfKFzHPIecxLaripbnMz0ddpBmzueE2WPoWikljX_rBGdxn8EVza5uUF15DE";
const KNOWN_SHORT: &str = "AgEAAAAqUkV0d2VsdmUgYnl0ZXOU432ZH_zKMS_KC_cNLT68";

#[test]
fn a_click_id_with_any_changed_character_is_refused() {
    let keys = ring("1:seal:A,2:open:B");
    for max in [DEFAULT_MAX, SHORT_MAX] {
        let id = seal(&keys, &full_click("sub-1"), NONCE, max).id().to_owned();
        for place in 0..id.len() {
            for character in BASE64URL.chars().chain("=+/. %\0é".chars()) {
                let changed: String = id
                    .chars()
                    .enumerate()
                    .map(|(at, kept)| if at == place { character } else { kept })
                    .collect();
                if changed != id {
                    assert!(open(&keys, &changed).is_err(), "{changed}");
                }
            }
            assert!(open(&keys, id.split_at(place).0).is_err(), "cut at {place}");
        }
        for tail in ["A", "AA", "=", "==", " ", "\n"] {
            assert_eq!(
                open(&keys, &format!("{id}{tail}")),
                Err(OpenError::Malformed),
                "{tail:?}"
            );
        }
    }
}

#[test]
fn the_last_character_has_one_spelling() {
    let keys = ring("1:seal:A");
    // If the length is not a multiple of four, the last character has unused bits.
    let custom = (1..10).map(|length| "x".repeat(length));
    let partial = custom.filter_map(
        |custom| match seal(&keys, &full_click(&custom), NONCE, DEFAULT_MAX) {
            Sealed::Whole { id } if id.len() % 4 != 0 => Some(id),
            _ => None,
        },
    );
    let mut seen = 0;
    for id in partial {
        let (start, last) = id.split_at(id.len() - 1);
        let spellings = BASE64URL
            .chars()
            .filter(|c| open(&keys, &format!("{start}{c}")).is_ok());
        assert_eq!(spellings.collect::<String>(), last);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn a_click_id_opens_through_two_rotations_until_its_key_is_retired() {
    let first = ring("1:seal:A");
    let click = full_click("sub-1");
    let whole = seal(&first, &click, NONCE, DEFAULT_MAX);
    let short = seal(&first, &click, NONCE, SHORT_MAX);
    let Sealed::Short { record, .. } = &short else {
        panic!("not short")
    };
    let rotations = [
        "1:seal:A,2:open:B",
        "2:seal:B,1:open:A",
        "1:open:A,2:seal:B,3:open:C",
        "3:seal:C,2:open:B,1:open:A",
    ];
    for list in rotations {
        let keys = ring(list);
        assert_eq!(
            open_click(&keys, whole.id()),
            Ok(click.clone().into_owned()),
            "{list}"
        );
        assert_eq!(
            open(&keys, short.id()),
            Ok(Opened::Short {
                app: click.app,
                nonce: NONCE
            }),
            "{list}"
        );
        assert_eq!(
            open_record(&keys, record, click.app, NONCE),
            Ok(click.clone().into_owned()),
            "{list}"
        );
    }
    let retired = ring("3:seal:C,2:open:B");
    assert_eq!(open(&retired, whole.id()), Err(OpenError::UnknownKey));
    assert_eq!(open(&retired, short.id()), Err(OpenError::UnknownKey));
    assert_eq!(
        open_record(&retired, record, click.app, NONCE),
        Err(OpenError::UnknownKey)
    );
    let not_deployed_yet = seal(&retired, &click, NONCE, DEFAULT_MAX);
    assert_eq!(open(&first, not_deployed_yet.id()), Err(OpenError::UnknownKey));
}

#[test]
fn an_id_under_an_unknown_key_is_distinguished_from_garbage() {
    let sealed = seal(&ring("1:seal:A"), &full_click("sub-1"), NONCE, DEFAULT_MAX);
    let other = ring("2:seal:B");
    let garbage = [
        "",
        "A",
        "click",
        &"A".repeat(48),
        &"A".repeat(180),
        &"A".repeat(1_001),
        "dHdlbHZlIGJ5dGVz",
        "{click_id}",
    ];
    for text in garbage {
        assert_eq!(open(&other, text), Err(OpenError::Malformed), "{text}");
    }
    let id = sealed.id();
    for cut in 1..id.len() {
        assert_eq!(
            open(&other, id.split_at(cut).0),
            Err(OpenError::Malformed),
            "cut at {cut}"
        );
    }
    // The check bytes cover every readable byte.
    let mut bytes = URL_SAFE_NO_PAD.decode(id).unwrap();
    for place in 0..PREFIX_LEN {
        bytes[place] ^= 0x10;
        assert_eq!(
            open(&other, &URL_SAFE_NO_PAD.encode(&bytes)),
            Err(OpenError::Malformed),
            "byte {place}"
        );
        bytes[place] ^= 0x10;
    }
}

#[test]
fn an_id_with_an_altered_header_and_valid_check_bytes_is_forged() {
    let keys = ring("1:seal:A,2:open:B,3:open:A");
    let app = AppId::parse("00000042").unwrap();
    let honest = Header {
        version: WHOLE,
        key_id: 1,
        app,
        nonce: NONCE,
    };
    let relabelled = [
        ("another key", Header { key_id: 2, ..honest }),
        ("the same key by another id", Header { key_id: 3, ..honest }),
        (
            "another app",
            Header {
                app: AppId::parse("00000043").unwrap(),
                ..honest
            },
        ),
        (
            "another nonce",
            Header {
                nonce: *b"Twelve bytes",
                ..honest
            },
        ),
    ];
    for (max, version) in [(DEFAULT_MAX, WHOLE), (SHORT_MAX, SHORT)] {
        let bytes = URL_SAFE_NO_PAD
            .decode(seal(&keys, &full_click("sub-1"), NONCE, max).id())
            .unwrap();
        let with = |header: Header| {
            let prefix = Header { version, ..header }.prefix(bytes.len());
            open(
                &keys,
                &URL_SAFE_NO_PAD.encode([&prefix[..], &bytes[PREFIX_LEN..]].concat()),
            )
        };
        assert!(with(honest).is_ok());
        for (what, header) in relabelled {
            assert_eq!(with(header), Err(OpenError::Forged), "{what}, version {version}");
        }
    }
}

#[test]
fn a_whole_id_does_not_pass_as_a_short_one_or_the_reverse() {
    let keys = ring("1:seal:A");
    let app = AppId::parse("00000042").unwrap();
    let whole = URL_SAFE_NO_PAD
        .decode(seal(&keys, &full_click("sub-1"), NONCE, DEFAULT_MAX).id())
        .unwrap();
    let short = URL_SAFE_NO_PAD
        .decode(seal(&keys, &full_click("sub-1"), NONCE, SHORT_MAX).id())
        .unwrap();
    let relabelled = |version, rest: &[u8]| {
        let prefix = Header {
            version,
            key_id: 1,
            app,
            nonce: NONCE,
        }
        .prefix(PREFIX_LEN + rest.len());
        open(&keys, &URL_SAFE_NO_PAD.encode([&prefix, rest].concat()))
    };
    assert_eq!(relabelled(SHORT, &whole[PREFIX_LEN..]), Err(OpenError::Malformed));
    assert_eq!(
        relabelled(SHORT, &whole[PREFIX_LEN..SHORT_LEN]),
        Err(OpenError::Forged)
    );
    assert_eq!(relabelled(WHOLE, &short[PREFIX_LEN..]), Err(OpenError::Malformed));
    assert_eq!(
        relabelled(WHOLE, &[&[0], &short[PREFIX_LEN..]].concat()),
        Err(OpenError::Forged)
    );
    for version in [0, 3, 255] {
        assert_eq!(
            relabelled(version, &whole[PREFIX_LEN..]),
            Err(OpenError::Malformed),
            "version {version}"
        );
    }
}

#[test]
fn a_nonce_source_never_repeats_and_ends() {
    let mut nonces = NonceSource::new(*b"eight by");
    assert_eq!(nonces.next(), Some(*b"eight by\0\0\0\0"));
    assert_eq!(nonces.next(), Some(*b"eight by\0\0\0\x01"));
    nonces.next = Some(u32::MAX);
    assert_eq!(nonces.next(), Some(*b"eight by\xff\xff\xff\xff"));
    assert_eq!((nonces.next(), nonces.next()), (None, None));
}

proptest! {
    #[test]
    fn any_click_is_sealed_within_the_limit_and_opens_unchanged(
        click in strategies::click(),
        nonce: Nonce,
        max in SHORT_MAX..=LONGEST,
    ) {
        let keys = ring("9:open:A,200:seal:B");
        let sealed = seal(&keys, &click, nonce, max);
        prop_assert!(sealed.id().len() <= max);
        match (open(&keys, sealed.id()), &sealed) {
            (Ok(Opened::Whole { click: opened, nonce: same }), Sealed::Whole { .. }) => {
                prop_assert_eq!((opened, same), (click, nonce));
            }
            (Ok(Opened::Short { app, nonce: same }), Sealed::Short { record, .. }) => {
                prop_assert_eq!((app, same), (click.app, nonce));
                prop_assert!(URL_SAFE_NO_PAD.encode(record).len() > max);
                prop_assert_eq!(open_record(&keys, record, app, nonce), Ok(click));
            }
            unlike => prop_assert!(false, "{unlike:?}"),
        }
    }

    #[test]
    fn a_text_that_was_not_sealed_never_opens(text in "[A-Za-z0-9_-]{0,200}") {
        prop_assert!(open(&ring("1:seal:A"), &text).is_err());
    }
}

proptest! {
    #[test]
    fn a_text_is_in_form_exactly_if_it_does_not_open_as_malformed(
        click in strategies::click(),
        short: bool,
        cut in proptest::option::of(0..400_usize),
        noise in "[A-Za-z0-9_=-]{0,100}",
    ) {
        let keys = ring("1:seal:A");
        let max = if short { SHORT_MAX } else { LONGEST };
        let id = seal(&keys, &click, NONCE, max).id().to_owned();
        prop_assert!(is_in_form(&id));
        let cut = cut.map_or(id.clone(), |cut| id.chars().take(cut).collect());
        for text in [cut, noise.clone(), format!("{id}{noise}")] {
            let malformed = matches!(open(&keys, &text), Err(OpenError::Malformed));
            prop_assert_eq!(is_in_form(&text), !malformed, "{}", text);
        }
    }
}
