//! Concurrent increments, their retries and replaced days add up exactly to what was sent.

use std::{collections::BTreeMap, sync::Barrier, thread};

use serde_json::{Value, json};

use crate::{
    harness::{Publisher, demo},
    reports::{
        model::{self, Fact, Random},
        query,
    },
};

const THREADS: usize = 10;
const ROUNDS: usize = 6;
const ROWS: usize = 30;

/// Increments for several days, under one idempotency key.
struct Batch {
    key: String,
    facts: Vec<Fact>,
}

impl Batch {
    fn new(random: &mut Random, key: String, days: &[&str]) -> Self {
        let facts = (0..ROWS).map(|_| model::fact(random, days)).collect();
        Self { key, facts }
    }

    /// Sends the batch. Returns whether it was a duplicate.
    fn send(&self, publisher: &Publisher<'_>) -> bool {
        let answer = publisher.add_facts(&self.key, &csv(&self.facts)).expect(200);
        let body = answer.json();
        assert_eq!(body["rows"], self.facts.len(), "{answer:?}");
        body["duplicate"].as_bool().unwrap_or_else(|| panic!("no `duplicate`: {answer:?}"))
    }
}

fn csv(facts: &[Fact]) -> String {
    model::HEADER.to_owned() + &facts.iter().map(Fact::csv).collect::<String>()
}

fn replace_day(publisher: &Publisher<'_>, day: &str, facts: &[Fact]) {
    let body = publisher.put_facts(day, &csv(facts)).expect(200).json();
    assert_eq!(body, json!({"rows": facts.len()}));
}

/// Fails the test unless reports and the list of stored days equal sums computed from these facts.
#[track_caller]
fn assert_sums(publisher: &Publisher<'_>, facts: &[Fact]) {
    let sums = ["ad_requests", "ad_responses", "impressions", "clicks", "revenue"];
    for dimensions in
        [&["date"][..], &["app", "country"], &["date", "app", "country", "placement_id", "demand_source", "sdk_v"]]
    {
        let query = query(dimensions, &sums);
        let rows = publisher.rows(&query);
        assert!(rows == model::rows(facts, &query), "model differs: {query}");
    }
    let mut by_day: BTreeMap<&str, [i64; 5]> = BTreeMap::new();
    for fact in facts {
        let day = by_day.entry(&fact.dimensions[0]).or_default();
        for (sum, more) in day.iter_mut().zip(&fact.sums) {
            *sum += more;
        }
    }
    let mut days = publisher.days();
    // One was replaced by nothing.
    days.retain(|day| day["loaded"]["rows"] != 0);
    let expected: Vec<Value> =
        by_day.iter().rev().map(|(day, sums)| json!([day, sums[0], sums[1], sums[2], sums[3]])).collect();
    let stored: Vec<Value> = days
        .iter()
        .map(|day| {
            let loaded = &day["loaded"];
            json!([day["date"], loaded["ad_requests"], loaded["ad_responses"], loaded["impressions"], loaded["clicks"]])
        })
        .collect();
    assert_eq!(stored, expected);
}

#[test]
fn ten_concurrent_clients_and_their_retries_add_up_exactly() {
    let signpost = demo();
    let publisher = signpost.publisher("at-once");
    let random = &mut Random(20_260_105);
    let added_days: Vec<String> = (1..=10).map(|day| format!("2026-01-{day:02}")).collect();
    let added_days: Vec<&str> = added_days.iter().map(String::as_str).collect();
    // Each client has a day of its own, which it replaces in every round.
    let own_days: Vec<String> = (1..=THREADS).map(|day| format!("2026-02-{day:02}")).collect();
    let mut batches = Vec::new();
    let mut replaced = Vec::new();
    for round in 0..ROUNDS {
        for (thread, day) in own_days.iter().enumerate() {
            batches.push(Batch::new(random, format!("{round}-{thread}"), &added_days));
            let rows = 1 + random.below(ROWS);
            replaced.push((0..rows).map(|_| model::fact(random, &[day.as_str()])).collect::<Vec<_>>());
        }
    }

    let start = Barrier::new(THREADS);
    let client = |thread: usize| {
        let mut applied = Vec::new();
        for round in 0..ROUNDS {
            start.wait();
            let own = &batches[round * THREADS + thread];
            // Another client sends the same batch at the same time.
            let neighbours = &batches[round * THREADS + (thread + 1) % THREADS];
            for batch in [own, neighbours, own] {
                if !batch.send(&publisher) {
                    applied.push(batch.key.clone());
                }
            }
            replace_day(&publisher, &own_days[thread], &replaced[round * THREADS + thread]);
        }
        applied
    };
    let mut applied: Vec<String> = thread::scope(|scope| {
        let client = &client;
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || client(thread))).collect();
        let joined = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        joined.collect()
    });
    applied.sort();
    let mut keys: Vec<_> = batches.iter().map(|batch| batch.key.clone()).collect();
    keys.sort();
    assert_eq!(applied, keys, "each batch is applied once");
    let mut facts: Vec<Fact> = batches.iter().flat_map(|batch| batch.facts.clone()).collect();
    facts.extend(replaced[(ROUNDS - 1) * THREADS..].iter().flatten().cloned());
    assert_sums(&publisher, &facts);

    // Then: a replaced day that had increments, increments to a replaced day, and retries of both.
    for (day, replaced) in [("2026-01-03", 7), ("2026-02-05", 0), ("2026-01-03", 3)] {
        let rows: Vec<_> = (0..replaced).map(|_| model::fact(random, &[day])).collect();
        replace_day(&publisher, day, &rows);
        facts.retain(|fact| fact.dimensions[0] != day);
        facts.extend(rows);
        assert_sums(&publisher, &facts);
        for batch in &batches[..5] {
            assert!(batch.send(&publisher), "its key stays used when its days are replaced");
        }
        assert_sums(&publisher, &facts);
        let key = format!("after-{day}-{replaced}");
        let more = Batch::new(random, key, &[day, "2026-02-06", "2026-03-01"]);
        assert!(!more.send(&publisher));
        assert!(more.send(&publisher));
        facts.extend(more.facts);
        assert_sums(&publisher, &facts);
    }
}
