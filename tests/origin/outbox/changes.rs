//! The rewards in the order of their changes: a reader who keeps the newest version of each has the same as a reader of
//! everything, whatever happens between its questions.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;
use contract::outbox::{ChangedRewards, ReadChanges};
use domain::{
    conversions::{log_number::first_number, state::Reason, table::Action},
    model::PublisherId,
};
use origin::{
    http::reward_changes::{self, Cursor, Page, Question},
    objects::outbox::{changes, conversions::settlement, erasure, story},
};

const OUTBOXES: u8 = 3;
const USERS: u8 = 12;

fn publisher() -> PublisherId {
    PublisherId::parse("acme").unwrap()
}

/// The transaction id of a user's reward.
fn reward_of(user: u8) -> String {
    let row = RowKey { app: app(), shard: user % OUTBOXES, nonce: [user; 12], goal: "g-1" };
    transaction_id(&row, Movement::Reward)
}

/// The outboxes of an app, between which users are divided.
struct Outboxes {
    world: World,
    databases: Vec<Sqlite>,
    /// The questions that outboxes were asked.
    asked: Cell<usize>,
}

impl Outboxes {
    fn new() -> Self {
        Self {
            world: World::paying_each_click(),
            databases: (0..OUTBOXES).map(|_| outbox()).collect(),
            asked: Cell::new(0),
        }
    }

    fn of(&self, user: u8) -> (OutboxShard, &Sqlite) {
        let number = user % OUTBOXES;
        (OutboxShard { app: app(), number }, &self.databases[usize::from(number)])
    }

    /// A refused operation changes nothing.
    fn carry_out(&self, op: Op) {
        let of = |user: u8| {
            let mut conversion = conversion(user);
            conversion.click.shard = user % OUTBOXES;
            conversion
        };
        match op {
            Op::Says(user, status) => self.convert(user, &of(user).status(status)),
            Op::Settles(user, action) => {
                let (shard, db) = self.of(user);
                let settle = Settle {
                    transaction_id: reward_of(user),
                    action,
                    reason: "checked by hand".into(),
                    despite: vec![Reason::TooFast],
                };
                if let Ok(conversion) = settlement::conversion(db, self.world.now_ms.get(), shard, &settle) {
                    self.convert(user, &conversion);
                }
            }
            Op::Erases(user) => {
                let (shard, db) = self.of(user);
                erasure::erase(db, self.world.now_ms.get(), shard, &format!("user-{user}")).unwrap();
            }
            Op::Passes(ms) => self.world.pass(ms),
            Op::Reads(_) => {}
        }
    }

    fn convert(&self, user: u8, conversion: &Conversion) {
        let (shard, db) = self.of(user);
        let mut conversion = conversion.clone();
        conversion.current = self.world.catalog.borrow().current(&conversion.click.offer);
        let converted = now(async {
            let terms = outbox::terms::of(db, &self.world, shard, &conversion).await?;
            commit::convert(db, &self.world, &conversion, &terms).await
        });
        if let Err(Failure::Internal(cause)) = converted {
            panic!("{cause}");
        }
    }

    fn read(&self, cursor: Cursor, limit: u32) -> Page {
        let question = Question { publisher: publisher(), app: None, cursor, limit };
        let apps = async |_, _| Ok((vec![(app(), OUTBOXES)], false));
        let ask = async |outbox: OutboxShard, read: ReadChanges| {
            self.asked.set(self.asked.get() + 1);
            let db = &self.databases[usize::from(outbox.number)];
            changes::read(db, self.world.now_ms.get(), outbox, &read)
        };
        match now(reward_changes::read::<Failure>(&question, self.world.now_ms.get(), apps, ask)) {
            Ok(page) => page,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// A reader's copy of the rewards by their ids, and where it is.
#[derive(Default)]
struct Copy {
    rewards: BTreeMap<String, Json>,
    cursor: Cursor,
}

impl Copy {
    /// Reads one page. Its rewards are in the order of their changes.
    fn read(&mut self, outboxes: &Outboxes, limit: u32) -> bool {
        let page = outboxes.read(self.cursor, limit);
        assert!(page.rewards.len() <= usize::try_from(limit).unwrap());
        let mut last_ts = 0;
        for reward in page.rewards {
            let mut reward: Json = serde_json::from_str(reward.get()).unwrap();
            let changed_ts = reward["changed_ts"].take().as_i64().unwrap();
            assert!(changed_ts >= last_ts);
            last_ts = changed_ts;
            self.rewards.insert(reward["transaction_id"].as_str().unwrap().to_owned(), reward);
        }
        // Readers store a cursor as text.
        self.cursor = Cursor::parse(&page.cursor.to_text()).unwrap();
        page.has_more
    }

    fn read_all(&mut self, outboxes: &Outboxes, limit: u32) {
        while self.read(outboxes, limit) {}
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Says(u8, Status),
    Settles(u8, Action),
    Erases(u8),
    Passes(i64),
    /// A reader asks for a page of so many rewards.
    Reads(u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let user = 0..USERS;
    let status = select(Status::ALL.as_slice());
    let action = select(vec![Action::Approve, Action::Reject, Action::Reverse]);
    let op = prop_oneof![
        6 => (user.clone(), status).prop_map(|(user, status)| Op::Says(user, status)),
        2 => (user.clone(), action).prop_map(|(user, action)| Op::Settles(user, action)),
        1 => user.prop_map(Op::Erases),
        4 => select(vec![1, 700, 1_999, 2_001, DAY_MS]).prop_map(Op::Passes),
        4 => (1..8_u32).prop_map(Op::Reads),
    ];
    vec(op, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_copy_that_is_kept_up_equals_what_a_new_reader_gets(ops in ops(), is_held in any::<bool>(), limit in 1..40_u32) {
        let outboxes = Outboxes::new();
        if is_held {
            outboxes.world.hold(|offer, _| offer.min_seconds_to_convert = Some(2 * 86_400));
        }
        let mut kept = Copy::default();
        for op in ops {
            outboxes.carry_out(op);
            if let Op::Reads(limit) = op {
                kept.read(&outboxes, limit);
            }
        }
        outboxes.world.pass(3_000);
        kept.read_all(&outboxes, limit);
        let mut new = Copy::default();
        new.read_all(&outboxes, 1_000);
        prop_assert_eq!(&kept.rewards, &new.rewards);
        // Both copies show each reward as its story does.
        for user in 0..USERS {
            let (_, db) = outboxes.of(user);
            let id = reward_of(user);
            let story = story::read(db, &super::story::of("acme", &id)).ok().map(|story| {
                let mut story = json(story);
                story.as_object_mut().unwrap().remove("callbacks");
                story["changed_ts"] = Json::Null;
                story
            });
            prop_assert_eq!(kept.rewards.get(&id), story.as_ref());
        }
        let ids: BTreeSet<_> = (0..USERS).map(reward_of).collect();
        prop_assert!(kept.rewards.keys().all(|id| ids.contains(id)));
        let settled = first_number(outboxes.world.now_ms.get() - 2_000) - 1;
        prop_assert_eq!(kept.cursor.to_text(), settled.to_string());
    }

    #[test]
    fn a_text_that_is_not_a_cursor_is_refused(text in "0{0,20}[0-9.]{0,40}|[+-]?[0-9]|.{0,10}") {
        if let Some(cursor) = Cursor::parse(&text) {
            prop_assert_eq!(Cursor::parse(&cursor.to_text()), Some(cursor));
            prop_assert!(text.split('.').all(|number| (1..=16).contains(&number.len())));
        }
    }
}

/// A reversal and its reward have the same user, and only the reward changes.
#[test]
fn an_erasure_changes_a_reversed_reward_once() {
    let outboxes = Outboxes::new();
    for op in [Op::Says(1, Status::Approved), Op::Says(1, Status::Reversed), Op::Erases(1)] {
        outboxes.carry_out(op);
        outboxes.world.pass(3_000);
    }
    let page = outboxes.read(Cursor::default(), 10);
    assert_eq!(page.rewards.len(), 1, "{:?}", page.rewards);
}

#[test]
fn a_reader_is_told_that_a_pending_reward_has_expired() {
    let outboxes = Outboxes::new();
    outboxes.carry_out(Op::Says(1, Status::Pending));
    outboxes.world.pass(3_000);
    let mut kept = Copy::default();
    kept.read_all(&outboxes, 10);
    assert_eq!(kept.rewards[&reward_of(1)]["state"], "pending");
    outboxes.world.pass(400 * DAY_MS);
    super::retention::night(outboxes.of(1).1, outboxes.world.now_ms.get());
    outboxes.world.pass(3_000);
    kept.read_all(&outboxes, 10);
    let reward = &kept.rewards[&reward_of(1)];
    assert_eq!((&reward["state"], &reward["reason"]), (&"rejected".into(), &"expired".into()));
}

/// Groups of apps are read one after the other up to the same number, also while rewards come. Apps share numbers.
#[test]
fn many_apps_are_read_in_groups_without_a_gap() {
    for limit in [1, 2, 3, 300] {
        read_in_groups(limit);
    }
}

fn read_in_groups(limit: u32) {
    // Each app has one outbox with a reward in each millisecond; a group has two apps.
    let ids: Vec<AppId> = (1..=5).map(|n| AppId::from_number(n * 7).unwrap()).collect();
    let now_ms = Cell::new(if limit < 10 { 5_200 } else { 10_000_i64 });
    let question = |cursor| Question { publisher: publisher(), app: None, cursor, limit };
    let apps = async |from: Option<AppId>, to: Option<AppId>| {
        let wanted = ids.iter().copied().filter(|app| from.is_none_or(|from| *app >= from));
        let wanted: Vec<AppId> = wanted.filter(|app| to.is_none_or(|to| *app <= to)).take(2).collect();
        let follow = wanted.last().is_some_and(|last| last < ids.last().unwrap());
        Ok::<_, ()>((wanted.into_iter().map(|app| (app, 1)).collect(), follow))
    };
    let ask = async |outbox: OutboxShard, read: ReadChanges| {
        // The last app's numbers differ from the others'.
        let own = i64::from(outbox.app == ids[4]);
        let numbers = (1..).map(|ms| first_number(ms) + own);
        let mut numbers = numbers.take_while(|number| *number <= read.through);
        let rewards: Vec<_> = numbers
            .by_ref()
            .filter(|number| *number > read.after)
            .take(usize::try_from(read.limit).unwrap())
            .map(|number| contract::outbox::ChangedReward {
                number,
                reward: serde_json::value::to_raw_value(&number).unwrap(),
            })
            .collect();
        let through = match (rewards.last(), numbers.next()) {
            (Some(last), Some(_)) => last.number,
            _ => read.through,
        };
        Ok(ChangedRewards { rewards, through })
    };
    let (mut cursor, mut read, mut pages) = (Cursor::default(), Vec::new(), 0);
    loop {
        let page = now(reward_changes::read(&question(cursor), now_ms.get(), apps, ask)).unwrap();
        read.extend(page.rewards.iter().map(|reward| reward.get().parse::<i64>().unwrap()));
        cursor = page.cursor;
        pages += 1;
        if pages < 20 {
            now_ms.set(now_ms.get() + 10);
        } else if !page.has_more {
            break;
        }
        assert!(pages < 200_000, "it never ends");
    }
    let through: i64 = cursor.to_text().parse().unwrap();
    let mut expected: Vec<i64> = (1..)
        .map(first_number)
        .take_while(|number| *number <= through)
        .flat_map(|number| [number, number, number, number, number + 1])
        .filter(|number| *number <= through)
        .collect();
    expected.sort_unstable();
    read.sort_unstable();
    assert!(read == expected, "limit {limit}: {} of {}", read.len(), expected.len());
}
