//! Test apps: the reward loop without an operator, an advertiser or money. The publisher sees a test app's rewards, but
//! no sum, cap or report includes them.

mod keys;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    conversions::expect_conversion_error,
    dashboard,
    harness::{
        Answer, OfferWall, Receiver, Setup, Signpost, away_from_midnight, demo, eventually, eventually_within, now_ms,
    },
    random::Random,
};
use domain::offers::test_offers;

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const PAGE: &str = "/v2/tracking/test";
/// Longer than the pause that a key for test apps must make.
const KEY_REST_MS: i64 = 30_000;

/// A test app that a key has set up, with the values that a pipeline needs.
pub struct TestApp<'s> {
    signpost: &'s Signpost,
    id: String,
    secret: String,
    pub_key: String,
}

/// Sends the key's request, and waits while the key rests.
fn put(signpost: &Signpost, key: &str, body: &Value) -> Answer {
    let headers = [("X-Api-Key", key), ("Content-Type", "application/json")];
    let body = body.to_string();
    let send = || signpost.send("POST", "/v1/core/test_apps", &headers, body.as_bytes());
    let mut answer = send();
    eventually_within(KEY_REST_MS, &false, || {
        if answer.status == 429 {
            answer = send();
        }
        answer.status == 429
    });
    answer
}

fn request(name: &str, receiver: &Receiver) -> Value {
    let events = ["approved", "pending", "rejected", "reversed"];
    let url = format!("{}/cb", receiver.base());
    json!({"name": name, "callback": {"url": url, "method": "POST", "events": events}})
}

impl<'s> TestApp<'s> {
    pub fn of(wall: &OfferWall<'s>, receiver: &Receiver) -> Self {
        let pub_key = wall.signpost.issue_pub_key(&wall.id);
        let app = Self::named(wall, receiver, "ci", &pub_key);
        wall.signpost.refresh();
        app
    }

    fn named(wall: &OfferWall<'s>, receiver: &Receiver, name: &str, pub_key: &str) -> Self {
        let signpost = wall.signpost;
        let key = signpost.existing_publisher(&wall.id).create_key_for("ia-test.WRITE", "ci");
        let made = put(signpost, &key.api_key, &request(name, receiver)).expect(201).json();
        Self {
            signpost,
            id: made["app_id"].as_str().unwrap().to_owned(),
            secret: made["callback_secret"].as_str().unwrap().to_owned(),
            pub_key: pub_key.to_owned(),
        }
    }

    /// The same test app in a Signpost that was restored from a backup.
    pub fn on<'o>(&self, signpost: &'o Signpost) -> TestApp<'o> {
        TestApp { signpost, id: self.id.clone(), secret: self.secret.clone(), pub_key: self.pub_key.clone() }
    }

    fn list(&self, body: &Value) -> Answer {
        let headers =
            [("App-Id", self.id.as_str()), ("Pub-Key", self.pub_key.as_str()), ("Content-Type", "application/json")];
        self.signpost.send("POST", "/v1/offer/api", &headers, body.to_string().as_bytes())
    }

    /// The click id of a click on a goal.
    pub fn click(&self, goal: &str, user: &str) -> String {
        let click = format!("/v2/tracking/click?rid={goal}&app={}&user_id={user}&c1=level-7", self.id);
        let location = self.signpost.get(&click, &[]).expect(302).location().to_owned();
        let (page, id) = location.split_once("?click_id=").unwrap();
        assert_eq!(page, format!("https://t.signpost.example{PAGE}"));
        id.to_owned()
    }

    pub fn report(&self, click: &str, goal: &str, status: &str) -> Answer {
        let form = format!("click_id={click}&goal={goal}&status={status}");
        self.signpost.send("POST", PAGE, &[FORM], form.as_bytes())
    }

    /// The states of the goals of a click.
    pub fn states(&self, click: &str) -> Vec<Value> {
        let page = self.signpost.get(&format!("{PAGE}?click_id={click}"), &[]).expect(200).json();
        page["goals"].as_array().unwrap().iter().map(|goal| goal["state"].clone()).collect()
    }
}

#[test]
fn a_pipeline_sets_up_an_app_lists_clicks_reports_and_gets_a_flagged_and_signed_callback() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("test-loop", "79000970", None);
    let app = TestApp::of(&wall, &receiver);
    let page = app.list(&json!({"page": 1, "size": 10})).expect(200).json();
    let ids: Vec<_> = page["offers"].as_array().unwrap().iter().map(|offer| &offer["id"]).collect();
    assert_eq!(ids, test_offers::ALL.iter().map(|offer| offer.id).collect::<Vec<_>>());
    let base = page["offers"][2]["trk_url_base"].as_str().unwrap();
    let path = base.find("/v2/").map(|at| &base[at..]).unwrap();
    let clicked = signpost.get(&format!("{path}&user_id=u-1&c1=level-7"), &[]).expect(302);
    let click = clicked.location().split_once("click_id=").unwrap().1.to_owned();
    let reported = app.report(&click, "signpost-test-one-goal-1", "approved").expect(200).json();
    assert_eq!((&reported["status"], &reported["duplicate"]), (&json!("approved"), &json!(false)));
    let id = reported["transaction_id"].as_str().unwrap();
    assert!(id.starts_with("test-") && id.len() == 37, "{id}");

    let [called] = receiver.wait(1).try_into().unwrap();
    let webhook = Webhook::new(&app.secret).unwrap();
    webhook.verify(called.body.as_bytes(), &called.headers).unwrap();
    assert_eq!(called.headers["webhook-test"], "true");
    assert_eq!(called.headers["webhook-id"], id);
    let body: Value = serde_json::from_str(&called.body).unwrap();
    assert_eq!(body["transaction_id"], id);
    assert_eq!((&body["value"], &body["user_id"], &body["c1"]), (&json!(1250), &json!("u-1"), &json!("level-7")));

    // The log and the story have it; the log of all apps does not.
    let story = wall.signpost.operator("GET", &format!("apps/{}/conversions/{id}/story", app.id), None);
    assert_eq!(story.expect(200).json()["state"], "approved");
    let listed = |filter: &Value| {
        let browser = dashboard::signed_in(&signpost, &signpost.existing_publisher(&wall.id), "owner");
        let rewards = browser.post("rewards", filter).expect(200).json();
        rewards["rows"].as_array().unwrap().len()
    };
    eventually(&1, || listed(&json!({"app_id": app.id})));
    assert_eq!(listed(&json!({})), 0);
}

#[test]
fn each_button_does_what_its_status_means() {
    let signpost = demo();
    let receiver = Receiver::start();
    let app = TestApp::of(&signpost.offer_wall("test-buttons", "79000971", None), &receiver);
    // The goal, what is reported in turn, and the state after it.
    let table: [(&str, &[(&str, &str)]); 6] = [
        ("signpost-test-one-goal-1", &[("pending", "pending"), ("approved", "approved"), ("reversed", "reversed")]),
        ("signpost-test-one-goal-1", &[("held", "held"), ("approved", "approved")]),
        ("signpost-test-one-goal-1", &[("rejected", "rejected"), ("approved", "rejected")]),
        ("signpost-test-three-goals-2", &[("pending", "pending"), ("held", "held"), ("rejected", "rejected")]),
        ("signpost-test-held-1", &[("approved", "held"), ("approved", "approved")]),
        ("signpost-test-capped-1", &[("pending", "pending"), ("rejected", "rejected")]),
    ];
    for (place, (goal, steps)) in table.iter().enumerate() {
        let click = app.click(goal, &format!("u-{place}"));
        for (status, state) in *steps {
            app.report(&click, goal, status).expect(200);
            assert!(app.states(&click).contains(&json!(state)), "{goal} {status}: {:?}", app.states(&click));
        }
    }
    let capped = "signpost-test-capped-1";
    let click = app.click(capped, "u-capped");
    expect_conversion_error(app.report(&click, capped, "approved"), 409, "conversion_capped");
    assert_eq!(app.states(&click), [json!("refused")]);

    // A browser is led back to the page, which says how the goal stands.
    let html = ("Accept", "text/html,application/xhtml+xml");
    let click = app.click("signpost-test-one-goal-1", "u-page");
    let form = format!("click_id={click}&status=approved");
    let led = signpost.send("POST", PAGE, &[FORM, html], form.as_bytes()).expect(303);
    assert_eq!(led.location(), format!("?click_id={click}"));
    let page = signpost.get(&format!("{PAGE}?click_id={click}"), &[html]).expect(200);
    assert!(page.body.contains("Approved: the reward was paid."), "{page:?}");

    for (form, status, code) in [
        (format!("status=approved&goal={capped}"), 400, "missing_field"),
        (format!("click_id={click}"), 400, "missing_field"),
        (format!("click_id={click}&status=paid"), 400, "invalid_field"),
        (format!("click_id={click}&status=approved&goal={capped}"), 400, "unknown_goal"),
        ("click_id=AQFfXhAQAB&status=approved".to_owned(), 404, "not_found"),
    ] {
        signpost.send("POST", PAGE, &[FORM], form.as_bytes()).expect_error(status, code);
    }
}

#[test]
fn ids_of_test_apps_and_of_others_do_not_go_together() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("test-apart", "79000972", None);
    let app = TestApp::of(&wall, &receiver);
    let goal = wall.goal("1");
    let click =
        |goal: &str, app: &str| signpost.get(&format!("/v2/tracking/click?rid={goal}&app={app}&user_id=u-1"), &[]);
    click(&goal, &app.id).expect_error(404, "unknown_goal");
    click("signpost-test-one-goal-1", &wall.app).expect_error(404, "unknown_goal");
    // A click of a test app converts on the test page alone, and no other click does there.
    let test_click = app.click("signpost-test-one-goal-1", "u-1");
    expect_conversion_error(wall.convert(&test_click, ""), 409, "test_click");
    let real = wall.click_id("u-1");
    app.report(&real, &goal, "approved").expect_error(404, "not_found");
    signpost.get(&format!("{PAGE}?click_id={real}"), &[]).expect_error(404, "not_found");
    assert!(wall.all_entries(10).is_empty() && receiver.received().is_empty());
    // Nobody else may use the prefixes of test apps and test offers.
    let document =
        json!({"publisher_id": wall.id, "name": "x", "platform": "ios", "currency": {"name": "c", "per_usd": 1}});
    signpost.operator("PUT", "apps/99000001", Some(&document)).expect_error(400, "invalid_field");
    let offer = wall.offer();
    signpost.operator("PUT", "offers/signpost-test-x", Some(&offer)).expect_error(400, "invalid_field");
    let mut goals = offer.clone();
    goals["goals"][0]["id"] = json!("signpost-test-one-goal-1");
    signpost.operator("PUT", &format!("offers/{}", wall.id), Some(&goals)).expect_error(400, "invalid_field");
    let advertiser = json!({"name": "x"});
    signpost.operator("PUT", "advertisers/signpost-test", Some(&advertiser)).expect_error(400, "invalid_field");
    // The operator may change an existing test app.
    let mut own = signpost.operator("GET", &format!("apps/{}", app.id), None).expect(200).json();
    for own_words in ["app_id", "terms_revision"] {
        own.as_object_mut().unwrap().remove(own_words);
    }
    own["callback_ports"] = json!([8443]);
    signpost.put(&format!("apps/{}", app.id), &own);
}

#[test]
fn a_thousand_walks_through_a_test_app_change_nothing_that_counts() {
    away_from_midnight();
    let mut random = Random(45);
    let began_ms = now_ms();
    let (signpost, _) = Setup::new().start_with_fixtures();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("test-walks", "79000974", None);
    wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": 100}}));
    let pub_key = signpost.issue_pub_key(&wall.id);
    // An app takes 300 reports a minute.
    let apps = [0; 10].map(|_| random.next());
    let apps = apps.map(|name| TestApp::named(&wall, &receiver, &format!("ci {name}"), &pub_key));
    signpost.refresh();
    for user in ["u-1", "u-2"] {
        wall.pay(user);
    }
    wall.expect_reconciled_since(began_ms);
    let counted = || {
        let rows = ["signpost-ledger", "signpost-counters"].map(|objects| signpost.dump(objects, &VOLATILE));
        let items = signpost.dump("signpost-activity", &VOLATILE);
        let is_counted = |row: &String| COUNTED.iter().any(|table| row.contains(table));
        let items: Vec<_> = items.into_iter().filter(is_counted).collect();
        let figures = signpost.operator("GET", &format!("publishers/{}/activity", wall.id), None);
        let mut figures = figures.expect(200).json();
        figures["behind_ms"] = Value::Null;
        // A test app's page shows its endpoint, so the list of apps has it. It is left out of the comparison.
        let apps = figures["apps"].as_array_mut().unwrap();
        apps.retain(|counted| !counted["app_id"].as_str().unwrap().starts_with("99"));
        let answers = ["attention", "caps"].map(|path| {
            let mut answer = signpost.operator("GET", path, None).expect(200).json();
            for time in ["behind_ms", "as_of"] {
                answer.as_object_mut().unwrap().remove(time);
            }
            answer
        });
        (rows, items, figures, answers)
    };
    // Waits until the feeds of the paid rewards have arrived.
    let mut before = counted();
    eventually_within(30_000, &true, || {
        std::thread::sleep(std::time::Duration::from_secs(3));
        let now = counted();
        let is_quiet = now == before;
        before = now;
        is_quiet
    });

    assert!(before.0.iter().all(|rows| rows.len() > 5), "{:?}", before.0);

    let mut ids = BTreeSet::new();
    for walk in 0..1_000 {
        let app = &apps[walk % apps.len()];
        let offer = &test_offers::ALL[random.below(4)];
        let goal = offer.goals[random.below(offer.goals.len())].id;
        let click = app.click(goal, &format!("walker-{}", walk % 50));
        for _ in 0..=random.below(3) {
            let status = random.one(&["approved", "pending", "held", "rejected", "reversed"]);
            let reported = app.report(&click, goal, status);
            assert!(matches!(reported.status, 200 | 409), "{reported:?}");
            if reported.status == 200 {
                ids.insert(reported.json()["transaction_id"].as_str().unwrap().to_owned());
            }
        }
    }
    assert!(ids.len() > 500, "{}", ids.len());
    assert!(receiver.wait_until(60_000, |received| received.len() > 500));
    std::thread::sleep(std::time::Duration::from_secs(5));
    let after = counted();
    assert_eq!(before.1, after.1);
    assert_eq!(before.2, after.2);
    assert_eq!(before.3, after.3);
    assert_eq!(before.0[0], after.0[0]);
    assert_eq!(before.0[1], after.0[1]);
    wall.expect_reconciled_since(began_ms);
}

/// The tables of the activity objects for counts, alarms and open items.
const COUNTED: [&str; 4] = [" counts ", " outbox_counts ", " attention_", " alarm"];
/// Tables that change without requests: the reports of isolates and of objects' sizes.
const VOLATILE: [&str; 3] = ["attention_figures", "attention_sizes", "_cf_"];
