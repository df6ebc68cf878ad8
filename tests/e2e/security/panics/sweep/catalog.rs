//! Panics of the catalog: documents are complete, and issued credentials work.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};

use super::{Sweep, faulty};
use crate::harness::{Receiver, callback};

#[test]
fn wherever_the_catalog_panics_documents_are_complete_and_issued_credentials_work() {
    let signpost = faulty().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("panics-catalog", "79000731", Some(&receiver));
    let sweep = Sweep::new(&signpost);
    let read = |path: &str| signpost.operator("GET", path, None).expect(200).json();
    let put = |path: &str, document: &Value| {
        let answer = signpost.operator("PUT", path, Some(document));
        if answer.status == 200 {
            assert_eq!(read(path)["name"], document["name"], "{answer:?}");
        }
        answer
    };
    sweep.run(
        "a publisher",
        &[],
        |number| json!({"name": format!("n-{number}"), "approved": true}),
        |document| put("publishers/panics-catalog", document),
    );
    let app = |number: usize| {
        let url = format!("{}/cb-{number}", receiver.base());
        json!({
            "publisher_id": "panics-catalog", "name": format!("n-{number}"), "platform": "android",
            "currency": {"name": "Coins", "per_usd": 1_000, "decimals": 0, "rounding": "down"},
            "callback": callback(&url, "GET")
        })
    };
    let last = Cell::new(0);
    sweep.run(
        "an app",
        &[],
        |number| {
            last.set(number);
            app(number)
        },
        |document| put("apps/79000731", document),
    );
    sweep.run(
        "an offer",
        &[],
        |number| {
            let mut offer = read("offers/panics-catalog");
            offer
                .as_object_mut()
                .unwrap()
                .retain(|member, _| !["offer_id", "terms_revision", "updated_at"].contains(&member.as_str()));
            offer["name"] = json!(format!("n-{number}"));
            offer
        },
        |document| put("offers/panics-catalog", document),
    );
    sweep.run("an import", &[], |number| {
        let line = |kind: &str| json!({"kind": kind, "id": "panics-import", "name": format!("n-{number}"), "approved": true});
        let mut advertiser = line("advertiser");
        advertiser.as_object_mut().unwrap().remove("approved");
        (number, format!("{}\n{advertiser}\n", line("publisher")))
    }, |(number, lines)| {
        let answer = signpost.import(lines);
        if answer.status == 200 {
            for path in ["publishers/panics-import", "advertisers/panics-import"] {
                assert_eq!(read(path)["name"], format!("n-{number}"));
            }
        }
        answer
    });
    let (pub_key, token) = (RefCell::new(String::new()), RefCell::new(String::new()));
    sweep.run(
        "a Pub-Key",
        &[],
        |_| (),
        |()| {
            let answer = signpost.operator("POST", "publishers/panics-catalog/pub_key", None);
            if answer.status == 201 {
                pub_key.replace(answer.json()["pub_key"].as_str().unwrap().to_owned());
            }
            answer
        },
    );
    sweep.run(
        "a token",
        &[],
        |_| (),
        |()| {
            let answer = signpost.operator("POST", "advertisers/panics-catalog/token", None);
            if answer.status == 201 {
                token.replace(answer.json()["token"].as_str().unwrap().to_owned());
            }
            answer
        },
    );
    let renamed = |number: usize| {
        put("advertisers/panics-catalog", &json!({"name": format!("n-{number}")})).expect(200);
    };
    sweep.run("a refresh", &[], renamed, |()| signpost.operator("POST", "refresh", None));
    // The newest Pub-Key and token work, and rewards use the last callback settings.
    signpost.refresh();
    let body = json!({"page": 1, "size": 1});
    signpost.offers("79000731", &pub_key.borrow(), &body).expect(200);
    let click = wall.click_id("u-1");
    signpost.convert(&format!("click_id={click}&token={}", token.borrow())).expect(200);
    let received = receiver.wait(1);
    assert_eq!(received[0].path(), format!("/cb-{}", last.get()));
    // Publications follow each change and are seen with it, but need not run again at once.
    sweep.report(50);
}
