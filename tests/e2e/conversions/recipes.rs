//! 10,000 random postbacks from the recipes of docs/INTEGRATING.md, as people really send them. Tables here, not the
//! code under test, say what each sender means. The answer, the log and the payment must follow from that.

use std::{collections::BTreeMap, thread};

use crate::{
    harness::{CONVERSION, Raw, Receiver, demo},
    random::Random,
    recipes::{Fate, recipes, text},
};

const CASES: usize = 10_000;
const SENDERS: usize = 8;
const FORM: &str = "application/x-www-form-urlencoded";

const BLANKS: [&str; 8] = ["", "%20", "%0A", "%0D%0A", "%09", "%E2%80%8B", "%C2%A0", "%EF%BB%BF"];
/// Bodies of other kinds, which are ignored where the query has click id and token.
const OTHER_BODIES: [(&str, &str); 6] = [
    (FORM, "discount 50%"),
    (FORM, "{\"goal\":\"level_10\"}"),
    ("application/json", "{}"),
    ("application/json", ""),
    ("text/plain; charset=utf-8", "goal=level_10&status=reversed"),
    ("multipart/form-data; boundary=x", "--x--\r\n"),
];
/// Reasons as they are sent, and as the log has them.
const REASONS: [(&str, Option<&str>); 5] = [
    ("fraud", Some("fraud")),
    ("not+paid%0Ayet", Some("not paid yet")),
    ("annul%E9", Some("annul\u{fffd}")),
    ("%7Breason%7D", None),
    ("", None),
];

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

/// The intent of a sender.
#[derive(Clone, Debug)]
enum Intent {
    /// This status of this goal, and the sender's own id. Only approved conversions are paid, each once.
    Accepted {
        status: &'static str,
        goal: &'static str,
        txn: Option<String>,
        reason: Option<&'static str>,
    },
    Refused(&'static str),
}

struct Postback {
    query: String,
    /// Its type and content.
    body: Option<(&'static str, String)>,
    intent: Intent,
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
fn postback(random: &mut Random, recipe: &str, click_id: &str, token: &str, own_id: &str) -> Postback {
    use Fate::{Empty, Filled, Macro, Nobody, Word, Zero};
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    // The click's goal, unless the recipe names the one with an event code.
    let (mut goal, mut txn, mut status) = ("1", None, "approved");
    for pair in recipe.split('&') {
        let (known, written) = pair.split_once('=').unwrap();
        let in_braces = format!("{{{known}}}");
        let written = if written.contains('{') { written } else { &in_braces };
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
                text(random, fate, token, written)
            }
            "goal" => {
                faults.extend(match fate {
                    Filled | Empty => None,
                    // They must not lead to the first goal.
                    Macro | Nobody => Some(UNFILLED_GOAL),
                    Word | Zero => Some(NO_GOAL),
                });
                if fate == Filled {
                    goal = "2";
                }
                text(random, fate, "level_10", written)
            }
            "txn" => {
                txn = (fate == Filled).then(|| own_id.to_owned());
                text(random, fate, own_id, written)
            }
            "status" => {
                faults.extend(match fate {
                    Filled | Empty => None,
                    // They must not lead to an approval.
                    Macro | Nobody | Word | Zero => Some(NO_STATUS),
                });
                let (word, meant) = [
                    ("approved", "approved"),
                    ("Pending", "pending"),
                    ("rejected", "rejected"),
                    ("REVERSED", "reversed"),
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
    let mut reason = None;
    if random.below(3) == 0 {
        let (sent, meant) = REASONS[random.below(REASONS.len())];
        pairs.push(format!("{}={sent}", name(random, "reason")));
        reason = meant;
    }
    // Some copy the URL from a page's source.
    let join = random.one(&["&", "&", "&amp;"]);
    let split = random.below(2 * pairs.len()).min(pairs.len());
    let form = pairs.split_off(split).join(join);
    let mut is_ignored = false;
    let body = if form.is_empty() {
        let other = OTHER_BODIES.get(random.below(2 * OTHER_BODIES.len()));
        is_ignored = other.is_some_and(|(_, content)| !content.is_empty());
        other.map(|(kind, content)| (*kind, (*content).to_owned()))
    } else {
        Some((FORM, form + random.one(&["", "\r\n"])))
    };
    let intent = match faults.iter().min() {
        // The rest may be in the body, whose type is wrong then.
        Some((0 | 1, "missing_field")) if is_ignored => Intent::Refused("unsupported_media_type"),
        Some((_, code)) => Intent::Refused(code),
        None => Intent::Accepted { status, goal, txn, reason },
    };
    Postback { query: pairs.join(join), body, intent }
}

/// Sends a postback, and fails the test unless the answer is what its sender means. Returns the transaction id.
fn send(connection: &mut Raw, partner: &str, postback: &Postback) -> Option<String> {
    let Postback { query, body, intent } = postback;
    let (method, rest) = match body {
        None => ("GET", "\r\n".to_owned()),
        Some((kind, content)) => {
            ("POST", format!("Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{content}", content.len()))
        }
    };
    let request = format!("{method} {CONVERSION}?{query} HTTP/1.1\r\nHost: t.signpost.example\r\n{rest}");
    let answer = connection.exchange(request.as_bytes()).expect("an answer");
    let body = answer.json();
    match intent {
        Intent::Refused(code) => {
            assert_eq!(body["code"], *code, "{partner}: {answer:?}");
            None
        }
        Intent::Accepted { status, .. } => {
            assert_eq!(body["status"], *status, "{partner}: {answer:?}");
            Some(body["transaction_id"].as_str().expect("an id").to_owned())
        }
    }
}

#[test]
fn random_postbacks_of_the_recipes_are_answered_and_paid_as_their_senders_mean_them() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-recipes", "79000136", Some(&receiver));
    let recipes = recipes();
    assert!(recipes.len() >= 9, "{recipes:?}");
    let of_sender = |sender: usize| {
        let mut random = Random(18 + u64::try_from(sender).expect("a number"));
        let mut connection = signpost.raw();
        let cases = (sender..CASES).step_by(SENDERS);
        let sent = cases.map(|case| {
            let (partner, _, recipe) = &recipes[case % recipes.len()];
            let click_id = wall.click_id(&format!("u-{case}"));
            let own_id = format!("t-{case}");
            let postback = postback(&mut random, recipe, &click_id, &wall.token, &own_id);
            (send(&mut connection, partner, &postback), postback.intent)
        });
        sent.collect::<Vec<_>>()
    };
    let sent: Vec<_> = thread::scope(|scope| {
        let of_sender = &of_sender;
        let senders: Vec<_> = (0..SENDERS).map(|sender| scope.spawn(move || of_sender(sender))).collect();
        senders.into_iter().flat_map(|sender| sender.join().expect("a sender")).collect()
    });
    let mut accepted = BTreeMap::new();
    for (id, intent) in sent {
        if let (Some(id), Intent::Accepted { status, goal, txn, reason }) = (id, intent) {
            let meant = (status.to_owned(), wall.goal(goal), txn, reason.map(str::to_owned));
            assert_eq!(accepted.insert(id, meant), None);
        }
    }
    let entries = wall.all_entries(1_000);
    let logged: BTreeMap<_, _> = entries
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().map(str::to_owned);
            let of = |name: &str| text(name).unwrap_or_default();
            (of("transaction_id"), (of("status"), of("goal_id"), text("txn"), text("reason")))
        })
        .collect();
    assert_eq!(logged, accepted);
    let paid = accepted.iter().filter(|(_, (status, ..))| status == "approved");
    let paid: BTreeMap<_, _> = paid.map(|(id, _)| (id.clone(), 1)).collect();
    assert_eq!(receiver.wait_for_transactions(120_000, paid.len()), paid);
    let refused = CASES - accepted.len();
    assert!(paid.len() > 2_000 && accepted.len() > paid.len() + 100 && refused > 2_000, "{} {refused}", paid.len());
}
