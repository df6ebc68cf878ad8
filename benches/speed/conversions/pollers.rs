//! Conversions while ten keys of the publisher read its rewards, each once a second, against conversions without them.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use super::{OURS, load_for, once_each};
use crate::{
    bench::{Bench, throughput},
    harness::{End, ReportKey, Setup, Signpost, now_ms},
    load::interleaved,
    table::Row,
    time::Stopwatch,
};
use domain::conversions::log_number::first_number;

const POLLERS: usize = 10;
/// A key has one request in a second.
const PAUSE_S: f64 = 1.01;
/// A change can be read after 2 s, so pollers read nothing of the first seconds, which are not measured.
const WARM_UP_S: f64 = 3.0;
const SECONDS: f64 = 5.0;
const TARGET: f64 = 0.9;

/// Answers to pollers, and the rewards in them.
#[derive(Default)]
struct Answers {
    pages: AtomicU64,
    rewards: AtomicU64,
    /// 429: two requests of a key came within a second, because the first was held up.
    too_often: AtomicU64,
}

pub fn row(bench: &Bench) -> Row {
    let signpost = Setup::new().start();
    let requests = RefCell::new(once_each(bench, &signpost, 1));
    let publisher = signpost.existing_publisher("speed-1");
    let key = |_| publisher.create_key_for("ia-rewards.READ", "poller");
    let keys: Vec<ReportKey> = (0..POLLERS).map(key).collect();
    let answers = Answers::default();
    let run = || {
        let requests = &mut requests.borrow_mut();
        load_for(bench, &signpost, OURS, requests, WARM_UP_S);
        load_for(bench, &signpost, OURS, requests, SECONDS)
    };
    let polled = || {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let _end = End(&is_over);
            for (number, key) in keys.iter().enumerate() {
                let (is_over, answers, signpost) = (&is_over, &answers, &signpost);
                let begins_s = PAUSE_S * number as f64 / POLLERS as f64;
                scope.spawn(move || poll(signpost, key, begins_s, is_over, answers));
            }
            run()
        })
    };
    let found = interleaved("conversions with pollers", bench.rounds, &mut [&mut { polled }, &mut { run }]);
    let work = format!("conversions while {POLLERS} keys poll the rewards feed once a second, against without");
    let mut row = throughput(&work, Some(TARGET), &found[0], &found[1]);
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    row.notes.push(format!(
        "{} pages with {} rewards were read, and {} requests refused with 429, in {} s",
        count(&answers.pages),
        count(&answers.rewards),
        count(&answers.too_often),
        (bench.rounds + 1) as f64 * (WARM_UP_S + SECONDS)
    ));
    row.printed()
}

/// Reads pages from the present on, each from the cursor of the one before.
fn poll(signpost: &Signpost, key: &ReportKey, begins_s: f64, is_over: &AtomicBool, answers: &Answers) {
    let watch = Stopwatch::start();
    let mut cursor = first_number(now_ms()).to_string();
    let mut due_s = begins_s;
    loop {
        thread::sleep(Duration::from_secs_f64((due_s - watch.seconds()).max(0.0)));
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        due_s = watch.seconds() + PAUSE_S;
        let path = format!("/v1/core/rewards?limit=1000&after={cursor}");
        let answer = signpost.get(&path, &[("X-Api-Key", &key.api_key)]);
        if answer.status == 429 {
            answers.too_often.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let answer = answer.expect(200);
        cursor = answer.header("X-Cursor").expect("a cursor").to_owned();
        let rewards = answer.body.matches("\"changed_ts\"").count() as u64;
        answers.pages.fetch_add(1, Ordering::Relaxed);
        answers.rewards.fetch_add(rewards, Ordering::Relaxed);
    }
}
