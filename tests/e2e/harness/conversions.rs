//! Sets up an offerwall for a test: an app with a callback, and an advertiser with a token and an offer. Each test has
//! its own, so that tests can share a Signpost.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};

use super::{Answer, OPERATOR_TOKEN, Receiver, Signpost, default_setting, eventually, eventually_within, now_ms, with};
use domain::{
    callbacks::shards,
    model::{
        AppId, Country,
        time::{SECOND_MS, UtcDay},
    },
    tracking::{
        click::Click,
        click_id::{self, DEFAULT_MAX, Nonce, SHORT_MAX},
        keys::KeyRing,
    },
};

/// The file of the pointer to the snapshots, in the state's folder (src/contract/kv.rs).
const POINTER: &str = "kv/snapshots";
pub const CONVERSION: &str = "/v2/tracking/conversion";
/// The secret that signs callbacks, unless a test sets another.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The goals of an [`OfferWall`]: the end of the id, the event code, the payout in USD, and the reward in coins.
pub const GOALS: [(&str, &str, f64, i64); 3] =
    [("1", "install", 1.25, 1_250), ("2", "level_10", 20.5, 20_500), ("3", "purchase", 99.999_999, 99_999)];

/// How long sums may take to reach the ledger, after outages too.
const RECONCILED_WITHIN_MS: i64 = 100 * SECOND_MS;

pub struct OfferWall<'s> {
    pub signpost: &'s Signpost,
    pub app: String,
    /// The id of the publisher, of the advertiser and of the offer.
    pub id: String,
    pub token: String,
    pub token_id: String,
    pub terms: Terms,
    /// How many outboxes the app has.
    pub shards: u8,
}

/// The current revisions of the terms of offers and an app, by their paths.
#[derive(Default)]
pub struct Terms(Mutex<BTreeMap<String, i64>>);

/// Callback settings for an app document.
pub fn callback(url: &str, method: &str) -> Value {
    json!({"url": url, "method": method, "secret": SECRET})
}

/// The `status` of a conversion and the `state` of its callback, from an entry of the conversion log.
pub fn states(entry: &Value) -> (String, Option<String>) {
    let status = entry["status"].as_str().expect("a status").to_owned();
    (status, entry["state"].as_str().map(str::to_owned))
}

/// Fails the test unless a conversion was answered with this status and duplicate flag. Returns its transaction id.
#[track_caller]
pub fn expect_accepted(answer: Answer, status: &str, duplicate: bool) -> String {
    let answer = answer.expect(200);
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
    let body = answer.json();
    let id = body["transaction_id"].as_str().expect("a transaction id");
    let expected = json!({"transaction_id": id, "status": status, "duplicate": duplicate});
    assert_eq!(body, expected, "{answer:?}");
    assert_eq!(id.len(), 36, "{answer:?}");
    id.to_owned()
}

impl Signpost {
    /// Puts an app with 1,000 coins a dollar, an advertiser with a token, and an offer with three goals for every
    /// country, and publishes them. Callbacks go to `/cb` of the receiver, if there is one.
    #[track_caller]
    pub fn offer_wall(&self, id: &str, app: &str, receiver: Option<&Receiver>) -> OfferWall<'_> {
        let wall = self.unpublished_offer_wall(id, app, receiver);
        self.refresh();
        wall
    }

    /// Puts the same as [`offer_wall`](Self::offer_wall) without publishing it: clicks find it after the next refresh.
    #[track_caller]
    pub fn unpublished_offer_wall(&self, id: &str, app: &str, receiver: Option<&Receiver>) -> OfferWall<'_> {
        self.sharded_offer_wall(id, app, receiver, shards::DEFAULT_COUNT)
    }

    /// The same with so many outboxes.
    #[track_caller]
    pub fn sharded_offer_wall(&self, id: &str, app: &str, receiver: Option<&Receiver>, shards: u8) -> OfferWall<'_> {
        // Checking a postback's token needs a snapshot, even one that is older than the advertiser.
        if !self.state.path().join(POINTER).exists() {
            self.refresh();
        }
        self.put(&format!("publishers/{id}"), &json!({"name": id, "approved": true}));
        self.put(&format!("advertisers/{id}"), &json!({"name": id}));
        let mut wall = OfferWall {
            signpost: self,
            app: app.to_owned(),
            id: id.to_owned(),
            token: String::new(),
            token_id: String::new(),
            terms: Terms::default(),
            shards,
        };
        (wall.token_id, wall.token) = wall.issue_token();
        wall.put_offer(&json!({}));
        let callback = receiver.map(|receiver| callback(&format!("{}/cb", receiver.base()), "GET"));
        wall.put_app(&json!({ "callback": callback }));
        wall
    }

    /// Sends a postback with this query.
    pub fn convert(&self, query: &str) -> Answer {
        self.get(&format!("{CONVERSION}?{query}"), &[])
    }
}

impl OfferWall<'_> {
    /// The same offerwall in a Signpost that was restored from a backup.
    pub fn on<'s>(&self, signpost: &'s Signpost) -> OfferWall<'s> {
        OfferWall {
            signpost,
            app: self.app.clone(),
            id: self.id.clone(),
            token: self.token.clone(),
            token_id: self.token_id.clone(),
            terms: Terms::default(),
            shards: self.shards,
        }
    }

    /// Puts the app with `changes` applied to its document.
    #[track_caller]
    pub fn put_app(&self, changes: &Value) {
        self.try_put_app(changes).expect(200);
    }

    /// The revisions of an offer's and the app's terms that clicks made now seal; 0 if the offer or app was not put.
    pub fn terms_of(&self, offer: &str) -> (i64, i64) {
        let terms = self.terms.0.lock().expect("terms");
        let of = |path: String| terms.get(&path).copied().unwrap_or_default();
        (of(format!("offers/{offer}")), of(format!("apps/{}", self.app)))
    }

    fn record_terms(&self, path: &str, stored: &Value) {
        let revision = stored["terms_revision"].as_i64().expect("a revision");
        self.terms.0.lock().expect("terms").insert(path.into(), revision);
    }

    pub fn try_put_app(&self, changes: &Value) -> Answer {
        let app = json!({
            "publisher_id": self.id, "name": self.id, "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
            "outbox_shards": self.shards
        });
        let path = format!("apps/{}", self.app);
        let answer = self.signpost.operator("PUT", &path, Some(&with(app, changes)));
        if answer.status == 200 {
            self.record_terms(&path, &answer.json());
        }
        answer
    }

    /// Puts the offer with `changes` applied to its document.
    #[track_caller]
    pub fn put_offer(&self, changes: &Value) {
        self.put_offer_as(&self.id, changes);
    }

    /// Puts another offer of the same advertiser, with its own goals.
    #[track_caller]
    pub fn put_offer_as(&self, id: &str, changes: &Value) {
        let goals = GOALS.map(|(goal, event, usd, _)| {
            let ord: u32 = goal.parse().expect("a number");
            json!({"id": format!("{id}-{goal}"), "ttl": event, "instr": "1. Play", "payout_usd": usd, "ord": ord,
                "gl_val": event})
        });
        // Tests convert many clicks of few users.
        let own = json!({"advertiser_id": self.id, "goals": goals, "once_per": "click"});
        let stored = self.signpost.put_offer(id, &with(own, changes));
        self.record_terms(&format!("offers/{id}"), &stored);
    }

    /// The offer as the operator would put it again.
    pub fn offer(&self) -> Value {
        let path = format!("offers/{}", self.id);
        let mut offer = self.signpost.operator("GET", &path, None).expect(200).json();
        let added = ["offer_id", "terms_revision", "updated_at", "retired_goals"];
        offer.as_object_mut().expect("an object").retain(|member, _| !added.contains(&member.as_str()));
        offer
    }

    /// The id of a goal of the offer, by its last character.
    pub fn goal(&self, goal: &str) -> String {
        format!("{}-{goal}", self.id)
    }

    #[track_caller]
    pub fn issue_token(&self) -> (String, String) {
        let path = format!("advertisers/{}/token", self.id);
        let issued = self.signpost.operator("POST", &path, None).expect(201).json();
        let text = |member: &str| issued[member].as_str().expect("a text").to_owned();
        (text("token_id"), text("token"))
    }

    /// Seals the click id of a click on the first goal now, without sending the click.
    pub fn click_id(&self, user_id: &str) -> String {
        self.click_id_at(user_id, now_ms())
    }

    /// Seals a short click id whose record is not stored.
    pub fn unstored_click_id(&self, user_id: &str) -> String {
        let sealed = click_id::seal(&click_keys(), &self.click(user_id, now_ms()), nonce(), SHORT_MAX);
        sealed.id().to_owned()
    }

    /// Seals the click id of a click at another time, in milliseconds since 1970.
    pub fn click_id_at(&self, user_id: &str, clicked_at_ms: i64) -> String {
        seal(&click_keys(), &self.click(user_id, clicked_at_ms))
    }

    pub fn click<'c>(&'c self, user_id: &'c str, clicked_at_ms: i64) -> Click<'c> {
        self.click_on(&self.id, user_id, clicked_at_ms)
    }

    /// A click on the first goal of any offer of the wall.
    pub fn click_on<'c>(&self, offer: &'c str, user_id: &'c str, clicked_at_ms: i64) -> Click<'c> {
        let (offer_terms, app_terms) = self.terms_of(offer);
        Click {
            offer: offer.into(),
            goal: format!("{offer}-1").into(),
            app: AppId::parse(&self.app).expect("an app"),
            shard: shards::of_user(user_id, self.shards),
            offer_terms,
            app_terms,
            user_id: user_id.into(),
            gaid: None,
            idfa: None,
            custom: [const { None }; 5],
            placement: None,
            country: Country::parse("DE"),
            clicked_at_ms,
        }
    }

    /// Sends a postback for a click, with more parameters such as `&goal=…`.
    pub fn convert(&self, click_id: &str, more: &str) -> Answer {
        self.signpost.convert(&format!("click_id={click_id}&token={}{more}", self.token))
    }

    /// Sends a new conversion of a new click, which must be approved. Returns its transaction id.
    #[track_caller]
    pub fn pay(&self, user_id: &str) -> String {
        expect_accepted(self.convert(&self.click_id(user_id), ""), "approved", false)
    }

    /// Users of whom each is in another outbox.
    pub fn users(&self) -> Vec<String> {
        let shard = |user: &str| shards::of_user(user, self.shards);
        let first = |number| {
            let mut users = (0..).map(|user| format!("user-{user}"));
            users.find(|user| shard(user) == number).expect("a user")
        };
        (0..self.shards).map(first).collect()
    }

    /// Calls the operator's interface for this app.
    pub fn operator(&self, method: &str, rest: &str, body: Option<&Value>) -> Answer {
        self.signpost.operator(method, &format!("apps/{}/{rest}", self.app), body)
    }

    /// A page of the conversion log.
    #[track_caller]
    pub fn entries(&self, query: &str) -> Vec<Value> {
        let page = self.operator("GET", &format!("conversions?{query}"), None).expect(200).json();
        page["conversions"].as_array().expect("conversions").clone()
    }

    /// The whole conversion log, newest first, read in pages of `limit` entries.
    #[track_caller]
    pub fn all_entries(&self, limit: usize) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("conversions?limit={limit}{cursor}");
            let page = self.operator("GET", &path, None).expect(200).json();
            let entries = page["conversions"].as_array().expect("conversions");
            assert!(entries.len() <= limit, "{} on a page", entries.len());
            all.extend_from_slice(entries);
            let Some(next) = page["cursor"].as_str() else {
                return all;
            };
            assert_eq!(entries.len(), limit, "a page that is not full and not the last");
            cursor = format!("&cursor={}", super::encoded(next));
        }
    }

    #[track_caller]
    pub fn entry(&self, transaction_id: &str) -> Value {
        let path = format!("conversions/{transaction_id}");
        let entry = self.operator("GET", &path, None).expect(200).json();
        assert_eq!(entry["transaction_id"], transaction_id, "{entry}");
        entry
    }

    /// The callback state of a transaction, or `null`.
    #[track_caller]
    pub fn state(&self, transaction_id: &str) -> String {
        let (_, state) = states(&self.entry(transaction_id));
        state.unwrap_or_else(|| "null".to_owned())
    }

    #[track_caller]
    pub fn replay(&self, transaction_id: &str) -> Answer {
        self.operator("POST", &format!("conversions/{transaction_id}/replay"), None)
    }

    /// Starts a replay of the callbacks that match, once the count of matches is `expected`.
    #[track_caller]
    pub fn replay_all(&self, filter: &Value, expected: u64) {
        let path = format!("/v1/operator/apps/{}/replays", self.app);
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        let key = format!("{}-{}", now_ms(), self.app);
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", &key),
        ];
        let send = |filter: &Value, dry_run: bool| {
            let order = json!({"filter": filter, "dry_run": dry_run}).to_string();
            self.signpost.send("POST", &path, &headers, order.as_bytes())
        };
        let counted = RefCell::new(Value::Null);
        // The activity hears of an outbox some seconds after its first reward.
        eventually(&json!(expected), || {
            let answer = send(filter, true);
            if answer.status == 200 {
                counted.replace(answer.json());
            }
            counted.borrow()["count"].clone()
        });
        let until = json!({"until": counted.borrow()["until"]});
        send(&with(filter.clone(), &until), false).expect(202);
    }

    /// Erases a user of the app.
    #[track_caller]
    pub fn erase(&self, user_id: &str) -> Value {
        let body = json!({ "user_id": user_id });
        self.operator("POST", "erase_user", Some(&body)).expect(200).json()
    }

    /// Compares a day of the app with the ledger.
    #[track_caller]
    pub fn reconcile(&self, day: UtcDay) -> Value {
        let path = format!("reconcile?app={}&date={day}", self.app);
        self.signpost.operator("GET", &path, None).expect(200).json()
    }

    /// Waits until the ledger has what was paid since this time. Fails the test if the sums of a day differ.
    #[track_caller]
    pub fn expect_reconciled_since(&self, since_ms: i64) {
        let mut day = UtcDay::of_ms(since_ms);
        while day <= UtcDay::of_ms(now_ms()) {
            // By outbox, because a reward of one and a reversal of another add up to nothing.
            eventually_within(RECONCILED_WITHIN_MS, &true, || {
                let found = self.reconcile(day);
                let outboxes = found["outboxes"].as_array().expect("outboxes");
                outboxes.iter().all(|outbox| outbox["waiting_micro_usd"] == 0)
            });
            let found = self.reconcile(day);
            assert_eq!(found["difference_micro_usd"], 0, "{found}");
            for outbox in found["outboxes"].as_array().expect("outboxes") {
                assert_eq!(outbox["difference_micro_usd"], 0, "{found}");
            }
            assert_eq!(found["paid_micro_usd"], found["ledger_micro_usd"], "{found}");
            day = day.minus(-1);
        }
    }

    /// The state of the app's callback endpoint.
    #[track_caller]
    pub fn endpoint(&self) -> Value {
        self.operator("GET", "callback", None).expect(200).json()
    }
}

/// The default `CLICK_KEYS` of a test's Signpost.
pub fn click_keys() -> KeyRing {
    KeyRing::parse(&default_setting("CLICK_KEYS")).expect("keys")
}

/// Seals a click id with a nonce that is unique in this process.
pub fn seal(keys: &KeyRing, click: &Click<'_>) -> String {
    click_id::seal(keys, click, nonce(), DEFAULT_MAX).id().to_owned()
}

pub fn nonce() -> Nonce {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    let mut nonce = *b"test........";
    nonce[4..].copy_from_slice(&number);
    nonce
}
