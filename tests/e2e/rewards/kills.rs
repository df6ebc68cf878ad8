//! `fixtures/recipes/keep_rewards.py` keeps a copy of an app with 64 outboxes. In the end it has the log's rewards,
//! although callbacks are dropped, workerd and the script killed, and outboxes put back. `SEED` chooses another run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    harness::{
        Behaviour, CONVERSION, End, GOALS, OfferWall, Receiver, Setup, Signpost, click_keys, eventually_within, now_ms,
        root, seal,
    },
    random::Random,
    restored::{OUTBOXES, copy, doubts, put_back},
    security::chaos::{
        setting,
        world::{Sent, World},
    },
};
use contract::outbox;
use domain::{
    callbacks::shards,
    model::time::{MINUTE_MS, rfc_3339},
};

const SHARDS: u8 = 64;
const DROPPED: usize = 1_000;
/// Kills before the first restore, between both, and after the second one, which is made during one more.
const KILLS: [usize; 3] = [8, 6, 5];
const SENDERS: u64 = 4;
/// How long a sender rests after each postback.
const PAUSE: Duration = Duration::from_millis(15);
/// How long workerd lives, in milliseconds: sometimes long enough for batches to leave.
const LIFE_MS: [(u64, u64); 4] = [(0, 300), (100, 900), (300, 1_500), (500, 4_500)];
/// Rewards of an outbox that goes back, which it loses before the script has read them.
const LOST: usize = 3;
/// How long the script is the only one to call the outbox that went back.
const ALONE: Duration = Duration::from_secs(2);
/// A change can be read after 2 s.
const SETTLED: Duration = Duration::from_millis(2_100);

/// The state and the value of each reward, by its id.
type Rewards = BTreeMap<String, (String, f64)>;

/// A reward that may still change.
struct Open {
    id: String,
    shard: u8,
    /// The click id and the goal.
    query: String,
    value: f64,
    is_pending: bool,
}

/// Sends postbacks until each is answered, and keeps what the answers say.
struct Sender<'w> {
    world: &'w World<'w>,
    wall: &'w OfferWall<'w>,
    /// The outbox to which nothing is sent.
    resting: &'w RwLock<Option<u8>>,
    number: u64,
    random: Random,
    users: usize,
    open: Vec<Open>,
    rewards: Rewards,
}

impl Sender<'_> {
    /// Sends the first postback of a new user, or one that changes an earlier reward.
    fn step(&mut self) {
        let resting = self.resting.read().unwrap();
        if self.open.is_empty() || self.random.below(3) > 0 {
            self.users += 1;
            let user = format!("user-{}-{}", self.number, self.users);
            let shard = shards::of_user(&user, SHARDS);
            if *resting == Some(shard) {
                return;
            }
            let (_, event, _, coins) = GOALS[self.random.below(GOALS.len())];
            let click = self.wall.click_on(&self.wall.id, &user, now_ms());
            let query = format!("click_id={}&goal={event}", seal(&click_keys(), &click));
            let is_pending = self.random.below(3) == 0;
            let value = f64::from(i32::try_from(coins).unwrap());
            let status = if is_pending { "pending" } else { "approved" };
            let id = convert(self.world, self.wall, &query, status);
            self.rewards.insert(id.clone(), (status.to_owned(), value));
            let open = Open { id, shard, query, value, is_pending };
            self.open.push(open);
            return;
        }
        let at = self.random.below(self.open.len());
        if *resting == Some(self.open[at].shard) {
            return;
        }
        let mut reward = self.open.swap_remove(at);
        let status = match (reward.is_pending, self.random.below(2)) {
            (true, 0) => "rejected",
            (true, _) => "approved",
            (false, _) => "reversed",
        };
        let id = convert(self.world, self.wall, &reward.query, status);
        assert_eq!(id, reward.id, "another id for {}", reward.query);
        self.rewards.insert(id, (status.to_owned(), reward.value));
        if status == "approved" {
            reward.is_pending = false;
            self.open.push(reward);
        }
    }
}

/// Sends a postback until it is answered. Returns the reward's id.
fn convert(world: &World<'_>, wall: &OfferWall<'_>, query: &str, status: &str) -> String {
    let path = format!("{CONVERSION}?{query}&status={status}&token={}", wall.token);
    let answer = world.until_answered("conversions", "GET", &path, &Sent::default());
    let body = answer.expect(200).json();
    assert_eq!(body["status"], status, "{query}");
    body["transaction_id"].as_str().unwrap().to_owned()
}

/// The script, as a timer starts it again and again.
struct Script<'s> {
    signpost: &'s Signpost,
    api_key: String,
    path: &'s Path,
    /// Locked during each run, and while no run may start.
    runs: Mutex<()>,
}

impl Script<'_> {
    fn start(&self) -> Child {
        Command::new("python3")
            .arg(root().join("fixtures/recipes/keep_rewards.py"))
            .arg(self.signpost.base())
            .arg(self.path)
            .env("API_KEY", &self.api_key)
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Runs the script until this flag is set, and ends every fourth run early. Returns how many runs succeeded, how
    /// many failed, and how many were ended.
    fn run_until(&self, is_done: &AtomicBool, mut random: Random) -> [usize; 3] {
        let mut runs = [0; 3];
        while !is_done.load(Ordering::SeqCst) {
            thread::sleep(PAUSE);
            let _run = self.runs.lock().unwrap();
            let mut script = self.start();
            if random.below(4) == 0 {
                thread::sleep(Duration::from_millis(random.next() % 400));
                script.kill().unwrap();
                script.wait().unwrap();
                runs[2] += 1;
            } else if script.wait().unwrap().success() {
                runs[0] += 1;
            } else {
                runs[1] += 1;
                thread::sleep(Duration::from_millis(500));
            }
        }
        runs
    }

    /// Runs the script until it has read everything, and returns the copy.
    fn finish(&self) -> Rewards {
        eventually_within(MINUTE_MS, &true, || self.start().wait().unwrap().success());
        let db = rusqlite::Connection::open(self.path).unwrap();
        let mut rows = db.prepare("SELECT transaction_id, state, value FROM rewards").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
        rows.unwrap().map(Result::unwrap).collect()
    }
}

/// Drops so many callbacks at random: refuses them, answers too late, or closes the connection.
fn drop_at_random(receiver: &Receiver, seed: u64) -> Arc<AtomicUsize> {
    let (dropped, random) = (Arc::new(AtomicUsize::new(0)), Mutex::new(Random(seed)));
    let counted = Arc::clone(&dropped);
    receiver.clear();
    receiver.set(Behaviour::decide(move |_| {
        let mut random = random.lock().unwrap();
        if counted.load(Ordering::SeqCst) == DROPPED || random.below(5) > 1 {
            return Behaviour::status(200);
        }
        counted.fetch_add(1, Ordering::SeqCst);
        match random.below(4) {
            0 => Behaviour::status(500),
            1 => Behaviour::Slow(1_500),
            2 => Behaviour::Silent,
            _ => Behaviour::Half(200),
        }
    }));
    dropped
}

/// Pays new users of an outbox.
fn pay(world: &World<'_>, wall: &OfferWall<'_>, number: u8) -> Rewards {
    let began_ms = now_ms();
    let users = (0..).map(|n| format!("user-{began_ms}-{n}"));
    let users = users.filter(|user| shards::of_user(user, SHARDS) == number);
    let coins = f64::from(i32::try_from(GOALS[0].3).unwrap());
    let paid = |user: String| {
        let query = format!("click_id={}", wall.click_id(&user));
        let id = convert(world, wall, &query, "approved");
        (id, ("approved".to_owned(), coins))
    };
    users.take(LOST).map(paid).collect()
}

/// Lets workerd live for a while, and kills it.
fn kill(signpost: &Signpost, random: &mut Random, meanwhile: impl FnOnce()) {
    let (least, most) = LIFE_MS[random.below(LIFE_MS.len())];
    thread::sleep(Duration::from_millis(least + random.next() % (most - least)));
    signpost.restart_after(meanwhile);
}

/// Puts an outbox back to a moment ago while everything runs.
fn go_back(world: &World<'_>, object: &str, meanwhile: impl FnOnce()) {
    let url = format!("{}/{}/{object}", world.signpost.control(), outbox::BINDING);
    world.signpost.get(&url, &[]).expect(200);
    // Times are in whole seconds.
    thread::sleep(Duration::from_secs(1));
    meanwhile();
    let body = json!({ "to": rfc_3339(now_ms()) }).to_string();
    let sent = Sent { media_type: Some("application/json"), body: body.as_bytes(), ..Sent::default() };
    let path = format!("/v1/operator/objects/{object}/restore");
    world.until_answered("restore", "POST", &path, &sent).expect(200);
}

/// Waits until enough was dropped, however slow the machine is: some must be dropped in each minute.
fn wait_for_dropped(dropped: &AtomicUsize) {
    let count = || dropped.load(Ordering::SeqCst);
    while count() < DROPPED {
        let before = count();
        eventually_within(MINUTE_MS, &true, || count() > before);
    }
}

/// Waits until the journal has all that an outbox wrote: the loss of anything else is never noticed.
fn wait_for_journal(wall: &OfferWall<'_>, number: u8) {
    let source = format!("outbox-{}-{number}", wall.app);
    let written = format!(
        "SELECT MAX(number) FROM (SELECT MAX(entry) AS number FROM entries UNION ALL SELECT MAX(movement) FROM entries \
           UNION ALL SELECT MAX(number) FROM changes) WHERE (SELECT shard FROM outbox WHERE app = {}) = {number}",
        wall.app
    );
    let journaled = format!("SELECT MAX(number) FROM journal WHERE source = '{source}'");
    let last = |sql: &str| {
        let found = wall.signpost.stored(OUTBOXES, sql, |row| row.get::<_, Option<i64>>(0));
        found.into_iter().flatten().max()
    };
    eventually_within(MINUTE_MS, &true, || last(&written) == last(&journaled));
}

#[test]
fn a_copy_has_the_logs_rewards_after_drops_kills_and_restores() {
    let seed = setting("SEED", now_ms().unsigned_abs());
    println!("SEED={seed}");
    let signpost = Setup::new().var("CALLBACK_TIMEOUT_MS", "1000").config("recovery.capnp").start();
    let receiver = Receiver::start();
    let wall = signpost.sharded_offer_wall("kept-copy", "79000835", Some(&receiver), SHARDS);
    signpost.refresh();
    let world = World::new(&signpost, &receiver);
    let dropped = drop_at_random(&receiver, seed);
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let publisher = signpost.existing_publisher(&wall.id);
    let script = Script {
        signpost: &signpost,
        api_key: publisher.create_key_for("ia-rewards.READ", "copy").api_key,
        path: &folder.path().join("rewards.sqlite"),
        runs: Mutex::new(()),
    };
    let mut expected = Rewards::new();
    for number in 0..SHARDS {
        expected.extend(pay(&world, &wall, number));
    }

    let first = u8::try_from(random.below(usize::from(SHARDS))).unwrap();
    // No outbox may be the other's witness.
    let second = (first + 2 + u8::try_from(random.below(usize::from(SHARDS) - 4)).unwrap()) % SHARDS;
    let (resting, is_done) = (RwLock::new(None), AtomicBool::new(false));
    let runs = thread::scope(|scope| {
        let _end = End(&is_done);
        let polls = scope.spawn(|| script.run_until(&is_done, Random(seed ^ 100)));
        let send = |number: u64| {
            let mut sender = Sender {
                world: &world,
                wall: &wall,
                resting: &resting,
                number,
                random: Random(seed ^ number),
                users: 0,
                open: Vec::new(),
                rewards: Rewards::new(),
            };
            let is_done = &is_done;
            scope.spawn(move || {
                while !is_done.load(Ordering::SeqCst) {
                    sender.step();
                    thread::sleep(PAUSE);
                }
                sender.rewards
            })
        };
        let senders: Vec<_> = (1..=SENDERS).map(send).collect();
        let mut before = Vec::new();
        let of_second = format!("SELECT 1 FROM outbox WHERE app = {} AND shard = {second}", wall.app);
        for number in 0..KILLS[0] {
            kill(&signpost, &mut random, || {
                if number == KILLS[0] / 2 {
                    before = copy(&signpost, OUTBOXES, &of_second);
                }
            });
        }
        {
            // The script begins again with a cursor from before what the outbox loses.
            let _no_run = script.runs.lock().unwrap();
            let object = format!("outbox-{}-{first}", wall.app);
            go_back(&world, &object, || expected.extend(pay(&world, &wall, first)));
        }
        for _ in 0..KILLS[1] {
            kill(&signpost, &mut random, || {});
        }
        {
            let _no_run = script.runs.lock().unwrap();
            expected.extend(pay(&world, &wall, second));
            *resting.write().unwrap() = Some(second);
            wait_for_journal(&wall, second);
            kill(&signpost, &mut random, || put_back(&before));
        }
        thread::sleep(ALONE);
        *resting.write().unwrap() = None;
        for _ in 0..KILLS[2] {
            kill(&signpost, &mut random, || {});
        }
        wait_for_dropped(&dropped);
        is_done.store(true, Ordering::SeqCst);
        for sender in senders {
            expected.extend(sender.join().unwrap());
        }
        polls.join().unwrap()
    });
    thread::sleep(SETTLED);
    script.finish();
    let kept = script.finish();

    let entries = wall.all_entries(1_000);
    let waiting = entries.iter().filter(|entry| entry["state"] == "waiting").count();
    let rewards = entries.iter().filter(|entry| entry["original_transaction_id"].is_null());
    let logged = rewards.map(|entry| {
        let id = entry["transaction_id"].as_str().unwrap().to_owned();
        // The log has the values of what is paid.
        let value = entry["value"].as_f64().unwrap_or_else(|| expected.get(&id).map_or(0.0, |(_, value)| *value));
        (id, (entry["status"].as_str().unwrap().to_owned(), value))
    });
    let logged: Rewards = logged.collect();
    let mut states = BTreeMap::<&str, usize>::new();
    for (state, _) in kept.values() {
        *states.entry(state).or_default() += 1;
    }
    println!("{}", world.summary());
    println!("{} rewards, {states:?}, {waiting} callbacks wait", kept.len());
    println!("{runs:?} runs of the script that succeeded, failed, were ended; SEED={seed}");
    expect_equal("the log and the answers", &logged, &expected);
    expect_equal("the copy and the log", &kept, &logged);
    assert!(runs.iter().all(|count| *count > 0), "{runs:?}");
    let doubts = doubts(&signpost);
    for number in [first, second] {
        let restored = (format!("outbox-{}-{number}", wall.app), "outbox_restored".to_owned());
        assert!(doubts.contains(&restored), "{restored:?} is not among {doubts:?}");
    }
}

/// Fails the test with the rewards that differ.
#[track_caller]
fn expect_equal(what: &str, found: &Rewards, expected: &Rewards) {
    let differs = |id: &&String| found.get(*id) != expected.get(*id);
    let ids: BTreeSet<_> = found.keys().chain(expected.keys()).filter(differs).collect();
    let differences: Vec<_> = ids.into_iter().map(|id| (id, found.get(id), expected.get(id))).collect();
    assert!(differences.is_empty(), "{what} differ: {differences:#?}");
}
