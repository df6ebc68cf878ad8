//! Clicks need no credential. Made-up ones of one app do not spoil the figures that all publishers see.

use std::thread;

use serde_json::{Value, json};

use crate::{
    clicks::{click_id_at, expect_redirect},
    harness::{ANDROID_APP, OfferWall, Setup, Signpost, away_from_midnight, eventually, expect_accepted},
};

/// How many clicks are made up.
const MADE_UP: usize = 400;
const THREADS: usize = 8;

/// The `cr` and `epc` that the list shows of an offer, after a refresh.
pub fn rates(signpost: &Signpost, pub_key: &str, offer: &str) -> [Option<f64>; 2] {
    signpost.refresh();
    let filter = json!([{"dim": "offer_id", "match": {"type": "exact", "value": [offer]}}]);
    let listed = signpost.list(ANDROID_APP, pub_key, &filter);
    ["cr", "epc"].map(|name| listed[0]["metrics"][0][name].as_f64())
}

/// The clicks of an offer in the console, and its rates.
fn figures(signpost: &Signpost, pub_key: &str, offer: &str) -> (Value, [Option<f64>; 2]) {
    let rates = rates(signpost, pub_key, offer);
    let asked = json!({ "offer_ids": [offer] });
    let shown = signpost.operator("POST", "offer_figures", Some(&asked)).expect(200).json();
    (shown["figures"][offer]["clicks"].clone(), rates)
}

#[test]
fn four_hundred_made_up_clicks_of_one_app_move_no_figure_by_a_tenth() {
    away_from_midnight();
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let wall = |n: u32| signpost.unpublished_offer_wall(&format!("figures-{n}"), &format!("7900091{n}"), None);
    let walls: Vec<OfferWall<'_>> = (0..10).map(wall).collect();
    signpost.refresh();
    let (paying, attacked) = (&walls[0], &walls[3].app);
    let click = |app: &str, user: &str| {
        let query = format!("rid={}&app={app}&user_id={user}", paying.goal("1"));
        expect_redirect(signpost.click(&query, "DE"))
    };
    for wall in &walls {
        let id = click_id_at(&click(&wall.app, "somebody"));
        expect_accepted(paying.convert(&id, ""), "approved", false);
    }
    let before = [Some(1.0), Some(1.25)];
    eventually(&(json!(10), before), || figures(&signpost, &pub_key, &paying.id));

    thread::scope(|scope| {
        let click = &click;
        for thread in 0..THREADS {
            scope.spawn(move || {
                for n in 0..MADE_UP / THREADS {
                    click(attacked, &format!("nobody-{thread}-{n}"));
                }
            });
        }
    });
    // The console shows all of them.
    eventually(&json!(410), || figures(&signpost, &pub_key, &paying.id).0);
    let (_, after) = figures(&signpost, &pub_key, &paying.id);
    for (before, after) in before.into_iter().zip(after) {
        let moved = (after.unwrap() / before.unwrap() - 1.0).abs();
        assert!(moved < 0.1, "{before:?} {after:?}");
    }
}
