//! Conversions in every state, although workerd is killed repeatedly: each answer is kept, each reward reaches the publisher
//! once, and log, callbacks, ledger and dashboard agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    clicks::keys,
    conversions::revenue::revenue,
    dashboard::activity::expect_agreement,
    harness::{
        Answer, CONVERSION, OPERATOR_TOKEN, OfferWall, Receiver, Setup, callback, eventually_within, now_ms, seal,
    },
};
use domain::model::time::{DAY_MS, SECOND_MS, UtcDay};

const CONVERSIONS: usize = 10_000;
/// Further conversions, of an offer with a cap. They are spread evenly, so that some are in flight at each crash.
const CAPPED: usize = 400;
const CAP: usize = 200;
const CAPPED_OFFER: &str = "conv-crashes-cap";
const CLIENTS: usize = 32;
const KILLS: usize = 3;
/// How long a client retries, and how long the whole queue may take to drain.
const PATIENCE_MS: i64 = 300 * SECOND_MS;
/// The reward of the first goal.
const COINS: i64 = 1_250;

/// The events of a user's conversions, and their end.
struct Journey {
    /// Postbacks and actions in their order. `again` is the approval of a second click.
    steps: &'static [&'static str],
    /// The conversion's last status in the log.
    last: &'static str,
    /// The statuses that the publisher must be told, beside notices that may be overtaken.
    told: &'static [&'static str],
    coins: i64,
}

const fn journey(
    steps: &'static [&'static str],
    last: &'static str,
    told: &'static [&'static str],
    coins: i64,
) -> Journey {
    Journey { steps, last, told, coins }
}

/// User `n` takes journey `n` modulo their number. `fast` is an approval that comes too fast.
const JOURNEYS: [Journey; 10] = [
    journey(&["approved"], "approved", &["approved"], COINS),
    journey(&["approved", "reversed"], "reversed", &["approved", "reversed"], 0),
    journey(&["pending"], "pending", &["pending"], 0),
    journey(&["pending", "approved"], "approved", &["approved"], COINS),
    journey(&["pending", "rejected"], "rejected", &["rejected"], 0),
    journey(&["reversed"], "reversed", &[], 0),
    journey(&["fast"], "held", &["pending"], 0),
    journey(&["fast", "approve"], "approved", &["approved"], COINS),
    journey(&["approved", "again"], "approved", &["approved"], COINS),
    journey(&["approved", "reverse"], "reversed", &["approved", "reversed"], 0),
];

/// Sends requests until they are answered.
struct Client<'s> {
    wall: &'s OfferWall<'s>,
    failed: AtomicUsize,
}

impl Client<'_> {
    fn send(&self, method: &str, address: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let until_ms = now_ms() + PATIENCE_MS;
        loop {
            let problem = match self.wall.signpost.try_send(method, address, headers, body) {
                Ok(answer) if answer.status < 500 => return answer,
                Ok(answer) => format!("{answer:?}"),
                Err(problem) => problem,
            };
            self.failed.fetch_add(1, Ordering::Relaxed);
            assert!(now_ms() < until_ms, "{problem}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn convert(&self, click: &str, status: &str) -> Answer {
        let token = &self.wall.token;
        let address = format!("{CONVERSION}?click_id={click}&token={token}&status={status}");
        self.send("GET", &address, &[], b"")
    }

    fn settle(&self, id: &str, action: &str) -> Answer {
        let address = format!("/v1/operator/apps/{}/conversions/{id}/{action}", self.wall.app);
        let token = format!("Bearer {OPERATOR_TOKEN}");
        let headers = [("Authorization", token.as_str()), ("Content-Type", "application/json")];
        self.send("POST", &address, &headers, br#"{"reason":"by hand"}"#)
    }

    /// Takes a user's journey. Returns the transaction id.
    fn travel(&self, nth: usize) -> String {
        let user = format!("user-{nth}");
        let click_at = |age_ms| self.wall.click_id_at(&user, now_ms() - age_ms);
        let (click, another, fast) = (click_at(DAY_MS), click_at(DAY_MS), click_at(0));
        let mut id = String::new();
        for step in JOURNEYS[nth % JOURNEYS.len()].steps {
            let answer = match *step {
                "approve" | "reverse" => self.settle(&id, step),
                "fast" => self.convert(&fast, "approved"),
                "again" => {
                    self.convert(&another, "approved").expect_error(409, "already_rewarded");
                    continue;
                }
                status => self.convert(&click, status),
            };
            let found = answer.expect(200).json()["transaction_id"].as_str().unwrap().to_owned();
            assert!(id.is_empty() || id == found, "{user} has two ids");
            id = found;
        }
        id
    }

    /// Sends a conversion of the capped offer. Returns whether it is paid.
    fn convert_capped(&self, nth: usize) -> bool {
        let user = format!("capped-{nth}");
        let click = self.wall.click_on(CAPPED_OFFER, &user, now_ms());
        let answer = self.convert(&seal(&keys(), &click), "approved");
        if answer.status == 409 {
            answer.expect_error(409, "conversion_capped");
            return false;
        }
        answer.expect(200);
        true
    }
}

/// The publisher's view, by user: the statuses, and the coins of each transaction id once.
fn told(receiver: &Receiver) -> BTreeMap<String, (BTreeSet<String>, i64)> {
    let mut transactions = BTreeMap::new();
    let mut told = BTreeMap::<_, (BTreeSet<_>, i64)>::new();
    for callback in receiver.received() {
        let text = |name: &str| callback.parameter(name).expect("a field");
        let content = (text("user_id"), text("status"), text("value"));
        let id = callback.transaction_id().to_owned();
        match transactions.insert(id, content.clone()) {
            Some(known) => assert_eq!(known, content, "a transaction id with two contents"),
            None => {
                let (statuses, coins) = told.entry(content.0).or_default();
                statuses.insert(content.1);
                *coins += content.2.parse::<i64>().expect("coins");
            }
        }
    }
    told
}

#[test]
fn ten_thousand_conversions_in_every_state_survive_three_kills() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("conv-crashes", "79000181", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let mut settings = callback(&format!("{}/cb", receiver.base()), "GET");
    settings["events"] = json!(["approved", "reversed", "pending", "rejected"]);
    wall.put_app(&json!({ "callback": settings }));
    wall.put_offer(&json!({"once_per": "user", "min_seconds_to_convert": 3_600}));
    wall.put_offer_as(CAPPED_OFFER, &json!({"conversion_cap": {"dur": "DAILY", "lim": CAP}}));
    signpost.refresh();
    let client = Client { wall: &wall, failed: AtomicUsize::new(0) };
    let began_ms = now_ms();
    let (next, done, capped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let ids = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= CONVERSIONS {
                        return;
                    }
                    let known = ids.lock().unwrap().insert(client.travel(nth), nth);
                    assert_eq!(known, None, "two conversions have one id");
                    let interval = CONVERSIONS / CAPPED;
                    if nth.is_multiple_of(interval) && client.convert_capped(nth / interval) {
                        capped.fetch_add(1, Ordering::Relaxed);
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for kill in 1..=KILLS {
            let after = CONVERSIONS * kill / (KILLS + 1);
            eventually_within(PATIENCE_MS, &true, || done.load(Ordering::Relaxed) >= after);
            signpost.restart();
        }
    });
    let answered_ms = now_ms() - began_ms;
    let (ids, capped) = (ids.into_inner().unwrap(), capped.into_inner());
    // At midnight the cap starts again.
    if UtcDay::of_ms(began_ms) == UtcDay::of_ms(now_ms()) {
        assert_eq!(capped, CAP);
    }
    eventually_within(PATIENCE_MS, &0, || wall.endpoint()["waiting"].as_i64().unwrap_or(-1));
    println!(
        "{CONVERSIONS} conversions in every state answered in {answered_ms} ms with {} failed attempts, and all callbacks \
         received after {} ms",
        client.failed.into_inner(),
        now_ms() - began_ms
    );

    // The publisher.
    let told = told(&receiver);
    for nth in 0..CONVERSIONS {
        let journey = &JOURNEYS[nth % JOURNEYS.len()];
        let (mut statuses, coins) = told.get(&format!("user-{nth}")).cloned().unwrap_or_default();
        if !journey.told.contains(&"pending") {
            statuses.remove("pending");
        }
        assert!(statuses.iter().eq(journey.told), "user-{nth}: {statuses:?}");
        assert_eq!(coins, journey.coins, "user-{nth}");
    }
    assert_eq!(told.keys().filter(|user| user.starts_with("capped-")).count(), capped);

    // The log.
    let mut logged = BTreeMap::new();
    for entry in wall.all_entries(1_000) {
        let offer = entry["offer_id"].as_str().unwrap();
        if offer != CAPPED_OFFER && entry.get("original_transaction_id").is_none() {
            let id = entry["transaction_id"].as_str().unwrap().to_owned();
            let code = entry["code"].as_str().map(str::to_owned);
            logged.insert(id, (entry["status"].as_str().unwrap().to_owned(), code));
        }
    }
    let refused = ("refused".to_owned(), Some("already_rewarded".to_owned()));
    for (id, nth) in &ids {
        let last = JOURNEYS[nth % JOURNEYS.len()].last;
        let code = (last == "held").then(|| "too_fast".to_owned());
        assert_eq!(logged.remove(id), Some((last.to_owned(), code)), "user-{nth}");
    }
    assert_eq!(logged.len(), CONVERSIONS / JOURNEYS.len(), "the second clicks");
    assert!(logged.values().all(|entry| *entry == refused));

    // The ledger.
    let rewards = told.values().map(|(_, coins)| coins / COINS).sum::<i64>();
    let earned = f64::from(i32::try_from(rewards).unwrap()) * 1.25;
    assert_eq!(usize::try_from(rewards).unwrap(), CONVERSIONS * 4 / 10 + capped);
    eventually_within(PATIENCE_MS, &earned, || revenue(&publisher));
    wall.expect_reconciled_since(began_ms);

    // The dashboard.
    expect_agreement(&wall, earned);
}
