//! The accounts of a publisher and of the operator's people: members, passkeys, sessions and an open invite.

use domain::accounts::webauthn::Algorithm;
use serde_json::{Value, json};

use super::{Maker, PUBLISHER};
use crate::{
    console,
    dashboard::{self, Browser, HOST, authenticator::Authenticator, passkeys},
    release_state::promises::{Expected, Promise, SignIn},
};
use domain::model::time::{DAY_MS, HOUR_MS};

/// A session ends after 12 hours without use, and a stored use may be 10 minutes old.
const SESSION_MS: i64 = 11 * HOUR_MS;
const INVITE_MS: i64 = 7 * DAY_MS;

const OWN_ALARMS: &str = "https://alarms.orbit-games.example/own";
const ALARMS: &str = "https://alarms.orbit-games.example/hook";

/// Promises that a passkey signs in and reads this.
fn passkey(maker: &Maker<'_>, site: &str, passkey: &Authenticator, seed: u8, read: (&str, &Value)) {
    let mut promise = Promise::new("members", "A member signs in by the passkey, and reads what is the member's.");
    promise.sign_in = Some(SignIn {
        site: site.to_owned(),
        publisher: (site == "dashboard").then(|| PUBLISHER.to_owned()),
        seed,
        handle: passkey.handle().to_owned(),
        path: format!("/v1/{site}/{}", read.0),
    });
    promise.answer = Some(Expected { status: 200, has: read.1.clone(), ..Expected::default() });
    maker.promise(promise);
}

pub fn make(maker: &Maker<'_>) {
    let signpost = maker.signpost;
    let publisher = signpost.existing_publisher(PUBLISHER);
    let (owner, authenticator) = passkeys::join(signpost, &publisher, "Ada Owner", "owner", 11);
    let overview = json!({"member": {"name": "Ada Owner", "role": "owner"}, "publisher": {"publisher_id": PUBLISHER}});
    passkey(maker, "dashboard", &authenticator, 11, ("overview", &overview));
    let own = json!({ "url": OWN_ALARMS });
    owner.send("PUT", "/v1/dashboard/alarms", Some(&own)).expect(200);
    let address = json!({ "address": own });
    passkey(maker, "dashboard", &authenticator, 11, ("alarms", &address));
    let developer = dashboard::signed_in(signpost, &publisher, "developer");
    for role in ["analyst", "user_support"] {
        dashboard::signed_in(signpost, &publisher, role);
    }
    let invite = dashboard::invite(&publisher, "Bob Invited", "analyst");

    let mut admin = Browser::at(signpost, "console");
    let invited = console::invite(signpost, "Grace Admin", "admin");
    let authenticator = passkeys::spend(Algorithm::EdDsa, &mut admin, &invited, 12);
    console::signed_in(signpost, "Sam Support", "support");
    let members = json!({"members": [
        {"name": "Grace Admin", "role": "admin", "passkeys": 1}, {"name": "Sam Support", "role": "support"},
    ]});
    passkey(maker, "console", &authenticator, 12, ("members", &members));

    let members = json!({"members": [
        {"name": "Ada Owner", "role": "owner", "passkeys": 1}, {"name": "The developer", "role": "developer"},
        {"name": "The analyst", "role": "analyst"}, {"name": "The user_support", "role": "user_support"},
    ]});
    let path = format!("publishers/{PUBLISHER}/members");
    let listed = Promise::new("members", "The members of an account stay, with their roles.");
    maker.promise(listed.operator("GET", &path, &Value::Null).answers(200, &members));
    let open = Promise::new("invites", "An open invite is shown to whom it was given.");
    let open = open.ask(
        "POST",
        "/v1/dashboard/invite",
        &[("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Origin", dashboard::ORIGIN)],
        &json!({ "invite": invite }),
    );
    let shown = json!({"member_name": "Bob Invited", "role": "analyst"});
    maker.promise(open.answers(200, &shown).until(maker.began_ms + INVITE_MS));
    for (browser, call) in [(&owner, "overview"), (&developer, "overview"), (&admin, "session")] {
        let (cookie, path) = (browser.cookie.as_deref().expect("a cookie"), browser.path(call));
        let headers = [("Host", HOST), ("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie)];
        let session = Promise::new("sessions", "A session stays open while it is used.");
        let session = session.ask("GET", &path, &headers, &Value::Null);
        maker.promise(session.answers(200, &Value::Null).until(maker.began_ms + SESSION_MS));
    }

    signpost.issue_pub_key(PUBLISHER);
    let former = maker.signpost.issue_pub_key(PUBLISHER);
    let reason = json!({"reason": "It was published."});
    developer.post("pub_key/request", &reason).expect(201);
    let path = format!("publishers/{PUBLISHER}/pub_key");
    let key = json!({"pub_key": former, "request": {"requested_by": "The developer", "reason": "It was published."}});
    let open = Promise::new("pub keys", "A Pub-Key stays, and so does the request for another one.");
    maker.promise(open.operator("GET", &path, &Value::Null).answers(200, &key));

    signpost.operator("PUT", "alarms", Some(&json!({ "url": ALARMS }))).expect(200);
    let alarms = Promise::new("documents", "The address of the operator's alarms stays.");
    let address = json!({"address": { "url": ALARMS }});
    maker.promise(alarms.operator("GET", "alarms", &Value::Null).answers(200, &address));
}
