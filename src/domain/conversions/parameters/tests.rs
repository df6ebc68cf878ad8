use proptest::{prelude::*, sample::select};

use super::*;
use crate::tracking::{
    Click,
    click_id::{DEFAULT_MAX, SHORT_MAX, seal},
    keys::KeyRing,
};

mod senders;

/// A valid click id, different for each number.
fn click_id(number: u8) -> String {
    let keys = KeyRing::parse(&format!("1:seal:{}", "5a".repeat(32))).unwrap();
    let click = Click::sample("player_1", 1_790_000_000_123);
    let longest = [DEFAULT_MAX, SHORT_MAX][usize::from(number % 2)];
    seal(&keys, &click, [number; 12], longest).id().to_owned()
}

fn parse(query: &str) -> Result<Postback<'_>, &'static str> {
    parse_post(query, None)
}

fn parse_post<'a>(query: &'a str, form: Option<&'a str>) -> Result<Postback<'a>, &'static str> {
    Postback::parse(query, form).map_err(|refusal| {
        assert_eq!(refusal.status, 400, "{query} {form:?}");
        refusal.code
    })
}

fn message(query: &str) -> String {
    Postback::parse(query, None).unwrap_err().message.into_owned()
}

/// A postback with the required parameters only.
fn minimal() -> String {
    format!("click_id={}&token=at_x", click_id(0))
}

#[test]
fn a_postback_with_every_parameter_is_parsed() {
    let id = click_id(0);
    let query = format!("click_id={id}&token=at_x&goal=level+5%2B&txn=order%2F17&status=Pending&payout=1.5");
    let expected = Postback {
        click_id: id.as_str().into(),
        token: "at_x".into(),
        goal: Some("level 5+".into()),
        txn: Some("order/17".into()),
        status: Status::Pending,
        reason: None,
    };
    assert_eq!(parse(&query), Ok(expected));
}

#[test]
fn query_and_body_count_as_one_list() {
    let (id, minimal) = (format!("click_id={}", click_id(0)), minimal());
    for (query, body) in [("", &*minimal), ("token=at_x", &id), (&minimal, ""), (&minimal, &minimal)] {
        assert_eq!(parse_post(query, Some(body)), parse(&minimal), "{query} {body}");
    }
    let contradicted = parse_post(&minimal, Some("token=at_y"));
    assert_eq!(contradicted, Err("invalid_parameter"));
}

#[test]
fn the_queries_of_real_partners_are_parsed() {
    let id = click_id(0);
    // Query, then its `goal`, `txn` and status.
    let table = [
        // TUNE
        (
            "token=at_x&transaction_id=OURS&goal=3021&txn=9910-1&status=approved&payout=0.80",
            (Some("3021"), Some("9910-1"), Status::Approved),
        ),
        // Everflow, an event without an order
        ("token=at_x&transaction_id=OURS&goal=&txn=&status=approved", (None, None, Status::Approved)),
        // Affise, which carries the click id in a sub
        (
            "token=at_x&aff_sub=OURS&goal=reg&txn=%7Btransactionid%7D&status=approved",
            (Some("reg"), None, Status::Approved),
        ),
        // Keitaro: its own id as tid
        ("token=at_x&subid=OURS&status=rejected&payout=1&currency=usd&tid=7781", (None, None, Status::Rejected)),
        // RedTrack
        ("token=at_x&clickid=OURS&sum=1.2&type=Purchase", (None, None, Status::Approved)),
        // AppsFlyer: an unfilled event in one of its spellings
        (
            "clickid=OURS&token=at_x&goal=(event-name)&txn=%7Btransaction_id%7D",
            (Some("(event-name)"), None, Status::Approved),
        ),
        // BitLabs
        ("cid=OURS&token=at_x&txn=[%25TX%25]", (None, None, Status::Approved)),
        // A macro within a text of the sender
        ("click_id=OURS&token=at_x&txn=order-[ORDER_ID]", (None, None, Status::Approved)),
        ("click_id=OURS&token=at_x&txn=shop/%2524%257BORDER%257D/1", (None, None, Status::Approved)),
        ("click_id=OURS&token=at_x&txn=[EU]-1001", (None, Some("[EU]-1001"), Status::Approved)),
        // The sender's own parameters, with names similar to Signpost's
        (
            "click_id=OURS&token=at_x&sub_id=100%&aff_sub=50%off&Goal=100%&goal=reg",
            (Some("reg"), None, Status::Approved),
        ),
        ("click_id=OURS&token=at_x&txn=US$42-a@b[7]", (None, Some("US$42-a@b[7]"), Status::Approved)),
        // A script with its own spellings of names and empty fields.
        ("ClickID=OURS&TOKEN=at_x%0A&Txn=null&Status=Rejected", (None, None, Status::Rejected)),
        // Copied from a page's source, with invisible characters.
        (
            "click_id=OURS%E2%80%8B&amp;token=%EF%BB%BFat_x%C2%A0&amp;txn=00000000-0000-0000-0000-000000000000",
            (None, None, Status::Approved),
        ),
        // A proxy's copy, in which the id is filled in.
        ("click_id=OURS&token=at_x&txn=null&txn=t-1", (None, Some("t-1"), Status::Approved)),
    ];
    for (query, (goal, txn, status)) in table {
        let query = query.replace("OURS", &id);
        let expected = Postback {
            click_id: id.as_str().into(),
            token: "at_x".into(),
            goal: goal.map(Cow::Borrowed),
            txn: txn.map(Cow::Borrowed),
            status,
            reason: None,
        };
        assert_eq!(parse(&query), Ok(expected), "{query}");
    }
}

#[test]
fn of_several_click_ids_the_first_name_in_the_table_decides() {
    // In the query, the names are in the reverse order.
    let mut query = "token=t".to_owned();
    for (name, number) in NAMES[..7].iter().rev().zip(0..) {
        query = format!("{query}&{name}={}", click_id(number));
        let chosen = parse(&query).map(|postback| postback.click_id);
        assert_eq!(chosen, Ok(click_id(number).into()), "{name}");
    }
}

#[test]
fn a_partners_own_id_does_not_hide_the_click_id() {
    let id = click_id(1);
    let hash = "c3".repeat(32);
    for (own, code) in [
        ("17", "invalid_click_id"),
        ("7f9c24e8-3b1d-4c0e-9a57-0d9f6f1f2a3b", "invalid_click_id"),
        (&hash, "invalid_click_id"),
        ("{clickid}", "missing_field"),
        ("", "missing_field"),
        ("a%20b", "invalid_click_id"),
    ] {
        let query = format!("click_id={own}&tid={own}&aff_sub={id}&token=t");
        assert_eq!(parse(&query).expect(&query).click_id, id, "{query}");
        let query = format!("click_id={own}&tid={own}&token=t");
        assert_eq!(parse(&query), Err(code), "{query}");
    }
}

#[test]
fn a_parameter_may_be_repeated_but_not_contradicted() {
    let minimal = minimal();
    let with_goal = format!("{minimal}&goal=g1");
    for same in ["goal=g1", "goal=", "goal", "token={token}", "goal=%671", "go%61l=g1"] {
        for query in [format!("{with_goal}&{same}"), format!("{same}&{with_goal}")] {
            assert_eq!(parse(&query), parse(&with_goal), "{query}");
        }
    }
    for other in ["goal=g2", "goal=G1", "go%61l=g2", "goal={goal}", "token=at_y", "click_id=x"] {
        let query = format!("{with_goal}&{other}");
        assert_eq!(parse(&query), Err("invalid_parameter"), "{query}");
    }
    let message = message(&format!("{with_goal}&goal=g2"));
    assert_eq!(message, "goal has two different values");
}

#[test]
fn each_fault_has_its_code() {
    let (id, minimal) = (click_id(0), minimal());
    let (goal, txn) = ("é".repeat(200), "é".repeat(64));
    let table = [
        ("", "missing_field"),
        ("token=t", "missing_field"),
        (&format!("click_id={id}"), "missing_field"),
        (&format!("click_id={id}&token="), "missing_field"),
        (&format!("click={id}&token=t"), "missing_field"),
        ("click_id=x&token=t", "invalid_click_id"),
        (&format!("click_id={id}A&token=t"), "invalid_click_id"),
        (&format!("click_id={id}=&token=t"), "invalid_click_id"),
        (&format!("{minimal}&goal={goal}é"), "invalid_parameter"),
        (&format!("{minimal}&txn={txn}x"), "invalid_parameter"),
        (&format!("{minimal}&status=1"), "invalid_parameter"),
        (&format!("{minimal}&status=declined"), "invalid_parameter"),
        (&format!("{minimal}&status=appro+ved"), "invalid_parameter"),
        (&format!("{minimal}&goal=%"), "invalid_parameter"),
        (&format!("{minimal}&goal=%4"), "invalid_parameter"),
        (&format!("{minimal}&goal=%4g"), "invalid_parameter"),
        (&format!("{minimal}&goal=%+4"), "invalid_parameter"),
        (&format!("{minimal}&goal=%ff"), "invalid_parameter"),
        (&format!("{minimal}&goal=a+%ff"), "invalid_parameter"),
        (&format!("{minimal}&g%zz=1"), "invalid_parameter"),
    ];
    for (query, code) in table {
        assert_eq!(parse(query), Err(code), "{query}");
    }
    assert!(parse(&format!("{minimal}&goal={goal}&txn={txn}")).is_ok());
    assert!(message("token=t").starts_with("click_id is required"));
    assert!(message(&format!("click_id={id}")).starts_with("token is required"));
    let unfilled = message(&format!("click_id={id}&token=[TOKEN]"));
    assert!(unfilled.starts_with("token is [TOKEN]; send the advertiser's token itself instead"), "{unfilled}");
}

/// A status decides whether a user is paid, so it is never guessed. A status or a goal that cannot be decoded must not
/// become an approval or the first goal.
#[test]
fn an_undecodable_value_under_another_spelling_is_refused_unless_the_right_name_is_also_given() {
    for other in ["Status=rejet%E9", "GOAL=Einf%FChrung", "Txn=%zz", "goal-=%E9"] {
        let query = format!("{}&{other}", minimal());
        assert_eq!(parse(&query), Err("invalid_parameter"), "{other}");
        let beside = format!("{query}&status=approved&goal=g-1&txn=t");
        assert!(parse(&beside).is_ok(), "{other}");
    }
}

#[test]
fn a_macro_that_was_left_in_the_status_is_refused_by_name() {
    for (left_in, found) in [
        ("{status}", "{status}"),
        ("%7Bstatus%7D", "{status}"),
        ("%257Bstatus%257D", "%7Bstatus%7D"),
        ("__STATUS__", "__STATUS__"),
        ("%%STATUS%%", "%%STATUS%%"),
        ("[[status]]+", "[[status]]"),
        ("$status", "$status"),
        ("::status::", "::status::"),
    ] {
        let query = format!("{}&status={left_in}", minimal());
        assert_eq!(parse(&query), Err("invalid_parameter"), "{query}");
        let message = message(&query);
        assert!(message.contains(&format!("not {found}, which")) && message.contains("pending"), "{message}");
    }
    for absent in ["", "&status=", "&status"] {
        let status = parse(&format!("{}{absent}", minimal())).unwrap().status;
        assert_eq!(status, Status::Approved);
    }
}

#[test]
fn of_several_faults_the_first_in_the_documented_order_is_returned() {
    let id = format!("click_id={}", click_id(0));
    let faults = [
        ("token=%zz", "invalid_parameter"),
        ("click_id=x", "invalid_click_id"),
        ("token=", "missing_field"),
        ("status=1", "invalid_parameter"),
    ];
    let sound = ["", "", &format!("&{id}"), &format!("&{id}&token=t")];
    for (place, (_, code)) in faults.iter().enumerate() {
        // In the query, the faults are in the reverse order.
        let pairs: Vec<_> = faults[place..].iter().rev().map(|(pair, _)| *pair).collect();
        let query = format!("{}{}", pairs.join("&"), sound[place]);
        assert_eq!(parse(&query), Err(*code), "{query}");
    }
}

#[test]
fn unknown_parameters_are_ignored_even_if_malformed() {
    let minimal = minimal();
    let odd = format!("&&{minimal}&payout=%zz&payout=%ff&Tokens=x&=x&flag&%7Bk%7D=v");
    assert_eq!(parse(&odd), parse(&minimal));
}

#[test]
fn only_encoded_values_are_copied() {
    let query = format!("{}&goal=g1&txn=a+b", minimal());
    let postback = parse(&query).unwrap();
    assert!(matches!(
        (&postback.click_id, &postback.token, &postback.goal, &postback.txn),
        (Cow::Borrowed(_), Cow::Borrowed("at_x"), Some(Cow::Borrowed("g1")), Some(Cow::Owned(_)))
    ));
}

#[test]
fn a_reason_of_the_operator_has_at_most_200_characters_and_one_line() {
    for good in ["", "charge back", &"é".repeat(200)] {
        assert_eq!(check_reason(good), Ok(()));
    }
    for bad in [&"é".repeat(201), "two\nlines", "a\0"] {
        assert!(check_reason(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_reason_is_cut_to_one_line_and_never_refused() {
    let id = click_id(0);
    let reason = |text: &str| {
        let query = format!("click_id={id}&token=t&reason={text}");
        parse(&query).unwrap().reason.map(Cow::into_owned)
    };
    assert_eq!(reason("charge+back").as_deref(), Some("charge back"));
    assert_eq!(reason("a%0Ab%00c").as_deref(), Some("a b c"));
    assert_eq!(reason(&"%C3%A9".repeat(200)), Some("é".repeat(200)));
    assert_eq!(reason(&"%C3%A9".repeat(201)), Some("é".repeat(200)));
    // Latin-1, and a sign that was not encoded.
    assert_eq!(reason("annul%E9+50%").as_deref(), Some("annul\u{fffd} 50%"));
    for absent in ["", "{reason}"] {
        assert_eq!(reason(absent), None);
    }
}

proptest! {
    #[test]
    fn form_encoded_values_are_decoded(
        name in select(&NAMES[..7]),
        token in "[ -z~é☃]{1,40}",
        goal in proptest::option::of("[ -z~é☃]{1,40}"),
        txn in proptest::option::of("[ -z~é☃]{1,40}"),
        status in proptest::option::of(select(Status::ALL.as_slice())),
        posted: bool,
    ) {
        // Blanks around an id do not count.
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let (token, goal, txn) = (token.trim().to_owned(), trimmed(goal), trimmed(txn));
        let texts = [Some(&token), goal.as_ref(), txn.as_ref()];
        prop_assume!(!token.is_empty() && !texts.into_iter().flatten().any(|text| has_any_macro(text) || is_none(text)));
        prop_assume!(txn.as_deref() != Some("0") && !goal.as_deref().is_some_and(|goal| is_macro(goal.trim())));
        let id = click_id(0);
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair(name, &id).append_pair("token", &token);
        for (name, value) in [("goal", &goal), ("txn", &txn)] {
            value.as_ref().inspect(|value| { form.append_pair(name, value); });
        }
        status.inspect(|status| { form.append_pair("status", status.as_str()); });
        let encoded = form.finish();
        let postback = if posted { parse_post("", Some(&encoded)) } else { parse(&encoded) };
        let expected = Postback {
            click_id: id.as_str().into(),
            token: token.into(),
            goal: goal.map(Cow::Owned),
            txn: txn.map(Cow::Owned),
            status: status.unwrap_or_default(),
            reason: None,
        };
        prop_assert_eq!(postback, Ok(expected));
    }

    #[test]
    fn any_text_is_parsed_or_refused(query in "([a-z_]{0,6}|click_id|token|goal|[=&%+{}]|%[0-9a-fA-F]{2}|.){0,24}", form in proptest::option::of(".{0,40}")) {
        if let Ok(postback) = parse_post(&query, form.as_deref()) {
            prop_assert!(!postback.click_id.is_empty() && !postback.token.is_empty());
        }
    }
}
