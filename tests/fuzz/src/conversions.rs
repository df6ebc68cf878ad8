//! Fuzz target for conversion postbacks.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use domain::{conversions::parameters::Postback, tracking::click_id};

/// Input: a postback's query, and from the second line on its form.
///
/// Query and form are one list. An accepted postback is within its limits, has no unreplaced macro, and reads the same
/// when written again into either place.
pub fn postback(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let (query, form) = match text.split_once('\n') {
        Some((query, form)) => (query, Some(form)),
        None => (text, None),
    };
    let read = Postback::parse(query, form);
    let joined = format!("{query}&{}", form.unwrap_or_default());
    assert_eq!(read, Postback::parse(&joined, None));
    let postback = match read {
        Ok(postback) => postback,
        Err(refusal) => {
            assert_eq!(refusal.status, 400);
            return;
        }
    };
    assert!(click_id::is_in_form(&postback.click_id) && !postback.token.is_empty());
    assert!(postback.goal.as_ref().is_none_or(|goal| (1..=200).contains(&goal.chars().count())));
    assert!(postback.txn.as_ref().is_none_or(|txn| {
        let macro_left = txn.split_once('{').is_some_and(|(_, rest)| rest.contains('}'));
        (1..=128).contains(&txn.len()) && !macro_left
    }));
    let mut written = format!("status={}", postback.status.as_str());
    let members = [
        ("click_id", Some(&postback.click_id)),
        ("token", Some(&postback.token)),
        ("goal", postback.goal.as_ref()),
        ("txn", postback.txn.as_ref()),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            written += &format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
        }
    }
    assert_eq!(Postback::parse(&written, None).as_ref(), Ok(&postback));
    assert_eq!(Postback::parse("", Some(&written)).as_ref(), Ok(&postback));
}
