//! 10,000 random clicks from a `trk_url`, as people really send them: filled in, left in, misspelt, encoded again, or
//! with a word for "none". Tables here, not the code under test, say what the sender of each means. The answer must be
//! the redirect or refusal that follows from that. Postbacks are in `conversions/recipes.rs`.

use std::{collections::BTreeMap, fs, thread};

use serde_json::json;
use url::Url;

use crate::{
    clicks::{CLICK, expect_click_error, expect_redirect, keys, signatures::sign},
    harness::{OfferWall, Raw, demo, now_ms},
    random::Random,
    recipes::{Fate, text},
};
use domain::tracking::click_id::{self, Opened};

const CASES: usize = 10_000;
const SENDERS: usize = 8;
const SECRET: &str = "click_secret_of_the_senders_tests";
const DEVICE: &str = "38400000-8cf0-11bd-b23e-10b96e40000d";
/// The click parameters that the target URL returns.
const RETURNED: [&str; 8] = ["user_id", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5"];
const BLANKS: [&str; 6] = ["", "%20", "%0D%0A", "%E2%80%8B", "%C2%A0", "%EF%BB%BF"];

/// The faults of a click in the order in which docs/DECISIONS.md judges them, with the status of each.
type Fault = (u8, u16, &'static str);
const NO_RID: Fault = (0, 400, "missing_field");
const NO_APP: Fault = (1, 400, "missing_field");
const NO_USER: Fault = (2, 400, "missing_field");
const NOT_A_USER: Fault = (2, 400, "invalid_user_id");
const NOT_CUSTOM: Fault = (3, 400, "invalid_custom_parameter");
const UNKNOWN_APP: Fault = (4, 404, "unknown_app");
const UNKNOWN_GOAL: Fault = (5, 404, "unknown_goal");
const NOT_SIGNED: Fault = (6, 403, "invalid_signature");
const TOO_LATE: Fault = (7, 403, "signature_expired");

/// The values that should return, by name, and the placement; or the first fault.
type Meant = Result<(BTreeMap<&'static str, String>, Option<String>), (u16, &'static str)>;

/// A click of an offer wall whose app may sign its links.
fn click(random: &mut Random, trk_url: &str, wall: &OfferWall<'_>, secret: Option<&str>) -> (String, Meant) {
    use Fate::{Empty, Filled, Macro, Nobody, Word, Zero};
    let names = ["rid", "app"].into_iter().chain(RETURNED).chain(["placement"]);
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    let (mut values, mut placement, mut total) = (BTreeMap::new(), None, 0);
    for known in names {
        // The macro of the `trk_url`, or one of the publisher's own system.
        let of_url = trk_url.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{known}=")));
        let written = of_url.filter(|value| value.contains('{')).map_or(format!("{{{known}}}"), str::to_owned);
        let mut fate = Fate::any(random);
        if ["rid", "app", "user_id"].contains(&known) && random.below(4) > 0 {
            fate = Filled;
        }
        let filled = match known {
            "rid" => wall.goal("1"),
            "app" => wall.app.clone(),
            "user_id" => random.one(&["player_1", "me@x.example", "__bob__", "A-1", "007"]).to_owned(),
            "gaid" | "idfa" => DEVICE.to_owned(),
            "placement" => "home.top".to_owned(),
            _ => "x".repeat([1, 9, 128, 255, 256, 257][random.below(6)]),
        };
        let mut sent = text(random, fate, &filled, &written);
        let is_plain = !matches!(sent.as_str(), "n%2Fa" | "N%2FA" | "%28null%29" | "%28NULL%29");
        match (known, fate) {
            ("rid", Filled) | ("app", Filled) => {}
            ("rid", Empty) => faults.push(NO_RID),
            ("rid", _) => faults.push(UNKNOWN_GOAL),
            ("app", Empty) => faults.push(NO_APP),
            ("app", _) => faults.push(UNKNOWN_APP),
            ("user_id", Empty) => faults.push(NO_USER),
            ("user_id", Macro | Nobody) => faults.push(NOT_A_USER),
            ("user_id", Word) if !is_plain => faults.push(NOT_A_USER),
            ("user_id", Word | Zero) => drop(values.insert(known, sent.clone())),
            ("gaid" | "idfa", Zero) => sent = random.one(&["0", "00000000-0000-0000-0000-000000000000"]).to_owned(),
            ("gaid" | "idfa", Empty) => sent = random.one(&["", "a/b", "%C3%A9", "x%20y", "%zz"]).to_owned(),
            ("gaid" | "idfa", Filled) => {
                sent += random.one(&["+", ""]);
                values.insert(known, filled.clone());
            }
            ("placement", Filled) => placement = Some(filled.clone()),
            ("placement", Zero) => placement = Some("0".into()),
            ("user_id", Filled) => drop(values.insert(known, filled.clone())),
            ("gaid" | "idfa" | "placement", _) | (_, Macro | Empty) => {}
            // Such a word cannot be a value.
            (_, Nobody | Word) if !is_plain => {}
            (_, _) => {
                let value = if fate == Filled { filled.clone() } else { sent.clone() };
                total += value.len();
                if value.len() > 256 || total > 768 {
                    faults.push(NOT_CUSTOM);
                }
                values.insert(known, value);
            }
        }
        if fate == Filled {
            sent += random.one(&BLANKS);
        }
        pairs.push(format!("{known}={sent}"));
    }
    let user = values.get("user_id").map_or("", String::as_str);
    let (more, fault) = signature(random, secret, &wall.app, user);
    faults.extend(fault.filter(|_| secret.is_some()));
    pairs.extend(more);
    // Some copy the URL from a page's source.
    let query = pairs.join(random.one(&["&", "&", "&amp;"]));
    let meant = match faults.iter().min() {
        Some(&(_, status, code)) => Err((status, code)),
        None => Ok((values, placement)),
    };
    (query, meant)
}

/// A `sig` and an `exp`, and their fault. An app without a secret sends junk.
fn signature(random: &mut Random, secret: Option<&str>, app: &str, user: &str) -> (Vec<String>, Option<Fault>) {
    use Fate::{Empty, Filled};
    let Some(secret) = secret else {
        let junk = ["sig={sig}", "sig=a", "exp=%25exp%25", "exp=%zz", "sig=a"];
        return (junk.into_iter().filter(|_| random.below(4) == 0).map(str::to_owned).collect(), None);
    };
    let now = now_ms().unsigned_abs() / 1_000;
    let exp = [None, Some(now + 3_600), Some(now - 2)][random.below(3)];
    let fates = [(); 2].map(|()| if random.below(3) > 0 { Filled } else { Fate::any(random) });
    let [of_sig, of_exp] = fates;
    let sig = sign::sign(secret, app, user, exp);
    let mut pairs = vec![format!("sig={}", text(random, of_sig, &sig, "{sig}"))];
    if let Some(exp) = exp {
        pairs.push(format!("exp={}", text(random, of_exp, &exp.to_string(), "{exp}")));
    } else if of_exp == Empty {
        pairs.push("exp=".into());
    }
    // The link differs from the signed one.
    let is_changed = of_sig != Filled || (exp.is_some() && of_exp != Filled);
    let is_late = exp.is_some_and(|exp| exp < now);
    let fault = if is_changed { Some(NOT_SIGNED) } else { is_late.then_some(TOO_LATE) };
    (pairs, fault)
}

/// Sends a click, and fails the test unless the answer is the one its sender means. Returns whether it was redirected.
fn send(connection: &mut Raw, query: &str, meant: &Meant) -> bool {
    let answer = connection.get(format!("{CLICK}?{query}").as_bytes());
    let (values, placement) = match meant {
        Ok(meant) => meant,
        Err((status, code)) => {
            expect_click_error(answer, *status, code);
            return false;
        }
    };
    let answer = expect_redirect(answer);
    let location = Url::parse(answer.location()).unwrap();
    let mut pairs: BTreeMap<_, _> =
        location.query_pairs().into_owned().filter(|(_, value)| !value.is_empty()).collect();
    let id = pairs.remove("click_id").expect("a click id");
    let meant: BTreeMap<_, _> = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    assert_eq!(pairs, meant, "{query}");
    // A short id has no placement. The reports have it.
    if let Ok(Opened::Whole { click, .. }) = click_id::open(&keys(), &id) {
        assert_eq!(click.placement.as_deref(), placement.as_deref(), "{query}");
    }
    true
}

#[test]
fn random_clicks_of_a_trk_url_are_redirected_as_their_senders_mean_them() {
    let signpost = demo();
    let [open, signing] = [("click-senders", "79000137"), ("click-signers", "79000138")].map(|(id, app)| {
        let wall = signpost.unpublished_offer_wall(id, app, None);
        let returned = RETURNED.map(|name| format!("{name}={{{name}}}")).join("&");
        wall.put_offer(&json!({ "target_url": format!("https://adv.example/?click_id={{click_id}}&{returned}") }));
        wall
    });
    signing.put_app(&json!({ "click_secret": SECRET }));
    signpost.refresh();
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).expect("a README");
    let (_, listed) = readme.split_once("\"trk_url\": \"").expect("a URL");
    let trk_url = listed.split('"').next().expect("its end");
    assert!(trk_url.contains("{your_user_id}") && trk_url.contains("{idfa_for_ios}"), "{trk_url}");
    let redirected: usize = thread::scope(|scope| {
        let (signpost, open, signing) = (&signpost, &open, &signing);
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                scope.spawn(move || {
                    let mut random = Random(5 + u64::try_from(sender).expect("a number"));
                    let mut connection = signpost.raw();
                    let cases = (sender..CASES).step_by(SENDERS);
                    let mut send = |_| {
                        let is_signed = random.below(4) == 0;
                        let wall = if is_signed { signing } else { open };
                        let (query, meant) = click(&mut random, trk_url, wall, is_signed.then_some(SECRET));
                        send(&mut connection, &query, &meant)
                    };
                    cases.filter(|case| send(*case)).count()
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().expect("a sender")).sum()
    });
    assert!((2_000..8_000).contains(&redirected), "{redirected} are redirected");
}
