//! A client that uses an offerwall as its visitors do: lists offers, clicks, converts and reads reports. Its offer pays a
//! user once, and each payment must reach its publisher.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    facts::tail,
    world::{Client, Outcome, Sent, World},
};
use crate::{
    clicks::click_id_at,
    conversions::revenue,
    harness::{Answer, CONVERSION, OfferWall, eventually_within, now_ms},
    random::Random,
};
use domain::model::time::{MINUTE_MS, UtcDay};

/// Few, so that most clicks are of users who were rewarded before.
const USERS: usize = 60;

pub struct Visitors<'w> {
    world: &'w World<'w>,
    pub wall: OfferWall<'w>,
    pub_key: String,
    api_key: String,
    random: Random,
    /// The transaction ids of conversions that were answered, with their click ids.
    paid: BTreeMap<String, String>,
    /// Clicks whose records may be lost.
    short: Vec<String>,
    clicks: u64,
    began_ms: i64,
}

impl<'w> Visitors<'w> {
    /// Puts the client's offers. Clicks find them after the next refresh.
    pub fn new(world: &'w World<'w>, id: &str, app: &str, seed: u64) -> Self {
        let signpost = world.signpost;
        let wall = signpost.unpublished_offer_wall(id, app, Some(world.receiver));
        wall.put_offer(&json!({"once_per": "user"}));
        wall.put_offer_as(&format!("{id}-short"), &json!({"once_per": "user", "click_id_max": 50}));
        Self {
            world,
            pub_key: signpost.issue_pub_key(id),
            api_key: signpost.existing_publisher(id).create_key("visitors").api_key,
            wall,
            random: Random(seed),
            paid: BTreeMap::new(),
            short: Vec::new(),
            clicks: 0,
            began_ms: now_ms(),
        }
    }

    fn list(&self) {
        let headers =
            [("App-Id", self.wall.app.as_str()), ("Pub-Key", &self.pub_key), ("Content-Type", "application/json")];
        let answer = self.world.signpost.try_send("POST", "/v1/offer/api", &headers, br#"{"page": 1, "size": 10}"#);
        if let Ok(answer) = answer {
            assert!(answer.status == 200 || answer.status >= 500, "{answer:?}");
        }
    }

    fn report(&self) {
        let today = UtcDay::of_ms(now_ms()).to_string();
        let query = json!({
            "date_range": {"start_date": today, "end_date": today},
            "dimensions": ["app"], "metrics": ["clicks", "revenue"],
        });
        if let Some(answer) = self.world.report(&self.api_key, &query) {
            assert!([200, 204, 429].contains(&answer.status), "{answer:?}");
        }
    }

    fn click(&mut self) {
        let is_short = self.random.below(4) == 0;
        let offer = if is_short { "-short" } else { "" };
        let path = format!(
            "/v2/tracking/click?rid={}{offer}-1&app={}&user_id=user-{}",
            self.wall.id,
            self.wall.app,
            self.random.below(USERS)
        );
        self.clicks += 1;
        match self.world.attempt("clicks", "GET", &path, &Sent::default()) {
            Outcome::Done(answer) if is_short => self.short.push(click_id_at(&answer)),
            Outcome::Done(answer) => {
                let click_id = click_id_at(&answer);
                let answer = self.convert(&click_id, "");
                self.note(click_id, &answer);
            }
            Outcome::Refused(answer) => panic!("{answer:?}"),
            Outcome::Doubt(_) => {}
        }
    }

    /// Sends a postback until it is answered.
    fn convert(&self, click_id: &str, more: &str) -> Answer {
        let path = self.postback(click_id, more);
        self.world.until_answered("conversions", "GET", &path, &Sent::default())
    }

    fn postback(&self, click_id: &str, more: &str) -> String {
        format!("{CONVERSION}?click_id={click_id}&token={}{more}", self.wall.token)
    }

    /// Notes the answer to the first postback of a click.
    fn note(&mut self, click_id: String, answer: &Answer) {
        if answer.status == 200 {
            let id = answer.json()["transaction_id"].as_str().unwrap().to_owned();
            self.paid.insert(id, click_id);
        } else {
            assert_eq!((answer.status, answer.code().as_str()), (409, "already_rewarded"), "{answer:?}");
        }
    }

    /// Converts a click with a record, which may be lost for good: then its postbacks get 503.
    fn convert_short(&mut self) {
        let Some(click_id) = self.short.pop() else { return };
        let path = self.postback(&click_id, "");
        match self.world.attempt("short ids", "GET", &path, &Sent::default()) {
            Outcome::Done(answer) | Outcome::Refused(answer) => self.note(click_id, &answer),
            Outcome::Doubt(_) => self.short.insert(0, click_id),
        }
    }

    /// Reverses a reward, or repeats its postback.
    fn follow_up(&mut self) {
        let nth = self.random.below(self.paid.len().max(1));
        let Some((id, click_id)) = self.paid.iter().nth(nth) else {
            return;
        };
        let more = ["&status=reversed", ""][self.random.below(2)];
        let answer = self.convert(click_id, more).expect(200).json();
        assert_eq!(answer["transaction_id"], **id, "{answer}");
    }

    /// Returns the offers' clicks and conversions, as the counters have them.
    fn figures(&self) -> (u64, u64) {
        let ids = [self.wall.id.clone(), format!("{}-short", self.wall.id)];
        let body = json!({ "offer_ids": ids });
        let answer = self.world.signpost.operator("POST", "offer_figures", Some(&body));
        let figures = answer.expect(200).json();
        let sum = |name: &str| {
            let of_offers = ids.iter().map(|id| figures["figures"][id][name].as_u64());
            of_offers.map(Option::unwrap_or_default).sum()
        };
        (sum("clicks"), sum("conversions"))
    }

    /// Compares the log with the answers. Returns the ids that were paid or reversed, and the rewards that stand.
    fn check_log(&self) -> (BTreeSet<String>, Vec<Value>) {
        let entries = self.wall.all_entries(1_000);
        let of = |entry: &Value, name: &str| entry[name].as_str().map(str::to_owned);
        let is_paid = |entry: &&Value| entry["state"].is_string() && entry["status"] != "refused";
        let paid = entries.iter().filter(is_paid);
        let ids: BTreeSet<_> = paid.clone().map(|entry| of(entry, "transaction_id").unwrap()).collect();
        for id in self.paid.keys() {
            assert!(ids.contains(id), "{id} was answered, and is not in the log");
        }
        let reversed: BTreeSet<_> = entries.iter().filter_map(|entry| of(entry, "original_transaction_id")).collect();
        let stands = |entry: &&Value| {
            entry["original_transaction_id"].is_null() && !reversed.contains(&of(entry, "transaction_id").unwrap())
        };
        let standing: Vec<_> = paid.filter(stands).cloned().collect();
        let mut rewarded = BTreeSet::new();
        for reward in &standing {
            let of_user = |entry: &&Value| ["user_id", "offer_id"].iter().all(|name| entry[name] == reward[name]);
            let user = ["user_id", "offer_id", "goal_id"].map(|name| of(reward, name));
            assert!(
                rewarded.insert(user),
                "a user has two rewards: {:#?}",
                entries.iter().filter(of_user).collect::<Vec<_>>()
            );
        }
        (ids, standing)
    }

    /// Returns true if the counters lack clicks that the publisher's ledger has.
    pub fn lacks_clicks(&self) -> bool {
        let publisher = self.world.signpost.existing_publisher(&self.wall.id);
        let reported = publisher.clicks();
        assert!(reported <= self.clicks, "{reported} of {} clicks", self.clicks);
        eventually_within(MINUTE_MS, &true, || self.figures().0 <= publisher.clicks());
        self.figures().0 < publisher.clicks()
    }
}

impl Client for Visitors<'_> {
    fn step(&mut self) {
        match self.random.below(20) {
            0 => self.list(),
            1 => self.report(),
            2..5 => self.follow_up(),
            5..7 => self.convert_short(),
            _ => self.click(),
        }
    }

    fn verify(&mut self) -> usize {
        let lost = self.short.len();
        for _ in 0..lost {
            self.convert_short();
        }
        let (ids, standing) = self.check_log();
        // Each payment reaches the publisher, and nothing that was not paid.
        eventually_within(MINUTE_MS, &Vec::<String>::new(), || {
            let received = self.world.receiver.transactions();
            let missing = ids.iter().filter(|id| !received.contains_key(*id));
            missing.cloned().collect()
        });
        for callback in self.world.receiver.received() {
            let is_own = callback.parameter("app_id").as_deref() == Some(self.wall.app.as_str());
            let id = callback.transaction_id();
            assert!(!is_own || ids.contains(id), "{}", tail(&format!("{callback:?}")));
        }
        let earned: f64 = standing.iter().filter_map(|entry| entry["payout"].as_f64()).sum();
        let publisher = self.world.signpost.existing_publisher(&self.wall.id);
        eventually_within(MINUTE_MS, &true, || (revenue::revenue(&publisher) - earned).abs() < 1e-6);
        self.wall.expect_reconciled_since(self.began_ms);
        eventually_within(MINUTE_MS, &(standing.len() as u64), || {
            self.world.signpost.refresh();
            self.figures().1
        });
        println!("{}: {} rewards stand, {} click records are lost", self.wall.id, standing.len(), self.short.len());
        self.paid.len()
    }
}
