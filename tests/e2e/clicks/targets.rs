//! Redirect targets: the macros of the target URL are filled in, and no request can change its host.

use percent_encoding::percent_decode_str;
use serde_json::json;
use url::Url;

use crate::{
    clicks::{CLICK, click_of, expect_click_error, expect_redirect, keys},
    harness::{ANDROID_APP, Answer, demo},
};
use domain::tracking::{
    click_id::{self, Opened},
    parameters::NAMES,
};

/// Percent-encodes a value by RFC 3986: all but unreserved characters.
fn encoded(value: &str) -> String {
    let encode = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

#[test]
fn every_macro_is_percent_encoded_wherever_it_stands() {
    let signpost = demo();
    let names = ["offer_id", "goal_id", "app_id", "user_id", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "country"];
    let in_each = |join: &str| names.map(|name| format!("{name}={{{name}}}")).join(join);
    let template = format!(
        "https://adv.example:8443/{}/x;{}?clickid={{click_id}}&{}&twice={{user_id}}{{user_id}}#/{}/{{click_id}}",
        names.map(|name| format!("x{{{name}}}")).join("/"),
        in_each(","),
        in_each("&"),
        in_each("&"),
    );
    signpost.put_offer("all-Macros-1", &json!({"target_url": template}));
    signpost.refresh();

    let full = [
        "all-Macros-1",
        "all-Macros-1-g",
        ANDROID_APP,
        "A@b_c-d.e",
        "38400000-8cf0-11bd-b23e-10b96e40000d",
        "6D92078A-8246-4BA4-AE5B-76104861E7DC",
        "@",
        "@@.",
        "_-",
        "a.b@c",
        "Z9",
        "DE",
    ];
    let bare = ["all-Macros-1", "all-Macros-1-g", ANDROID_APP, "u", "", "", "", "", "", "", "", ""];
    for values in [full, bare] {
        let [_, rid, app, rest @ ..] = values;
        let [user_id, gaid, idfa, c1, c2, c3, c4, c5, country] = rest.map(encoded);
        let query = format!(
            "rid={rid}&app={app}&user_id={user_id}&gaid={gaid}&idfa={idfa}&c1={c1}&c2={c2}&c3={c3}&c4={c4}&c5={c5}"
        );
        let answer = expect_redirect(signpost.click(&query, &country));
        let location = Url::parse(answer.location()).unwrap();
        let pairs: Vec<_> = location.query_pairs().collect();
        let click_id = &pairs.iter().find(|(name, _)| name == "clickid").unwrap().1;
        let expected = names
            .iter()
            .zip(values)
            .fold(template.clone(), |url, (name, value)| url.replace(&format!("{{{name}}}"), &encoded(value)))
            .replace("{click_id}", click_id);
        assert_eq!(answer.location(), expected);
        // The advertiser decodes the values that were sent.
        for (name, value) in names.iter().zip(values) {
            let read = &pairs.iter().find(|(known, _)| known == name).unwrap().1;
            assert_eq!(read, value, "{name}");
        }
        assert_eq!(click_of(&answer).user_id, values[3]);
    }
}

#[test]
fn a_target_without_a_click_id_macro_gets_it_in_the_query_or_the_play_referrer() {
    let signpost = demo();
    let play = "https://play.google.com/store/apps/details?id=com.a.b";
    // The target URL and the redirect; ID is the click id.
    let table = [
        ("https://adv.example", "https://adv.example/?click_id=ID"),
        ("https://adv.example/p", "https://adv.example/p?click_id=ID"),
        ("https://adv.example/p?", "https://adv.example/p?click_id=ID"),
        ("https://adv.example/p?a=1", "https://adv.example/p?a=1&click_id=ID"),
        ("https://adv.example/p?a=1&", "https://adv.example/p?a=1&click_id=ID"),
        ("https://adv.example/p?u={user_id}#top", "https://adv.example/p?u=u-1&click_id=ID#top"),
        ("https://adv.example#/a?b=1", "https://adv.example/?click_id=ID#/a?b=1"),
        ("HTTPS://ADV.example:443/P", "https://adv.example/P?click_id=ID"),
        ("http://adv.example:8080/", "http://adv.example:8080/?click_id=ID"),
        ("https://bücher.example/über", "https://xn--bcher-kva.example/%C3%BCber?click_id=ID"),
        ("https://adv.example/{click_id}", "https://adv.example/ID"),
        ("https://adv.example/#{click_id}", "https://adv.example/#ID"),
        ("https://adv.example/?tid={click_id}&x", "https://adv.example/?tid=ID&x"),
        (play, "https://play.google.com/store/apps/details?id=com.a.b&referrer=click_id%3DID"),
        (
            "https://play.google.com/store/apps/details?id=com.a.b&referrer=utm_source%3Dwall%26utm_medium%3Dcpi&hl=de",
            "https://play.google.com/store/apps/details?id=com.a.b&referrer=utm_source%3Dwall%26utm_medium%3Dcpi%26click_id%3DID&hl=de",
        ),
        (
            "https://play.google.com/store/apps/details?referrer=&id=com.a.b#x",
            "https://play.google.com/store/apps/details?referrer=click_id%3DID&id=com.a.b#x",
        ),
        (
            "https://Play.Google.com/store/apps/details?id=com.a.b&referrer=uid%3D{user_id}",
            "https://play.google.com/store/apps/details?id=com.a.b&referrer=uid%3Du-1%26click_id%3DID",
        ),
        (
            "https://play.google.com/store/apps/details?id=com.a.b&referrer=tid%3D{click_id}",
            "https://play.google.com/store/apps/details?id=com.a.b&referrer=tid%3DID",
        ),
        ("https://play.google.com.adv.example/?id=a", "https://play.google.com.adv.example/?id=a&click_id=ID"),
        ("market://details?id=com.a.b", "market://details?id=com.a.b&referrer=click_id%3DID"),
        (
            "market://details?id=com.a.b&referrer=utm_source%3Dwall",
            "market://details?id=com.a.b&referrer=utm_source%3Dwall%26click_id%3DID",
        ),
        ("itms-apps://apps.apple.com/app/id1", "itms-apps://apps.apple.com/app/id1?click_id=ID"),
    ];
    for (n, (target_url, _)) in table.iter().enumerate() {
        signpost.put_offer(&format!("t-{n}"), &json!({"target_url": target_url}));
    }
    // An offer without a target redirects to its landing page.
    signpost.put_offer("lp", &json!({"target_url": null, "lp_url": "https://adv.example/lp#x"}));
    signpost.refresh();
    let rows = table.iter().enumerate().map(|(n, row)| (format!("t-{n}"), *row));
    let landing = ("lp".to_owned(), ("https://adv.example/lp#x", "https://adv.example/lp?click_id=ID#x"));
    for (offer, (target_url, expected)) in rows.chain([landing]) {
        let answer = expect_redirect(signpost.click(&format!("rid={offer}-g&app={ANDROID_APP}&user_id=u-1"), "US"));
        let (before, after) = expected.split_once("ID").unwrap();
        let click_id = answer.location().strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let click_id = click_id.unwrap_or_else(|| panic!("{target_url}: not {expected}: {answer:?}"));
        match click_id::open(&keys(), click_id) {
            Ok(Opened::Whole { click, .. }) => assert_eq!(click.offer, offer, "{target_url}"),
            other => panic!("{target_url}: {other:?} in {answer:?}"),
        }
        // Google Play passes the referrer to the app decoded once, as a query.
        let location = Url::parse(answer.location()).unwrap();
        if let Some((_, referrer)) = location.query_pairs().find(|(name, _)| name == "referrer") {
            let read = referrer.split('&').any(|pair| pair.split_once('=').is_some_and(|(_, value)| value == click_id));
            assert!(read, "{answer:?}");
        }
    }
}

#[test]
fn no_request_can_redirect_a_click_to_another_host() {
    let signpost = demo();
    let target = "https://adv.example/u{user_id}/c{c1}{c2}?u={user_id}&g={gaid}&i={idfa}&c={c1}{c2}{c3}{c4}{c5}&cc={country}&clickid={click_id}#{user_id}";
    signpost.put_offer("h", &json!({"target_url": target}));
    signpost.put_offer("bare", &json!({"target_url": "https://adv.example?clickid={click_id}"}));
    signpost.refresh();
    let check_host = |answer: &Answer| {
        let location = Url::parse(answer.location()).unwrap();
        assert_eq!(location.origin().ascii_serialization(), "https://adv.example", "{answer:?}");
        assert_eq!((location.username(), location.password()), ("", None), "{answer:?}");
        assert!(answer.location().starts_with("https://adv.example/"), "{answer:?}");
        assert!(answer.location().bytes().all(|byte| byte.is_ascii_graphic()), "{answer:?}");
        // No value adds a parameter or a fragment.
        let names: Vec<_> = location.query_pairs().map(|(name, _)| name.into_owned()).collect();
        assert!(names == ["u", "g", "i", "c", "cc", "clickid"] || names == ["clickid"], "{answer:?}");
        assert_eq!(location.as_str().matches('#').count(), usize::from(names.len() > 1), "{answer:?}");
    };

    let hostile = [
        "@evil.example",
        "x@evil.example",
        ".evil.example",
        "evil.example",
        "-",
        ".",
        "..",
        "...",
        "@",
        "@@",
        "__@--",
        "//evil.example",
        "%2F%2Fevil.example",
        "%5C%5Cevil.example",
        "%5Cevil.example",
        "https%3A%2F%2Fevil.example",
        "javascript%3Aalert(1)",
        "%0D%0ALocation%3A%20https%3A%2F%2Fevil.example",
        "%0d%0aSet-Cookie:a=b",
        "%0A%0A%3Cscript%3E",
        "%E5%98%8A%E5%98%8DX-Injected:1",
        "%00",
        "%09",
        "%20",
        "%23x",
        "%3Fx=1",
        "%26clickid%3Dforged",
        "%7Bclick_id%7D",
        "%7Buser_id%7D",
        "%257Bclick_id%257D",
        "%252F%252Fevil.example",
        "%2e%2e%2fevil",
        "a;b",
        "a=b",
        "a:b",
    ];
    for value in hostile {
        for name in NAMES.into_iter().chain(["url", "x"]) {
            let goals: &[_] = if name == "user_id" { &["h-g", "bare-g"] } else { &["h-g"] };
            for goal in goals {
                let right = [("rid", *goal), ("app", ANDROID_APP), ("user_id", "u-1")];
                let rest = right.iter().filter(|(known, _)| *known != name);
                let query: String = rest.map(|(name, value)| format!("{name}={value}&")).collect();
                let answer = signpost.click(&format!("{query}{name}={value}"), "US");
                for header in ["Set-Cookie", "X-Injected"] {
                    assert_eq!(answer.header(header), None, "{answer:?}");
                }
                let decoded = percent_decode_str(value).decode_utf8().unwrap();
                let decoded = decoded.trim();
                let is_allowed = decoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_@-.".contains(&byte));
                // They count as absent, except in `user_id`.
                let is_macro = ["{click_id}", "{user_id}", "%7Bclick_id%7D", "<script>"].contains(&decoded);
                let is_dropped = ["gaid", "idfa"].contains(&name) || (is_macro && name != "user_id");
                match name {
                    "rid" | "app" | "user_id" if decoded.is_empty() => {
                        expect_click_error(answer, 400, "missing_field");
                    }
                    "rid" => drop(expect_click_error(answer, 404, "unknown_goal")),
                    "app" => drop(expect_click_error(answer, 404, "unknown_app")),
                    "url" | "x" => check_host(&expect_redirect(answer)),
                    _ if is_allowed || is_dropped => check_host(&expect_redirect(answer)),
                    _ => {
                        let answer = answer.expect(400);
                        assert_eq!(answer.header("Location"), None, "{answer:?}");
                    }
                }
            }
        }
    }

    let address = format!("{CLICK}?rid=h-g&app={ANDROID_APP}&user_id=u-1");
    let headers: [&[(&str, &str)]; 6] = [
        &[("Host", "evil.example")],
        &[("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "http")],
        &[("Forwarded", "host=evil.example")],
        &[("Referer", "https://evil.example/"), ("Origin", "https://evil.example")],
        &[("CF-IPCountry", "//evil.example")],
        &[("User-Agent", "https://evil.example/ {click_id}")],
    ];
    for headers in headers {
        check_host(&expect_redirect(signpost.get(&address, headers)));
    }
}
