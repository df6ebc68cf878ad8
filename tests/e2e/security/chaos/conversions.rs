//! An advertiser whose postbacks are repeated, turned back, held by a cap and cut off, and its publisher, who is told of
//! each reward once, by the newest settings of its callback.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    facts::tail,
    tokens::Tokens,
    world::{Client, Outcome, Sent, World},
};
use crate::{
    clicks::keys,
    conversions::revenue,
    harness::{Answer, CONVERSION, GOALS, Received, Wall, callback, in_time, now_ms, seal},
    numbers::Random,
};
use domain::model::time::{SECOND_MS, UtcDay};

/// How many conversions of the capped offer are paid in a day.
const CAP: usize = 25;
/// How long the queue may take to drain: a try that was cut off is made again after its lease, or by the alarm.
const DRAINED_MS: i64 = 60 * SECOND_MS;

/// What a user was promised.
#[derive(Default)]
struct User {
    /// In the order of what was sent.
    history: Vec<String>,
    /// The one transaction that pays, if it is known.
    id: Option<String>,
    /// Whether there may be one that nobody was told of.
    may_have_paid: bool,
    reversed: bool,
    micros: i64,
    /// The version of the callback's settings that was acknowledged before.
    settings: usize,
}

pub struct Conversions<'w> {
    world: &'w World<'w>,
    wall: Wall<'w>,
    tokens: Tokens<'w>,
    random: Random,
    users: BTreeMap<String, User>,
    /// Clicks whose conversions are pending, or may be reversed, by their users.
    open: Vec<(String, String, bool)>,
    /// A click and what was last said of it, to ask with other tokens.
    settled: Option<String>,
    capped: (usize, usize),
    settings: usize,
    began_ms: i64,
}

impl<'w> Conversions<'w> {
    /// Clicks find its offers after the next refresh.
    pub fn new(world: &'w World<'w>, id: &str, app: &str, seed: u64) -> Self {
        let wall = world.signpost.unpublished_wall(id, app, None);
        wall.put_offer_as(
            &format!("{id}-cap"),
            &json!({"conversion_cap": {"dur": "DAILY", "lim": CAP}}),
        );
        let mut of_all = Self {
            world,
            tokens: Tokens::new(world, &wall),
            wall,
            random: Random(seed),
            users: BTreeMap::new(),
            open: Vec::new(),
            settled: None,
            capped: (0, 0),
            settings: 0,
            began_ms: now_ms(),
        };
        of_all.set_callback();
        of_all
    }

    fn set_callback(&mut self) {
        let version = self.settings + 1;
        let url = format!("{}/cb-{version}", self.world.receiver.base());
        let app = json!({
            "publisher_id": self.wall.id, "name": self.wall.id, "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
            "callback": callback(&url, "GET"),
        });
        let body = app.to_string();
        let sent = Sent {
            media_type: Some("application/json"),
            body: body.as_bytes(),
            ..Sent::default()
        };
        let path = format!("/v1/operator/apps/{}", self.wall.app);
        self.world
            .until_told("callback settings", "PUT", &path, &sent)
            .expect(200);
        self.settings = version;
    }

    fn new_user(&mut self, offer: &str) -> (String, String) {
        let user = format!("{}-{}", self.wall.id, self.users.len());
        let mut click = self.wall.click(&user, now_ms());
        click.offer = offer.into();
        let click_id = seal(&keys(), &click);
        let user_of = User {
            settings: self.settings,
            ..User::default()
        };
        self.users.insert(user.clone(), user_of);
        (user, click_id)
    }

    /// Sends a postback until it is told what became of it.
    fn told(&mut self, user: &str, click_id: &str, more: &str) -> Answer {
        let path = format!(
            "{CONVERSION}?click_id={click_id}&token={}{more}",
            self.tokens.newest()
        );
        let answer = self
            .world
            .until_told("conversions", "GET", &path, &Sent::default());
        let user = self.users.get_mut(user).unwrap();
        user.history
            .push(format!("{more} -> {} {}", answer.status, answer.body));
        answer
    }

    /// The same, and the answer must be this; the transaction must be the one that was told before.
    fn becomes(&mut self, user: &str, click_id: &str, more: &str, status: &str) {
        let answer = self.told(user, click_id, more);
        let of_user = self.users.get_mut(user).unwrap();
        let body = answer.clone().expect(200).json();
        assert_eq!(body["status"], status, "{user}: {:#?}", of_user.history);
        let id = body["transaction_id"].as_str().unwrap().to_owned();
        if let Some(known) = &of_user.id {
            assert_eq!(*known, id, "{user} has two transactions: {:#?}", of_user.history);
        }
        of_user.id = Some(id);
        match status {
            "approved" => of_user.may_have_paid = true,
            "reversed" => of_user.reversed = true,
            _ => {}
        }
    }

    fn new_conversion(&mut self) {
        let offer = self.wall.id.clone();
        let (_, event, usd, _) = GOALS[self.random.below(GOALS.len())];
        #[expect(clippy::cast_possible_truncation, reason = "a few dollars")]
        let micros = (usd * 1e6).round() as i64;
        let (user, click_id) = self.new_user(&offer);
        self.users.get_mut(&user).unwrap().micros = micros;
        let goal = format!("&goal={event}");
        match self.random.below(10) {
            // Sent once, and never again.
            0 => {
                let path = format!(
                    "{CONVERSION}?click_id={click_id}&token={}{goal}",
                    self.tokens.newest()
                );
                let outcome = self.world.attempt("conversions", "GET", &path, &Sent::default());
                let of_user = self.users.get_mut(&user).unwrap();
                of_user.may_have_paid = true;
                match outcome {
                    Outcome::Done(answer) => {
                        of_user.id = Some(answer.json()["transaction_id"].as_str().unwrap().into())
                    }
                    Outcome::Refused(answer) => panic!("{answer:?}"),
                    Outcome::Doubt(problem) => of_user
                        .history
                        .push(format!("once, in doubt: {}", tail(&problem))),
                }
            }
            // Under an id of the sender's own, which pays one click and no other.
            1 => {
                let txn = format!("{goal}&txn={user}");
                self.becomes(&user, &click_id, &txn, "approved");
                let (other, other_click) = self.new_user(&offer);
                let answer = self.told(&other, &other_click, &txn);
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (409, "duplicate_txn"),
                    "{answer:?}"
                );
            }
            2..5 => {
                let pending = format!("{goal}&status=pending");
                self.becomes(&user, &click_id, &pending, "pending");
                self.open.push((user, format!("{click_id}{goal}"), true));
            }
            _ => {
                for _ in 0..=self.random.below(2) {
                    self.becomes(&user, &click_id, &goal, "approved");
                }
                self.settled = Some(format!("{click_id}{goal}"));
                self.open.push((user, format!("{click_id}{goal}"), false));
            }
        }
    }

    fn follow_up(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (user, click_id, pending) = self.open.swap_remove(self.random.below(self.open.len()));
        match (pending, self.random.below(3)) {
            (true, 0) => self.becomes(&user, &click_id, "&status=rejected", "rejected"),
            (true, _) => {
                self.becomes(&user, &click_id, "", "approved");
                self.open.push((user, click_id, false));
            }
            (false, 0) => self.becomes(&user, &click_id, "&status=reversed", "reversed"),
            (false, _) => self.becomes(&user, &click_id, "&status=pending", "approved"),
        }
    }

    fn capped(&mut self) {
        let offer = format!("{}-cap", self.wall.id);
        let (user, click_id) = self.new_user(&offer);
        let answer = self.told(&user, &click_id, "");
        self.capped.0 += 1;
        let of_user = self.users.get_mut(&user).unwrap();
        of_user.micros = 1_250_000;
        if answer.status == 200 {
            self.capped.1 += 1;
            of_user.may_have_paid = true;
            of_user.id = Some(answer.json()["transaction_id"].as_str().unwrap().to_owned());
        } else {
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (409, "conversion_capped"),
                "{:#?}",
                of_user.history
            );
        }
        assert!(
            self.capped.1 <= CAP || self.day_changed(),
            "{} paid of a cap of {CAP}",
            self.capped.1
        );
    }

    fn day_changed(&self) -> bool {
        UtcDay::of_ms(self.began_ms) != UtcDay::of_ms(now_ms())
    }

    /// The callbacks that its publisher was sent.
    fn received(&self) -> Vec<Received> {
        let received = self.world.receiver.received().into_iter();
        received
            .filter(|callback| callback.parameter("app_id").as_deref() == Some(self.wall.app.as_str()))
            .collect()
    }

    /// Compares the log with what was answered. Returns the ids of what it says was approved, and of what was reversed.
    fn check_log(&mut self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut listed, mut paid, mut reversals) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for entry in self.wall.all_entries(1_000) {
            let user = entry["user_id"].as_str().unwrap();
            let of_user = self
                .users
                .get_mut(user)
                .unwrap_or_else(|| panic!("of nobody: {entry}"));
            let history = &of_user.history;
            let id = entry["transaction_id"].as_str().unwrap_or_default().to_owned();
            match entry["status"].as_str().unwrap() {
                "refused" => continue,
                _ if entry["original_transaction_id"].is_string() => {
                    assert!(of_user.reversed, "{user} was not reversed: {entry}, {history:#?}");
                    assert_eq!(
                        entry["original_transaction_id"].as_str(),
                        of_user.id.as_deref(),
                        "{entry}, {history:#?}"
                    );
                    assert!(reversals.insert(id), "twice: {entry}, {history:#?}");
                    continue;
                }
                _ => {}
            }
            listed.insert(id.clone());
            if entry["state"].is_null() {
                continue;
            }
            assert!(
                of_user.may_have_paid,
                "{user} was not to be paid: {entry}, {history:#?}"
            );
            assert_eq!(
                *of_user.id.get_or_insert(id.clone()),
                id,
                "{user} is paid as another: {entry}, {history:#?}"
            );
            assert!(paid.insert(id), "twice: {entry}, {history:#?}");
        }
        for (user, of_user) in &self.users {
            if let Some(id) = &of_user.id {
                let among = if of_user.may_have_paid { &paid } else { &listed };
                assert!(
                    among.contains(id),
                    "{user}: {id} is not in the log: {:#?}",
                    of_user.history
                );
            }
        }
        let reversed = self.users.values().filter(|user| user.reversed).count();
        assert_eq!(
            reversals.len(),
            reversed,
            "reversals in the log, and reversals answered"
        );
        (paid, reversals)
    }

    fn check_callbacks(&self, paid: &BTreeSet<String>, reversals: &BTreeSet<String>) {
        let expected: BTreeSet<_> = paid.union(reversals).cloned().collect();
        let ids = || -> BTreeSet<String> {
            self.received()
                .iter()
                .map(|one| one.transaction_id().to_owned())
                .collect()
        };
        in_time(DRAINED_MS, &json!([]), || {
            let missing: Vec<_> = expected.difference(&ids()).cloned().collect();
            json!(
                missing
                    .into_iter()
                    .map(|id| self.wall.entry(&id))
                    .collect::<Vec<Value>>()
            )
        });
        let received = self.received();
        for callback in &received {
            let id = callback.transaction_id();
            let user = callback.parameter("user_id").unwrap();
            let of_user = self
                .users
                .get(&user)
                .unwrap_or_else(|| panic!("of nobody: {callback:?}"));
            let history = &of_user.history;
            assert!(
                expected.contains(id),
                "{user} is told of what is not: {callback:?}, {history:#?}"
            );
            let original = callback.parameter("original_transaction_id");
            let paid = original.as_deref().unwrap_or(id);
            assert_eq!(
                Some(paid),
                of_user.id.as_deref(),
                "{user} is paid twice: {callback:?}, {history:#?}"
            );
            let version: usize = callback.path().trim_start_matches("/cb-").parse().unwrap();
            assert!(
                version >= of_user.settings,
                "{user}: by settings that were replaced: {callback:?}, {history:#?}"
            );
        }
    }
}

impl Client for Conversions<'_> {
    fn step(&mut self) {
        match self.random.below(40) {
            0 => self.set_callback(),
            1 => self.tokens.change(&mut self.random),
            2..7 => self.capped(),
            7..16 => self.follow_up(),
            _ => self.new_conversion(),
        }
    }

    fn look(&mut self) {
        if let Some(settled) = &self.settled {
            self.tokens.check(settled, &mut self.random);
        }
    }

    fn verify(&mut self) -> usize {
        // Those who were told a transaction id, before the log tells those of the others.
        let told = self.users.values().filter(|user| user.id.is_some()).count();
        let (paid, reversals) = self.check_log();
        self.check_callbacks(&paid, &reversals);
        if !self.day_changed() {
            assert_eq!(self.capped.1, self.capped.0.min(CAP), "of a cap of {CAP}");
        }
        let micros = |user: &User| {
            let stays = user.id.as_ref().is_some_and(|id| paid.contains(id)) && !user.reversed;
            if stays { user.micros } else { 0 }
        };
        let earned: i64 = self.users.values().map(micros).sum();
        let publisher = self.world.signpost.known_publisher(&self.wall.id);
        #[expect(clippy::cast_possible_truncation, reason = "some dollars")]
        in_time(DRAINED_MS, &earned, || {
            (revenue::revenue(&publisher) * 1e6).round() as i64
        });
        let tokens = self.settled.as_ref();
        let tokens = tokens.map_or(0, |settled| self.tokens.check_all(settled));
        told + reversals.len() + tokens
    }
}
