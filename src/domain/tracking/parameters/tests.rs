use proptest::prelude::*;

use super::*;

const MINIMAL: &str = "rid=g1&app=00000042&user_id=u1";

fn parse(query: &str) -> Result<ClickParameters<'_>, &'static str> {
    ClickParameters::parse(query).map_err(|refusal| {
        assert_eq!(refusal.status, 400, "{query}");
        refusal.code
    })
}

fn message(query: &str) -> String {
    ClickParameters::parse(query).unwrap_err().message.into_owned()
}

#[test]
fn a_tracking_url_with_every_parameter_is_parsed() {
    let query = "rid=60118-1&app=00000042&user_id=player_1@mail.example&gaid=38400000-8cf0-11bd-b23e-10b96e40000d\
        &idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC&c1=a&c2=b&c3=c&c4=d&c5=e&placement=home.top";
    let expected = ClickParameters {
        rid: "60118-1".into(),
        app: "00000042".into(),
        user_id: "player_1@mail.example".into(),
        gaid: Some("38400000-8cf0-11bd-b23e-10b96e40000d".into()),
        idfa: Some("6D92078A-8246-4BA4-AE5B-76104861E7DC".into()),
        custom: ["a", "b", "c", "d", "e"].map(|text| Some(text.into())),
        placement: Some("home.top".into()),
    };
    assert_eq!(parse(query), Ok(expected));
}

#[test]
fn only_percent_encoded_values_are_copied() {
    let click = ClickParameters::parse("rid=g1&app=00000042&user_id=u%40x&c1=v").unwrap();
    assert!(matches!((&click.rid, &click.custom[0]), (Cow::Borrowed("g1"), Some(Cow::Borrowed("v")))));
    assert!(matches!(&click.user_id, Cow::Owned(decoded) if decoded == "u@x"));
}

#[test]
fn names_may_be_percent_encoded() {
    let click = parse("%72id=g1&app=00000042&user%5Fid=u1&%631=v").unwrap();
    assert_eq!((&*click.user_id, click.custom[0].as_deref()), ("u1", Some("v")));
}

#[test]
fn unknown_parameters_are_ignored_even_if_malformed() {
    let odd = format!("{MINIMAL}&&utm=%zz&utm=%ff&USER_ID=x&c6=%7B&=x&flag");
    assert_eq!(parse(&odd), parse(MINIMAL));
}

#[test]
fn an_empty_optional_parameter_counts_as_absent() {
    let empty = format!("{MINIMAL}&gaid=&idfa&c1=&c5&placement=");
    assert_eq!(parse(&empty), parse(MINIMAL));
}

#[test]
fn a_placeholder_left_in_an_advertising_identifier_counts_as_absent() {
    for value in ["{gaid_for_android}", "%7Bgaid%7D", "%7bgaid}", "{", &format!("{{{}}}", "x".repeat(100))] {
        let query = format!("{MINIMAL}&gaid={value}&idfa={value}");
        assert_eq!(parse(&query), parse(MINIMAL), "{value}");
    }
}

#[test]
fn an_invalid_device_id_counts_as_absent_and_a_real_one_is_trimmed() {
    let long = "x".repeat(65);
    for none in [
        "(null)",
        "[idfa]",
        "N/A",
        "null",
        "Unknown",
        "0",
        "-",
        "00000000-0000-0000-0000-000000000000",
        "__GAID__",
        "%25gaid%25",
        "%gaid%",
        "a/b",
        "a%20b",
        "me@x.example",
        "%C3%A9",
        &long,
    ] {
        let query = format!("{MINIMAL}&gaid={none}&idfa={none}");
        assert_eq!(parse(&query), parse(MINIMAL), "{none}");
    }
    let id = "38400000-8cf0-11bd-b23e-10b96e40000d";
    for sent in [format!("{id}%20"), format!("%0A{id}%0D%0A"), format!("{id}+"), format!(" {id}")] {
        let query = format!("{MINIMAL}&gaid={sent}&idfa={sent}");
        let click = parse(&query).unwrap();
        let found = [click.gaid, click.idfa].map(Option::unwrap);
        assert_eq!(found, [id, id], "{sent}");
    }
}

#[test]
fn a_macro_or_a_word_for_none_is_absent_in_a_placement_and_a_macro_in_c1_to_c5() {
    for left in ["{x}", "%7Bx%7D", "%257Bx%257D", "[[x]]", "%x%", "__X__", "@sub1@", "%23x%23", "$x"] {
        let query = format!("{MINIMAL}&placement={left}&c1={left}&c5={left}");
        assert_eq!(parse(&query), parse(MINIMAL), "{left}");
    }
    for word in ["null", "N/A", "none", "unknown", "-"] {
        let query = format!("{MINIMAL}&placement={word}");
        assert_eq!(parse(&query), parse(MINIMAL), "{word}");
    }
    for word in ["null", "none", "-", "0", "unknown"] {
        let query = format!("{MINIMAL}&c1={word}");
        assert_eq!(parse(&query).unwrap().custom[0].as_deref(), Some(word));
    }
}

#[test]
fn a_user_id_that_is_a_macro_or_names_nobody_is_refused_with_what_was_found() {
    for (sent, found) in [
        ("{your_user_id}", "{your_user_id}"),
        ("%7Bid%7D", "{id}"),
        ("u-{id}", "u-{id}"),
        ("__USER_ID__", "__USER_ID__"),
        ("__user_id__", "__user_id__"),
        ("@user_id@", "@user_id@"),
        ("%user_id%", "%user_id%"),
        ("[user_id]", "[user_id]"),
        ("null", "null"),
        ("Undefined", "Undefined"),
        ("NONE", "NONE"),
        ("(null)", "(null)"),
    ] {
        let query = format!("rid=g1&app=1&user_id={sent}");
        assert_eq!(parse(&query), Err("invalid_user_id"), "{sent}");
        let message = message(&query);
        assert!(message.contains(&format!(" {found}")), "{sent}: {message}");
    }
    for real in ["me@x.example", "__bob__", "nil", "unknown", "0", "-", "na", "level_10", "@me", "NULLs"] {
        let query = format!("rid=g1&app=1&user_id={real}");
        assert_eq!(parse(&query).expect(real).user_id, real);
    }
}

#[test]
fn html_escapes_and_invisible_characters_around_a_value_are_dropped() {
    let query =
        "rid=g1&amp;app=1&amp;user_id=u1%E2%80%8B&amp;c1=fb_{campaign_id}&amp;placement=top-{zone}&c2=%EF%BB%BFx";
    let click = parse(query).unwrap();
    assert_eq!((&*click.app, &*click.user_id), ("1", "u1"));
    assert_eq!((&click.custom[0], &click.placement), (&None, &None));
    assert_eq!(click.custom[1].as_deref(), Some("x"));
}

#[test]
fn each_fault_has_its_code() {
    let user = "rid=g1&app=00000042&user_id=";
    let (longer, long, label) = ("x".repeat(129), "x".repeat(256), "x".repeat(65));
    let table = [
        ("", "missing_field"),
        ("app=00000042&user_id=u1", "missing_field"),
        ("rid=&app=00000042&user_id=u1", "missing_field"),
        ("rid=g1&user_id=u1", "missing_field"),
        ("rid=g1&app=00000042", "missing_field"),
        ("rid=g1&app=00000042&user_id=", "missing_field"),
        ("rid=g1&app=00000042&user_id", "missing_field"),
        (&format!("{user}a+b"), "invalid_user_id"),
        (&format!("{user}a%20b"), "invalid_user_id"),
        (&format!("{user}a%2Bb"), "invalid_user_id"),
        (&format!("{user}é"), "invalid_user_id"),
        (&format!("{user}%C3%A9"), "invalid_user_id"),
        (&format!("{user}a%00"), "invalid_user_id"),
        (&format!("{user}{{your_user_id}}"), "invalid_user_id"),
        (&format!("{user}%7Byour_user_id%7D"), "invalid_user_id"),
        (&format!("{user}{longer}"), "invalid_user_id"),
        (&format!("{MINIMAL}&c1=a b"), "invalid_custom_parameter"),
        (&format!("{MINIMAL}&c5=a-%7Bc5"), "invalid_custom_parameter"),
        (&format!("{MINIMAL}&c3={long}x"), "invalid_custom_parameter"),
        (&format!("{MINIMAL}&c1={long}&c2={long}&c3={long}&c4=x"), "invalid_custom_parameter"),
        (&format!("{MINIMAL}&placement={label}"), "invalid_parameter"),
        (&format!("{MINIMAL}&placement=a/b"), "invalid_parameter"),
        (&format!("{MINIMAL}&user_id=u1"), "invalid_parameter"),
        (&format!("{MINIMAL}&user%5Fid=u2"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=&c1=x"), "invalid_parameter"),
        (&format!("{MINIMAL}&gaid={{gaid}}&gaid=x"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=%"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=%4"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=%4g"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=%+4"), "invalid_parameter"),
        (&format!("{MINIMAL}&c1=%ff"), "invalid_parameter"),
        (&format!("{MINIMAL}&placement={{%zz"), "invalid_parameter"),
        (&format!("{MINIMAL}&c%zz=1"), "invalid_parameter"),
    ];
    for (query, code) in table {
        assert_eq!(parse(query), Err(code), "{query}");
    }
    let (longest, label) = ("x".repeat(128), "x".repeat(64));
    let query = format!("rid=g1&app=1&user_id={longest}&c1={long}&c3={long}&c5={long}&gaid={label}&placement={label}");
    assert!(parse(&query).is_ok());
    for bad in ["{%zz", "%", "%ff", "100%"] {
        let query = format!("{MINIMAL}&gaid={bad}&idfa={bad}");
        let click = ClickParameters::parse(&query).unwrap();
        assert_eq!((click.gaid, click.idfa), (None, None), "{bad}");
    }
}

#[test]
fn the_message_names_the_parameter() {
    assert_eq!(message("rid=g1&user_id=u1"), "app is required");
    let repeated = message(&format!("{MINIMAL}&rid=g1"));
    assert_eq!(repeated, "rid is given more than once");
    for name in ["c4", "placement"] {
        let message = message(&format!("{MINIMAL}&{name}=!"));
        assert!(message.starts_with(&format!("{name} ")), "{name}: {message}");
    }
}

#[test]
fn of_several_faults_the_first_in_the_documented_order_is_returned() {
    let faults = [
        ("c1=%zz", "invalid_parameter"),
        ("user_id=!", "invalid_user_id"),
        ("c2=!", "invalid_custom_parameter"),
        ("placement=!", "invalid_parameter"),
    ];
    for (place, (_, code)) in faults.iter().enumerate() {
        // In the query, the faults are in the reverse order.
        let pairs: Vec<_> = faults[place..].iter().rev().map(|(pair, _)| *pair).collect();
        let user = if place > 1 { "&user_id=u1" } else { "" };
        let query = format!("{}&rid=g1&app=1{user}", pairs.join("&"));
        assert_eq!(parse(&query), Err(*code), "{query}");
    }
    assert_eq!(message("user_id=!&app="), "rid is required");
}

proptest! {
    #[test]
    fn a_value_is_decoded_however_it_was_encoded(
        values in proptest::collection::vec("[A-Za-z0-9.][A-Za-z0-9_.-]{8,62}[A-Za-z]", NAMES.len()),
        escaped: [bool; 7],
        order in Just((0..NAMES.len()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let escape = |text: &str, shift: usize| -> String {
            text.bytes().enumerate().map(|(at, byte)| match escaped[(at + shift) % escaped.len()] {
                true => format!("%{byte:02x}"),
                false => char::from(byte).to_string(),
            }).collect()
        };
        let pair = |&place: &usize| format!("{}={}", escape(NAMES[place], place), escape(&values[place], place + 1));
        let query = order.iter().map(pair).collect::<Vec<_>>().join("&");
        let click = ClickParameters::parse(&query).unwrap();
        let custom = click.custom.map(Option::unwrap);
        let [c1, c2, c3, c4, c5] = custom.each_ref();
        let (gaid, idfa, placement) = (click.gaid.unwrap(), click.idfa.unwrap(), click.placement.unwrap());
        let read = [&click.rid, &click.app, &click.user_id, &gaid, &idfa, c1, c2, c3, c4, c5, &placement];
        prop_assert_eq!(read.map(|text| text.to_string()).to_vec(), values);
    }

    #[test]
    fn accepted_values_keep_to_the_alphabet(query in "(rid|app|user_id|c1|gaid|[a-z%=&]{0,4}|[&=%{}a-f0-9+ ]{0,6}){0,12}") {
        if let Ok(click) = ClickParameters::parse(&format!("{MINIMAL}&{query}")) {
            for text in click.custom.iter().chain([&click.gaid, &click.idfa, &click.placement]).flatten() {
                prop_assert!(!text.is_empty() && alphabet::contains_all(text));
            }
        }
    }
}

#[test]
fn blanks_around_ids_do_not_count() {
    let query = "rid=%20g%0A&app=00000042%20&user_id=u1%0D%0A&c1=x%20&placement=home%20";
    let click = ClickParameters::parse(query).unwrap();
    let read = [&click.rid, &click.app, &click.user_id].map(AsRef::as_ref);
    assert_eq!(read, ["g", "00000042", "u1"]);
    assert_eq!((click.custom[0].as_deref(), click.placement.as_deref()), (Some("x"), Some("home")));
    assert_eq!(ClickParameters::parse("rid=g&app=a&user_id=%20").unwrap_err().code, "missing_field");
}
