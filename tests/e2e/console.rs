//! The operator's console: who may do what, in pages' calls of the operator under a session.

mod access;
mod audit;
mod search;

use serde_json::{Value, json};

use crate::harness::{Answer, Signpost};

/// The host and the origin of `CONSOLE_URL` in local runs. The address that tests connect to is another, so each request
/// names it.
const HOST: &str = "localhost:8787";
const ORIGIN: &str = "http://localhost:8787";

/// A browser with a page of the console.
pub struct Browser<'s> {
    signpost: &'s Signpost,
    pub cookie: Option<String>,
}

impl Browser<'_> {
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string);
        self.send_as(method, path, "application/json", body.as_deref())
    }

    fn send_as(&self, method: &str, path: &str, media_type: &str, body: Option<&str>) -> Answer {
        let mut headers = vec![("Host", HOST), ("Sec-Fetch-Site", "same-origin")];
        if method != "GET" {
            headers.extend([("Origin", ORIGIN), ("Content-Type", media_type)]);
        }
        headers.extend(self.cookie.as_deref().map(|cookie| ("Cookie", cookie)));
        self.signpost.send(method, path, &headers, body.unwrap_or_default().as_bytes())
    }

    /// The beginning of a POST, whose body the caller sends.
    pub fn post_head(&self, path: &str, length: usize) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {HOST}\r\nSec-Fetch-Site: same-origin\r\nOrigin: {ORIGIN}\r\n\
             Cookie: {}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
            self.cookie.as_deref().unwrap_or_default(),
        )
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body))
    }
}

/// An invite to the console, by the operator's token.
pub fn invite(signpost: &Signpost, name: &str, role: &str) -> String {
    let body = json!({ "name": name, "role": role });
    let invited = signpost.operator("POST", "members/invites", Some(&body)).expect(201).json();
    let invite = invited["invite"].as_str().unwrap();
    assert_eq!(invited["url"], format!("{ORIGIN}/console#invite={invite}"));
    invite.to_owned()
}

/// A browser in which a new member with this role has signed in.
pub fn signed_in<'s>(signpost: &'s Signpost, name: &str, role: &str) -> Browser<'s> {
    let mut browser = Browser { signpost, cookie: None };
    let invite = invite(signpost, name, role);
    let signed_in = browser.post("/v1/console/sign_in", &json!({ "invite": invite })).expect(204);
    let cookie = signed_in.header("Set-Cookie").unwrap();
    assert!(cookie.starts_with("signpost_operator_8787="), "{cookie}");
    browser.cookie = cookie.split(';').next().map(str::to_owned);
    browser
}
