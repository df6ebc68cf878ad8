use proptest::prelude::*;

use super::{
    OpenError::{Forged, Malformed, UnknownKey},
    *,
};
use crate::{model::Country, tracking::click::strategies};

const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const B: &str = "f0e0d0c0b0a090807060504030201000f0e0d0c0b0a090807060504030201000";
const C: &str = "5555555555555555555555555555555555555555555555555555555555555555";
pub(super) const NONCE: Nonce = *b"twelve bytes";
const OTHER_NONCE: Nonce = *b"Twelve bytes";
const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(super) fn ring(list: &str) -> KeyRing {
    let keys = [(":A", A), (":B", B), (":C", C)];
    let fill = |list: String, (name, key): (&str, &str)| list.replace(name, &format!(":{key}"));
    KeyRing::parse(&keys.into_iter().fold(list.to_owned(), fill)).unwrap()
}

/// A click with every parameter that a tracking URL can have. All custom parameters have the value `custom`.
pub(super) fn full_click(custom: &str) -> Click<'_> {
    Click {
        goal: "60118-first-box".into(),
        gaid: Some("38400000-8cf0-11bd-b23e-10b96e40000d".into()),
        idfa: Some("6D92078A-8246-4BA4-AE5B-76104861E7DC".into()),
        custom: std::array::from_fn(|_| Some(custom.into())),
        placement: Some("home.top".into()),
        country: Country::parse("DE"),
        ..Click::sample("9b2f7c1e-3c1d-4f0e-8a57-0d9f6f1f2a3b", 1_790_000_000_123)
    }
}

fn seal_full(keys: &KeyRing, max: usize) -> Sealed {
    seal(keys, &full_click("sub-1"), NONCE, max)
}

pub(super) fn seal_short(keys: &KeyRing, click: &Click<'_>, max: usize) -> (String, Vec<u8>) {
    match seal(keys, click, NONCE, max) {
        Sealed::Short { id, record } => (id, record),
        Sealed::Whole { id } => panic!("{id} is not short"),
    }
}

/// The content of a click's whole id.
fn whole(click: &Click<'_>) -> Opened {
    Opened::Whole { click: click.clone().into_owned(), nonce: NONCE }
}

/// The content of a click's short id.
fn short(click: &Click<'_>) -> Opened {
    Opened::Short { app: click.app, shard: click.shard, nonce: NONCE }
}

#[test]
fn a_click_id_opens_to_exactly_the_sealed_click() {
    let keys = ring("1:seal:A");
    let id = seal_full(&keys, DEFAULT_MAX).id().to_owned();
    assert_eq!(open(&keys, &id), Ok(whole(&full_click("sub-1"))));
}

#[test]
fn the_longest_usual_click_fits_255_characters() {
    let keys = ring("1:seal:A");
    let full = full_click;
    // A device has one advertising id.
    let usual = |custom| Click { idfa: None, ..full_click(custom) };
    for (click, fits) in [
        (full("sub-1"), true),
        (full("sub_123456789"), true),
        (full("sub_1234567890"), false),
        (usual("sub_1234567890.xy"), true),
        (usual("sub_1234567890.xyz"), false),
    ] {
        let sealed = seal(&keys, &click, NONCE, DEFAULT_MAX);
        let is_whole = matches!(sealed, Sealed::Whole { .. });
        assert_eq!(is_whole, fits, "{:?}: {}", click.custom, sealed.id().len());
    }
}

#[test]
fn the_longest_custom_parameters_make_a_short_id_unless_the_offer_takes_the_longest() {
    let keys = ring("1:seal:A");
    let long = "x".repeat(256);
    let mut click = full_click(&long);
    click.idfa = None;
    click.custom = [Some(&long), Some(&long), Some(&long), None, None].map(|text| text.map(|text| text.into()));
    let (id, record) = seal_short(&keys, &click, DEFAULT_MAX);
    assert!(id.len() <= SHORT_MAX);
    let opened = open_record(&keys, &record, click.app, click.shard, NONCE);
    assert_eq!(opened, Ok(click.clone().into_owned()));
    match seal(&keys, &click, NONCE, MAX_LENGTH) {
        Sealed::Whole { id } => assert_eq!(open(&keys, &id), Ok(whole(&click))),
        Sealed::Short { .. } => panic!("it does not fit {MAX_LENGTH} characters"),
    }
}

#[test]
fn a_click_that_does_not_fit_gets_a_short_id_and_a_record() {
    let keys = ring("1:seal:A");
    let long = "x".repeat(128);
    let click = full_click(&long);
    let (id, record) = seal_short(&keys, &click, SHORT_MAX);
    assert_eq!(id.len(), SHORT_MAX);
    assert_eq!(open(&keys, &id), Ok(short(&click)));

    let other_app = AppId::from_number(43).unwrap();
    let not_a_record = URL_SAFE_NO_PAD.decode(&id).unwrap();
    for (record, app, shard, nonce, expected) in [
        (&record, click.app, click.shard, NONCE, Ok(click.clone().into_owned())),
        (&record, other_app, click.shard, NONCE, Err(Forged)),
        (&record, click.app, click.shard + 1, NONCE, Err(Forged)),
        (&record, click.app, click.shard, OTHER_NONCE, Err(Forged)),
        (&not_a_record, click.app, click.shard, NONCE, Err(Malformed)),
    ] {
        let opened = open_record(&keys, record, app, shard, nonce);
        assert_eq!(opened, expected, "{app:?} {shard} {nonce:?} {record:?}");
    }
    for place in 0..record.len() {
        let mut changed = record.clone();
        changed[place] ^= 1;
        let opened = open_record(&keys, &changed, click.app, click.shard, NONCE);
        assert!(opened.is_err(), "byte {place}");
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
    let (_, record) = seal_short(&keys, &click, MAX_LENGTH);
    assert!(record.len() < 1_024, "{}", record.len());
    let opened = open_record(&keys, &record, click.app, click.shard, NONCE);
    assert_eq!(opened, Ok(click.into_owned()));
}

/// Uses ids that were sealed with other libraries: click ids in circulation must always open.
#[test]
fn the_format_never_changes_between_releases() {
    let keys = ring("1:seal:A");
    for (max, known) in [(DEFAULT_MAX, KNOWN_WHOLE), (SHORT_MAX, KNOWN_SHORT)] {
        assert_eq!(seal_full(&keys, max).id(), known);
    }
}

const KNOWN_WHOLE: &str = "AQEAAAAqBeWtdHdlbHZlIGJ5dGVz-1o35c5YD_2HSX3d1H7tuIDZKJ0MMK-BPCIupGfwTck-U93LgCYyurk7gorFRlueZUI3Y_gCDIB_so-PsUjIEvitsICBSd-zFFzXyfQ-IrK-BhRzTB_59EzP2aXAZEHP_5_lnJgwcWJvLHisd6jhZ3BPH9lFPk3SIZp-AV_GahQgP44Cx20";
const KNOWN_SHORT: &str = "AgEAAAAqBfgTdHdlbHZlIGJ5dGVzTMNlj_5_r2jh7V8AZZbeiA";

#[test]
fn a_click_id_with_any_changed_character_is_refused() {
    let keys = ring("1:seal:A,2:open:B");
    for max in [DEFAULT_MAX, SHORT_MAX] {
        let id = seal_full(&keys, max).id().to_owned();
        for place in 0..id.len() {
            for character in BASE64URL.chars().chain("=+/. %\0é".chars()) {
                let changed: String =
                    id.chars().enumerate().map(|(at, kept)| if at == place { character } else { kept }).collect();
                if changed != id {
                    assert!(open(&keys, &changed).is_err(), "{changed}");
                }
            }
            assert!(open(&keys, id.split_at(place).0).is_err(), "cut at {place}");
        }
        for tail in ["A", "AA", "=", "==", " ", "\n"] {
            let longer = format!("{id}{tail}");
            assert_eq!(open(&keys, &longer), Err(Malformed), "{longer:?}");
        }
    }
}

#[test]
fn the_last_character_has_one_spelling() {
    let keys = ring("1:seal:A");
    let sealed = (1..10).map(|length| seal(&keys, &full_click(&"x".repeat(length)), NONCE, DEFAULT_MAX));
    // If the length is not a multiple of four, the last character has unused bits.
    let partial: Vec<_> = sealed.filter(|sealed| sealed.id().len() % 4 != 0).collect();
    assert!(!partial.is_empty());
    for sealed in partial {
        let (start, last) = sealed.id().split_at(sealed.id().len() - 1);
        let spellings = BASE64URL.chars().filter(|c| open(&keys, &format!("{start}{c}")).is_ok());
        assert_eq!(spellings.collect::<String>(), last, "{start}");
    }
}

#[test]
fn a_click_id_opens_through_two_rotations_until_its_key_is_retired() {
    let first = ring("1:seal:A");
    let click = full_click("sub-1");
    let sealed = seal_full(&first, DEFAULT_MAX);
    let (short_id, record) = seal_short(&first, &click, SHORT_MAX);
    let opened = |keys: &KeyRing| {
        (open(keys, sealed.id()), open(keys, &short_id), open_record(keys, &record, click.app, click.shard, NONCE))
    };
    for list in ["1:seal:A,2:open:B", "2:seal:B,1:open:A", "1:open:A,2:seal:B,3:open:C", "3:seal:C,2:open:B,1:open:A"] {
        let expected = (Ok(whole(&click)), Ok(short(&click)), Ok(full_click("sub-1")));
        assert_eq!(opened(&ring(list)), expected, "{list}");
    }
    let retired = ring("3:seal:C,2:open:B");
    let unknown = (Err(UnknownKey), Err(UnknownKey), Err(UnknownKey));
    assert_eq!(opened(&retired), unknown);
    let not_deployed_yet = seal_full(&retired, DEFAULT_MAX);
    assert_eq!(open(&first, not_deployed_yet.id()), Err(UnknownKey));
}

#[test]
fn an_id_under_an_unknown_key_is_distinguished_from_garbage() {
    let sealed = seal_full(&ring("1:seal:A"), DEFAULT_MAX);
    let other = ring("2:seal:B");
    let garbage =
        ["", "A", "click", &"A".repeat(48), &"A".repeat(180), &"A".repeat(1_001), "dHdlbHZlIGJ5dGVz", "{click_id}"];
    for text in garbage {
        assert_eq!(open(&other, text), Err(Malformed), "{text}");
    }
    let id = sealed.id();
    for cut in 1..id.len() {
        assert_eq!(open(&other, id.split_at(cut).0), Err(Malformed), "cut at {cut}");
    }
    // The check bytes cover every readable byte.
    let bytes = URL_SAFE_NO_PAD.decode(id).unwrap();
    for place in 0..PREFIX_LEN {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        let changed = URL_SAFE_NO_PAD.encode(&changed);
        assert_eq!(open(&other, &changed), Err(Malformed), "byte {place}");
    }
}

/// Opens a header, with valid check bytes, and the bytes after the prefix.
fn open_parts(keys: &KeyRing, header: &Header, rest: &[u8]) -> Result<Opened, OpenError> {
    let prefix = header.prefix(PREFIX_LEN + rest.len());
    open(keys, &URL_SAFE_NO_PAD.encode([&prefix, rest].concat()))
}

/// A full click's id from [`seal_full`], in bytes, without the prefix.
fn after_prefix(keys: &KeyRing, max: usize) -> Vec<u8> {
    let bytes = URL_SAFE_NO_PAD.decode(seal_full(keys, max).id()).unwrap();
    bytes[PREFIX_LEN..].to_vec()
}

/// The header of [`seal_full`] under key 1.
fn honest_header(version: u8) -> Header {
    Header { version, key_id: 1, app: full_click("").app, shard: full_click("").shard, nonce: NONCE }
}

#[test]
fn an_id_with_an_altered_header_and_valid_check_bytes_is_forged() {
    let keys = ring("1:seal:A,2:open:B,3:open:A");
    let (app, nonce) = (AppId::from_number(43).unwrap(), OTHER_NONCE);
    for (max, version) in [(DEFAULT_MAX, WHOLE), (SHORT_MAX, SHORT)] {
        let rest = after_prefix(&keys, max);
        let honest = honest_header(version);
        assert!(open_parts(&keys, &honest, &rest).is_ok());
        for (change, header) in [
            ("another key", Header { key_id: 2, ..honest }),
            ("the same key by another id", Header { key_id: 3, ..honest }),
            ("another app", Header { app, ..honest }),
            ("another shard", Header { shard: 6, ..honest }),
            ("another nonce", Header { nonce, ..honest }),
        ] {
            let opened = open_parts(&keys, &header, &rest);
            assert_eq!(opened, Err(Forged), "{change}, version {version}");
        }
    }
}

#[test]
fn a_whole_id_does_not_pass_as_a_short_one_or_the_reverse() {
    let keys = ring("1:seal:A");
    let (whole, short) = (after_prefix(&keys, DEFAULT_MAX), after_prefix(&keys, SHORT_MAX));
    let padded_short = [&[0][..], &short].concat();
    for (version, rest, error) in [
        (SHORT, &whole[..], Malformed),
        (SHORT, &whole[..TAG_LEN], Forged),
        (WHOLE, &short, Malformed),
        (WHOLE, &padded_short, Forged),
        (0, &whole, UnknownKey),
        (3, &whole, UnknownKey),
        (255, &whole, UnknownKey),
    ] {
        let opened = open_parts(&keys, &honest_header(version), rest);
        assert_eq!(opened, Err(error), "version {version}, {} bytes", rest.len());
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
        max in SHORT_MAX..=MAX_LENGTH,
    ) {
        let keys = ring("9:open:A,200:seal:B");
        let sealed = seal(&keys, &click, nonce, max);
        prop_assert!(sealed.id().len() <= max);
        match (open(&keys, sealed.id()), &sealed) {
            (Ok(Opened::Whole { click: opened, nonce: same }), Sealed::Whole { .. }) => {
                prop_assert_eq!((opened, same), (click, nonce));
            }
            (Ok(Opened::Short { app, shard, nonce: same }), Sealed::Short { record, .. }) => {
                prop_assert_eq!((app, shard, same), (click.app, click.shard, nonce));
                prop_assert!(URL_SAFE_NO_PAD.encode(record).len() > max);
                prop_assert_eq!(open_record(&keys, record, app, shard, nonce), Ok(click));
            }
            unlike => prop_assert!(false, "{unlike:?}"),
        }
    }

    #[test]
    fn a_text_that_was_not_sealed_never_opens(text in "[A-Za-z0-9_-]{0,200}") {
        prop_assert!(open(&ring("1:seal:A"), &text).is_err());
    }

    #[test]
    fn a_text_has_the_form_of_a_click_id_exactly_if_it_does_not_open_as_malformed(
        click in strategies::click(),
        short: bool,
        cut in proptest::option::of(0..400_usize),
        noise in "[A-Za-z0-9_=-]{0,100}",
    ) {
        let keys = ring("1:seal:A");
        let max = if short { SHORT_MAX } else { MAX_LENGTH };
        let id = seal(&keys, &click, NONCE, max).id().to_owned();
        prop_assert!(is_in_form(&id));
        let cut = cut.map_or(id.clone(), |cut| id.chars().take(cut).collect());
        for text in [cut, noise.clone(), format!("{id}{noise}")] {
            let malformed = matches!(open(&keys, &text), Err(OpenError::Malformed));
            prop_assert_eq!(is_in_form(&text), !malformed, "{}", text);
        }
    }
}
