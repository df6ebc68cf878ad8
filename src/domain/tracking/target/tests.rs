use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

const CLICK: Macros<'_> = Macros {
    click_id: "AQEAAAAq-_9",
    goal_id: "60118-1",
    offer_id: "60118",
    app_id: "00000042",
    user_id: "player_1@mail.example",
    gaid: "38400000-8cf0-11bd-b23e-10b96e40000d",
    idfa: "",
    custom: ["a.b", "", "c3", "c4", "c5"],
    country: "DE",
};

fn canonical(url: &str) -> String {
    Template::parse(url).unwrap_or_else(|problem| panic!("{url} {problem}")).as_str().to_owned()
}

fn filled(url: &str, values: &Macros<'_>) -> String {
    let mut out = String::new();
    fill(&canonical(url), values, &mut out);
    out
}

#[test]
fn every_macro_is_filled_in_percent_encoded() {
    let url = "https://t.example/{offer_id}/{goal_id}?id={click_id}&a={app_id}&u={user_id}&g={gaid}&i={idfa}\
        &s={c1},{c2},{c3},{c4},{c5}&cc={country}#/{click_id}";
    assert_eq!(
        filled(url, &CLICK),
        "https://t.example/60118/60118-1?id=AQEAAAAq-_9&a=00000042&u=player_1%40mail.example\
         &g=38400000-8cf0-11bd-b23e-10b96e40000d&i=&s=a.b,,c3,c4,c5&cc=DE#/AQEAAAAq-_9"
    );
    let hostile = Macros { user_id: "~{c1}/é?#&=+% \r\n", ..Macros::default() };
    assert_eq!(
        filled("https://t.example/u{user_id}?{click_id}", &hostile),
        "https://t.example/u~%7Bc1%7D%2F%C3%A9%3F%23%26%3D%2B%25%20%0D%0A?"
    );
}

#[test]
fn every_macro_has_a_value() {
    for name in NAMES {
        assert!(CLICK.get(name).is_some(), "{name}");
    }
}

#[test]
fn a_target_without_a_click_id_gets_one_before_its_fragment() {
    let table = [
        ("", "/?click_id={click_id}"),
        ("/p", "/p?click_id={click_id}"),
        ("?", "/?click_id={click_id}"),
        ("/p?a=1", "/p?a=1&click_id={click_id}"),
        ("/p?a=1&", "/p?a=1&click_id={click_id}"),
        ("/p?a=1&&b", "/p?a=1&&b&click_id={click_id}"),
        ("/p?ref=wall#/signup", "/p?ref=wall&click_id={click_id}#/signup"),
        ("/#/a?b=1#c", "/?click_id={click_id}#/a?b=1#c"),
        ("/p?u={user_id}", "/p?u={user_id}&click_id={click_id}"),
        ("/%7Bclick_id%7D", "/{click_id}"),
        ("/?a=%7bclick_id%7d&b=%7Bother%7D", "/?a={click_id}&b=%7Bother%7D"),
        ("/?a=%7Bclick_id%7d&b=%7bc1%7D", "/?a={click_id}&b={c1}"),
        ("/?click_id=&a=1&click_id=", "/?click_id={click_id}&a=1"),
        ("/?click_id=&o=5", "/?click_id={click_id}&o=5"),
        ("/?CLICK_ID=&o=5&click_id=", "/?click_id={click_id}&o=5"),
        ("/?click_id&click_id=", "/?click_id={click_id}"),
        ("/?o=5&click%5Fid=", "/?o=5&click%5Fid={click_id}"),
        ("/?o=5&clickId", "/?o=5&clickId={click_id}"),
        ("/?clickid=5&click_id=", "/?clickid=5&click_id={click_id}"),
        ("/?clickid={c1}", "/?clickid={c1}&click_id={click_id}"),
    ];
    for (written, expected) in table {
        let url = format!("https://t.example{written}");
        assert_eq!(canonical(&url), format!("https://t.example{expected}"), "{url}");
    }
    for (url, mark) in [
        ("itms-apps://apps.example/id1", "?"),
        ("https://apps.apple.com/app/id1", "?"),
        ("https://play.google.com.t.example/?id=a", "&"),
    ] {
        assert_eq!(canonical(url), format!("{url}{mark}click_id={{click_id}}"));
    }
}

#[test]
fn a_target_with_a_click_id_stays_unchanged() {
    let table = [
        "https://t.example/{click_id}",
        "https://t.example/?",
        "https://t.example/?#",
        "https://t.example/p?a=1&&cid={click_id}&",
        "https://t.example/v?src={app_id}#/alerts?from={country}&cid={click_id}",
        "https://t.example:8443/a/../b;c=(1)!*'$,:@[]?x=%41&y=100%25#z",
        "http://[2001:db8::1]/",
        "https://play.google.com/store/apps/details?id=a.b&referrer=tid%3D{click_id}",
        "market://details?id=a.b&referrer={click_id}",
    ];
    for url in table {
        let url = if url.contains("{click_id}") { url.to_owned() } else { format!("{url}{{click_id}}") };
        assert_eq!(canonical(&url), url);
    }
}

#[test]
fn on_google_play_the_click_id_goes_into_the_referrer() {
    let play = "https://play.google.com/store/apps/details";
    // `ID` stands for `click_id%3D{click_id}`.
    let table = [
        ("?id=a.b", "?id=a.b&referrer=ID"),
        ("?id=a.b#x", "?id=a.b&referrer=ID#x"),
        ("?id=a.b&referrer=", "?id=a.b&referrer=ID"),
        ("?referrer&id=a.b", "?referrer=ID&id=a.b"),
        ("?id=a.b&referrer=x%3D1%26y%3D2&hl=de", "?id=a.b&referrer=x%3D1%26y%3D2%26ID&hl=de"),
        ("?id=a.b&referrer=x=1", "?id=a.b&referrer=x=1%26ID"),
        ("?id=a.b&referrer=s%3D{c1}", "?id=a.b&referrer=s%3D{c1}%26ID"),
        ("?id=a.b&referrer=click_id%3D%26x%3D1", "?id=a.b&referrer=ID%26x%3D1"),
        ("?id=a.b&referrer=x=1%26%26click_id=", "?id=a.b&referrer=x=1%26%26ID"),
        ("?id=a.b&my_referrer=x", "?id=a.b&my_referrer=x&referrer=ID"),
    ];
    for (written, expected) in table {
        let expected = expected.replace("ID", "click_id%3D{click_id}");
        let url = format!("{play}{written}");
        assert_eq!(canonical(&url), format!("{play}{expected}"), "{written}");
    }
    assert_eq!(canonical("market://details?id=a.b"), "market://details?id=a.b&referrer=click_id%3D{click_id}");
    assert_eq!(
        canonical("HTTPS://Play.Google.com:443/?id=a.b"),
        "https://play.google.com/?id=a.b&referrer=click_id%3D{click_id}"
    );

    // The app receives the query's referrer, decoded once.
    let url = Url::parse(&filled(&format!("{play}?id=a.b&referrer=x%3D1%26y%3D2"), &CLICK)).unwrap();
    let (_, referrer) = url.query_pairs().find(|(name, _)| name == "referrer").unwrap();
    assert_eq!(referrer, "x=1&y=2&click_id=AQEAAAAq-_9");
}

#[test]
fn other_scripts_and_special_characters_are_encoded() {
    assert_eq!(
        canonical("https://Bücher.example/größe|a?q=<é>&c={click_id}#\"ü\""),
        "https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe%7Ca?q=%3C%C3%A9%3E&c={click_id}#%22%C3%BC%22"
    );
}

#[test]
fn a_faulty_template_is_refused_with_the_fault() {
    let longer = format!("https://t.example/{}", "é".repeat(2_031));
    let in_host = "must not have a macro in its host";
    let dots = "must not have a path segment that consists only of dots";
    let table = [
        ("", "must be a URL"),
        ("t.example/{click_id}", "must be a URL"),
        ("//t.example/", "must be a URL"),
        ("https:t.example/", "must be a URL"),
        ("https:/t.example/", "must be a URL"),
        ("javascript://t.example/%0Aalert(1)", "must be a URL"),
        ("intent://t.example/", "must be a URL"),
        ("ftp://t.example/", "must be a URL"),
        ("{c1}://t.example/", "must be a URL"),
        ("http{c1}://t.example/", "must be a URL"),
        ("https:///t.example/", "is not a URL"),
        ("https:////t.example/", "is not a URL"),
        ("market:///details", "must name a host"),
        ("https://t.\"example/", "must name a host"),
        ("https://*.example/", "must name a host"),
        ("https://?a", "is not a URL"),
        ("https://t.example:99999/", "is not a URL"),
        ("https://t ex.example/", "must not contain spaces"),
        ("https://t.example/a b", "must not contain spaces"),
        (" https://t.example/", "must not contain spaces"),
        ("https://t.example/\r\nX: y", "must not contain spaces"),
        ("https://t.example/\u{a0}", "must not contain spaces"),
        ("https://t.example\\@evil.example/", "must not contain spaces"),
        ("https://u@t.example/", "must not carry credentials"),
        ("https://u:p@t.example/", "must not carry credentials"),
        ("market://u@details?id=a", "must not carry credentials"),
        ("https://{c1}/", in_host),
        ("https://{c1}.t.example/", in_host),
        ("https://t.example{c1}/", in_host),
        ("https://t.example:{c1}/", in_host),
        ("https://{c1}@t.example/", in_host),
        ("https://%7Bc1%7D.t.example/", in_host),
        ("https://\u{ff5b}c1\u{ff5d}.t.example/", in_host),
        ("https://t.example/{clickid}", "has an unknown macro {clickid}: write {click_id}"),
        ("https://t.example/{c6}", "has an unknown macro {c6}"),
        ("https://t.example/{}", "has an unknown macro {}"),
        (
            "https://t.example/{{click_id}}",
            "has a macro in the spelling of another system: write {click_id} instead of {{click_id}}",
        ),
        ("https://t.example/{Click_Id}", "has an unknown macro {Click_Id}: write {click_id}"),
        (
            "https://t.example/?c=%click_id%",
            "has a macro in the spelling of another system: write {click_id} instead of %click_id%",
        ),
        ("https://t.example/?c=%7BCLICK_ID%7D", "has a macro in the spelling of another system"),
        ("https://t.example/#[gaid]", "has a macro in the spelling of another system"),
        ("https://t.example/?click_id=5", "has click_id=5: write click_id={click_id}"),
        ("https://t.example/?[CLICK_ID]", "has a macro in the spelling of another system"),
        ("https://t.example/?sub={click_id}&click_id=", "has click_id= without a value in addition to {click_id}"),
        ("https://t.example/{click_id}?clickId", "has clickId without a value in addition to {click_id}"),
        ("market://details?id=a.b&click_id", "has click_id without a value in addition to {click_id}"),
        ("https://play.google.com/?referrer=click_id%3D5", "has click_id%3D5: write click_id%3D{click_id}"),
        ("https://t.example/?a=1&amp;b=2", "has the HTML escape &amp;"),
        ("https://t.example/\u{200b}", "has the invisible character U+200B"),
        ("https://t.example/a\u{200d}b", "has the invisible character U+200D"),
        ("https://t.example/?a=%zz", "has %zz, which"),
        ("https://t.example/{click_id", "has a { or }"),
        ("https://t.example/click_id}", "has a { or }"),
        ("https://t.example/{click_id}}", "has a { or }"),
        ("https://t.example/{user_id}", dots),
        ("https://t.example/a/{c1}{c2}/b?x", dots),
        ("https://t.example/.{gaid}", dots),
        // A dot may be written as %2e.
        ("https://t.example/a/%2e{c1}/b", dots),
        ("https://t.example/%2{c1}", "has %2{, which"),
        ("https://t.example/{c1}%{c2}E", "has %{c, which"),
        // `{country}` is empty for a visitor of unknown country.
        ("https://t.example/a/..{country}/b", dots),
        ("https://t.example/%2E{country}", dots),
        (&longer, "must be at most 2048 characters"),
    ];
    for (url, problem) in table {
        let error = Template::parse(url).expect_err(url);
        assert!(error.starts_with(problem), "{url}: {error}");
    }
    assert!(Template::parse(&format!("https://t.example/{}", "é".repeat(2_030))).is_ok());
    for fine in [
        "/u{user_id}",
        "/{offer_id}/{goal_id}/{app_id}/{country}/{click_id}",
        "/{country}",
        "/e{c1}",
        "/2{c1}",
        "/%41{c1}",
        "/a?{user_id}",
        "/a#/{c1}/",
    ] {
        let template = Template::parse(&format!("https://t.example{fine}"));
        assert!(template.is_ok(), "{fine}: {template:?}");
    }
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        proptest::string::string_regex("[\\x00-\\x7f]{0,12}").unwrap(),
        select(vec![
            "//evil.example",
            "@evil.example",
            "\r\nLocation: x",
            "..",
            "%0d%0a",
            "{click_id}",
            "\\\\e",
            ":80@"
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn the_host_never_comes_from_the_request(
        origin in select(vec![
            "https://t.example", "http://t.example:8080", "market://details", "itms-apps://apps.example",
            "https://play.google.com", "http://[::1]:3000",
        ]),
        rest in vec(select(vec![
            "/", "//", "?", "#", "&", "=", ".", "..", "a", "@", ":", "%", "%2", "referrer=", "x", "{click_id}", "{user_id}", "{c1}",
            "{c5}", "{gaid}", "{country}", "é", "|",
        ]), 0..12),
        values in vec(hostile(), 6),
    ) {
        let url = match rest.first() {
            Some(&"/" | &"//" | &"?" | &"#") => format!("{origin}{}", rest.concat()),
            _ => format!("{origin}/{}", rest.concat()),
        };
        let value = |place: usize| values[place].as_str();
        let macros = Macros {
            click_id: value(0),
            user_id: value(1),
            gaid: value(2),
            custom: [value(3), "", "", "", value(4)],
            country: value(5),
            ..Macros::default()
        };
        let Ok(template) = Template::parse(&url) else {
            let is_known = |problem: String| problem.contains("path segment") || problem.contains("percent-encoding");
            prop_assert!(Template::parse(&url).is_err_and(is_known), "{url}");
            return Ok(());
        };
        let mut location = String::new();
        fill(template.as_str(), &macros, &mut location);
        prop_assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{location}");
        let (there, expected) = (Url::parse(&location).unwrap(), Url::parse(origin).unwrap());
        prop_assert_eq!(there.scheme(), expected.scheme());
        prop_assert_eq!(there.host_str(), expected.host_str());
        prop_assert_eq!(there.port(), expected.port());
        prop_assert_eq!((there.username(), there.password()), ("", None));
    }

    #[test]
    fn an_accepted_template_is_canonical(url in "(https|market|itms-apps)://[a-z.é:0-9@]{0,8}([/?#&={}%é\\\\ ]|click_id|c1|referrer=){0,12}") {
        if let Ok(template) = Template::parse(&url) {
            prop_assert!(template.as_str().contains("{click_id}"), "no click id");
            prop_assert!(template.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(Template::parse(template.as_str()), Ok(template.clone()));
        }
    }
}
