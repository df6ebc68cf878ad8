//! Clicks and conversions in every state, and their callbacks.

use serde_json::{Value, json};

use super::{
    APP, CLICK_DAYS, CLOSED, DISABLED, DOWN_HOST, FAILING, GONE_HOST, Maker, NEW_SECRET, OF_CLOSED, OF_SUSPENDED,
    PUBLISHER, SIGNED, SUSPENDED, TERMS_DAYS, WELL_HOST, WINDOW_DAYS, WITHOUT_CALLBACK,
    documents::{self, CAPPED, CLICK_SECRET, ONCE, SHORT, SLOW, USUAL},
};
use crate::{
    clicks::{click_id_at, sign},
    harness::{CONVERSION, SECRET, click_keys, eventually_within, expect_accepted, now_ms, seal},
    release_state::promises::{Callback, Promise},
};
use domain::model::time::{DAY_MS, MINUTE_MS};

fn conversion(what: &str) -> Promise {
    Promise::new("conversions", what)
}

impl Maker<'_> {
    /// A postback of the advertiser for a click.
    fn postback(&self, promise: Promise, click: &str, more: &str) -> Promise {
        let path = format!("{CONVERSION}?click_id={click}&token={}{more}", self.wall.token);
        promise.ask("GET", &path, &[], &Value::Null)
    }

    /// The log's entry of a conversion.
    fn entry(&self, what: &str, app: &str, id: &str, has: &Value) {
        let path = format!("apps/{app}/conversions/{id}");
        self.promise_for(CLICK_DAYS, conversion(what).operator("GET", &path, &Value::Null).answers(200, has));
    }

    pub fn callback(&self, what: &str, id: &str, host: &str, is_sent: bool) -> Promise {
        let mut promise = Promise::new("callbacks", what);
        promise.callback =
            Some(Callback { transaction_id: id.to_owned(), host: host.to_owned(), secret: SECRET.to_owned(), is_sent });
        promise
    }

    fn attention(&self, kind: &str, subject: &str) {
        let item = Promise::new("attention", "An item of attention is open until its state ends.");
        let path = format!("attention?kind={kind}");
        let items = json!({"items": [{"kind": kind, "subject": subject}]});
        self.promise_for(CLICK_DAYS, item.operator("GET", &path, &Value::Null).answers(200, &items));
    }

    fn state(&self, app: &str, id: &str) -> Value {
        let path = format!("apps/{app}/conversions/{id}");
        self.signpost.operator("GET", &path, None).expect(200).json()["state"].clone()
    }

    fn becomes(&self, app: &str, id: &str, state: &str) {
        eventually_within(MINUTE_MS, &json!(state), || self.state(app, id));
    }

    /// Pays a new click of a user, and promises that it is paid once.
    pub fn pay(&self, offer: &str, app: &str, user: &str) -> String {
        let click = self.click(offer, app, user);
        let id = expect_accepted(self.wall.convert(&click, ""), "approved", false);
        self.is_paid_once(&click, &id);
        id
    }

    pub fn is_paid_once(&self, click: &str, id: &str) {
        let repeat = conversion("A click that was paid is not paid again: a repeat is a duplicate.");
        let duplicate = json!({"transaction_id": id, "status": "approved", "duplicate": true});
        self.promise_for(CLICK_DAYS, self.postback(repeat, click, "").answers(200, &duplicate));
        let late = conversion("After 400 days a repeat is refused, also when nobody remembers the first one.");
        let closed = self.postback(late, click, "").answers(410, &json!({"code": "conversion_window_closed"}));
        self.promise(closed.from(now_ms() + (CLICK_DAYS + 1) * DAY_MS));
    }
}

/// Conversions whose state a repeat must not change.
fn settled(maker: &Maker<'_>) {
    let wall = &maker.wall;
    let delivered = maker.pay(USUAL, APP, "u-delivered");
    maker.becomes(APP, &delivered, "delivered");
    maker.entry(
        "A delivered reward stays in the log.",
        APP,
        &delivered,
        &json!({"state": "delivered", "payout": 1.25}),
    );
    maker.promise(maker.callback("A callback that arrived is not sent again.", &delivered, WELL_HOST, false));
    for (first, second, answered) in [("approved", "reversed", "reversed"), ("pending", "rejected", "rejected")] {
        let click = maker.click(USUAL, APP, &format!("u-{answered}"));
        let id = expect_accepted(wall.convert(&click, &format!("&status={first}")), first, false);
        expect_accepted(wall.convert(&click, &format!("&status={second}")), answered, false);
        let stays = conversion("A conversion that was taken back or rejected is not paid by a repeat.");
        let duplicate = json!({"transaction_id": id, "status": answered, "duplicate": true});
        maker.promise_for(CLICK_DAYS, maker.postback(stays, &click, "").answers(200, &duplicate));
    }
    let held = maker.click(SLOW, APP, "u-held");
    let id = expect_accepted(wall.convert(&held, ""), "pending", false);
    let stays = conversion("A held conversion waits for the operator.");
    let duplicate = json!({"transaction_id": id, "status": "pending", "duplicate": true});
    maker.promise_for(CLICK_DAYS, maker.postback(stays, &held, "").answers(200, &duplicate));
    maker.entry("A held conversion is in the log.", APP, &id, &json!({"status": "held", "code": "too_fast"}));
    maker.attention("held", &id);

    maker.pay(CAPPED, APP, "u-in-cap");
    let capped = maker.click(CAPPED, APP, "u-over-cap");
    wall.convert(&capped, "").expect_error(409, "conversion_capped");
    let entry = wall.entries("reason=conversion_capped")[0].clone();
    let id = entry["transaction_id"].as_str().expect("an id");
    maker.entry(
        "A refused conversion is in the log.",
        APP,
        id,
        &json!({"state": "refused", "code": "conversion_capped"}),
    );
    maker.attention("capped", id);

    let taken = maker.click(USUAL, APP, "u-txn");
    let paid = expect_accepted(wall.convert(&taken, "&txn=order-17"), "approved", false);
    maker.is_paid_once(&taken, &paid);
    let other = maker.click(USUAL, APP, "u-other-txn");
    let claimed = maker.postback(conversion("A txn pays one click."), &other, "&txn=order-17");
    maker.promise_for(WINDOW_DAYS, claimed.answers(409, &json!({"code": "duplicate_txn"})));
    maker.pay(ONCE, APP, "u-once");
    let again = maker.click(ONCE, APP, "u-once");
    let once = maker.postback(conversion("A user is paid once for a goal."), &again, "");
    maker.promise_for(WINDOW_DAYS, once.answers(409, &json!({"code": "already_rewarded"})));

    // Never converted again, so that its sums stay.
    let unsent = maker.pay(USUAL, WITHOUT_CALLBACK, "u-without-callback");
    maker.entry("A reward without a callback stays.", WITHOUT_CALLBACK, &unsent, &json!({"state": "no_endpoint"}));
}

/// Clicks under terms that change afterwards, and clicks that convert only under later releases.
fn clicked(maker: &Maker<'_>) {
    let wall = &maker.wall;
    let convert = |what: &str, click: &str, more: &str, days: i64| {
        let promise = maker.postback(conversion(what), click, more);
        maker.promise_for(days, promise.answers(200, &json!({"status": "approved"})));
    };
    let log = |user: &str, payout: f64, days: i64| {
        let promise = conversion("It is paid by the terms of its click.");
        let promise = promise.operator("POST", &format!("apps/{APP}/conversions"), &json!({ "user_id": user }));
        let entry = json!({"conversions": [{"status": "approved", "payout": payout}]});
        maker.promise_for(days, promise.answers(200, &entry));
    };
    let pending = maker.click(USUAL, APP, "u-pending");
    expect_accepted(wall.convert(&pending, "&status=pending"), "pending", false);
    let early = maker.click(USUAL, APP, "u-early");
    let retired = maker.click(USUAL, APP, "u-retired");
    documents::change(maker);
    let late = maker.click(USUAL, APP, "u-late");
    let short = maker.click(SHORT, APP, "u-short");
    assert!(short.len() <= 64 && late.len() > 64, "{short} {late}");
    let exp = None;
    let signed =
        format!("rid={USUAL}-1&app={SIGNED}&user_id=u-signed&sig={}", sign(CLICK_SECRET, SIGNED, "u-signed", exp));
    let signed = click_id_at(&maker.signpost.click(&signed, "DE").expect(302));

    convert("A pending conversion is paid when it is approved.", &pending, "", CLICK_DAYS);
    log("u-pending", 1.25, CLICK_DAYS);
    convert("A click converts after the offer's terms have changed.", &early, "", WINDOW_DAYS);
    log("u-early", 1.25, WINDOW_DAYS);
    convert("A click converts on a goal that was retired since.", &retired, "&goal=purchase", WINDOW_DAYS);
    log("u-retired", 99.999_999, WINDOW_DAYS);
    convert("A click converts.", &late, "", WINDOW_DAYS);
    log("u-late", 2.0, WINDOW_DAYS);
    convert("A click with a short click id converts.", &short, "", WINDOW_DAYS);
    log("u-short", 1.25, WINDOW_DAYS);
    convert("A signed click converts.", &signed, "", WINDOW_DAYS);

    // As if the catalog had lost terms: these revisions never were.
    let lost = [1_000, 2_000].map(|before| {
        let mut click = wall.click("u-lost", now_ms());
        click.offer_terms -= before;
        let id = seal(&click_keys(), &click);
        wall.convert(&id, "").expect_error(503, "unavailable");
        (click.offer_terms, id)
    });
    eventually_within(MINUTE_MS, &json!(2), || {
        let open = maker.signpost.operator("GET", "attention?kind=terms_lost", None).expect(200).json();
        open["counts"]["terms_lost"].clone()
    });
    maker.attention("terms_lost", &format!("offer {USUAL} {}", lost[0].0));
    let terms = json!({
        "advertiser_id": PUBLISHER, "conversion_window_days": WINDOW_DAYS, "once_per": "click",
        "goals": [{"id": wall.goal("1"), "gl_val": "install", "payout_usd": 7.5}],
    });
    let path = format!("offers/{USUAL}/terms/{}", lost[1].0);
    let enter = Promise::new("documents", "Lost terms can be entered.");
    maker.promise_for(TERMS_DAYS - 1, enter.operator("PUT", &path, &terms).answers(200, &Value::Null));
    convert("A postback whose terms were lost is paid when they are entered.", &lost[1].1, "", WINDOW_DAYS);
    log("u-lost", 7.5, WINDOW_DAYS);
}

fn tokens(maker: &Maker<'_>) {
    let wall = &maker.wall;
    let (revoked_id, revoked) = wall.issue_token();
    let path = format!("advertisers/{PUBLISHER}/token/{revoked_id}");
    maker.signpost.operator("DELETE", &path, None).expect(204);
    let click = maker.click(USUAL, APP, "u-token");
    let id = expect_accepted(wall.convert(&click, ""), "approved", false);
    let with = |what: &str, token: &str| {
        let path = format!("{CONVERSION}?click_id={click}&token={token}");
        Promise::new("tokens", what).ask("GET", &path, &[], &Value::Null)
    };
    let valid = with("A token stays valid.", &wall.token);
    maker.promise_for(CLICK_DAYS, valid.answers(200, &json!({ "transaction_id": id })));
    // An invalid token is refused before the click is checked.
    let invalid = with("A revoked token stays revoked.", &revoked);
    maker.promise(invalid.answers(401, &json!({"code": "invalid_token"})));
}

pub fn make(maker: &Maker<'_>) {
    // Too old today already, unlike the late repeats above.
    let old = maker.wall.click_id_at("u-old", now_ms() - CLICK_DAYS * DAY_MS);
    let refused = maker.postback(conversion("A click that is 400 days old is never paid."), &old, "");
    maker.promise(refused.answers(410, &json!({"code": "conversion_window_closed"})));
    settled(maker);
    clicked(maker);
    tokens(maker);
    let erased = maker.pay(USUAL, APP, "u-erased");
    maker.becomes(APP, &erased, "delivered");
    maker.wall.erase("u-erased");
    maker.entry("A user that was erased is not named.", APP, &erased, &json!({ "user_id": null }));
    let user = json!({"user_id": "u-erased"});
    let found = Promise::new("conversions", "Nothing is found of a user that was erased.");
    let found = found.operator("POST", &format!("apps/{APP}/conversions"), &user);
    maker.promise(found.answers(200, &json!({"conversions": []})).lacks(&erased));
    let closed = maker.pay(USUAL, OF_CLOSED, "u-of-closed");
    maker.becomes(OF_CLOSED, &closed, "delivered");
    maker.signpost.put(&format!("publishers/{CLOSED}"), &json!({"name": CLOSED, "approved": false, "closed": true}));
    maker.entry("A closed publisher's users are erased.", OF_CLOSED, &closed, &json!({ "user_id": null }));
}

/// Callbacks that do not arrive. This comes last, because they are tried again.
pub fn fail(maker: &Maker<'_>) {
    let dead = maker.pay(USUAL, FAILING, "u-never-again");
    maker.becomes(FAILING, &dead, "dead");
    maker.attention("dead", &dead);
    maker.promise(maker.callback("A callback that was given up is not sent.", &dead, DOWN_HOST, false));
    let off = maker.pay(USUAL, DISABLED, "u-gone");
    let endpoint = || {
        let path = format!("apps/{DISABLED}/callback");
        maker.signpost.operator("GET", &path, None).expect(200).json()["state"].clone()
    };
    eventually_within(MINUTE_MS, &json!("disabled"), endpoint);
    maker.attention("disabled", "callback");
    maker.promise(maker.callback("An endpoint that is off gets no callbacks.", &off, GONE_HOST, false));

    let before = maker.receiver.count();
    let of_suspended = maker.click(USUAL, OF_SUSPENDED, "u-suspended");
    let waits = maker.pay(USUAL, OF_SUSPENDED, "u-waits");
    maker.receiver.wait(before + 1);
    maker.signpost.put(&format!("publishers/{SUSPENDED}"), &json!({"name": SUSPENDED, "approved": false}));
    let held = expect_accepted(maker.wall.convert(&of_suspended, ""), "pending", false);
    let entry = json!({"status": "held", "code": "suspended"});
    maker.entry("A suspended publisher's conversion is held.", OF_SUSPENDED, &held, &entry);
    maker.promise(maker.callback("A suspended publisher gets no callbacks.", &waits, DOWN_HOST, false));

    let before = maker.receiver.count();
    let waiting = maker.pay(USUAL, FAILING, "u-waiting");
    maker.receiver.wait(before + 1);
    for secret in [SECRET, NEW_SECRET] {
        let mut sent = maker.callback("A callback that waits is sent.", &waiting, DOWN_HOST, true);
        let callback = sent.callback.as_mut().expect("a callback");
        callback.secret = secret.to_owned();
        maker.promise_for(CLICK_DAYS, sent);
    }
}
