use proptest::{prelude::*, sample::select};

use super::*;

/// The spellings of a macro in ad tech: the marks around its name.
const SPELLED: [(&str, &str); 13] = [
    ("{", "}"),
    ("{{", "}}"),
    ("${", "}"),
    ("[", "]"),
    ("[[", "]]"),
    ("%", "%"),
    ("%%", "%%"),
    ("__", "__"),
    ("<", ">"),
    ("#", "#"),
    ("$", ""),
    ("::", "::"),
    ("@", "@"),
];

fn encode(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn known() -> Vec<&'static str> {
    NAMES.split_ascii_whitespace().collect()
}

#[test]
fn a_value_that_is_a_macro_is_found() {
    for value in [
        "{goal}",
        "{{event.name}}",
        "${goal}",
        "${(name)!}",
        "[goal]",
        "[[goal]]",
        "[%GOAL:ID%]",
        "%goal%",
        "%%goal%%",
        "__TXN__",
        "__CLICK_ID__",
        "__user_id__",
        "<txn>",
        "#txn#",
        "$txn",
        "$event.name",
        "::txn::",
        "@txn@",
        "{a b}",
        "{}",
        "%7Bgoal%7D",
        "%5bgoal%5D",
        "%25goal%25",
        "$%7Bgoal%7D",
        "%3Cgoal%3E",
        "%23goal%23",
    ] {
        assert!(is_macro(value) && has_macro(value), "{value}");
    }
    assert!(has_macro("order-{id}") && !is_macro("order-{id}"));
}

#[test]
fn a_real_value_is_no_macro() {
    for value in [
        "",
        "A-1",
        "me@x.example",
        "@me",
        "$5",
        "$",
        "US$abc",
        "5$",
        "level_10",
        "__bob__",
        "__",
        "____",
        "_A_",
        "a__B__c",
        "#1",
        "#1#",
        "[5",
        "[5]",
        "[]",
        "a[5]",
        "50%",
        "%",
        "%%",
        "%41",
        "%41%",
        "%255",
        "{",
        "}",
        "}{",
        "<",
        "<>",
        "::",
        "std::mem::swap",
        "a::b",
        "(x)",
        "(event-name)",
        "38400000-8cf0-11bd-b23e-10b96e40000d",
        "2026-11-21T17:00:12",
        "at_x_1_2_3",
        "https://x.example/?a=%7B",
    ] {
        assert!(!has_macro(value), "{value}");
    }
}

#[test]
fn the_words_for_none_are_words_and_not_parts_of_words() {
    for word in ["null", "NULL", "Undefined", "none", "nil", "N/A", "na", "-", "(null)", "(NULL)", "unknown"] {
        assert!(is_none(word) && is_no_device(word), "{word}");
    }
    for word in ["null", "Undefined", "NONE", "(Null)"] {
        assert!(is_nobody(word), "{word}");
    }
    for value in ["", "nullable", "nina", "n", "0", "00", "--", "none.", "unknown-1", "Nathan"] {
        assert!(!is_none(value) && !is_nobody(value), "{value}");
    }
    for other in ["nil", "na", "n/a", "-", "unknown", "0"] {
        assert!(!is_nobody(other), "{other}");
    }
    for id in ["0", "00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000", "[idfa]", "N/A"] {
        assert!(is_no_device(id), "{id}");
    }
    for id in ["38400000-8cf0-11bd-b23e-10b96e40000d", "00000000-0000-0000-0000-000000000001", "a0"] {
        assert!(!is_no_device(id), "{id}");
    }
}

#[test]
fn a_known_name_is_meant_in_any_spelling_and_two_known_names_stay_two() {
    let known = ["click_id", "clickid", "transaction_id", "txn", "aff_sub"];
    for (name, meant) in [
        ("click_id", Some("click_id")),
        ("CLICK_ID", Some("click_id")),
        ("click-id", Some("click_id")),
        ("Click-Id", Some("click_id")),
        ("clickid", Some("clickid")),
        ("clickId", Some("clickid")),
        ("ClickID", Some("clickid")),
        ("transactionId", Some("transaction_id")),
        ("TransactionID", Some("transaction_id")),
        ("affSub", Some("aff_sub")),
        ("TXN", Some("txn")),
        ("click", None),
        ("click_ids", None),
        ("txn_id", None),
        ("", None),
    ] {
        assert_eq!(known_name(name, &known), meant, "{name}");
    }
}

#[test]
fn blanks_around_a_text_are_trimmed_and_nothing_else_is_copied() {
    let trimmed = |text| trim(text, char::is_whitespace);
    assert!(matches!(trimmed(Cow::Borrowed(" \r\na b\u{a0}\n")), Cow::Borrowed("a b")));
    assert_eq!(trimmed(Cow::Owned("\ta\n".into())), "a");
}

#[test]
fn a_known_macro_in_a_foreign_spelling_is_named_with_the_right_one() {
    let known = ["user_id", "c1", "value"];
    for (rest, found) in [
        ("/cb?uid=[USER_ID]&amt=1", "[USER_ID]"),
        ("/cb?uid=[userId]", "[userId]"),
        ("/cb?uid=${user_id}", "${user_id}"),
        ("/cb?uid={{user_id}}", "{{user_id}}"),
        ("/cb?uid=%user_id%&x=1", "%user_id%"),
        ("/cb?uid=%c1%", "%c1%"),
        ("/cb?uid=%25user_id%25", "%user_id%"),
        ("/%5Buser-id%5D/x", "[user-id]"),
        ("/u-__USER_ID__/x", "__USER_ID__"),
        ("/?a=#user_id#&b=1", "#user_id#"),
        ("/?a=1&b=$value", "$value"),
        ("/?[user_id]", "[user_id]"),
        ("/?a=$%257Bvalue%257D", "${value}"),
    ] {
        let error = check_template(rest, &known).expect_err(rest);
        assert!(error.ends_with(&format!("instead of {found}")), "{rest}: {error}");
    }
    let error = check_template("/?a=%257Bvalue%257D", &known).unwrap_err();
    assert_eq!(error, "has {value} encoded more than once: write {value}");
    assert_eq!(unknown_macro("USER_ID", &known), "has an unknown macro {USER_ID}: write {user_id}");
    for fine in [
        "",
        "/cb?uid={user_id}&v={value}-{c1}",
        "/cb?ids[user_id]=1&a={c1}",
        "/cb?sub=[sub5]&p=US$value&q=a@value@b&n=$5",
        "/cb?heart=\u{2764}\u{fe0f}&family=\u{1f469}\u{200d}\u{1f467}",
        "/caf%C3%A9?q=%C3%A9t%C3%A9%20%7Bx%7D#/top",
    ] {
        assert_eq!(check_template(fine, &known), Ok(()), "{fine}");
    }
}

#[test]
fn html_escapes_and_invisible_characters_in_a_url_are_refused() {
    for (rest, problem) in [
        ("/?a=1&amp;b=2", "has the HTML escape &amp;"),
        ("/?a=1&AMP;b=2", "has the HTML escape &amp;"),
        ("/?a=1&#38;b=2", "has the HTML escape &#38;"),
        ("/?a=1&#x26;b=2", "has the HTML escape &#x26;"),
        ("/a\u{200b}b", "has the invisible character U+200B"),
        ("/a?b=%E2%80%8Bc", "has the invisible character U+200B"),
        ("/a?b=\u{feff}", "has the invisible character U+FEFF"),
        ("/a?b=c\u{200c}d", "has the invisible character U+200C"),
        ("/a?b=%EF%B8%8F", "has the invisible character U+FE0F"),
        ("/?a=%zz", "has %zz, which"),
        ("/?a=100%", "has %, which"),
        ("/?a=%4", "has %4, which"),
        ("/?a=%2{c1}", "has %2{, which"),
    ] {
        let error = check_template(rest, &["c1"]).expect_err(rest);
        assert!(error.starts_with(problem), "{rest}: {error}");
    }
}

proptest! {
    #[test]
    fn a_known_name_is_found_in_every_spelling(
        name in select(known()),
        (open, close) in select(SPELLED.as_slice()),
        flips in proptest::collection::vec(any::<bool>(), 24),
        times in 0..2_usize,
        before in select(vec!["", "x-", "1."]),
        place in select(vec!["/?a=1&b=", "/", "/a/"]),
    ) {
        let flipped = |(letter, upper): (char, &bool)| if *upper { letter.to_ascii_uppercase() } else { letter };
        let name: String = name.chars().zip(flips.iter().cycle()).map(flipped).collect();
        let spelled = format!("{open}{name}{close}");
        let encoded = (0..times).fold(spelled.clone(), |text, _| encode(&text));
        prop_assert!(is_macro(&encoded), "{}", encoded);

        let rest = format!("{place}{before}{encoded}");
        let is_right = spelled == format!("{{{}}}", name.to_lowercase()) && times == 0;
        if open != "{" {
            let found = in_url(&rest);
            prop_assert!(found.iter().any(|found| found.text == spelled), "{} {:?}", rest, found);
            prop_assert!(check_template(&rest, &known()).is_err());
        } else if is_right {
            prop_assert_eq!(check_template(&rest, &known()), Ok(()));
        }
    }

    #[test]
    fn values_of_letters_digits_and_the_clicks_four_marks_are_none(
        value in "[A-Za-z0-9.-][A-Za-z0-9_@.-]{0,40}|@?[A-Za-z0-9.-][A-Za-z0-9_.-]{0,19}|_[A-Za-z0-9.-]{1,20}_",
    ) {
        prop_assert!(!has_macro(&value));
        // Within a URL, two of the marks may occur around a word.
        if !value.contains(['@', '_']) {
            prop_assert_eq!(in_url(&format!("/{value}?a={value}")), []);
        }
    }

    #[test]
    fn any_text_is_searched(text in ".{0,60}", rest in "([a-z]{0,4}|[{}\\[\\]%$#@<>:_/?&=]{0,3}|%[0-9a-f]{2}){0,20}") {
        for text in [&text, &rest] {
            let _ = (is_macro(text), has_macro(text), in_url(text));
            let _ = check_template(text, &["user_id"]);
        }
    }
}
