//! A client that uploads facts: it replaces days, and adds increments that must count once for each idempotency key.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::world::{Client, Outcome, Sent, World};
use crate::{
    harness::{Answer, Publisher, ReportKey, gzip},
    random::Random,
};

/// The number of days that are replaced, and the days that only get increments.
const REPLACED: usize = 3;
const ADDED_TO: [&str; 2] = ["2026-02-01", "2026-02-02"];
const HEADER: &str = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,\
    clicks,revenue";

/// Ad requests, impressions, clicks and micro-USD.
type Sums = [i64; 4];

/// The possible contents of a replaced day.
#[derive(Default)]
struct DayState {
    /// The last acknowledged upload and later ones in doubt, each as sums by placement.
    candidates: Vec<BTreeMap<String, Sums>>,
    /// Whether any upload was acknowledged.
    acked: bool,
    history: Vec<String>,
}

pub struct Facts<'w> {
    world: &'w World<'w>,
    publisher: Publisher<'w>,
    key: ReportKey,
    random: Random,
    days: BTreeMap<String, DayState>,
    /// Sums, whether acknowledged, and history of each increment, by its placement, which is also its idempotency key.
    increments: BTreeMap<String, (Sums, bool, Vec<String>)>,
    sent: usize,
}

impl<'w> Facts<'w> {
    pub fn new(world: &'w World<'w>, id: &str, seed: u64) -> Self {
        let publisher = world.signpost.publisher(id);
        let key = publisher.create_key("chaos");
        let day = |day: usize| {
            (
                format!("2026-01-{:02}", day + 1),
                DayState { candidates: vec![BTreeMap::new()], acked: false, history: Vec::new() },
            )
        };
        Self {
            world,
            publisher,
            key,
            random: Random(seed),
            days: (0..REPLACED).map(day).collect(),
            increments: BTreeMap::new(),
            sent: 0,
        }
    }

    fn sums(&mut self) -> Sums {
        [(); 4].map(|()| i64::try_from(self.random.below(1_000_000)).unwrap() + 1)
    }

    fn send(&mut self, method: &str, path: &str, key: Option<&str>, csv: &str, persists: bool) -> Outcome {
        let packed = self.random.below(2) == 0;
        let body = if packed { gzip(csv.as_bytes()) } else { csv.into() };
        let sent = Sent {
            media_type: Some("text/csv"),
            header: key.map(|key| ("Idempotency-Key", key)),
            gzip: packed,
            body: &body,
        };
        let path = format!("/v1/operator/publishers/{}/{path}", self.publisher.id);
        let kind = if method == "PUT" { "facts, a day" } else { "facts, increments" };
        if persists {
            Outcome::Done(self.world.until_answered(kind, method, &path, &sent))
        } else {
            self.world.attempt(kind, method, &path, &sent)
        }
    }

    fn replace(&mut self) {
        self.sent += 1;
        let date = format!("2026-01-{:02}", self.random.below(REPLACED) + 1);
        let (mut csv, mut sums) = (HEADER.to_owned(), BTreeMap::new());
        // Some uploads take long enough to be killed half way.
        let rows = [1, 20, 2_000][self.random.below(3)];
        let placements = rows.min(20);
        for row in 0..rows {
            let placement = format!("put-{}-{}", self.sent, row % placements);
            let row_sums = self.sums();
            csv += &line(&date, &placement, row_sums);
            let sum: &mut Sums = sums.entry(placement).or_default();
            *sum = [0, 1, 2, 3].map(|at| sum[at] + row_sums[at]);
        }
        let persists = self.random.below(2) == 0;
        let outcome = self.send("PUT", &format!("facts/{date}"), None, &csv, persists);
        let day = self.days.get_mut(&date).unwrap();
        match outcome {
            Outcome::Done(answer) => {
                assert_eq!(answer.clone().expect(200).json(), json!({ "rows": rows }), "{answer:?}");
                day.history.push(format!("put-{} acknowledged, {rows} rows", self.sent));
                day.candidates = vec![sums];
                day.acked = true;
            }
            Outcome::Refused(answer) => panic!("facts refused: {answer:?}"),
            Outcome::Doubt(problem) => {
                day.history.push(format!("put-{} in doubt, {rows} rows: {:.300}", self.sent, tail(&problem)));
                day.candidates.push(sums);
            }
        }
    }

    fn increment(&mut self) {
        // An increment in doubt is sometimes sent again unchanged.
        let doubtful =
            self.increments.iter().find(|(_, (_, acked, _))| !acked).map(|(key, (sums, ..))| (key.clone(), *sums));
        let (key, sums) = doubtful.filter(|_| self.random.below(2) == 0).unwrap_or_else(|| {
            self.sent += 1;
            let sums = self.sums();
            (format!("add-{}", self.sent), sums)
        });
        let date = ADDED_TO[key.len() % ADDED_TO.len()];
        let csv = HEADER.to_owned() + &line(date, &key, sums);
        let persists = self.random.below(2) == 0;
        let outcome = self.send("POST", "facts", Some(&key), &csv, persists);
        let (_, acked, history) = self.increments.entry(key).or_insert((sums, false, Vec::new()));
        match outcome {
            Outcome::Done(answer) => {
                let duplicate = answer.clone().expect(200).json()["duplicate"] == true;
                assert!(!duplicate || !history.is_empty() || persists, "the first upload is a duplicate: {answer:?}");
                history.push(format!("acknowledged, duplicate: {duplicate}"));
                *acked = true;
            }
            Outcome::Refused(answer) => panic!("facts refused: {answer:?}"),
            Outcome::Doubt(problem) => history.push(format!("in doubt: {:.300}", tail(&problem))),
        }
    }

    /// Checks a report. Returns the number of promises checked.
    fn check(&mut self, answer: &Answer) -> usize {
        let rows = if answer.status == 204 { Vec::new() } else { answer.json()["rows"].as_array().unwrap().clone() };
        let mut found: BTreeMap<String, BTreeMap<String, Sums>> = BTreeMap::new();
        for row in &rows {
            let whole = |name: &str| row[name].as_i64().unwrap_or(0);
            #[expect(clippy::cast_possible_truncation, reason = "a few dollars")]
            let micros = (row["revenue"].as_f64().unwrap_or(0.0) * 1e6).round() as i64;
            let sums = [whole("ad_requests"), whole("impressions"), whole("clicks"), micros];
            let day_sums = found.entry(row["date"].as_str().unwrap().to_owned()).or_default();
            day_sums.insert(row["placement_id"].as_str().unwrap().to_owned(), sums);
        }
        for (date, day) in &mut self.days {
            let stored = found.remove(date).unwrap_or_default();
            let which = day.candidates.iter().position(|candidates| *candidates == stored);
            let Some(which) = which else {
                panic!("{}: the day {date} equals no upload: {stored:?}\n{:#?}", self.publisher.id, day.history);
            };
            // A killed process cannot apply anything later, so the observed state is final.
            day.history.push(format!("seen as candidate {which} of {}", day.candidates.len()));
            day.candidates = vec![stored];
        }
        let mut added: BTreeMap<_, _> = found.into_values().flatten().collect();
        for (key, (sums, acked, history)) in &self.increments {
            match added.remove(key) {
                Some(stored) => assert_eq!(stored, *sums, "{key} does not count once: {history:#?}"),
                None => assert!(!acked, "{key} is lost: {history:#?}"),
            }
        }
        assert!(added.is_empty(), "nobody sent {added:?}");
        let days = self.days.values().filter(|day| day.acked).count();
        days + self.increments.values().filter(|(_, acked, _)| *acked).count()
    }

    fn query() -> Value {
        json!({
            "date_range": {"start_date": "2026-01-01", "end_date": "2026-03-01"},
            "dimensions": ["date", "placement_id"],
            "metrics": ["ad_requests", "impressions", "clicks", "revenue"],
            "pagination": {"page": 1, "count": 50_000},
        })
    }
}

impl Client for Facts<'_> {
    fn step(&mut self) {
        if self.random.below(2) == 0 { self.replace() } else { self.increment() }
    }

    fn look(&mut self) {
        let answer = self.world.report(&self.key.api_key, &Self::query());
        if let Some(answer) = answer.filter(|answer| answer.status != 429) {
            assert!([200, 204].contains(&answer.status), "{answer:?}");
            self.check(&answer);
        }
    }

    fn verify(&mut self) -> usize {
        let answer = self.publisher.report(&Self::query());
        assert!([200, 204].contains(&answer.status), "{answer:?}");
        self.check(&answer)
    }
}

fn line(date: &str, placement: &str, [requests, impressions, clicks, micros]: Sums) -> String {
    let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
    format!("\n{date},70000001,DE,{placement},tag,alpha,1,{requests},0,{impressions},{clicks},{dollars}.{rest:06}")
}

/// The end of an error text, which contains the cause.
pub fn tail(problem: &str) -> &str {
    problem.get(problem.len().saturating_sub(200)..).unwrap_or(problem)
}
