//! Clicks of an app that signs them: which are redirected and which are refused, on both paths.

#[path = "../../../fixtures/signers/sign.rs"]
pub mod sign;

use serde_json::{Value, json};

use crate::{
    clicks::{CLICK, RIGHT, click_id_at, expect_click_error, expect_redirect},
    harness::{Answer, OfferWall, Setup, Signpost, default_setting, demo, eventually, expect_accepted, now_ms},
};

/// The user of the signed links.
const USER: &str = "player-1";
const SECRET: &str = "click_secret_of_the_signing_tests";
const PREVIOUS: &str = "the-one-that-was-there-before-it-";

fn click(wall: &OfferWall<'_>, rest: &str, headers: &[(&str, &str)]) -> Answer {
    let path = format!("{CLICK}?rid={}&{rest}", wall.goal("1"));
    wall.signpost.get(&path, headers)
}

fn signed(signpost: &Signpost) -> OfferWall<'_> {
    let wall = signpost.unpublished_offer_wall("signing", "78160001", None);
    wall.put_app(&json!({ "click_secret": SECRET }));
    signpost.refresh();
    wall
}

fn assert_signatures_are_checked(signpost: &Signpost) {
    let wall = signed(signpost);
    let app = &wall.app;
    let now = now_ms().unsigned_abs() / 1_000;
    let sign = |secret, exp| sign::sign(secret, app, USER, exp);
    let (soon, past) = (now + 600, now - 1);
    let user = format!("app={app}&user_id=player-1");
    let (with_soon, with_past) = (format!("{user}&exp={soon}"), format!("{user}&exp={past}"));
    let sig = sign(SECRET, None);
    for taken in [
        format!("{user}&sig={sig}"),
        format!("{with_soon}&sig={}", sign(SECRET, Some(soon))),
        // The signature does not cover the rest, and a value may be encoded.
        format!("sig={sig}&user_id=player%2d1&app={app}&gaid=a&c1=x&c5=y&placement=home"),
    ] {
        expect_redirect(click(&wall, &taken, &[]));
    }
    let mut refused = vec![
        (user.clone(), "invalid_signature"),
        (format!("{user}&sig="), "invalid_signature"),
        (format!("{user}&sig={{sig}}"), "invalid_signature"),
        (format!("{user}&sig=%7Bsig%7D"), "invalid_signature"),
        (format!("app={app}&user_id=player-2&sig={sig}"), "invalid_signature"),
        (format!("{user}&exp={soon}&sig={sig}"), "invalid_signature"),
        (format!("{user}&sig={}", sign(PREVIOUS, None)), "invalid_signature"),
        (format!("{with_past}&sig={}", sign(SECRET, Some(past))), "signature_expired"),
    ];
    for at in 0..sig.len() {
        let mut changed = sig.clone();
        let other = if sig.as_bytes()[at] == b'0' { "1" } else { "0" };
        changed.replace_range(at..=at, other);
        refused.push((format!("{user}&sig={changed}"), "invalid_signature"));
    }
    for (rest, code) in refused {
        let answer = click(&wall, &rest, &[]);
        assert_eq!(
            answer.body.contains("sig is the unreplaced placeholder {sig}"),
            rest.contains("sig}") || rest.contains("sig%7D")
        );
        expect_click_error(answer, 403, code);
    }
    let twice = format!("{user}&sig={sig}&sig={sig}");
    expect_click_error(click(&wall, &twice, &[]), 400, "invalid_parameter");
    // The click that was signed is paid.
    let answer = expect_redirect(click(&wall, &format!("{user}&sig={sig}"), &[]));
    expect_accepted(wall.convert(&click_id_at(&answer), ""), "approved", false);
}

#[test]
fn a_signing_app_takes_only_clicks_with_its_signature() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    assert_signatures_are_checked(&signpost);
    assert!(signpost.metric("signpost_isolate_fast_path_total{what=\"redirect\"}") > 0);
}

#[test]
fn the_ordinary_path_checks_the_same_signatures() {
    let (signpost, _) = Setup::new().config("ordinary_path.capnp").start_with_fixtures();
    assert_signatures_are_checked(&signpost);
}

#[test]
fn an_app_without_a_secret_ignores_signatures() {
    let signpost = demo();
    for rest in ["&sig=x", "&sig={sig}", "&sig=a&sig=b&exp=%zz", "&exp=1&exp=2", "&sig=%ff"] {
        let answer = signpost.get(&format!("{CLICK}?{}{rest}", RIGHT), &[]);
        expect_redirect(answer);
    }
}

#[test]
fn a_secret_is_rotated_without_refusing_a_click_and_can_be_taken_away() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    let wall = signed(&signpost);
    let user = format!("app={}&user_id=player-1", wall.app);
    let sent =
        |secret: &str| click(&wall, &format!("{user}&sig={}", sign::sign(secret, &wall.app, USER, None)), &[]).status;
    let put = |secrets: Value| {
        wall.put_app(&secrets);
        signpost.refresh();
    };
    put(json!({ "click_secret": SECRET, "previous_click_secret": PREVIOUS }));
    assert_eq!((sent(SECRET), sent(PREVIOUS)), (302, 302));
    put(json!({ "click_secret": SECRET }));
    assert_eq!((sent(SECRET), sent(PREVIOUS)), (302, 403));
    put(json!({}));
    assert_eq!((sent(SECRET), sent(PREVIOUS)), (302, 302));
    let shown = signpost.operator("GET", &format!("apps/{}", wall.app), None);
    assert_eq!(shown.expect(200).json().get("click_secret"), None);
}

#[test]
fn a_refused_signature_leads_to_the_apps_fallback_and_counts_no_click() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    let wall = signpost.unpublished_offer_wall("signing", "78160001", None);
    wall.put_app(&json!({ "click_secret": SECRET, "fallback_url": "https://fall.example/back" }));
    signpost.refresh();
    let user = format!("app={}&user_id=player-1", wall.app);
    let answer = expect_redirect(click(&wall, &user, &[]));
    assert_eq!(answer.location(), "https://fall.example/back");
    let answer =
        expect_redirect(click(&wall, &format!("{user}&sig={}", sign::sign(SECRET, &wall.app, USER, None)), &[]));
    click_id_at(&answer);
    let publisher = signpost.existing_publisher("signing");
    eventually(&1, || publisher.clicks());
}

#[test]
fn the_tracking_urls_of_a_signing_app_have_a_placeholder_for_the_signature() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    let wall = signed(&signpost);
    let key = signpost.issue_pub_key("signing");
    signpost.refresh();
    let list = || {
        let page = json!({ "page": 1, "size": 1_000 });
        signpost.offers(&wall.app, &key, &page).expect(200).json()
    };
    let urls = |page: &Value, name: &str| -> Vec<String> {
        let offers = page["offers"].as_array().unwrap().iter();
        offers.map(|offer| offer[name].as_str().unwrap().to_owned()).collect()
    };
    let page = list();
    let placeholders = "&user_id={your_user_id}&gaid={gaid_for_android}&idfa={idfa_for_ios}&sig={sig}";
    assert!(urls(&page, "trk_url").iter().all(|url| url.ends_with(placeholders)), "{page}");
    assert!(urls(&page, "trk_url_base").iter().all(|url| !url.contains("sig=")), "{page}");
    wall.put_app(&json!({}));
    signpost.refresh();
    let page = list();
    assert!(urls(&page, "trk_url").iter().all(|url| url.ends_with("&idfa={idfa_for_ios}")), "{page}");
}

#[test]
fn clicks_that_no_key_can_check_are_answered_503_until_the_key_is_back() {
    let (mut signpost, _) = Setup::new().start_with_fixtures();
    let app = signed(&signpost).app;
    let user = format!("app={app}&user_id=player-1");
    let path = format!("{CLICK}?rid=signing-1&{user}&sig={}", sign::sign(SECRET, &app, USER, None));
    let other_key = format!("9:{}", "ab".repeat(32));
    signpost.restart_with("EDGE_KEYS", &other_key);
    let answer = signpost.get(&path, &[]).expect_error(503, "unavailable");
    assert!(answer.header("Retry-After").is_some(), "{answer:?}");
    assert!(signpost.log().contains("EDGE_KEYS"), "{}", signpost.log());
    // Other apps' clicks go on.
    expect_redirect(signpost.get(&format!("{CLICK}?{RIGHT}"), &[]));
    signpost.restart_with("EDGE_KEYS", &format!("{other_key},{}", default_setting("EDGE_KEYS")));
    expect_redirect(signpost.get(&path, &[]));
}
