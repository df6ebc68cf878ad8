//! Postbacks as attribution partners send them: the recipes of docs/INTEGRATING.md, with the parameters that these
//! partners add.

use std::collections::BTreeMap;

use crate::harness::{CONVERSION, Receiver, Signpost, demo, expect_accepted};

const FORM: &str = "application/x-www-form-urlencoded";

struct Postback {
    partner: &'static str,
    /// CLICK stands for the click id, and TOKEN for the token.
    query: &'static str,
    /// The form of a POST.
    form: Option<&'static str>,
    /// The end of the paid goal's id.
    goal: &'static str,
    txn: Option<&'static str>,
    status: &'static str,
}

const fn get(partner: &'static str, query: &'static str, goal: &'static str, txn: Option<&'static str>) -> Postback {
    Postback { partner, query, form: None, goal, txn, status: "approved" }
}

const POSTBACKS: [Postback; 15] = [
    get(
        "AppsFlyer, an install",
        "token=TOKEN&click_id=CLICK&af_siteid=4711&advertising_id=38400000-8cf0-11bd-b23e-10b96e40000d&idfa=\
         &country_code=DE&click_time=2026-11-21+17%3A00%3A12&install_unix_ts=1795280400&app_id=com.example.game\
         &is_retargeting=false",
        "1",
        None,
    ),
    get(
        "AppsFlyer, an event",
        "token=TOKEN&click_id=CLICK&goal=level_10&event_value=%7B%22af_level%22%3A10%2C%22af_revenue%22%3A%220.99%22%7D\
         &event_time=2026-11-21+17%3A20%3A00&appsflyer_id=1415211453000-6513894&app_version=1.4.2",
        "2",
        None,
    ),
    get(
        "Adjust, an install",
        "click_id=CLICK&token=TOKEN&gps_adid=38400000-8cf0-11bd-b23e-10b96e40000d&idfa=&adid=18546f6171f67e29d1cb983322ad1329\
         &created_at=1795280400&country=de&tracker=abc123&tracker_name=Signpost%3A%3ACampaign%20%281%29",
        "1",
        None,
    ),
    get(
        "Adjust, an event",
        "click_id=CLICK&token=TOKEN&goal=purchase&txn=GPA.3312-4567-8901-23456&event=f0ob4r&revenue=4.99&currency=USD\
         &nonce=pRgBPQGxkJdAx1ZpVWnW",
        "3",
        Some("GPA.3312-4567-8901-23456"),
    ),
    get(
        "Singular",
        "click_id=CLICK&token=TOKEN&goal=purchase&event_attributes=%7B%22r%22%3A4.99%2C%22pcc%22%3A%22USD%22%7D&aifa=\
         &utc=1795280400&os=14&ip=192.0.2.7&is_revenue_event=true&country=DE",
        "3",
        None,
    ),
    get(
        "Branch",
        "click_id=CLICK&token=TOKEN&goal=level_10&aaid=38400000-8cf0-11bd-b23e-10b96e40000d&idfa=&os=ANDROID\
         &os_version=14&timestamp=1795280400123&txn=$%7B(event_data.transaction_id)!%7D&name=LEVEL_UP",
        "2",
        None,
    ),
    get(
        "TUNE (HasOffers)",
        "token=TOKEN&transaction_id=CLICK&goal=install&txn=102f5e9e8b7c41d2a1&status=approved&payout=0.80&offer_id=17\
         &goal_id=0&adv_sub=&google_aid=38400000-8cf0-11bd-b23e-10b96e40000d&datetime=2026-11-21%2017:00:12",
        "1",
        Some("102f5e9e8b7c41d2a1"),
    ),
    Postback {
        partner: "TUNE (HasOffers), pending first",
        query: "token=TOKEN&transaction_id=CLICK&goal=install&txn=102f5e9e8b7c41d2a2&status=pending&payout=0.80",
        form: None,
        goal: "1",
        txn: Some("102f5e9e8b7c41d2a2"),
        status: "pending",
    },
    get(
        "Everflow, an order",
        "token=TOKEN&transaction_id=CLICK&goal=purchase&txn=A-1001&nid=512&event_id=3&adv1=&adv2=&amount=49.90&coupon_code=\
         &status=approved",
        "3",
        Some("A-1001"),
    ),
    get(
        "Everflow, an event without an order",
        "token=TOKEN&transaction_id=CLICK&goal=&txn=&nid=512&adv1=&amount=0&status=approved",
        "1",
        None,
    ),
    Postback {
        partner: "Keitaro, with an id of its own as tid",
        query: "token=TOKEN&subid=CLICK&status=rejected&payout=1&currency=usd&tid=7781",
        form: None,
        goal: "1",
        txn: None,
        status: "rejected",
    },
    get(
        "Binom",
        "token=TOKEN&clickid=CLICK&goal=level_10&txn=bn-9981&status=approved&payout=0.5&event1=1&event2=0",
        "2",
        Some("bn-9981"),
    ),
    get(
        "Affise, which carries the click id in a sub",
        "token=TOKEN&aff_sub=CLICK&goal=install&sum=0.8&txn=%7Btransactionid%7D&geo=DE&ip=192.0.2.7",
        "1",
        None,
    ),
    Postback {
        partner: "a server of the advertiser's own",
        query: "token=TOKEN",
        form: Some("click_id=CLICK&goal=purchase&txn=order+17%2F2026&status=Approved&amount=12%2C50+%E2%82%AC"),
        goal: "3",
        txn: Some("order 17/2026"),
        status: "approved",
    },
    get("the minimum, under a name of another network", "cid=CLICK&token=TOKEN", "1", None),
];

fn send(signpost: &Signpost, postback: &Postback, click: &str, token: &str) -> crate::harness::Answer {
    let filled = |text: &str| text.replace("CLICK", click).replace("TOKEN", token);
    let address = format!("{CONVERSION}?{}", filled(postback.query));
    match postback.form {
        None => signpost.get(&address, &[("User-Agent", "postback-sender/2.1")]),
        Some(form) => signpost.send("POST", &address, &[("Content-Type", FORM)], filled(form).as_bytes()),
    }
}

#[test]
fn postbacks_of_real_partners_pay_the_goal_that_they_name() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-senders", "79000131", Some(&receiver));
    let mut expected = BTreeMap::new();
    for (number, postback) in POSTBACKS.iter().enumerate() {
        let partner = postback.partner;
        let click = wall.click_id(&format!("u-{number}"));
        let answer = send(&signpost, postback, &click, &wall.token);
        assert_eq!(answer.status, 200, "{partner}: {answer:?}");
        let id = expect_accepted(answer, postback.status, false);
        // Partners repeat postbacks when they are not sure.
        let again = send(&signpost, postback, &click, &wall.token);
        assert_eq!(expect_accepted(again, postback.status, true), id, "{partner}");
        let entry = wall.entry(&id);
        assert_eq!(entry["goal_id"], wall.goal(postback.goal).as_str(), "{partner}: {entry}");
        assert_eq!(entry.get("txn").and_then(|txn| txn.as_str()), postback.txn, "{partner}: {entry}");
        if postback.status == "approved" {
            expected.insert(id, 1);
        }
    }
    let received = receiver.wait_for_transactions(30_000, expected.len());
    assert_eq!(received, expected);
}

#[test]
fn the_click_id_is_accepted_under_each_alias() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-aliases", "79000132", None);
    for name in ["click_id", "clickid", "transaction_id", "tid", "cid", "subid", "aff_sub"] {
        let query = format!("{name}={}&token={}", wall.click_id("u-1"), wall.token);
        let id = expect_accepted(signpost.convert(&query), "approved", false);
        assert_eq!(expect_accepted(signpost.convert(&query), "approved", true), id, "{name}");
        let beside = format!("{query}&dub_id=1&aff_sub2=x");
        assert_eq!(expect_accepted(signpost.convert(&beside), "approved", true), id, "{name}");
    }
}

#[test]
fn the_query_decides_if_the_body_is_not_a_form() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-bodies", "79000133", None);
    let post = |query: &str, content_type: &str, body: &str| {
        let headers = [("Content-Type", content_type)];
        signpost.send("POST", &format!("{CONVERSION}?{query}"), &headers, body.as_bytes())
    };
    let multipart = "--b\r\nContent-Disposition: form-data; name=\"goal\"\r\n\r\nlevel_10\r\n--b--\r\n";
    for (number, (content_type, body)) in [
        ("application/json", ""),
        ("application/json", "{}"),
        ("multipart/form-data; boundary=b", multipart),
        ("text/plain", "goal=level_10"),
        // curl -d gives any body the type of a form.
        ("application/x-www-form-urlencoded", "{\"discount\": \"50%\"}\n"),
        ("application/x-www-form-urlencoded", "<sale>50%</sale>"),
    ]
    .into_iter()
    .enumerate()
    {
        let click = wall.click_id(&format!("u-{number}"));
        let answer = post(&format!("click_id={click}&token={}", wall.token), content_type, body);
        let note = answer.header("Signpost-Note").map(str::to_owned);
        assert_eq!(note.is_some(), !body.is_empty(), "{content_type} {body}: {answer:?}");
        let id = expect_accepted(answer, "approved", false);
        assert_eq!(wall.entry(&id)["goal_id"], wall.goal("1").as_str(), "the body was read");
    }
    for query in [format!("token={}", wall.token), format!("click_id={}", wall.click_id("u-9"))] {
        let refused = post(&query, "application/json", "{}").expect_error(415, "unsupported_media_type");
        assert!(refused.body.contains("missing from the query"), "{refused:?}");
        post(&query, "application/json", "").expect_error(400, "missing_field");
    }
}

#[test]
fn conversions_of_two_users_with_a_txn_that_is_none_are_both_paid_and_no_goal_is_guessed() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-none", "79000134", None);
    for (number, txn) in
        ["null", "undefined", "(null)", "__TXN__", "$txn", "%3Ctxn%3E", "::txn::", "0", "-"].into_iter().enumerate()
    {
        for user in ["a", "b"] {
            let click = wall.click_id(&format!("u-{number}-{user}"));
            let query = format!("{CONVERSION}?clickId={click}&TOKEN={}%0A&txn={txn}", wall.token);
            expect_accepted(signpost.get(&query, &[]), "approved", false);
        }
    }
    for goal in ["{goal}", "$%7B(name)!%7D", "null", "undefined"] {
        let click = wall.click_id("u-goal");
        let query = format!("{CONVERSION}?click_id={click}&token={}&goal={goal}", wall.token);
        let refused = signpost.get(&query, &[]).expect_error(400, "unknown_goal");
        assert!(refused.body.contains("which the sender has not filled in"), "{refused:?}");
    }
}
