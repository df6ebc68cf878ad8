//! Everybody is paid only what the click sealed, no user is paid twice, and no conversion cap is exceeded: on the real
//! catalog, outboxes and counters, against a model that only remembers the promises. Catalogs change, forget and are
//! restored; offers move between advertisers; the app is put again; caps come and go during a day.

mod world;

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value as Json, json};

use self::world::{APP, OFFERS, Snapshot, World, app, app_document, copy};
use crate::{Database, Sqlite, simulations};
use contract::{
    catalog::Resource,
    operation::Bytes,
    outbox::{Answer, Conversion, Current, Settle},
};
use domain::{
    callbacks::shards,
    conversions::{
        ids::{RowKey, transaction_id},
        state::{Movement, Reason, Status},
        table::{Action, Event},
    },
    model::{
        AdvertiserId,
        time::{DAY_MS, HOUR_MS, SECOND_MS, UtcDay},
    },
    tracking::click::Click,
};
use platform::failure::Failure;

const NOON: i64 = 20_468 * DAY_MS + 12 * HOUR_MS;
const ADVERTISERS: [&str; 2] = ["brand", "rival"];

/// An offer as the operator puts it.
#[derive(Clone, Debug)]
struct OfferDocument {
    advertiser: usize,
    /// In hundredths of a USD, of the goals `g-1`, `g-2` and `g-3`; those that are 0 are left out.
    payouts: [u32; 3],
    once_per_click: bool,
    window_days: u16,
    cap: Option<u32>,
}

#[derive(Clone, Debug)]
enum Op {
    Click {
        user: u8,
        offer: usize,
    },
    /// A click, the goal or none, the sender, the status, and the sender's id.
    Postback(usize, Option<u8>, usize, Status, Option<u8>),
    Settle(usize, u8, Action, bool),
    /// An offer, and whether its cap reaches everybody before the PUT is answered.
    Put(usize, OfferDocument, bool),
    Rate(u32, Option<u8>),
    Publish,
    Pass(i64),
    Backup,
    Restore,
    /// The catalog is restored to before the app and its offers, and all are put again.
    Recreate,
}

/// The terms that a click sealed, and what the model knows of them.
struct Sealed {
    click: Click<'static>,
    offer: OfferDocument,
    per_usd: u32,
    /// The first of the offer's documents in `Model::all` that may pay a goal that the click did not seal.
    since: usize,
}

struct Model {
    world: World,
    published: (Snapshot, BTreeMap<usize, OfferDocument>, u32),
    offers: BTreeMap<usize, OfferDocument>,
    /// Every document that an offer had, and the number of the last one that every outbox knows or will hear of.
    all: BTreeMap<usize, Vec<OfferDocument>>,
    heard: BTreeMap<usize, usize>,
    per_usd: u32,
    clicks: Vec<Sealed>,
    backup: Option<(Sqlite, BTreeMap<usize, OfferDocument>, u32)>,
    /// The catalog before there was an app.
    birth: Sqlite,
    is_restored: bool,
    /// By transaction id: the click, the goal, and the advertiser that it was accepted from.
    accepted: BTreeMap<String, (usize, u8, usize)>,
    paid: BTreeMap<String, UtcDay>,
    standing: BTreeSet<String>,
    /// By offer and day: how much may be paid in all, besides what is forced. None without a cap.
    allowed: BTreeMap<(usize, UtcDay), Option<usize>>,
    /// Offers whose caps reached everybody. After a restore the catalog does not know who has asked for terms.
    in_force: BTreeMap<usize, Option<u32>>,
    forced: BTreeMap<(usize, UtcDay), usize>,
}

impl Model {
    fn new() -> Self {
        let world = World::new(NOON);
        world.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": true })).unwrap();
        for advertiser in ADVERTISERS {
            world.put(Resource::Advertiser, advertiser, &json!({ "name": advertiser })).unwrap();
        }
        let birth = world.backup();
        let mut model = Self {
            world,
            birth,
            is_restored: false,
            published: Default::default(),
            offers: BTreeMap::new(),
            all: BTreeMap::new(),
            heard: BTreeMap::new(),
            per_usd: 100,
            clicks: Vec::new(),
            backup: None,
            accepted: BTreeMap::new(),
            paid: BTreeMap::new(),
            standing: BTreeSet::new(),
            allowed: BTreeMap::new(),
            in_force: BTreeMap::new(),
            forced: BTreeMap::new(),
        };
        model.carry_out(&Op::Rate(100, None));
        for nth in 0..OFFERS.len() {
            let first = OfferDocument {
                advertiser: 0,
                payouts: [100, 200, 0],
                once_per_click: nth == 1,
                window_days: 30,
                cap: None,
            };
            model.carry_out(&Op::Put(nth, first, true));
        }
        model.carry_out(&Op::Publish);
        model
    }

    fn today(&self) -> UtcDay {
        UtcDay::of_ms(self.world.now_ms.get())
    }

    fn carry_out(&mut self, op: &Op) {
        match op.clone() {
            Op::Click { user, offer } => self.click(user, offer),
            Op::Postback(nth, goal, sender, status, txn) if !self.clicks.is_empty() => {
                self.postback(nth % self.clicks.len(), goal, sender, status, txn);
            }
            Op::Settle(nth, goal, action, despite) if !self.clicks.is_empty() => {
                self.settle(nth % self.clicks.len(), goal, action, despite);
            }
            Op::Put(nth, offer, reaches) => self.put(nth, offer, reaches),
            Op::Rate(per_usd, outbox_shards) => {
                // A PUT of an app that the catalog does not have claims it first.
                let claimed = self.world.claim_app(outbox_shards.unwrap_or(8));
                let document = app_document(per_usd, outbox_shards);
                let is_refused = claimed != outbox_shards.unwrap_or(claimed);
                assert!(claimed == 8, "{claimed} outboxes");
                if !is_refused {
                    self.world.put(Resource::App, APP, &document).unwrap();
                    self.per_usd = per_usd;
                }
            }
            Op::Publish => {
                self.published = (self.world.snapshot(), self.offers.clone(), self.per_usd);
                self.heard = self.all.iter().map(|(nth, all)| (*nth, all.len() - 1)).collect();
            }
            Op::Pass(ms) => {
                self.world.now_ms.set(self.world.now_ms.get() + ms);
                self.world.sweep();
                self.world.decide_kept();
            }
            Op::Backup => self.backup = Some((self.world.backup(), self.offers.clone(), self.per_usd)),
            // A restore takes longer than the changes of one second, whose revisions run ahead of the time.
            Op::Restore => {
                self.world.now_ms.set(self.world.now_ms.get() + HOUR_MS);
                if let Some((backup, offers, per_usd)) = &self.backup {
                    self.world.catalog.replace(copy(backup));
                    (self.offers, self.per_usd) = (offers.clone(), *per_usd);
                    self.in_force.clear();
                    self.is_restored = true;
                    self.clicks.iter_mut().for_each(|sealed| sealed.since = 0);
                }
            }
            Op::Recreate => {
                self.world.now_ms.set(self.world.now_ms.get() + HOUR_MS);
                self.world.catalog.replace(copy(&self.birth));
                self.in_force.clear();
                self.is_restored = true;
                self.carry_out(&Op::Rate(self.per_usd, Some(1)));
                self.carry_out(&Op::Rate(self.per_usd, None));
                for (nth, offer) in self.offers.clone() {
                    self.put(nth, offer, false);
                }
            }
            Op::Postback(..) | Op::Settle(..) => {}
        }
        self.check(op);
    }

    fn click(&mut self, user: u8, offer: usize) {
        let (snapshot, offers, per_usd) = &self.published;
        let user_id = format!("user-{user}");
        let app_now = snapshot.app.as_ref().unwrap();
        let click = Click {
            offer: OFFERS[offer].into(),
            goal: "g-1".into(),
            app: app(),
            shard: shards::of_user(&user_id, app_now.outbox_shards),
            offer_terms: snapshot.offers[OFFERS[offer]].terms.revision,
            app_terms: app_now.terms.revision,
            user_id: user_id.into(),
            gaid: None,
            idfa: None,
            custom: [const { None }; 5],
            placement: None,
            country: None,
            clicked_at_ms: self.world.now_ms.get(),
        };
        self.clicks.push(Sealed {
            click,
            offer: offers[&offer].clone(),
            per_usd: *per_usd,
            // An outbox may be behind the catalog until it hears of a change, and ahead of a catalog that was restored.
            since: if self.is_restored { 0 } else { self.heard[&offer] },
        });
    }

    fn offer_of(&self, click: usize) -> usize {
        let offer = &*self.clicks[click].click.offer;
        OFFERS.iter().position(|id| *id == offer).unwrap()
    }

    fn id(&self, click: usize, goal: u8) -> String {
        let row = RowKey {
            app: app(),
            shard: self.clicks[click].click.shard,
            nonce: [u8::try_from(click).unwrap(); 12],
            goal: &goal_id(self.offer_of(click), goal),
        };
        transaction_id(&row, Movement::Reward)
    }

    /// The documents that may supply a goal to a click, the sealed one alone if it has it.
    fn suppliers(&self, click: usize, goal: u8) -> Vec<&OfferDocument> {
        let Sealed { offer, since, .. } = &self.clicks[click];
        let has = |document: &&OfferDocument| document.payouts[usize::from(goal)] > 0;
        match Some(offer).filter(has) {
            Some(sealed) => vec![sealed],
            None => self.all[&self.offer_of(click)][*since..].iter().filter(has).collect(),
        }
    }

    fn postback(&mut self, nth: usize, goal: Option<u8>, sender: usize, status: Status, txn: Option<u8>) {
        let offer = self.offer_of(nth);
        let conversion = Conversion {
            nonce: Bytes(vec![u8::try_from(nth).unwrap(); 12]),
            click: self.clicks[nth].click.clone(),
            advertiser: AdvertiserId::parse(ADVERTISERS[sender]),
            goal: goal.map(|goal| goal_id(offer, goal)),
            txn: txn.map(|txn| format!("t-{txn}")),
            event: Event::Postback(status),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: Current { offer: None, app: None, is_recent: true },
        };
        let first = (0..3).find(|goal| self.clicks[nth].offer.payouts[usize::from(*goal)] > 0);
        let goal = goal.or(first).unwrap();
        let answer = self.world.send(&self.published.0, conversion);
        let id = self.id(nth, goal);
        match &answer {
            Ok(Answer { transaction_id, .. }) => {
                assert_eq!(*transaction_id, id);
                // The sender must be the advertiser that it was accepted from, else one whose terms have the goal.
                match self.accepted.get(&id) {
                    Some((.., owner)) => assert_eq!(*owner, sender, "{id} belongs to another"),
                    None => {
                        let suppliers = self.suppliers(nth, goal);
                        assert!(suppliers.iter().any(|known| known.advertiser == sender), "{id}");
                        self.accepted.insert(id, (nth, goal, sender));
                    }
                }
            }
            Err(Failure::Refused(refusal)) => {
                let known = [
                    "invalid_token",
                    "unknown_goal",
                    "unavailable",
                    "conversion_window_closed",
                    "duplicate_txn",
                    "already_rewarded",
                    "conversion_capped",
                    "invalid_click_id",
                ];
                assert!(known.contains(&refusal.code), "{refusal:?}");
                if refusal.code == Reason::Capped.code()
                    && let Some(cap) = self.in_force.get(&offer)
                {
                    let paid = self.paid_on(offer, self.today());
                    let cap = cap.unwrap();
                    assert!(paid >= usize::try_from(cap).unwrap(), "{paid} of {cap} are paid");
                }
            }
            Err(Failure::Internal(cause)) => panic!("{cause}"),
        }
    }

    fn settle(&mut self, nth: usize, goal: u8, action: Action, despite: bool) {
        let settle = Settle {
            transaction_id: self.id(nth, goal),
            action,
            reason: "checked".into(),
            despite: if despite { Reason::ALL.to_vec() } else { Vec::new() },
        };
        let settled = match self.world.settle(self.clicks[nth].click.shard, &settle) {
            Ok(answer) => !answer.duplicate,
            Err(Failure::Refused(_)) => false,
            Err(Failure::Internal(cause)) => panic!("{cause}"),
        };
        if settled && action == Action::Approve {
            let day = (self.offer_of(nth), self.today());
            *self.forced.entry(day).or_default() += 1;
            // By the operator's approval the user may have a second standing reward.
            self.standing.insert(settle.transaction_id);
        }
    }

    fn put(&mut self, nth: usize, offer: OfferDocument, reaches: bool) {
        let document = offer_document(nth, &offer);
        self.world.put(Resource::Offer, OFFERS[nth], &document).unwrap();
        let today = self.today();
        if reaches && !self.is_restored {
            self.world.push_cap(OFFERS[nth]);
            self.in_force.insert(nth, offer.cap);
            let paid = self.paid_on(nth, today);
            let most = offer.cap.map(|cap| paid.max(usize::try_from(cap).unwrap()));
            self.allowed.insert((nth, today), most);
            self.forced.insert((nth, today), 0);
        } else {
            self.in_force.remove(&nth);
        }
        let all = self.all.entry(nth).or_default();
        all.push(offer.clone());
        // Outboxes are told of a PUT that changes the cap.
        let is_told = self.offers.get(&nth).is_none_or(|before| reaches && before.cap != offer.cap);
        if is_told && !self.is_restored {
            self.heard.insert(nth, all.len() - 1);
        }
        self.offers.insert(nth, offer);
    }

    fn paid_on(&self, offer: usize, day: UtcDay) -> usize {
        let of = |(id, paid): &(&String, &UtcDay)| **paid == day && self.click_of(id).0 == offer;
        self.paid.iter().filter(of).count()
    }

    /// The offer, the click and the goal of a transaction id.
    fn click_of(&self, id: &str) -> (usize, usize, u8) {
        let all = (0..self.clicks.len()).flat_map(|click| (0..3).map(move |goal| (click, goal)));
        let found = all.into_iter().find(|(click, goal)| self.id(*click, *goal) == id);
        let (click, goal) = found.unwrap();
        (self.offer_of(click), click, goal)
    }

    /// Checks each reward that was paid since, the user's standing rewards, and the caps.
    fn check(&mut self, op: &Op) {
        let today = self.today();
        let mut standing = BTreeSet::new();
        for outbox in self.world.outboxes.borrow().values() {
            let sql =
                "SELECT e.transaction_id, e.payout_micro_usd, e.fields ->> '$.value', e.fields ->> '$.conversion_ts',
                c.state FROM entries e JOIN conversions c ON c.entry = e.entry WHERE e.delivery IS NOT NULL";
            for row in outbox.db.query(sql, &[]).unwrap() {
                let id = row.text(0).unwrap().to_owned();
                let paid_ms = row.integer(3).unwrap() * SECOND_MS;
                if row.integer(4).unwrap() == 1 {
                    standing.insert(id.clone());
                }
                if self.paid.contains_key(&id) {
                    continue;
                }
                let (_, click, goal) = self.click_of(&id);
                let per_usd = i64::from(self.clicks[click].per_usd);
                let suppliers = self.suppliers(click, goal);
                let is_promised = suppliers.iter().any(|document| {
                    let cents = i64::from(document.payouts[usize::from(goal)]);
                    let value = (cents * per_usd / 100).to_string();
                    row.integer(1).unwrap() == cents * 10_000 && row.text(2).unwrap() == value
                });
                assert!(is_promised, "{row:?} is not what was promised, after {op:?}");
                self.paid.insert(id, UtcDay::of_ms(paid_ms));
            }
        }
        for id in standing.difference(&self.standing.clone()) {
            let (offer, click, goal) = self.click_of(id);
            let suppliers = self.suppliers(click, goal);
            if suppliers.iter().any(|document| document.once_per_click) {
                continue;
            }
            let user = &self.clicks[click].click.user_id;
            let another = standing.iter().find(|other| {
                let (other_offer, other_click, other_goal) = self.click_of(other);
                let is_same = (other_offer, other_goal) == (offer, goal);
                *other != id && is_same && self.clicks[other_click].click.user_id == *user
            });
            assert_eq!(another, None, "{user} has {id} as well, after {op:?}");
        }
        self.standing = standing;
        for (nth, cap) in self.in_force.clone() {
            let paid = self.paid_on(nth, today);
            // A new day begins with the cap.
            let whole = cap.map(|cap| usize::try_from(cap).unwrap());
            let most = self.allowed.get(&(nth, today)).copied().unwrap_or(whole);
            let forced = self.forced.get(&(nth, today)).copied().unwrap_or_default();
            assert!(most.is_none_or(|most| paid <= most + forced), "{paid} of {most:?} after {op:?}");
        }
    }
}

fn goal_id(offer: usize, goal: u8) -> String {
    format!("g-{offer}-{goal}")
}

fn offer_document(nth: usize, offer: &OfferDocument) -> Json {
    let goals = (0..3_u8).filter(|goal| offer.payouts[usize::from(*goal)] > 0);
    let goals: Vec<_> = goals
        .map(|goal| {
            let payout = f64::from(offer.payouts[usize::from(goal)]) / 100.0;
            json!({ "id": goal_id(nth, goal), "ttl": "Play", "instr": "1. Play", "payout_usd": payout, "ord": goal })
        })
        .collect();
    json!({
        "advertiser_id": ADVERTISERS[offer.advertiser], "off_type": "CPI", "s_id": "com.example.game", "name": "A game",
        "lp_url": "https://play.google.com/store/apps/details?id=com.example.game",
        "ic_url": "https://cdn.example.com/icon.png", "desc": "Play it", "ctg": ["GAMING"], "os": "android",
        "geo_tgt": { "include": [], "exclude": [] }, "active": true, "goals": goals,
        "once_per": if offer.once_per_click { "click" } else { "user" },
        "conversion_window_days": offer.window_days,
        "conversion_cap": offer.cap.map(|lim| json!({ "dur": "DAILY", "lim": lim })),
    })
}

fn documents() -> impl Strategy<Value = OfferDocument> {
    let payout = || prop_oneof![1 => Just(0_u32), 4 => 1..10_u32];
    let cap = prop_oneof![2 => Just(None), 3 => (0..5_u32).prop_map(Some)];
    (0..2_usize, (1..10_u32, payout(), payout()), any::<bool>(), select([1_u16, 30, 90].as_slice()), cap).prop_map(
        |(advertiser, (first, second, third), once_per_click, window_days, cap)| OfferDocument {
            advertiser,
            payouts: [first, second, third],
            once_per_click,
            window_days,
            cap,
        },
    )
}

fn ops() -> impl Strategy<Value = Op> {
    let status = prop_oneof![6 => Just(Status::Approved), 1 => Just(Status::Pending), 2 => Just(Status::Reversed)];
    let goal = prop_oneof![2 => Just(None), 5 => (0..3_u8).prop_map(Some)];
    let sender = prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    let txn = proptest::option::weighted(0.2, 0..3_u8);
    let action = prop_oneof![3 => Just(Action::Approve), 1 => Just(Action::Reverse)];
    let pass = prop_oneof![4 => SECOND_MS..HOUR_MS, 2 => Just(13 * HOUR_MS), 1 => DAY_MS..120 * DAY_MS];
    let outboxes = prop_oneof![3 => Just(None), 1 => select([1_u8, 8, 64].as_slice()).prop_map(Some)];
    prop_oneof![
        5 => (0..2_u8, 0..2_usize).prop_map(|(user, offer)| Op::Click { user, offer }),
        20 => (0..20_usize, goal, sender, status, txn)
            .prop_map(|(click, goal, sender, status, txn)| Op::Postback(click, goal, sender, status, txn)),
        8 => (0..20_usize, 0..2_u8, action, prop::bool::weighted(0.8))
            .prop_map(|(click, goal, action, despite)| Op::Settle(click, goal, action, despite)),
        6 => (0..2_usize, documents(), prop::bool::weighted(0.9)).prop_map(|(nth, offer, reaches)| Op::Put(nth, offer, reaches)),
        1 => (50..200_u32, outboxes).prop_map(|(per_usd, outboxes)| Op::Rate(per_usd, outboxes)),
        4 => Just(Op::Publish),
        6 => pass.prop_map(Op::Pass),
        1 => Just(Op::Backup),
        1 => Just(Op::Restore),
        1 => Just(Op::Recreate),
    ]
}

/// Random histories seldom come here.
#[test]
fn a_forced_reward_stands_against_the_next_click() {
    let mut model = Model::new();
    let approved = |nth| Op::Postback(nth, Some(0), 0, Status::Approved, None);
    let ops = [
        Op::Click { user: 0, offer: 0 },
        Op::Click { user: 0, offer: 0 },
        Op::Click { user: 0, offer: 0 },
        approved(0),
        approved(1),
        Op::Settle(1, 0, Action::Approve, true),
        Op::Settle(0, 0, Action::Reverse, true),
        approved(2),
    ];
    for op in ops {
        model.carry_out(&op);
    }
    assert_eq!((model.paid.len(), model.standing.len()), (2, 1));
}

proptest! {
    #![proptest_config(simulations(48))]

    #[test]
    fn everybody_is_paid_exactly_what_was_promised(ops in vec(ops(), 1..200)) {
        let mut model = Model::new();
        for op in ops {
            model.carry_out(&op);
        }
    }
}
