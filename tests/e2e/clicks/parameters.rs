//! Parsing and validation of a click's query (docs/SPEC.md, "Click parameters").

use crate::{
    clicks::{CLICK, RIGHT, click_id_at, click_of, expect_click_error, expect_redirect},
    harness::{ANDROID_APP, demo},
};

/// Text parameters of a click: name, error code, maximum length in characters.
const TEXTS: [(&str, &str, usize); 7] = [
    ("user_id", "invalid_user_id", 128),
    ("c1", "invalid_custom_parameter", 256),
    ("c2", "invalid_custom_parameter", 256),
    ("c3", "invalid_custom_parameter", 256),
    ("c4", "invalid_custom_parameter", 256),
    ("c5", "invalid_custom_parameter", 256),
    ("placement", "invalid_parameter", 64),
];

/// The query of a valid click but for this value of one parameter.
fn with(name: &str, value: &str) -> String {
    let user = if name == "user_id" { "" } else { "&user_id=u-1" };
    format!("rid=410271&app=10000001{user}&{name}={value}")
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_@-.".contains(&byte)
}

#[test]
fn a_missing_or_empty_parameter_is_named() {
    let signpost = demo();
    let table = [
        ("", "rid"),
        ("app=10000001&user_id=u-1", "rid"),
        ("rid&app=10000001&user_id=u-1", "rid"),
        ("rid=&app=10000001&user_id=u-1", "rid"),
        ("RID=410271&app=10000001&user_id=u-1", "rid"),
        ("rid=410271&user_id=u-1", "app"),
        ("rid=410271&app=&user_id=u-1", "app"),
        ("rid=410271&app=10000001", "user_id"),
        ("rid=410271&app=10000001&user_id", "user_id"),
        ("rid=410271&app=10000001&user_id=", "user_id"),
        ("rid=410271&app=10000001&userid=u-1", "user_id"),
        ("rid=410271&app=10000001&user_id=&c1=a", "user_id"),
    ];
    for (query, name) in table {
        let answer = expect_click_error(signpost.click(query, "US"), 400, "missing_field");
        let message = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(message.split(' ').next() == Some(name), "{name} is not named: {answer:?}");
    }
    expect_click_error(signpost.get(CLICK, &[]), 400, "missing_field");
}

#[test]
fn only_letters_digits_and_four_marks_are_allowed() {
    let signpost = demo();
    let mut raw = signpost.raw();
    for (name, code, _) in TEXTS {
        let mut check = |byte: u8, text: &str| {
            let query = with(name, &format!("a{text}b"));
            let answer = raw.get(format!("{CLICK}?{query}").as_bytes());
            if is_allowed(byte) {
                expect_redirect(answer);
            } else {
                expect_click_error(answer, 400, code);
            }
        };
        for byte in 0..128 {
            // Hexadecimal digits in upper and lower case.
            let mut encoded = format!("%{byte:02X}");
            if byte % 2 == 0 {
                encoded.make_ascii_lowercase();
            }
            check(byte, &encoded);
        }
        // Characters that a URL can contain unencoded; `&` and `#` end a value, and `%` begins an encoding.
        for byte in (b'!'..=b'~').filter(|byte| !b"&#%".contains(byte)) {
            check(byte, char::from(byte).encode_utf8(&mut [0; 4]));
        }
        for other in ["é", "%C3%A9", "%EF%BC%A1", "%E2%80%AE", "%F0%9F%8E%AE", "%C2%85"] {
            check(b' ', other);
        }
    }
    let all: String = (0..128).filter(|&byte| is_allowed(byte)).map(char::from).collect();
    assert_eq!(all.len(), 66);
    let answer = expect_redirect(signpost.click(&with("user_id", &all), "US"));
    assert_eq!(click_of(&answer).user_id, all);
}

#[test]
fn length_limits_count_decoded_characters() {
    let signpost = demo();
    for (name, code, longest) in TEXTS {
        for character in ["x", "%78", "%40"] {
            expect_redirect(signpost.click(&with(name, &character.repeat(longest)), "US"));
            let longer = signpost.click(&with(name, &character.repeat(longest + 1)), "US");
            let answer = expect_click_error(longer, 400, code);
            assert!(answer.json()["error"].as_str().unwrap().starts_with(name), "{name} is not named: {answer:?}");
        }
        if name != "user_id" {
            expect_redirect(signpost.click(&with(name, ""), "US"));
        }
    }
}

#[test]
fn a_query_follows_the_rules_of_url_encoding() {
    let signpost = demo();
    let names = ["rid", "app", "gaid", "idfa"].into_iter().chain(TEXTS.map(|(name, ..)| name));
    for name in names {
        let all = format!("{RIGHT}&gaid=g&idfa=i&c1=1&c2=2&c3=3&c4=4&c5=5&placement=p");
        expect_redirect(signpost.click(&all, "US"));
        let (head, tail) = name.split_at(1);
        let encoded_name = format!("%{:02x}{tail}", head.as_bytes()[0]);
        for again in [
            format!("{name}=x"),
            format!("{name}="),
            name.to_owned(),
            format!("{encoded_name}=x"),
            format!("{name}=%7B{name}%7D"),
        ] {
            for query in [format!("{all}&{again}"), format!("{again}&{all}")] {
                let answer = expect_click_error(signpost.click(&query, "US"), 400, "invalid_parameter");
                assert!(answer.body.contains(&format!("{name} is given more than once")), "{answer:?}");
            }
        }
        // Truncated, not hexadecimal, not UTF-8: a lone byte, a broken sequence, an overlong one, a surrogate.
        for bad in ["%", "a%4", "%GG", "%4G", "%+4", "%%41", "%FF", "%C3%28", "%C0%AF", "%ED%A0%80"] {
            let query = match name {
                "rid" => format!("rid={bad}&app=10000001&user_id=u-1"),
                "app" => format!("rid=410271&app={bad}&user_id=u-1"),
                _ => with(name, bad),
            };
            let answer = signpost.click(&query, "US");
            match name {
                // A device stops no redirect.
                "gaid" | "idfa" => drop(expect_redirect(answer)),
                _ => drop(expect_click_error(answer, 400, "invalid_parameter")),
            }
        }
    }
    expect_click_error(signpost.click(&format!("{RIGHT}&%zz=1"), "US"), 400, "invalid_parameter");
    // Any order, encoded names and values, empty pairs, and unknown parameters, which are ignored with any value.
    for query in [
        "user_id=u-1&app=10000001&rid=410271",
        "&&rid=410271&&app=10000001&user_id=u-1&",
        "%72id=%34%31%30%32%37%31&app=1000000%31&us%65r%5Fid=u%2d1",
        "rid=410271&app=10000001&user_id=u-1&utm=a&utm=b&x=%FF&y=%&user-id=!&C1=!&=&url=//evil.example",
    ] {
        let answer = expect_redirect(signpost.click(query, "US"));
        let click = click_of(&answer);
        assert_eq!((&*click.goal, &*click.user_id, click.custom), ("410271", "u-1", [const { None }; 5]), "{answer:?}");
    }
}

#[test]
fn an_identifier_of_a_device_never_stops_a_redirect_and_is_passed_on_only_if_it_is_one() {
    let signpost = demo();
    let id = "38400000-8cf0-11bd-b23e-10b96e40000d";
    let blank = format!("{id}%20%0D%0A");
    let long = "x".repeat(65);
    for (sent, found) in [
        (id, Some(id)),
        (&blank, Some(id)),
        ("(null)", None),
        ("[idfa]", None),
        ("N/A", None),
        ("unknown", None),
        ("00000000-0000-0000-0000-000000000000", None),
        ("a/b", None),
        ("%25gaid%25", None),
        (&long, None),
    ] {
        let answer = expect_redirect(signpost.click(&format!("{RIGHT}&gaid={sent}&idfa={sent}"), "US"));
        let click = click_of(&answer);
        assert_eq!((click.gaid.as_deref(), click.idfa.as_deref()), (found, found), "{sent}");
        assert!(answer.location().contains(&format!("&gaid={}&idfa=", found.unwrap_or_default())), "{answer:?}");
    }
}

#[test]
fn long_custom_parameters_make_a_short_click_id_unless_the_offer_takes_longer_ones() {
    let signpost = demo();
    let long = "x".repeat(256);
    let longest = format!("{RIGHT}&c1={long}&c2={long}&c5={long}");
    let answer = expect_redirect(signpost.click(&longest, "US"));
    let id = click_id_at(&answer);
    assert!(id.len() <= 50, "{id}");
    let beyond = signpost.click(&format!("{longest}&c3=x"), "US");
    let answer = expect_click_error(beyond, 400, "invalid_custom_parameter");
    assert!(answer.body.contains("768 characters together"), "{answer:?}");
}

#[test]
fn an_unreplaced_placeholder_is_refused_as_user_id_and_ignored_as_device_id() {
    let signpost = demo();
    let mut raw = signpost.raw();
    let placeholders = [
        "{your_user_id}",
        "%7Byour_user_id%7D",
        "%7byour_user_id%7d",
        "{your_user_id",
        "your_user_id}",
        "{}",
        "u-{1}",
        "{{user_id}}",
    ];
    for placeholder in placeholders {
        let target = format!("{CLICK}?{}", with("user_id", placeholder));
        let answer = expect_click_error(raw.get(target.as_bytes()), 400, "invalid_user_id");
        assert!(answer.body.contains("placeholder"), "{answer:?}");

        let target = format!("{CLICK}?{RIGHT}&gaid={placeholder}&idfa={placeholder}");
        let answer = expect_redirect(raw.get(target.as_bytes()));
        let click = click_of(&answer);
        assert_eq!((&click.gaid, &click.idfa), (&None, &None), "{answer:?}");
        assert!(answer.location().contains("&gaid=&idfa=&"), "{answer:?}");
    }

    // The listed tracking URLs work as described (docs/SPEC.md, "Offers response").
    let offers = signpost.list(ANDROID_APP, &signpost.pub_key(), &serde_json::json!([]));
    let offer = offers.iter().find(|offer| offer["id"] == "23817").unwrap();
    let own = |url: &str| url.replace("https://t.signpost.example", "");
    let trk_url = own(offer["trk_url"].as_str().unwrap());
    expect_click_error(raw.get(trk_url.as_bytes()), 400, "invalid_user_id");
    let answer = expect_redirect(raw.get(trk_url.replace("{your_user_id}", "u-7").as_bytes()));
    let click = click_of(&answer);
    assert_eq!((&*click.user_id, &click.gaid), ("u-7", &None), "{answer:?}");

    let base = own(offer["trk_url_base"].as_str().unwrap());
    expect_click_error(signpost.get(&base, &[]), 400, "missing_field");
    let answer = expect_redirect(signpost.get(&format!("{base}&user_id=u-8&gaid=g-8&c5=x"), &[]));
    let click = click_of(&answer);
    assert_eq!((&*click.user_id, click.gaid.as_deref()), ("u-8", Some("g-8")));

    // `rid` may name any goal of the offer.
    for goal in offer["gls"].as_array().unwrap() {
        let goal = goal["id"].as_str().unwrap();
        let address = base.replace("rid=410271", &format!("rid={goal}"));
        let answer = expect_redirect(signpost.get(&format!("{address}&user_id=u-9"), &[]));
        assert_eq!(click_of(&answer).goal, goal);
    }
}
