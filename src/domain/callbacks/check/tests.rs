use super::*;
use crate::callbacks::{settings::LegacyMd5, signature::receiver::SECRET};

fn get(url: &str) -> Callback {
    Callback {
        url: url.to_owned(),
        method: CallbackMethod::Get,
        secret: SECRET.to_owned(),
        previous_secret: None,
        legacy_md5: None,
        events: None,
    }
}

fn with_events(url: &str, events: &[Status]) -> Callback {
    Callback { events: Some(events.to_vec()), ..get(url) }
}

fn with_legacy(callback: Callback) -> Callback {
    Callback { legacy_md5: Some(LegacyMd5 { secret: "old".into() }), ..callback }
}

/// Returns the problem of a URL that may not be saved any more. A URL that was saved before the rule existed can still
/// be used.
#[track_caller]
fn problem(callback: &Callback) -> String {
    assert!(Endpoint::parse(callback).is_ok(), "{}", callback.url);
    let error = check(callback).expect_err(&callback.url);
    assert_eq!(error.path, "callback.url");
    error.problem
}

#[test]
fn a_url_with_macros_must_tell_rewards_apart_and_from_what_pays_nothing() {
    use Status::{Approved, Pending, Reversed};
    let transaction = "{transaction_id}, so that each reward is paid once";
    let status = "{status}, {value} or {payout}, to tell rewards from reversals and notices";
    let both = format!("{transaction}, and {status}");
    let url = |query: &str| format!("https://x.example/cb?uid={{user_id}}{query}");
    let (approved, others) = ([Approved].as_slice(), [Approved, Pending].as_slice());
    for (query, events, missing) in [
        ("&coins={value}", None, Some(transaction)),
        ("&tx={transaction_id}", None, Some(status)),
        ("", None, Some(&*both)),
        ("&tx={transaction_id}&coins={value}", None, None),
        ("&tx={transaction_id}&usd={payout}", None, None),
        ("&tx={transaction_id}&s={status}", None, None),
        ("&tx={transaction_id}&v={pending_value}", None, Some(status)),
        ("&tx={original_transaction_id}&s={status}", None, Some(transaction)),
        ("&tx={transaction_id}", Some(approved), None),
        ("&coins={value}", Some(approved), Some(transaction)),
        ("&tx={transaction_id}", Some(others), Some(status)),
        ("&tx={transaction_id}", Some(&[Reversed]), Some(status)),
    ] {
        let callback = match events {
            Some(events) => with_events(&url(query), events),
            None => get(&url(query)),
        };
        match missing {
            None => assert_eq!(check(&callback), Ok(()), "{query}"),
            Some(missing) => {
                assert_eq!(problem(&callback), format!("must have {missing}; for example {EXAMPLE}"), "{query}")
            }
        }
    }
    assert_eq!(check(&get(EXAMPLE)), Ok(()));
    assert_eq!(check(&get("https://x.example/{transaction_id}/{value}x")), Ok(()));
}

#[test]
fn the_legacy_signature_sends_the_transaction_and_a_post_sends_all() {
    let url = "https://x.example/cb?uid={user_id}";
    let legacy = with_legacy(get(&format!("{url}&coins={{value}}")));
    assert_eq!(check(&legacy), Ok(()));
    assert!(problem(&with_legacy(get(url))).starts_with("must have {status}"));
    for url in ["https://x.example/cb", "https://x.example/cb?ts=1&user_id=2"] {
        let post = Callback { method: CallbackMethod::Post, ..get(url) };
        assert_eq!(check(&post), Ok(()));
    }
    assert_eq!(check(&get("https://x.example/cb?key=1")), Ok(()));
}

#[test]
fn a_known_macro_in_a_foreign_spelling_is_refused_and_an_unknown_one_is_sent() {
    let right = "&tx={transaction_id}&coins={value}";
    let found = problem(&get(&format!("https://x.example/cb?uid=[USER_ID]{right}")));
    assert!(found.ends_with("write {user_id} instead of [USER_ID]"), "{found}");
    let dollar = problem(&get(&format!("https://x.example/cb?amt=${{payout}}{right}")));
    assert!(dollar.ends_with("write {payout} instead of ${payout}"), "{dollar}");
    let post = Callback { method: CallbackMethod::Post, ..get("https://x.example/cb?at=#TS#") };
    assert!(problem(&post).ends_with("write {ts} instead of #TS#"));
    assert_eq!(check(&get(&format!("https://x.example/cb?s=[sub5]{right}"))), Ok(()));
    for (url, found) in [
        ("https://x.example/cb?a=1&amp;b=2", "has the HTML escape &amp;"),
        ("https://x.example/cb\u{200b}", "has the invisible character U+200B"),
        ("https://x.example/cb?a=%zz", "has %zz"),
    ] {
        let problem = problem(&get(url));
        assert!(problem.starts_with(found), "{url}: {problem}");
    }
}

#[test]
fn a_url_is_measured_with_each_field_at_its_longest() {
    let length = |url: &str| longest_url(&Endpoint::parse(&get(url)).unwrap());
    let (base, time) = ("https://x.example/?a=", LATEST_S.to_string().len());
    let fixed = base.len() + "&ts=&signature=".len() + time + 64;
    for (macros, longest) in [
        ("{user_id}", 3 * 128),
        ("{c1}", 3 * 256),
        ("{c1}{c1}", 2 * 3 * 256),
        ("{c1}{c2}{c3}{c4}{c5}", 3 * 768),
        ("{c1}{c2}{c3}{c4}{c4}{c5}", 3 * 1_024),
        ("{gaid}{idfa}", 128),
        ("{transaction_id}", 36),
        ("{value}", 24),
        ("{payout}", 15),
        ("{goal_value}{reason}{currency}", 450),
        ("{country}{status}{app_id}", 2 + 8 + 8),
    ] {
        assert_eq!(length(&format!("{base}{macros}")), fixed + longest, "{macros}");
    }
    let all = length("https://hooks.publisher.example/signpost/callback?key=0123456789abcdef");
    assert!((3_700..MAX_URL - 150).contains(&all), "{all}");
}

#[test]
fn a_url_that_could_become_too_long_is_refused() {
    let url = |custom: &str| format!("https://x.example/?u={{user_id}}&t={{transaction_id}}&v={{value}}&c={custom}");
    assert_eq!(check(&get(&url("{c1}{c2}{c3}{c4}{c5}"))), Ok(()));
    let found = problem(&get(&url("{c1}{c1}{c1}{c1}{c1}")));
    assert!(found.starts_with("must be at most 4096 bytes") && found.contains("use POST"), "{found}");
    let long = format!("https://x.example/{}", "a".repeat(600));
    assert!(problem(&get(&long)).starts_with("must be at most 4096 bytes"));
    let post = Callback { method: CallbackMethod::Post, ..get(&long) };
    assert_eq!(check(&post), Ok(()));
}
