use proptest::prelude::*;

use super::*;
use crate::tracking::{Click, Sealed, click_id::seal, keys::KeyRing};

const TOKEN: &str = "at_brand_1795390798_abababababababab_42df2bb1d82ea4b5c2209538ec3bb0ea";

fn click_id() -> String {
    let keys = KeyRing::parse(&format!("1:seal:{}", "ab".repeat(32))).unwrap();
    match seal(&keys, &Click::sample("player-1", 1_790_000_000_000), [7; 12], 255) {
        Sealed::Whole { id } | Sealed::Short { id, .. } => id,
    }
}

fn shown(query: &str) -> Vec<(String, String)> {
    shown_parameters(query, None).into_iter().map(|shown| (shown.name, shown.value)).collect()
}

#[test]
fn only_what_signpost_reads_is_shown_and_no_secret() {
    let id = click_id();
    for (query, name, value) in [
        (format!("click_id={id}"), "click_id", id.as_str()),
        (format!("subid={id}"), "subid", &id),
        ("click_id=player@example.com".into(), "click_id", "… (18 characters)"),
        (format!("token={TOKEN}"), "token", "at_brand_1795390798_…"),
        ("token=hunter2".into(), "token", "… (7 characters)"),
        ("token=at_b%3D_1_x".into(), "token", "… (9 characters)"),
        (format!("goal={TOKEN}"), "goal", "at_brand_1795390798_…"),
        ("goal=level-5".into(), "goal", "level-5"),
        ("goal=level+5%21".into(), "goal", "level 5!"),
        ("txn=order-17".into(), "txn", "order-17"),
        ("status=paid".into(), "status", "paid"),
        ("reason=the+user+is+Jo".into(), "reason", "… (14 characters)"),
        ("email=jo@example.com".into(), "email", "… (14 characters)"),
        ("api_key=s3cr3t".into(), "api_key", "… (6 characters)"),
        ("jo@example.com".into(), "… (14 characters)", ""),
        ("hunter2".into(), "… (7 characters)", ""),
        ("utm_source=x".into(), "utm_source", "… (1 character)"),
        ("0123456789abcdef0123456789abcdef=1".into(), "… (32 characters)", "… (1 character)"),
        ("goal=%7Bgoal%7D".into(), "goal", "{goal}"),
        ("gaid=%gaid%".into(), "gaid", "%gaid%"),
        ("goal=%zz".into(), "goal", "%zz"),
        ("x=a".into(), "x", "… (1 character)"),
        ("txn=".into(), "txn", ""),
    ] {
        assert_eq!(shown(&query), [(name.to_owned(), value.to_owned())], "{query}");
    }
}

#[test]
fn query_and_form_are_one_list_and_what_is_too_much_is_counted() {
    let both = shown_parameters("goal=a&&txn=b", Some("status=c"));
    let names: Vec<_> = both.iter().map(|shown| shown.name.as_str()).collect();
    assert_eq!(names, ["goal", "txn", "status"]);
    let many = (0..30).map(|n| format!("p{n}=x")).collect::<Vec<_>>().join("&");
    let shown = shown_parameters(&many, None);
    assert_eq!(shown.len(), MAX_PARAMETERS + 1);
    assert_eq!(shown.last().unwrap().value, "6 more");
}

#[test]
fn candidates_are_found_beside_what_is_wrong() {
    let id = click_id();
    let query = format!("status=%zz&cid=abc&tid={id}&token=x");
    let form = format!("token={TOKEN}&token=third");
    let found = candidates(&query, Some(&form));
    assert_eq!(found.click_ids, [id.as_str()]);
    assert_eq!(found.tokens, ["x", TOKEN]);
}

#[test]
fn a_url_and_a_query_are_read_alike() {
    let table = [
        ("click_id=a&token=b", None, "click_id=a&token=b"),
        ("?click_id=a", None, "click_id=a"),
        ("/v2/tracking/conversion?click_id=a", None, "click_id=a"),
        ("click_id=a&back=https://x.example/?y", None, "click_id=a&back=https://x.example/?y"),
        (
            " https://t.example/v2/tracking/conversion?click_id=a#top\n",
            Some(("t.example", "/v2/tracking/conversion")),
            "click_id=a",
        ),
        ("http://u:p@localhost:8787/x?a=b?c", Some(("localhost", "/x")), "a=b?c"),
        ("https://[::1]:80", Some(("[::1]", "/")), ""),
        ("https://[::1]/", Some(("[::1]", "/")), ""),
        ("", None, ""),
    ];
    for (text, address, query) in table {
        assert_eq!(PastedPostback::parse(text), PastedPostback { address, query }, "{text}");
    }
}

proptest! {
    #[test]
    fn a_postback_is_shown_within_its_bounds(query in "([a-z_]{0,9}(=|%|&|\\{|ü|[a-zA-Z0-9]{0,60}))*", form in ".{0,200}") {
        let shown = shown_parameters(&query, Some(&form));
        prop_assert!(shown.len() <= MAX_PARAMETERS + 1);
        let bytes: usize = shown.iter().map(|shown| shown.name.len() + shown.value.len()).sum();
        prop_assert!(bytes <= MAX_BYTES + 40);
        let _ = (candidates(&query, Some(&form)), PastedPostback::parse(&form));
    }
}
