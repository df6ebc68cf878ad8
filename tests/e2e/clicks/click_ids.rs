//! Click ids: their content, their maximum length, and rotation of the keys that seal them.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::json;

use crate::{
    clicks::{CLICK, RIGHT, click_id_at, expect_redirect, keys},
    harness::{Setup, Signpost, default_setting, demo, now_ms},
};
use domain::{
    model::{AppId, Country},
    tracking::{
        click::Click,
        click_id::{self, DEFAULT_MAX, Nonce, OpenError, Opened, SHORT_MAX, Sealed},
        keys::KeyRing,
    },
};

/// The tolerance between the test's clock and workerd's, including the time of the request.
const DRIFT_MS: i64 = 5_000;

#[test]
fn a_click_id_contains_the_whole_click() {
    let signpost = demo();
    let (gaid, idfa) = ("38400000-8cf0-11bd-b23e-10b96e40000d", "6D92078A-8246-4BA4-AE5B-76104861E7DC");
    // The query after `rid`, `app` and `user_id`; then `gaid`, `idfa`, `c1` to `c5`, `placement`.
    let table: [(&str, [Option<&str>; 8]); 5] = [
        ("", [None; 8]),
        ("&gaid=&idfa=&c1=&c2=&c3=&c4=&c5=&placement=", [None; 8]),
        (
            &format!("&gaid={gaid}&idfa={idfa}&c1=a&c2=@&c3=0&c4=007&c5=x_y-z.&placement=home.top"),
            [Some(gaid), Some(idfa), Some("a"), Some("@"), Some("0"), Some("007"), Some("x_y-z."), Some("home.top")],
        ),
        ("&c3=only", [None, None, None, None, Some("only"), None, None, None]),
        ("&placement=p&c5=%40%2E", [None, None, None, None, None, None, Some("@."), Some("p")]),
    ];
    let goals = [("410271", "23817"), ("410276", "23817"), ("58213", "24106"), ("1190062", "80617")];
    let mut nonces = BTreeSet::new();
    let revisions = RefCell::new(BTreeMap::new());
    let terms_of = |path: &str| {
        let read = || signpost.operator("GET", path, None).expect(200).json()["terms_revision"].as_i64();
        *revisions.borrow_mut().entry(path.to_owned()).or_insert_with(|| read().unwrap())
    };
    for (goal, offer) in goals {
        for app in ["10000001", "10000002", "10000003"] {
            for user_id in ["u-1", "12345678901234567890", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "_@-."] {
                for (rest, texts) in table {
                    let country = if rest.is_empty() { "XX" } else { "DE" };
                    let query = format!("rid={goal}&app={app}&user_id={user_id}{rest}");
                    let answer = expect_redirect(signpost.click(&query, country));
                    let [gaid, idfa, c1, c2, c3, c4, c5, placement] = texts.map(|text| text.map(Into::into));
                    let id = click_id_at(&answer);
                    let Ok(Opened::Whole { click, nonce }) = click_id::open(&keys(), &id) else {
                        panic!("{answer:?}");
                    };
                    let expected = Click {
                        offer: offer.into(),
                        goal: goal.into(),
                        app: AppId::parse(app).unwrap(),
                        shard: click.shard,
                        offer_terms: terms_of(&format!("offers/{offer}")),
                        app_terms: terms_of(&format!("apps/{app}")),
                        user_id: user_id.into(),
                        gaid,
                        idfa,
                        custom: [c1, c2, c3, c4, c5],
                        placement,
                        country: Country::parse(country),
                        clicked_at_ms: click.clicked_at_ms,
                    };
                    assert_eq!(click, expected, "{answer:?}");
                    assert!((now_ms() - click.clicked_at_ms).abs() < DRIFT_MS, "{answer:?}");
                    assert!(nonces.insert(nonce), "two clicks have one nonce: {answer:?}");
                }
            }
        }
    }
}

#[test]
fn a_click_that_does_not_fit_gets_a_short_id_and_a_stored_record() {
    let signpost = Setup::new().start_with_fixtures().0;
    let maxima = [None, Some(50), Some(64), Some(128), Some(255), Some(1_000)];
    let offer = |max: Option<u16>| format!("m-{}", max.unwrap_or(0));
    for max in maxima {
        signpost.put_offer(&offer(max), &json!({"click_id_max": max}));
    }
    signpost.refresh();
    // `c1` to `c5`: the first alone in steps of 16 characters, then all five short, medium and longest.
    let one = (0..=128).map(|length| ["x".repeat(length), String::new(), String::new(), String::new(), String::new()]);
    let all = ["a", &"Y".repeat(60), &"-".repeat(128)].map(|text| [(); 5].map(|()| text.to_owned()));
    let customs: Vec<_> = one.step_by(16).chain(all).collect();
    let query = |max: Option<u16>, custom: &[String; 5]| {
        let [c1, c2, c3, c4, c5] = custom;
        format!("rid={}-g&app=10000001&user_id=u-1&c1={c1}&c2={c2}&c3={c3}&c4={c4}&c5={c5}", offer(max))
    };

    let (mut whole, mut short) = (0, Vec::new());
    for max in maxima {
        let longest = max.map_or(DEFAULT_MAX, usize::from);
        for custom in &customs {
            let answer = expect_redirect(signpost.click(&query(max, custom), "DE"));
            let id = click_id_at(&answer);
            assert!(id.len() <= longest, "{} characters, {max:?}: {answer:?}", id.len());
            match click_id::open(&keys(), &id) {
                Ok(Opened::Whole { click, .. }) => {
                    whole += 1;
                    assert_eq!(click.offer, offer(max), "{answer:?}");
                }
                Ok(Opened::Short { app, shard, nonce }) => {
                    assert!(id.len() <= SHORT_MAX, "{answer:?}");
                    assert_eq!(app.to_string(), "10000001");
                    short.push(((app, shard), nonce, offer(max), custom, longest));
                }
                Err(error) => panic!("{error:?}: {answer:?}"),
            }
        }
    }
    assert!(whole > 10 && short.len() > 10, "{whole} whole, {} short", short.len());

    // A power cut loses no record of a redirected click.
    signpost.restart();
    let records = records(&signpost);
    assert_eq!(records.len(), short.len());
    for ((app, shard), nonce, offer, custom, longest) in &short {
        let (_, record, expires_at_ms) = records.iter().find(|(stored, ..)| stored == nonce).unwrap();
        let click = click_id::open_record(&keys(), record, *app, *shard, *nonce).unwrap();
        let stored = click.custom.each_ref().map(|text| text.as_deref().unwrap_or_default());
        assert_eq!((&*click.offer, stored), (offer.as_str(), custom.each_ref().map(String::as_str)));
        assert!((now_ms() - click.clicked_at_ms).abs() < 20 * DRIFT_MS);
        // The longest conversion window is 90 days.
        assert!(*expires_at_ms > click.clicked_at_ms + 90 * 86_400_000);
        let fits = click_id::seal(&keys(), &click, *nonce, *longest);
        assert!(matches!(fits, Sealed::Short { .. }), "the sealed id would have fit into {longest}: {custom:?}");
    }

    // The next click has a new nonce and a new record.
    let answer = expect_redirect(signpost.click(&query(Some(50), &customs[0]), "DE"));
    let Ok(Opened::Short { nonce, .. }) = click_id::open(&keys(), &click_id_at(&answer)) else {
        panic!("{answer:?}");
    };
    assert!(short.iter().all(|(_, known, ..)| *known != nonce));
    assert!(self::records(&signpost).iter().any(|(id, ..)| *id == nonce));
}

/// The stored records of short click ids: nonce, record, and expiry in milliseconds.
fn records(signpost: &Signpost) -> Vec<(Nonce, Vec<u8>, i64)> {
    signpost.stored("signpost-clicks", "SELECT nonce, record, expires_at_ms FROM records", |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })
}

#[test]
fn a_new_key_seals_while_the_old_one_still_opens() {
    let old = default_setting("CLICK_KEYS");
    let old_open = old.replace(":seal:", ":open:");
    let new = "2:seal:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let new_open = new.replace(":seal:", ":open:");
    // The new key opens ids before it seals them, and the old key opens them afterwards.
    let steps = [(format!("{old},{new_open}"), 1), (format!("{old_open},{new}"), 2)];
    let mut ids = Vec::new();
    for (setting, sealing) in &steps {
        let signpost = Setup::new().var("CLICK_KEYS", setting).start_with_fixtures().0;
        let ring = KeyRing::parse(setting).unwrap();
        assert_eq!(ring.sealing().id(), *sealing);
        let long = format!("{RIGHT}&c1={0}&c2={0}&c3={0}", "x".repeat(128));
        for query in [RIGHT, &long] {
            let id = click_id_at(&expect_redirect(signpost.get(&format!("{CLICK}?{query}"), &[])));
            let opened = click_id::open(&ring, &id);
            match opened {
                Ok(Opened::Whole { click, .. }) => assert_eq!(click.user_id, "u-1"),
                Ok(Opened::Short { app, shard, nonce }) => {
                    let records = records(&signpost);
                    let (_, record, _) = records.iter().find(|(stored, ..)| *stored == nonce).unwrap();
                    let click = click_id::open_record(&ring, record, app, shard, nonce).unwrap();
                    assert_eq!(click.custom[0].as_deref(), Some("x".repeat(128).as_str()));
                }
                Err(error) => panic!("{error:?}: {id}"),
            }
            ids.push((id, *sealing));
        }
    }
    let ring = KeyRing::parse(&steps[1].0).unwrap();
    let [only_old, only_new] = [old.as_str(), new].map(|setting| KeyRing::parse(setting).unwrap());
    for (id, sealing) in ids {
        click_id::open(&ring, &id).unwrap();
        let (right, wrong) = if sealing == 1 { (&only_old, &only_new) } else { (&only_new, &only_old) };
        click_id::open(right, &id).unwrap();
        assert_eq!(click_id::open(wrong, &id), Err(OpenError::UnknownKey));
    }
}

#[test]
fn an_invalid_key_list_fails_every_click_and_reveals_no_key() {
    let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    for setting in [format!("1:open:{key}"), format!("1:seal:{key}0"), key.to_owned(), String::new()] {
        let signpost = Setup::new().var("CLICK_KEYS", &setting).start();
        let answer = signpost.get(&format!("{CLICK}?{RIGHT}"), &[]).expect_error(500, "internal_error");
        assert!(!answer.body.contains("0c0d0e"), "{answer:?}");
    }
}
