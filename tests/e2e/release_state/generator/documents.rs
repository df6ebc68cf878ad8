//! Publishers, apps, advertisers and offers, as the operator put them.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::{
    APP, CLOSED, DISABLED, DOWN_HOST, ENDED_DAYS, FAILING, GONE_HOST, Maker, NEW_SECRET, OF_CLOSED, OF_SUSPENDED,
    PUBLISHER, SIGNED, SUSPENDED, TERMS_DAYS, WELL_HOST, WITHOUT_CALLBACK, callback,
};
use crate::{
    clicks::CLICK,
    harness::{SECRET, with},
    release_state::promises::Promise,
};

/// Offers of the advertiser: the usual one, and those with something of their own.
pub const USUAL: &str = PUBLISHER;
pub const CAPPED: &str = "orbit-capped";
pub const SLOW: &str = "orbit-slow";
pub const SHORT: &str = "orbit-short";
pub const ONCE: &str = "orbit-once";
pub const ENDED: &str = "orbit-ended";
/// The secret that signs clicks.
pub const CLICK_SECRET: &str = "click_secret_of_the_release_state";

pub fn make(maker: &Maker<'_>) {
    let wall = &maker.wall;
    for publisher in [SUSPENDED, CLOSED] {
        let document = json!({"name": publisher, "approved": true});
        maker.signpost.put(&format!("publishers/{publisher}"), &document);
    }
    wall.put_app(&json!({"callback": callback(WELL_HOST, "GET")}));
    maker.put_app(PUBLISHER, WITHOUT_CALLBACK, &json!({"blocked_offers": [ENDED]}));
    let signed = json!({"callback": callback(WELL_HOST, "POST"), "click_secret": CLICK_SECRET});
    maker.put_app(PUBLISHER, SIGNED, &signed);
    for (publisher, app, host) in
        [(PUBLISHER, DISABLED, GONE_HOST), (SUSPENDED, OF_SUSPENDED, DOWN_HOST), (CLOSED, OF_CLOSED, WELL_HOST)]
    {
        maker.put_app(publisher, app, &json!({"callback": callback(host, "GET")}));
    }
    let secrets = json!({"secret": NEW_SECRET, "previous_secret": SECRET});
    let rotating = with(callback(DOWN_HOST, "GET"), &secrets);
    maker.put_app(PUBLISHER, FAILING, &json!({ "callback": rotating }));
    for (offer, changes) in [
        (USUAL, json!({})),
        (CAPPED, json!({"conversion_cap": {"dur": "DAILY", "lim": 1}, "click_cap": {"dur": "DAILY", "lim": 1_000}})),
        (SLOW, json!({"min_seconds_to_convert": 86_400})),
        (SHORT, json!({"click_id_max": 64})),
        (ONCE, json!({"once_per": "user"})),
        (ENDED, json!({})),
    ] {
        let window = json!({"conversion_window_days": super::WINDOW_DAYS});
        wall.put_offer_as(offer, &crate::harness::with(window, &changes));
    }
    maker.signpost.refresh();
}

/// Ends an offer, and changes the terms of another: its first goal pays more, and its last one is retired. Clicks of
/// before keep what they were promised.
pub fn change(maker: &Maker<'_>) {
    // Revisions are seconds.
    thread::sleep(Duration::from_millis(1_100));
    let window = super::WINDOW_DAYS;
    maker.wall.put_offer_as(ENDED, &json!({"active": false, "conversion_window_days": window}));
    let mut goals = maker.wall.offer()["goals"].as_array().expect("goals").clone();
    goals.pop();
    goals[0]["payout_usd"] = json!(2);
    maker.wall.put_offer(&json!({"goals": goals, "conversion_window_days": window}));
    maker.signpost.refresh();
}

/// Promises that the documents stay as they are now.
pub fn promise(maker: &Maker<'_>) {
    let read = |path: &str| maker.signpost.operator("GET", path, None).expect(200).json();
    let stays = |path: &str, what: &str| {
        let promise = Promise::new("documents", what);
        promise.operator("GET", path, &Value::Null).answers(200, &read(path))
    };
    for publisher in [PUBLISHER, SUSPENDED, CLOSED] {
        maker.promise(stays(&format!("publishers/{publisher}"), "A publisher's document stays."));
    }
    for app in [APP, WITHOUT_CALLBACK, SIGNED, DISABLED, FAILING, OF_SUSPENDED, OF_CLOSED] {
        maker.promise(stays(&format!("apps/{app}"), "An app's document stays."));
    }
    maker.promise(stays(&format!("advertisers/{PUBLISHER}"), "An advertiser's document stays."));
    for offer in [USUAL, CAPPED, SLOW, SHORT, ONCE] {
        maker.promise(stays(&format!("offers/{offer}"), "A live offer's document stays."));
    }
    maker.promise_for(ENDED_DAYS, stays(&format!("offers/{ENDED}"), "An ended offer's document stays."));
    let terms = stays(&format!("offers/{USUAL}/terms"), "Superseded terms of an offer stay.");
    maker.promise_for(TERMS_DAYS, terms);

    let reopened = json!({"name": CLOSED, "approved": true});
    let path = format!("publishers/{CLOSED}");
    let closed = Promise::new("documents", "A closed publisher is never opened again.");
    let code = |code: &str| json!({ "code": code });
    maker.promise(closed.operator("PUT", &path, &reopened).answers(409, &code("publisher_closed")));

    let click = |offer: &str, app: &str| format!("{CLICK}?rid={offer}-1&app={app}&user_id=u-later");
    let clicks = |what: &str, path: &str| Promise::new("documents", what).ask("GET", path, &[], &Value::Null);
    let live = clicks("A click on a live offer is redirected to the advertiser.", &click(USUAL, APP));
    let location = format!("https://adv.example/t/{USUAL}?clickid=");
    maker.promise(live.answers(302, &Value::Null).header("Location", &location));
    let ended = clicks("A click on an ended offer is refused.", &click(ENDED, APP));
    maker.promise_for(ENDED_DAYS, ended.answers(410, &code("offer_ended")));
    let unsigned = clicks("A signing app's click without a signature is refused.", &click(USUAL, SIGNED));
    maker.promise(unsigned.answers(403, &code("invalid_signature")));
    let sig = crate::clicks::sign(CLICK_SECRET, SIGNED, "u-later", None);
    let signed = format!("{}&sig={sig}", click(USUAL, SIGNED));
    let signed = clicks("A signing app's signed click is redirected.", &signed);
    maker.promise(signed.answers(302, &Value::Null).header("Location", &location));
    let suspended = clicks("A click of a suspended publisher's app is refused.", &click(USUAL, OF_SUSPENDED));
    maker.promise(suspended.answers(403, &code("publisher_not_approved")));
}
