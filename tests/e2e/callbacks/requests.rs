//! The exact content of callbacks: default parameters of a GET, URL templates with macros, and JSON.

use serde_json::{Value, json};

use crate::{
    clicks::click_id_at,
    harness::{GOALS, OfferWall, Received, Receiver, SECRET, callback, demo, expect_accepted, now_ms},
};

const GAID: &str = "38400000-8cf0-11bd-b23e-10b96e40000d";
const IDFA: &str = "6D92078A-8246-4BA4-AE5B-76104861E7DC";
/// The query of a click with every parameter, after `rid` and `app`.
const FULL: &str = "&user_id=a%40b.c-_&gaid=38400000-8cf0-11bd-b23e-10b96e40000d&idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC\
    &c1=one&c2=2&c3=%40.-_&c4=x_y&c5=five&placement=home";

/// Sends a click from Germany with this query after `rid` and `app`, and returns its click id.
fn click_id(wall: &OfferWall<'_>, rest: &str) -> String {
    let query = format!("rid={}&app={}{rest}", wall.goal("1"), wall.app);
    click_id_at(&wall.signpost.click(&query, "DE").expect(302))
}

/// The query with times and signature replaced, since they differ from run to run. Checks their form.
#[track_caller]
fn without_times(received: &Received) -> String {
    let now = now_ms() / 1_000;
    let pairs = received.pairs();
    assert_eq!(pairs.last().map(|(name, _)| *name), Some("signature"), "{received:?}");
    let shown = pairs.iter().map(|(name, value)| match *name {
        "click_ts" | "conversion_ts" | "ts" => {
            let seconds: i64 = value.parse().unwrap();
            assert!((now - 60..=now + 5).contains(&seconds), "{name}: {received:?}");
            format!("{name}=TIME")
        }
        "signature" => {
            assert_eq!(value.len(), 64, "{received:?}");
            format!("{name}=HEX")
        }
        _ => format!("{name}={value}"),
    });
    shown.collect::<Vec<_>>().join("&")
}

#[test]
fn a_get_carries_the_default_parameters_in_their_order() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-default", "79000201", Some(&receiver));
    let id = expect_accepted(wall.convert(&click_id(&wall, FULL), "&goal=purchase&txn=t-1"), "approved", false);
    let received = receiver.wait(1).remove(0);
    assert_eq!((received.method.as_str(), received.path()), ("GET", "/cb"));
    assert_eq!(received.body, "");
    assert_eq!(
        without_times(&received),
        format!(
            "user_id=a%40b.c-_&value=99999&payout=99.999999&currency=Coins&transaction_id={id}&offer_id=cb-default\
            &goal_id=cb-default-3&goal_value=purchase&app_id=79000201&gaid={GAID}&idfa={IDFA}&c1=one&c2=2&c3=%40.-_\
            &c4=x_y&c5=five&country=DE&click_ts=TIME&conversion_ts=TIME&status=approved&ts=TIME&signature=HEX"
        )
    );
    assert_eq!(received.header("webhook-id"), id);
    assert_eq!(Some(received.header("webhook-timestamp")), received.parameter("ts").as_deref());
    assert!(received.header("webhook-signature").starts_with("v1,"));
    assert_eq!(received.header("user-agent"), "Signpost/1");
    let entry = wall.entry(&id);
    for name in ["click_ts", "conversion_ts"] {
        assert_eq!(received.parameter(name), Some(entry[name].to_string()), "{entry}");
    }

    // Parameters without a value in the click are omitted.
    let id = expect_accepted(wall.convert(&click_id(&wall, "&user_id=u-1&c4=only"), ""), "approved", false);
    let received = receiver.wait(2).remove(1);
    assert_eq!(
        without_times(&received),
        format!(
            "user_id=u-1&value=1250&payout=1.25&currency=Coins&transaction_id={id}&offer_id=cb-default\
            &goal_id=cb-default-1&goal_value=install&app_id=79000201&c4=only&country=DE&click_ts=TIME\
            &conversion_ts=TIME&status=approved&ts=TIME&signature=HEX"
        )
    );
}

#[test]
fn a_template_fills_its_macros_and_a_plain_url_keeps_its_query() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-template", "79000202", Some(&receiver));
    wall.put_offer(
        &json!({"goals": [{"id": "cb-template-1", "ttl": "T", "instr": "1. I", "payout_usd": 0.5, "ord": 1}]}),
    );
    let currency = json!({"name": "G&ld ü", "per_usd": 1_000, "decimals": 0, "rounding": "down"});
    wall.put_app(&json!({ "currency": currency }));
    signpost.refresh();
    let base = receiver.base();
    let defaults = "user_id=a%40b.c-_&value=500&payout=0.5&currency=G%26ld%20%C3%BC&transaction_id=ID&offer_id=cb-template\
        &goal_id=cb-template-1&app_id=79000202";
    let rest = "&country=DE&click_ts=TIME&conversion_ts=TIME&status=approved&ts=TIME&signature=HEX";
    let optional = format!("&gaid={GAID}&idfa={IDFA}&c1=one&c2=2&c3=%40.-_&c4=x_y&c5=five");
    let table = [
        (
            format!(
                "{base}/postback/{{app_id}}/done?uid={{user_id}}&amount={{value}}&tx={{transaction_id}}&src=sign%20post"
            ),
            "/postback/79000202/done".to_owned(),
            "uid=a%40b.c-_&amount=500&tx=ID&src=sign%20post&ts=TIME&signature=HEX".to_owned(),
        ),
        // A macro without a value becomes empty; the braces may be encoded.
        (
            format!(
                "{base}/p?t={{transaction_id}}&v=%7Bgoal_value%7D&o={{original_transaction_id}}&cur={{currency}}&s={{status}}&c={{country}}&x={{c3}}{{c5}}"
            ),
            "/p".to_owned(),
            "t=ID&v=&o=&cur=G%26ld%20%C3%BC&s=approved&c=DE&x=%40.-_five&ts=TIME&signature=HEX".to_owned(),
        ),
        (
            format!("{base}/u-{{user_id}}/{{status}}?id={{transaction_id}}"),
            "/u-a%40b.c-_/approved".to_owned(),
            "id=ID&ts=TIME&signature=HEX".to_owned(),
        ),
        (
            format!("{base}/cb?key=a%20b&user=fixed#part"),
            "/cb".to_owned(),
            format!("key=a%20b&user=fixed&{defaults}{optional}{rest}"),
        ),
        (base, "/".to_owned(), format!("{defaults}{optional}{rest}")),
    ];
    for (number, (url, path, query)) in table.iter().enumerate() {
        wall.put_app(&json!({"callback": callback(url, "GET"), "currency": currency}));
        let id = expect_accepted(wall.convert(&click_id(&wall, FULL), ""), "approved", false);
        let received = receiver.wait(number + 1).remove(number);
        assert_eq!(received.path(), path, "{url}");
        assert_eq!(without_times(&received).replace(&id, "ID"), *query, "{url}");
    }
}

#[test]
fn a_post_carries_the_same_fields_as_json() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-json", "79000203", None);
    let url = format!("{}/cb?key=kept", receiver.base());
    wall.put_app(&json!({
        "callback": callback(&url, "POST"),
        "currency": {"name": "Gold \"& more\"", "per_usd": 42.5, "decimals": 2, "rounding": "nearest"}
    }));
    signpost.refresh();
    for (number, (goal, event, usd, _)) in GOALS.into_iter().enumerate() {
        let answer = wall.convert(&click_id(&wall, FULL), &format!("&goal={event}"));
        let id = expect_accepted(answer, "approved", false);
        let received = receiver.wait(number + 1).remove(number);
        assert_eq!((received.method.as_str(), received.target.as_str()), ("POST", "/cb?key=kept"));
        assert_eq!(received.header("content-type"), "application/json");
        assert_eq!(received.transaction_id(), id);
        let body: Value = serde_json::from_str(&received.body).unwrap();
        let entry = wall.entry(&id);
        let value = [53.13, 871.25, 4_250.0][number];
        assert_eq!(
            body,
            json!({
                "user_id": "a@b.c-_", "value": body["value"], "payout": usd, "currency": "Gold \"& more\"",
                "transaction_id": id, "offer_id": "cb-json", "goal_id": wall.goal(goal), "goal_value": event,
                "app_id": "79000203", "gaid": GAID, "idfa": IDFA, "c1": "one", "c2": "2", "c3": "@.-_", "c4": "x_y",
                "c5": "five", "country": "DE", "click_ts": entry["click_ts"], "conversion_ts": entry["conversion_ts"],
                "status": "approved"
            })
        );
        assert_eq!(body["value"].as_f64(), Some(value), "{body}");
        assert!(body["click_ts"].is_i64() && body["conversion_ts"].is_i64(), "{body}");
    }
}

#[test]
fn the_content_of_a_callback_is_fixed_at_the_commit_but_its_url_is_not() {
    let signpost = demo();
    let wall = signpost.offer_wall("cb-frozen", "79000204", None);
    let id = expect_accepted(wall.convert(&wall.click_id("u-1"), "&goal=level_10"), "approved", false);
    // Everything is changed before the app has a receiver.
    let receiver = Receiver::start();
    wall.put_offer(&json!({"goals": [{"id": "cb-frozen-2", "ttl": "T", "instr": "1. I", "payout_usd": 7, "ord": 1,
        "gl_val": "other"}]}));
    wall.put_app(&json!({
        "currency": {"name": "Gems", "per_usd": 5, "decimals": 2, "rounding": "nearest"},
        "callback": {"url": format!("{}/late", receiver.base()), "method": "GET", "secret": SECRET}
    }));
    let received = receiver.wait(1).remove(0);
    assert_eq!(received.path(), "/late");
    for (name, value) in [
        ("transaction_id", id.as_str()),
        ("value", "20500"),
        ("payout", "20.5"),
        ("currency", "Coins"),
        ("goal_value", "level_10"),
    ] {
        assert_eq!(received.parameter(name).as_deref(), Some(value), "{received:?}");
    }
}
