//! The traffic during a backup, and the answers to it: promises that a restore must keep.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    clicks::click_id_at,
    harness::{Answer, OfferWall, eventually_within, expect_accepted, now_ms},
};
use domain::model::time::MINUTE_MS;

/// How long a sender rests after each round.
const PAUSE: Duration = Duration::from_millis(20);
/// The beginning of the ids of erased users.
const ERASED: &str = "forgotten-";

/// A conversion and the statuses that answers named, each with the time of the answer.
struct Conversion {
    app: String,
    click: String,
    id: String,
    statuses: Vec<(&'static str, i64)>,
}

/// A click that was not converted, and the time of its redirect.
struct Click {
    app: String,
    id: String,
    is_short: bool,
    at_ms: i64,
}

#[derive(Default)]
pub struct Load {
    conversions: Mutex<Vec<Conversion>>,
    clicks: Mutex<Vec<Click>>,
    /// Clicks of users who were erased afterwards.
    erased: Mutex<Vec<Click>>,
    /// Offers, each with the time when its `PUT` was answered.
    offers: Mutex<Vec<(String, i64)>>,
}

/// Repeats a request while it is answered 503, as senders do.
fn until_answered(mut send: impl FnMut() -> Answer) -> Answer {
    loop {
        let answer = send();
        if answer.status != 503 {
            return answer;
        }
        thread::sleep(PAUSE);
    }
}

/// Sends a click. Returns its id, a short one for a third of the clicks.
fn click(wall: &OfferWall<'_>, user: &str, number: usize) -> Click {
    let is_short = number.is_multiple_of(3);
    let long = if is_short {
        let text = "x".repeat(128);
        format!("&c1={text}&c2={text}&c3={text}")
    } else {
        String::new()
    };
    let query = format!("rid={}&app={}&user_id={user}{long}", wall.goal("1"), wall.app);
    let answer = until_answered(|| wall.signpost.click(&query, "DE")).expect(302);
    Click { app: wall.app.clone(), id: click_id_at(&answer), is_short, at_ms: now_ms() }
}

fn send(wall: &OfferWall<'_>, click: &str, status: &str) -> Answer {
    until_answered(|| wall.convert(click, &format!("&status={status}")))
}

impl Load {
    /// Sends clicks and conversions, and changes of some conversions.
    pub fn convert(&self, wall: &OfferWall<'_>, sender: &str, ends: &AtomicBool) {
        for number in (0..).take_while(|_| !ends.load(Ordering::SeqCst)) {
            let click = click(wall, &format!("user-{sender}-{number}"), number);
            if number % 4 == 0 {
                self.clicks.lock().unwrap().push(click);
                continue;
            }
            let statuses: &[&'static str] = match number % 7 {
                0 => &["pending", "approved"],
                1 => &["approved", "reversed"],
                2 => &["pending", "rejected"],
                3 => &["pending"],
                _ => &["approved"],
            };
            let mut conversion =
                Conversion { app: wall.app.clone(), click: click.id, id: String::new(), statuses: Vec::new() };
            for status in statuses {
                let answer = send(wall, &conversion.click, status);
                conversion.id = expect_accepted(answer, status, false);
                conversion.statuses.push((status, now_ms()));
            }
            self.conversions.lock().unwrap().push(conversion);
            thread::sleep(PAUSE);
        }
    }

    /// Erases users who have a conversion and another click.
    pub fn erase(&self, wall: &OfferWall<'_>, ends: &AtomicBool) {
        for number in (0..).take_while(|_| !ends.load(Ordering::SeqCst)) {
            let user = format!("{ERASED}{number}");
            expect_accepted(send(wall, &click(wall, &user, number).id, "approved"), "approved", false);
            let later = click(wall, &user, number);
            // Some of a user's callbacks have arrived by then.
            thread::sleep(PAUSE * 10);
            let body = json!({ "user_id": user });
            until_answered(|| wall.operator("POST", "erase_user", Some(&body))).expect(200);
            self.erased.lock().unwrap().push(later);
        }
    }

    /// Puts further offers, which make the catalog publish.
    pub fn change(&self, wall: &OfferWall<'_>, ends: &AtomicBool) {
        for number in (0..).take_while(|_| !ends.load(Ordering::SeqCst)) {
            let offer = format!("{}-{number}", wall.id);
            wall.put_offer_as(&offer, &json!({}));
            self.offers.lock().unwrap().push((offer, now_ms()));
            thread::sleep(PAUSE * 5);
        }
    }

    /// Fails the test unless every promise holds that was made before a time.
    pub fn check(&self, walls: &[OfferWall<'_>], until_ms: i64) {
        let wall = |app: &str| walls.iter().find(|wall| wall.app == app).expect("a wall");
        let listed: BTreeSet<String> = walls
            .iter()
            .flat_map(|wall| wall.all_entries(100))
            .map(|entry| entry["transaction_id"].as_str().expect("an id").to_owned())
            .collect();
        let (mut kept, mut lost) = (0, 0);
        for conversion in self.conversions.lock().unwrap().iter() {
            let promised = conversion.statuses.iter().rposition(|(_, at_ms)| *at_ms < until_ms);
            let Some(promised) = promised else { continue };
            let (first, _) = conversion.statuses[0];
            let answer = send(wall(&conversion.app), &conversion.click, first).expect(200).json();
            // A later change may be in the backup, too.
            let allowed = conversion.statuses[promised..].iter().any(|(status, _)| answer["status"] == *status);
            assert!(allowed && answer["duplicate"] == true, "{answer} of {:?}", conversion.statuses);
            assert_eq!(answer["transaction_id"], conversion.id);
            assert!(listed.contains(&conversion.id), "{} is not listed", conversion.id);
            kept += 1;
        }
        let clicks = self.clicks.lock().unwrap();
        let promised: Vec<_> = clicks.iter().filter(|click| click.at_ms < until_ms).collect();
        for click in &promised {
            expect_accepted(send(wall(&click.app), &click.id, "approved"), "approved", false);
        }
        // A lost record may be in a newer backup, so its click is not refused for good.
        for click in clicks.iter().filter(|click| click.at_ms >= until_ms) {
            let status = wall(&click.app).convert(&click.id, "").status;
            assert!(status == 200 || status == 503 && click.is_short, "{status} for {}", click.id);
            lost += u32::from(status == 503);
        }
        for click in self.erased.lock().unwrap().iter().filter(|click| click.at_ms < until_ms) {
            send(wall(&click.app), &click.id, "approved").expect(200);
        }
        for (offer, at_ms) in self.offers.lock().unwrap().iter() {
            let answer = walls[0].signpost.operator("GET", &format!("offers/{offer}"), None);
            assert!(*at_ms >= until_ms || answer.status == 200, "{offer}: {answer:?}");
        }
        println!("{kept} conversions, {} clicks; {lost} lost click records", promised.len());
        assert!(kept > 10 && promised.len() > 5);
        for wall in walls {
            let named = |entry: &Value| entry["user_id"].as_str().is_some_and(|user| user.starts_with(ERASED));
            assert!(!wall.all_entries(100).iter().any(named), "an erased user is listed");
        }
        eventually_within(2 * MINUTE_MS, &Vec::<String>::new(), || {
            walls[0].signpost.stored_with(|text| text.contains(ERASED))
        });
    }
}
