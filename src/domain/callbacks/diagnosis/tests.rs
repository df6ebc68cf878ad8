use super::*;
use crate::callbacks::{
    fields::Status,
    settings::{Callback, LegacyMd5},
    signature::receiver::SECRET,
};

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

/// The codes and subjects of a URL that may be saved.
#[track_caller]
fn codes(callback: &Callback) -> Vec<String> {
    let endpoint = Endpoint::parse(callback).expect(&callback.url);
    let shown = |finding: Finding| match finding.subject {
        Some(subject) => format!("{} {subject}", finding.code),
        None => finding.code.to_owned(),
    };
    of_url(&endpoint).into_iter().filter(|finding| finding.code != "long_url").map(shown).collect()
}

#[test]
fn a_url_that_may_become_long_is_told_with_its_length() {
    let long = |callback: &Callback| {
        let findings = of_url(&Endpoint::parse(callback).unwrap());
        let found = findings.into_iter().find(|finding| finding.code == "long_url");
        found.map(|finding| finding.subject.unwrap().parse::<usize>().unwrap())
    };
    let url = "https://x.example/cb?u={user_id}&t={transaction_id}&v={value}";
    assert_eq!(long(&get(url)), None);
    let with = |custom: &str| long(&get(&format!("{url}&c={custom}")));
    assert_eq!(with("{c1}"), None);
    assert_eq!(with("{c1}{c2}"), Some(2_103));
    assert!(long(&get("https://x.example/cb")).is_some_and(|length| length > 3_000));
    let post = Callback { method: CallbackMethod::Post, ..get("https://x.example/cb") };
    assert_eq!(long(&post), None);
}

#[test]
fn a_url_without_macros_and_a_post_send_all_fields() {
    assert_eq!(codes(&get("https://x.example/cb?key=1")), ["sends_all_fields"]);
    let post = Callback { method: CallbackMethod::Post, ..get("https://x.example/cb?user=[user_id]") };
    assert_eq!(codes(&post), ["sends_all_fields", "foreign_placeholder [user_id]"]);
}

#[test]
fn a_url_with_macros_must_name_the_user_the_transaction_and_the_value() {
    let all = "https://x.example/u-{user_id}?t={transaction_id}&v={value}&s={status}&o={original_transaction_id}";
    assert_eq!(codes(&get(all)), ["names_user_transaction_and_value"]);
    assert_eq!(codes(&get(&all.replace('{', "%7B").replace('}', "%7d"))), ["names_user_transaction_and_value"]);
    for (left_out, code) in
        [("{user_id}", "no_user_id"), ("{transaction_id}", "no_transaction_id"), ("{value}", "no_value")]
    {
        let fewer = all.replacen(left_out, "x", 1);
        assert_eq!(codes(&get(&fewer)), [code], "{left_out}");
    }
    assert_eq!(codes(&get(&all.replace("{value}", "{payout}"))), ["names_user_transaction_and_value"]);
    let fewest = "https://x.example/?u={user_id}&t={transaction_id}&v={value}";
    let named = "names_user_transaction_and_value";
    assert_eq!(codes(&get(fewest)), [named, "no_status", "no_original_transaction_id"]);
    let told = |events: &[Status]| codes(&Callback { events: Some(events.to_vec()), ..get(fewest) });
    assert_eq!(told(&[Status::Approved]), [named]);
    assert_eq!(told(&[Status::Approved, Status::Pending]), [named, "no_status"]);
}

#[test]
fn placeholders_of_other_networks_are_found() {
    for (part, found) in [
        ("[user_id]", Some("[user_id]")),
        ("%5Buser_id%5D", Some("[user_id]")),
        ("a-[USER_ID]-b", Some("[USER_ID]")),
        ("$user_id", Some("$user_id")),
        ("$%7Buser_id%7D", Some("${user_id}")),
        ("$%257Buser_id%257D", Some("${user_id}")),
        ("%257Buser_id%257D", Some("{user_id}")),
        ("%3Cuser_id%3E", Some("<user_id>")),
        ("%user_id%", Some("%user_id%")),
        ("%25user_id%25", Some("%user_id%")),
        ("__USER_ID__", Some("__USER_ID__")),
        ("x", None),
        ("", None),
        ("[0]", None),
        ("[]", None),
        ("a%20b%20c", None),
        ("%C3%A9t%C3%A9", None),
        ("10$", None),
        ("US$abc", None),
        ("$5", None),
        ("a__b", None),
        ("{user_id}", None),
        ("50%25", None),
    ] {
        let callback = get(&format!("https://x.example/cb?k=1&q={part}"));
        let codes = codes(&callback);
        let placeholders: Vec<_> = codes.iter().filter_map(|code| code.strip_prefix("foreign_placeholder ")).collect();
        assert_eq!(placeholders, found.into_iter().collect::<Vec<_>>(), "{part}");
    }
    let in_path = codes(&get("https://x.example/[user_id]/cb?list[a]=1&amount[user_id]=2"));
    assert_eq!(in_path, ["sends_all_fields", "foreign_placeholder [user_id]"]);
}

#[test]
fn a_url_is_told_what_weakens_it() {
    assert_eq!(
        codes(&get("http://x.example/cb#user={user_id}".replace("{user_id}", "1").as_str())),
        ["sends_all_fields", "fragment_dropped", "not_encrypted"]
    );
    let legacy = Callback { legacy_md5: Some(LegacyMd5 { secret: "old".into() }), ..get("https://x.example/cb") };
    assert_eq!(codes(&legacy), ["sends_all_fields", "legacy_signature"]);
}

fn answer(status: u16) -> Answer {
    Answer { status, took_ms: 10, webhook_delivery: None, body: String::new() }
}

/// The codes of the findings about an answer.
fn of(sign_with: SignWith, answered: Result<Answer, NoAnswer>) -> Vec<&'static str> {
    let findings = of_answer(sign_with, &outcome(answered));
    findings.into_iter().map(|finding| finding.code).collect()
}

#[test]
fn a_status_is_told_for_the_right_signature_and_for_a_wrong_one() {
    for (status, right, wrong) in [
        (200, "accepted", "accepts_wrong_signature"),
        (204, "accepted", "accepts_wrong_signature"),
        (299, "accepted", "accepts_wrong_signature"),
        (301, "redirect", "redirect"),
        (302, "redirect", "redirect"),
        (308, "redirect", "redirect"),
        (400, "request_refused", "wrong_signature_refused"),
        (401, "signature_refused", "wrong_signature_refused"),
        (403, "signature_refused", "wrong_signature_refused"),
        (404, "not_found", "not_found"),
        (405, "method_refused", "method_refused"),
        (408, "busy", "busy"),
        (410, "gone", "gone"),
        (415, "content_type_refused", "content_type_refused"),
        (422, "request_refused", "wrong_signature_refused"),
        (425, "busy", "busy"),
        (429, "busy", "busy"),
        (500, "server_error", "server_error"),
        (503, "server_error", "server_error"),
        (103, "unexpected_status", "unexpected_status"),
        (600, "unexpected_status", "unexpected_status"),
        // Cloudflare's network, in the receiver's place.
        (520, "broken_answer", "broken_answer"),
        (521, "unreachable", "unreachable"),
        (522, "unreachable", "unreachable"),
        (523, "unreachable", "unreachable"),
        (524, "timeout", "timeout"),
        (525, "tls", "tls"),
        (526, "tls", "tls"),
        (530, "unreachable", "unreachable"),
    ] {
        for sign_with in [SignWith::Both, SignWith::Current] {
            assert_eq!(of(sign_with, Ok(answer(status))), [right], "{status} {sign_with:?}");
        }
        assert_eq!(of(SignWith::Wrong, Ok(answer(status))), [wrong], "{status}");
    }
}

#[test]
fn no_answer_is_told_by_its_reason_and_failures_to_connect_alike() {
    for (cause, code) in [
        ("timeout", "timeout"),
        ("tls", "tls"),
        ("connection", "unreachable"),
        ("broken_answer", "broken_answer"),
        ("forbidden", "forbidden"),
        ("not_a_url", "forbidden"),
        ("anything", "unreachable"),
    ] {
        let no_answer = NoAnswer::of_cause(cause);
        assert_eq!(of(SignWith::Both, Err(no_answer)), [code]);
        assert_eq!(of(SignWith::Wrong, Err(no_answer)), [code]);
        assert_eq!(serde_json::to_value(no_answer).unwrap(), code);
    }
}

#[test]
fn pages_requests_to_disable_and_slow_answers_are_told_beside_the_status() {
    let page = |body: &str| {
        let body = body.to_owned();
        of(SignWith::Both, Ok(Answer { body, ..answer(200) }))
    };
    for html in ["<!DOCTYPE html><title>Sign in", "\u{feff} \n<HTML lang=en>"] {
        assert_eq!(page(html), ["accepted", "answers_a_page"], "{html}");
    }
    for other in ["", "ok", "{\"html\":\"<html>\"}", "<ok/>", "<ü"] {
        assert_eq!(page(other), ["accepted"], "{other}");
    }
    let not_found = Answer { body: "<html>".into(), ..answer(404) };
    assert_eq!(of(SignWith::Both, Ok(not_found)), ["not_found"]);
    let disabling = Answer { webhook_delivery: Some(" Disable".into()), ..answer(500) };
    assert_eq!(of(SignWith::Both, Ok(disabling)), ["server_error", "asks_to_disable"]);
    let slow = Answer { took_ms: SLOW_MS, ..answer(200) };
    assert_eq!(of(SignWith::Both, Ok(slow)), ["accepted", "slow"]);
}

#[test]
fn a_publisher_does_not_see_why_a_connection_failed() {
    for (logged, expected) in [
        ("no answer: Network connection lost.", "no answer"),
        ("no answer: internal error; reference = 1", "no answer"),
        ("no whole answer within 10000 ms", "no whole answer within 10000 ms"),
        ("not called: the callback URL is ours", "not called: the callback URL is ours"),
    ] {
        assert_eq!(shown_error(logged), expected);
    }
}
