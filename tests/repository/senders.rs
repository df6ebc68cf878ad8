//! 10,000 random postbacks from the recipes of docs/INTEGRATING.md, and 10,000 random clicks from a `trk_url`, as people
//! really send them: filled in, left in, misspelt, encoded again, or with a word for "none". Each is made together with
//! what its sender means, from the tables here and not by the code under test.

use crate::{
    random::Random,
    read,
    recipes::{self, recipes},
};
use domain::{
    catalog::offer::OncePer,
    conversions::{
        parameters::Postback,
        state::Status,
        terms::{GoalTerms, OfferTerms, UNKNOWN_GOAL},
    },
    model::{AdvertiserId, api_error::ApiError},
    tracking::parameters::ClickParameters,
};

const CASES: usize = 10_000;

/// Other systems' marks around a macro's name.
const MARKS: [(&str, &str); 13] = [
    ("{", "}"),
    ("{{", "}}"),
    ("${", "}"),
    ("[", "]"),
    ("[[", "]]"),
    ("%", "%"),
    ("%%", "%%"),
    ("__", "__"),
    ("<", ">"),
    ("#", "#"),
    ("$", ""),
    ("::", "::"),
    ("@", "@"),
];
/// Words that no user and no goal is called.
const NOBODY: [&str; 8] = [
    "null",
    "undefined",
    "none",
    "(null)",
    "NULL",
    "Undefined",
    "None",
    "(NULL)",
];
/// Words for "none" that could be somebody's.
const WORDS: [&str; 7] = ["nil", "N/A", "n/a", "na", "NA", "-", "unknown"];
/// The first goal, and the one with the event code that the recipes send.
const GOALS: [(&str, &str); 2] = [("first", "install"), ("second", "level_10")];
const BLANKS: [&str; 5] = ["", "%20", "%0A", "%0D%0A", "%09"];
const DEVICE: &str = "38400000-8cf0-11bd-b23e-10b96e40000d";

/// What became of a value on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Filled,
    Macro,
    Nobody,
    Word,
    Zero,
    Empty,
}

impl Fate {
    fn any(random: &mut Random) -> Self {
        match random.below(14) {
            0..=7 => Self::Filled,
            8..=9 => Self::Macro,
            10 => Self::Nobody,
            11 => Self::Word,
            12 => Self::Zero,
            _ => Self::Empty,
        }
    }
}

fn encode(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn maybe_encode(random: &mut Random, text: &str) -> String {
    // A `#` and a `&` end a value in any URL.
    if random.below(2) == 0 || text.contains(['#', '&']) {
        encode(text)
    } else {
        text.to_owned()
    }
}

/// A macro that was left in: as the recipe writes it, or in another spelling, encoded up to twice.
fn left_in(random: &mut Random, written: &str) -> String {
    let name = written.trim_start_matches(['{', '$', '(']);
    let name = name.split(|char: char| !char.is_ascii_alphanumeric() && !"_.-".contains(char));
    let name = name.into_iter().next().unwrap();
    let text = if random.below(3) == 0 {
        written.to_owned()
    } else {
        let (open, close) = MARKS[random.below(MARKS.len())];
        let upper = open == "__" || random.below(2) == 0;
        let name = if upper {
            name.to_uppercase()
        } else {
            name.to_owned()
        };
        format!("{open}{name}{close}")
    };
    match random.below(4) {
        0 => encode(&encode(&text)),
        _ => maybe_encode(random, &text),
    }
}

/// The text of a value, where `filled` is the right one and `written` the macro in its place.
fn text(random: &mut Random, fate: Fate, filled: &str, written: &str) -> String {
    match fate {
        Fate::Filled => maybe_encode(random, filled),
        Fate::Macro => left_in(random, written),
        Fate::Nobody => encode(NOBODY[random.below(NOBODY.len())]),
        Fate::Word => encode(WORDS[random.below(WORDS.len())]),
        Fate::Zero => "0".to_owned(),
        Fate::Empty => String::new(),
    }
}

/// A known name as scripts write it.
fn name(random: &mut Random, name: &str) -> String {
    match random.below(8) {
        0 => name.to_uppercase(),
        1 => name.replace('_', "-"),
        2 => {
            let mut parts = name.split('_').map(str::to_owned);
            let first = parts.next().unwrap();
            let upper = |part: String| {
                let (first, rest) = part.split_at(1);
                first.to_uppercase() + rest
            };
            parts.fold(first, |name, part| name + &upper(part))
        }
        _ => name.to_owned(),
    }
}

#[derive(Debug, PartialEq)]
enum Intent {
    /// Pay this goal once, with this `txn` of the sender.
    Pay(String, Option<String>),
    /// Pay nothing: the conversion is pending, rejected or reversed.
    PayNothing(Status, String),
    Refused(&'static str),
}

fn terms() -> OfferTerms {
    let goal = |(id, code): (&str, &str)| GoalTerms {
        id: id.to_owned(),
        gl_val: Some(code.to_owned()),
        payout_micro_usd: 1,
    };
    OfferTerms {
        advertiser_id: AdvertiserId::parse("adv").unwrap(),
        conversion_window_days: 30,
        once_per: OncePer::User,
        goals: GOALS.map(goal).to_vec(),
    }
}

/// The faults of a postback in the order in which docs/DECISIONS.md judges them.
const MISSING_CLICK: (u8, &str) = (0, "missing_field");
const NO_CLICK: (u8, &str) = (0, "invalid_click_id");
const MISSING_TOKEN: (u8, &str) = (1, "missing_field");
const UNFILLED_GOAL: (u8, &str) = (2, "unknown_goal");
const NO_STATUS: (u8, &str) = (3, "invalid_parameter");
const NO_TOKEN: (u8, &str) = (4, "invalid_token");
const NO_GOAL: (u8, &str) = (5, "unknown_goal");

/// A postback of a recipe, with what its sender means.
fn postback(random: &mut Random, recipe: &str, click_id: &str) -> (String, Option<String>, Intent) {
    use Fate::{Empty, Filled, Macro, Nobody, Word, Zero};
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    let (mut goal, mut txn, mut status) = (GOALS[0].0, None, Status::Approved);
    for pair in recipe.split('&') {
        let (known, written) = pair.split_once('=').unwrap();
        let in_braces = format!("{{{known}}}");
        let written = if written.contains('{') {
            written
        } else {
            &in_braces
        };
        let mut fate = Fate::any(random);
        if ["click_id", "token"].contains(&known) && random.below(3) > 0 {
            fate = Filled;
        }
        let mut sent = match known {
            "click_id" => {
                faults.extend(match fate {
                    Filled => None,
                    Macro | Empty => Some(MISSING_CLICK),
                    Nobody | Word | Zero => Some(NO_CLICK),
                });
                text(random, fate, click_id, written)
            }
            "token" => {
                faults.extend(match fate {
                    Filled => None,
                    Macro | Empty => Some(MISSING_TOKEN),
                    Nobody | Word | Zero => Some(NO_TOKEN),
                });
                text(random, fate, "ADV_TOKEN", written)
            }
            "goal" => {
                faults.extend(match fate {
                    Filled | Empty => None,
                    // They must not lead to the first goal.
                    Macro | Nobody => Some(UNFILLED_GOAL),
                    Word | Zero => Some(NO_GOAL),
                });
                if fate == Filled {
                    goal = GOALS[1].0;
                }
                text(random, fate, GOALS[1].1, written)
            }
            "txn" => {
                txn = (fate == Filled).then(|| "t-7781".to_owned());
                text(random, fate, "t-7781", written)
            }
            "status" => {
                faults.extend(match fate {
                    Filled | Empty => None,
                    // They must not lead to an approval.
                    Macro | Nobody | Word | Zero => Some(NO_STATUS),
                });
                let (word, meant) = [
                    ("approved", Status::Approved),
                    ("Pending", Status::Pending),
                    ("rejected", Status::Rejected),
                    ("REVERSED", Status::Reversed),
                ][random.below(4)];
                if fate == Filled {
                    status = meant;
                }
                text(random, fate, word, written)
            }
            other => panic!("{other} is in no table"),
        };
        if ["click_id", "token", "txn"].contains(&known) && fate != Macro {
            sent += random.one(&BLANKS);
        }
        pairs.push(format!("{}={sent}", name(random, known)));
    }
    let split = random.below(2 * pairs.len()).min(pairs.len());
    let form = pairs.split_off(split).join("&");
    let form = (!form.is_empty()).then(|| form + random.one(&["", "\r\n"]));
    let intent = match faults.iter().min() {
        Some((_, code)) => Intent::Refused(code),
        None if status == Status::Approved => Intent::Pay(goal.to_owned(), txn),
        None => Intent::PayNothing(status, goal.to_owned()),
    };
    (pairs.join("&"), form, intent)
}

/// What Signpost makes of a postback, as far as it needs no object.
fn understood(query: &str, form: Option<&str>, click_id: &str) -> Intent {
    let postback = match Postback::parse(query, form) {
        Ok(postback) => postback,
        Err(ApiError { code, .. }) => return Intent::Refused(code),
    };
    assert_eq!(postback.click_id, click_id, "{query} {form:?}");
    if postback.token != "ADV_TOKEN" {
        return Intent::Refused("invalid_token");
    }
    match terms().goal(postback.goal.as_deref()) {
        None => Intent::Refused(UNKNOWN_GOAL.code),
        Some(goal) if postback.status == Status::Approved => {
            Intent::Pay(goal.id.clone(), postback.txn.map(Into::into))
        }
        Some(goal) => Intent::PayNothing(postback.status, goal.id.clone()),
    }
}

#[test]
fn random_postbacks_of_the_recipes_are_understood_as_their_senders_mean_them() {
    let mut random = Random(18);
    let (recipes, click_id) = (recipes(), recipes::click_id());
    assert!(recipes.len() >= 9);
    let (mut paid, mut unpaid, mut refused) = (0, 0, 0);
    for case in 0..CASES {
        let (partner, _, recipe) = &recipes[case % recipes.len()];
        let (query, form, intent) = postback(&mut random, recipe, &click_id);
        let understood = understood(&query, form.as_deref(), &click_id);
        assert_eq!(understood, intent, "{partner}: {query} {form:?}");
        *match intent {
            Intent::Pay(..) => &mut paid,
            Intent::PayNothing(..) => &mut unpaid,
            Intent::Refused(_) => &mut refused,
        } += 1;
    }
    assert!(
        paid > 2_000 && unpaid > 100 && refused > 2_000,
        "{paid} {unpaid} {refused}"
    );
}

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
