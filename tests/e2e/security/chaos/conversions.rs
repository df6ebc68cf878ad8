//! A client that sends postbacks: repeated, reversed, capped and interrupted. Its publisher must get callbacks of each
//! reward under one transaction id and with the newest callback settings.

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
    harness::{Answer, CONVERSION, GOALS, OfferWall, Received, callback, eventually_within, now_ms, seal},
    random::Random,
};
use domain::model::time::{SECOND_MS, UtcDay};

/// Daily conversion cap of the capped offer.
const CAP: usize = 25;
/// How long the queue may take to drain, in milliseconds: the alarm retries an interrupted attempt after its lease.
const DRAINED_MS: i64 = 60 * SECOND_MS;

/// The expected state of a user's conversion.
#[derive(Default)]
struct User {
    /// Postbacks and answers in order.
    history: Vec<String>,
    /// The transaction id, if it is known.
    id: Option<String>,
    /// Whether a conversion may be paid, also if its answer was lost.
    may_have_paid: bool,
    reversed: bool,
    micros: i64,
    /// The version of the callback settings when the user clicked. Callbacks may not use an older one.
    settings: usize,
}

pub struct Conversions<'w> {
    world: &'w World<'w>,
    wall: OfferWall<'w>,
    tokens: Tokens<'w>,
    random: Random,
    users: BTreeMap<String, User>,
    /// User, click id with goal, and whether the conversion is pending. An approved one may be reversed.
    open: Vec<(String, String, bool)>,
    /// The click id with goal of an approved conversion, repeated with other tokens.
    settled: Option<String>,
    /// Capped conversions that were sent and that were paid.
    capped: (usize, usize),
    settings: usize,
    began_ms: i64,
}

impl<'w> Conversions<'w> {
    /// Puts the client's offers. Clicks find them after the next refresh.
    pub fn new(world: &'w World<'w>, id: &str, app: &str, seed: u64) -> Self {
        let wall = world.signpost.unpublished_offer_wall(id, app, None);
        wall.put_offer_as(&format!("{id}-cap"), &json!({"conversion_cap": {"dur": "DAILY", "lim": CAP}}));
        let mut client = Self {
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
        client.set_callback();
        client
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
        let sent = Sent { media_type: Some("application/json"), body: body.as_bytes(), ..Sent::default() };
        let path = format!("/v1/operator/apps/{}", self.wall.app);
        self.world.until_answered("callback settings", "PUT", &path, &sent).expect(200);
        self.settings = version;
    }

    fn new_user(&mut self, offer: &str) -> (String, String) {
        let user = format!("{}-{}", self.wall.id, self.users.len());
        let click = self.wall.click_on(offer, &user, now_ms());
        let click_id = seal(&keys(), &click);
        let state = User { settings: self.settings, ..User::default() };
        self.users.insert(user.clone(), state);
        (user, click_id)
    }

    /// Sends a postback until there is a conclusive answer.
    fn send_postback(&mut self, user: &str, click_id: &str, more: &str) -> Answer {
        let path = format!("{CONVERSION}?click_id={click_id}&token={}{more}", self.tokens.newest());
        let answer = self.world.until_answered("conversions", "GET", &path, &Sent::default());
        let user = self.users.get_mut(user).unwrap();
        user.history.push(format!("{more} -> {} {}", answer.status, answer.body));
        answer
    }

    /// Sends a postback that must be answered with this status and the transaction id of earlier answers.
    fn expect_status(&mut self, user: &str, click_id: &str, more: &str, status: &str) {
        let answer = self.send_postback(user, click_id, more);
        let state = self.users.get_mut(user).unwrap();
        let body = answer.clone().expect(200).json();
        assert_eq!(body["status"], status, "{user}: {:#?}", state.history);
        let id = body["transaction_id"].as_str().unwrap().to_owned();
        if let Some(known) = &state.id {
            assert_eq!(*known, id, "{user} has two transactions: {:#?}", state.history);
        }
        state.id = Some(id);
        match status {
            "approved" => state.may_have_paid = true,
            "reversed" => state.reversed = true,
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
            // Sent once and not repeated.
            0 => {
                let path = format!("{CONVERSION}?click_id={click_id}&token={}{goal}", self.tokens.newest());
                let outcome = self.world.attempt("conversions", "GET", &path, &Sent::default());
                let state = self.users.get_mut(&user).unwrap();
                state.may_have_paid = true;
                match outcome {
                    Outcome::Done(answer) => state.id = Some(answer.json()["transaction_id"].as_str().unwrap().into()),
                    Outcome::Refused(answer) => panic!("{answer:?}"),
                    Outcome::Doubt(problem) => state.history.push(format!("once, in doubt: {}", tail(&problem))),
                }
            }
            // With a `txn` of the sender, which can pay only one click.
            1 => {
                let txn = format!("{goal}&txn={user}");
                self.expect_status(&user, &click_id, &txn, "approved");
                let (other, other_click) = self.new_user(&offer);
                let answer = self.send_postback(&other, &other_click, &txn);
                assert_eq!((answer.status, answer.code().as_str()), (409, "duplicate_txn"), "{answer:?}");
            }
            2..5 => {
                let pending = format!("{goal}&status=pending");
                self.expect_status(&user, &click_id, &pending, "pending");
                self.open.push((user, format!("{click_id}{goal}"), true));
            }
            _ => {
                for _ in 0..=self.random.below(2) {
                    self.expect_status(&user, &click_id, &goal, "approved");
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
            (true, 0) => self.expect_status(&user, &click_id, "&status=rejected", "rejected"),
            (true, _) => {
                self.expect_status(&user, &click_id, "", "approved");
                self.open.push((user, click_id, false));
            }
            (false, 0) => self.expect_status(&user, &click_id, "&status=reversed", "reversed"),
            (false, _) => self.expect_status(&user, &click_id, "&status=pending", "approved"),
        }
    }

    fn capped(&mut self) {
        let offer = format!("{}-cap", self.wall.id);
        let (user, click_id) = self.new_user(&offer);
        let answer = self.send_postback(&user, &click_id, "");
        self.capped.0 += 1;
        let state = self.users.get_mut(&user).unwrap();
        state.micros = 1_250_000;
        if answer.status == 200 {
            self.capped.1 += 1;
            state.may_have_paid = true;
            state.id = Some(answer.json()["transaction_id"].as_str().unwrap().to_owned());
        } else {
            assert_eq!((answer.status, answer.code().as_str()), (409, "conversion_capped"), "{:#?}", state.history);
        }
        assert!(self.capped.1 <= CAP || self.day_changed(), "{} paid of a cap of {CAP}", self.capped.1);
    }

    fn day_changed(&self) -> bool {
        UtcDay::of_ms(self.began_ms) != UtcDay::of_ms(now_ms())
    }

    /// The callbacks of this client's app.
    fn received(&self) -> Vec<Received> {
        let received = self.world.receiver.received().into_iter();
        received.filter(|callback| callback.parameter("app_id").as_deref() == Some(self.wall.app.as_str())).collect()
    }

    /// Compares the conversion log with the answers. Returns the transaction ids of paid conversions and of reversals.
    fn check_log(&mut self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut listed, mut paid, mut reversals) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for entry in self.wall.all_entries(1_000) {
            let user = entry["user_id"].as_str().unwrap();
            let state = self.users.get_mut(user).unwrap_or_else(|| panic!("unknown user: {entry}"));
            let history = &state.history;
            let id = entry["transaction_id"].as_str().unwrap_or_default().to_owned();
            match entry["status"].as_str().unwrap() {
                "refused" => continue,
                _ if entry["original_transaction_id"].is_string() => {
                    assert!(state.reversed, "{user} was not reversed: {entry}, {history:#?}");
                    assert_eq!(entry["original_transaction_id"].as_str(), state.id.as_deref(), "{entry}, {history:#?}");
                    assert!(reversals.insert(id), "duplicate: {entry}, {history:#?}");
                    continue;
                }
                _ => {}
            }
            listed.insert(id.clone());
            if entry["state"].is_null() {
                continue;
            }
            assert!(state.may_have_paid, "{user} must not be paid: {entry}, {history:#?}");
            assert_eq!(
                *state.id.get_or_insert(id.clone()),
                id,
                "{user} is paid under another id: {entry}, {history:#?}"
            );
            assert!(paid.insert(id), "duplicate: {entry}, {history:#?}");
        }
        for (user, state) in &self.users {
            if let Some(id) = &state.id {
                let among = if state.may_have_paid { &paid } else { &listed };
                assert!(among.contains(id), "{user}: {id} is not in the log: {:#?}", state.history);
            }
        }
        let reversed = self.users.values().filter(|user| user.reversed).count();
        assert_eq!(reversals.len(), reversed, "reversals in the log, and reversals answered");
        (paid, reversals)
    }

    fn check_callbacks(&self, paid: &BTreeSet<String>, reversals: &BTreeSet<String>) {
        let expected: BTreeSet<_> = paid.union(reversals).cloned().collect();
        let ids =
            || -> BTreeSet<String> { self.received().iter().map(|one| one.transaction_id().to_owned()).collect() };
        eventually_within(DRAINED_MS, &json!([]), || {
            let missing: Vec<_> = expected.difference(&ids()).cloned().collect();
            json!(missing.into_iter().map(|id| self.wall.entry(&id)).collect::<Vec<Value>>())
        });
        let received = self.received();
        for callback in &received {
            let id = callback.transaction_id();
            let user = callback.parameter("user_id").unwrap();
            let state = self.users.get(&user).unwrap_or_else(|| panic!("unknown user: {callback:?}"));
            let history = &state.history;
            assert!(expected.contains(id), "{user}: callback without a conversion: {callback:?}, {history:#?}");
            let original = callback.parameter("original_transaction_id");
            let paid = original.as_deref().unwrap_or(id);
            assert_eq!(Some(paid), state.id.as_deref(), "{user} is paid twice: {callback:?}, {history:#?}");
            let version: usize = callback.path().trim_start_matches("/cb-").parse().unwrap();
            assert!(version >= state.settings, "{user}: old callback settings: {callback:?}, {history:#?}");
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
        // Count users with an answered transaction id before `check_log` adds ids from the log.
        let answered = self.users.values().filter(|user| user.id.is_some()).count();
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
        let publisher = self.world.signpost.existing_publisher(&self.wall.id);
        #[expect(clippy::cast_possible_truncation, reason = "some dollars")]
        eventually_within(DRAINED_MS, &earned, || (revenue::revenue(&publisher) * 1e6).round() as i64);
        self.wall.expect_reconciled_since(self.began_ms);
        let tokens = self.settled.as_ref();
        let tokens = tokens.map_or(0, |settled| self.tokens.check_all(settled));
        answered + reversals.len() + tokens
    }
}
