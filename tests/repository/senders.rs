//! 10,000 random clicks from a `trk_url`, as people really send them: filled in, left in, misspelt, encoded again, or with a
//! word for "none". Each is made together with what its sender means, from the tables here and not by the code under test.
//! Postbacks are tried over HTTP (`tests/e2e/conversions/recipes.rs`).

use crate::{
    random::Random,
    read,
    recipes::{Fate, text},
};
use domain::tracking::parameters::ClickParameters;

const CASES: usize = 10_000;

const DEVICE: &str = "38400000-8cf0-11bd-b23e-10b96e40000d";

/// A click: its parameters but `rid` and `app`, or the code of its refusal.
type Click = Result<(String, [Option<String>; 8]), &'static str>;

/// A click of a `trk_url`, with what its sender means.
fn click(random: &mut Random, trk_url: &str) -> (String, Click) {
    use Fate::{Empty, Filled, Macro, Nobody, Word, Zero};
    let query = trk_url.split_once('?').unwrap().1;
    let custom = ["c1", "c2", "c3", "c4", "c5", "placement"].map(|name| format!("{name}={{{name}}}"));
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    let (mut user_id, mut values, mut total) = (String::new(), [const { None }; 8], 0);
    for pair in query.split('&').chain(custom.iter().map(String::as_str)) {
        let (known, written) = pair.split_once('=').unwrap();
        if !written.contains('{') {
            pairs.push(pair.to_owned());
            continue;
        }
        let mut fate = Fate::any(random);
        if known == "user_id" && random.below(3) > 0 {
            fate = Filled;
        }
        let filled = match known {
            "user_id" => random
                .one(&["player_1", "me@x.example", "__bob__", "A-1", "007"])
                .to_owned(),
            "gaid" | "idfa" => DEVICE.to_owned(),
            "placement" => "home.top".to_owned(),
            _ => "x".repeat([1, 9, 128, 255, 256, 257][random.below(6)]),
        };
        let mut sent = text(random, fate, &filled, written);
        let is_word = |text: &str| !matches!(text, "n%2Fa" | "N%2FA" | "%28null%29" | "%28NULL%29");
        let slot = ["gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "placement"]
            .iter()
            .position(|name| *name == known);
        match (known, fate) {
            ("user_id", Filled | Zero) => user_id = if fate == Filled { filled } else { "0".into() },
            ("user_id", Word) if is_word(&sent) => user_id.clone_from(&sent),
            ("user_id", Empty) => faults.push((0, "missing_field")),
            ("user_id", Macro | Nobody | Word) => faults.push((0, "invalid_user_id")),
            ("gaid" | "idfa", Filled) => {
                sent += random.one(&["", "%20", "%0D%0A", "+"]);
                values[slot.unwrap()] = Some(filled);
            }
            ("gaid" | "idfa", Zero) => {
                sent = random
                    .one(&["0", "00000000-0000-0000-0000-000000000000"])
                    .to_owned();
            }
            ("gaid" | "idfa", Empty) => sent = random.one(&["", "a/b", "%C3%A9", "x%20y"]).to_owned(),
            ("placement", Filled) => values[slot.unwrap()] = Some(filled),
            ("placement", Zero) => values[slot.unwrap()] = Some("0".into()),
            ("gaid" | "idfa" | "placement", _) | (_, Macro | Empty) => {}
            (_, Nobody | Word) if !is_word(&sent) => faults.push((1, "invalid_custom_parameter")),
            (_, _) => {
                let value = if fate == Filled { filled } else { sent.clone() };
                total += value.len();
                if value.len() > 256 || total > 768 {
                    faults.push((1, "invalid_custom_parameter"));
                }
                values[slot.unwrap()] = Some(value);
            }
        }
        pairs.push(format!("{known}={sent}"));
    }
    let click = match faults.iter().min() {
        Some((_, code)) => Err(*code),
        None => Ok((user_id, values)),
    };
    (pairs.join("&"), click)
}

#[test]
fn random_clicks_of_a_trk_url_are_understood_as_their_senders_mean_them() {
    let readme = read("README.md");
    let trk_url = readme
        .lines()
        .find_map(|line| line.trim().strip_prefix("\"trk_url\": \""));
    let trk_url = trk_url.unwrap().split('"').next().unwrap();
    assert!(
        trk_url.contains("{your_user_id}") && trk_url.contains("{idfa_for_ios}"),
        "{trk_url}"
    );
    let mut random = Random(5);
    let (mut redirected, mut refused) = (0, 0);
    for _ in 0..CASES {
        let (query, meant) = click(&mut random, trk_url);
        let understood = ClickParameters::parse(&query).map(|click| {
            let [c1, c2, c3, c4, c5] = click.custom;
            let values = [click.gaid, click.idfa, c1, c2, c3, c4, c5, click.placement];
            let values = values.map(|value| value.map(String::from));
            (click.user_id.into_owned(), values)
        });
        assert_eq!(understood.map_err(|refusal| refusal.code), meant, "{query}");
        *if meant.is_ok() {
            &mut redirected
        } else {
            &mut refused
        } += 1;
    }
    assert!(redirected > 2_000 && refused > 2_000, "{redirected} {refused}");
}
