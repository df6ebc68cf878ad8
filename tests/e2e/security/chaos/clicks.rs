//! A client that clicks: each redirect has a click id that can be paid, clicks count once, and caps are never exceeded.

use serde_json::json;

use super::world::{Client, Outcome, Sent, World};
use crate::{
    clicks::click_id_at,
    harness::{CONVERSION, OfferWall, eventually_within, now_ms},
    random::Random,
};
use domain::model::time::{SECOND_MS, UtcDay};

/// Daily click cap of the capped offer.
const CAP: usize = 40;
/// Longer than a batch waits before it is flushed and takes to arrive, in milliseconds.
const FLUSHED_MS: i64 = 4 * SECOND_MS;

/// A click that may be counted.
struct Clicked {
    /// The life of workerd that redirected it, and when, in milliseconds since 1970. `None` if the answer was lost.
    answered: Option<(usize, i64)>,
}

pub struct Clicks<'w> {
    world: &'w World<'w>,
    wall: OfferWall<'w>,
    random: Random,
    clicks: Vec<Clicked>,
    /// Redirects of the capped offer.
    capped: usize,
    /// Short click ids that are not paid yet.
    short: Vec<String>,
    paid: usize,
    began_ms: i64,
}

impl<'w> Clicks<'w> {
    /// Puts the client's offers. Clicks find them after the next refresh.
    pub fn new(world: &'w World<'w>, id: &str, app: &str, seed: u64) -> Self {
        let wall = world.signpost.unpublished_offer_wall(id, app, None);
        wall.put_offer_as(&format!("{id}-cap"), &json!({"click_cap": {"dur": "DAILY", "lim": CAP}}));
        wall.put_offer_as(&format!("{id}-short"), &json!({"click_id_max": 50}));
        Self {
            world,
            wall,
            random: Random(seed),
            clicks: Vec::new(),
            capped: 0,
            short: Vec::new(),
            paid: 0,
            began_ms: now_ms(),
        }
    }

    fn day_changed(&self) -> bool {
        UtcDay::of_ms(self.began_ms) != UtcDay::of_ms(now_ms())
    }

    fn click(&mut self, offer: &str) -> Outcome {
        let life = self.world.life();
        let path = format!("/v2/tracking/click?rid={offer}-1&app={}&user_id={}-u", self.wall.app, self.wall.id);
        let outcome = self.world.attempt("clicks", "GET", &path, &Sent::default());
        // A click answered while workerd was restarted belongs to no life.
        let answered = matches!(outcome, Outcome::Done(_)) && life == self.world.life();
        if !matches!(outcome, Outcome::Refused(_)) {
            self.clicks.push(Clicked { answered: answered.then(|| (life, now_ms())) });
        }
        outcome
    }

    fn pay(&mut self) {
        let Some(click_id) = self.short.pop() else { return };
        let path = format!("{CONVERSION}?click_id={click_id}&token={}", self.wall.token);
        let answer = self.world.until_answered("conversions", "GET", &path, &Sent::default());
        assert_eq!(answer.status, 200, "the record of a redirected click is lost: {answer:?}");
        self.paid += 1;
    }

    /// The number of clicks that must be counted by now.
    fn flushed(&self) -> u64 {
        let flushed = self.clicks.iter().filter(|click| {
            click
                .answered
                .is_some_and(|(life, at_ms)| at_ms + FLUSHED_MS <= self.world.end_of(life).unwrap_or(i64::MAX))
        });
        flushed.count() as u64
    }
}

impl Client for Clicks<'_> {
    fn step(&mut self) {
        let id = self.wall.id.clone();
        match self.random.below(20) {
            0 => {
                if let Outcome::Refused(answer) = self.click(&format!("{id}-cap")) {
                    assert_eq!((answer.status, answer.code().as_str()), (410, "offer_capped"), "{answer:?}");
                } else {
                    self.capped += usize::from(self.clicks.last().is_some_and(|click| click.answered.is_some()));
                    assert!(self.capped <= CAP || self.day_changed(), "{} clicks of a cap of {CAP}", self.capped);
                }
            }
            1 => {
                if let Outcome::Done(answer) = self.click(&format!("{id}-short")) {
                    self.short.push(click_id_at(&answer));
                }
            }
            2 => self.pay(),
            _ => {
                if let Outcome::Refused(answer) = self.click(&id) {
                    panic!("{answer:?}");
                }
            }
        }
    }

    fn verify(&mut self) -> usize {
        while !self.short.is_empty() {
            self.pay();
        }
        // One for all polls, since it uses its report keys again.
        let publisher = self.world.signpost.existing_publisher(&self.wall.id);
        // The last clicks are in a batch of the last life, which is not killed.
        eventually_within(30 * SECOND_MS, &true, || publisher.clicks() >= self.flushed());
        let (counted, clicked) = (publisher.clicks(), self.clicks.len() as u64);
        assert!(counted <= clicked, "{counted} clicks are counted of {clicked}");
        let flushed = self.flushed();
        println!("{}: {clicked} clicks, {flushed} surely flushed, {counted} counted", self.wall.id);
        usize::try_from(flushed).unwrap() + self.paid
    }
}
