//! Accounts, ledgers and the catalog that are put back to an earlier copy of their files: revoked access stays revoked,
//! and promised rewards are paid.

use serde_json::json;

use super::{Copy, OUTBOXES, SENT_MS, copy, doubts, put_back, settle};
use crate::{
    conversions::{expect_conversion_error, revenue::revenue},
    dashboard::{Browser, signed_in},
    harness::{Setup, Signpost, away_from_midnight, click_keys, eventually_within, expect_accepted, now_ms, seal},
};

/// Copies the object that has a row.
fn copied(signpost: &Signpost, namespace: &str, sql: &str) -> Copy {
    let mut before = Copy::new();
    signpost.restart_after(|| before = copy(signpost, namespace, sql));
    before
}

#[test]
fn an_account_that_is_put_back_lets_nobody_in_again() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("restored-account");
    let owner = signed_in(&signpost, &publisher, "owner");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let signed_out = signed_in(&signpost, &publisher, "developer");
    let invite = owner.post("invites", &json!({ "name": "Bob", "role": "analyst" })).expect(201).json();
    let of_account = "SELECT 1 FROM account WHERE owner = 'restored-account'";
    let before = copied(&signpost, "signpost-accounts", of_account);

    signed_out.post("sign_out", &json!({})).expect(204);
    let members = owner.get("members").expect(200).json();
    let removed = members["members"].as_array().unwrap().iter().find(|member| member["role"] == "analyst");
    let id = removed.unwrap()["member_id"].as_str().unwrap();
    owner.send("DELETE", &format!("/v1/dashboard/members/{id}"), Some(&json!({}))).expect(204);
    let invite_id = invite["invite_id"].as_str().unwrap();
    owner.send("DELETE", &format!("/v1/dashboard/invites/{invite_id}"), Some(&json!({}))).expect(204);
    signpost.restart_after(|| put_back(&before));

    for browser in [&owner, &analyst, &signed_out] {
        browser.get("overview").expect_error(401, "not_signed_in");
    }
    let spend = json!({ "invite": invite["invite"] });
    Browser::new(&signpost).post("sign_in", &spend).expect_error(404, "unknown_invite");
    let owner = signed_in(&signpost, &publisher, "owner");
    let members = owner.get("members").expect(200).json();
    let members = members["members"].as_array().unwrap();
    assert!(members.iter().all(|member| member["member_id"] != id), "{members:?}");
    assert_eq!(owner.get("overview").expect(200).json()["notices"][0]["kind"], "restored");
    let expected = ("members of restored-account".to_owned(), "account_restored".to_owned());
    assert_eq!(doubts(&signpost), [expected]);
}

#[test]
fn a_publisher_that_is_suspended_stays_so_whichever_object_is_put_back() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("restored-suspension");
    let key = publisher.create_key("BI");
    let owner = signed_in(&signpost, &publisher, "owner");
    let of_account = "SELECT 1 FROM account WHERE owner = 'restored-suspension'";
    let objects = [
        ("signpost-accounts", of_account),
        ("signpost-ledger", "SELECT 1 FROM report_keys WHERE label = 'BI'"),
        ("signpost-catalog", "SELECT 1 FROM publishers WHERE id = 'restored-suspension'"),
    ];
    let path = "publishers/restored-suspension";
    let mut before = Vec::new();
    signpost.restart_after(|| {
        before.extend(objects.map(|(namespace, sql)| copy(&signpost, namespace, sql)));
    });
    let document = |approved| json!({ "name": "Restored", "approved": approved });
    signpost.operator("PUT", path, Some(&document(false))).expect(200);
    for copy in &before {
        signpost.restart_after(|| put_back(copy));
        owner.get("overview").expect_error(403, "account_suspended");
        let refused = signpost.report_with(&key.api_key, b"{}");
        refused.expect_error(401, "invalid_api_key");
        let approved = signpost.operator("GET", path, None).expect(200).json()["approved"].clone();
        assert_eq!(approved, false);
    }
}

#[test]
fn a_ledger_that_is_put_back_has_its_keys_and_names_the_days_to_load_again() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("restored-ledger");
    let revoked = publisher.create_key("Revoked");
    let of_ledger = "SELECT 1 FROM report_keys WHERE label = 'Revoked'";
    let before = copied(&signpost, "signpost-ledger", of_ledger);

    publisher.revoke_key(&revoked);
    let new = publisher.create_key("New");
    let facts = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n\
        2026-11-03,10000001,DE,p,banner,house,7.0.0,1,1,1,1,0.5\n";
    publisher.put_facts("2026-11-03", facts).expect(200);
    signpost.restart_after(|| put_back(&before));

    let status = |key: &str| signpost.report_with(key, b"{").status;
    assert_eq!([status(&revoked.api_key), status(&new.api_key)], [401, 400]);
    let expected = ("2026-11-03".to_owned(), "load_again".to_owned());
    assert_eq!(doubts(&signpost), [expected]);
    publisher.put_facts("2026-11-03", facts).expect(200);
}

#[test]
fn a_catalog_that_is_put_back_pays_what_was_promised_since() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("restored-catalog", "79000720", None);
    signpost.refresh();
    let of_catalog = format!("SELECT 1 FROM apps WHERE id = '{}'", wall.app);
    let before = copied(&signpost, "signpost-catalog", &of_catalog);

    // A revision of the terms, an offer and a token that the copy does not have.
    let mut goals = wall.offer()["goals"].clone();
    let promised = goals[0]["payout_usd"].as_f64().unwrap() + 1.0;
    goals[0]["payout_usd"] = json!(promised);
    wall.put_offer(&json!({ "goals": goals }));
    wall.put_offer_as("restored-later", &json!({}));
    let [second, newest] = [wall.issue_token().1, wall.issue_token().1];
    signpost.refresh();
    let click = wall.click_id("u-1");
    let later = seal(&click_keys(), &wall.click_on("restored-later", "u-2", now_ms()));
    let stored = |offer: &str| signpost.operator("GET", &format!("offers/{offer}"), None).expect(200).json();
    let offers = [stored(&wall.id), stored("restored-later")];
    signpost.restart_after(|| put_back(&before));

    let convert = |token: &str, click: &str| signpost.convert(&format!("token={token}&click_id={click}"));
    let paid = expect_accepted(convert(&newest, &click), "approved", false);
    let payout = wall.entry(&paid)["payout"].as_f64().unwrap();
    assert!((payout - promised).abs() < 1e-9, "{payout}");
    expect_accepted(convert(&newest, &later), "approved", false);
    assert_eq!([stored(&wall.id), stored("restored-later")], offers);
    // The two newest tokens are valid, and no other.
    signpost.refresh();
    let status = |token: &str| convert(token, &wall.click_id("u-3")).status;
    assert_eq!([status(&wall.token), status(&second), status(&newest)], [401, 200, 200]);
    let expected = ("catalog".to_owned(), "catalog_restored".to_owned());
    assert_eq!(doubts(&signpost), [expected]);
}

#[test]
fn a_receiver_of_sums_that_is_put_back_gets_them_again() {
    let signpost = Setup::new().start();
    let wall = signpost.sharded_offer_wall("restored-sums", "79000721", None, 1);
    signpost.refresh();
    let publisher = signpost.existing_publisher(&wall.id);
    let expect = |paid: u32| {
        let expected = f64::from(paid) * wall.offer()["goals"][0]["payout_usd"].as_f64().unwrap();
        eventually_within(SENT_MS, &true, || (revenue(&publisher) - expected).abs() < 1e-9);
    };
    wall.pay("u-1");
    expect(1);
    let sent = format!("SELECT 1 FROM sources WHERE source = 'outbox-{}-0'", wall.app);
    let marked = sent.replace("sources", "marks");
    let mut before = Vec::new();
    signpost.restart_after(|| {
        before.push(copy(&signpost, "signpost-ledger", &marked));
        before.push(copy(&signpost, "signpost-counters", &sent));
    });
    wall.pay("u-2");
    expect(2);
    signpost.restart_after(|| before.iter().for_each(put_back));
    wall.pay("u-3");
    expect(3);
    let conversions = || {
        let figures = json!({ "offer_ids": [wall.id] });
        let figures = signpost.operator("POST", "offer_figures", Some(&figures)).expect(200).json();
        figures["figures"][&wall.id]["conversions"].as_u64()
    };
    eventually_within(SENT_MS, &Some(3), || {
        signpost.refresh();
        conversions()
    });
    let mut reasons: Vec<_> = doubts(&signpost).into_iter().map(|(_, reason)| reason).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["counters_restored", "ledger_restored"]);
}

/// The copies agree with each other, so the marks of their batches do not show that takes are lost.
#[test]
fn counters_and_an_outbox_that_are_put_back_together_exceed_no_cap() {
    away_from_midnight();
    let signpost = Setup::new().start();
    let wall = signpost.sharded_offer_wall("restored-both", "79000722", None, 1);
    wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": 4}}));
    signpost.refresh();
    wall.pay("user-0");
    settle(&wall, 1);
    let of_app = format!("SELECT 1 FROM outbox WHERE app = {} AND shard = 0", wall.app);
    let takes = format!("SELECT 1 FROM takes WHERE offer = '{}'", wall.id);
    let mut before = Vec::new();
    signpost.restart_after(|| {
        before.push(copy(&signpost, OUTBOXES, &of_app));
        before.push(copy(&signpost, "signpost-counters", &takes));
    });
    (1..3).for_each(|n| drop(wall.pay(&format!("user-{n}"))));
    settle(&wall, 3);
    signpost.restart_after(|| before.iter().for_each(put_back));
    wall.pay("user-3");
    expect_conversion_error(wall.convert(&wall.click_id("user-4"), ""), 409, "conversion_capped");
}
