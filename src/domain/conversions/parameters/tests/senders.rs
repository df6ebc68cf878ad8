//! Values and names as senders write them in practice.

use super::*;

#[test]
fn a_txn_that_is_a_word_for_none_counts_as_absent() {
    let minimal = minimal();
    for none in [
        "null",
        "NULL",
        "undefined",
        "None",
        "nil",
        "n%2Fa",
        "N/A",
        "na",
        "-",
        "(null)",
        "%28null%29",
        "unknown",
        "0",
        "null%20",
        "+null%0A",
    ] {
        let query = format!("{minimal}&txn={none}");
        assert_eq!(parse(&query), parse(&minimal), "{none}");
    }
    for own in ["nullable", "00", "A-1", "order-0", "nil-1"] {
        let query = format!("{minimal}&txn={own}");
        assert_eq!(parse(&query).unwrap().txn.as_deref(), Some(own));
    }
}

#[test]
fn a_goal_that_was_not_filled_in_is_refused_with_what_was_found() {
    let minimal = minimal();
    for (sent, found) in [
        ("{goal}", "{goal}"),
        ("%7Bgoal%7D", "{goal}"),
        ("${(name)!}", "${(name)!}"),
        ("[%25GOAL:ID%25]", "[%GOAL:ID%]"),
        ("%goal%", "%goal%"),
        ("__GOAL__", "__GOAL__"),
        ("$goal", "$goal"),
        ("null", "null"),
        ("Undefined", "Undefined"),
        ("none", "none"),
        ("(null)", "(null)"),
        ("null%0D%0A", "null"),
    ] {
        let query = format!("{minimal}&goal={sent}");
        assert_eq!(parse(&query), Err("unknown_goal"), "{sent}");
        let message = message(&query);
        assert!(message.starts_with(&format!("goal is {found}, which")), "{sent}: {message}");
    }
    for own in ["nil", "na", "unknown", "0", "-", "level_10", "(event-name)", "$5", "None of these"] {
        let query = format!("{minimal}&goal={}", own.replace(' ', "+"));
        assert_eq!(parse(&query).unwrap().goal.as_deref(), Some(own));
    }
    assert_eq!(parse(&format!("{minimal}&goal=")), parse(&minimal));
}

#[test]
fn a_name_is_read_in_any_spelling_and_signposts_own_comes_first() {
    let (id, other) = (click_id(0), click_id(1));
    for (query, chosen) in [
        (format!("clickId={id}&Token=at_x"), &id),
        (format!("CLICK_ID={id}&TOKEN=at_x"), &id),
        (format!("click-id={id}&tOKEN=at_x"), &id),
        (format!("TransactionId={id}&token=at_x"), &id),
        (format!("clickid={other}&CLICK_ID={id}&token=at_x"), &id),
        (format!("ClickId={id}&clickid={other}&token=at_x"), &other),
    ] {
        let postback = parse(&query).expect(&query);
        assert_eq!((postback.click_id.as_ref(), postback.token.as_ref()), (chosen.as_str(), "at_x"), "{query}");
    }
    let minimal = minimal();
    for query in [format!("{minimal}&goal=g1&Goal=g2"), format!("{minimal}&Goal=g2&goal=g1")] {
        assert_eq!(parse(&query).unwrap().goal.as_deref(), Some("g1"), "{query}");
    }
    // Among similar names the first counts: the others may be the sender's own.
    for query in
        [format!("{minimal}&Goal=g1&GOAL=g2"), format!("{minimal}&Sub_ID=a&subId=b&status=+approved%0A&goal=g1%20")]
    {
        let postback = parse(&query).unwrap();
        let read = (postback.goal.as_deref(), postback.status);
        assert_eq!(read, (Some("g1"), Status::Approved), "{query}");
    }
}

#[test]
fn blanks_and_line_breaks_around_ids_are_trimmed() {
    let id = click_id(0);
    for blank in ["%0A", "%0D%0A", "%20", "+", "%09", "%C2%A0"] {
        for query in [
            format!("click_id={id}{blank}&token=at_x{blank}&txn=t-1{blank}"),
            format!("click_id={blank}{id}&token={blank}at_x&txn={blank}t-1"),
        ] {
            let postback = parse(&query).expect(&query);
            let found = (&*postback.click_id, &*postback.token, postback.txn.as_deref());
            assert_eq!(found, (&*id, "at_x", Some("t-1")), "{query}");
        }
    }
    let form = format!("{}&status=rejected\r\n", minimal());
    assert_eq!(parse_post("", Some(&form)).unwrap().status, Status::Rejected);
}

#[test]
fn a_macro_that_was_not_replaced_counts_as_absent() {
    let (id, minimal) = (click_id(0), minimal());
    for left in [
        "{goal}",
        "{{event.name}}",
        "%7Bgoal%7D",
        "%7bgoal}",
        "${goal}",
        "%24%7Bgoal%7D",
        "$%7B(x)!%7D",
        "[goal]",
        "[[goal]]",
        "%5Bgoal%5D",
        "%goal%",
        "%25goal%25",
        "%AB%",
        "{a b}",
        "{a+b}",
        "{a}{b}",
        "{}",
        "__TXN__",
        "$txn",
        "<txn>",
        "%3Ctxn%3E",
        "::txn::",
        "%23txn%23",
        "@txn@",
        "%257Btxn%257D",
    ] {
        let query = format!("{minimal}&txn={left}&reason={left}");
        assert_eq!(parse(&query), parse(&minimal), "{left}");
        let query = format!("{minimal}&status={left}");
        assert_eq!(parse(&query), Err("invalid_parameter"), "{query}");
        for query in [format!("click_id={left}&token=t"), format!("click_id={id}&token={left}")] {
            assert_eq!(parse(&query), Err("missing_field"), "{query}");
        }
    }
}

#[test]
fn a_txn_with_a_macro_inside_is_absent_and_such_a_goal_is_unchanged() {
    let query = format!("{}&goal=level_%7Bn%7D&txn=order-{{id}}", minimal());
    let postback = parse(&query).unwrap();
    let parsed = (postback.goal.as_deref(), postback.txn);
    assert_eq!(parsed, (Some("level_{n}"), None));
    for plain in ["50%25", "[5", "a[5]", "%255", "{", "}", "}{", "$5", "(x)"] {
        let query = format!("{}&goal={plain}&txn={plain}", minimal());
        let Postback { goal, txn, .. } = parse(&query).expect(plain);
        assert!(goal.is_some() && goal == txn, "{plain}");
    }
}
