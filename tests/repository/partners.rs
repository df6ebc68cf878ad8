//! Parses each partner's postback from docs/guides/RECIPES.md ("Partner recipes") with its macros filled in, and checks
//! what it means.

use crate::recipes::recipes;
use domain::{
    conversions::{parameters::Postback, state::Status},
    model::AppId,
    tracking::{
        click::Click,
        click_id::{self, DEFAULT_MAX},
        keys::KeyRing,
        target::Template,
    },
};

/// How each partner's template names our click id.
const CLICK_ID: [&str; 8] = [
    "{clickid}",
    "{label}",
    "{cl?NETWORK}",
    "${(last_attributed_touch_data.tilde_click_id)!}",
    "{aff_click_id}",
    "{sub1}",
    "{external_id}",
    "{ref_id}",
];
const EVENT: [&str; 5] = ["{event_name}", "{event}", "{EVTNAME}", "${(name)!}", "{goal}"];
const TXN: [&str; 3] = ["{transaction_id}", "{transactionid}", "{tid}"];

pub fn click_id() -> String {
    let keys = KeyRing::parse(&format!("1:seal:{}", "07".repeat(32))).unwrap();
    let click = Click {
        offer: "23817".into(),
        goal: "410271".into(),
        app: AppId::parse("10000001").unwrap(),
        shard: 5,
        offer_terms: 1_795_000_000,
        app_terms: 1_795_000_000,
        user_id: "demo-user-1".into(),
        gaid: None,
        idfa: None,
        custom: Default::default(),
        placement: None,
        country: None,
        clicked_at_ms: 1_795_280_400_000,
    };
    click_id::seal(&keys, &click, *b"twelve bytes", DEFAULT_MAX).id().to_owned()
}

fn filled(query: &str, click_id: &str) -> String {
    let fill = |query: String, macros: &[&str], value: &str| {
        macros.iter().fold(query, |query, name| query.replace(name, value))
    };
    let query = fill(query.to_owned(), &CLICK_ID, click_id);
    let query = fill(query, &EVENT, "level_10");
    let query = fill(query, &TXN, "t-7781");
    // The only macro that contains a table.
    let query = match query.split_once("{status: ") {
        Some((before, rest)) => format!("{before}approved{}", rest.split_once('}').unwrap().1),
        None => query,
    };
    query.replace("EVENT", "level_10")
}

#[test]
fn every_partner_recipe_parses_as_intended() {
    let (recipes, click_id) = (recipes(), click_id());
    assert!(recipes.len() >= 9, "{recipes:?}");
    for (partner, _, query) in &recipes {
        let filled = filled(query, &click_id);
        assert!(!filled.contains(['{', '}']), "{partner}: an unknown macro in {filled}");
        let postback = Postback::parse(&filled, None).unwrap_or_else(|refusal| panic!("{partner}: {refusal:?}"));
        assert_eq!(postback.click_id, click_id, "{partner}");
        assert_eq!(postback.token, "ADV_TOKEN", "{partner}");
        assert_eq!(postback.status, Status::Approved, "{partner}");
        let has = |name: &str| query.contains(&format!("&{name}="));
        assert_eq!(postback.goal.as_deref(), has("goal").then_some("level_10"), "{partner}");
        assert_eq!(postback.txn.as_deref(), has("txn").then_some("t-7781"), "{partner}");
    }
}

#[test]
fn every_recipe_goes_into_a_landing_url() {
    for (partner, target, _) in recipes() {
        Template::parse(&format!("https://partner.example.com/c?{target}"))
            .unwrap_or_else(|problem| panic!("{partner}: {problem}"));
    }
}
