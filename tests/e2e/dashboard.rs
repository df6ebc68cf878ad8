//! The dashboard's interface over HTTP: who is let in, and that its figures are those of the report keys.

mod access;
mod accounts;
pub mod activity;
mod apps;
pub mod authenticator;
mod days;
mod exports;
mod figures;
mod hammer;
mod keys;
mod malformed;
mod offers;
mod pages;
mod passkey_keys;
pub mod passkeys;
mod recovery;
mod sessions;
mod tester;

use serde_json::{Value, json};

use crate::harness::{Answer, Publisher, Signpost};

/// The host and the origin of `DASHBOARD_URL` in local runs. The address that tests connect to is another, so each request
/// names the host as a browser would.
pub const HOST: &str = "localhost:8787";
pub const ORIGIN: &str = "http://localhost:8787";

/// A browser: what it sends by itself, its cookie, and the publisher that its page shows.
pub struct Browser<'s> {
    signpost: &'s Signpost,
    /// `dashboard`, or `console` for a page of the operator's people.
    site: &'s str,
    pub cookie: Option<String>,
    pub publisher: Option<String>,
}

impl<'s> Browser<'s> {
    pub fn new(signpost: &'s Signpost) -> Self {
        Self::at(signpost, "dashboard")
    }

    pub fn at(signpost: &'s Signpost, site: &'s str) -> Self {
        Self { signpost, site, cookie: None, publisher: None }
    }

    /// Sends what a page of the dashboard sends.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.send_with(method, path, &[], body)
    }

    /// The same with further headers.
    fn send_with(&self, method: &str, path: &str, further: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut headers = vec![("Host", HOST), ("Sec-Fetch-Site", "same-origin")];
        if method != "GET" {
            headers.extend([("Origin", ORIGIN), ("Content-Type", "application/json")]);
        }
        headers.extend(self.cookie.as_deref().map(|cookie| ("Cookie", cookie)));
        headers.extend(self.publisher.as_deref().map(|shown| ("X-Publisher", shown)));
        headers.extend_from_slice(further);
        self.signpost.send(method, path, &headers, body.as_bytes())
    }

    /// The head of a POST with a body of this length, for a connection of a test's own.
    pub fn post_head(&self, path: &str, length: usize) -> String {
        format!(
            "POST /v1/dashboard/{path} HTTP/1.1\r\nHost: {HOST}\r\nSec-Fetch-Site: same-origin\r\nOrigin: {ORIGIN}\r\n\
             Cookie: {}\r\nX-Publisher: {}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            self.cookie.as_deref().unwrap_or_default(),
            self.publisher.as_deref().unwrap_or_default(),
        )
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", &self.path(path), None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", &self.path(path), Some(body))
    }

    /// The path of a call of the browser's site.
    pub fn path(&self, call: &str) -> String {
        format!("/v1/{}/{call}", self.site)
    }

    /// Signs in by an invite, whose publisher the page shows from then on.
    #[track_caller]
    pub fn sign_in(&mut self, invite: &str) {
        let answer = self.post("sign_in", &json!({ "invite": invite })).expect(204);
        self.keep_cookie(&answer);
        self.publisher = invite.split('_').nth(2).map(str::to_owned);
    }

    /// Keeps the cookie of an answer that sets the browser's sessions.
    #[track_caller]
    fn keep_cookie(&mut self, answer: &Answer) {
        let cookie = answer.header("Set-Cookie").expect("a cookie");
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        let (cookie, _) = cookie.split_once(';').expect("attributes");
        self.cookie = Some(cookie.to_owned());
    }
}

/// Invites somebody by the operator, and returns the invite.
#[track_caller]
pub fn invite(publisher: &Publisher<'_>, name: &str, role: &str) -> String {
    let body = json!({ "name": name, "role": role });
    let answer = publisher.operator("POST", "invites", Some(&body)).expect(201).json();
    let invite = answer["invite"].as_str().expect("an invite");
    assert_eq!(answer["url"], format!("{ORIGIN}/dashboard#invite={invite}"));
    invite.to_owned()
}

/// A browser that is signed in to a publisher's account.
pub fn signed_in<'s>(signpost: &'s Signpost, publisher: &Publisher<'_>, role: &str) -> Browser<'s> {
    let mut browser = Browser::new(signpost);
    browser.sign_in(&invite(publisher, &format!("The {role}"), role));
    browser
}
