//! Tests of signed clicks: a known answer, every changed character, and each refusal.

use proptest::prelude::*;

use super::*;

const SECRET: &str = "demo_click_secret_of_lumen_arcade";
const PREVIOUS: &str = "the-click-secret-before-that-one-";
const NOW_MS: i64 = 1_800_000_000_000;
/// By `printf 'app=10000001&user_id=player-1' | openssl dgst -sha256 -hmac demo_click_secret_of_lumen_arcade`.
const SIG: &str = "072c09166b69db5c005670f5a1a0b7903c194e347d67a7bd2c23fa2d4f93a1c4";
/// The same with `&exp=1800000000` at its end.
const SIG_WITH_EXP: &str = "a0bf445a0e1dc3ba0b500e2a95a2170f208249977d746981f0f5f98753160774";

fn keys(previous: Option<&str>) -> SigningKeys {
    let secret = |text: &str| ClickSecret(text.to_owned());
    let text = sealed_text(&secret(SECRET), previous.map(secret).as_ref());
    SigningKeys::parse(text.as_bytes()).unwrap()
}

fn sign(secret: &str, message: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    hex::encode(mac.chain_update(message).finalize().into_bytes())
}

/// The code of the answer to a click with this query, after the usual `rid`; `ok` if it is accepted.
fn code(keys: &SigningKeys, query: &str, now_ms: i64) -> &'static str {
    let query = format!("rid=g1&{query}");
    let click = ClickParameters::parse(&query).unwrap();
    match keys.check(&query, &click, now_ms) {
        Ok(()) => "ok",
        Err(refusal) => refusal.code,
    }
}

#[test]
fn a_signature_has_its_documented_value() {
    let keys = keys(None);
    let query = format!("app=10000001&user_id=player-1&sig={SIG}");
    assert_eq!(code(&keys, &query, NOW_MS), "ok");
    let query = format!("app=10000001&user_id=player-1&exp=1800000000&sig={SIG_WITH_EXP}");
    assert_eq!(code(&keys, &query, NOW_MS), "ok");
}

#[test]
fn each_query_has_its_answer() {
    let keys = keys(None);
    let user = "app=10000001&user_id=player-1";
    let milliseconds = sign(SECRET, &format!("{user}&exp=1800000000000"));
    let unparsed = sign(SECRET, &format!("{user}&exp=soon"));
    let (upper, longer) = (SIG.to_uppercase(), format!("{SIG}00"));
    let shorter = SIG.get(2..).unwrap();
    for (query, expected) in [
        (user.to_owned(), "invalid_signature"),
        (format!("{user}&sig="), "invalid_signature"),
        (format!("{user}&sig={{sig}}"), "invalid_signature"),
        (format!("{user}&sig=%7Bsig%7D"), "invalid_signature"),
        (format!("{user}&sig={upper}"), "invalid_signature"),
        (format!("{user}&sig={longer}"), "invalid_signature"),
        (format!("{user}&sig={shorter}"), "invalid_signature"),
        (format!("{user}&sig={SIG}&sig={SIG}"), "invalid_parameter"),
        (format!("{user}&sig={SIG}&exp="), "ok"),
        (format!("{user}&sig={SIG}%0A"), "ok"),
        (format!("{user}&sig=+{SIG_WITH_EXP}%20&exp=1800000000%20"), "invalid_signature"),
        (format!("{user}&sig=%20{SIG_WITH_EXP}&exp=1800000000%20"), "ok"),
        // Signed without a time, or with a different one.
        (format!("{user}&sig={SIG}&exp=1800000000"), "invalid_signature"),
        (format!("{user}&sig={SIG_WITH_EXP}"), "invalid_signature"),
        (format!("{user}&sig={SIG_WITH_EXP}&exp=1800000001"), "invalid_signature"),
        (format!("{user}&sig={SIG_WITH_EXP}&exp=01800000000"), "invalid_signature"),
        (format!("{user}&exp=soon&sig={unparsed}"), "invalid_signature"),
        (format!("{user}&exp=1800000000000&sig={milliseconds}"), "invalid_signature"),
        // The order, the other parameters and the encoding are free.
        (format!("sig={SIG}&c1=x&user_id=player%2D1&app=%310000001&gaid=a"), "ok"),
    ] {
        assert_eq!(code(&keys, &query, NOW_MS), expected, "{query}");
    }
}

#[test]
fn a_link_is_valid_until_its_time_is_past() {
    let keys = keys(None);
    let query = format!("app=10000001&user_id=player-1&exp=1800000000&sig={SIG_WITH_EXP}");
    for (now_ms, expected) in
        [(0, "ok"), (NOW_MS, "ok"), (NOW_MS + 1, "signature_expired"), (i64::MAX, "signature_expired")]
    {
        assert_eq!(code(&keys, &query, now_ms), expected, "{now_ms}");
    }
    for exp in ["9999999999999999999", "0", "-1"] {
        let message = format!("app=10000001&user_id=player-1&exp={exp}");
        let query = format!("{message}&sig={}", sign(SECRET, &message));
        assert_ne!(code(&keys, &query, NOW_MS), "ok", "{exp}");
    }
}

#[test]
fn the_previous_secret_signs_too_while_there_is_one() {
    let message = "app=10000001&user_id=player-1";
    for (secret, with_previous, alone) in [
        (SECRET, "ok", "ok"),
        (PREVIOUS, "ok", "invalid_signature"),
        ("another", "invalid_signature", "invalid_signature"),
    ] {
        let query = format!("{message}&sig={}", sign(secret, message));
        assert_eq!(code(&keys(Some(PREVIOUS)), &query, NOW_MS), with_previous, "{secret}");
        assert_eq!(code(&keys(None), &query, NOW_MS), alone, "{secret}");
    }
}

#[test]
fn a_secret_is_32_to_128_letters_digits_or_two_marks() {
    let is_valid = |text: &str| ClickSecret(text.to_owned()).problem().is_none();
    assert!(is_valid(SECRET) && is_valid(PREVIOUS));
    assert!(is_valid(&"x".repeat(32)) && is_valid(&"x".repeat(128)));
    for bad in ["", &"x".repeat(31), &"x".repeat(129), "********"] {
        assert!(!is_valid(bad), "{bad}");
    }
    for mark in [" ", "\n", "+", "/", "=", "é", "*"] {
        assert!(!is_valid(&format!("{SECRET}{mark}")), "{mark:?}");
    }
}

#[test]
fn each_app_has_a_purpose_of_its_own() {
    assert_eq!(purpose("10000001"), "click_secret/10000001");
}

#[test]
fn a_secret_is_not_in_debug_output() {
    assert_eq!(format!("{:?}", ClickSecret(SECRET.to_owned())), "ClickSecret");
}

#[test]
fn every_changed_character_is_refused() {
    let keys = keys(None);
    let signed = format!("app=10000001&user_id=player-1&exp=1800000000&sig={SIG_WITH_EXP}");
    // The names stay, since another test covers a missing name.
    let values = ["10000001", "player-1", "1800000000", SIG_WITH_EXP];
    let mut tried = 0;
    for value in values {
        let start = signed.find(value).unwrap();
        for at in start..start + value.len() {
            for other in ["0", "1", "9", "a", "f", "-"] {
                let mut changed = signed.clone();
                changed.replace_range(at..=at, other);
                if changed != signed {
                    assert_eq!(code(&keys, &changed, NOW_MS), "invalid_signature", "{changed}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

proptest! {
    #[test]
    fn a_signature_is_valid_for_its_own_values_alone(
        // Not a placeholder such as `__x__` or `@x@`, which is refused earlier.
        users in ["[A-Za-z0-9][A-Za-z0-9_@.-]{0,127}", "[A-Za-z0-9][A-Za-z0-9_@.-]{0,127}"],
        apps in [0..100_000_000_u32, 0..100_000_000_u32],
        exps in proptest::array::uniform2(proptest::option::of(1_800_000_000..2_000_000_000_i64)),
    ) {
        let message = |place: usize| {
            let exp = exps[place].map(|exp| format!("&exp={exp}")).unwrap_or_default();
            format!("app={:08}&user_id={}{exp}", apps[place], users[place])
        };
        let sig = sign(SECRET, &message(0));
        for place in [0, 1] {
            let expected = if message(place) == message(0) { "ok" } else { "invalid_signature" };
            prop_assert_eq!(code(&keys(None), &format!("{}&sig={sig}", message(place)), NOW_MS), expected);
        }
    }
}
