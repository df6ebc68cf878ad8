//! Every field of a listed offer (docs/SPEC.md, "Offers response").

use serde_json::{Value, json};

use super::{APPS, Served, filter, now_s};
use crate::harness::{ANDROID_APP, IOS_APP, WEB_APP};

/// A JSON number with at most six decimals, as whole millionths, computed from its digits.
fn millionths(number: &Value) -> i128 {
    let digits = format!("{:.6}", number.as_f64().unwrap());
    digits.replace('.', "").parse().unwrap()
}

/// `units` of 10^-`decimals` as a JSON number.
fn decimal(units: i128, decimals: usize) -> Value {
    let digits = format!("{units:0width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    serde_json::from_str(&format!("{whole}{point}{fraction}")).unwrap()
}

/// A payout in units of the last decimal place of an app's currency.
fn converted(payout_usd: &Value, currency: &Value) -> i128 {
    let decimals = u32::try_from(currency["decimals"].as_u64().unwrap()).unwrap();
    let exact = millionths(payout_usd) * millionths(&currency["per_usd"]);
    let step = 10_i128.pow(12 - decimals);
    let dropped = exact % step;
    let up = match currency["rounding"].as_str().unwrap() {
        "down" => false,
        "up" => dropped > 0,
        "nearest" => dropped * 2 >= step,
        other => panic!("{other}"),
    };
    exact / step + i128::from(up)
}

/// An offer as listed for an app (docs/DECISIONS.md, "Offers"), with the texts as the operator wrote them.
fn expected(served: &Served, app_id: &str, offer_id: &str, updated_at: &Value) -> Value {
    let offer = &served.demo.offers[offer_id];
    let currency = &served.demo.apps[app_id]["currency"];
    let decimals = usize::try_from(currency["decimals"].as_u64().unwrap()).unwrap();
    let usd = |micro_usd| json!({ "cur": "USD", "amt": decimal(micro_usd, 6) });
    let in_app = |units| json!({ "cur": currency["name"], "amt": decimal(units, decimals) });

    let mut goals = offer["goals"].as_array().unwrap().clone();
    goals.sort_by_key(|goal| (goal["ord"].as_u64(), goal["id"].as_str().map(str::to_owned)));
    let payouts: Vec<_> = goals.iter().map(|goal| millionths(&goal["payout_usd"])).collect();
    let amounts: Vec<_> = goals.iter().map(|goal| converted(&goal["payout_usd"], currency)).collect();
    let shown_goal = |(goal, (payout, amount)): (&Value, (&i128, &i128))| {
        json!({
            "id": goal["id"], "gl_val": goal["gl_val"], "ttl": goal["ttl"], "instr": goal["instr"],
            "pyt": usd(*payout), "inapp_pyt": in_app(*amount), "ord": goal["ord"],
        })
    };
    let first = goals[0]["id"].as_str().unwrap();
    let base = format!("https://t.signpost.example/v2/tracking/click?rid={first}&app={app_id}");
    let mut shown = json!({
        "id": offer_id,
        "upd_ts": updated_at,
        "off_type": offer["off_type"],
        "s_id": offer["s_id"],
        "name": offer["name"],
        "lp_url": offer["lp_url"],
        "pyt": usd(payouts.iter().sum()),
        "inapp_pyt": in_app(amounts.iter().sum()),
        "crtvs": { "ic_url": offer["ic_url"] },
        "desc": { "raw": offer["desc"] },
        "ctg": offer["ctg"],
        "gls": goals.iter().zip(payouts.iter().zip(&amounts)).map(shown_goal).collect::<Vec<_>>(),
        "trk_url": format!("{base}&user_id={{your_user_id}}&gaid={{gaid_for_android}}&idfa={{idfa_for_ios}}"),
        "trk_url_base": base,
        "geo_tgt": offer["geo_tgt"],
        "os": offer["os"],
    });
    for cap in ["conversion_cap", "click_cap"] {
        if !offer[cap].is_null() {
            shown[cap] = offer[cap].clone();
        }
    }
    shown
}

/// Replaces a listed text by the written one if that has markup. Here the text must only differ; another test checks
/// the conversion itself.
fn with_markup_as_written(shown: &mut Value, written: &Value) {
    let markup = ["<", "&amp;", "&nbsp;", "&bull;", "&ndash;"];
    let has_markup = |text: &Value| markup.iter().any(|mark| text.as_str().unwrap().contains(mark));
    if has_markup(written) {
        assert!(!has_markup(shown) && *shown != json!(""), "{shown} for {written}");
        *shown = written.clone();
    }
}

/// Compares every field of every offer of an app with the model.
#[track_caller]
pub fn check_every_field(served: &Served, app: &str) {
    let stored = served.signpost.operator("GET", "offers?limit=1000", None).expect(200);
    let stored = stored.json()["offers"].as_array().unwrap().clone();
    let offers = served.all(app);
    assert!(!offers.is_empty());
    for mut offer in offers {
        let id = super::id(&offer);
        let updated_at = &stored.iter().find(|stored| stored["offer_id"] == *id).unwrap()["updated_at"];
        let expected = expected(served, app, &id, updated_at);
        with_markup_as_written(&mut offer["desc"]["raw"], &expected["desc"]["raw"]);
        for (index, goal) in expected["gls"].as_array().unwrap().iter().enumerate() {
            with_markup_as_written(&mut offer["gls"][index]["instr"], &goal["instr"]);
        }
        assert_eq!(offer, expected, "offer {id} for app {app}");
    }
}

#[test]
fn every_field_of_every_offer_matches_the_catalog_and_the_apps_currency() {
    let served = Served::shared();
    for app in APPS {
        check_every_field(&served, app);
        let updated_at = served.all(app)[0]["upd_ts"].as_i64().unwrap();
        assert!((now_s() - 600..=now_s()).contains(&updated_at), "{updated_at}");
    }
}

#[test]
fn pages_equal_literal_examples() {
    let served = Served::shared();
    let one = |app, id: &str| {
        let filt = json!([filter("offer_id", "exact", &[id])]);
        served.list(app, &json!({ "page": 1, "size": 1, "filt": filt })).expect(200)
    };
    let answer = one(IOS_APP, "60255");
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
    let upd_ts = answer.json()["offers"][0]["upd_ts"].to_string();
    let expected = concat!(
        r#"{"offers":[{"id":"60255","upd_ts":UPD_TS,"off_type":"CPC","s_id":"wanderlark-alerts","#,
        r#""name":"Wanderlark: Flight Price Alerts","lp_url":"https://www.wanderlark.example/#/alerts","#,
        r#""pyt":{"cur":"USD","amt":0.035},"inapp_pyt":{"cur":"Gems","amt":1.49},"#,
        r#""crtvs":{"ic_url":"https://media.veldmark.example.net/ic/wanderlark.png"},"#,
        r#""desc":{"raw":"Pick a month and a direction, see where your budget takes you."},"#,
        r#""ctg":["SINGLE_STEP"],"gls":[{"id":"606301","gl_val":"search","ttl":"Search a route","#,
        r#""instr":"1. Open Wanderlark\n2. Search for any route","pyt":{"cur":"USD","amt":0.035},"#,
        r#""inapp_pyt":{"cur":"Gems","amt":1.49},"ord":1}],"#,
        r#""trk_url":"https://t.signpost.example/v2/tracking/click?rid=606301&app=10000002"#,
        r#"&user_id={your_user_id}&gaid={gaid_for_android}&idfa={idfa_for_ios}","#,
        r#""trk_url_base":"https://t.signpost.example/v2/tracking/click?rid=606301&app=10000002","#,
        r#""geo_tgt":{"include":["ES","IT","PT","FR","DE","PL","GR","HR"],"exclude":[]},"os":"web","#,
        r#""click_cap":{"dur":"DAILY","lim":5000}}],"total":1}"#,
    );
    assert_eq!(answer.body, expected.replace("UPD_TS", &upd_ts));

    // Each goal is rounded separately: the sum of 24.60 USD would be 1045.50 Gems.
    let offer = one(IOS_APP, "25963").json()["offers"][0].clone();
    let goals = offer["gls"].as_array().unwrap();
    let amounts: Vec<_> = goals.iter().map(|goal| &goal["inapp_pyt"]["amt"]).collect();
    assert_eq!(amounts, [&json!(23.38), &json!(80.75), &json!(272), &json!(669.38)]);
    assert_eq!(offer["inapp_pyt"], json!({ "cur": "Gems", "amt": 1045.51 }));
    assert_eq!(offer["pyt"], json!({ "cur": "USD", "amt": 24.6 }));

    for (app, id, path, expected) in [
        (
            ANDROID_APP,
            "23817",
            "/desc/raw",
            "Your valley burned and the last of your people are camped in the ash. Rebuild the keep, train its \
             garrison and hold the passes against the Cinder Host.\n\nNew players only. Every keep level pays on \
             its own, so you earn while you build. Most players reach level 12 within a week.",
        ),
        (
            ANDROID_APP,
            "25540",
            "/gls/0/instr",
            "1. Installiere das Spiel über diesen Link\n2. Fahr die drei Übungsrennen zu Ende",
        ),
        (
            ANDROID_APP,
            "42010",
            "/desc/raw",
            "踏上九州，尋回失落的龍脈。開放世界武俠 RPG，限新玩家參加。\n• 請勿使用模擬器\n• 每台裝置限參加一次",
        ),
        (
            IOS_APP,
            "51388",
            "/desc/raw",
            "Tell us about your dog or cat & get a price in a minute. No purchase needed. One quote per household.",
        ),
        (
            WEB_APP,
            "50610",
            "/desc/raw",
            "Trade 400 instruments from one account, with a practice mode for as long as you like.\nRisk warning: \
             most retail accounts lose money when trading leveraged products. Only take part with money you can \
             afford to lose.\n- First-time customers, 21+\n- Verification takes 1–2 working days\n- Bonus credits \
             do not count as a deposit",
        ),
        (WEB_APP, "60231", "/name", "Threadbare & Daughters: Winter Sale"),
    ] {
        let offer = one(app, id).json()["offers"][0].clone();
        assert_eq!(offer.pointer(path), Some(&json!(expected)), "{id}{path}");
    }
}
